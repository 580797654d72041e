"""Best-first growth: the leaf with the most to gain is cut next, up to a number of leaves."""

from __future__ import annotations

import heapq

from pellucid._progress import Progress
from pellucid.cuts.criterion import Criterion
from pellucid.cuts.thresholds import ThresholdStyle
from pellucid.growth.plant import Growth, Plant
from pellucid.tree import ThresholdTree


def grow_best_first(
    criterion: Criterion,
    threshold_style: ThresholdStyle,
    progress: Progress,
    n_leaves: int,
    base: ThresholdTree | None = None,
) -> Growth:
    """Cut the leaf of largest gain until there are `n_leaves` or nothing is left to cut.

    A cut that gains nothing by itself may make room for one that does, so growth goes on past it;
    cuts after the last gain are taken back.

    One run yields the nested trees of every size: the builder can go back to any of them.
    """
    plant = Plant(criterion, threshold_style, base, name_all=True)
    heap: list = []

    def consider(number: int) -> None:
        cut = criterion.best_cut(plant.cells[number])
        if cut is not None:
            heapq.heappush(heap, (-cut.gain, number, cut))

    if len(plant.cells) < n_leaves:
        for number in sorted(plant.cells):
            consider(number)
    while heap and len(plant.cells) < n_leaves:
        _, number, cut = heapq.heappop(heap)
        for child in plant.split(number, cut):
            consider(child)
        progress.step()
    while plant.gains and plant.gains[-1] == 0:
        plant.undo()
    return plant.growth()
