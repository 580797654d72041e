"""Plot of a tree with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.plotting.palette import cluster_color, text_color
from pellucid.plotting.text import LINE_HEIGHT, width_of
from pellucid.plotting.tree_layout import (
    PAD,
    Layout,
    Picture,
    layout_freely,
    layout_within,
    read_picture,
)
from pellucid.tables.encoding import Indicator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INK, _PAPER, _LINE = "#222222", "#FFFFFF", "#A3A9B0"

# In ems: letters sit high in their line, so text that starts at the top comes down a little.
_LOWER = 0.1
_LABEL_SCALE = 0.85


def plot_tree(
    model: Any, *, feature_names: Sequence[str | Indicator] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the tree of a fitted estimator, or a tree, with matplotlib.

    A row goes left if the answer is yes, and right if it is no. The width of a line is the share
    of the rows that follow it; a leaf has the colour of its cluster.

    Parameters
    ----------
    model : fitted estimator of this package, or ThresholdTree
        A fitted tree model, an :class:`~pellucid.Explanation` or a tree.
    feature_names : sequence of str or Indicator, optional
        Names of the columns; those seen in `fit`, or ``x0, x1, ...``, when left out.
    ax : matplotlib Axes, optional
        Where to draw; the font is made as small as the space needs. When left out, a new
        figure that is as large as the tree needs.

    Returns
    -------
    matplotlib Axes
        The axes of the plot.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import IMM
    >>> from pellucid.plotting import plot_tree
    >>> ax = plot_tree(IMM(3, random_state=0).fit(load_iris().data))
    """
    picture = read_picture(model, feature_names)
    if ax is None:
        layout, font = layout_freely(picture)
        ax = _new_axes(layout, font)
    else:
        layout, font = layout_within(picture, *_size_in_points(ax))
    ax.set_xlim(0, layout.width)
    ax.set_ylim(layout.height, 0)
    _draw(ax, picture, layout, font)
    return ax


def _new_axes(layout: Layout, font: float) -> Axes:
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(layout.width * font / 72, layout.height * font / 72))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    return ax


def _size_in_points(ax: Axes) -> tuple[float, float]:
    figure = ax.figure.figure
    ax.set_axis_off()
    if figure.get_layout_engine() is not None:
        # Only a layout that has run knows how large the axes are going to be.
        figure.draw_without_rendering()
    return ax.bbox.width * 72 / figure.dpi, ax.bbox.height * 72 / figure.dpi


def _draw(ax: Axes, picture: Picture, layout: Layout, font: float) -> None:
    tree = picture.tree
    for node, (left, right) in picture.answers.items():
        _draw_edge(ax, picture, layout, font, node, int(tree.children_left[node]), left)
        _draw_edge(ax, picture, layout, font, node, int(tree.children_right[node]), right)
    for node, lines in layout.questions.items():
        width = max(map(width_of, lines)) + 2 * PAD
        _draw_box(ax, layout, node, width, facecolor=_PAPER, edgecolor=_LINE, linewidth=font / 10)
        middle = layout.top[node] + layout.box_height[node] / 2
        _write(ax, layout.x[node], middle, lines, font, color=_INK, gid=f"split-{node}")
    for leaf, title in picture.titles.items():
        color = cluster_color(int(tree.cluster[leaf]))
        _draw_box(ax, layout, leaf, picture.leaf_width, facecolor=color, edgecolor="none")
        style = {"color": text_color(color), "va": "top", "gid": f"leaf-{leaf}"}
        figures = picture.figures[leaf]
        spare = layout.box_height[leaf] - LINE_HEIGHT * len(title + figures)
        x, y = layout.x[leaf], layout.top[leaf] + spare / 2 + _LOWER
        _write(ax, x, y, title, font, weight="bold", **style)
        _write(ax, x, y + LINE_HEIGHT * len(title), figures, font, **style)


def _draw_box(ax: Axes, layout: Layout, node: int, width: float, **style: Any) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner = (layout.x[node] - width / 2, layout.top[node])
    shape = "round,pad=0,rounding_size=0.4"
    size = (width, layout.box_height[node])
    ax.add_patch(FancyBboxPatch(corner, *size, boxstyle=shape, zorder=2, **style))


def _draw_edge(
    ax: Axes,
    picture: Picture,
    layout: Layout,
    font: float,
    node: int,
    child: int,
    answer: str,
) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    weight = picture.tree.weighted_n_node_samples
    share = weight[child] / weight[0] if weight[0] > 0 else 0.0
    x, x_child, turn = layout.x[node], layout.x[child], layout.turn[node]
    start, end = layout.top[node] + layout.box_height[node], layout.top[child]
    reach = x_child - x
    bend = min(0.8, abs(reach) / 2, end - turn)
    side = bend * np.sign(reach)
    path = Path(
        [
            (x, start),
            (x, turn - bend),
            (x, turn),
            (x + side, turn),
            (x_child - side, turn),
            (x_child, turn),
            (x_child, turn + bend),
            (x_child, end),
        ],
        [Path.MOVETO, *[Path.LINETO, Path.CURVE3, Path.CURVE3] * 2, Path.LINETO],
    )
    width = font * (0.12 + 0.75 * share)
    ax.add_patch(PathPatch(path, fill=False, edgecolor=_LINE, linewidth=width, zorder=1))
    at = x + np.sign(reach) * min(abs(reach) / 2, 3.0)
    label = {"facecolor": _PAPER, "edgecolor": "none", "boxstyle": "round,pad=0.15"}
    size = _LABEL_SCALE * font
    _write(ax, at, turn, [answer], size, color=_INK, bbox=label, gid=f"answer-{child}")


def _write(ax: Axes, x: float, y: float, lines: list[str], font: float, **style: Any) -> None:
    """Put lines of text at a place; a ``$`` in a name is a letter, not the start of a formula."""
    if lines:
        style = {"va": "center", **style}
        ax.text(x, y, "\n".join(lines), fontsize=font, ha="center", parse_math=False, **style)
