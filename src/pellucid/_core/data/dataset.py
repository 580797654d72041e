"""Weights and costs as whole numbers.

Sums of floating-point numbers depend on the order of the terms, and so on threads, chunks,
storage order and on whether a row is weighted or repeated. Whole numbers do not. Sample weights
and distances are therefore rounded once, to multiples of a power of two so fine that the
total of all of them just fits into 62 bits, and everything after that is integer arithmetic:
same data, same tree, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from pellucid._core.data.arrays import row_major
from pellucid._core.data.binning import Bins, Edges, find_edges, make_bins
from pellucid._core.data.moments import (
    BegunSpread,
    cost_to_centers,
    group_means,
    means_and_costs,
    size_about,
)
from pellucid._core.data.nearest import nearest_centers
from pellucid._core.data.weights import Weights
from pellucid._utils.finite import NotFinite, all_finite
from pellucid._utils.threads import SERIAL, ThreadPool, WorkQueue

LEAST_ROWS = 4096
"""Fewest rows worth a task of their own."""

_PRICED_TOGETHER = 2 * LEAST_ROWS
"""Rows that are priced in one go: few enough that nobody waits long for the last."""

_MANY_ROWS = 1024
"""Rows of which few cost 2^52 units if all cost less than 2^61."""

_LARGE = 2.0**500
"""Numbers that could be too large to square."""


class Prices(NamedTuple):
    """What rows pay at the centers.

    Attributes
    ----------
    costs : ndarray of shape (n_samples, n_clusters), int64
    place : ndarray of shape (n_samples,), int32, or None
        The line of `costs` that each row has; of its own number when left out.
    """

    costs: np.ndarray
    place: np.ndarray | None = None

    def lines(self, rows: np.ndarray) -> np.ndarray:
        """The lines of some rows."""
        return rows if self.place is None else self.place.take(rows)


class BegunCosts(NamedTuple):
    """Prices and their unit, and the work on them that has to be finished first."""

    prices: Prices
    unit: float
    work: WorkQueue


class Dataset:
    """The rows of a data set with their weights, and what is worked out of them once.

    What a row pays for its center, and what the center of a group is, is said here and nowhere
    else: squared distances and means. Subclasses say otherwise.

    Parameters
    ----------
    X : ndarray or CSC matrix of shape (n_samples, n_features)
    weights : Weights
    pool : ThreadPool
    is_finite : bool
        Whether all numbers are known to be finite. Otherwise `nearest` or `require_finite` comes
        before all else.
    """

    objective = "kmeans"
    too_wide_to = "square"

    def __init__(
        self, X, weights: Weights, pool: ThreadPool = SERIAL, *, is_finite: bool = True
    ) -> None:
        self.X, self.weights, self.pool, self._is_finite = X, weights, pool, is_finite
        self._sized: tuple[np.ndarray, float] | None = None
        self._edges: tuple[np.ndarray, Edges] | None = None
        self._reference: tuple[np.ndarray, np.ndarray] | None = None

    @cached_property
    def rows(self):
        """The data with rows at hand: CSR in place of CSC."""
        return self.X.tocsr() if sparse.issparse(self.X) else self.X

    def require_finite(self) -> None:
        """Raise `NotFinite` if a number is NaN or infinite."""
        values = self.X.data if sparse.issparse(self.X) else self.X
        if not (self._is_finite or all_finite(values, lambda: self.pool.n_threads)):
            raise NotFinite
        self._is_finite = True

    def refer_to(self, labels: np.ndarray, centers: np.ndarray) -> None:
        """Remember a clustering of the rows that much is going to be asked about."""
        self._reference = labels, centers

    @cached_property
    def spread(self) -> BegunSpread | None:
        """How the rows lie about their own centers there; other threads begin with it."""
        if self._reference is None:
            return None
        labels, centers = self._reference
        return BegunSpread(self.X, labels, self.weights.values, centers, self.pool)

    def take(self, rows: np.ndarray) -> Dataset:
        """Data of some of the rows."""
        X = self.rows[rows]
        X = X.tocsc() if sparse.issparse(X) else X
        return type(self)(X, Weights.of(self.weights.values[rows]), self.pool)

    def costs(self, centers: np.ndarray, unit: float | None = None) -> tuple[np.ndarray, float]:
        """What every row pays for every center, in whole units.

        Parameters
        ----------
        centers : ndarray of shape (n_clusters, n_features), float64
        unit : float, optional
            A power of two, at least `cost_unit`; that one when left out.

        Returns
        -------
        costs : ndarray of shape (n_samples, n_clusters), int64
        unit : float
            What one unit is worth, a power of two.
        """
        begun = self.begin_costs(centers, unit)
        begun.work.finish()
        return begun.prices.costs, begun.unit

    def begin_costs(
        self, centers: np.ndarray, unit: float | None = None, place: np.ndarray | None = None
    ) -> BegunCosts:
        """The same for later: other threads begin with it while the caller does something else.

        Rows that are asked for together may be given places next to each other; only costs that
        are quick to find are put there.
        """
        weights, X = self.weights, self.rows
        unit = self.cost_unit(centers) if unit is None else unit
        costs = np.empty((X.shape[0], len(centers)), dtype=np.int64)
        # Whole weights multiply the rounded distance, exactly as repeated rows would add it.
        scale = np.ones(len(costs)) if weights.are_integers else weights.values
        price = None if sparse.issparse(X) else self._quick_loop(centers, unit, place)
        if price is None:
            price, place = self._plain_loop(centers, scale, unit), None

        def work(block: tuple[int, int]) -> None:
            price(block, costs)
            if weights.are_integers and not weights.are_ones:
                rows = slice(*block) if place is None else place[slice(*block)]
                costs[rows] *= weights.units[slice(*block), None]

        starts = range(0, len(costs), _PRICED_TOGETHER)
        blocks = [(start, min(start + _PRICED_TOGETHER, len(costs))) for start in starts]
        return BegunCosts(Prices(costs, place), unit, self.pool.ahead(work, blocks))

    def _plain_loop(self, centers: np.ndarray, scale: np.ndarray, unit: float) -> Callable:
        """How to price a block of rows, dense or sparse."""
        dense_costs, sparse_costs = self.cost_loops()
        X, places = self.rows, np.ascontiguousarray(centers.T)

        def price(block: tuple[int, int], costs: np.ndarray) -> None:
            if sparse.issparse(X):
                part, indptr = slice(*block), X.indptr[block[0] : block[1] + 1]
                room = np.empty((len(places) + 1, len(centers)), dtype=np.int64)
                how = (places, scale[part], 1 / unit, room, costs[part])
                sparse_costs(X.data, X.indices, indptr, *how)
            else:
                for rows, lines in row_major(X, *block):
                    dense_costs(lines, centers, scale[rows], 1 / unit, costs[rows])

        return price

    def _quick_loop(
        self, centers: np.ndarray, unit: float, place: np.ndarray | None
    ) -> Callable | None:
        """The same for dense rows of whole weight; None where many may cost too much for it."""
        from pellucid._core.kernels.dataset import dense_costs, unscaled_costs

        X, (half, odd) = self.X, divmod(1 - int(np.frexp(unit)[1]), 2)
        root, shift = 2.0**half, 2.0 ** (52 - odd)
        with np.errstate(over="ignore"):
            turned = centers * root
        is_small = np.abs(turned).max(initial=0.0) < _LARGE
        if not (self.weights.are_integers and X.shape[0] >= _MANY_ROWS and is_small):
            return None
        place = np.arange(X.shape[0], dtype=np.int32) if place is None else place

        def price(block: tuple[int, int], costs: np.ndarray) -> None:
            line = np.empty(len(centers.T))
            for rows, lines in row_major(X, *block):
                if not unscaled_costs(lines, turned, root, shift, line, place[rows], costs):
                    found = np.empty((len(lines), len(centers)), dtype=np.int64)
                    dense_costs(lines, centers, np.ones(len(lines)), 1 / unit, found)
                    costs[place[rows]] = found

        return price

    def cost_loops(self):
        """The compiled loops over dense and over CSR rows."""
        from pellucid._core.kernels.dataset import dense_costs, sparse_costs

        return dense_costs, sparse_costs

    def nearest(self, centers: np.ndarray) -> np.ndarray:
        """Nearest center of each row, whatever its weight; the lowest of equals.

        Besides, the edges of the columns are found, which `bins` is going to ask for. Raises
        `NotFinite` if a number is NaN or infinite.
        """

        def besides() -> None:
            with np.errstate(invalid="ignore", over="ignore"):
                self._edges = centers, find_edges(self.X, centers, self.pool)

        labels = nearest_centers(self.rows, centers, self.pool, besides)
        self._is_finite = True
        return labels

    def bins(self, centers: np.ndarray, besides: Callable[[], object] | None = None) -> Bins:
        """The columns as codes; every center lies at an edge. See `ThreadPool.map`."""
        known, edges = self._edges or (None, None)
        edges = edges if known is centers else None
        return make_bins(self.X, centers, self.pool, edges, besides)

    def group_centers(self, labels: np.ndarray, n_groups: int) -> np.ndarray:
        """Center at which each group of rows pays least; NaN for an empty group."""
        return group_means(self.X, labels, self.weights.values, n_groups, self.pool)

    def cost(self, labels: np.ndarray, centers: np.ndarray) -> float:
        """What the rows pay at ``centers[labels]``; label -1 is free."""
        return cost_to_centers(self.X, labels, centers, self.weights.values, self.pool)

    def centers_and_costs(
        self,
        labels: np.ndarray,
        others: np.ndarray,
        origins: np.ndarray,
        besides: Callable[[], object] | None = None,
    ) -> list[tuple[np.ndarray, float]]:
        """For two groupings, their centers and what the rows pay; see `means_and_costs`."""
        weight = self.weights.values
        return means_and_costs(self.X, labels, others, weight, origins, self.pool, besides)

    def beside_reference(
        self, labels: np.ndarray, besides: Callable[[], object] | None = None
    ) -> list[tuple[np.ndarray, float]]:
        """The same for a grouping and for the clustering that the data refer to."""
        others, origins = self._reference
        known = None if sparse.issparse(self.X) else self.spread.result
        about = (self.X, labels, others, self.weights.values, origins, self.pool)
        return means_and_costs(*about, besides, known)

    def most_to_pay(self, centers: np.ndarray, origin: np.ndarray | None = None) -> float:
        """A bound on what all rows together pay at any one of the centers.

        For any point o, |x - c|^2 <= 2|x - o|^2 + 2|c - o|^2: the sum over all rows is bounded
        by their distances to one point, however far outliers lie. That point is the middle of
        the centers, unless `origin` says otherwise, or each row's own center is known.
        """
        if origin is None and self._reference is not None and centers is self._reference[1]:
            spread, apart = self.spread.result, ((centers[:, None] - centers) ** 2).sum(axis=2)
            return float(2 * spread.squares.sum() + 2 * (apart @ spread.weight).max())
        origin = centers.mean(axis=0) if origin is None else origin
        apart = ((centers - origin) ** 2).sum(axis=1).max()
        return 2 * self._size(origin) + 2 * self.weights.values.sum() * apart

    def cost_unit(self, centers: np.ndarray, origin: np.ndarray | None = None) -> float:
        """Smallest power of two that keeps the sum of all costs at any center below 2**61."""
        with np.errstate(over="ignore", invalid="ignore"):
            whole = self.most_to_pay(centers, origin)
        if not np.isfinite(whole):
            raise ValueError(self._too_wide(centers))
        # The margin keeps rounding from tipping a power of two.
        largest = whole * (1 + 2.0**-20)
        return 1.0 if largest == 0 else float(2.0 ** max(np.frexp(largest)[1] - 61, -960))

    def _size(self, origin: np.ndarray) -> float:
        """Sum of the squared distances of all rows to a point; the latest is remembered."""
        if self._sized is None or not np.array_equal(self._sized[0], origin):
            size = size_about(self.X, self.weights.values, origin, self.pool)
            self._sized = origin, size
        return self._sized[1]

    def _too_wide(self, centers: np.ndarray) -> str:
        low, high = (
            np.asarray(extreme.toarray() if sparse.issparse(extreme) else extreme).ravel()
            for extreme in (self.X.min(axis=0), self.X.max(axis=0))
        )
        with np.errstate(over="ignore"):
            spread = np.maximum(high, centers.max(axis=0)) - np.minimum(low, centers.min(axis=0))
        column = int(np.argmax(spread))
        return (
            f"the values of column {column} spread over {spread[column]:.3g}, too wide to "
            f"{self.too_wide_to} in float64; divide the column by a constant or standardize it "
            "first"
        )
