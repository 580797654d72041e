"""Cost against the length of explanations, as a curve or as points with names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pellucid._utils.estimators import documented, has_space
from pellucid.explanation.rules import column_names
from pellucid.metrics import weighted_average_depth, weighted_average_explanation_size
from pellucid.plotting.style import cluster_color, new_axes, width_of
from pellucid.tree.trade_off import TradeOff

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

_FONT = 9.0  # size of the names, in points
_FAR = 4.0  # a model whose cost is so many times the median is drawn at the edge, with its cost
_DISTANCES = (6.0, 18.0, 32.0, 48.0, 68.0, 92.0, 120.0)  # of a name from its point, in points
# Directions from a point to its name, the best first.
_DIRECTIONS = np.array([(1, 0), (1, 1), (1, -1), (0, 1), (0, -1), (-1, 0), (-1, 1), (-1, -1)])

_MEASURES = {
    "waes": "conditions in the explanation of the average row",
    "wad": "mean depth of the rows",
    "n_leaves": "leaves of the tree",
}


@documented
def plot_trade_off(
    path: TradeOff,
    *,
    measure: Literal["waes", "wad", "n_leaves"] = "waes",
    reference: str = "reference",
    ax: Axes | None = None,
) -> Axes:
    """Draw the trade-off between cost, size and agreement.

    Each point is labelled with its `depth_penalty` or `faithfulness`, and with its agreement if it
    is below 100 %. A line joins the trees that no other undercuts in cost and size.

    Parameters
    ----------
    path : TradeOff
        As :meth:`pellucid.ExShallow.path` or :meth:`pellucid.ExplainableKMeans.trade_off` gives it.
    {measure}
    {ax}

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pellucid import ExShallow
    >>> from pellucid.plotting import plot_trade_off
    >>> ax = plot_trade_off(ExShallow(5, random_state=0).path(load_wine().data))
    """
    ax = _prepared(ax, measure, reference)
    points = sorted(path, key=lambda p: (getattr(p, measure), p.npc, p.penalty))
    x, y = [getattr(p, measure) for p in points], [p.npc for p in points]
    names = [p.setting + (f" ({p.agreement:.0%})" if p.agreement < 0.995 else "") for p in points]
    edge = _frontier(x, y)
    if len(points) == 1:
        ax.set_title("only one tree: there is no trade-off", loc="left", fontsize=9)
    if any("(" in name for name in names) and len(points) > 1:
        ax.set_title("in brackets: rows in their own cluster", loc="left", fontsize=9)
    style: dict[str, Any] = {"color": cluster_color(0), "clip_on": False}
    ax.plot([x[i] for i in edge], [y[i] for i in edge], "-", linewidth=1.5, **style)
    ax.plot(x, y, "o", markersize=6, **style)
    _write_names(ax, x, y, names, edge, may_be_far=False)
    return ax


@documented
def plot_comparison(
    models: Mapping[str, Any] | Iterable[Any],
    *,
    measure: Literal["waes", "wad", "n_leaves"] = "waes",
    reference: str = "reference",
    ax: Axes | None = None,
) -> Axes:
    """Draw several explanations of one clustering as points: cost against length.

    The best trade-offs, which no other undercuts in both, are large, coloured and joined by a line.
    A triangle at the top is a model of several times the cost, which is written beside it.

    Parameters
    ----------
    models : dict of str to fitted estimator, or iterable of fitted estimators
        Explanations of the same data; without names, those of their classes.
    {measure}
    {ax}

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pellucid import IMM, ExShallow
    >>> from pellucid.plotting import plot_comparison
    >>> X = load_wine().data
    >>> ax = plot_comparison([method(5, random_state=0).fit(X) for method in (IMM, ExShallow)])
    """
    named: Mapping[str, Any] = (
        models if isinstance(models, Mapping) else {type(model).__name__: model for model in models}
    )
    if not named:
        raise ValueError("there is no model to compare; give at least one that is fitted")
    in_space = [has_space(model) for model in named.values()]
    if len(set(in_space)) > 1:
        raise ValueError(
            "some of the models have costs in another space (fit with space=), so that the costs "
            "cannot be compared; fit all of them with the same space"
        )
    ax = _prepared(ax, measure, reference, " in the space of fit" * in_space[0])
    x = [_length(model, measure) for model in named.values()]
    y = [model.inertia_ / model.reference_inertia_ for model in named.values()]
    edge = _frontier(x, y)
    undominated = {(x[i], y[i]) for i in edge}
    is_best = [point in undominated for point in zip(x, y)]  # also equal points
    # A very costly model would press all others together.
    far = [cost > _FAR * np.median(y) for cost in y]
    near = [cost for cost, is_far in zip(y, far) if not is_far]
    top = max(near) + 0.3 * (np.ptp(near) or 0.1)
    texts = zip(named, y, far)
    names = [f"{name} (cost {cost:,.3g})" if is_far else name for name, cost, is_far in texts]
    y = [top if is_far else cost for cost, is_far in zip(y, far)]
    line: dict[str, Any] = {"color": "#A3A9B0", "linewidth": 1.2, "zorder": 1}
    ax.plot([x[i] for i in edge], [y[i] for i in edge], "-", **line)
    best: dict[str, Any] = {"markersize": 8, "color": cluster_color(0), "zorder": 3}
    other: dict[str, Any] = {"markersize": 6, "color": "#777777", "zorder": 2}
    for *place, is_undominated, is_far in zip(x, y, is_best, far):
        style = best if is_undominated else other
        ax.plot(*place, "^" if is_far else "o", clip_on=False, **style)
    _write_names(ax, x, y, names, edge, may_be_far=True)
    if not all(is_best):
        from matplotlib.lines import Line2D

        handles = [Line2D([], [], marker="o", linestyle="none", **style) for style in (best, other)]
        words = ["best trade-offs", "others"]
        # Outside the axes, where no point can be.
        above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 2}
        ax.legend(handles, words, frameon=False, fontsize=9, handletextpad=0.2, **above)
    return ax


def _length(model: Any, measure: str) -> float:
    if measure == "n_leaves":
        return model.tree_.n_leaves
    if measure == "wad":
        return weighted_average_depth(model.tree_)
    return weighted_average_explanation_size(model.tree_, feature_names=column_names(model))


def _frontier(x: list[float], y: list[float]) -> list[int]:
    """Points that no other undercuts in both, from left to right."""
    order = sorted(range(len(x)), key=lambda i: (x[i], y[i]))
    edge: list[int] = []
    for i in order:
        if not edge or y[i] < y[edge[-1]]:
            edge.append(i)
    return edge


def _prepared(ax: Axes | None, measure: str, reference: str, where: str = "") -> Axes:
    if measure not in _MEASURES:
        raise ValueError(f"measure is {measure!r}; use one of {', '.join(map(repr, _MEASURES))}")
    ax = ax or new_axes(7, 4.5)
    ax.set_xlabel(_MEASURES[measure])
    ax.set_ylabel(f"cost of the clusters{where} ({reference} = 1)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="#E6E6E6", linewidth=0.8)
    ax.set_axisbelow(True)
    if measure == "n_leaves":
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
    return ax


def _write_names(
    ax: Axes, x: list[float], y: list[float], names: list[str], curve: list[int], may_be_far: bool
) -> None:
    """Write names beside their points, without overlaps; otherwise farther away, or not at all."""
    from matplotlib.path import Path
    from matplotlib.transforms import Bbox

    ax.margins(x=0.18, y=0.18)
    ax.autoscale_view()
    figure = ax.figure.figure
    figure.draw_without_rendering()  # the size of the axes is known only after the layout
    points = ax.transData.transform(np.column_stack([x, y])) * 72 / figure.dpi
    taken: list[Bbox] = []
    lines = [Path(points[[a, b]]) for a, b in zip(curve, curve[1:])]
    inside = Bbox(ax.transAxes.transform([(0, 0), (1, 1)]) * 72 / figure.dpi)

    def free_place(i: int, size: np.ndarray, distance: float) -> Bbox | None:
        """A free box at a distance from point `i`; None if there is none."""
        is_far = distance > _DISTANCES[0]
        others = points if is_far else np.delete(points, i, axis=0)
        for direction in _DIRECTIONS:
            middle = points[i] + direction * (distance + size / 2)
            box = Bbox([middle - size / 2, middle + size / 2])
            leader = Path([points[i], middle])
            if not (
                inside.count_contains(box.get_points()) < 2
                or any(box.overlaps(other) for other in taken)
                or box.padded(4.0).count_contains(others)
                or any(line.intersects_bbox(box) for line in lines)
                or (is_far and any(leader.intersects_bbox(other) for other in taken))
            ):
                return box
        return None

    for i in np.lexsort((x, y)):
        # The width is an estimate.
        size = np.array([1.08 * _FONT * width_of(names[i]) + 2, 1.25 * _FONT])
        for distance in _DISTANCES if may_be_far else _DISTANCES[:1]:
            box = free_place(i, size, distance)
            if box is not None:
                break
        if box is None and not may_be_far:
            continue
        corner = points[i] + [7.0, -size[1] / 2]
        box = box or Bbox([corner, corner + size])
        taken.append(box)
        is_far = distance > _DISTANCES[0]
        if is_far:
            lines.append(Path([points[i], box.p0 + size / 2]))
        place = tuple(np.add(box.p0, (0, size[1] / 2)) - points[i])
        style: dict[str, Any] = {"va": "center", "fontsize": _FONT, "color": "#222222"}
        if is_far:
            style["arrowprops"] = {"arrowstyle": "-", "color": "#BBBBBB", "lw": 0.6}
        ax.annotate(names[i], (x[i], y[i]), xytext=place, textcoords="offset points", **style)
