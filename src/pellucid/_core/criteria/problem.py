"""What every criterion looks at: the data, and the clustering to be explained."""

from __future__ import annotations

from copy import copy
from functools import cached_property

import numpy as np
from scipy import sparse

from pellucid._core.data.arrays import order_by, places_in
from pellucid._core.data.binning import Bins
from pellucid._core.data.dataset import BegunCosts, Dataset, Prices
from pellucid._core.data.weights import Weights
from pellucid._utils.threads import ThreadPool
from pellucid.tree.predictor import column_values

_LEAST_VALUES = 150_000
"""Values worth a task of their own."""

_MOST_KEPT = 16
"""Columns that are kept in one piece at a time."""


class Problem:
    """The data to be cut and the clustering to be explained.

    Parameters
    ----------
    data : Dataset
        Only rows of positive weight.
    centers : ndarray of shape (n_clusters, n_features), float64
        Of the reference clustering.
    labels : ndarray of shape (n_samples,), int
        Own center of each row.
    """

    def __init__(self, data: Dataset, centers: np.ndarray, labels: np.ndarray) -> None:
        self.data = data
        self.centers = centers
        # The searches read the labels over and over: small numbers are quicker to read.
        self.labels = labels.astype(np.uint8 if len(centers) <= 256 else np.int32)
        self._kept_columns: dict[int, np.ndarray] | None = None
        self._begun_costs: BegunCosts | None = None

    @property
    def X(self):
        """The rows, dense or CSC."""
        return self.data.X

    @property
    def weights(self) -> Weights:
        """Their weights."""
        return self.data.weights

    @property
    def pool(self) -> ThreadPool:
        """Threads; no result depends on their number."""
        return self.data.pool

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    @property
    def n_clusters(self) -> int:
        """Number of reference centers."""
        return len(self.centers)

    @cached_property
    def bins(self) -> Bins:
        """The columns as codes."""
        return self.data.bins(self.centers)

    def sort_rows(self) -> None:
        """Make the bins and, while others are at it, put the rows in order."""
        if "bins" not in self.__dict__:
            self.__dict__["bins"] = self.data.bins(self.centers, lambda: self.by_center)

    def measure_ahead(self) -> None:
        """Let other threads measure the clustering, which will be asked for in the end."""
        if self.data.objective == "kmeans" and not self.bins.is_sparse:
            _ = self.data.spread

    def price_ahead(self) -> None:
        """Let other threads begin with the costs, which will be asked for.

        Rows of one center are given places next to each other: most of them stay together.
        """
        self.sort_rows()  # by the whole pool, before others turn to the costs
        self._begun_costs = self.data.begin_costs(self.centers, place=places_in(self.by_center))

    @cached_property
    def by_center(self) -> np.ndarray:
        """The rows, center by center."""
        return order_by(self.labels, self.n_clusters)

    @cached_property
    def _priced(self) -> tuple[Prices, float]:
        begun, self._begun_costs = self._begun_costs, None
        begun = self.data.begin_costs(self.centers) if begun is None else begun
        begun.work.finish()
        return begun.prices, begun.unit

    @property
    def prices(self) -> Prices:
        """Weighted squared distance of each row to each center, in whole units."""
        return self._priced[0]

    @property
    def costs(self) -> np.ndarray:
        """The same in the order of the rows."""
        costs, place = self.prices
        return costs if place is None else costs[place]

    @property
    def cost_unit(self) -> float:
        """What one unit of `costs` is worth."""
        return self._priced[1]

    @cached_property
    def ranked(self) -> tuple[np.ndarray, np.ndarray]:
        """For each row the centers from near to far, and their costs in that order."""
        from pellucid._core.kernels.induced_cost import rank_centers

        costs, _ = self.data.costs(self.centers)
        near = np.empty(costs.shape, dtype=self.labels.dtype)
        self.pool.map(
            lambda block: rank_centers(costs[slice(*block)], near[slice(*block)]),
            self.pool.blocks(self.n_samples, _LEAST_VALUES // self.n_clusters),
        )
        return near, costs

    def with_costs(self, centers: np.ndarray, costs: np.ndarray, unit: float) -> Problem:
        """The same data with other centers, whose costs are known.

        The columns of the data keep their bins, which are none the worse for it unless cuts are
        sought between centers.
        """
        other = Problem(self.data, centers, self.labels)
        other.__dict__["bins"] = self.bins
        other.__dict__["_priced"] = Prices(costs), unit
        return other

    def keeping_columns(self) -> Problem:
        """The same problem for a search that asks for the same values over and over.

        Columns of a large row-major matrix are kept in one piece once they have been asked for.
        """
        other = copy(self)
        other.__dict__["bins"] = self.bins
        if not sparse.issparse(self.X) and self.X.size >= _LEAST_VALUES:
            other._kept_columns = {}
        return other

    def values(self, feature: int, rows: np.ndarray) -> np.ndarray:
        """Values of a column for some rows, as float64."""
        kept = self._kept_columns
        if kept is None:
            return column_values(self.X, feature, rows)
        # In one look: another thread may clear what is kept at any time.
        if (column := kept.get(feature)) is None:
            if len(kept) >= _MOST_KEPT:
                kept.clear()
            column = np.ascontiguousarray(self.X[:, feature], dtype=np.float64)
            kept[feature] = column
        return column[rows]

    def column(self, feature: int) -> np.ndarray:
        """Values of a column for all rows, without a copy where there is one."""
        kept = self._kept_columns
        if kept is not None and (column := kept.get(feature)) is not None:
            return column
        if sparse.issparse(self.X):
            return column_values(self.X, feature, slice(None))
        return self.X[:, feature]

    @cached_property
    def flat_values(self) -> tuple[np.ndarray, np.ndarray]:
        """All values of dense data in one line, and how far apart rows and columns stand in it."""
        X, (n, d) = self.X, self.X.shape
        if X.flags.f_contiguous:
            return X.T.reshape(-1), np.array([1, n])
        return np.ascontiguousarray(X).reshape(-1), np.array([d, 1])

    def slots(self, rows: np.ndarray) -> np.ndarray:
        """Place of each row of the data in `rows`, -1 elsewhere; only CSC columns need it."""
        if not self.bins.is_sparse:
            return np.empty(0, dtype=np.int32)
        slot = np.full(self.n_samples, -1, dtype=np.int32)
        slot[rows] = np.arange(len(rows), dtype=np.int32)
        return slot

    @property
    def too_few_to_share(self) -> int:
        """Rows whose values in all columns are not worth two tasks."""
        return 2 * _LEAST_VALUES // self.n_features

    def feature_blocks(self, features: np.ndarray, size: int) -> list[np.ndarray]:
        """The features in blocks that are worth a task each, with `size` numbers a feature."""
        if self.pool.n_threads == 1 or len(features) * size < 2 * _LEAST_VALUES:
            return [features]
        least = -(-_LEAST_VALUES // max(size, 1))
        return [features[slice(*block)] for block in self.pool.blocks(len(features), least)]
