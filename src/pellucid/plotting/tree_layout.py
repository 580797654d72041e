"""Layout of the plot of a tree, in ems: texts, boxes and lines.

Neither `sklearn.tree.plot_tree` nor Graphviz wraps long conditions to the width of a figure, and
Graphviz is a program that must be installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.explanation.rules import Rule, column_names, default_names, label_text, leaf_rules
from pellucid.plotting.text import LINE_HEIGHT, width_of, wrap
from pellucid.tables.column_formats import PLAIN
from pellucid.tables.encoding import Indicator
from pellucid.tree import ThresholdTree

# All lengths are in ems, so that the plot scales with the font size.
PAD = 0.55
_BAND = 3.2
_MARGIN = 0.8
_LEAF_GAP = 0.8
_NARROWEST_COLUMN = 7.0
_WIDEST_TITLE = 12.0
# Boxes at one depth are at least 2 columns apart if both are inner nodes, and 1.5 if one is a leaf.
_QUESTION_COLUMNS = 1.8

_MANY_LEAVES = 10
# Sizes to try in given axes, in points; in axes of a sensible size the last is never needed.
_FONTS = tuple(12.0 * 0.97**i for i in range(120))
_SMALLEST_WIDTH = 4.5 * 72
# In points; matplotlib makes no image of 2**16 pixels or more, which is 218 inches at 300 dpi.
_LARGEST_SIDE = 200 * 72.0


@dataclass(frozen=True)
class Picture:
    """A tree with the texts of its nodes, before layout."""

    tree: ThresholdTree
    questions: dict[int, tuple[str, str]]
    """By inner node: name of the feature, and the comparison, if any, which stays in one piece."""
    answers: dict[int, tuple[str, str]]
    """By inner node: the answer that leads left, and the one that leads right."""
    titles: dict[int, list[str]]
    """By leaf: name of the cluster, in lines."""
    figures: dict[int, list[str]]
    """By leaf: the figures below the title, in lines."""
    leaf_width: float

    @property
    def column(self) -> float:
        """Minimum distance between leaves."""
        return self.leaf_width + _LEAF_GAP


@dataclass(frozen=True)
class Layout:
    """Where everything goes, in ems, from the upper left corner."""

    width: float
    height: float
    x: np.ndarray
    """Middle of each node's box."""
    top: np.ndarray
    """Upper edge of each node's box."""
    box_height: dict[int, float]
    turn: np.ndarray
    """Height at which the lines below each node bend."""
    questions: dict[int, list[str]]
    """Lines of the condition, by inner node."""


def read_picture(model: Any, feature_names: Sequence[str | Indicator] | None) -> Picture:
    """The texts of a tree or of the tree of a fitted estimator."""
    if isinstance(model, ThresholdTree):
        tree, seen, rules = model, None, leaf_rules(model)
    else:
        if not hasattr(model, "tree_"):
            from sklearn.utils.validation import check_is_fitted

            check_is_fitted(model)
        tree, rules = model.tree_, model._leaf_rules
        seen = column_names(model)
    names = seen if feature_names is None else list(feature_names)
    names = default_names(tree.n_features) if names is None else names
    if len(names) != tree.n_features:
        raise ValueError(f"{len(names)} feature names for a tree of {tree.n_features} columns")
    formats = getattr(model, "formats_", {}) if feature_names is None else {}
    questions, answers = {}, {}
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        name = names[tree.feature[node]]
        if isinstance(name, Indicator):
            questions[node], answers[node] = (str(name), ""), ("no", "yes")
        else:
            written = formats.get(name, PLAIN)
            _, tail = written.around(high=float(tree.threshold[node]))
            questions[node], answers[node] = (str(name), tail.strip()), ("yes", "no")
    labels = {r.leaf: f"cluster {label_text(r.cluster)}" for r in rules}
    titles = {leaf: wrap(label, _WIDEST_TITLE, bold=True) for leaf, label in labels.items()}
    # A tree that was built by hand may know nothing of rows.
    counted = tree.n_node_samples[0] > 0
    figures = {r.leaf: _figures(r, tree.n_leaves > _MANY_LEAVES) if counted else [] for r in rules}
    widths = [width_of(line, bold=True) for lines in titles.values() for line in lines]
    widths += [width_of(line) for lines in figures.values() for line in lines]
    return Picture(tree, questions, answers, titles, figures, max(widths) + 2 * PAD)


def _figures(rule: Rule, narrow: bool) -> list[str]:
    rows = f"{rule.n_samples:,} row{'' if rule.n_samples == 1 else 's'}"
    share = _percent(rule.share)
    purity = [] if np.isnan(rule.purity) else [f"{_percent(rule.purity)} pure"]
    return [rows, share, *purity] if narrow else [f"{rows} ({share})", *purity]


def _percent(share: float) -> str:
    return "100%" if share == 1 else f"{100 * share:.1f}%"


def _layout(picture: Picture, column: float, height: float | None = None) -> Layout:
    """Compute the layout for leaves `column` ems apart, within `height` ems if possible."""
    tree = picture.tree
    x = np.zeros(tree.node_count)
    x[_leaves_in_order(picture)] = _MARGIN + column * (np.arange(tree.n_leaves) + 0.5)
    # A node comes before its children, so backwards the children have their places already.
    for node in reversed(picture.questions):
        x[node] = (x[tree.children_left[node]] + x[tree.children_right[node]]) / 2

    width = _QUESTION_COLUMNS * column - 2 * PAD
    questions = {n: wrap(name, width, tail=tail) for n, (name, tail) in picture.questions.items()}
    box_height = {node: _box_height(lines) for node, lines in questions.items()}
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


def layout_freely(picture: Picture) -> tuple[Layout, float]:
    """A layout with all the space it needs, and its font size: smaller for more leaves."""
    n_leaves = picture.tree.n_leaves
    font = float(np.clip(11.0 - 0.13 * n_leaves, 7.0, 10.5))
    stretched = (_SMALLEST_WIDTH / font - 2 * _MARGIN) / n_leaves
    layout = _layout(picture, max(picture.column, _NARROWEST_COLUMN, stretched))
    return layout, min(font, _LARGEST_SIDE / max(layout.width, layout.height))


def layout_within(picture: Picture, width: float, height: float) -> tuple[Layout, float]:
    """A layout for a space in points, and the largest font size at which nothing collides."""
    for font in _FONTS:
        column = (width / font - 2 * _MARGIN) / picture.tree.n_leaves
        if column >= picture.column and _layout(picture, column).height * font <= height:
            break
    return _layout(picture, max(column, picture.column), height / font), font


def _box_height(lines: list[str]) -> float:
    return LINE_HEIGHT * len(lines) + 2 * PAD
