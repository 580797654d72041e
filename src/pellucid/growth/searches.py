"""Searches by name."""

from __future__ import annotations

from typing import Literal

from pellucid._progress import Progress
from pellucid.cuts.criterion import Criterion
from pellucid.cuts.thresholds import ThresholdStyle
from pellucid.growth.beam import BeamSearch
from pellucid.growth.greedy import grow_greedily
from pellucid.growth.plant import Growth

Search = Literal["greedy", "beam"] | BeamSearch


def grow(
    criterion: Criterion, search: Search, threshold_style: ThresholdStyle, progress: Progress
) -> Growth:
    """Grow a tree by a criterion and a search."""
    if search == "greedy":
        return grow_greedily(criterion, threshold_style, progress)
    beam = BeamSearch() if search == "beam" else search
    return beam.grow(criterion, threshold_style, progress)
