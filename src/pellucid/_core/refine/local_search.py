"""Local search from tree to tree, by simulated annealing with a threshold (threshold accepting).

The objective is the k-means cost

    C = (total sum of squares) - B,    B = between-cluster sum of squares.

A step changes a subtree at random: it regrows the subtree, moves a leaf, draws a random cut, or, if
there are more leaves than clusters, gives a leaf to another cluster. Then it re-optimises all cuts
of the subtree. With B and B' the values before and after, the step is accepted if

    B' > B - T(s),    T(s) = `_START_TEMPERATURE` * C(start) * (1 - r) * (1 - s),

where r is the part of the rounds that is done, and s the part of the work of the round. Accepted
trees are re-optimised from the root; the best of them is kept. Random numbers have fixed seeds, and
work is computed from the sizes of the data instead of a clock: the same data give the same tree.

A search ends when its work is done, or when it has taken as many steps in a row without success as
there are trees that differ in one cut or in the place of one leaf. Small data reach this soon.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from pellucid._core.criteria.induced_cost import DepthLimitedCost, InducedCost
from pellucid._core.criteria.problem import Problem
from pellucid._core.growers import grow
from pellucid._core.refine.grouped_tree import GroupedTree
from pellucid._core.refine.limits import TreeLimits
from pellucid._core.refine.local_search_tree import LocalSearchData, LocalSearchTree, Workspace
from pellucid._core.refine.row_sample import sample_problem
from pellucid._utils.progress import Progress
from pellucid.tree import ThresholdTree
from pellucid.tree.rounding import ThresholdStyle

_N_SEARCHES = 2
"""Trees from which the search continues at a time."""

_N_ROUNDS = 5
"""How often trees are regrown from the means of the leaves, and the search restarts."""

_DEPTH_PENALTIES = (0.0, 0.01, 0.03, 0.1)
"""Depth penalties of the trees that are regrown."""

_LIMITED_PENALTY = 0.1
"""Depth penalty of a regrown tree of limited depth."""

_START_TEMPERATURE = 0.01
"""Part of the cost by which a step may raise it at first; it falls from round to round."""

_MAX_DETOUR = 0.03
"""Part of the cost above which a changed subtree is given up before it is re-optimised fully."""

_STEP_WORK = 2e5
"""Work of a step outside its loops, in nanoseconds."""

_TIE = 1e-9
"""Part of B by which trees must differ to count as different."""

_MAX_ROWS = 2**15
"""Rows up to which a local search uses all of them; their ranks have to fit into 16 bits."""

_MAX_VALUES = 2**19
"""Rows times columns up to which a local search uses all rows."""

_MIN_ROWS_PER_CLUSTER = 10
"""Rows of a sample per cluster, without which it is not searched."""


def searchable(problem: Problem) -> Problem | None:
    """The problem itself if it is small enough for a local search, or that of a sample.

    None if there is one cluster, or if the columns are so many that a sample would be too small.
    """
    if problem.n_clusters < 2:
        return None
    if is_small(problem):
        return problem
    is_enough = _max_rows(problem) >= _MIN_ROWS_PER_CLUSTER * problem.n_clusters
    return sample_problem(problem, _max_rows(problem)) if is_enough else None


def is_small(problem: Problem) -> bool:
    """Whether a local search uses all rows."""
    return problem.n_clusters > 1 and count_rows(problem) <= _max_rows(problem)


def _max_rows(problem: Problem) -> int:
    return min(_MAX_ROWS, _MAX_VALUES // problem.n_features)


def search_from(
    trees: list[ThresholdTree],
    problem: Problem,
    work: float,
    threshold_style: ThresholdStyle,
    limits: TreeLimits,
) -> ThresholdTree | None:
    """The best tree that local searches from the best of some trees find.

    None if each of the trees has a cluster without rows or exceeds the limits.

    Parameters
    ----------
    trees : list of ThresholdTree
        With at least one leaf per cluster, and at most as many as the limits allow.
    problem : Problem
        One that `searchable` returned.
    work : float
        How much to do, in about nanoseconds.
    threshold_style : {"round", "midpoint", "data"}
        Which number of a cut's interval becomes the threshold.
    limits : TreeLimits
    """
    data, pool = LocalSearchData(problem), problem.pool
    searches = _best(pool.map(lambda tree: LocalSearch(data, tree, limits), trees))
    for i in range(_N_ROUNDS):
        searches = _best([*searches, *(other for search in searches for other in search.regrow())])
        part = work / (_N_ROUNDS * max(len(searches), 1))
        tasks = [
            partial(search.run, part, i * _N_SEARCHES + n, i / _N_ROUNDS)
            for n, search in enumerate(searches)
        ]
        pool.map(lambda task: task(), tasks)
    return _best(searches)[0].best.to_tree(threshold_style) if searches else None


class LocalSearch:
    """A local search from one tree.

    Parameters
    ----------
    data : LocalSearchData
    tree : ThresholdTree
        Start tree.
    limits : TreeLimits

    Attributes
    ----------
    best : LocalSearchTree
        The best tree found.
    between_ss : float
        Its between-cluster sum of squares; minus infinity if a cluster has no leaf or no rows, or
        if the start tree exceeds the limits.
    """

    def __init__(self, data: LocalSearchData, tree: ThresholdTree, limits: TreeLimits) -> None:
        self.data, self.limits, self._workspace = data, limits, Workspace(data, limits.n_leaves)
        self._is_grouped = limits.n_leaves > data.problem.n_clusters
        kind = GroupedTree if self._is_grouped else LocalSearchTree
        self.best, self.between_ss = kind(data, self._workspace, tree), -math.inf
        has_leaves = tree.n_leaves >= data.problem.n_clusters
        if has_leaves and self._is_allowed(self.best):
            improved = self.best.copy()
            between_ss = improved.reoptimise(improved.root)
            if self._is_allowed(improved):
                self.best, self.between_ss = improved, between_ss
            else:
                self.between_ss = self.best.between_ss()
        self._regrown_at = self._exhausted_at = -math.inf

    def _is_allowed(self, tree: LocalSearchTree) -> bool:
        return not self.limits.limits_depth or self.limits.allows_sizes(*tree.rule_sizes())

    def regrow(self) -> list[LocalSearch]:
        """Searches from trees that explain the leaf means of the best tree, if it has changed.

        None with more leaves than clusters: such trees would have to be expanded first.
        """
        if self._is_grouped or self._regrown_at == self.between_ss:
            return []
        self._regrown_at = self.between_ss
        problem = self.data.with_centers(self.best.arrays.sums[self.best.leaves()])
        criteria = [InducedCost(problem, penalty) for penalty in _DEPTH_PENALTIES]
        if self.limits.safe_depth is not None:
            limited = DepthLimitedCost(problem, _LIMITED_PENALTY, self.limits.safe_depth)
            criteria = [InducedCost(problem), limited]
        trees: list[ThresholdTree] = []
        for criterion in criteria:
            growth = grow(criterion, "greedy", "midpoint", Progress("", 1, 0))
            if (tree := growth.builder.build()) not in trees:
                trees.append(tree)
        return problem.pool.map(lambda tree: LocalSearch(self.data, tree, self.limits), trees)

    def run(self, work: float, seed: int, part: float = 0.0) -> None:
        """Take steps from the best tree until the work is done; `part` is that of earlier runs.

        Nothing is done if the cost is 0, or if an earlier run has tried all neighbours of the tree.
        """
        if self._exhausted_at == self.between_ss or not self.data.total_ss - self.between_ss > 0:
            return
        tree, workspace, random = self.best, self._workspace, Random(seed)
        value, begin = self.between_ss, workspace.work
        cost = self.data.total_ss - value
        highest = _START_TEMPERATURE * (1 - part)
        tree.update_bounds()
        n_failures, n_neighbours = 0, tree.count_neighbours()
        while (done := (workspace.work - begin) / work) < 1:
            if n_failures > n_neighbours:
                if tree is self.best:
                    self._exhausted_at = self.between_ss
                return
            n_failures += 1
            workspace.work += _STEP_WORK
            trial, temperature = tree.copy(), highest * cost * (1 - done)
            found = self._step(trial, random, value, temperature, _MAX_DETOUR * cost)
            if found is None:
                continue
            tree, value, n_failures = trial, found, 0
            tree.update_bounds()
            if value > self.between_ss + _TIE * abs(self.between_ss):
                self.best, self.between_ss = tree, value

    def _step(
        self,
        trial: LocalSearchTree,
        random: Random,
        value: float,
        temperature: float,
        max_detour: float,
    ) -> float | None:
        """Change a subtree of a tree whose BSS is `value` and re-optimise it.

        Returns BSS after that, or None if the step is rejected.
        """
        top = change(trial, random)
        if top is None or not self._is_allowed(trial):
            return None
        after = trial.reoptimise(top, value - temperature, value - max_detour)
        if after <= value - temperature or abs(after - value) <= _TIE * abs(value):
            return None
        trial.mark_ancestors(top)
        after = trial.reoptimise(trial.root)
        return after if self._is_allowed(trial) else None  # other cuts may need more conditions


def change(tree: LocalSearchTree, random: Random) -> int | None:
    """Change a random subtree; its top node, or None if the change is not possible."""
    changes: list[Callable[[Any, Random], int | None]] = [
        _regrow_subtree,
        _move_leaf,
        _cut_at_random,
    ]
    if isinstance(tree, GroupedTree):
        changes += [_move_leaf, GroupedTree.relabel]
    return random.choice(changes)(tree, random)


def _regrow_subtree(tree: LocalSearchTree, random: Random) -> int | None:
    """Collapse a subtree with at least three leaves, and split it again."""
    path = tree.path(random.choice(tree.inner()))
    top = next((node for node in path if len(tree.leaves(node)) > 2), tree.root)
    leaves = tree.leaves(top)
    tree.collapse(top)
    for _ in leaves[1:]:
        if tree.split_one(tree.leaves(top), random) is None:
            return None
    return top


def _move_leaf(tree: LocalSearchTree, random: Random) -> int | None:
    """Remove a leaf and split another one; the lowest node above both."""
    removable = tree.removable()
    top = tree.remove_leaf(random.choice(removable)) if removable else None
    leaf = tree.split_one([i for i in tree.leaves() if i != top], random)
    if leaf is None or top is None:
        return leaf
    tree.mark_ancestors(leaf)
    return next(node for node in tree.path(top) if leaf in tree.preorder(node))


def _cut_at_random(tree: LocalSearchTree, random: Random) -> int | None:
    """Give a node a random cut."""
    top, feature = random.choice(tree.inner()), random.randrange(tree.data.problem.n_features)
    if not len(tree.node_rows(top)):
        return None
    tree.cut_at_quantile(top, feature, random.random())
    return top


def _best(searches: list[LocalSearch]) -> list[LocalSearch]:
    """The few best searches that differ, best first."""
    chosen: list[LocalSearch] = []
    for search in sorted(searches, key=lambda search: -search.between_ss):
        is_new = not chosen or search.between_ss < chosen[-1].between_ss * (1 - _TIE)
        if is_new and math.isfinite(search.between_ss) and len(chosen) < _N_SEARCHES:
            chosen.append(search)
    return chosen


def count_rows(problem: Problem) -> float:
    """Number of rows; a row of integer weight w counts as w rows, as if it were repeated."""
    weights = problem.weights
    return float(weights.values.sum()) if weights.are_integers else float(problem.n_samples)
