"""Induced cost, with a penalty on depth (ExGreedy, ExShallow)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.criteria.base import CenterSplitCriterion, Node
from pellucid._core.criteria.center_search import (
    CHUNK,
    CenterSearch,
    EdgeSums,
    ObjectiveTerms,
    ValueCodes,
    edge_sums,
)
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.problem import Problem

_MIN_ROWS = 16384
"""Rows worth a task of their own."""


class LabeledRows(NamedTuple):
    """Rows of a node, each with a center and what separating it from that center costs at least.

    `center` is a place among the centers of the node. `sums`, (n_centers, 2), are weight and margin
    of all rows of each center, and `base` is the amount if no row is separated.
    """

    rows: np.ndarray
    center: np.ndarray
    weight: np.ndarray
    margin: np.ndarray
    sums: np.ndarray
    base: int


class InducedCost(CenterSplitCriterion[Any]):
    """Price + λ DExp of the ExShallow paper; ExGreedy with λ = 0.

    For the rows X' and centers S' of a node and a cut that divides them into X'_L, X'_R, S'_L and
    S'_R,

        CurrentCost(X', S') = sum over x in X' of the least cost of x to a center in S',
        InducedCost = CurrentCost(X'_L, S'_L) + CurrentCost(X'_R, S'_R),
        Price = InducedCost / CurrentCost(X', S'),
        DExp = EvalWAD(|X'|, |S'|, r_p, r_c) - share of the rows on killer sides.

    EvalWAD is the mean depth of a tree each of whose nodes sends the share r_p = |X'_L| / |X'| of
    its rows and r_c = |S'_L| / |S'| of its centers to the left. A side is a killer if the cut makes
    a condition above it redundant: a cut of the same feature sent the node to the same side. λ, the
    `depth_penalty`, is the share of a node's cost that one condition less on average is worth.

    A split should leave each side at least as many rows as centers; only if there is none, others
    are allowed. Integer weights count as copies of rows. If some weights are not integers, a weight
    counts as weight / mean weight rows, so that only the ratios of the weights matter.
    """

    nodes_are_independent = True

    def __init__(self, problem: Problem, depth_penalty: float = 0.0) -> None:
        super().__init__(problem)
        self.depth_penalty = float(depth_penalty)

    def best_center_splits(self, node: Node, features: np.ndarray, n: int) -> list[Split]:
        """Splits of least objective that leave each side as many rows as centers, if possible."""
        labeled = self._nearest_centers(node)
        for weight_per_center in (self.problem.weights.units_per_row, 0.0):
            search = _NodeSearch(self, node, labeled, weight_per_center, n)
            if splits := search.best_splits(features):
                return splits
        return []

    def loss(self, node: Node, split: Split) -> float:
        """Rise of the cost relative to that of the root, plus λ times the rise of the mean
        explanation size.
        """
        problem, rows = self.problem, node.rows
        _, _, left, right = self.split_rows(rows.active, split.feature, split.threshold)
        is_left = problem.centers[rows.centers, split.feature] <= split.threshold
        after = self._current_cost(left, rows.centers[is_left])
        after += self._current_cost(right, rows.centers[~is_left])
        rise = after - self._current_cost(rows.active, rows.centers)
        longer = 0.0
        for side, killers in ((left, rows.cut_left), (right, rows.cut_right)):
            longer += 0.0 if split.feature in killers else problem.weights.total_of(side)
        total = float(self._root_cost)
        relative = rise / total if total > 0 else float(rise > 0)
        return relative + self.depth_penalty * longer / problem.weights.total

    @cached_property
    def _root_cost(self) -> int:
        root = self.root().rows
        return self._current_cost(root.active, root.centers)

    def _current_cost(self, rows: np.ndarray, centers: np.ndarray) -> int:
        from pellucid._core.kernels.induced_cost import sum_least_costs

        return sum_least_costs(rows, centers, self.problem.costs)

    def _nearest_centers(self, node: Node) -> LabeledRows:
        """Rows with their nearest centers and the margins to the second nearest.

        The margin of a row is a lower bound of its excess in every split that separates it from
        its nearest center.
        """
        from pellucid._core.kernels.induced_cost import find_nearest

        problem, rows, n_centers = self.problem, node.rows.active, len(node.rows.centers)
        costs = problem.costs
        nearest = np.empty(len(rows), dtype=problem.labels.dtype)
        margin = np.empty(len(rows), dtype=np.int64)
        weight = problem.weights.units_of(rows)

        def work(block: tuple[int, int]) -> np.ndarray:
            part, sums = slice(*block), np.zeros((n_centers, 3), dtype=np.int64)
            find_nearest(
                rows=rows[part],
                weight=weight[part],
                centers=node.rows.centers,
                costs=costs,
                nearest=nearest[part],
                margin=margin[part],
                sums=sums,
            )
            return sums

        parts = problem.pool.map(work, problem.pool.blocks(len(rows), _MIN_ROWS))
        sums = reduce(np.add, parts)
        current_cost = int(sums[:, 2].sum())
        sums = np.ascontiguousarray(sums[:, :2])
        return LabeledRows(rows, nearest, weight, margin, sums, current_cost)


class DepthLimitedCost(InducedCost):
    """Induced cost, restricted to splits after which a tree of limited depth is still possible.

    With m splits allowed below a node, each side of its split may have at most 2^(m - 1) centers.
    """

    def __init__(self, problem: Problem, depth_penalty: float, max_depth: int) -> None:
        super().__init__(problem, depth_penalty)
        self.max_depth = max_depth

    def best_split(self, node: Node[Any]) -> Split | None:
        """The best split that keeps the depth; if there is none, the best one."""
        n, splits = 1, self.best_splits(node)
        while not (allowed := [split for split in splits if self._keeps_depth(node, split)]):
            if len(splits) < n:  # these are all
                return splits[0] if splits else None
            n *= 32
            splits = self.best_splits(node, n)
        return allowed[0]

    def _keeps_depth(self, node: Node[Any], split: Split) -> bool:
        """Whether the centers on each side fit into the levels below."""
        centers, max_centers = node.rows.centers, 2.0 ** (self.max_depth - node.rows.depth - 1)
        n_left = int((self.problem.centers[centers, split.feature] <= split.threshold).sum())
        return max(n_left, len(centers) - n_left) <= max_centers


class RowHistogram:
    """Histograms that are counted from rows, some columns at a time.

    `group` is the center of each row, as a place among the centers of the node; `totals` is the
    weight of all rows of each center. ``last[j]`` is the last bin of column j that matters; those
    above may be pooled.
    """

    def __init__(
        self,
        problem: Problem,
        rows: np.ndarray,
        group: np.ndarray,
        weights: np.ndarray,
        totals: np.ndarray,
        last: np.ndarray,
    ) -> None:
        self.problem, self.totals, self._last = problem, totals, last
        self._rows, self._group, self._weights = rows, group, weights
        if problem.bins.is_sparse:
            self._n_bins, width = int(last.max()) + 2, int(last.mean()) + 2
            self._group = np.full(problem.n_samples, -1, dtype=np.int32)
            self._weights = np.zeros(problem.n_samples, dtype=np.int64)
            self._group[rows], self._weights[rows] = group, weights
        else:
            self._n_bins = width = problem.bins.edges.shape[1]
        self.step = max(1, CHUNK // (len(totals) * width))

    def count(self, features: np.ndarray) -> np.ndarray:
        """Histogram of some columns, of shape (len(features), n_centers, n_bins)."""
        from pellucid._core.kernels.mistakes import hist_csc, hist_dense

        bins, shape = self.problem.bins, (len(features), len(self.totals), self._n_bins)
        if not bins.is_sparse:

            def add(rows: slice, columns: slice, out: np.ndarray) -> None:
                of_rows = self._rows[rows], self._group[rows], self._weights[rows]
                hist_dense(features[columns], bins.codes, *of_rows, out)

            return self.problem.add_up(len(self._rows), shape, add)
        out = np.empty(shape, dtype=np.int64)
        hist_csc(
            features=features,
            codes=bins.codes[0],
            indices=bins.indices,
            indptr=bins.indptr,
            zero_code=bins.zero_code,
            group=self._group,
            weights=self._weights,
            totals=self.totals,
            last=self._last,
            out=out,
        )
        return out


class _NodeSearch(CenterSearch):
    """Search for the best splits of one node.

    Margins give a lower bound of the induced cost in every column; the induced cost itself is
    computed only in columns whose bound is low enough.
    """

    def __init__(
        self,
        criterion: InducedCost,
        node: Node,
        labeled: LabeledRows,
        weight_per_center: float,
        n: int,
    ) -> None:
        self.centers = node.rows.centers
        terms = induced_terms(
            criterion.problem.n_features,
            node.rows,
            labeled.base,
            float(labeled.sums[:, 0].sum()),
            criterion.depth_penalty,
            weight_per_center,
        )
        problem, codes = criterion.problem, criterion.center_codes(node)
        super().__init__(problem, labeled.rows, labeled.weight, codes, terms, n)
        last, totals = codes.ascending[:, -1], labeled.sums.T.copy()
        self.labeled, self.cost_per_column = labeled, len(labeled.rows)
        self.weights, self.margins = (
            RowHistogram(problem, labeled.rows, labeled.center, values, of_center, last)
            for values, of_center in zip((labeled.weight, labeled.margin), totals)
        )
        self.step = self.weights.step

    def scan(self, features: np.ndarray, found: np.ndarray) -> None:
        """Lower bounds for some columns, and no splits yet."""
        super().scan(features, found)
        found[features, :, 2] = np.minimum(found[features, :, 0], found[features, :, 2])
        found[features, :, 0] = np.inf

    def separation_sums(self, features: np.ndarray) -> EdgeSums:
        weights, margins = self.weights.count(features), self.margins.count(features)
        totals, base = self.margins.totals, self.labeled.base
        return edge_sums(features, weights, margins, totals, self.codes, base)

    def refine_many(self, features: np.ndarray) -> np.ndarray:
        step = max(1, CHUNK // (len(self.rows) + len(self.centers)))
        starts = range(0, len(features), step)
        return np.concatenate([self._refine_few(features[s : s + step]) for s in starts])

    def _refine_few(self, features: np.ndarray) -> np.ndarray:
        """Least objective and threshold by column and gap, by trying all values."""
        from pellucid._core.kernels.induced_cost import excess_of_columns

        problem, labeled, every = self.problem, self.labeled, np.arange(len(features))
        values = np.array([problem.values(j, labeled.rows) for j in features.tolist()])
        coordinates = problem.centers[self.centers[:, None], features].T
        codes, center_code, edges = ValueCodes.of(values, coordinates)
        sums = np.zeros((3, *edges.shape), dtype=np.int64)
        excess_of_columns(
            codes=codes,
            rows=labeled.rows,
            weight=labeled.weight,
            nearest=labeled.center,
            centers=self.centers,
            costs=problem.costs,
            center_code=center_code,
            scratch=np.empty((3, edges.shape[1]), dtype=np.int64),
            amount=sums[0],
            left=sums[2],
        )
        sums[0] += labeled.base
        killers = self.terms.killer_left[features], self.terms.killer_right[features]
        terms = self.terms._replace(killer_left=killers[0], killer_right=killers[1])
        found, inside = np.empty((len(every), len(self.centers) - 1, 3)), np.zeros_like(edges, bool)
        center_code.sort(axis=1)
        terms.judge(every, center_code, EdgeSums(*sums), inside, -np.inf, found)
        thresholds = edges[every[:, None], found[:, :, 1].astype(np.intp)]
        return np.stack([found[:, :, 0], thresholds], axis=2)

    def exact_sums(self, feature: int) -> tuple[EdgeSums, Callable[..., np.ndarray]]:
        amount, fall, change = self._induced_costs(feature)
        weight_left = self.weights.count(np.array([feature]))[0].sum(axis=0).cumsum()
        return EdgeSums(amount, fall, weight_left), lambda places, codes: change[places]

    def _induced_costs(self, feature: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Induced cost at every edge, its fall in every bin, and the change by each row."""
        from pellucid._core.kernels.induced_cost import sum_excess

        problem, labeled = self.problem, self.labeled
        by_center, position = (of_columns[feature] for of_columns in self.codes)
        column = problem.bins.dense_column(feature, problem.n_samples)
        bins, n_gaps = np.arange(problem.bins.edges.shape[1]), len(position) - 1
        order, change = by_center.argsort(), np.empty_like(labeled.margin)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        gap_of_bin = np.searchsorted(position, bins) - 1

        def work(block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
            part = slice(*block)
            by_gap, by_bin = np.zeros(n_gaps, np.int64), np.zeros((2, len(bins)), np.int64)
            sum_excess(
                codes=column,
                rows=labeled.rows[part],
                nearest_rank=rank.take(labeled.center[part]),
                ordered=self.centers[order],
                costs=problem.costs,
                gap_of_bin=gap_of_bin,
                by_gap=by_gap,
                by_bin=by_bin,
                change=change[part],
            )
            return by_gap, by_bin

        parts = problem.pool.map(work, problem.pool.blocks(len(labeled.rows), _MIN_ROWS))
        by_gap, by_bin = (reduce(np.add, arrays) for arrays in zip(*parts))
        return labeled.base + excess_at_edges(by_gap, by_bin, position), by_bin[1], change


def induced_terms(
    n_features: int, node: Any, cost: int, weight: float, penalty: float, min_weight: float
) -> ObjectiveTerms:
    """Price + λ DExp of a node with some cost and weight, in memory or on batches."""
    killers, n_gaps = np.zeros((2, n_features)), len(node.centers) - 1
    killers[0, list(node.cut_left)] = 1.0
    killers[1, list(node.cut_right)] = 1.0
    divisor = np.full(n_gaps, float(cost))
    return ObjectiveTerms(divisor, penalty, weight, min_weight, *killers)


def excess_at_edges(by_gap: np.ndarray, by_bin: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Excess of all rows of a node at every edge of a column.

    With R and L = `by_bin` the excess by bin of rows whose nearest center is to the right and to
    the left of the gap, the excess at edge t of the gap from bin a to bin b is `by_gap`, that of
    the whole gap, less R[t + 1] + ... + R[b] less L[a + 1] + ... + L[t]. `position` are the codes
    of the centers, ascending.
    """
    bins = np.arange(by_bin.shape[1])
    gap = np.clip(np.searchsorted(position, bins, side="right") - 1, 0, len(by_gap) - 1)
    right, left = by_bin.cumsum(axis=1)
    return by_gap[gap] - (right[position[gap + 1]] - right) - (left - left[position[gap]])
