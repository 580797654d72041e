"""Greedy growth: every leaf is cut at its best cut until the criterion has no more to say."""

from __future__ import annotations

from pellucid._core.criteria.base import Criterion
from pellucid._core.criteria.mistakes import Mistakes
from pellucid._core.growers.growing_tree import Divided, Growth, Plant
from pellucid._core.growers.in_place import grow_in_place
from pellucid._core.growers.scheduling import for_each_cell
from pellucid._utils.progress import Progress
from pellucid.tree.rounding import ThresholdStyle


def grow_greedily(
    criterion: Criterion, threshold_style: ThresholdStyle, progress: Progress
) -> Growth:
    """Cut all leaves of a level, from left to right, then those of the next."""
    if isinstance(criterion, Mistakes) and criterion.is_cut_in_place:
        return grow_in_place(criterion, threshold_style, progress)
    plant = Plant(criterion, threshold_style)

    def divide(number: int) -> Divided | None:
        cut = criterion.best_cut(plant.cells[number])
        return None if cut is None else plant.divide(plant.cells[number], cut)

    level = [0]
    while level:
        below: list[int] = []
        for number, divided in zip(level, for_each_cell(criterion, divide, level, plant.cells)):
            if divided is not None:
                below += plant.accept(number, divided)
                progress.step()
        level = below
    return plant.growth()
