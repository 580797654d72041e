"""ExplainableKMeans on few and many rows, beside the best single method from the same centers."""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from benchmarks import data
from benchmarks.jobs import Job
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, read_rows
from pellucid import IMM, ExGreedy, ExplainableKMeans, ExShallow

FILE = "quality_sizes.csv"
ROWS = {"covtype": (20_000, 150_000, 581_012), "blobs": (20_000, 200_000, 1_000_000)}
"""Rows by data set. The first number is the sample with which the others are compared."""

SINGLE = {"IMM": IMM, "ExGreedy": ExGreedy, "ExShallow": ExShallow}
OPTIONS = {
    "k leaves": {},
    "2k leaves": {"n_leaves": 2},
    "max_depth": {"max_depth": 0},
    "max_conditions": {"max_conditions": 0},
}
"""Options of the estimator; the numbers are replaced by those of the number of clusters."""


def jobs(settings: Settings) -> list[Job]:
    """Each data set, size and option."""
    columns = ("clusters", "excess", "best", "best_excess", "seconds", "kmeans_seconds")
    store = Store(settings.output / FILE, ("dataset", "rows", "option"), columns)
    sizes = {name: ROWS[name] for name in ROWS if name in ("blobs", *data.names(settings.data))}
    if settings.quick:
        sizes = {"blobs": (75,)}
    return [
        Job(
            store,
            {"dataset": name, "rows": n_rows, "option": option},
            _measure(name, n_rows, option, settings.data),
        )
        for name, rows in sizes.items()
        for n_rows in rows
        for option in OPTIONS
    ]


def _measure(name: str, n_rows: int, option: str, folder: Path | None):
    def measure():
        X, centers, kmeans_seconds = _reference(name, n_rows, folder)
        k = len(centers)
        parameters = {"faithfulness": 0, **_parameters(option, k)}
        ExplainableKMeans(reference=centers, **parameters).fit(X[:: max(1, len(X) // 500)])
        start = time.perf_counter()
        model = ExplainableKMeans(reference=centers, **parameters).fit(X)
        seconds = time.perf_counter() - start
        best, excess = _best_single(name, n_rows, folder)
        return {
            "clusters": k,
            "excess": model.inertia_ / model.reference_inertia_ - 1,
            "best": best,
            "best_excess": excess,
            "seconds": seconds,
            "kmeans_seconds": kmeans_seconds,
        }

    return measure


def _parameters(option: str, k: int) -> dict[str, int]:
    shallow = int(np.ceil(np.log2(k))) + 1
    sizes = {"n_leaves": 2 * k, "max_depth": shallow, "max_conditions": shallow}
    return {parameter: sizes[parameter] for parameter in OPTIONS[option]}


@lru_cache(maxsize=1)
def _reference(name: str, n_rows: int, folder: Path | None) -> tuple[np.ndarray, np.ndarray, float]:
    """Rows, centers of k-means, and the seconds of `KMeans(n_init=10)`."""
    if name == "blobs":
        X = make_blobs(n_rows, 20, centers=12, cluster_std=6.0, random_state=0)[0]
        k = min(10, n_rows // 25)
    else:
        X, k = data.load(name, folder)
        X = X[np.random.default_rng(0).permutation(len(X))[:n_rows]]
    start = time.perf_counter()
    kmeans = KMeans(k, n_init=10, random_state=0).fit(X)
    return X, kmeans.cluster_centers_, time.perf_counter() - start


@lru_cache(maxsize=1)
def _best_single(name: str, n_rows: int, folder: Path | None) -> tuple[str, float]:
    """The single method of least excess cost with one leaf per cluster."""
    X, centers, _ = _reference(name, n_rows, folder)
    models = {method: kind(reference=centers).fit(X) for method, kind in SINGLE.items()}
    excess = {m: model.inertia_ / model.reference_inertia_ - 1 for m, model in models.items()}
    best = min(excess, key=lambda method: excess[method])
    return best, excess[best]


def sections(settings: Settings) -> list[Section]:
    """Excess costs and times by size."""
    lines = []
    for row in read_rows(settings.output / FILE):
        ours, best = float(row["excess"]), float(row["best_excess"])
        seconds, kmeans = float(row["seconds"]), float(row["kmeans_seconds"])
        on_time = "yes" if seconds <= 3 * kmeans + 2 else "no"
        head = [row["dataset"], f"{int(row['rows']):,}", row["clusters"], row["option"]]
        costs = [f"{ours:.4f}", f"{best:.4f} ({row['best']})", f"{100 * (ours / best - 1):+.0f} %"]
        lines.append([*head, *costs, f"{seconds:.1f}", f"{kmeans:.1f}", on_time])
    headings = ["data", "rows", "clusters", "option", "ours: excess", "best single method: excess"]
    headings += ["difference", "seconds", "k-means", "within 3 × + 2 s"]
    note = (
        "Excess cost is NPC − 1. The single methods have one leaf per cluster and no limit of the "
        "depth. `max_depth` and `max_conditions` are ⌈log₂ k⌉ + 1. k-means is `KMeans(n_init=10)`."
    )
    sheet = Sheet("From few to many rows", headings, lines, note)
    return [Section("The cheapest trees, by size", "", [sheet])] if lines else []
