"""Plot of a tree with matplotlib: its layout in ems, and the drawing.

Neither `sklearn.tree.plot_tree` nor Graphviz wraps long conditions to the width of a figure, and
Graphviz is a program that must be installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid._utils.estimators import documented
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.rules import label_text
from pellucid.plotting.axis_ranges import choose_axis
from pellucid.plotting.style import (
    LINE_HEIGHT,
    cluster_color,
    leaf_figures,
    text_color,
    width_of,
    wrap,
)
from pellucid.tables.column_formats import PLAIN
from pellucid.tables.encoding import ColumnNames, Indicator
from pellucid.tree import ThresholdTree
from pellucid.tree.predictor import column_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INK, _PAPER, _LINE = "#222222", "#FFFFFF", "#A3A9B0"

# All lengths are in ems, so that the plot scales with the font size.
_LOWER = 0.1  # letters sit high in their line, so text that starts at the top comes down a little
_LABEL_SCALE = 0.85
_PAD = 0.55
_BAND = 3.2
_MARGIN = 0.8
_LEAF_GAP = 0.8
_NARROWEST_COLUMN = 7.0
_WIDEST_TITLE = 12.0
# Boxes at one depth are at least 2 columns apart if both are inner nodes, and 1.5 if one is a leaf.
_QUESTION_COLUMNS = 1.8
_HISTOGRAM, _HISTOGRAM_BOX = 2.6, 8.5  # height, and the smallest width of its box
_MANY_LEAVES = 10
# Sizes to try in given axes, in points; in axes of a sensible size the last is never needed.
_FONTS = tuple(12.0 * 0.97**i for i in range(120))
_SMALLEST_WIDTH = 4.5 * 72
# In points; matplotlib makes no image of 2**16 pixels or more, which is 218 inches at 300 dpi.
_LARGEST_SIDE = 200 * 72.0


@documented
def plot_tree(
    model: Any, X: Any = None, *, feature_names: ColumnNames | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the tree of a fitted estimator, or a tree, with matplotlib.

    A row goes left if the answer is yes, and right if it is no. The width of a line is the share
    of the rows that follow it; a leaf has the colour of its cluster. With rows, each question has
    the distribution of its column in the rows that reach it, coloured by cluster.

    Parameters
    ----------
    {model}
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features), optional
        Rows whose distributions the questions contain, such as those of the fit.
    {feature_names}
    ax : matplotlib Axes, optional
        Where to draw; the font is made as small as the space needs. When left out, a new
        figure that is as large as the tree needs.

    Returns
    -------
    matplotlib Axes
        The axes of the plot.

    See Also
    --------
    export_text : The tree as text.
    ThresholdTree : What is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import IMM
    >>> from pellucid.plotting import plot_tree
    >>> X = load_iris().data
    >>> ax = plot_tree(IMM(3, random_state=0).fit(X), X)
    """
    picture = _read_picture(model, X, feature_names)
    if ax is None:
        import matplotlib.pyplot as plt

        layout, font = _layout_freely(picture)
        figure = plt.figure(figsize=(layout.width * font / 72, layout.height * font / 72))
        ax = figure.add_axes((0, 0, 1, 1))
        ax.set_axis_off()
    else:
        layout, font = _layout_within(picture, ax)
    ax.set_xlim(0, layout.width)
    ax.set_ylim(layout.height, 0)
    _draw(ax, picture, layout, font)
    return ax


@dataclass(frozen=True)
class QuestionHistogram:
    """The distribution of a column in the rows that reach a question."""

    positions: np.ndarray  # edges of the bins, from 0 to 1
    counts: dict[int, np.ndarray]  # rows by bin, by cluster
    threshold: float  # place of the threshold, from 0 to 1


@dataclass(frozen=True)
class Picture:
    """A tree with the texts of its nodes, before layout."""

    tree: ThresholdTree
    # By inner node: name of the feature, and the comparison, if any, which stays in one piece; the
    # answer that leads left, and the one that leads right.
    questions: dict[int, tuple[str, str]]
    answers: dict[int, tuple[str, str]]
    # By leaf, in lines: name of the cluster, and the figures below this title.
    titles: dict[int, list[str]]
    figures: dict[int, list[str]]
    leaf_width: float
    histograms: dict[int, QuestionHistogram]  # by inner node: the rows that reach it

    @property
    def column(self) -> float:
        """Minimum distance between leaves."""
        return self.leaf_width + _LEAF_GAP


@dataclass(frozen=True)
class Layout:
    """Where everything goes, in ems, from the upper left corner."""

    width: float
    height: float
    x: np.ndarray  # middle of each node's box
    top: np.ndarray  # upper edge of each node's box
    box_height: dict[int, float]
    turn: np.ndarray  # height at which the lines below each node bend
    questions: dict[int, list[str]]  # lines of the condition, by inner node


def _read_picture(model: Any, X: Any, feature_names: ColumnNames | None) -> Picture:
    """The texts of a tree or of the tree of a fitted estimator."""
    explanation = Explanation.of(model, feature_names=feature_names)
    tree, rules = explanation.tree_, explanation._leaf_rules
    questions, answers = {}, {}
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        name = explanation.tree_columns_[tree.feature[node]]
        if isinstance(name, Indicator):
            questions[node], answers[node] = (str(name), ""), ("no", "yes")
        else:
            written = explanation.formats_.get(name, PLAIN)
            _, tail = written.around(high=float(tree.threshold[node]))
            questions[node], answers[node] = (name, tail.strip()), ("yes", "no")
    titles, figures = {}, {}
    for rule in rules:
        label = f"cluster {label_text(rule.cluster)}"
        titles[rule.leaf] = wrap(label, _WIDEST_TITLE, bold=True)
        rows, share, *purity = leaf_figures(rule)
        lines = [rows, share] if tree.n_leaves > _MANY_LEAVES else [f"{rows} ({share})"]
        # A tree that was built by hand may know nothing of rows.
        figures[rule.leaf] = [*lines, *purity] if tree.n_node_samples[0] > 0 else []
    widths = [width_of(line, bold=True) for lines in titles.values() for line in lines]
    widths += [width_of(line) for lines in figures.values() for line in lines]
    histograms = {} if X is None else _read_histograms(model, X)
    return Picture(tree, questions, answers, titles, figures, max(widths) + 2 * _PAD, histograms)


def _read_histograms(model: Any, X: Any) -> dict[int, QuestionHistogram]:
    """The distributions at all questions that any row reaches."""
    columns = Explanation.of(model).input_columns
    numbers, tree = columns.read_complete(X), columns.tree
    cluster = tree.cluster[tree.apply(numbers)]
    found = {}
    for node, rows in tree.rows_by_node(numbers):
        if tree.is_leaf[node] or not len(rows):
            continue
        values = column_values(numbers, int(tree.feature[node]), rows)
        threshold, here = float(tree.threshold[node]), cluster[rows]
        is_whole = bool((values == np.floor(values)).all())
        axis = choose_axis(values, is_whole=is_whole, cuts=[threshold], cluster=here)
        bins = np.searchsorted(axis.edges[1:-1], values, side="right")
        n = len(axis.edges) - 1
        counts = {c: np.bincount(bins[here == c], minlength=n) for c in np.unique(here).tolist()}
        places = axis.positions(np.append(axis.edges, threshold))
        places = (places - places[0]) / (places[-2] - places[0])
        found[node] = QuestionHistogram(places[:-1], counts, float(np.clip(places[-1], 0, 1)))
    return found


def _layout(picture: Picture, column: float, height: float | None = None) -> Layout:
    """Compute the layout for leaves `column` ems apart, within `height` ems if possible."""
    tree = picture.tree
    x = np.zeros(tree.node_count)
    x[_leaves_in_order(picture)] = _MARGIN + column * (np.arange(tree.n_leaves) + 0.5)
    # A node comes before its children, so backwards the children have their places already.
    for node in reversed(picture.questions):
        x[node] = (x[tree.children_left[node]] + x[tree.children_right[node]]) / 2

    width = _QUESTION_COLUMNS * column - 2 * _PAD
    questions = {n: wrap(name, width, tail=tail) for n, (name, tail) in picture.questions.items()}
    box_height = {
        node: _box_height(lines) + (_HISTOGRAM if node in picture.histograms else 0)
        for node, lines in questions.items()
    }
    leaf_height = max(_box_height(picture.titles[n] + picture.figures[n]) for n in picture.titles)
    box_height.update(dict.fromkeys(picture.titles, leaf_height))

    depth = tree.depth
    level = np.zeros(tree.max_depth + 1)
    for node, tall in box_height.items():
        level[depth[node]] = max(level[depth[node]], tall)
    needed = 2 * _MARGIN + level.sum() + _BAND * tree.max_depth
    spare = 0.0 if height is None else max(height - needed, 0.0)
    band = _BAND + min(spare / max(tree.max_depth, 1), _BAND)
    height = needed if height is None else max(height, needed)
    top = np.concatenate([[0.0], np.cumsum(level[:-1] + band)])
    top += (height - top[-1] - level[-1]) / 2
    return Layout(
        width=column * tree.n_leaves + 2 * _MARGIN,
        height=height,
        x=x,
        top=top[depth],
        box_height=box_height,
        turn=(top + level + band / 2)[depth],
        questions=questions,
    )


def _leaves_in_order(picture: Picture) -> list[int]:
    """Leaves from left to right: rows for which the answer is yes are on the left."""
    tree, leaves, stack = picture.tree, [], [0]
    while stack:
        node = stack.pop()
        if tree.is_leaf[node]:
            leaves.append(node)
            continue
        children = [int(tree.children_left[node]), int(tree.children_right[node])]
        # The last one on the stack comes first.
        stack += children if picture.answers[node][1] == "yes" else children[::-1]
    return leaves


def _layout_freely(picture: Picture) -> tuple[Layout, float]:
    """A layout with all the space it needs, and its font size: smaller for more leaves."""
    n_leaves = picture.tree.n_leaves
    font = float(np.clip(11.0 - 0.13 * n_leaves, 7.0, 10.5))
    stretched = (_SMALLEST_WIDTH / font - 2 * _MARGIN) / n_leaves
    layout = _layout(picture, max(picture.column, _NARROWEST_COLUMN, stretched))
    return layout, min(font, _LARGEST_SIDE / max(layout.width, layout.height))


