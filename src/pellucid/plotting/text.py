"""New axes, and width and wrapping of text in ems, independent of the font size."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE_HEIGHT = 1.22
"""Distance between lines."""

# Letters are placed on whole pixels, so a line is wider than its font metrics.
_PIXELS = 1.06


def new_axes(width: float, height: float) -> Axes:
    """Axes of a new figure of a size in inches."""
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def wrap(text: str, width: float, *, tail: str = "", bold: bool = False) -> list[str]:
    """Wrap `text` to lines of at most `width` ems. `tail` is not broken."""
    pieces = re.findall(r"[^\s_/\-]+[_/\-]*\s*|[\s_/\-]+", text)
    if tail:
        pieces = [*pieces[:-1], f"{pieces[-1] if pieces else ''} ", tail]
    lines = [""]
    for piece in pieces:
        if width_of((lines[-1] + piece).rstrip(), bold) <= width:
            lines[-1] += piece
            continue
        lines.append("")
        for letter in piece:
            if width_of((lines[-1] + letter).rstrip(), bold) > width:
                lines.append("")
            lines[-1] += letter
    return [line.strip() for line in lines if line.strip()]


def width_of(text: str, bold: bool = False) -> float:
    """Width of a line in ems."""
    from matplotlib import rcParams

    return _PIXELS * _measure(text, "bold" if bold else "normal", tuple(rcParams["font.family"]))


@lru_cache(maxsize=10_000)
def _measure(text: str, weight: str, family: tuple[str, ...]) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=list(family), weight=weight, size=1)
    return text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]
