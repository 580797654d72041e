"""What a clustering minimises, by the name that users give it."""

from __future__ import annotations

from pellucid._core.data.dataset import Data
from pellucid._core.data.medians import AbsoluteData

OBJECTIVES: dict[str, type[Data]] = {data.objective: data for data in (Data, AbsoluteData)}
"""Squared distances to means, and absolute distances to medians."""
