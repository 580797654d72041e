"""Figures 3 and 4 of the paper: D and N over k, α and λ, from every pair of the grid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.jobs import Job
from benchmarks.page import Picture, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Row, Store, group, read_rows
from benchmarks.xclusters import drawings, searches, sets
from pellucid import XClusters

FILE = "xclusters_plane.csv"
FIGURE_3, FIGURE_4 = "xclusters_figure3.png", "xclusters_figure4.png"
LAMBDAS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
SHAPES = (("d", "k", -1), ("d", "alpha", 1), ("n", "k", 1), ("n", "alpha", -1))
"""What is to rise (1) or fall (-1) with what."""


def jobs(settings: Settings, name: str) -> list[Job]:
    """All pairs of the grid."""
    store = Store(settings.output / FILE, ("dataset",), ("k", "alpha", "d", "n"))
    return [Job(store, {"dataset": name}, _measure(settings, name))]


def _measure(settings: Settings, name: str) -> Callable[[], list[dict]]:
    return lambda: rows_of(searches.fit_grid(name, settings.data)[0])


def rows_of(model: XClusters) -> list[dict]:
    """D and N of all pairs that a search has evaluated."""
    return [
        {
            "k": int(one["k"]),
            "alpha": float(one["alpha"]),
            "d": float(one["normalised_distortion"]),
            "n": float(one["normalised_nodes"]),
        }
        for one in np.sort(model.evaluations_, order=["k", "alpha"])
    ]


def pictures(settings: Settings) -> list[Sheet | Picture]:
    """Figures 3 and 4, how monotone D and N are, and the pictures of the searches."""
    rows = read_rows(settings.output / FILE)
    if not rows:
        return []
    planes = {
        sets.TITLES[name]: to_plane(found) for (name,), found in group(rows, "dataset").items()
    }
    shown = {title: plane for title, plane in planes.items() if title != sets.TITLES[sets.PLAIN]}
    drawings.draw_figure_3(shown or planes, settings.output / FIGURE_3)
    drawings.draw_figure_4(shown or planes, LAMBDAS, settings.output / FIGURE_4)
    found: list[Sheet | Picture] = [
        Picture(
            FIGURE_3,
            "Figure 3: D and N over k (mean over α) and over α (mean over k); bands hold all pairs",
        ),
        monotonicity(planes),
        Picture(
            FIGURE_4,
            "Figure 4: D against N, a line for every other k, along which α goes from 0 (lower "
            "right) to 1 (upper left); and D and N of the grid's best pair, by λ",
        ),
    ]
    for (name,) in group(rows, "dataset"):
        found += searches.drawn(settings, name)
    return found


def to_plane(rows: list[Row]) -> dict[str, np.ndarray]:
    """Columns k and alpha, and d and n by k (rows) and alpha (columns)."""
    ks = sorted({int(row["k"]) for row in rows})
    alphas = sorted({float(row["alpha"]) for row in rows})
    plane = {"k": np.array(ks), "alpha": np.array(alphas)}
    for part in ("d", "n"):
        values = np.full((len(ks), len(alphas)), np.nan)
        for row in rows:
            values[ks.index(int(row["k"])), alphas.index(float(row["alpha"]))] = float(row[part])
        plane[part] = values
    return plane


def share_monotone(plane: dict[str, np.ndarray], part: str, along: str, sign: int) -> float:
    """Share of steps to the next k (or α) in which D (or N) does not go the wrong way."""
    steps = np.diff(plane[part], axis=0 if along == "k" else 1)
    return float(np.mean(sign * steps >= 0))


def mean_share(plane: dict[str, np.ndarray], part: str, along: str, sign: int) -> float:
    """The same of the mean over all α (or k)."""
    averaged = plane[part].mean(axis=1 if along == "k" else 0)
    return float(np.mean(sign * np.diff(averaged) >= 0))


def monotonicity(planes: dict[str, dict[str, np.ndarray]]) -> Sheet:
    """Shares of steps that are monotone, by data set."""
    lines = []
    for title, plane in planes.items():
        cells = [
            f"{share_monotone(plane, *shape):.0%} ({mean_share(plane, *shape):.0%})"
            for shape in SHAPES
        ]
        lines.append([title, *cells])
    headings = ["data", "D falls with k", "D rises with α", "N rises with k", "N falls with α"]
    note = (
        "Share of steps of the grid in which D and N do what the bounds count on, pair by pair "
        "(and as averages, as in figure 3)."
    )
    return Sheet("Monotonicity", headings, lines, note)
