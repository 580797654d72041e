"""Trees of several methods; the best are improved, and the best of all is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.criteria.base import StartTree
from pellucid._core.criteria.induced_cost import DepthLimitedCost, InducedCost
from pellucid._core.criteria.mistakes import Mistakes
from pellucid._core.criteria.problem import Problem
from pellucid._core.criteria.surrogate_cost import SurrogateCost
from pellucid._core.growers import grow
from pellucid._core.growers.beam import BeamSearch
from pellucid._core.growers.best_first import grow_best_first
from pellucid._core.growers.cart import as_leaf, fits_single_precision, grow_cart
from pellucid._core.growers.growing_tree import GrowthResult
from pellucid._core.refine.limits import TreeLimits
from pellucid._core.refine.local_search import (
    count_rows,
    is_small,
    search_from,
    searchable,
)
from pellucid._core.refine.polish import ROUNDS, Polished, polish_tree
from pellucid._utils.progress import Progress
from pellucid.tree import ThresholdTree, TreeBuilder
from pellucid.tree.rounding import ThresholdStyle

_LIMITED_PENALTIES = (0.0, 0.03, 0.1)
"""Depth penalties of start trees that are grown within a limit of depth or conditions."""

_SHALLOW_PENALTIES = (0.3, 3.0)
"""Depth penalties of start trees that are shallow by the penalty alone, if there is a limit."""

_TIE = 1e-9
"""Part of the cost by which a start tree must be cheaper than the tree of a search."""

_MANY_VALUES = 2e6
"""Rows times columns times clusters above which the others count with `per_further_value`."""


class SearchWork(NamedTuple):
    """Work of a local search, in about nanoseconds.

    Attributes
    ----------
    constant : float
    per_value, per_further_value : float
        Per row, column and cluster: up to `_MANY_VALUES`, and above.
    """

    constant: float
    per_value: float
    per_further_value: float

    def of(self, problem: Problem) -> float:
        """Work for a problem."""
        size = count_rows(problem) * problem.n_features * problem.n_clusters
        first = min(size, _MANY_VALUES)
        return self.constant + self.per_value * first + self.per_further_value * (size - first)


@dataclass(frozen=True, kw_only=True)
class SearchBudget:
    """How much to try. Sizes decide, not the clock: the result does not depend on the machine.

    The size of a problem is rows times columns times clusters; that of its polishing is
    rows times columns times leaves squared over clusters.

    Attributes
    ----------
    beam : BeamSearch or None
        Search in addition to the greedy one; None for no beam search and the induced cost alone.
    max_beam_size : float
        Size of a problem up to which beam search is used with one leaf per cluster, or CART with
        more leaves.
    n_polished, max_polish_size : int, float
        How many of the cheapest start trees are polished if there is no local search, or if
        `polishes_starts`; half as many above this size.
    polishes_starts : bool
        Whether the start trees of a local search are polished beside the tree that it finds.
    search_work, work_with_more_leaves : SearchWork or None
        Work of the local search with one leaf per cluster, and with more; None for no search.
    n_references : int
        Number of k-means clusterings to start from.
    """

    beam: BeamSearch | None = None
    max_beam_size: float = 0
    n_polished: int = 1
    max_polish_size: float = 0
    polishes_starts: bool = False
    search_work: SearchWork | None = None
    work_with_more_leaves: SearchWork | None = None
    n_references: int = 1

    def uses_beam(self, problem: Problem, limits: TreeLimits) -> bool:
        """Whether beam search is used.

        With more leaves, the local search improves trees of greedy searches as much, in less time.
        """
        return self._is_thorough(problem) and limits.n_leaves == problem.n_clusters

    def uses_cart(self, problem: Problem, limits: TreeLimits) -> bool:
        """Whether to try CART, which with additional leaves has cuts that other methods miss."""
        has_more_leaves = limits.n_leaves > problem.n_clusters
        return has_more_leaves and self._is_thorough(problem) and fits_single_precision(problem.X)

    def _is_thorough(self, problem: Problem) -> bool:
        return self.beam is not None and _size(problem) <= self.max_beam_size

    def searches_all_rows(self, problem: Problem, limits: TreeLimits, only_cost: bool) -> bool:
        """Whether a local search on all rows decides. Then other trees are starts only."""
        return (
            only_cost
            and self.search_work is not None
            and not limits.limits_depth
            and is_small(problem)
        )

    def n_trees(self, problem: Problem, limits: TreeLimits, only_cost: bool) -> int:
        """How many trees are grown per reference."""
        has_imm = not self.searches_all_rows(problem, limits, only_cost)
        n_criteria = 1 if self.beam is None else 2 + has_imm
        extra = len(_LIMITED_PENALTIES + _SHALLOW_PENALTIES) * limits.limits_depth
        extra += self.uses_cart(problem, limits)
        return n_criteria * (1 + self.uses_beam(problem, limits)) + extra

    def local_search_work(self, problem: Problem, limits: TreeLimits) -> float:
        """Work of the local search; 0 for no search."""
        has_more_leaves = limits.n_leaves > problem.n_clusters
        work = self.work_with_more_leaves if has_more_leaves else self.search_work
        return 0.0 if work is None else work.of(problem)


def _size(problem: Problem) -> float:
    return float(problem.n_samples) * problem.n_features * problem.n_clusters


EFFORTS = {
    "fast": SearchBudget(),
    "balanced": SearchBudget(
        beam=BeamSearch(10, 5),
        max_beam_size=2e6,
        n_polished=3,
        max_polish_size=5e6,
        search_work=SearchWork(6e8, 300, 300),
        work_with_more_leaves=SearchWork(1e9, 1200, 300),
    ),
    "best": SearchBudget(
        beam=BeamSearch(40, 10),
        max_beam_size=np.inf,
        n_polished=100,
        max_polish_size=np.inf,
        polishes_starts=True,
        search_work=SearchWork(3e9, 1000, 1000),
        work_with_more_leaves=SearchWork(6e9, 2000, 2000),
        n_references=5,
    ),
}


@dataclass(frozen=True)
class Portfolio:
    """The trees that are tried for one reference.

    Attributes
    ----------
    problem : Problem
    budget : SearchBudget
    limits : TreeLimits
    depth_penalty : float
        Depth penalty of the first tree.
    threshold_style : {"round", "midpoint", "data"}
    progress : Progress
        Counts the trees.
    only_cost : bool
        Whether only the cost counts. Then trees can be compared before they are polished, and a
        local search can start from them.
    """

    problem: Problem
    budget: SearchBudget
    limits: TreeLimits
    depth_penalty: float
    threshold_style: ThresholdStyle
    progress: Progress
    only_cost: bool

    def best(self, rank: Callable[[Polished], tuple[Any, ...]]) -> Polished | None:
        """The improved tree of lowest rank within the limits; ties go to the first."""
        starts, candidates = list(self._starts()), list[Polished]()
        if self.only_cost:
            found, starts = self._search(starts), sorted(starts, key=self._rank)
            if found is not None:
                rounds = 0 if self._searches_all_rows else ROUNDS  # nothing to improve
                candidates += self._polish(found, rounds=rounds)
            if found is None or (self.budget.polishes_starts and not self._searches_all_rows):
                starts = starts[: self._n_polished()]
            else:  # the search does not start from a tree in which a cluster has no rows
                starts = [start for start in starts[:1] if self._is_cheaper(start, candidates)]
        candidates += (polished for start in starts for polished in self._polish(start.tree))
        return min(candidates, key=rank, default=None)

    def _is_cheaper(self, start: StartTree, found: list[Polished]) -> bool:
        """Whether a start tree is within the limits and cheaper than all trees that were found."""
        exceeds, cost = self._rank(start)
        return not exceeds and all(cost < (1 - _TIE) * polished.cost for polished in found)

    @property
    def _searches_all_rows(self) -> bool:
        return self.budget.searches_all_rows(self.problem, self.limits, self.only_cost)

    def _search(self, starts: list[StartTree]) -> ThresholdTree | None:
        """The best tree of a local search within the limits, if there is one."""
        if self.budget.search_work is None or (problem := searchable(self.problem)) is None:
            return None
        trees = [start.tree for start in starts]
        work = self.budget.local_search_work(problem, self.limits)
        return search_from(trees, problem, work, self.threshold_style, self.limits)

    @property
    def _polish_size(self) -> float:
        return _size(self.problem) * (self.limits.n_leaves / self.problem.n_clusters) ** 2

    def _n_polished(self) -> int:
        n, is_small = self.budget.n_polished, self._polish_size <= self.budget.max_polish_size
        return n if is_small else -(-n // 2)

    def _rank(self, start: StartTree) -> tuple[bool, float]:
        """Whether a tree exceeds the limits, and its rounded k-means cost."""
        data, labels = self.problem.data, start.tree.cluster[start.leaf]
        centers = data.group_centers(labels, self.problem.n_clusters)
        cost = data.cost(labels, np.nan_to_num(centers))
        return not self.limits.allows(start.tree), rounded_cost(cost)

    def _starts(self) -> Iterator[StartTree]:
        """Different trees, with all leaves that the limits allow if they are of use."""
        seen: list[ThresholdTree] = []
        for growth in self._growths():
            start = self._expand(growth)
            if start.tree not in seen:
                seen.append(start.tree)
                yield start
            self.progress.step()

    def _growths(self) -> Iterator[GrowthResult]:
        """Trees with one leaf per cluster, by several criteria and searches; and CART."""
        problem, budget, style = self.problem, self.budget, self.threshold_style
        silent = Progress("", 1, 0)
        criteria: list[Any] = [InducedCost(problem, self.depth_penalty)]
        searches: list[Any] = ["greedy"]
        if budget.beam is not None:
            criteria.append(InducedCost(problem, 0.0))
            if not self._searches_all_rows:  # where it does, trees of IMM are not better starts
                criteria.append(Mistakes(problem))
        if budget.uses_beam(problem, self.limits):
            searches.append(budget.beam)
        for search in searches:
            for criterion in criteria:
                yield grow(criterion, search, style, silent)
        if budget.uses_cart(problem, self.limits):
            growth = grow_cart(problem, self.limits.n_leaves, style, silent, 0)
            clusters = {growth.builder.nodes[leaf].cluster for leaf in growth.leaves}
            if len(clusters) == problem.n_clusters:  # CART may have no leaf for a cluster
                yield growth
        if self.limits.safe_depth is not None:
            for penalty in _LIMITED_PENALTIES:
                limited = DepthLimitedCost(problem, penalty, self.limits.safe_depth)
                yield grow(limited, "greedy", style, silent)
            for penalty in _SHALLOW_PENALTIES:
                yield grow(InducedCost(problem, penalty), "greedy", style, silent)

    def _expand(self, growth: GrowthResult) -> StartTree:
        """The tree with all leaves that the limits allow, unless it exceeds them or is cheaper."""
        start, limits = StartTree(growth.builder.build(), growth.leaf_of_rows), self.limits
        if limits.n_leaves <= start.tree.n_leaves or not limits.allows(start.tree):
            return start
        criterion, silent = SurrogateCost(self.problem), Progress("", 1, 0)
        for max_depth in dict.fromkeys((limits.max_depth, limits.safe_depth)):
            more = grow_best_first(
                criterion, self.threshold_style, silent, limits.n_leaves, start, max_depth=max_depth
            )
            expanded = StartTree(more.builder.build(), more.leaf_of_rows)
            if limits.allows(expanded.tree):
                # The surrogate cost falls with every leaf; that of the means may rise.
                return min(expanded, start, key=self._rank)
        return start

    def _polish(self, tree: ThresholdTree, rounds: int = ROUNDS) -> Iterator[Polished]:
        """The polished tree, or the tree itself if the polished one exceeds the limits."""
        for n_rounds in (rounds, 0):
            polished = polish_tree(
                tree,
                self.problem,
                threshold_style=self.threshold_style,
                n_leaves=self.limits.n_leaves,
                rounds=n_rounds,
            )
            if self.limits.allows(polished.tree):
                yield polished
                return


def rounded_cost(cost: float) -> float:
    """The first 33 bits of a cost; the last ones depend on the order and storage of the rows."""
    mantissa, exponent = math.frexp(cost)
    return math.ldexp(round(math.ldexp(mantissa, 33)), exponent - 33)


def growth_of(tree: ThresholdTree, leaf: np.ndarray) -> GrowthResult:
    """A finished tree as the result of a search."""
    builder = TreeBuilder.from_tree(tree)
    leaves = {}
    for number in range(tree.node_count):
        builder.set_counts(
            number, tree.n_node_samples[number], tree.weighted_n_node_samples[number]
        )
    for number in tree.leaves.tolist():
        rows = np.flatnonzero(leaf == number).astype(np.int32)
        leaves[number] = as_leaf(rows)
    return GrowthResult(builder, [], leaves)
