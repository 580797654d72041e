"""Plots of XClusters: the search, and the series of each cluster beside its rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid._utils.estimators import documented
from pellucid.plotting.style import LINE_HEIGHT, cluster_color, new_axes, wrap, write_dates
from pellucid.xclusters.series import read_fitted_series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _GREY, _LINE, _BEST = "#222222", "#6B7278", "#8A9199", "#D55E00"
_LIGHT, _DARK = 0.95, 0.74
_BLOCK = ("k1", "alpha1", "k2", "alpha2", "lower", "fate")
_MOST_NUMBERS = 70  # with more points, their numbers are not drawn
_WIDTH, _ROW = 11.0, 1.75  # inches: of the figure, and of a cluster in height
_FONT = 9.0
# Of the width of the figure: where the axes end, and how far from there the rules start.
_LEFT, _SHARE_OF_LINES, _GAP = 0.075, 0.46, 0.035
_LONGEST_AXIS = 3.0  # it contains all values if they make it at most this many times longer


@documented
def plot_search(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the search of a fitted :class:`~pellucid.XClusters`.

    Each point is an evaluated pair (k, α), colored by its objective and numbered in the order of
    evaluation. A grey block was pruned: its lower bound shows that it cannot improve the best pair
    by more than the tolerance. Darker blocks have a higher bound. White blocks were searched to the
    finest resolution. Points inside a block come from the final refinement (`refine`). The star is
    the best pair.

    Parameters
    ----------
    model : fitted XClusters
        A fitted :class:`~pellucid.XClusters`.
    {ax}

    Examples
    --------
    >>> from pellucid import XClusters
    >>> from pellucid.datasets import make_card_trends
    >>> from pellucid.plotting import plot_search
    >>> card = make_card_trends(60, random_state=0)
    >>> model = XClusters(k_range=(3, 5), accuracy_distance="euclidean")
    >>> ax = plot_search(model.fit(card.series, explanation=card.explanation))
    """
    check_is_fitted(model, "evaluations_")
    tried = {name: np.asarray(model.evaluations_[name]) for name in ("k", "alpha", "objective")}
    ax = ax or new_axes(8.2, 5.0)
    has_pruned = _draw_blocks(ax, model)
    style: dict[str, Any] = {"s": 46, "edgecolors": "white", "linewidths": 0.7, "clip_on": False}
    style |= {"c": tried["objective"], "cmap": "viridis_r", "zorder": 3}
    points = ax.scatter(tried["alpha"], tried["k"], **style)
    bar = ax.figure.colorbar(points, ax=ax, pad=0.02, aspect=30)
    bar.set_label("objective D + λ·N (less is better)")
    bar.outline.set_visible(False)
    if len(tried["k"]) <= _MOST_NUMBERS:
        style = {"xytext": (0, 5.5), "textcoords": "offset points", "ha": "center", "va": "bottom"}
        style |= {"fontsize": 7, "color": _INK, "zorder": 4}
        for number, place in enumerate(zip(tried["alpha"], tried["k"]), start=1):
            ax.annotate(str(number), place, gid=f"evaluation-{number}", **style)
    _finish_search(ax, model, tried["k"], has_pruned)
    return ax


def _draw_blocks(ax: Axes, model: Any) -> bool:
    """Draw the blocks that were not split. Returns whether any was pruned."""
    from matplotlib.patches import Rectangle

    bounds = getattr(model, "bounds_", None)
    if bounds is None or not len(bounds["fate"]):
        return False
    last = [str(fate) in ("pruned", "finished") for fate in bounds["fate"]]
    columns = [np.asarray(bounds[name])[last] for name in _BLOCK]
    excess = np.clip(columns[-2] - model.objective_, 0, None)
    depth = excess / max(excess.max(initial=0.0), np.finfo(float).tiny)
    for k1, alpha1, k2, alpha2, _, fate, dark in zip(*columns, depth):
        is_pruned = str(fate) == "pruned"
        style: dict[str, Any] = {"facecolor": _grey(dark) if is_pruned else "white"}
        style |= {"edgecolor": _LINE, "linewidth": 0.7, "zorder": 1 if is_pruned else 1.5}
        corner, size = (alpha1, k1), (alpha2 - alpha1, k2 - k1)
        ax.add_patch(Rectangle(corner, *size, gid=str(fate), **style))
    return "pruned" in columns[-1]


