"""Small line charts side by side, in colours that everyone can distinguish, as small files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pellucid.plotting.style import cluster_color

REFERENCE = "k-means"
"""The line that the others are compared with is grey."""

_GREY = "#666666"


@dataclass(frozen=True)
class Line:
    """One line of a panel."""

    name: str
    x: list[float]
    y: list[float]
    spread: list[float] | None = None
    """Half the width of a band around the line."""


@dataclass(frozen=True)
class Panel:
    """One chart."""

    title: str
    lines: list[Line]
    x_label: str = ""
    level: float | None = None
    """Where to draw a thin line across, to compare with."""
    top: float | None = None
    """Upper end of the y axis, where lines beyond it would flatten the others."""


def draw(
    panels: list[Panel], path: Path, *, n_columns: int, y_label: str, logarithmic: bool = False
) -> None:
    """Draw panels in rows with one legend, and save them as a PNG of few colours."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    n_columns = min(n_columns, len(panels))
    n_rows = -(-len(panels) // n_columns)
    figure, axes = plt.subplots(
        n_rows, n_columns, figsize=(3.1 * n_columns, 2.5 * n_rows + 0.4), squeeze=False
    )
    names = list(dict.fromkeys(line.name for panel in panels for line in panel.lines))
    styles = {name: _style(name, names.index(name), logarithmic) for name in names}
    for panel, axis in zip(panels, axes.flat):
        _draw_panel(panel, axis, styles, logarithmic)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for row in axes:
        row[0].set_ylabel(y_label)
    handles = [plt.Line2D([], [], label=name, **style) for name, style in styles.items()]
    figure.legend(handles=handles, loc="lower center", ncols=len(names), frameon=False)
    figure.tight_layout(rect=(0, 0.35 / figure.get_figheight(), 1, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
    plt.close(figure)
    shrink(path)


def _draw_panel(panel: Panel, axis, styles: dict[str, dict], logarithmic: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    crowded = max(len(line.x) for line in panel.lines) > 12
    for line in panel.lines:
        axis.plot(line.x, line.y, **(styles[line.name] | ({"marker": ""} if crowded else {})))
        if line.spread is not None:
            ends = [[y + sign * s for y, s in zip(line.y, line.spread)] for sign in (-1, 1)]
            axis.fill_between(line.x, *ends, color=styles[line.name]["color"], alpha=0.25, lw=0)
    if panel.level is not None:
        axis.axhline(panel.level, color=_GREY, linewidth=0.8, linestyle=":", zorder=0)
    if logarithmic:
        _use_logarithms(panel, axis)
    else:
        whole = all(float(x).is_integer() for line in panel.lines for x in line.x)
        axis.xaxis.set_major_locator(MaxNLocator(5, integer=whole))
    if panel.top is not None:
        bottom = min(min(line.y) for line in panel.lines)
        axis.set_ylim(bottom - 0.04 * (panel.top - bottom), panel.top)
    axis.set_title(panel.title, fontsize=10)
    axis.set_xlabel(panel.x_label, fontsize=9)
    axis.tick_params(labelsize=8)
    axis.spines[["top", "right"]].set_visible(False)


def _use_logarithms(panel: Panel, axis) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    axis.set_xscale("log")
    axis.set_yscale("log")
    ticks = sorted({x for line in panel.lines for x in line.x})
    axis.set_xticks(ticks, [_short(tick) for tick in ticks])
    axis.set_xticks([], minor=True)
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter("{x:g}")
    axis.yaxis.set_minor_formatter(NullFormatter())


def _short(number: float) -> str:
    return f"{number / 1000:g}k" if number >= 1000 else f"{number:g}"


def _style(name: str, position: int, logarithmic: bool) -> dict:
    """Lines that may run together get thinner one by one, so that those below still show."""
    layer = 3 if logarithmic else min(position, 4)
    is_reference = name == REFERENCE
    return {
        "color": _GREY if is_reference else cluster_color(position),
        "linestyle": "--" if is_reference else "-",
        "marker": "osD^vPX*"[position % 8],
        "markersize": 5.5 - 0.8 * layer,
        "linewidth": 3.0 - 0.6 * layer,
    }


def shrink(path: Path, n_colors: int = 64) -> None:
    """Few colours are enough for lines, and make the file a third as large."""
    from PIL import Image

    with Image.open(path) as image:
        reduced = image.convert("RGB").quantize(n_colors, dither=Image.Dither.NONE)
    reduced.save(path, optimize=True)
