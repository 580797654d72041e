"""Greedy growth: every leaf is cut at its best cut until the criterion has no more to say."""

from __future__ import annotations

from pellucid._progress import Progress
from pellucid.cuts.criterion import Criterion
from pellucid.cuts.thresholds import ThresholdStyle
from pellucid.growth.plant import Growth, Plant


def grow_greedily(
    criterion: Criterion, threshold_style: ThresholdStyle, progress: Progress
) -> Growth:
    """Cut leaf after leaf, depth first, left before right."""
    plant = Plant(criterion, threshold_style)
    waiting = [0]
    while waiting:
        number = waiting.pop()
        cut = criterion.best_cut(plant.cells[number])
        if cut is not None:
            left, right = plant.split(number, cut)
            waiting += [right, left]
            progress.step()
    return plant.growth()
