"""Surrogate cost (ExKMC): each child of a split belongs to the one center with the least cost.

For the rows X of a node and reference centers μ^1 .. μ^k, the surrogate cost is

    cost(X) = min over j of the sum of |x - μ^j|² over the rows x of X

(or of another cost of a row at a center), and a split (i, θ) of X into X_L and X_R gains

    cost(X) - cost(X_L) - cost(X_R).

Only some *candidate centers* are searched: a bound on the gain of all splits with a child of center
c, see `CenterBounds`, rules out the others. Among the candidates, a row has at center c the

    loss[c] = (its cost at c) - (its least cost at any candidate) >= 0,

so the cost of a split is the constant sum of the least costs plus the loss of the split, which is

    loss(θ) = min over c ≠ c' of L[c] + R[c'],

with L[c] and R[c] the sums of loss[c] over the rows on the left and on the right (children of the
same center gain nothing). Because losses are not negative, a threshold inside a bin has at least

    min over c ≠ c' of (L[c] at the lower edge of the bin) + (R[c'] at its upper edge).

So a histogram of the losses by bin gives the exact cost at all edges and a lower bound inside all
bins; only bins whose bound is at most the best cost are searched value by value.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from pellucid._core import kernels
from pellucid._core.criteria.base import MemoryCriterion, Node, NodeRows
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.problem import Problem
from pellucid._core.criteria.sums import ColumnScan, OpenRows, SumFormula, SumSearch
from pellucid._core.data.arrays import stable_argsort
from pellucid._core.kernels import INFINITE_COST
from pellucid._utils.threads import ThreadPool

_NO_FEATURE = -1

_FEW_ROWS_PER_BIN = 4
"""Rows per bin of a column up to which every value of a node is scanned. With so few rows, a
histogram saves little. On Covtype, Letter and Avila with 200 to 300 clusters, an expansion to 2k
leaves takes 30 to 50 % less time.
"""

_MIN_TASK_ROWS = 2**13
"""Fewest rows per task."""

_SUMS_AT_ONCE = 2**16
"""Sums of sparse columns that are computed and scanned at once, so that they stay in the cache."""

_BLOCK_ROWS = 128
"""Rows copied at once, so that they stay in the cache."""

_SAMPLE = 64
"""Rows of the sample that selects a first guess for home."""


@dataclass(slots=True)
class SurrogateState:
    """What is stored about a node.

    The bounds are computed when they are first needed. `start_cluster` is the cluster of the leaf
    in the start tree, a guess for the center with the least cost.
    """

    center_bounds: CenterBounds | None = None
    start_cluster: int | None = None


class SurrogateCost(MemoryCriterion[SurrogateState]):
    """Least surrogate cost (ExKMC). Any threshold between two values is allowed.

    A node is a leaf if the same center has the least cost for each of its rows: no split gains
    anything. A split without gain is made if the node has no other, since splits of its children
    may gain.
    """

    nodes_are_independent = True

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        # Computed by all threads, before nodes are processed by one.
        self._costs, self._bins = problem.costs, problem.bins

    @property
    def min_rows_to_share_columns(self) -> int:
        return self.problem.too_few_to_share

    def start_state(self, cluster: int | None = None) -> SurrogateState:
        return SurrogateState(start_cluster=cluster)

    def child_states(
        self, node: Node, left: NodeRows, right: NodeRows
    ) -> tuple[SurrogateState, SurrogateState]:
        rows, states = (left.active, right.active), (SurrogateState(), SurrogateState())
        small = int(len(rows[1]) < len(rows[0]))
        bounds = self._home_bounds(node)
        smaller = self._compute_bounds(rows[small], bounds.home)
        states[small].center_bounds = smaller
        states[1 - small].center_bounds = bounds.subtract(smaller)
        return states

    def cost(self, node: Node) -> int:
        """Surrogate cost of the node, in units of `Problem.cost_unit`."""
        return int(self._bounds(node).totals.min())

    def cluster(self, node: Node) -> int:
        """The center with the least cost for the rows of the node; ties go to the lowest."""
        return self._bounds(node).cheapest

    def gain_bound(self, node: Node) -> float | None:
        """An upper bound for the gain of all splits, or None if none gains anything."""
        return self._home_bounds(node).max_gain or None

    def best_splits(self, node: Node, n: int = 1) -> list[Split]:
        """The split of least cost, whatever n is; its gain is the decrease in units of cost."""
        bounds, cost = self._home_bounds(node), self.cost(node)
        if not bounds.max_gain:
            return []
        best = Split(cost, _NO_FEATURE, 0.0)
        # First home and the centers whose bound is at least half of the largest, then all centers
        # of splits that gain as much. Half: a quarter took as long on Covtype, Avila, Letter and
        # Pendigits, and up to 30% longer on blobs; only the largest took up to 25% longer.
        searched: set[int] = set()
        centers = bounds.centers(-(-bounds.max_gain // 2))
        while not searched.issuperset(centers.tolist()):
            best = self._search(node, centers, best)
            searched = set(centers.tolist())
            centers = bounds.centers(max(1, cost - best.objective))
        if best.feature == _NO_FEATURE:
            return self.first_split(node, cost)
        return [best._replace(gain=cost - best.objective)]

    def _search(self, node: Node, centers: np.ndarray, best: Split) -> Split:
        """The best split whose children belong to two of the centers, or `best`."""
        rows, costs = node.rows.active, self._bounds(node).totals
        terms = self.problem, rows, centers, costs
        if self._bins.is_sparse:
            return SparseLossSearch(*terms, self._codes_by_row).best_split(best)
        search = LossSearch(*terms)
        is_small = len(rows) <= _FEW_ROWS_PER_BIN * self._bins.edges.shape[1]
        return search.best_split_of_few(best) if is_small else search.best_split(best)

    @cached_property
    def _codes_by_row(self) -> sparse.csr_array:
        return codes_by_row(self.problem)

    def _compute_bounds(self, rows: np.ndarray, home: int | None = None) -> CenterBounds:
        return CenterBounds.of(rows, self._costs, self.problem.pool, home)

    def _bounds(self, node: Node) -> CenterBounds:
        """Bounds of a node; compared with any center, only the total costs are right."""
        state = node.state
        if state.center_bounds is None:
            state.center_bounds = self._compute_bounds(node.rows.active, state.start_cluster)
        return state.center_bounds

    def _home_bounds(self, node: Node) -> CenterBounds:
        """Bounds of a node, compared with the center of least cost."""
        bounds = self._bounds(node)
        if bounds.home != bounds.cheapest:
            bounds = self._compute_bounds(node.rows.active, bounds.cheapest)
            node.state.center_bounds = bounds
        return bounds


class CandidateLosses(SumFormula):
    """The loss of a split, by the sums of the losses at some centers."""

    no_split = INFINITE_COST

    def cost(self, totals: np.ndarray) -> int:
        return int(totals.min())

    def scan(self, sums: np.ndarray, inside: np.ndarray, totals: np.ndarray) -> ColumnScan:
        n_columns, n_bins, n_centers = sums.shape
        losses = sums.reshape(n_columns * n_bins, n_centers).copy()
        ends = n_bins * np.arange(n_columns + 1)
        found, bounds = _scan_bins(ends, inside.ravel(), totals, losses)
        return ColumnScan(found[:, 0], found[:, 1], bounds.reshape(inside.shape))


class LossSearch(SumSearch):
    """The search for the split of least loss, whose children belong to two of some centers.

    `losses`, (n_rows, n_centers), are the costs at the centers less the least cost at any of them,
    and `floor` is the sum of these least costs. `costs` are the total costs of the rows at all
    centers of the reference.
    """

    no_split = INFINITE_COST

    def __init__(
        self, problem: Problem, rows: np.ndarray, centers: np.ndarray, costs: np.ndarray
    ) -> None:
        self.losses = np.empty((len(rows), len(centers)), dtype=np.int64)

        def compute(block: tuple[int, int]) -> int:
            some, part = rows[slice(*block)], self.losses[slice(*block)]
            return kernels.surrogate_cost.row_losses(some, problem.costs, centers, part)

        blocks = problem.pool.blocks(len(rows), _MIN_TASK_ROWS)
        self.floor = sum(problem.pool.map(compute, blocks))
        totals = costs[centers] - self.floor
        super().__init__(problem, CandidateLosses(), rows, totals, self.losses)

    def best_split(self, best: Split) -> Split:
        """The best split of the node, or `best` if none is better."""
        splits = self.best_splits(goal=best.objective - self.floor + 1)
        return min([best, *(s._replace(objective=self.floor + s.objective) for s in splits)])

    def best_split_of_few(self, best: Split) -> Split:
        """The same for few rows of dense data; every value is scanned."""
        columns = np.ascontiguousarray(self.problem.X[self.rows].T, dtype=np.float64)
        order = np.argsort(columns, axis=1, kind="stable")
        values = np.take_along_axis(columns, order, axis=1)
        found, left = np.empty(3, dtype=np.int64), np.empty_like(self.totals)
        terms = values[:, 1:] > values[:, :-1], self.losses, self.totals
        kernels.surrogate_cost.scan_rows(order, *terms, left, found)
        loss, feature, place = found.tolist()
        return min(best, Split(self.floor + loss, feature, float(values[feature, place])))


class SparseLossSearch(LossSearch):
    """The same on CSC columns, with a histogram of the bins that hold entries.

    Only these bins are stored, and the bin of 0, which gets the losses that the entries leave of
    the totals: those of the rows without an entry. So the time is proportional to the entries.

    `indices` and `indptr` are as in a CSC matrix, of places in `rows`. Bins are numbered over all
    columns: column j has ``ends[j] <= b < ends[j + 1]``. `codes`, which ascend in a column, and
    `inside` are those of the bins; `bins` has the bin of each entry, and `zero_bin` that of 0 in
    each column.
    """

    def __init__(
        self,
        problem: Problem,
        rows: np.ndarray,
        centers: np.ndarray,
        costs: np.ndarray,
        codes: sparse.csr_array,
    ) -> None:
        super().__init__(problem, rows, centers, costs)
        part, bins, n_features = codes[rows].tocsc(), problem.bins, problem.n_features
        self.indices, self.indptr, n_entries = part.indices, part.indptr, len(part.data)
        max_bins = n_entries + n_features
        index = np.int32 if max_bins < 2**31 else np.int64
        self.bins, self.zero_bin = np.empty(n_entries, index), np.empty(n_features, index)
        self.ends = np.zeros(n_features + 1, np.int64)
        code_of_bin, is_inside = np.empty(max_bins, part.data.dtype), np.empty(max_bins, bool)
        columns = self.indptr, part.data, bins.zero_code, bins.inside
        out = self.bins, self.zero_bin, self.ends, code_of_bin, is_inside
        kernels.surrogate_cost.number_bins(*columns, np.zeros(bins.edges.shape[1], index), *out)
        n_bins = self.ends[-1]
        self.codes, self.inside = code_of_bin[:n_bins].copy(), is_inside[:n_bins].copy()

    def scan(self, features: np.ndarray, found: np.ndarray) -> None:
        n_sums = max(1, int(self.ends[-1]) * len(self.totals))
        step, end = max(1, _SUMS_AT_ONCE * self.problem.n_features // n_sums), features[-1] + 1
        for first in range(features[0], end, step):
            last = min(first + step, end)
            ends, sums = self.ends[first : last + 1], self.sums(first, last)
            inside = self.inside[ends[0] : ends[-1]]
            of_columns, _ = _scan_bins(ends - ends[0], inside, self.totals, sums)
            of_columns[:, 1] = self.codes[ends[:-1] + of_columns[:, 1]]
            found[first:last, 0] = of_columns

    def column(self, feature: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        bins = slice(*self.ends[feature : feature + 2])
        edges = self.problem.bins.edges[feature, self.codes[bins]]
        return self.sums(feature, feature + 1), self.inside[bins], edges

    def sums(self, first: int, last: int) -> np.ndarray:
        """Sums of the columns first .. last - 1, rows without an entry included, by bin."""
        start, ends = self.ends[first], self.ends[first : last + 1]
        sums = np.zeros((ends[-1] - start, len(self.totals)), dtype=np.int64)
        part = slice(*self.indptr[[first, last]])
        entries = self.indices[part], self.bins[part], start
        kernels.surrogate_cost.add_entries(*entries, self.losses, sums)
        rest = self.totals - np.add.reduceat(sums, ends[:-1] - start)
        sums[self.zero_bin[first:last] - start] += rest
        return sums

    def best_values(
        self, feature: int, is_open: np.ndarray, below: np.ndarray
    ) -> list[tuple[Any, float]]:
        """The best threshold in some bins of a column; one row stands for all without an entry."""
        column, start = slice(*self.indptr[feature : feature + 2]), self.ends[feature]
        places, bins = self.indices[column], self.bins[column] - start
        is_chosen, losses = is_open[bins], self.losses[places]
        values = self._values(feature, places[is_chosen])
        rows = OpenRows(values, bins[is_chosen], losses[is_chosen])
        zero_bin = self.zero_bin[feature] - start
        if is_open[zero_bin]:
            rest = self.totals - losses.sum(axis=0)
            rows = OpenRows(*map(np.concatenate, zip(rows, ([0.0], [zero_bin], [rest]))))
        if not len(rows.values):
            return []
        order = stable_argsort(rows.values)
        return [self._best_value(OpenRows(*(part.take(order, axis=0) for part in rows)), below)]

    def _values(self, feature: int, places: np.ndarray) -> np.ndarray:
        """Values of some entries of a column, by the places of their rows."""
        X = self.problem.X
        column = slice(*X.indptr[feature : feature + 2])
        entries = X.indices[column].searchsorted(self.rows.take(places))
        return X.data[column][entries].astype(np.float64, copy=False)


def codes_by_row(problem: Problem) -> sparse.csr_array:
    """The codes of the entries of sparse data, row by row."""
    bins, rows = problem.bins, problem.data.rows
    by_column = (bins.codes[0], bins.indices, bins.indptr)
    codes = sparse.csc_array(by_column, shape=rows.shape).tocsr().data
    return sparse.csr_array((codes, rows.indices, rows.indptr), shape=rows.shape)


def _scan_bins(
    ends: np.ndarray, inside: np.ndarray, totals: np.ndarray, sums: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Make the sums of each column cumulative; what the scan finds, and the bounds of the bins."""
    found, bounds = np.empty((len(ends) - 1, 3), np.int64), np.empty(len(sums), np.int64)
    kernels.surrogate_cost.scan_bins(ends, inside, totals, sums, found, bounds)
    return found, bounds


