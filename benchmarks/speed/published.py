"""Ours beside the published packages' seconds that ``--golden`` brings, each over its k-means."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from sklearn.cluster import KMeans

from benchmarks import data
from benchmarks.golden import read_peers
from benchmarks.jobs import Job
from benchmarks.methods import TITLES, make, warm_up
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Row, Store, group, mean, read_rows
from benchmarks.timing import best_of

FILE = "speed_published.csv"
VALUES = ("seconds", "kmeans_seconds", "published_seconds", "published_kmeans_seconds")


def jobs(settings: Settings) -> list[Job]:
    """Each data set and method of which the published seconds are known."""
    if settings.golden is None:
        return []
    store = Store(settings.output / FILE, ("dataset", "method"), VALUES)
    there = data.names(settings.data)
    found = []
    for (name, method), rows in group(read_peers(settings.golden), "dataset", "method").items():
        known = method in TITLES and any(row["kmeans_seconds"] for row in rows)
        if known and name in there and not (settings.quick and name != "iris"):
            repeats = 1 if settings.quick else 3
            found.append(_job(store, name, method, rows, settings.data, repeats))
    return found


def _job(
    store: Store, name: str, method: str, rows: list[Row], folder: Path | None, repeats: int
) -> Job:
    def measure():
        X, k, centers, kmeans_seconds = _reference(name, folder, repeats)
        warm_up(method, X, k)
        return {
            "seconds": best_of(repeats, lambda: make(method, centers).fit(X)),
            "kmeans_seconds": kmeans_seconds,
            "published_seconds": mean(rows, "seconds"),
            "published_kmeans_seconds": mean(rows, "kmeans_seconds"),
        }

    return Job(store, {"dataset": name, "method": method}, measure)


@lru_cache(maxsize=1)
def _reference(name: str, folder: Path | None, repeats: int) -> tuple[Any, int, Any, float]:
    X, k = data.load(name, folder)
    kmeans = KMeans(k, n_init=10, random_state=0)
    seconds = best_of(repeats, lambda: kmeans.fit(X))
    return X, k, kmeans.cluster_centers_, seconds


def sections(folder: Path) -> list[Section]:
    """Ratios to k-means, ours and theirs."""
    rows = read_rows(folder / FILE)
    methods = [m for m in TITLES if any(row["method"] == m for row in rows)]
    lines = []
    for (name,), of_set in group(rows, "dataset").items():
        found = {row["method"]: row for row in of_set}
        lines.append([name, *(_cell(found.get(method)) for method in methods)])
    headings = ["data", *(TITLES[method] for method in methods)]
    note = (
        "Seconds as a share of `KMeans(n_init=10)` in the same process: ours (published package). "
        "Ours is the best of at least three on one reference; the published packages' is the mean "
        "over seeds as it was given, measured apart, beside a k-means of its own."
    )
    sheet = Sheet("Published packages", headings, lines, note)
    return [Section("Published packages", "", [sheet] if lines else [])]


def _cell(row: Row | None) -> str:
    if row is None:
        return "–"
    ours = float(row["seconds"]) / float(row["kmeans_seconds"])
    theirs = float(row["published_seconds"]) / float(row["published_kmeans_seconds"])
    return f"{ours:.3f} ({theirs:.3f})"
