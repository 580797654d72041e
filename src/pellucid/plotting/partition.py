"""Scatter plot of two features with the thresholds of the tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.explanation.rules import column_names, default_names
from pellucid.plotting.palette import cluster_color
from pellucid.tables.encoding import Indicator
from pellucid.tables.validation import read_X
from pellucid.tree import ThresholdTree
from pellucid.tree.predictor import column_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_POINTS = 5000


def plot_partition(
    model: Any,
    X: Any,
    *,
    features: tuple | None = None,
    feature_names: Sequence[str | Indicator] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw two features of the rows, colored by cluster, with the thresholds of the tree.

    A threshold on one of the two features is a line across the region of its node. If the tree
    uses only these two features, the regions of the clusters are shaded.

    Parameters
    ----------
    model : fitted estimator
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Rows to draw; at most 5,000, evenly spaced.
    features : pair of int or str, optional
        The columns to draw. Default: the two that are used for most rows.
    feature_names : sequence of str or Indicator, optional
        Names of the columns; those seen in `fit`, or ``x0, x1, ...``, when left out.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import IMM
    >>> from pellucid.plotting import plot_partition
    >>> X = load_iris(as_frame=True).data
    >>> ax = plot_partition(IMM(3, random_state=0).fit(X), X)
    """
    tree: ThresholdTree = model.tree_
    names = column_names(model) if feature_names is None else feature_names
    names = default_names(tree.n_features) if names is None else list(names)
    across, up = _main_features(tree) if features is None else _positions(features, names)
    numbers = read_X(model, X, reset=False)
    rows = np.arange(0, numbers.shape[0], max(1, -(-numbers.shape[0] // _MAX_POINTS)))
    x, y = (column_values(numbers, feature, rows) for feature in (across, up))
    position = tree.predict(numbers)[rows]
    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(figsize=(6.5, 5), layout="constrained")
    _draw_points(ax, x, y, position, model.cluster_names_)
    ax.set_xlabel(str(names[across]))
    ax.set_ylabel(str(names[up]))
    ax.spines[["top", "right"]].set_visible(False)
    _draw_thresholds(ax, tree, across, up)
    return ax


def _main_features(tree: ThresholdTree) -> tuple[int, int]:
    """The two features whose splits are passed by most rows."""
    inner = ~tree.is_leaf
    n_rows = np.bincount(
        tree.feature[inner], weights=tree.n_node_samples[inner], minlength=tree.n_features
    )
    order = np.argsort(-n_rows, kind="stable")
    return (int(order[0]), int(order[1])) if len(order) > 1 else (0, 0)


def _positions(features: tuple, names: list) -> tuple[int, int]:
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


def _draw_points(ax: Axes, x, y, position, names) -> None:
    size = 24 if len(x) < 500 else 10 if len(x) < 2000 else 5
    for cluster in np.unique(position).tolist():
        here = position == cluster
        ax.scatter(
            x[here],
            y[here],
            s=size,
            color=cluster_color(cluster),
            label=f"cluster {names[cluster]}",
            linewidths=0.3,
            edgecolors="white",
            zorder=2,
        )
    ax.legend(
        frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0), markerscale=1.5
    )


def _draw_thresholds(ax: Axes, tree: ThresholdTree, across: int, up: int) -> None:
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    inner = ~tree.is_leaf
    is_whole = bool(np.isin(tree.feature[inner], (across, up)).all())
    box = {0: (left, right, bottom, top)}
    for node in range(tree.node_count):  # parents come before their children
        x0, x1, y0, y1 = box[node]
        if tree.is_leaf[node]:
            if is_whole:
                color = cluster_color(int(tree.cluster[node]))
                ax.fill([x0, x1, x1, x0], [y0, y0, y1, y1], color=color, alpha=0.12, lw=0, zorder=0)
            continue
        below, above = (x0, x1, y0, y1), (x0, x1, y0, y1)
        at = float(tree.threshold[node])
        if tree.feature[node] == across:
            at = min(max(at, x0), x1)
            ax.plot([at, at], [y0, y1], color="#222222", linewidth=1.2, zorder=3)
            below, above = (x0, at, y0, y1), (at, x1, y0, y1)
        elif tree.feature[node] == up:
            at = min(max(at, y0), y1)
            ax.plot([x0, x1], [at, at], color="#222222", linewidth=1.2, zorder=3)
            below, above = (x0, x1, y0, at), (x0, x1, at, y1)
        box[int(tree.children_left[node])] = below
        box[int(tree.children_right[node])] = above
    if not is_whole:
        words = "the tree also uses other columns"
        ax.set_title(words, loc="left", fontsize=9, color="#6B7278")
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
