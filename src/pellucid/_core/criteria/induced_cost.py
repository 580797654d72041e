"""Induced cost, with a price on depth (ExGreedy, ExShallow)."""

from __future__ import annotations

from functools import partial

import numpy as np

from pellucid._core.criteria.base import CenterSplitCriterion, Node
from pellucid._core.criteria.column_search import (
    BinnedColumn,
    Split,
    edge_cuts,
    open_bins,
    search_columns,
)
from pellucid._core.criteria.mistake_scans import LabeledRows, ObjectiveTerms, scan_rows
from pellucid._core.criteria.opened import Opened, look_inside
from pellucid._core.criteria.problem import Problem

_LEAST_ROWS = 16384
"""Fewest rows worth a task of their own."""


class InducedCost(CenterSplitCriterion[None]):
    """Price + depth_penalty * DExp of the ExShallow paper.

    Price is what the rows pay after the cut, each to the nearest center on its side, over what
    they pay before it. DExp estimates the average depth that the cut leads to, less the share
    of rows for which it makes a condition above redundant.

    Parameters
    ----------
    problem : Problem
    depth_penalty : float
        What one more condition on average may cost, as a share of the cell's cost.
    """

    nodes_are_independent = True

    def __init__(self, problem: Problem, depth_penalty: float = 0.0) -> None:
        super().__init__(problem)
        self.depth_penalty = float(depth_penalty)

    def best_center_splits(self, node: Node, features: np.ndarray, n: int) -> list[Split]:
        """Cuts of least objective that leave each side as many rows as centers, if possible."""
        ranked, owned = self._rank(node)
        weight = float(owned.sums[:, 0].sum())
        terms = (
            float(owned.base),
            self.depth_penalty,
            weight,
            self.problem.weights.units_per_weight,
        )
        killers = np.zeros((2, self.problem.n_features))
        killers[0, list(node.rows.cut_left)] = 1.0
        killers[1, list(node.rows.cut_right)] = 1.0
        search = (n, node, features, ranked, owned, killers)
        return self._search(*search, terms) or self._search(*search, (*terms[:3], 0.0))

    def loss(self, node: Node, split: Split) -> float:
        """How much more the rows pay, as a share of what all rows paid at first, plus the price of
        the conditions that the cut adds to their explanations.
        """
        from pellucid._core.kernels.induced_cost import pay

        problem, active = self.problem, node.rows.active
        near, cost = problem.ranked
        in_cell = np.zeros(problem.n_clusters, dtype=bool)
        in_cell[node.rows.centers] = True
        center_left = problem.centers[:, split.feature] <= split.threshold
        left = BinnedColumn(problem, split.feature, active).at_most(split.threshold)
        before, after = pay(active, left, near, cost, center_left, in_cell)
        spared = (split.feature in node.rows.cut_left, split.feature in node.rows.cut_right)
        sides = problem.weights.total_of(active[left]), problem.weights.total_of(active[~left])
        longer = sum(weight for weight, spare in zip(sides, spared) if not spare)
        total = float(cost[:, 0].sum())
        more = (after - before) / total if total > 0 else float(after > before)
        return more + self.depth_penalty * longer / float(problem.weights.values.sum())

    def _search(self, n, node, features, ranked, owned, killers, terms) -> list[Split]:
        from pellucid._core.kernels.induced_cost import tally_induced

        problem, bins, rows = self.problem, self.problem.bins, owned.rows
        near, cost = problem.ranked
        places, n_gaps = self.center_codes(node), len(node.rows.centers) - 1
        depths = np.zeros(len(node.rows.centers) + 1) if self.depth_penalty else None
        objective = ObjectiveTerms(terms, killers, depths)
        separated = scan_rows(problem, owned, places, objective)

        def scan(block: np.ndarray, found: np.ndarray) -> None:
            # A row cut off from its nearest center pays its margin or more: a bound, no cut yet.
            separated(block, found)
            found[block, :, 2] = np.minimum(found[block, :, 0], found[block, :, 2])
            found[block, :, 0] = np.inf

        def refine(feature: int, limit: float) -> np.ndarray:
            position, edges = places[1][feature], bins.edges[feature]
            rank = np.full(problem.n_clusters, -1)
            rank[node.rows.centers[np.argsort(places[0][feature])]] = np.arange(
                len(node.rows.centers)
            )
            first_left = np.searchsorted(position, np.arange(len(edges)))
            column, change = bins.dense_column(feature, problem.n_samples), np.empty_like(ranked[2])

            def tally(block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
                part = slice(*block)
                mine = np.zeros((3, len(edges)), np.int64), np.zeros(n_gaps + 2, np.int64)
                some = (rows[part], *(about[part] for about in ranked))
                how = (near, cost, owned.weight[part], rank, first_left)
                tally_induced(column, *some, *how, *mine, change[part])
                return mine

            parts = problem.pool.map(tally, problem.pool.blocks(len(rows), _LEAST_ROWS))
            levels, base = (sum(part[i] for part in parts) for i in (0, 1))
            base[0] += owned.base
            levels, inside = _along_edges(levels, base, position), bins.inside[feature]
            judge = partial(objective.judge_column, feature, position, levels, inside)
            found, wanted = judge(limit)
            if n == 1 and (best := found[:, 0].min()) < limit:
                found, wanted = judge(best)
            cuts = edge_cuts(found, edges)
            at, codes, values = open_bins(problem, feature, rows, wanted)
            opened = Opened(values, codes, change[at], owned.weight[at])
            look_inside(opened, feature, position, edges, levels, objective, cuts)
            return cuts

        return search_columns(problem, features, len(rows), scan, refine, np.inf, n_gaps, n)

    def _rank(self, node: Node) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], LabeledRows]:
        """Nearest and second nearest center of each row, their margin, and the rows for a bound."""
        from pellucid._core.kernels.induced_cost import find_nearest

        problem, rows = self.problem, node.rows.active
        near, cost = problem.ranked
        place = np.full(problem.n_clusters, -1)
        place[node.rows.centers] = np.arange(len(node.rows.centers))
        own, other, home = np.empty((3, len(rows)), dtype=near.dtype)
        margin = np.empty(len(rows), dtype=np.int64)
        weight = problem.weights.units_of(rows)

        def work(block: tuple[int, int]) -> tuple[int, np.ndarray]:
            part, mine = slice(*block), np.zeros((len(node.rows.centers), 2), dtype=np.int64)
            filled = (own[part], other[part], margin[part], home[part], mine)
            return find_nearest(rows[part], near, cost, weight[part], place, *filled), mine

        parts = problem.pool.map(work, problem.pool.blocks(len(rows), _LEAST_ROWS))
        base, sums = (sum(part[i] for part in parts) for i in (0, 1))
        return (own, other, margin), LabeledRows(rows, home, weight, margin, sums, base)


def _along_edges(levels: np.ndarray, base: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Induced cost at every edge, its fall inside the bin before, and the weight of the rows to the
    left, from `tally_induced`.
    """
    gap = np.searchsorted(position, np.arange(levels.shape[1]), side="right") - 1
    moved = np.cumsum(levels[0] - levels[1])
    amount = np.cumsum(base)[gap] + moved - moved[position[gap]]
    return np.array([amount, levels[1], np.cumsum(levels[2])])
