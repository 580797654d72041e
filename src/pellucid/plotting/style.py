"""Colors of clusters, new axes, and the width and wrapping of text in ems."""

from __future__ import annotations

import colorsys
import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pellucid._utils.texts import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pellucid.explanation.rules import Rule

LINE_HEIGHT = 1.22  # distance between lines
_PIXELS = 1.06  # letters are placed on whole pixels, so a line is wider than its font metrics

# Okabe and Ito (2008). Their black is a grey here: black reads as text or as an outline.
_BASE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")

# How far the second and third round of the base colours go towards black (-) or white (+).
_SHADES = (0.0, -0.45, 0.55)
_LEAST_ON_DARK = 0.15  # luminance with a contrast of 3:1 on a nearly black background
_GOLDEN = 0.6180339887498949  # steps of the golden ratio on the color circle never repeat a hue


def cluster_color(position: int) -> str:
    """Colour of the cluster at a position from 0, as ``#RRGGBB``."""
    if position < 0:
        raise ValueError(f"position is {position}, but positions start at 0")
    round_, place = divmod(int(position), len(_BASE))
    if round_ < len(_SHADES):
        return _to_hex(_shade(_to_rgb(_BASE[place]), _SHADES[round_]))
    # More colors cannot be distinguished, so further hues only rotate.
    hue = position * _GOLDEN % 1.0
    lightness = (0.35, 0.55, 0.75)[position % 3]
    return _to_hex(colorsys.hls_to_rgb(hue, lightness, 0.6))


def text_color(background: str) -> str:
    """Black or white, whichever is easier to read on a ``#RRGGBB`` background."""
    luminance = _luminance(background)
    on_black, on_white = (luminance + 0.05) / 0.05, 1.05 / (luminance + 0.05)
    return "#000000" if on_black >= on_white else "#FFFFFF"


def on_dark(color: str) -> str:
    """The color, lightened until it is visible on a dark page."""
    steps = range(0, 100, 5)
    shades = (_to_hex(_shade(_to_rgb(color), step / 100)) if step else color for step in steps)
    return next(shade for shade in shades if _luminance(shade) >= _LEAST_ON_DARK)


def _luminance(color: str) -> float:
    """Relative luminance as the contrast rules of WCAG 2 define it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in _to_rgb(color)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _shade(rgb: tuple[float, ...], amount: float) -> tuple[float, ...]:
    goal = 1.0 if amount > 0 else 0.0
    return tuple(c + abs(amount) * (goal - c) for c in rgb)


def _to_rgb(color: str) -> tuple[float, ...]:
    return tuple(int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))


def _to_hex(rgb: tuple[float, ...]) -> str:
    return "#" + "".join(f"{round(255 * c):02X}" for c in rgb)


def leaf_figures(rule: Rule) -> list[str]:
    """Number of rows of a leaf, their share, and their purity if it is known."""
    # Imports NumPy; every command imports this module for its colours, even to print an error.
    from pellucid.explanation.rules import percent

    purity = [] if math.isnan(rule.purity) else [f"{percent(rule.purity)} pure"]
    return [count(rule.n_samples, "row"), percent(rule.share), *purity]


def new_axes(width: float, height: float) -> Axes:
    """Axes of a new figure of a size in inches."""
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def write_dates(axis: Any, **n_ticks: int) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(**n_ticks)
    axis.set_major_locator(locator)
    axis.set_major_formatter(ConciseDateFormatter(locator))


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
