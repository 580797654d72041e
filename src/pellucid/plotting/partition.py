"""Scatter plot of two features with the thresholds of the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid._utils.estimators import documented
from pellucid.explanation.rules import label_text, names_of_columns
from pellucid.plotting.axis_ranges import choose_axis
from pellucid.plotting.style import cluster_color, new_axes
from pellucid.tables.encoding import ColumnNames
from pellucid.tables.validation import read_X
from pellucid.tree import ThresholdTree
from pellucid.tree.predictor import column_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_POINTS = 5000
_MAX_JITTERED = 24  # integers with a smaller range than this are jittered


@documented
def plot_partition(
    model: Any,
    X: Any,
    *,
    features: tuple[Any, ...] | None = None,
    feature_names: ColumnNames | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw two features of the rows, colored by cluster, with the thresholds of the tree.

    A threshold on one of the two features is a line across the region of its node. If the tree
    uses only these two features, the regions of the clusters are shaded. Integers of a small
    range are jittered, skewed features have a logarithmic axis, and rows beyond an axis are drawn
    as rings at its end.

    Parameters
    ----------
    {model}
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Rows to draw; at most 5,000, evenly spaced.
    features : pair of int or str, optional
        The columns to draw. Default: the two that are used for most rows.
    {feature_names}
    {ax}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import IMM
    >>> from pellucid.plotting import plot_partition
    >>> X = load_iris(as_frame=True).data
    >>> ax = plot_partition(IMM(3, random_state=0).fit(X), X)
    """
    tree: ThresholdTree = model.tree_
    names = names_of_columns(model, tree.n_features, feature_names)
    across, up = _main_features(tree) if features is None else _positions(features, names)
    numbers = read_X(model, X, reset=False)
    rows = np.arange(0, numbers.shape[0], max(1, -(-numbers.shape[0] // _MAX_POINTS)))
    position = tree.predict(numbers)[rows]
    ax = ax or new_axes(6.5, 5)
    views = []
    for seed, feature in enumerate((across, up)):
        cuts = tree.threshold[~tree.is_leaf & (tree.feature == feature)].tolist()
        values = column_values(numbers, feature, rows)
        views.append(_PlottedFeature(values, cuts, position, seed))
    n_beyond = _draw_points(ax, position, model.cluster_names_, *views)
    for view, axis, name in zip(views, (ax.xaxis, ax.yaxis), (names[across], names[up])):
        view.set_up(axis, str(name))
    ax.spines[["top", "right"]].set_visible(False)
    is_whole = _draw_thresholds(ax, tree, across, up, *views)
    notes = [] if is_whole else ["the tree also uses other columns"]
    notes += [f"rings: {n_beyond:,} rows beyond the axes"] if n_beyond else []
    ax.set_title("; ".join(notes), loc="left", fontsize=9, color="#6B7278")
    return ax


class _PlottedFeature:
    """The values of one feature as they are drawn, and its axis."""

    def __init__(
        self, values: np.ndarray, cuts: list[float], cluster: np.ndarray, seed: int
    ) -> None:
        is_whole = bool((values == np.floor(values)).all())
        axis = self.axis = choose_axis(values, is_whole=is_whole, cuts=cuts, cluster=cluster)
        self.is_jittered = is_whole and len(values) > 0 and np.ptp(values) < _MAX_JITTERED
        low, high = (float(axis.positions(end)) for end in (axis.edges[0], axis.edges[-1]))
        margin = 0.04 * (high - low)
        self.limits = float(axis.values(low - margin)), float(axis.values(high + margin))
        self.is_beyond = (values < self.limits[0]) | (values > self.limits[1])
        noise = np.random.default_rng(seed).uniform(-0.25, 0.25, len(values))
        self.drawn = np.clip(values + noise if self.is_jittered else values, *self.limits)

    def threshold(self, value: float) -> float:
        """Where a threshold is drawn: between two integers if they are jittered."""
        return float(np.floor(value)) + 0.5 if self.is_jittered else value

    def set_up(self, axis: Any, name: str) -> None:
        """Set scale, limits and title of an axis of matplotlib."""
        from matplotlib.ticker import MaxNLocator

        which, unit, (low, high) = axis.axis_name, self.axis.unit, self.limits
        if unit is not None:
            functions = (self.axis.positions, self.axis.values)
            getattr(axis.axes, f"set_{which}scale")("function", functions=functions)
            n_powers = int(np.floor(np.log10(max(high / unit, 1.0)))) + 1
            ticks = [0.0, *(unit * 10.0**i for i in range(n_powers))]
            axis.set_ticks([tick for tick in ticks if low <= tick <= high])
            axis.set_major_formatter(lambda value, _: f"{value:,.12g}")
        elif self.is_jittered:
            axis.set_major_locator(MaxNLocator(integer=True))
        getattr(axis.axes, f"set_{which}lim")(low, high)
        axis.set_label_text(name if unit is None else f"{name} (log scale)")


def _main_features(tree: ThresholdTree) -> tuple[int, int]:
    """The two features whose splits are passed by most rows."""
    inner = ~tree.is_leaf
    rows = tree.n_node_samples[inner]
    n_rows = np.bincount(tree.feature[inner], weights=rows, minlength=tree.n_features)
    order = np.argsort(-n_rows, kind="stable")
    return (int(order[0]), int(order[1])) if len(order) > 1 else (0, 0)


def _positions(features: tuple[Any, ...], names: list[Any]) -> tuple[int, int]:
    if len(features) != 2:
        raise ValueError(f"features must be two columns, got {len(features)}")
    words = [str(name) for name in names]
    found = []
    for feature in features:
        if isinstance(feature, str):
            if feature not in words:
                raise ValueError(f"there is no column {feature!r}; the columns are {words}")
            feature = words.index(feature)
        elif not 0 <= feature < len(names):
            raise ValueError(f"there is no column {feature}; there are {len(names)}")
        found.append(int(feature))
    return found[0], found[1]


def _draw_points(
    ax: Axes, position: np.ndarray, names: np.ndarray, x: _PlottedFeature, y: _PlottedFeature
) -> int:
    """Draw the rows; returns the number of rows beyond the axes."""
    size = 24 if len(position) < 500 else 16 if len(position) < 2000 else 11
    is_beyond = x.is_beyond | y.is_beyond
    for cluster in np.unique(position).tolist():
        color = cluster_color(cluster)
        here = (position == cluster) & ~is_beyond
        label = f"cluster {label_text(names[cluster])}"
        style: dict[str, Any] = {"color": color, "linewidths": 0.3, "edgecolors": "white"}
        ax.scatter(x.drawn[here], y.drawn[here], s=size, label=label, zorder=2, **style)
        there = (position == cluster) & is_beyond
        if there.any():
            style = {"facecolors": "none", "edgecolors": color, "linewidths": 1.3}
            points = (x.drawn[there], y.drawn[there])
            ax.scatter(*points, s=1.6 * size, zorder=4, clip_on=False, **style)
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    ax.legend(frameon=False, fontsize=9, markerscale=1.5, **place)
    return int(is_beyond.sum())


def _draw_thresholds(
    ax: Axes, tree: ThresholdTree, across: int, up: int, x: _PlottedFeature, y: _PlottedFeature
) -> bool:
    """Draw the thresholds; returns whether the tree uses no other features."""
    inner = ~tree.is_leaf
    is_whole = bool(np.isin(tree.feature[inner], (across, up)).all())
    views, axis_of = (x, y), {up: 1, across: 0}
    box = {0: [x.limits, y.limits]}
    for node in range(tree.node_count):  # parents come before their children
        sides = box[node]
        if tree.is_leaf[node]:
            if is_whole:
                (x0, x1), (y0, y1) = sides
                color = cluster_color(int(tree.cluster[node]))
                ax.fill([x0, x1, x1, x0], [y0, y0, y1, y1], color=color, alpha=0.12, lw=0, zorder=0)
            continue
        below, above, line = list(sides), list(sides), list(sides)
        axis = axis_of.get(int(tree.feature[node]))
        if axis is not None:
            low, high = sides[axis]
            at = min(max(views[axis].threshold(float(tree.threshold[node])), low), high)
            below[axis], above[axis], line[axis] = (low, at), (at, high), (at, at)
            ax.plot(*line, color="#222222", linewidth=1.2, zorder=3)
        box[int(tree.children_left[node])] = below
        box[int(tree.children_right[node])] = above
    ax.set_xlim(*x.limits)
    ax.set_ylim(*y.limits)
    return is_whole
