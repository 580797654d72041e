"""What a clustering minimises, by the name that users give it."""

from __future__ import annotations

from pellucid.numeric.absolute import AbsoluteData
from pellucid.numeric.fixed_point import Data

OBJECTIVES: dict[str, type[Data]] = {data.objective: data for data in (Data, AbsoluteData)}
"""Squared distances to means, and absolute distances to medians."""
