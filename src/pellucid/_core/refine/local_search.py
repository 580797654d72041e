"""Local search from tree to tree, by simulated annealing with a threshold (threshold accepting).

The objective is the k-means cost

    C = (total sum of squares) - B,    B = between-cluster sum of squares.

A step changes a subtree at random: it regrows the subtree, moves a leaf, draws a random cut, or, if
there are more leaves than clusters, gives a leaf to another cluster. Then it re-optimises all cuts
of the subtree. With B and B' the values before and after, the step is accepted if

    B' > B - T(s),    T(s) = `tuning.START_TEMPERATURE` * C(start) * (1 - r) * (1 - s),

where r is the part of the rounds that is done, and s the part of the work of the round. Accepted
trees are re-optimised from the root; the best of them is kept. Random numbers have fixed seeds, and
work is computed from the sizes of the data instead of a clock: the same data give the same tree.

A search ends when its work is done, or when it has taken as many steps in a row without success as
there are trees that differ in one cut or in the place of one leaf. Small data reach this soon.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random

from pellucid._core.criteria.induced_cost import DepthLimitedCost, InducedCost
from pellucid._core.criteria.problem import Problem
from pellucid._core.growers import grow
from pellucid._core.refine import tuning
from pellucid._core.refine.local_search_data import LocalSearchData, Workspace
from pellucid._core.refine.local_search_tree import LocalSearchTree
from pellucid._utils.progress import Progress
from pellucid.tree import ThresholdTree
from pellucid.tree.measures import conditions_per_leaf
from pellucid.tree.rounding import ThresholdStyle

_Change = Callable[[LocalSearchTree, Random], int | None]


@dataclass(frozen=True)
class TreeLimits:
    """Maximal size of a tree; None is no limit."""

    n_leaves: int
    max_depth: int | None = None  # splits on the longest path
    max_conditions: int | None = None  # in the longest rule of a leaf, without redundant ones

    @property
    def limits_depth(self) -> bool:
        return self.safe_depth is not None

    @property
    def safe_depth(self) -> int | None:
        """Depth up to which every tree is within the limits; a rule has no more conditions."""
        limits = [limit for limit in (self.max_depth, self.max_conditions) if limit is not None]
        return min(limits, default=None)

    def allows(self, tree: ThresholdTree) -> bool:
        n_conditions = 0 if self.max_conditions is None else int(conditions_per_leaf(tree).max())
        return self.allows_sizes(tree.max_depth, n_conditions)

    def allows_sizes(self, depth: int, n_conditions: int) -> bool:
        """Whether a tree of this depth, and with so long a rule, is within the limits."""
        is_shallow = self.max_depth is None or depth <= self.max_depth
        return is_shallow and (self.max_conditions is None or n_conditions <= self.max_conditions)


def search_from(
    trees: list[ThresholdTree],
    problem: Problem,
    work: float,
    threshold_style: ThresholdStyle,
    limits: TreeLimits,
) -> ThresholdTree | None:
    """The best tree that local searches from the best of some trees find.

    None if each of the trees has a cluster without rows or exceeds the limits. The problem is one
    that `searchable` returned, and the work is in about nanoseconds.
    """
    data, pool = LocalSearchData(problem), problem.pool
    searches = _best(pool.map(lambda tree: LocalSearch(data, tree, limits), trees))
    for i in range(tuning.N_ROUNDS):
        searches = _best([*searches, *(other for search in searches for other in search.regrow())])
        part = work / (tuning.N_ROUNDS * max(len(searches), 1))
        tasks = [
            partial(search.run, part, i * tuning.N_SEARCHES + n, i / tuning.N_ROUNDS)
            for n, search in enumerate(searches)
        ]
        pool.map(lambda task: task(), tasks)
    return _best(searches)[0].best.to_tree(threshold_style) if searches else None


class LocalSearch:
    """A local search from one tree, with the best tree found and its `between_ss`.

    That is minus infinity if a cluster has no leaf or no rows, or if the start tree exceeds the
    limits.
    """

    def __init__(self, data: LocalSearchData, tree: ThresholdTree, limits: TreeLimits) -> None:
        self.data, self.limits, self._workspace = data, limits, Workspace(data, limits.n_leaves)
        self.best, self.between_ss = LocalSearchTree(data, self._workspace, tree), -math.inf
        self.best.max_depth = limits.max_depth
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
        if self.best.is_grouped or self._regrown_at == self.between_ss:
            return []
        self._regrown_at = self.between_ss
        arrays, leaves = self.best.arrays, self.best.leaves()
        if self.data.mistake_cost > 0:
            leaves.sort(key=arrays.cluster.item)
        problem = self.data.with_centers(arrays.sums[leaves])
        criteria = [InducedCost(problem, penalty) for penalty in tuning.REGROWN_PENALTIES]
        if (depth := self.limits.safe_depth) is not None:
            limited = DepthLimitedCost(problem, tuning.REGROWN_LIMITED_PENALTY, depth)
            criteria = [InducedCost(problem), limited]
        silent = Progress("", 1, 0)
        growths = [grow(criterion, "greedy", "midpoint", silent) for criterion in criteria]
        trees = list(dict.fromkeys(growth.builder.build() for growth in growths))
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
        highest = tuning.START_TEMPERATURE * (1 - part)
        tree.update_bounds()
        n_failures, n_leaves = 0, len(tree.leaves())
        n_cuts = sum(len(values) - 1 for values in self.data.values)
        n_neighbours = (n_leaves - 1) * (n_cuts + n_leaves)  # in one cut, or in one leaf's place
        while (done := (workspace.work - begin) / work) < 1:
            if n_failures > n_neighbours:
                if tree is self.best:
                    self._exhausted_at = self.between_ss
                return
            n_failures += 1
            workspace.work += tuning.STEP_WORK
            trial, goal = tree.copy(), value - highest * cost * (1 - done)
            top = change(trial, random)
            if top is None or not self._is_allowed(trial):
                continue
            after = trial.reoptimise(top, goal, value - tuning.MAX_DETOUR * cost)
            if after <= goal or abs(after - value) <= tuning.SEARCH_TIE * abs(value):
                continue
            trial.mark_ancestors(top)
            after = trial.reoptimise(trial.root)
            if not self._is_allowed(trial):  # other cuts may need more conditions
                continue
            tree, value, n_failures = trial, after, 0
            tree.update_bounds()
            if value > self.between_ss + tuning.SEARCH_TIE * abs(self.between_ss):
                self.best, self.between_ss = tree, value


def change(tree: LocalSearchTree, random: Random) -> int | None:
    """Change a random subtree; its top node, or None if the change is not possible."""
    changes: list[_Change] = [_regrow_subtree, _move_leaf, _cut_at_random]
    if tree.is_grouped:
        changes += [_move_leaf, LocalSearchTree.relabel]
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
    top, feature = random.choice(tree.inner()), random.randrange(tree.data.problem.n_features)
    if not len(tree.node_rows(top)):
        return None
    tree.cut_at_quantile(top, feature, random.random())
    return top


def _best(searches: list[LocalSearch]) -> list[LocalSearch]:
    """The few best searches that differ, best first."""
    chosen: list[LocalSearch] = []
    for search in sorted(searches, key=lambda search: -search.between_ss):
        is_new = not chosen or search.between_ss < chosen[-1].between_ss * (1 - tuning.SEARCH_TIE)
        if is_new and math.isfinite(search.between_ss) and len(chosen) < tuning.N_SEARCHES:
            chosen.append(search)
    return chosen
