"""Induced cost, with a penalty on depth (ExGreedy, ExShallow)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, reduce
from typing import Any

import numpy as np

from pellucid._core import kernels
from pellucid._core.criteria.base import CenterSplitCriterion, Node
from pellucid._core.criteria.center_search import (
    CHUNK,
    CenterSearch,
    EdgeSums,
    ObjectiveTerms,
    edge_sums,
)
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.problem import Problem

_MIN_ROWS = 16384
"""Rows worth a task of their own."""


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
        search = InducedSearch(self, node, n)
        if splits := search.best_splits(features):
            return splits
        search.terms = search.terms._replace(min_weight=0.0)
        return search.best_splits(features)

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
        return kernels.induced_cost.sum_least_costs(rows, centers, self.problem.costs)


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


class InducedSearch(CenterSearch):
    """Search for the best splits of one node.

    Margins give a lower bound of the induced cost in every column; the induced cost itself is
    computed only in columns whose bound is low enough.

    `nearest` is the nearest center of each row, as a place among those of the node, and `margin`
    the cost of the second nearest center less that of the nearest: a lower bound of the excess of
    the row in every split that separates the two. `base` is the amount if no row is separated.
    """

    def __init__(self, criterion: InducedCost, node: Node, n: int) -> None:
        problem, rows, self.centers = criterion.problem, node.rows.active, node.rows.centers
        costs, weight, n_rows = problem.costs, problem.weights.units_of(rows), len(rows)
        self.nearest = np.empty(n_rows, dtype=problem.labels.dtype)
        self.margin = np.empty(n_rows, dtype=np.int64)

        def find(block: tuple[int, int]) -> np.ndarray:
            part, sums = slice(*block), np.zeros((len(self.centers), 3), dtype=np.int64)
            out = self.nearest[part], self.margin[part], sums
            kernels.induced_cost.find_nearest(rows[part], weight[part], self.centers, costs, *out)
            return sums

        sums = reduce(np.add, problem.pool.map(find, problem.pool.blocks(n_rows, _MIN_ROWS)))
        weights, margins = sums.T[:2].copy()
        self.base, least = int(sums[:, 2].sum()), problem.weights.units_per_row
        objective = self.base, float(weights.sum()), criterion.depth_penalty, least
        terms = induced_terms(problem.n_features, node.rows, *objective)
        super().__init__(problem, rows, weight, criterion.center_codes(node), terms, n)
        # Bins above the last one that matters are pooled.
        self._last, self.cost_per_column = self.codes.ascending[:, -1], n_rows
        self._group, amounts = self.nearest, (weight, self.margin)
        self._n_bins = width = problem.bins.edges.shape[1]
        if problem.bins.is_sparse:
            self._n_bins, width = int(self._last.max()) + 2, int(self._last.mean()) + 2
            self._group = np.full(problem.n_samples, -1, dtype=np.int32)
            self._group[rows] = self.nearest
            by_row = np.zeros((2, problem.n_samples), dtype=np.int64)
            by_row[:, rows] = amounts
            amounts = by_row[0], by_row[1]
        self.step = max(1, CHUNK // (len(self.centers) * width))
        self._amounts, self._totals = amounts, (weights, margins)

    def _histograms(self, features: np.ndarray, which: int) -> np.ndarray:
        """Weights (0) or margins (1) by column, center and bin."""
        problem, bins, group = self.problem, self.problem.bins, self._group
        amounts, totals = self._amounts[which], self._totals[which]
        shape = len(features), len(totals), self._n_bins
        if not bins.is_sparse:

            def add(part: slice, columns: slice, out: np.ndarray) -> None:
                of_rows = self.rows[part], group[part], amounts[part]
                kernels.mistakes.hist_dense(features[columns], bins.codes, *of_rows, out)

            return problem.add_up(len(self.rows), shape, add)
        out, of_rows = np.empty(shape, dtype=np.int64), (group, amounts, totals)
        kernels.mistakes.hist_csc(features, *bins.entries, *of_rows, self._last, out)
        return out

    def scan(self, features: np.ndarray, found: np.ndarray) -> None:
        """Lower bounds for some columns, and no splits yet."""
        super().scan(features, found)
        found[features, :, 2] = np.minimum(found[features, :, 0], found[features, :, 2])
        found[features, :, 0] = np.inf

    def separation_sums(self, features: np.ndarray) -> EdgeSums:
        weights, margins = self._histograms(features, 0), self._histograms(features, 1)
        return edge_sums(features, weights, margins, self._totals[1], self.codes, self.base)

    def refine_many(self, features: np.ndarray) -> np.ndarray:
        step = max(1, CHUNK // (len(self.rows) + len(self.centers)))
        starts = range(0, len(features), step)
        return np.concatenate([self._refine_few(features[s : s + step]) for s in starts])

    def _refine_few(self, features: np.ndarray) -> np.ndarray:
        """Least objective and threshold by column and gap, by trying all values."""
        problem, centers, every = self.problem, self.centers, np.arange(len(features))
        values = np.array([problem.values(j, self.rows) for j in features.tolist()])
        coordinates = problem.centers[centers[:, None], features].T
        codes, center_code, edges = _value_codes(values, coordinates)
        sums = np.zeros((3, *edges.shape), dtype=np.int64)
        of_rows, of_centers = (self.rows, self.weight, self.nearest), (centers, problem.costs)
        out = np.empty((3, edges.shape[1]), np.int64), sums[0], sums[2]
        kernels.induced_cost.excess_of_columns(codes, *of_rows, *of_centers, center_code, *out)
        sums[0] += self.base
        killers = self.terms.killer_left[features], self.terms.killer_right[features]
        terms = self.terms._replace(killer_left=killers[0], killer_right=killers[1])
        found, inside = np.empty((len(every), len(centers) - 1, 3)), np.zeros_like(edges, bool)
        center_code.sort(axis=1)
        terms.judge(every, center_code, EdgeSums(*sums), inside, -np.inf, found)
        thresholds = edges[every[:, None], found[:, :, 1].astype(np.intp)]
        return np.stack([found[:, :, 0], thresholds], axis=2)

    def exact_sums(self, feature: int) -> tuple[EdgeSums, Callable[..., np.ndarray]]:
        amount, fall, change = self._induced_costs(feature)
        weight_left = self._histograms(np.array([feature]), 0)[0].sum(axis=0).cumsum()
        return EdgeSums(amount, fall, weight_left), lambda places, codes: change[places]

    def _induced_costs(self, feature: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Induced cost at every edge, its fall in every bin, and the change by each row."""
        problem = self.problem
        by_center, position = (of_columns[feature] for of_columns in self.codes)
        column = problem.bins.dense_column(feature, problem.n_samples)
        bins, n_gaps = np.arange(problem.bins.edges.shape[1]), len(position) - 1
        order, change = by_center.argsort(), np.empty_like(self.margin)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        of_column = self.centers[order], problem.costs, np.searchsorted(position, bins) - 1

        def work(block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
            part = slice(*block)
            sums = np.zeros(n_gaps, np.int64), np.zeros((2, len(bins)), np.int64)
            of_rows = column, self.rows[part], rank.take(self.nearest[part])
            kernels.induced_cost.sum_excess(*of_rows, *of_column, *sums, change[part])
            return sums

        parts = problem.pool.map(work, problem.pool.blocks(len(self.rows), _MIN_ROWS))
        by_gap, by_bin = (reduce(np.add, arrays) for arrays in zip(*parts))
        return self.base + excess_at_edges(by_gap, by_bin, position), by_bin[1], change


def _value_codes(
    values: np.ndarray, coordinates: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes of rows and of centers in columns of a few rows, with an edge at every value.

    `values`, (n_columns, n_rows), and `coordinates`, (n_columns, n_centers), become places in the
    edges, (n_columns, n_rows + n_centers), which are ascending, padded with infinity.
    """
    everything = np.concatenate([values, coordinates], axis=1)
    order = everything.argsort(axis=1)
    ascending = np.take_along_axis(everything, order, axis=1)
    rank = np.zeros(order.shape, dtype=np.int64)
    np.cumsum(ascending[:, 1:] != ascending[:, :-1], axis=1, out=rank[:, 1:])
    codes, edges = np.empty_like(rank), np.full(order.shape, np.inf)
    np.put_along_axis(codes, order, rank, axis=1)
    np.put_along_axis(edges, rank, ascending, axis=1)
    n_rows = values.shape[1]
    return codes[:, :n_rows], np.ascontiguousarray(codes[:, n_rows:]), edges


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