def _grey(depth: float) -> str:
    """A grey, darker for a higher lower bound, in matplotlib's notation."""
    return f"{_LIGHT + (_DARK - _LIGHT) * depth:.3f}"


def _finish_search(ax: Axes, model: Any, ks: np.ndarray, has_pruned: bool) -> None:
    """Draw the best pair, and the axes and the legend."""
    from matplotlib.patches import Patch
    from matplotlib.ticker import MaxNLocator

    ax.set_xlim(0, 1)
    ax.set_ylim(ks.min() - 0.45, ks.max() + 0.45)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("α: 0 clusters by the accuracy features, 1 by the explanation features")
    ax.set_ylabel("k, number of clusters")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    what = f"best of {len(ks)} pairs: k = {model.best_k_}, α = {model.best_alpha_:.3g}, "
    what += f"objective {model.objective_:.3f}"
    star: dict[str, Any] = {"marker": "*", "color": _BEST, "markeredgecolor": "white"}
    star |= {"markersize": 19, "linestyle": "none", "zorder": 5, "clip_on": False, "gid": "best"}
    keys: list[Any] = ax.plot(model.best_alpha_, model.best_k_, label=what, **star)
    if has_pruned:
        label = "pruned (darker: higher lower bound)"
        keys.append(Patch(facecolor=_grey(0.4), edgecolor=_LINE, label=label))
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "borderaxespad": 0.2}
    ax.legend(handles=keys, frameon=False, fontsize=9, markerscale=0.7, **place)


