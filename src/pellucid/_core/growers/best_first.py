"""Best-first growth: the leaf with the most to gain is cut next, up to a number of leaves."""

from __future__ import annotations

import heapq

from pellucid._core.criteria.base import Criterion
from pellucid._core.growers.growing_tree import Base, Growth, Plant
from pellucid._core.growers.prefetch import LookAhead
from pellucid._utils.progress import Progress
from pellucid.tree.rounding import ThresholdStyle


def grow_best_first(
    criterion: Criterion,
    threshold_style: ThresholdStyle,
    progress: Progress,
    n_leaves: int,
    base: Base | None = None,
    *,
    gains_matter: bool = True,
) -> Growth:
    """Cut the leaf of largest gain until there are `n_leaves` or nothing is left to cut.

    A cut that gains nothing by itself may make room for one that does, so growth goes on past it;
    cuts after the last gain are taken back, unless gains only tell which leaf comes first.

    One run yields the nested trees of every size: the builder can go back to any of them.
    """
    plant = Plant(criterion, threshold_style, base, name_all=True)
    # Entries are bounds before they are cuts; of equals the bound comes first, so that a cut is
    # made only when no cell that has not been searched could hold a better one.
    heap: list = []
    ahead = LookAhead(criterion, plant.divide, n_leaves - len(plant.cells))

    def consider(number: int) -> None:
        bound = criterion.most_gain(plant.cells[number])
        if bound is not None:
            heapq.heappush(heap, (-bound, False, number, None))

    for number in sorted(plant.cells):
        ahead.expect(plant.cells[number])
        consider(number)
    while heap and len(plant.cells) < n_leaves:
        _, is_cut, number, cut = heapq.heappop(heap)
        if is_cut:
            for child in plant.accept(number, ahead.make(plant.cells[number], cut)):
                if len(plant.cells) < n_leaves:
                    consider(child)
            progress.step()
        elif (cut := ahead.best_cut(plant.cells[number])) is not None:
            heapq.heappush(heap, (-cut.gain, True, number, cut))
    while gains_matter and plant.gains and plant.gains[-1] == 0:
        plant.undo()
    return plant.growth()
