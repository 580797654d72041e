"""Profile of clusters: standardized differences of their means from the other rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid._utils.estimators import documented
from pellucid.explanation.rules import names_of_columns
from pellucid.plotting.style import cluster_color, new_axes
from pellucid.tables.encoding import ColumnNames
from pellucid.tables.validation import read_X

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LARGEST = 3.0  # differences above this many standard deviations have the same color


def standardized_differences(X: Any, labels: np.ndarray, clusters: Sequence[Any]) -> np.ndarray:
    """Mean in a cluster less mean of all other rows, in standard deviations; NaN without either."""
    X = np.asarray(X, dtype=np.float64)
    spread = X.std(axis=0)
    safe = np.where(spread > 0, spread, 1.0)
    found = np.full((len(clusters), X.shape[1]), np.nan)
    for i, cluster in enumerate(clusters):
        here = labels == cluster
        if 0 < here.sum() < len(here):
            found[i] = (X[here].mean(axis=0) - X[~here].mean(axis=0)) / safe
    return found


@documented
def plot_profile(
    model: Any,
    X: Any,
    *,
    cluster: Any = None,
    n_features: int = 12,
    feature_names: ColumnNames | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how each cluster, or one of them, differs from all other rows.

    The length of a bar, or the color of a cell, is the difference of the means in standard
    deviations. The features that differ most come first.

    Parameters
    ----------
    {model}
    X : array-like or data frame of shape (n_samples, n_features)
        Rows to describe, such as those it was fitted on.
    cluster : label, optional
        One cluster, drawn as bars; when left out, all of them as a table of colors.
    n_features : int, default=12
        Number of features to show.
    {feature_names}
    {ax}

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pellucid import IMM
    >>> from pellucid.plotting import plot_profile
    >>> X = load_wine(as_frame=True).data
    >>> ax = plot_profile(IMM(3, random_state=0).fit(X), X)
    """
    labels = model.predict(X)
    numbers = read_X(model, X, reset=False)
    numbers = numbers.toarray() if hasattr(numbers, "toarray") else numbers
    names = names_of_columns(model, numbers.shape[1], feature_names)
    clusters = model.cluster_names_.tolist()
    if cluster is not None and cluster not in clusters:
        raise ValueError(f"there is no cluster {cluster!r}; the clusters are {clusters}")
    drawn = slice(None) if cluster is None else [clusters.index(cluster)]
    differences = standardized_differences(numbers, labels, clusters)[drawn]
    largest = np.nan_to_num(np.abs(differences)).max(axis=0)
    order = np.argsort(-largest, kind="stable")[:n_features]
    shown = [str(names[j]) for j in order]
    if cluster is None:
        ax = _draw_table(ax, differences[:, order].T, clusters, shown)
    else:
        color = cluster_color(clusters.index(cluster))
        ax = _draw_bars(ax, differences[0, order], f"cluster {cluster}", color, shown)
    if len(order) < len(names):
        words = f"the {len(order)} of {len(names)} columns that differ most"
        ax.set_title(words, loc="right", fontsize=9, color="#6B7278")
    return ax


def _draw_bars(
    ax: Axes | None, values: np.ndarray, title: str, color: str, names: list[str]
) -> Axes:
    ax = ax or new_axes(7, 0.9 + 0.32 * len(names))
    places = np.arange(len(names))
    ax.barh(places, values, color=color, height=0.7)
    ax.axvline(0, color="#222222", linewidth=0.8)
    ax.set_yticks(places, names)
    ax.invert_yaxis()
    ax.set_xlabel("difference from the mean of all other rows, in standard deviations")
    ax.set_title(title, loc="left", fontsize=11, fontweight="bold")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(left=False)
    return ax


def _draw_table(ax: Axes | None, shown: np.ndarray, clusters: list[Any], names: list[str]) -> Axes:
    from matplotlib.colors import LinearSegmentedColormap

    # Orange for lower, blue for higher, as in the report.
    colors = LinearSegmentedColormap.from_list("differences", ["#B25E00", "#F7F7F7", "#00598C"])
    longest = max(map(len, names))
    ax = ax or new_axes(1.6 + 0.09 * longest + 0.75 * len(clusters), 1.3 + 0.34 * len(names))
    image = ax.imshow(shown, cmap=colors, vmin=-_LARGEST, vmax=_LARGEST, aspect="auto")
    for (i, j), value in np.ndenumerate(shown):
        if not np.isnan(value):
            color = "white" if abs(value) > 0.7 * _LARGEST else "#222222"
            text = "0.0" if abs(value) < 0.05 else f"{value:+.1f}"
            ax.text(j, i, text, ha="center", va="center", fontsize=8, color=color)
    ax.set_xticks(range(len(clusters)), [f"cluster {name}" for name in clusters])
    if len(clusters) > 6:
        ax.tick_params(axis="x", rotation=45)
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, extend="both")
    bar.set_label("standard deviations\nabove the other rows", fontsize=9)
    bar.ax.tick_params(labelsize=8)
    bar.outline.set_visible(False)
    return ax
