"""The figures of the XClusters paper, with our figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.plots import shrink
from pellucid.plotting.style import cluster_color

Plane = dict[str, np.ndarray]
_D, _N = cluster_color(0), cluster_color(5)


def draw_figure_3(planes: dict[str, Plane], path: Path) -> None:
    """D and N over k and over α: means, and bands that hold all pairs."""
    plt = _pyplot()
    figure, axes = plt.subplots(
        len(planes), 2, figsize=(7.2, 2.3 * len(planes) + 0.3), sharey=True, squeeze=False
    )
    for row, (title, plane) in zip(axes, planes.items()):
        for ax, along, axis, x_label in zip(row, ("k", "alpha"), (1, 0), ("k", "α")):
            for part, color, name in (("d", _D, "D"), ("n", _N, "N")):
                values = plane[part]
                low, high = values.min(axis=axis), values.max(axis=axis)
                ax.fill_between(plane[along], low, high, color=color, alpha=0.13, linewidth=0)
                mean = values.mean(axis=axis)
                ax.plot(plane[along], mean, "o-", color=color, markersize=3.5, label=name)
            ax.set_xlabel(x_label, labelpad=1)
            ax.set_title(title, fontsize=10)
            _tidy(ax)
        row[0].set_ylabel("share of the largest")
    axes[0, 0].legend(frameon=False, loc="upper right", ncols=2, fontsize=9)
    _save(figure, path)


def draw_figure_4(planes: dict[str, Plane], lambdas: tuple[float, ...], path: Path) -> None:
    """D against N for all pairs, and D and N of the best pair by λ."""
    plt = _pyplot()
    figure, axes = plt.subplots(
        len(planes), 2, figsize=(7.2, 2.6 * len(planes) + 0.3), squeeze=False
    )
    for (left, right), (title, plane) in zip(axes, planes.items()):
        shades = plt.get_cmap("viridis_r")(np.linspace(0.05, 0.95, len(plane["k"])))
        for k, d, n, color in list(zip(plane["k"], plane["d"], plane["n"], shades))[::2]:
            left.plot(n, d, "o-", color=color, markersize=3, linewidth=0.8, label=f"k = {k}")
        left.set_xlabel("N (nodes)", labelpad=1)
        left.set_ylabel("D (distortion)")
        chosen = [best_pair(plane, one) for one in lambdas]
        for part, color, name in (("d", _D, "D"), ("n", _N, "N")):
            right.plot(
                lambdas, [plane[part][pair] for pair in chosen], "o-", color=color, label=name
            )
        right.set_xscale("log")
        right.set_xticks(lambdas, [f"{one:g}" for one in lambdas])
        right.minorticks_off()
        right.set_xlabel("λ, the weight of N", labelpad=1)
        right.set_ylim(0, 1.02)
        for ax in (left, right):
            ax.set_title(title, fontsize=10)
            _tidy(ax)
    axes[0, 0].legend(frameon=False, fontsize=7, labelspacing=0.2)
    axes[0, 1].legend(frameon=False, fontsize=9)
    _save(figure, path)


def best_pair(plane: Plane, trade_off: float) -> tuple[int, int]:
    """Position of the pair of the grid with the least D + λ·N."""
    objective = plane["d"] + trade_off * plane["n"]
    place = np.unravel_index(int(np.argmin(objective)), objective.shape)
    return int(place[0]), int(place[1])


def save_small(figure, path: Path, dpi: int = 80) -> None:
    """As a PNG of few colours."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=dpi)
    _pyplot().close(figure)
    shrink(path, 200)


def _save(figure, path: Path) -> None:
    figure.tight_layout()
    save_small(figure, path, dpi=100)


def _tidy(ax) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=8)


def _pyplot():
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt
