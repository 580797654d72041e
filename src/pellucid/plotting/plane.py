"""Plot of the search of XClusters: evaluated pairs (k, α) and pruned blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_INK, _LINE, _BEST = "#222222", "#8A9199", "#D55E00"
_LIGHT, _DARK = 0.95, 0.74
_BLOCK = ("k1", "alpha1", "k2", "alpha2", "lower", "fate")
_MOST_NUMBERS = 70
"""With more points, their numbers are not drawn."""


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
    ax : matplotlib Axes, optional
        Where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes
        The axes of the plot.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from pellucid import XClusters
    >>> from pellucid.datasets import make_card_trends
    >>> from pellucid.plotting import plot_search
    >>> card = make_card_trends(60, random_state=0)
    >>> model = XClusters(k_range=(3, 5), accuracy_distance="euclidean")
    >>> ax = plot_search(model.fit(card.series, explanation=card.explanation))
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model, "evaluations_")
    tried = {name: np.asarray(model.evaluations_[name]) for name in ("k", "alpha", "objective")}
    if ax is None:
        ax = _new_axes()
    has_pruned = _draw_blocks(ax, model)
    points = ax.scatter(
        tried["alpha"],
        tried["k"],
        c=tried["objective"],
        cmap="viridis_r",
        s=46,
        edgecolors="white",
        linewidths=0.7,
        zorder=3,
        clip_on=False,
    )
    bar = ax.figure.colorbar(points, ax=ax, pad=0.02, aspect=30)
    bar.set_label("objective D + λ·N (less is better)")
    bar.outline.set_visible(False)
    if len(tried["k"]) <= _MOST_NUMBERS:
        _draw_numbers(ax, tried)
    _draw_best(ax, model)
    _finish(ax, model, tried["k"], has_pruned)
    return ax


def _new_axes() -> Axes:
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(8.2, 5.0), layout="constrained")[1]


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
        shade = _mix(_LIGHT, _DARK, dark) if is_pruned else "white"
        ax.add_patch(
            Rectangle(
                (alpha1, k1),
                alpha2 - alpha1,
                k2 - k1,
                facecolor=shade,
                edgecolor=_LINE,
                linewidth=0.7,
                zorder=1 if is_pruned else 1.5,
                gid="pruned" if is_pruned else "finished",
            )
        )
    return "pruned" in columns[-1]


def _mix(light: float, dark: float, share: float) -> str:
    """A grey between two greys, in matplotlib's notation."""
    return f"{light + (dark - light) * share:.3f}"


def _draw_numbers(ax: Axes, tried: dict[str, np.ndarray]) -> None:
    for number, (k, alpha) in enumerate(zip(tried["k"], tried["alpha"]), start=1):
        ax.annotate(
            str(number),
            (alpha, k),
            xytext=(0, 5.5),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=7,
            color=_INK,
            zorder=4,
            gid=f"evaluation-{number}",
        )


def _draw_best(ax: Axes, model: Any) -> None:
    ax.plot(
        model.best_alpha_,
        model.best_k_,
        marker="*",
        markersize=19,
        color=_BEST,
        markeredgecolor="white",
        linestyle="none",
        zorder=5,
        clip_on=False,
        gid="best",
    )


def _finish(ax: Axes, model: Any, ks: np.ndarray, has_pruned: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.ticker import MaxNLocator

    ax.set_xlim(0, 1)
    margin = 0.45
    ax.set_ylim(ks.min() - margin, ks.max() + margin)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("α: 0 clusters by the accuracy features, 1 by the explanation features")
    ax.set_ylabel("k, number of clusters")
    for side in ax.spines.values():
        side.set_visible(False)
    ax.tick_params(length=0)
    star: dict[str, Any] = {"marker": "*", "markersize": 13, "color": _BEST, "linestyle": "none"}
    what = (
        f"best of {len(ks)} pairs: k = {model.best_k_}, α = {model.best_alpha_:.3g}, "
        f"objective {model.objective_:.3f}"
    )
    keys: list[Artist] = [Line2D([], [], label=what, **star)]
    if has_pruned:
        shade = _mix(_LIGHT, _DARK, 0.4)
        label = "pruned (darker: higher lower bound)"
        keys.append(Patch(facecolor=shade, edgecolor=_LINE, label=label))
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1.0)}
    ax.legend(handles=keys, frameon=False, fontsize=9, borderaxespad=0.2, **place)
