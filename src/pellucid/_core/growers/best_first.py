"""Best-first growth: the leaf with the most to gain is split next, up to a number of leaves."""

from __future__ import annotations

import heapq
from typing import Any

from pellucid._core.criteria.base import Criterion, DividedNode, Node, StartTree
from pellucid._core.criteria.column_search import Split
from pellucid._core.growers.growing_tree import GrowingTree, GrowthResult
from pellucid._utils.progress import Progress
from pellucid.tree.rounding import ThresholdStyle


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

    Leaves at `max_depth` are not split. A split without gain may be followed by one with a gain, so
    growth continues after it; splits after the last gain are undone, unless gains only decide the
    order (`gains_matter=False`). The builder can return to the nested trees of every size.
    """
    tree = GrowingTree(criterion, threshold_style, start, name_all=True)
    # Entries are bounds before they are splits. Ties go to the bound, so that a split is made only
    # when no leaf that has not been searched could hold a better one.
    heap: list[Any] = []
    known: dict[Node[Any], list[Split]] = {}
    made: dict[int, DividedNode] = {}

    def bound(node: Node[Any]) -> float | None:
        """Bound of the gain; None if the node is not split."""
        is_deep = max_depth is not None and node.rows.depth >= max_depth
        return None if is_deep else criterion.gain_bound(node)

    def push_splits(number: int, splits: list[Split]) -> None:
        for split in splits:
            heapq.heappush(heap, (-split.gain, True, number, split))

    def consider(number: int) -> None:
        node = tree.leaves[number]
        if node in known:
            push_splits(number, known.pop(node))
        elif (most := bound(node)) is not None:
            heapq.heappush(heap, (-most, False, number, None))

    def make(n_splits: int) -> None:
        """Make the next splits, and search their children if searches are made ahead."""
        entries = heapq.nsmallest(n_splits if criterion.searches_ahead else 1, heap)
        chosen = [(n, split) for _, is_split, n, split in entries if is_split and n not in made]
        nodes = [tree.leaves[number] for number, _ in chosen]
        found = criterion.divide(nodes, [split for _, split in chosen], threshold_style)
        made.update(zip((number for number, _ in chosen), found))
        if criterion.searches_ahead:
            children = [c for _, _, *pair in found for c in pair if bound(c) is not None]
            known.update(zip(children, criterion.search(children)))

    for number in sorted(tree.leaves):
        consider(number)
    while heap and len(tree.leaves) < n_leaves:
        if heap[0][1]:
            number = heap[0][2]
            if number not in made:
                make(n_leaves - len(tree.leaves))
            heapq.heappop(heap)
            for child in tree.accept(number, made.pop(number)):
                if len(tree.leaves) < n_leaves:
                    consider(child)
            progress.step()
            continue
        numbers = _next_to_search(heap, tree, n_leaves - len(tree.leaves))
        found = criterion.search([tree.leaves[number] for number in numbers])
        for number, splits in zip(numbers, found):
            push_splits(number, splits)
    while gains_matter and tree.gains and tree.gains[-1] == 0:
        tree.undo()
    return tree.result()


def _next_to_search(heap: list[Any], tree: GrowingTree, n_splits: int) -> list[int]:
    """Take the leaf of the largest bound off the heap, and others that are searched with it: those
    that would be among the next `n_splits` if they gained their bounds.

    Which leaves are searched early does not change the tree.
    """
    criterion, first = tree.criterion, heapq.heappop(heap)[2]
    entries = heapq.nsmallest(len(heap) if criterion.searches_ahead else n_splits, heap)
    likely = [number for _, is_split, number, _ in entries if not is_split]
    nodes = [tree.leaves[number] for number in likely]
    others = [likely[i] for i in criterion.searched_together(tree.leaves[first], nodes)]
    if others:
        heap[:] = [entry for entry in heap if entry[2] not in others]
        heapq.heapify(heap)
    return [first, *others]
