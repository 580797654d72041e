"""Cost against the length of explanations, as a curve or as points with names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.explanation.rules import column_names
from pellucid.metrics import weighted_average_depth, weighted_average_explanation_size
from pellucid.plotting.palette import cluster_color
from pellucid.tree.trade_off import TradeOff

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MEASURES = {
    "waes": "conditions in the explanation of the average row",
    "wad": "mean depth of the rows",
    "n_leaves": "leaves of the tree",
}


def plot_trade_off(
    path: TradeOff, *, measure: str = "waes", reference: str = "reference", ax: Axes | None = None
) -> Axes:
    """Draw the trade-off between cost and size. Each point is labelled with its `depth_penalty`.

    Parameters
    ----------
    path : TradeOff
        As :meth:`pellucid.ExShallow.path` gives it.
    measure : {"waes", "wad", "n_leaves"}, default="waes"
        The length that is drawn along the x axis.
    reference : str, default="reference"
        Name of the explained clustering, such as "k-means".
    ax : matplotlib Axes, optional
        Where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_wine
    >>> from pellucid import ExShallow
    >>> from pellucid.plotting import plot_trade_off
    >>> ax = plot_trade_off(ExShallow(5, random_state=0).path(load_wine().data))
    """
    ax = _prepared(ax, measure, reference)
    points = sorted((getattr(p, measure), p.npc, p.penalty) for p in path)
    x, y = [p[0] for p in points], [p[1] for p in points]
    ax.plot(x, y, "-o", color=cluster_color(0), markersize=6, linewidth=1.5, clip_on=False)
    _write_names(ax, x, y, [f"depth penalty {p[2]:.3g}" for p in points], all_of_them=False)
    return ax


def plot_comparison(
    models: Mapping[str, Any] | Iterable[Any],
    *,
    measure: str = "waes",
    reference: str = "reference",
    ax: Axes | None = None,
) -> Axes:
    """Draw several explanations of one clustering as points: cost against length.

    Those that no other undercuts in both are large, coloured and joined by a line.

    Parameters
    ----------
    models : dict of str to fitted estimator, or iterable of fitted estimators
        Explanations of the same data; without names, those of their classes.
    measure : {"waes", "wad", "n_leaves"}, default="waes"
        The length that is drawn along the x axis.
    reference : str, default="reference"
        Name of the explained clustering, such as "k-means".
    ax : matplotlib Axes, optional
        Where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_wine
    >>> from pellucid import IMM, ExShallow
    >>> from pellucid.plotting import plot_comparison
    >>> X = load_wine().data
    >>> ax = plot_comparison([method(5, random_state=0).fit(X) for method in (IMM, ExShallow)])
    """
    if not isinstance(models, Mapping):
        models = {type(model).__name__: model for model in models}
    if not models:
        raise ValueError("there is no model to compare; give at least one that is fitted")
    ax = _prepared(ax, measure, reference)
    x = [_length(model, measure) for model in models.values()]
    y = [model.inertia_ / model.reference_inertia_ for model in models.values()]
    edge = _frontier(x, y)
    ax.plot(
        [x[i] for i in edge], [y[i] for i in edge], "-", color="#A3A9B0", linewidth=1.2, zorder=1
    )
    for position in range(len(x)):
        best = position in edge
        ax.plot(
            x[position],
            y[position],
            "o",
            markersize=8 if best else 6,
            color=cluster_color(0) if best else "#777777",
            clip_on=False,
            zorder=3 if best else 2,
        )
    _write_names(ax, x, y, list(models))
    if len(edge) < len(x):
        # Outside the axes, where no point can be.
        handles = [_dot(8, cluster_color(0)), _dot(6, "#777777")]
        words = ["not dominated in cost and size", "dominated"]
        place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 2}
        ax.legend(handles, words, frameon=False, fontsize=9, handletextpad=0.2, **place)
    return ax


def _dot(size: float, color: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], marker="o", linestyle="none", markersize=size, color=color)


def _length(model: Any, measure: str) -> float:
    tree = model.tree_
    if measure == "n_leaves":
        return tree.n_leaves
    if measure == "wad":
        return weighted_average_depth(tree)
    return weighted_average_explanation_size(tree, feature_names=column_names(model))


def _frontier(x: list[float], y: list[float]) -> list[int]:
    """Points that no other undercuts in both, from left to right."""
    order = sorted(range(len(x)), key=lambda i: (x[i], y[i]))
    edge: list[int] = []
    for i in order:
        if not edge or y[i] < y[edge[-1]]:
            edge.append(i)
    return edge


def _prepared(ax: Axes | None, measure: str, reference: str) -> Axes:
    if measure not in _MEASURES:
        raise ValueError(f"measure is {measure!r}; use one of {', '.join(map(repr, _MEASURES))}")
    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
    ax.set_xlabel(_MEASURES[measure])
    ax.set_ylabel(f"cost of the clusters ({reference} = 1)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="#E6E6E6", linewidth=0.8)
    ax.set_axisbelow(True)
    return ax


def _write_names(ax: Axes, x, y, names: list[str], *, all_of_them: bool = True) -> None:
    """Write names beside their points, and leave out those that would overlap."""
    ax.margins(x=0.18, y=0.15)
    ax.autoscale_view()
    spread = np.array([np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())])
    places = np.column_stack([x, y]) / spread
    taken: list[np.ndarray] = []
    height = 0.045
    # Names of a curve stay clear of it.
    rise = 0.01 if all_of_them else 0.03

    def is_free(spot: np.ndarray, name: str) -> bool:
        near = [abs(spot - other) for other in taken]
        if any(gap[0] < 0.16 and gap[1] < 0.9 * height for gap in near):
            return False
        beyond = places - spot
        covered = (beyond[:, 0] > 0) & (beyond[:, 0] < 0.011 * len(name))
        return not (all_of_them and (covered & (abs(beyond[:, 1]) < 0.5 * height)).any())

    for i in np.lexsort((x, y)):
        for step in (0, 1, -1, 2, -2, 3, -3, 4) if all_of_them else (0,):
            spot = places[i] + [0.015, rise + step * height]
            if is_free(spot, names[i]):
                break
        else:
            if not all_of_them:
                continue
        taken.append(spot)
        ax.annotate(
            names[i],
            (x[i], y[i]),
            xytext=spot * spread,
            textcoords="data",
            va="center",
            fontsize=9,
            color="#222222",
            arrowprops=None if step == 0 else {"arrowstyle": "-", "color": "#BBBBBB", "lw": 0.6},
        )