def plot_trends(
    model: Any, series: Any, *, times: Any = None, max_lines: int = 150, label: str = ""
) -> Figure:
    """Draw the series and the rules of the clusters of a fitted :class:`~pellucid.XClusters`.

    On the left the series of a cluster, with its medoid in bold; on the right the rules of the
    tree that lead to the cluster, the one for most rows first, as many as there is width for.

    Parameters
    ----------
    model : fitted XClusters
        A fitted :class:`~pellucid.XClusters`.
    series : SeriesTable, array of shape (n_samples, n_times), or list of 1-D arrays
        The series that the model was fitted on, row by row.
    times : array of shape (n_times,), or list of 1-D arrays, optional
        When the values were measured, as numbers or dates; those of a `SeriesTable`, or 0, 1,
        ..., when left out.
    max_lines : int, default=150
        Series that are drawn for a cluster at the most; of more, every so-many-th.
    label : str, default=""
        Name of the values, such as "people".

    Returns
    -------
    matplotlib Figure
        The figure, with an axes per cluster.

    Examples
    --------
    >>> from pellucid import XClusters
    >>> from pellucid.datasets import make_card_trends
    >>> from pellucid.plotting import plot_trends
    >>> card = make_card_trends(60, random_state=0)
    >>> model = XClusters(k_range=(3, 5), accuracy_distance="euclidean")
    >>> model = model.fit(card.series, explanation=card.explanation)
    >>> figure = plot_trends(model, card.series, times=card.times, label="spending")
    """
    import matplotlib.pyplot as plt
    from matplotlib.patheffects import Normal, Stroke

    check_is_fitted(model, "labels_")
    lines, moments = _read_lines(model, series, times)
    rules = model.explain()
    n_clusters = len(model.medoid_indices_)
    height = _ROW * n_clusters + 0.5
    shared: dict[str, Any] = {"sharex": True, "sharey": True, "squeeze": False}
    figure, axes = plt.subplots(n_clusters, 1, figsize=(_WIDTH, height), **shared)
    limits, n_beyond = _limits(lines, model.medoid_indices_)
    note = _note(model, rules, n_beyond)
    below = max(0.45, 0.1 + (note.count("\n") + 1) * _FONT * LINE_HEIGHT / 72)
    ends = {"top": 1 - 0.25 / height, "bottom": below / height}
    figure.subplots_adjust(left=_LEFT, right=_SHARE_OF_LINES, hspace=0.16, **ends)
    for cluster, ax in enumerate(axes.flat):
        members = np.flatnonzero(model.labels_ == cluster)
        drawn = members[:: max(1, -(-len(members) // max_lines))]
        style: dict[str, Any] = {"color": cluster_color(cluster), "linewidth": 0.8, "zorder": 2}
        style["alpha"] = min(0.7, max(0.12, 12 / len(drawn)))
        for i in drawn:
            ax.plot(moments[i], lines[i], **style)
        medoid = int(model.medoid_indices_[cluster])
        outline = [Stroke(linewidth=4.4, foreground="white"), Normal()]
        bold: dict[str, Any] = {"color": _INK, "linewidth": 2.6, "zorder": 4, "gid": "medoid"}
        ax.plot(moments[medoid], lines[medoid], path_effects=outline, **bold)
        _write_rules(ax, rules[cluster], len(members), len(model.labels_), cluster)
    axes.flat[0].set_ylim(*limits)
    place: dict[str, Any] = {"x": _SHARE_OF_LINES + _GAP, "y": 0.06 / height, "va": "bottom"}
    figure.text(s=note, fontsize=_FONT, color=_GREY, gid="note", **place)
    _finish_trends(axes.flat[-1], moments, label)
    return figure


def _note(model: Any, rules: Any, n_beyond: int) -> str:
    """A note on the lines and the rules."""
    parts = ["In bold: the series in the middle of its cluster (medoid)."]
    if any(len(rule.alternatives) > 1 for rule in rules):
        parts.append("In brackets: share of the rows that the rules put into the cluster.")
    if model.accuracy_ < 1:
        measure = {"f1": "an F1", "accuracy": "an accuracy"}[model.tree_measure]
        parts.append(f"The rules reproduce the clusters with {measure} of {model.accuracy_:.2f}.")
    if n_beyond:
        parts.append(f"{n_beyond:,} series reach beyond the vertical axis.")
    return "\n".join(parts)


def _read_lines(model: Any, series: Any, times: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The series, and when each value was measured."""
    lines, times = read_fitted_series(model, series, times)
    if times is None:
        return lines, [np.arange(len(one)) for one in lines]
    times = [np.asarray(times)] * len(lines) if np.ndim(times[0]) == 0 else list(times)
    for row, (moment, one) in enumerate(zip(times, lines)):
        if len(moment) != len(one):
            raise ValueError(f"{len(moment)} times, but series {row} has {len(one)} values")
    return lines, times


def _write_rules(ax: Axes, rule: Any, n_members: int, n_rows: int, cluster: int) -> None:
    """Write the title of the cluster and the rules that fit beside the axes."""
    from matplotlib.patches import Rectangle

    figure = ax.figure.figure
    box = ax.get_position()
    width = (1 - _SHARE_OF_LINES - 0.05) * figure.get_figwidth() * 72 / _FONT
    n_lines = int(box.height * figure.get_figheight() * 72 / _FONT / LINE_HEIGHT)
    top, step = box.y1, _FONT * LINE_HEIGHT / 72 / figure.get_figheight()
    left = _SHARE_OF_LINES + _GAP
    place: dict[str, Any] = {"transform": figure.transFigure, "figure": figure}
    corner, color = (left - 0.015, box.y0), cluster_color(cluster)
    figure.patches.append(Rectangle(corner, 0.005, box.height, facecolor=color, **place))
    title = f"cluster {rule.cluster}: {n_members:,} of {n_rows:,} rows"
    if rule.n_samples != n_members:
        title += f"; its rules select {rule.n_samples:,}"
    style: dict[str, Any] = {"fontsize": _FONT, "va": "top", "parse_math": False}
    figure.text(left, top, title, weight="bold", color=_INK, gid=f"title-{cluster}", **style)
    for i, (line, color) in enumerate(_rule_lines(rule, width, n_lines - 1), start=1):
        figure.text(left, top - i * step, line, color=color, gid=f"rule-{cluster}", **style)


def _rule_lines(rule: Any, width: float, n_lines: int) -> list[tuple[str, str]]:
    """Lines of text with their colors; the last states how many rules do not fit."""
    ways = sorted(rule.alternatives, key=lambda way: -way.n_samples)
    total = sum(way.n_samples for way in ways)
    found: list[tuple[str, str]] = []
    n_shown = 0
    for position, way in enumerate(ways):
        share = f"({_percent(way.n_samples, total)})" if len(ways) > 1 else ""
        wrapped = _wrap_rule(way.text, width - 2, share)
        is_last = position == len(ways) - 1
        if len(found) + len(wrapped) > n_lines - (not is_last):
            if not position:
                # A single rule that does not fit is truncated.
                return [*((line, _INK) for line in wrapped[: n_lines - 1]), ("…", _GREY)]
            more = len(ways) - position
            word, rest = "rule" if more == 1 else "rules", _percent(total - n_shown, total)
            return [*found, (f"or {more:,} more {word}, for {rest} of the cluster", _GREY)]
        starts = ("or " if position else "", *["    "] * (len(wrapped) - 1))
        found += [(start + line, _INK) for start, line in zip(starts, wrapped)]
        n_shown += way.n_samples
    return found


def _wrap_rule(text: str, width: float, share: str) -> list[str]:
    """A rule in lines, no comparison of which is parted from its number."""
    if "·" in text:
        return wrap(text, width, tail=share)
    # A dot is as wide as a space and no place to break.
    joined = re.sub(r" ([≤<>]) ", r"·\1·", text)
    return [line.replace("·", " ") for line in wrap(joined, width, tail=share)]


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}%" if whole else "0%"


def _limits(lines: list[np.ndarray], medoids: np.ndarray) -> tuple[tuple[float, float], int]:
    """Limits of the vertical axis, which has all medoids, and the number of series beyond them."""
    values = np.concatenate(lines)
    values = values[np.isfinite(values)]
    low, high = np.percentile(values, [0.5, 99.5])
    middle = np.concatenate([lines[i] for i in medoids])
    low, high = min(low, np.nanmin(middle)), max(high, np.nanmax(middle))
    if np.ptp(values) <= _LONGEST_AXIS * (high - low):
        low, high = values.min(), values.max()
    margin = 0.05 * (high - low) or 1.0
    low, high = low - margin, high + margin
    n_beyond = sum(bool(((one < low) | (one > high)).any()) for one in lines)
    return (float(low), float(high)), n_beyond


def _finish_trends(ax: Axes, moments: list[np.ndarray], label: str) -> None:
    figure = ax.figure.figure
    for one in figure.axes:
        one.spines[["top", "right"]].set_visible(False)
        one.tick_params(labelsize=8, color=_GREY)
        one.margins(x=0)
    if np.asarray(moments[0]).dtype.kind == "M":
        write_dates(ax.xaxis, minticks=3, maxticks=7)
    elif all(np.asarray(moment).dtype.kind in "iu" for moment in moments):
        # Years, and numbers of steps: no fractions and no separators.
        from matplotlib.ticker import FormatStrFormatter, MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator(7, integer=True, min_n_ticks=1))
        ax.xaxis.set_major_formatter(FormatStrFormatter("%d"))
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    if label:
        figure.supylabel(label, x=0.012, fontsize=_FONT, color=_INK)
    # Large numbers need more space beside the label.
    figure.draw_without_rendering()
    width = max(text.get_window_extent().width for text in ax.get_yticklabels()) / figure.dpi
    figure.subplots_adjust(left=max(_LEFT, (width + 0.4) / _WIDTH))
