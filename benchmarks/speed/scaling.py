"""How the time grows with the rows, the columns and the clusters."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.jobs import Job
from benchmarks.methods import TITLES, make, warm_up
from benchmarks.page import Picture, Section, Sheet, holds
from benchmarks.plots import REFERENCE, Line, Panel, draw
from benchmarks.settings import Settings
from benchmarks.speed import cases
from benchmarks.store import Row, Store, group, read_rows
from benchmarks.timing import best_of

FILE = "speed_scaling.csv"
PICTURE = "speed_scaling.png"
METHODS = ("imm", "imm+exkmc 2k", "exshallow")
AXES = {"n": "rows", "d": "columns", "k": "clusters"}
BASE = {"n": 50_000, "d": 20, "k": 10}
GRIDS = {
    "n": (12_500, 25_000, 50_000, 100_000, 200_000),
    "d": (5, 10, 20, 40, 80),
    "k": (5, 10, 20, 40, 80),
}
QUICK_BASE = {"n": 500, "d": 3, "k": 3}
QUICK_GRIDS = {"n": (500, 1_000), "d": (3, 6), "k": (3, 5)}
LINEAR = 1.1
"""The largest exponent that still counts as linear; the rest is measurement noise."""


def jobs(settings: Settings) -> list[Job]:
    """Every method at every point of the three grids."""
    store = Store(settings.output / FILE, ("axis", "n", "d", "k", "method"), ("seconds",))
    base = QUICK_BASE if settings.quick else BASE
    repeats = 1 if settings.quick else 3
    found = []
    for axis, grid in (QUICK_GRIDS if settings.quick else GRIDS).items():
        for size in grid:
            point = {**base, axis: size}
            for method in ("kmeans", *METHODS):
                found.append(_job(store, axis, point, method, repeats))
    return found


def _job(store: Store, axis: str, point: dict[str, int], method: str, repeats: int) -> Job:
    def measure():
        case = cases.blobs(point["n"], point["d"], point["k"])
        X, k = cases.load(case)
        kmeans, seconds = cases.fit_kmeans(case, 0, repeats)
        if method != "kmeans":
            warm_up(method, X, k)
            seconds = best_of(repeats, lambda: make(method, kmeans.cluster_centers_).fit(X))
        return {"seconds": seconds}

    return Job(store, {"axis": axis, **point, "method": method}, measure)


def sections(folder: Path) -> list[Section]:
    """Fitted exponents, and the curves they were fitted to."""
    rows, base = _one_grid(read_rows(folder / FILE))
    if not rows:
        return []
    _draw(rows, folder / PICTURE)
    lines = []
    for (method,), of_method in group(rows, "method").items():
        curves = group(of_method, "axis")
        lines.append([TITLES.get(method, REFERENCE), *(_cell(curves, axis) for axis in AXES)])
    headings = ["method", *(f"exponent of {name}" for name in AXES.values())]
    note = (
        "Least-squares slope of log time against log size, around blobs of "
        f"{base['n']:,} × {base['d']}, k = {base['k']}; at most {LINEAR:g} counts as linear."
    )
    caption = "Seconds of a fit against rows, columns and clusters, both on logarithmic axes"
    return [
        Section(
            "Growth", "", [Sheet("Exponents", headings, lines, note), Picture(PICTURE, caption)]
        )
    ]


def _one_grid(rows: list[Row]) -> tuple[list[Row], dict[str, int]]:
    """Rows of the full grids, or, where there are none, of the quick ones; and their middle."""
    for base in (BASE, QUICK_BASE):
        of_grid = [
            row for row in rows if all(int(row[a]) == base[a] for a in AXES if a != row["axis"])
        ]
        if of_grid:
            return of_grid, base
    return [], BASE


def exponent(sizes: list[float], seconds: list[float]) -> float:
    """Slope of log seconds against log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _curve(rows: list[Row], axis: str) -> tuple[list[float], list[float]]:
    ordered = sorted((float(row[axis]), float(row["seconds"])) for row in rows)
    return [size for size, _ in ordered], [seconds for _, seconds in ordered]


def _cell(curves: dict, axis: str) -> str:
    sizes, seconds = _curve(curves.get((axis,), []), axis)
    if len(sizes) < 2:
        return "–"
    slope = exponent(sizes, seconds)
    return f"{slope:.2f} ({holds(slope, LINEAR)})"


def _draw(rows: list[Row], path: Path) -> None:
    panels = []
    for axis, name in AXES.items():
        of_axis = [row for row in rows if row["axis"] == axis]
        lines = [
            Line(TITLES.get(method, REFERENCE), *_curve(of_method, axis))
            for (method,), of_method in group(of_axis, "method").items()
        ]
        panels.append(Panel(f"by {name}", lines, name))
    draw(panels, path, n_columns=3, y_label="seconds", logarithmic=True)