def _layout_within(picture: Picture, ax: Axes) -> tuple[Layout, float]:
    """A layout for given axes, and the largest font size at which nothing collides."""
    figure = ax.figure.figure
    ax.set_axis_off()
    if figure.get_layout_engine() is not None:
        # Only a layout that has run knows how large the axes are going to be.
        figure.draw_without_rendering()
    width, height = ax.bbox.width * 72 / figure.dpi, ax.bbox.height * 72 / figure.dpi
    for font in _FONTS:
        column = (width / font - 2 * _MARGIN) / picture.tree.n_leaves
        if column >= picture.column and _layout(picture, column).height * font <= height:
            break
    return _layout(picture, max(column, picture.column), height / font), font


def _box_height(lines: list[str]) -> float:
    return LINE_HEIGHT * len(lines) + 2 * _PAD


def _draw(ax: Axes, picture: Picture, layout: Layout, font: float) -> None:
    tree = picture.tree
    # A tree that was built by hand may know nothing of rows.
    share = tree.weighted_n_node_samples / (tree.weighted_n_node_samples[0] or 1.0)
    for node, answers in picture.answers.items():
        children = int(tree.children_left[node]), int(tree.children_right[node])
        for child, answer in zip(children, answers):
            _draw_edge(ax, layout, font, node, child, answer, share[child])
    for node, lines in layout.questions.items():
        histogram = picture.histograms.get(node)
        width = max(map(width_of, lines)) + 2 * _PAD
        width = width if histogram is None else max(width, _HISTOGRAM_BOX)
        _draw_box(ax, layout, node, width, facecolor=_PAPER, edgecolor=_LINE, linewidth=font / 10)
        x, top = layout.x[node], layout.top[node]
        if histogram is not None:
            bottom = top + layout.box_height[node] - _PAD
            _draw_histogram(ax, histogram, x, bottom, width - 2 * _PAD, font)
        middle = top + _box_height(lines) / 2
        _write(ax, x, middle, lines, font, color=_INK, gid=f"split-{node}")
    for leaf, title in picture.titles.items():
        color, figures = cluster_color(int(tree.cluster[leaf])), picture.figures[leaf]
        _draw_box(ax, layout, leaf, picture.leaf_width, facecolor=color, edgecolor="none")
        style = {"color": text_color(color), "va": "top", "gid": f"leaf-{leaf}"}
        spare = layout.box_height[leaf] - LINE_HEIGHT * len(title + figures)
        x, y = layout.x[leaf], layout.top[leaf] + spare / 2 + _LOWER
        _write(ax, x, y, title, font, weight="bold", **style)
        _write(ax, x, y + LINE_HEIGHT * len(title), figures, font, **style)


def _draw_histogram(
    ax: Axes, histogram: QuestionHistogram, middle: float, bottom: float, width: float, font: float
) -> None:
    """Stacked bars above `bottom`, with a line at the threshold; heights grow upwards."""
    left = middle - width / 2
    edges = left + width * histogram.positions
    widths = np.diff(edges)  # bins of integers on a logarithmic axis differ in width
    total = np.sum(list(histogram.counts.values()), axis=0) / widths
    scale = (_HISTOGRAM - 0.3) / total.max()
    base = np.zeros(len(widths))
    for cluster, counts in histogram.counts.items():
        height, color = scale * counts / widths, cluster_color(cluster)
        ax.bar(edges[:-1], -height, widths, bottom - base, align="edge", color=color, zorder=3)
        base += height
    at = left + width * histogram.threshold
    style: dict[str, Any] = {"color": _INK, "linewidth": font / 10, "zorder": 4}
    ax.plot([left, left + width], [bottom, bottom], **{**style, "color": _LINE})
    ax.plot([at, at], [bottom, bottom - _HISTOGRAM], linestyle=(0, (3, 2)), **style)


def _draw_box(ax: Axes, layout: Layout, node: int, width: float, **style: Any) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner = (layout.x[node] - width / 2, layout.top[node])
    shape = "round,pad=0,rounding_size=0.4"
    size = (width, layout.box_height[node])
    ax.add_patch(FancyBboxPatch(corner, *size, boxstyle=shape, zorder=2, **style))


def _draw_edge(
    ax: Axes, layout: Layout, font: float, node: int, child: int, answer: str, share: float
) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    x, x_child, turn = layout.x[node], layout.x[child], layout.turn[node]
    start, end = layout.top[node] + layout.box_height[node], layout.top[child]
    reach = x_child - x
    bend = min(0.8, abs(reach) / 2, end - turn)
    side = bend * np.sign(reach)
    across = [x, x, x, x + side, x_child - side, x_child, x_child, x_child]
    down = [start, turn - bend, turn, turn, turn, turn, turn + bend, end]
    codes = [Path.MOVETO, *[Path.LINETO, Path.CURVE3, Path.CURVE3] * 2, Path.LINETO]
    path = Path(np.column_stack([across, down]), codes)
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
