"""Best-first growth: the leaf with the most to gain is split next, up to a number of leaves."""

from __future__ import annotations

import heapq

from pellucid._core.criteria.base import Criterion
from pellucid._core.growers.growing_tree import GrowingTree, GrowthResult, StartTree
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
) -> GrowthResult:
    """Split the leaf of largest gain until there are `n_leaves` or no leaf can be split.

    A split without gain may be followed by one with a gain, so growth continues after it; splits
    after the last gain are undone, unless gains only decide the order (`gains_matter=False`).

    One run yields the nested trees of every size: the builder can return to any of them.
    """
    tree = GrowingTree(criterion, threshold_style, start, name_all=True)
    # Entries are bounds before they are splits. Ties go to the bound, so that a split is made only
    # when no leaf that has not been searched could hold a better one.
    heap: list = []

    def consider(number: int) -> None:
        bound = criterion.gain_bound(tree.leaves[number])
        if bound is not None:
            heapq.heappush(heap, (-bound, False, number, None))

    for number in sorted(tree.leaves):
        consider(number)
    while heap and len(tree.leaves) < n_leaves:
        _, is_split, number, split = heapq.heappop(heap)
        if is_split:
            for child in tree.accept(number, criterion.divide(tree.leaves[number], split)):
                if len(tree.leaves) < n_leaves:
                    consider(child)
            progress.step()
        elif (split := criterion.best_split(tree.leaves[number])) is not None:
            heapq.heappush(heap, (-split.gain, True, number, split))
    while gains_matter and tree.gains and tree.gains[-1] == 0:
        tree.undo()
    return tree.result()
