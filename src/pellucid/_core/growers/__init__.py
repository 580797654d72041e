"""Growers: which node is split next, and how many alternatives are kept."""

from __future__ import annotations

from typing import Literal

from pellucid._core.criteria.base import Criterion
from pellucid._core.growers.beam import BeamSearch
from pellucid._core.growers.growing_tree import GrowthResult, grow_greedily
from pellucid._utils.progress import Progress
from pellucid.tree.rounding import ThresholdStyle

Search = Literal["greedy", "beam"] | BeamSearch


def grow(
    criterion: Criterion, search: Search, threshold_style: ThresholdStyle, progress: Progress
) -> GrowthResult:
    """Grow a tree by a criterion and a search."""
    if search == "greedy":
        return grow_greedily(criterion, threshold_style, progress)
    beam = BeamSearch() if search == "beam" else search
    return beam.grow(criterion, threshold_style, progress)
