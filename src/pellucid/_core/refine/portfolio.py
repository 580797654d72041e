"""Several ways to a tree; the best are walked from or polished, and the best of all is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pellucid._core.criteria.induced_cost import InducedCost
from pellucid._core.criteria.mistakes import Mistakes
from pellucid._core.criteria.problem import Problem
from pellucid._core.criteria.surrogate_cost import SurrogateCost
from pellucid._core.growers import grow
from pellucid._core.growers.beam import BeamSearch
from pellucid._core.growers.best_first import grow_best_first
from pellucid._core.growers.cart import as_leaf, fits_single_precision, grow_cart
from pellucid._core.growers.growing_tree import GrowthResult, StartTree
from pellucid._core.refine.local_search import Work, can_walk, walk_from
from pellucid._core.refine.polish import Polished, polish_tree
from pellucid._utils.progress import Progress
from pellucid.tree import ThresholdTree, TreeBuilder
from pellucid.tree.rounding import ThresholdStyle
from pellucid.tree.sizes import conditions_per_leaf

SHALLOW = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Prices on depth that are tried one after the other where depth or conditions are limited."""


@dataclass(frozen=True)
class Effort:
    """How much to try.

    Attributes
    ----------
    beam : BeamSearch or None
        For the trees that are not grown greedily; None leaves these out.
    beam_work : float
        Rows times columns times clusters up to which beam search is worth its time. Work, not time:
        what is tried must not depend on the machine.
    deep_work, polish_work : float
        Rows times columns times leaves squared over clusters up to which the exchange of leaves is
        worth its time, and up to which all of `n_polished` trees are; beyond it, half of them.
    walk : Work or None
        For walks from tree to tree; None leaves these out.
    n_polished : int
        Most trees that are polished, the cheapest ones, if there are more leaves than clusters.
    n_references : int
        Number of k-means clusterings to start from.
    """

    beam: BeamSearch | None
    beam_work: float
    deep_work: float
    polish_work: float
    walk: Work | None
    n_polished: int
    n_references: int

    def uses_beam(self, problem: Problem) -> bool:
        """Whether beam search is worth its time."""
        return self.beam is not None and _work(problem) <= self.beam_work

    def n_trees(self, problem: Problem, budget: Budget) -> int:
        """How many trees are tried for a reference."""
        n_criteria = 1 if self.beam is None else 3
        extra = len(SHALLOW) * budget.limits_depth + self.uses_cart(problem, budget)
        return n_criteria * (1 + self.uses_beam(problem)) + extra

    def uses_cart(self, problem: Problem, budget: Budget) -> bool:
        """Whether to try CART: with leaves to spare it finds what cuts between centers miss."""
        spare = budget.n_leaves > problem.n_clusters
        return spare and self.uses_beam(problem) and fits_single_precision(problem.X)


def _work(problem: Problem) -> float:
    return float(problem.n_samples) * problem.n_features * problem.n_clusters


EFFORTS = {
    "fast": Effort(None, 0, 0, 0, None, 1, 1),
    "balanced": Effort(BeamSearch(10, 5), 2e7, 4e5, 5e6, Work(3e8, 200), 3, 1),
    "best": Effort(BeamSearch(40, 10), np.inf, 1e7, np.inf, Work(3e9, 1000), 100, 5),
}


@dataclass(frozen=True)
class Budget:
    """What a tree may have at most; None is no limit.

    Attributes
    ----------
    n_leaves : int
    max_depth : int or None
        Questions on the longest path.
    max_conditions : int or None
        Conditions in the longest rule of a leaf, redundant ones left out.
    """

    n_leaves: int
    max_depth: int | None = None
    max_conditions: int | None = None

    @property
    def limits_depth(self) -> bool:
        """Whether trees may be too deep."""
        return self.max_depth is not None or self.max_conditions is not None

    def allows(self, tree: ThresholdTree) -> bool:
        """Whether a tree keeps within it."""
        if self.max_depth is not None and tree.max_depth > self.max_depth:
            return False
        if self.max_conditions is None:
            return True
        return int(conditions_per_leaf(tree).max()) <= self.max_conditions


