"""Regions of a level as shapes on one or two axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.plotting.style import cluster_color
from pellucid.regions.shapes import Regions, Window

INK, PASSED_ON, OTHER, DELETED = "#222222", "#C4C8CC", "#8A9096", "#D55E00"
_GRID = 240  # grid points per axis at which regions are evaluated
_FAINT, _STRONG = 0.10, 0.22


def window_of(P: np.ndarray) -> list[tuple[float, float]]:
    """The limits of the axes: all rows and a margin."""
    if not len(P):
        return [(0.0, 1.0)] * P.shape[1]
    low, high = P.min(axis=0), P.max(axis=0)
    margin = np.where(high > low, 0.04 * (high - low), 0.5)
    return list(zip((low - margin).tolist(), (high + margin).tolist()))


def draw_scores(ax: Any, regions: Any, window: Window) -> None:
    """Fill the axes with the scores of nonparametric regions, with a line at their threshold."""
    axes, P = _grid(window, _GRID // 2)
    if len(window) == 1:
        axes, P = [axes[0], np.array([0.0, 1.0])], np.vstack([P, P])
    score = regions.score(P).reshape(len(axes[1]), len(axes[0]))
    style: dict[str, Any] = {"cmap": "coolwarm", "shading": "nearest"}
    shown = ax.pcolormesh(*axes, score, vmin=0, vmax=1, zorder=0, **style)
    ax.figure.colorbar(shown, ax=ax, label="share of correct neighbors")
    if score.min() < regions.threshold <= score.max():
        ax.contour(*axes, score, levels=[regions.threshold], colors=INK, linewidths=1)


def _grid(window: Window, n: int) -> tuple[list[np.ndarray], np.ndarray]:
    """The points of each axis, and all points of the grid, the first axis varying fastest."""
    axes = [np.linspace(low, high, n) for low, high in window]
    return axes, np.column_stack([values.ravel() for values in np.meshgrid(*axes)])


def shade_answers(
    ax: Any, classifier: Any, regions: Regions, window: Window, strong: int | None
) -> None:
    """Fill the regions with the color of the predicted class; all but `strong` are faint."""
    from matplotlib.colors import to_rgba

    P = _grid(window, _GRID)[1]
    region = np.asarray(regions.which(P))
    inside = region >= 0
    image = np.zeros((len(P), 4))
    if inside.any():
        answer = np.asarray(classifier.predict(P[inside]))
        for position in np.unique(answer):
            rows = np.flatnonzero(inside)[answer == position]
            image[rows, :3] = to_rgba(cluster_color(int(position)))[:3]
        is_strong = inside if strong is None else region == strong
        image[inside, 3] = np.where(is_strong[inside], _STRONG, _FAINT)
    extent = (*window[0], *(window[1] if len(window) == 2 else (0.0, 1.0)))
    style: dict[str, Any] = {"origin": "lower", "aspect": "auto", "interpolation": "nearest"}
    ax.imshow(image.reshape(-1, _GRID, 4), extent=extent, zorder=0, **style)


def draw_regions(
    ax: Any, regions: Regions, window: Window, deleted: Any, strong: int | None
) -> None:
    """Draw the outline of each region, dashed where it was deleted.

    The edge of a region that is not defined by numbers is found on a grid.
    """
    for number, outline in enumerate(regions.outlines(window)):
        is_faint = strong is not None and number != strong
        style: dict[str, Any] = {"color": INK, "linewidth": 1.5, "zorder": 5}
        if number in set(np.asarray(deleted, dtype=int).tolist()):
            style |= {"color": DELETED, "linestyle": "--"}
        if is_faint:
            style |= {"linewidth": 0.8, "alpha": 0.6}
        ax.plot(*outline.T, gid=f"region-{number}", **style)
    if not regions.fields and len(window) == 2 and len(regions):
        axes, P = _grid(window, _GRID)
        inside = np.asarray(regions.contains(P), dtype=float).reshape(_GRID, _GRID)
        if inside.min() < inside.max():
            ax.contour(*axes, inside, levels=[0.5], colors=INK, linewidths=0.8, zorder=5)
