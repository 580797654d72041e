"""Trees of several methods; the best are improved, and the best of all is kept."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from pellucid._core.criteria.base import StartTree
from pellucid._core.criteria.induced_cost import DepthLimitedCost, InducedCost
from pellucid._core.criteria.mistakes import Mistakes
from pellucid._core.criteria.problem import Problem
from pellucid._core.criteria.space_cost import SpaceCost
from pellucid._core.criteria.sums import NormalizedCut, SumCriterion
from pellucid._core.criteria.surrogate_cost import SurrogateCost
from pellucid._core.growers import grow
from pellucid._core.growers.best_first import grow_best_first
from pellucid._core.growers.cart import as_leaf, fits_single_precision, grow_cart
from pellucid._core.growers.growing_tree import GrowthResult
from pellucid._core.refine import tuning
from pellucid._core.refine.label_search import LabelSearch
from pellucid._core.refine.local_search import TreeLimits, search_from
from pellucid._core.refine.local_search_data import count_rows, is_small, searchable
from pellucid._core.refine.polish import Polished, polish_tree
from pellucid._utils.progress import Progress
from pellucid.tree import LEAF, ThresholdTree, TreeBuilder
from pellucid.tree.rounding import ThresholdStyle


@dataclass(frozen=True)
class Portfolio:
    """The trees that are tried for one reference.

    If only the cost counts, trees can be compared before they are polished, and a local search can
    start from them. `plain_trees` are those that were grown for the same reference without a cost
    of mistakes: they depend neither on that cost nor on the limits.
    """

    problem: Problem
    budget: tuning.SearchBudget
    limits: TreeLimits
    depth_penalty: float  # of the first tree
    threshold_style: ThresholdStyle
    only_cost: bool
    plain_trees: dict[Any, GrowthResult] = field(default_factory=dict)

    def candidates(self, starts: list[StartTree]) -> list[Polished]:
        """Improved trees within the limits."""
        candidates = list[Polished]()
        if self.only_cost:
            found, starts = self._search(starts), sorted(starts, key=self._rank)
            if found is not None:
                rounds = 0 if self._searches_all_rows else tuning.ROUNDS  # nothing to improve
                candidates += self.polish(found, rounds=rounds)
            if found is None or (self.budget.polishes_starts and not self._searches_all_rows):
                starts = starts[: self._n_polished()]
            else:  # the search does not start from a tree in which a cluster has no rows
                starts = [start for start in starts[:1] if self._is_cheaper(start, candidates)]
        candidates += (polished for start in starts for polished in self.polish(start.tree))
        return candidates

    def _is_cheaper(self, start: StartTree, found: list[Polished]) -> bool:
        """Whether a start tree is within the limits and cheaper than all trees that were found."""
        exceeds, cost = self._rank(start)
        return not exceeds and all(
            cost < (1 - tuning.SEARCH_TIE) * polished.cost for polished in found
        )

    @property
    def n_trees(self) -> int:
        """How many trees are grown."""
        n_criteria = 1 if self.budget.beam is None else 3 - self._searches_all_rows
        extra = len(tuning.LIMITED_PENALTIES + tuning.SHALLOW_PENALTIES) * self.limits.limits_depth
        extra += self.limits.limits_depth
        n_plain = (1 + len(self._penalties)) * (self.problem.mistake_cost > 0)
        n_trees = n_criteria * (1 + self._uses_beam) + n_plain + extra + self._uses_cart
        return n_trees + (2 + self._fits_cart) * self.problem.has_space

    @property
    def _penalties(self) -> list[float]:
        """Depth penalties of the induced cost."""
        return [self.depth_penalty] if self.budget.beam is None else [self.depth_penalty, 0.0]

    @property
    def _has_more_leaves(self) -> bool:
        return self.limits.n_leaves > self.problem.n_clusters

    @property
    def _uses_beam(self) -> bool:
        """Whether beam search is used.

        With more leaves, the local search improves trees of greedy searches as much, in less time.
        """
        return self._is_thorough and not self._has_more_leaves

    @property
    def _uses_cart(self) -> bool:
        """Whether to try CART, which with additional leaves has cuts that other methods miss."""
        is_tried = self._has_more_leaves and self._is_thorough and not self.problem.has_space
        return is_tried and self._fits_cart

    @property
    def _fits_cart(self) -> bool:
        return fits_single_precision(self.problem.X)

    @property
    def _is_thorough(self) -> bool:
        return self.budget.beam is not None and self._size <= self.budget.max_beam_size

    @property
    def _size(self) -> float:
        problem = self.problem
        return float(problem.n_samples) * problem.n_features * problem.n_clusters

    @property
    def _searches_all_rows(self) -> bool:
        """Whether a local search on all rows decides. Then other trees are starts only."""
        is_searched = self.only_cost and self.budget.search_work is not None
        return is_searched and not self.limits.limits_depth and is_small(self.problem)

    def _search(self, starts: list[StartTree]) -> ThresholdTree | None:
        """The best tree of a local search within the limits, if there is one."""
        budget = self.budget
        given = budget.work_with_more_leaves if self._has_more_leaves else budget.search_work
        if given is None or (problem := searchable(self.problem)) is None:
            return None
        work = given.of(count_rows(problem) * problem.n_features * problem.n_clusters)
        trees = [start.tree for start in starts]
        return search_from(trees, problem, work, self.threshold_style, self.limits)

    def _n_polished(self) -> int:
        n, size = self.budget.n_polished, self._size
        size *= (self.limits.n_leaves / self.problem.n_clusters) ** 2
        return n if size <= self.budget.max_polish_size else -(-n // 2)

    def _rank(self, start: StartTree) -> tuple[bool, float]:
        """Whether a tree exceeds the limits, and its rounded k-means cost."""
        cost = cost_at_means(start, self.problem)
        if self.problem.mistake_cost > 0:
            weight = self.problem.weights.total
            cost += self.problem.mistake_cost * weight * (1 - agreement(start, self.problem))
        return not self.limits.allows(start.tree), rounded_cost(cost)

    def starts(self, progress: Progress) -> Iterator[StartTree]:
        """Different trees, with all leaves that the limits allow if they are of use.

        Each tree that is grown is a step of the progress.
        """
        seen: list[ThresholdTree] = []
        of_space = self.starts_of_space() if self.problem.has_space else ()
        for start in chain(map(self._expand, self._growths()), of_space):
            if start.tree not in seen:
                seen.append(start.tree)
                yield start
            progress.step()

    def _growths(self) -> Iterator[GrowthResult]:
        """Trees with one leaf per cluster, by several criteria and searches; and CART."""
        problem, budget, style = self.problem, self.budget, self.threshold_style
        silent = Progress("", 1, 0)
        criteria: list[Any] = [InducedCost(problem, penalty) for penalty in self._penalties]
        searches: list[Any] = ["greedy"]
        # Where the search uses all rows, trees of IMM are not better starts.
        if budget.beam is not None and not self._searches_all_rows:
            criteria.append(Mistakes(problem))
        if self._uses_beam:
            searches.append(budget.beam)
        for search in searches:
            for criterion in criteria:
                yield grow(criterion, search, style, silent)
        if problem.mistake_cost > 0:
            plain = problem.with_mistake_cost(0.0)
            kinds: list[Any] = [(Mistakes,), *((InducedCost, p) for p in self._penalties)]
            for kind, *penalty in kinds:
                key = (kind, *penalty)
                if key not in self.plain_trees:
                    self.plain_trees[key] = grow(kind(plain, *penalty), "greedy", style, silent)
                yield self.plain_trees[key]
        of_labels = []
        if self._uses_cart:
            of_labels.append(grow_cart(problem, self.limits.n_leaves, style, silent, 0))
        if self.limits.limits_depth:
            search, effort = LabelSearch(problem), "fast" if budget.beam is None else "balanced"
            of_labels.append(search.growth(search.find(self.limits, effort).nodes, style))
        for growth in of_labels:
            clusters = {growth.builder.nodes[leaf].cluster for leaf in growth.leaves}
            if len(clusters) == problem.n_clusters:  # there may be no leaf for a cluster
                yield growth
        if self.limits.safe_depth is not None:
            for penalty in tuning.LIMITED_PENALTIES:
                limited = DepthLimitedCost(problem, penalty, self.limits.safe_depth)
                yield grow(limited, "greedy", style, silent)
            for penalty in tuning.SHALLOW_PENALTIES:
                yield grow(InducedCost(problem, penalty), "greedy", style, silent)

    def starts_of_space(self) -> Iterator[StartTree]:
        """Trees that do not separate centers, which may be at one place in the columns of the data.

        By the cost in the space, as a regression tree; by the normalised cut, as SpEx; and CART.
        Leaves belong to the clusters of least cost, or of most weight.
        """
        problem, n_leaves, style = self.problem, self.limits.n_leaves, self.threshold_style
        silent, depth = Progress("", 1, 0), self.limits.safe_depth
        cost, cut = (SumCriterion(problem, f) for f in (SpaceCost(problem), NormalizedCut()))
        found = [grow_best_first(cost, style, silent, n_leaves, max_depth=depth)]
        found.append(
            grow_best_first(cut, style, silent, n_leaves, gains_matter=False, max_depth=depth)
        )
        if self._fits_cart:
            found.append(grow_cart(problem, n_leaves, style, silent, 0))
        of_weight, own = problem.weights.units[:, None], np.arange(problem.n_clusters)
        for growth in found:
            start = StartTree(growth.builder.build(), growth.leaf_of_rows)
            rows = [part for part in start.rows_by_node(problem.X, problem.pool) if len(part)]
            costs = [problem.costs[part].sum(axis=0) for part in rows]
            mistakes = [
                (of_weight[part] * (problem.labels[part, None] != own)).sum(axis=0) for part in rows
            ]
            named = (_with_clusters(start, np.array(table)) for table in (costs, mistakes))
            yield min(named, key=self._rank)

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

    def polish(self, tree: ThresholdTree, rounds: int = tuning.ROUNDS) -> Iterator[Polished]:
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


def _with_clusters(start: StartTree, losses: np.ndarray) -> StartTree:
    """A tree whose leaves have the clusters of least loss, and each cluster a leaf if possible.

    `losses` are those of the leaves, in their order, in the clusters.
    """
    clusters, tree = losses.argmin(axis=1), start.tree
    at, matched = linear_sum_assignment(losses.astype(np.float64))
    clusters[at] = matched
    of_node = np.full(tree.node_count, LEAF)
    of_node[tree.leaves] = clusters
    return StartTree(tree.replace(cluster=of_node), start.leaf)


def cost_at_means(found: StartTree | Polished, problem: Problem) -> float:
    """k-means cost of the clusters of a tree, without that of mistakes."""
    data, labels = problem.space, found.tree.cluster[found.leaf]
    centers = data.group_centers(labels, problem.n_clusters)
    return data.cost(labels, np.nan_to_num(centers))


def agreement(found: StartTree | Polished, problem: Problem) -> float:
    """Share of the weight that is in its own cluster."""
    kept = np.flatnonzero(found.tree.cluster[found.leaf] == problem.labels)
    return problem.weights.total_of(kept) / problem.weights.total


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
