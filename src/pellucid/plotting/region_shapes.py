"""Regions of a level as shapes on one or two axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.plotting.palette import cluster_color

INK, PASSED_ON, OTHER, DELETED = "#222222", "#C4C8CC", "#8A9096", "#D55E00"
_GRID = 240
"""Grid points per axis at which regions are evaluated."""

_FAINT, _STRONG = 0.10, 0.22

Window = list[tuple[float, float]]


def draw_scores(ax: Any, regions: Any, window: Window) -> None:
    """Fill the axes with the scores of nonparametric regions, with a line at their threshold."""
    axes = [np.linspace(low, high, _GRID // 2) for low, high in window]
    if len(window) == 1:
        axes.append(np.array([0.0, 1.0]))
    first, second = np.meshgrid(*axes)
    P = np.column_stack([first.ravel(), second.ravel()])[:, : len(window)]
    score = regions.score(P).reshape(first.shape)
    shown = ax.pcolormesh(
        first, second, score, cmap="coolwarm", vmin=0, vmax=1, shading="nearest", zorder=0
    )
    ax.figure.colorbar(shown, ax=ax, label="share of correct neighbors")
    if score.min() < regions.threshold <= score.max():
        ax.contour(first, second, score, levels=[regions.threshold], colors=INK, linewidths=1)


def shade_answers(
    ax: Any, classifier: Any, regions: Any, window: Window, strong: int | None
) -> None:
    """Fill the regions with the color of the predicted class.

    Parameters
    ----------
    ax : matplotlib Axes
    classifier : object
        Its ``predict`` gives positions of classes.
    regions : object
        With ``which``; nonparametric ones have ``scores`` too.
    window : list of tuple
        Lower and upper end of each axis.
    strong : int or None
        Number of the region to fill strongly, others faintly; None to fill all alike.
    """
    from matplotlib.colors import to_rgba

    axes = [np.linspace(low, high, _GRID) for low, high in window]
    axes += [np.zeros(1)] * (2 - len(window))
    first, second = np.meshgrid(*axes)
    P = np.column_stack([first.ravel(), second.ravel()])[:, : len(window)]
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
    bottom, top = window[1] if len(window) == 2 else (0.0, 1.0)
    ax.imshow(
        image.reshape(*first.shape, 4),
        extent=(*window[0], bottom, top),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
        zorder=0,
    )


_OUTLINED = ("box", "polyhedron", "ellipse")
"""Shapes with an exact outline."""


def draw_regions(ax: Any, regions: Any, window: Window, deleted: Any, strong: int | None) -> None:
    """Draw the outline of each region, dashed where it was deleted.

    Boxes, polyhedra and ellipses are drawn from their corners, vertices and axes; the edge of
    any other region is found on a grid.
    """
    for number, outline in enumerate(outlines(regions, window)):
        is_deleted = number in set(np.asarray(deleted, dtype=int).tolist())
        is_faint = strong is not None and number != strong
        ax.plot(
            outline[:, 0],
            outline[:, 1],
            color=DELETED if is_deleted else INK,
            linestyle="--" if is_deleted else "-",
            linewidth=0.8 if is_faint else 1.5,
            alpha=0.6 if is_faint else 1.0,
            zorder=5,
            gid=f"region-{number}",
        )
    if regions.kind not in _OUTLINED and len(window) == 2 and len(regions):
        _draw_edge(ax, regions, window)


def outlines(regions: Any, window: Window) -> list[np.ndarray]:
    """Outlines of boxes, polyhedra and ellipses."""
    if regions.kind == "box":
        ends = zip(np.asarray(regions.lower), np.asarray(regions.upper))
        return [_box(low, high, window) for low, high in ends]
    if len(window) == 1:
        return []
    if regions.kind == "polyhedron":
        return [_polygon(np.asarray(points)) for points in regions.vertices]
    if regions.kind == "ellipse":
        return [_ellipse(c, s) for c, s in zip(regions.center, regions.shape)]
    return []


def _box(low: np.ndarray, high: np.ndarray, window: Window) -> np.ndarray:
    """Corners of a box; open sides extend just beyond the window."""
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    for axis, (left, right) in enumerate(window):
        margin = right - left
        low[axis], high[axis] = max(low[axis], left - margin), min(high[axis], right + margin)
    bottom, top = (low[1], high[1]) if len(window) == 2 else (0.02, 0.98)
    x, y = [low[0], high[0], high[0], low[0], low[0]], [bottom, bottom, top, top, bottom]
    return np.column_stack([x, y])


def _polygon(points: np.ndarray) -> np.ndarray:
    """Vertices of a convex region in the order of their angle, closed."""
    away = points - points.mean(axis=0)
    order = np.argsort(np.arctan2(away[:, 1], away[:, 0]), kind="stable")
    return points[[*order, order[0]]]


def _ellipse(center: Any, shape: Any) -> np.ndarray:
    """The points where (x - center)' shape (x - center) = 1."""
    angle = np.linspace(0, 2 * np.pi, 181)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    values, vectors = np.linalg.eigh(np.asarray(shape, dtype=float))
    return np.asarray(center) + circle / np.sqrt(np.maximum(values, 1e-300)) @ vectors.T


def _draw_edge(ax: Any, regions: Any, window: Window) -> None:
    axes = [np.linspace(low, high, _GRID) for low, high in window]
    first, second = np.meshgrid(*axes)
    inside = regions.contains(np.column_stack([first.ravel(), second.ravel()]))
    if inside.any() and not inside.all():
        grid = np.asarray(inside, dtype=float).reshape(first.shape)
        ax.contour(*axes, grid, levels=[0.5], colors=INK, linewidths=0.8, zorder=5)
