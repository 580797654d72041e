"""Section 2.3.2: two squares and two triangles, which a greedy tree cuts into slices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks.eop.lists import HELD_OUT, n_rows
from benchmarks.eop.methods import METHODS
from benchmarks.jobs import Job
from benchmarks.page import Picture, Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, read_rows
from pellucid.datasets import make_xor_triangles
from pellucid.metrics import cart_complexity

FILE = "eop_xor.csv"
PICTURE = "eop_xor.png"
N_ROWS = 1000
SHAPES = {"box": "R-EOP with linear SVMs", "nonparametric": "N-EOP with linear SVMs"}
MAX_ERROR = 0.1
MIN_SUPPORT = 0.03
"""Share of all training rows that a region must cover."""


def jobs(settings: Settings) -> list[Job]:
    """CART and two kinds of regions."""
    columns = ("levels", "regions", "nodes", "accuracy", "answered", "right_inside")
    store = Store(settings.output / FILE, ("method",), columns)
    return [
        Job(store, {"method": "cart"}, _measure_cart),
        *(
            Job(store, {"method": shape}, lambda shape=shape: _measure(shape, settings.output))
            for shape in SHAPES
        ),
    ]


def _fit(shape: str):
    from pellucid import EOPClassifier

    X, y = make_xor_triangles(N_ROWS, random_state=0)
    model = EOPClassifier(
        "linear_svm",
        regions=shape,
        max_error=MAX_ERROR,
        min_support=n_rows(MIN_SUPPORT, len(y)),
        calibration=HELD_OUT,
        random_state=0,
    )
    return model.fit(X, y), X, y


def _measure(shape: str, folder: Path) -> dict[str, float]:
    model, *known = _fit(shape)
    if shape == "box":
        _draw(model, *known, folder / PICTURE)
    X, y = make_xor_triangles(N_ROWS, random_state=1)
    right, answered = model.predict(X) == y, ~model.abstained(X)
    return {
        "levels": len(model.levels_),
        "regions": sum(len(level.regions) for level in model.levels_),
        "accuracy": float(right.mean()),
        "answered": float(answered.mean()),
        "right_inside": float(right[answered].mean()) if answered.any() else None,
    }


def _fit_cart() -> DecisionTreeClassifier:
    return METHODS["cart"].fit(*make_xor_triangles(N_ROWS, random_state=0), False)[0]


def _measure_cart() -> dict[str, float]:
    tree = _fit_cart()
    X, y = make_xor_triangles(N_ROWS, random_state=1)
    return {
        "levels": tree.get_depth(),
        "nodes": cart_complexity(tree),
        "accuracy": float(tree.score(X, y)),
        "answered": 1.0,
        "right_inside": float(tree.score(X, y)),
    }


def sections(settings: Settings) -> list[Section]:
    """A table, and a picture of the tree's slices beside the first two levels."""
    rows = read_rows(settings.output / FILE)
    if not rows:
        return []
    lines = []
    for row in rows:
        title = SHAPES.get(row["method"], "CART (the paper: 21 nodes)")
        shares = [f"{float(row[c]):.3f}" for c in ("accuracy", "answered", "right_inside")]
        counts = [row[c] or "–" for c in ("levels", "regions", "nodes")]
        lines.append([title, *counts, *shares])
    headings = ["method", "levels (depth)", "regions", "nodes", "accuracy", "answered"]
    note = f"{N_ROWS} rows to learn from, {N_ROWS} others to test on; ε = {MAX_ERROR:g}."
    sheet = Sheet("Section 2.3.2", [*headings, "right where answered"], lines, note)
    caption = (
        "Left: what CART makes of two squares and two triangles. Middle and right: the first two "
        "levels of EOP with boxes; rows that are passed on are grey."
    )
    pictures = [Picture(PICTURE, caption)] if (settings.output / PICTURE).exists() else []
    return [Section("Squares and triangles", "", [*pictures, sheet])]


def _draw(model, X: np.ndarray, y: np.ndarray, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from pellucid.plotting import plot_level
    from pellucid.plotting.style import cluster_color

    n_shown = min(2, len(model.levels_))
    figure, axes = plt.subplots(1, 1 + n_shown, figsize=(4.6 * (1 + n_shown), 4.2))
    axes = np.atleast_1d(axes)
    tree = _fit_cart()
    _draw_slices(axes[0], tree)
    for position, marker in ((0, "o"), (1, "s")):
        rows = y == position
        style = {"s": 12, "edgecolor": "white", "linewidths": 0.3}
        axes[0].scatter(*X[rows].T, color=cluster_color(position), marker=marker, **style)
    axes[0].set_title(f"CART: {cart_complexity(tree)} nodes", fontsize=10)
    axes[0].set_xlabel("x0")
    axes[0].set_ylabel("x1")
    axes[0].spines[["top", "right"]].set_visible(False)
    for level in range(n_shown):
        plot_level(model, X, y, level, ax=axes[1 + level])
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def _draw_slices(axis, tree: DecisionTreeClassifier) -> None:
    """The lines of all thresholds, each as far as its node reaches."""
    parts = tree.tree_
    boxes = {0: ((-0.05, 2.05), (-0.05, 2.05))}
    for node in range(parts.node_count):
        if parts.children_left[node] < 0:
            continue
        feature, threshold = parts.feature[node], parts.threshold[node]
        sides = list(boxes[node])
        low, high = sides[1 - feature]
        ends = ([threshold, threshold], [low, high])
        axis.plot(*(ends if feature == 0 else ends[::-1]), color="#222222", linewidth=1.0)
        for child, end in (
            (parts.children_left[node], (sides[feature][0], threshold)),
            (parts.children_right[node], (threshold, sides[feature][1])),
        ):
            inner = list(sides)
            inner[feature] = end
            boxes[child] = tuple(inner)