class SurrogateFormula(CandidateLosses):
    """The surrogate cost as a formula of sums: the losses at all centers, and the least costs.

    `SurrogateCost` searches few candidate centers instead of all. With rows in memory, this takes
    less time than the sums at all centers.
    """

    needs_costs = True

    def n_channels(self, n_clusters: int) -> int:
        return n_clusters + 1

    def terms_of_costs(self, costs: np.ndarray) -> np.ndarray:
        """Losses of rows at all centers, and their least costs."""
        least = costs.min(axis=1, keepdims=True)
        return np.concatenate([costs - least, least], axis=1)

    def cost(self, totals: np.ndarray) -> int:
        return super().cost(totals[:-1]) + int(totals[-1])

    def cluster(self, totals: np.ndarray) -> int:
        return int(totals[:-1].argmin())

    def is_pure(self, totals: np.ndarray) -> bool:
        """Whether the same center has the least cost for each row, so that no split gains."""
        return bool(totals[:-1].min() == 0)

    def scan(self, sums: np.ndarray, inside: np.ndarray, totals: np.ndarray) -> ColumnScan:
        """That of the losses, with the least costs added."""
        best, edge, bounds = super().scan(sums[:, :, :-1], inside, totals[:-1].copy())
        return ColumnScan(best + totals[-1], edge, bounds + totals[-1])


class CenterBounds:
    """Upper bounds for the gain of all splits of a node, by the centers of the two children.

    Let *home* be the center with the least cost for the whole node (ties go to the lowest), and
    D[c] = cost(home) - cost(c) for each row. A split whose children belong to home and c gains the
    sum of D[c] over the rows of the second child, which is at most

        alone[c] = sum over all rows of max(0, D[c]).

    A split whose children belong to c and c', neither of them home, gains the sum of D[c] or D[c']
    over the rows, which is at most the sum of max(D[c], D[c']). For any number v of each row,

        max(D[c], D[c']) <= v + max(0, D[c] - v) + max(0, D[c'] - v),

    so with excess[c] = sum of max(0, D[c] - v) such a split gains at most

        sum of v + excess[c] + excess[c'],

    and at most the sum of the largest D of each row. The choice v = min(0, (m + u) / 2), halfway
    between the mean m and the maximum u of D of a row, makes this bound small in a node whose rows
    mostly belong to home. No child of a split with a gain belongs to a center with alone[c] = 0.

    `home` is the center that the others are compared with, and `table`, (3, n_clusters + 1), has
    the sums of `sum_center_gains`. `totals` are the costs of all rows at each center, and
    `cheapest` is the center of least cost: the bounds hold if it is `home`. `level` and `largest`
    are the sums of v and of the largest D of each row.
    """

    def __init__(self, home: int, table: np.ndarray) -> None:
        self.home, self._table = home, table
        extra_cost, self.alone, self.excess = table[:, :-1]
        home_cost, self.largest, self.level = table[:, -1].tolist()
        self.totals = extra_cost + home_cost
        self.cheapest = int(self.totals.argmin())

    @classmethod
    def of(
        cls, rows: np.ndarray, costs: np.ndarray, pool: ThreadPool, home: int | None = None
    ) -> CenterBounds:
        """Bounds of some rows, compared with `home` or with the cheapest center of a sample."""
        n, k = len(rows), costs.shape[1]
        if home is None:
            home = int(costs[rows[:: -(-n // _SAMPLE) or 1]].mean(axis=0).argmin()) if n else 0
        shift = (k - 1).bit_length()
        ratio = 2**shift / max(k - 1, 1)

        def sum_block(block: tuple[int, int]) -> np.ndarray:
            table, scratch = np.zeros((3, k + 1), np.int64), np.empty((_BLOCK_ROWS, k), np.int64)
            terms = rows[slice(*block)], costs, home, shift, ratio
            kernels.surrogate_cost.sum_center_gains(*terms, scratch, table)
            return table

        tables = pool.map(sum_block, pool.blocks(n, _MIN_TASK_ROWS))
        return cls(home, tables[0] if len(tables) == 1 else np.sum(tables, axis=0))

    def subtract(self, other: CenterBounds) -> CenterBounds:
        """Bounds without the rows of `other`, which have been compared with the same center."""
        return CenterBounds(self.home, self._table - other._table)

    @cached_property
    def max_gain(self) -> int:
        """No split gains more; 0 if home is the cheapest center of each row."""
        return int(self.max_gains.max())

    def centers(self, gain: float) -> np.ndarray:
        """Home and all centers to which a split of at least this gain (>= 1) may assign a child."""
        is_needed = self.max_gains >= gain
        is_needed[self.home] = True
        return is_needed.nonzero()[0]

    @cached_property
    def max_gains(self) -> np.ndarray:
        """For each center other than home, a bound for all splits with a child of that center."""
        useful = np.flatnonzero(self.alone)
        if self.largest <= 0 or len(useful) < 2:
            return self.alone
        excess = self.excess[useful]
        second, first = np.partition(excess, -2)[-2:]
        partner = np.where(np.arange(len(excess)) == excess.argmax(), second, first)
        without_home = np.minimum(self.level + excess + partner, self.largest)
        gains = self.alone.copy()
        gains[useful] = np.maximum(self.alone[useful], without_home)
        return gains
