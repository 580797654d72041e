"""Trees of several methods; the best are improved, and the best of all is kept.

Or that of the best ones whose clusters return most often on draws of the rows. A draw takes each
different row 0, 1, 2, ... times, by the Poisson distribution of mean 1, which is the limit of a
bootstrap. A hash of the values of a row decides, so that neither the order of the rows, nor their
storage, nor whether a row is weighted or repeated changes a draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
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
from pellucid._core.refine.local_search_data import (
    count_rows,
    is_small,
    row_hashes,
    searchable,
    take_rows,
)
from pellucid._core.refine.polish import Polished, polish_tree
from pellucid._utils.arrays import mixed
from pellucid._utils.progress import Progress
from pellucid.tree import LEAF, ThresholdTree, TreeBuilder
from pellucid.tree.rounding import ThresholdStyle

N_DRAWS = 100  # on which trees are grown again
# What a row outside of the cluster that most draws give it costs, relative to the mean cost, in
# searches of further trees. Convention.
CONSENSUS_FAITHFULNESS = 1.0, 3.0, 10.0
MAX_LOSS = 0.01  # part by which the objective of a tree may exceed the least one

_ENDS = np.cumsum([math.exp(-1) / math.factorial(n) for n in range(12)])


class Portfolio:
    """The trees that are tried for one reference; the first one has the given depth penalty.

    If only the cost counts, trees can be compared before they are polished, and a local search can
    start from them. `plain_trees` are those that were grown for the same reference without a cost
    of mistakes: they depend neither on that cost nor on the limits.
    """

    def __init__(
        self,
        problem: Problem,
        budget: tuning.SearchBudget,
        limits: TreeLimits,
        depth_penalty: float,
        threshold_style: ThresholdStyle,
        only_cost: bool,
        plain_trees: dict[Any, GrowthResult] | None = None,
    ) -> None:
        self.problem, self.budget, self.limits = problem, budget, limits
        self.threshold_style, self.only_cost = threshold_style, only_cost
        self.plain_trees = {} if plain_trees is None else plain_trees
        # Depth penalties of the induced cost.
        self._penalties = [depth_penalty] if budget.beam is None else [depth_penalty, 0.0]
        self._size = float(problem.n_samples) * problem.n_features * problem.n_clusters
        self._has_more_leaves = limits.n_leaves > problem.n_clusters
        is_thorough = budget.beam is not None and self._size <= budget.max_beam_size
        # With more leaves, the local search improves trees of greedy searches as much, in less
        # time, and CART has cuts that other methods miss.
        self._uses_beam = is_thorough and not self._has_more_leaves
        self._uses_cart = is_thorough and self._has_more_leaves and not problem.has_space
        self._uses_cart = self._uses_cart and self._fits_cart
        # A local search on all rows decides: then other trees are starts only.
        is_searched = only_cost and budget.search_work is not None and not limits.limits_depth
        self._searches_all_rows = is_searched and is_small(problem)

    @cached_property
    def _fits_cart(self) -> bool:
        return fits_single_precision(self.problem.X)

    def candidates(self, starts: list[StartTree]) -> list[Polished]:
        """Improved trees within the limits."""
        candidates = list[Polished]()
        if self.only_cost:
            found, starts = self._search(starts), sorted(starts, key=self._rank)
            if found is not None:
                rounds = 0 if self._searches_all_rows else tuning.ROUNDS  # nothing to improve
                candidates += self.polish(found, rounds=rounds)
            if found is None or (self.budget.polishes_starts and not self._searches_all_rows):
                size = self._size * (self.limits.n_leaves / self.problem.n_clusters) ** 2
                n = self.budget.n_polished
                starts = starts[: n if size <= self.budget.max_polish_size else -(-n // 2)]
            else:  # the search does not start from a tree in which a cluster has no rows
                exceeds, cost = self._rank(starts[0])
                is_cheaper = all(cost < (1 - tuning.SEARCH_TIE) * p.cost for p in candidates)
                starts = starts[:1] if is_cheaper and not exceeds else []
        candidates += (polished for start in starts for polished in self.polish(start.tree))
        return candidates

    @property
    def n_trees(self) -> int:
        n_criteria = 1 if self.budget.beam is None else 3 - self._searches_all_rows
        extra = len(tuning.LIMITED_PENALTIES + tuning.SHALLOW_PENALTIES) * self.limits.limits_depth
        extra += self.limits.limits_depth
        n_plain = (1 + len(self._penalties)) * (self.problem.mistake_cost > 0)
        n_trees = n_criteria * (1 + self._uses_beam) + n_plain + extra + self._uses_cart
        return n_trees + (2 + self._fits_cart) * self.problem.has_space

    def _search(self, starts: list[StartTree]) -> ThresholdTree | None:
        """The best tree of a local search within the limits, if there is one."""
        budget = self.budget
        given = budget.work_with_more_leaves if self._has_more_leaves else budget.search_work
        if given is None or (problem := searchable(self.problem)) is None:
            return None
        work = given.of(count_rows(problem) * problem.n_features * problem.n_clusters)
        trees = [start.tree for start in starts]
        return search_from(trees, problem, work, self.threshold_style, self.limits)

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
        cost, cut = (SumCriterion(problem, f) for f in (SpaceCost(problem), NormalizedCut()))
        silent, depth = Progress("", 1, 0), self.limits.safe_depth
        found = [
            grow_best_first(cost, style, silent, n_leaves, max_depth=depth),
            grow_best_first(cut, style, silent, n_leaves, gains_matter=False, max_depth=depth),
        ]
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
        silent = Progress("", 1, 0)
        given = SurrogateCost(self.problem), self.threshold_style, silent, limits.n_leaves
        for max_depth in dict.fromkeys((limits.max_depth, limits.safe_depth)):
            more = grow_best_first(*given, start, max_depth=max_depth)
            expanded = StartTree(more.builder.build(), more.leaf_of_rows)
            if limits.allows(expanded.tree):
                # The surrogate cost falls with every leaf; that of the means may rise.
                return min(expanded, start, key=self._rank)
        return start

    def polish(self, tree: ThresholdTree, rounds: int = tuning.ROUNDS) -> Iterator[Polished]:
        """The polished tree, or the tree itself if the polished one exceeds the limits."""
        style, n_leaves = self.threshold_style, self.limits.n_leaves
        improve = partial(polish_tree, threshold_style=style, n_leaves=n_leaves)
        for n_rounds in (rounds, 0):
            polished = improve(tree, self.problem, rounds=n_rounds)
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


def draw_problem(problem: Problem, number: int) -> Problem:
    hashes = mixed(row_hashes(problem) ^ mixed(np.array([number], dtype=np.uint64)))
    counts = np.searchsorted(_ENDS, (hashes >> np.uint64(11)) * 2.0**-53, side="right")
    rows = np.flatnonzero(counts)
    return take_rows(problem, rows, problem.weights.units[rows] * counts[rows])


def most_returning(
    problem: Problem,
    mean_cost: float,
    grow: Callable[[Problem], list[Any]],
    improve: Callable[[Any], Iterable[Any]],
    found: list[Any],
    starts: list[Any],
    objective: Callable[[Any], tuple[float, float]],
) -> Any:
    """Of the trees within `MAX_LOSS` of the best one, that whose clusters return for most weight.

    Returns are counted over the best tree of each draw, as `grow` finds it. The trees are those of
    `found`, and after `improve`, those of `starts`, of the draws, and for the clusters that most
    draws give the rows. `mean_cost` is that of a row.
    """
    draws = (draw_problem(problem, number) for number in range(N_DRAWS))
    trees = [
        min(grown, key=objective).tree
        for drawn in draws
        if len(np.unique(drawn.labels)) == problem.n_clusters and (grown := grow(drawn))
    ]
    k = problem.n_clusters
    votes = np.zeros((problem.n_samples, k), dtype=np.int64)
    for tree in trees:
        votes[np.arange(len(votes)), tree.predict(problem.X)] += 1
    starts = [*starts, *trees]
    consensus = votes.argmax(axis=1).astype(problem.labels.dtype)
    if len(np.unique(consensus)) == k:
        kept = problem.explaining(problem.space_centers, consensus)
        for faithfulness in CONSENSUS_FAITHFULNESS:
            grown = grow(kept.with_mistake_cost(faithfulness * mean_cost))
            starts += [polished.tree for polished in grown]
    candidates = [
        *found,
        *(better for tree in dict.fromkeys(starts) for better in improve(tree)),
    ]
    most = (1 + MAX_LOSS) * min(objective(tree)[0] for tree in candidates)

    def returns(candidate: Any) -> int:
        cluster = candidate.tree.cluster[candidate.leaf]
        return int(votes[np.arange(len(votes)), cluster] @ problem.weights.units)

    allowed = [tree for tree in candidates if objective(tree)[0] <= most]
    return min(allowed, key=lambda tree: (-returns(tree), *objective(tree)))
