"""The explanation problem: the data, and the clustering to be explained."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from pellucid._core.data.arrays import order_by, rows_by_group
from pellucid._core.data.binning import Bins, make_bins
from pellucid._core.data.dataset import Dataset
from pellucid._core.data.moments import GroupMoments
from pellucid._utils.arrays import filled
from pellucid.tree.predictor import column_values

_Made = TypeVar("_Made")

_MIN_TASK_VALUES = 150_000
"""Least number of values per task."""

_CACHED_ROWS = 2**15
"""Rows whose labels and weights stay in the cache of a processor while all columns are read."""

_MANY_COLUMNS = 4
"""Columns per thread from which on threads share the columns of a node, and not its rows."""


class Problem:
    """The data to be split, all of positive weight, and the reference clustering to be explained.

    What is computed from them (bins, costs, moments) is computed on first use, by all threads of
    the data, and stored. `unit_from_labels` says which bound of the costs sets their unit:
    that of their moments about the own center of each row, or that of the centers only, see
    `Dataset.cost_unit`. Both are exact; the first is smaller.

    Thresholds are those of the columns of `data`. Costs are those of `space`, the same rows with
    other columns, and of the centers there; by default it is `data`, and `has_space` is false. In a
    cluster that is not its own, a row costs `mistake_cost` times its weight more.
    """

    is_in_memory = True

    def __init__(
        self,
        data: Dataset,
        centers: np.ndarray,
        labels: np.ndarray,
        *,
        unit_from_labels: bool = False,
        space: tuple[Dataset, np.ndarray] | None = None,
        mistake_cost: float = 0.0,
    ) -> None:
        self.data, self.centers, self.unit_from_labels = data, centers, unit_from_labels
        self.X, self.weights, self.pool = data.X, data.weights, data.pool
        (self.n_samples, self.n_features), self.n_clusters = data.X.shape, len(centers)
        self.space, self.space_centers = space or (data, centers)
        self.has_space = self.space is not data
        self.mistake_cost = mistake_cost
        # The labels are read very often: small integers are faster to read.
        small = np.uint8 if len(centers) <= 256 else np.int32
        self.labels = filled(len(labels), small, self.pool, lambda rows: labels[rows])
        self._given_labels = labels.astype(np.intp, copy=False)

    @cached_property
    def bins(self) -> Bins:
        """The quantised columns; every center lies at an edge."""
        return make_bins(self.X, self.centers, self.pool)

    @cached_property
    def by_center(self) -> np.ndarray:
        """The row numbers, sorted by own center."""
        return order_by(self.labels, self.n_clusters, self.pool)

    @cached_property
    def moments(self) -> GroupMoments | None:
        """Moments of the rows about their own centers; None for k-medians."""
        return self.space.moments(self._given_labels, self.space_centers)

    @cached_property
    def cost_unit(self) -> float:
        """Value of one unit of `costs`, a power of two."""
        moments = self.moments if self.unit_from_labels else None
        return self.unit_with_mistakes(self.space.cost_unit(self.space_centers, moments=moments))

    def unit_with_mistakes(self, unit: float) -> float:
        """The unit of costs, or a larger one that is needed for the cost of mistakes."""
        most = self.mistake_cost * self.weights.total
        return max(unit, float(2.0 ** (np.frexp(most)[1] - 61))) if most > 0 else unit

    def add_mistakes(self, costs: np.ndarray, clusters: np.ndarray, unit: float) -> None:
        """Add the cost of mistakes to the costs of the rows in some clusters, in units."""
        if self.mistake_cost > 0:
            weights, each = self.weights, self.mistake_cost / unit
            if weights.are_integers:  # as repeated rows would add it
                added = np.int64(np.rint(each)) * weights.units
            else:
                added = np.rint(each * weights.values).astype(np.int64)
            costs += np.where(self.labels[:, None] == clusters, 0, added[:, None])

    @cached_property
    def costs(self) -> np.ndarray:
        """Weighted cost of each row at each center, in units: (n_samples, n_clusters), int64."""
        costs, _ = self.space.costs(self.space_centers, self.cost_unit)
        self.add_mistakes(costs, np.arange(self.n_clusters), self.cost_unit)
        return costs

    def weight_by_cluster(self, rows: np.ndarray) -> np.ndarray:
        """Weight of some rows by own cluster, in units."""
        # Sums of units are below 2**52, so that those of floats are exact.
        units = None if self.weights.are_ones else self.weights.units[rows]
        return np.bincount(self.labels[rows], units, self.n_clusters).astype(np.int64, copy=False)

    def criterion(self, kind: Callable[..., _Made], *parameters: Any) -> _Made:
        """A criterion for this problem. Problems in batches have other classes for the same."""
        return kind(self, *parameters)

    def centers_and_costs(self, labels: np.ndarray) -> list[tuple[np.ndarray, float]]:
        """Centers and cost of a grouping of the rows, and of the reference clustering."""
        moments = None if sparse.issparse(self.space.X) else self.moments
        return self.space.centers_and_costs(labels, self._given_labels, self.space_centers, moments)

    def own_cost(self, labels: np.ndarray) -> int:
        """Cost of a grouping of the rows at its own centers, in units.

        A sum of integers: unlike the cost of `centers_and_costs`, it is the same to the last digit
        for any storage and order of the rows.
        """
        labels, total = labels.astype(np.intp), 0
        centers = self.space.group_centers(labels, self.n_clusters)
        for center, rows in zip(centers, rows_by_group(labels, self.n_clusters)):
            if len(rows):
                costs, _ = self.space.part(rows).costs(center[None], self.cost_unit)
                total += int(costs.sum())
        return total

    def with_costs(self, centers: np.ndarray, costs: np.ndarray, unit: float) -> Problem:
        """The same data with other centers, whose costs are given.

        The bins stay the same: only searches for splits between centers need the centers at edges.
        """
        other = copy(self)
        other.space_centers = centers
        other.bins, other.costs, other.cost_unit = self.bins, costs, unit
        return other

    def explaining(self, centers: np.ndarray, labels: np.ndarray) -> Problem:
        """The problem of another clustering of the same rows; its centers are in the space."""
        cost = self.mistake_cost
        if not self.has_space:
            return Problem(self.data, centers, labels, mistake_cost=cost)
        means = np.nan_to_num(self.data.group_centers(labels.astype(np.intp), len(centers)))
        return Problem(self.data, means, labels, space=(self.space, centers), mistake_cost=cost)

    def with_mistake_cost(self, cost: float) -> Problem:
        """The same problem with another cost of mistakes; bins are computed once for both."""
        if cost == self.mistake_cost:
            return self
        _, other = self.bins, copy(self)
        other.mistake_cost = cost
        for name in ("costs", "cost_unit"):
            other.__dict__.pop(name, None)
        return other

    def values(self, feature: int, rows: np.ndarray | slice) -> np.ndarray:
        """Values of a column for some rows, as float64."""
        return column_values(self.X, feature, rows)

    def column(self, feature: int) -> np.ndarray:
        """Values of a column for all rows, without a copy if possible."""
        is_sparse = sparse.issparse(self.X)
        return self.values(feature, slice(None)) if is_sparse else self.X[:, feature]

    @property
    def too_few_to_share(self) -> int:
        """Number of rows below which all columns together are too little work for two threads."""
        return 2 * _MIN_TASK_VALUES // self.n_features

    def shares_rows(self, n_rows: int, n_columns: int) -> bool:
        """Whether threads share some rows instead of the columns: of few columns, some threads
        would get more than others.
        """
        pool = self.pool
        return (
            pool.is_parallel
            and not sparse.issparse(self.X)
            and n_columns < _MANY_COLUMNS * pool.n_threads
            and n_rows * n_columns >= 2 * _MIN_TASK_VALUES
        )

    def feature_blocks(self, features: np.ndarray, size: int) -> list[np.ndarray]:
        """The features in blocks, one per task, if each feature means reading `size` numbers."""
        if self.pool.n_threads == 1 or len(features) * size < 2 * _MIN_TASK_VALUES:
            return [features]
        min_features = -(-_MIN_TASK_VALUES // max(size, 1))
        blocks = self.pool.blocks(len(features), min_features)
        return [features[slice(*block)] for block in blocks]

    def add_up(
        self, n_rows: int, shape: tuple[int, ...], add: Callable[[slice, slice, np.ndarray], None]
    ) -> np.ndarray:
        """Integer sums over some rows of dense data, by column: ``add(rows, columns, sums)`` adds
        those of some of the rows to the sums of some columns.

        Threads share the columns, or the rows; then their sums are added up.
        """
        sums, n_columns = np.zeros(shape, dtype=np.int64), shape[0]
        if not self.shares_rows(n_rows, n_columns):

            def add_columns(features: np.ndarray) -> None:
                columns = slice(features[0], features[-1] + 1)
                for start in range(0, n_rows, _CACHED_ROWS):
                    add(slice(start, min(start + _CACHED_ROWS, n_rows)), columns, sums[columns])

            self.pool.map(add_columns, self.feature_blocks(np.arange(n_columns), n_rows))
            return sums
        least = max(-(-_MIN_TASK_VALUES // n_columns), 2 * sums[0].size)
        size = max(least, min(_CACHED_ROWS, n_rows // (4 * self.pool.n_threads)))
        starts = range(0, n_rows, size)
        waiting, parts = deque([sums]), [sums]

        def add_rows(start: int) -> None:
            try:
                part = waiting.pop()
            except IndexError:  # other threads use all others
                parts.append(part := np.zeros_like(sums))
            add(slice(start, min(start + size, n_rows)), slice(0, n_columns), part)
            waiting.append(part)

        self.pool.map(add_rows, starts)
        for part in parts[1:]:
            sums += part
        return sums
