"""Best-first growth: the leaf with the most to gain is split next, up to a number of leaves."""

from __future__ import annotations

import heapq
from typing import Any

from pellucid._core.criteria.base import Criterion
from pellucid._core.criteria.column_search import Split
from pellucid._core.growers.growing_tree import (
    GrowingTree,
    GrowthResult,
    StartTree,
    are_worth_sharing,
    map_nodes,
)
from pellucid._utils.progress import Progress
from pellucid.tree.rounding import ThresholdStyle

_AHEAD = 8
"""Leaves per thread that are searched before it is certain that they must be."""


def grow_best_first(
    criterion: Criterion,
    threshold_style: ThresholdStyle,
    progress: Progress,
    n_leaves: int,
    start: StartTree | None = None,
    *,
    gains_matter: bool = True,
    max_depth: int | None = None,
) -> GrowthResult:
    """Split the leaf of largest gain until there are `n_leaves` or no leaf can be split.

    Leaves at `max_depth` are not split.

    A split without gain may be followed by one with a gain, so growth continues after it; splits
    after the last gain are undone, unless gains only decide the order (`gains_matter=False`).

    One run yields the nested trees of every size: the builder can return to any of them.
    """
    tree = GrowingTree(criterion, threshold_style, start, name_all=True)
    # Entries are bounds before they are splits. Ties go to the bound, so that a split is made only
    # when no leaf that has not been searched could hold a better one.
    heap: list[Any] = []

    def consider(number: int) -> None:
        if max_depth is not None and tree.leaves[number].rows.depth >= max_depth:
            return
        bound = criterion.gain_bound(tree.leaves[number])
        if bound is not None:
            heapq.heappush(heap, (-bound, False, number, None))

    def search(number: int) -> Split | None:
        return criterion.best_split(tree.leaves[number])

    for number in sorted(tree.leaves):
        consider(number)
    while heap and len(tree.leaves) < n_leaves:
        if heap[0][1]:
            _, _, number, split = heapq.heappop(heap)
            for child in tree.accept(number, criterion.divide(tree.leaves[number], split)):
                if len(tree.leaves) < n_leaves:
                    consider(child)
            progress.step()
            continue
        numbers = _next_to_search(heap, tree, n_leaves - len(tree.leaves))
        for number, found in zip(numbers, map_nodes(criterion, search, numbers, tree.leaves)):
            if found is not None:
                heapq.heappush(heap, (-found.gain, True, number, found))
    while gains_matter and tree.gains and tree.gains[-1] == 0:
        tree.undo()
    return tree.result()


def _next_to_search(heap: list[Any], tree: GrowingTree, n_splits: int) -> list[int]:
    """Take the leaf of the largest bound off the heap; if it is too small for all threads, also
    others that are as small and would be among the next `n_splits` if they gained their bounds.

    Which leaves are searched early does not change the tree.
    """
    criterion, first = tree.criterion, heapq.heappop(heap)[2]
    n_threads = criterion.problem.pool.n_threads if criterion.nodes_are_independent else 1

    def n_rows(number: int) -> int:
        return len(tree.leaves[number].rows.active)

    small = criterion.min_rows_to_share_columns
    if n_threads == 1 or n_rows(first) >= small:
        return [first]
    likely = heapq.nsmallest(min(n_splits, _AHEAD * n_threads), heap)
    others = [
        number for _, is_split, number, _ in likely if not is_split and n_rows(number) < small
    ]
    numbers = [first, *others]
    if not are_worth_sharing(criterion, [n_rows(number) for number in numbers]):
        return [first]
    heap[:] = [entry for entry in heap if entry[2] not in others]
    heapq.heapify(heap)
    return numbers