class Portfolio:
    """The trees that are tried for one reference.

    Parameters
    ----------
    problem : Problem
    effort : Effort
    budget : Budget
    depth_penalty : float
        For the trees that are to be shallow.
    threshold_style : {"round", "midpoint", "data"}
    progress : Progress
        One step a tree.
    """

    def __init__(
        self,
        problem: Problem,
        effort: Effort,
        budget: Budget,
        depth_penalty: float,
        threshold_style: ThresholdStyle,
        progress: Progress,
    ) -> None:
        self.problem = problem
        self.effort = effort
        self.budget = budget
        self.depth_penalty = depth_penalty
        self.threshold_style = threshold_style
        self.progress = progress

    def best(self, rank: Callable[[Polished], tuple], *, only_cost: bool) -> Polished | None:
        """The polished tree of lowest rank within the budget; the first of equals.

        Parameters
        ----------
        rank : callable
        only_cost : bool
            Whether nothing but the cost counts, so that trees can be told apart by it before they
            are polished, and walked from.
        """
        problem, spare = self.problem, self.budget.n_leaves / self.problem.n_clusters
        starts = list(self._starts())
        if only_cost and not self.budget.limits_depth:
            if spare == 1 and self.effort.walk is not None and can_walk(problem):
                trees = [start.tree for start in starts]
                tree = walk_from(trees, problem, self.effort.walk, self.threshold_style)
                if tree is not None:
                    return min(self._polish(tree), key=rank)
            if spare > 1:
                starts = sorted(starts, key=self._price)[: self._n_polished(spare)]
        candidates = (polished for start in starts for polished in self._polish(start.tree))
        best = min(candidates, key=rank, default=None)
        if best is None or self._work(spare) > self.effort.deep_work:
            return best
        return min([best, *self._polish(best.tree, deep=True)], key=rank)

    def _work(self, spare: float) -> float:
        return _work(self.problem) * spare**2

    def _n_polished(self, spare: float) -> int:
        n, few = self.effort.n_polished, self._work(spare) <= self.effort.polish_work
        return n if few else -(-n // 2)

    def _price(self, start: StartTree) -> float:
        """The k-means cost of a tree."""
        data, labels = self.problem.data, start.tree.cluster[start.leaf]
        centers = data.group_centers(labels, self.problem.n_clusters)
        return data.cost(labels, np.nan_to_num(centers))

    def _starts(self) -> Iterator[StartTree]:
        """Different trees, each with as many leaves as the budget has."""
        seen: list[ThresholdTree] = []
        for growth in self._growths():
            base = self._expand(growth)
            if base.tree not in seen:
                seen.append(base.tree)
                yield base
            self.progress.step()

    def _growths(self) -> Iterator[GrowthResult]:
        """Trees with a leaf for each cluster, by several criteria and searches."""
        problem, quiet = self.problem, Progress("", 1, 0)
        criteria = [InducedCost(problem, self.depth_penalty)]
        searches: list = ["greedy"]
        if self.effort.beam is not None:
            criteria += [InducedCost(problem, 0.0), Mistakes(problem)]
        if self.effort.uses_beam(problem):
            searches.append(self.effort.beam)
        for search in searches:
            for criterion in criteria:
                yield grow(criterion, search, self.threshold_style, quiet)
        if self.effort.uses_cart(problem, self.budget):
            growth = grow_cart(problem, self.budget.n_leaves, self.threshold_style, quiet, 0)
            named = {growth.builder.nodes[leaf].cluster for leaf in growth.leaves}
            if len(named) == problem.n_clusters:  # it may leave clusters out
                yield growth
        if self.budget.limits_depth:
            for penalty in SHALLOW:
                yield grow(InducedCost(problem, penalty), "greedy", self.threshold_style, quiet)

    def _expand(self, growth: GrowthResult) -> StartTree:
        """The tree with as many leaves as the budget has, if they are of use."""
        base = StartTree(growth.builder.build(), growth.leaf_of_rows)
        if self.budget.n_leaves <= base.tree.n_leaves:
            return base
        more = grow_best_first(
            SurrogateCost(self.problem),
            self.threshold_style,
            Progress("", 1, 0),
            self.budget.n_leaves,
            base,
        )
        expanded = StartTree(more.builder.build(), more.leaf_of_rows)
        return expanded if self.budget.allows(expanded.tree) else base

    def _polish(self, tree: ThresholdTree, deep: bool = False) -> Iterator[Polished]:
        """The tree polished, and as it was where polish would take it out of the budget."""
        for rounds in (None, 0):
            polished = polish_tree(
                tree,
                self.problem,
                threshold_style=self.threshold_style,
                n_leaves=self.budget.n_leaves,
                deep=deep and rounds is None,
                **({} if rounds is None else {"rounds": rounds}),
            )
            if self.budget.allows(polished.tree):
                yield polished
                return


def growth_of(tree: ThresholdTree, leaf: np.ndarray, names: np.ndarray) -> GrowthResult:
    """A finished tree as a search would return it, cluster c called names[c]."""
    builder = TreeBuilder.from_tree(tree)
    leaves = {}
    for number in range(tree.node_count):
        builder.set_counts(
            number, tree.n_node_samples[number], tree.weighted_n_node_samples[number]
        )
    for number in tree.leaves.tolist():
        rows = np.flatnonzero(leaf == number).astype(np.int32)
        builder.set_cluster(number, names[tree.cluster[number]])
        leaves[number] = as_leaf(rows)
    return GrowthResult(builder, [], leaves)
