"""Euclidean distance beside dynamic time warping, with the other defaults, on several panels."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.jobs import Job
from benchmarks.page import Sheet
from benchmarks.settings import Settings
from benchmarks.store import Row, Store, group, read_rows
from benchmarks.xclusters import sets, thirds
from pellucid import XClusters
from pellucid.datasets import make_card_trends
from pellucid.xclusters import pairwise

NAME = sets.DISTANCES
FILE = "xclusters_distances.csv"
METRICS = ("euclidean", "dtw")
VALUES = ("k", "nodes", "f1", *(f"share_{metric}" for metric in METRICS), "planted", "seconds")


def jobs(settings: Settings) -> list[Job]:
    """Each panel that is there, with both distances."""
    store = Store(settings.output / FILE, ("dataset", "distance"), VALUES)
    return [
        Job(store, {"dataset": name, "distance": metric}, _measure(settings, name, metric))
        for name in thirds.panels(settings)
        for metric in METRICS
    ]


def _measure(settings: Settings, name: str, metric: str):
    def measure() -> dict[str, Any]:
        series, explanation = thirds.load(name, settings.data)
        start = time.process_time()
        distances = {metric: pairwise(series, metric)}
        model = XClusters(accuracy_distance="precomputed", random_state=0)
        model.fit(distances[metric], explanation=explanation)
        seconds = time.process_time() - start
        planted = ""
        if name.startswith("card"):
            card = make_card_trends(random_state=int(name.removeprefix("card")))
            planted = adjusted_rand_score(card.labels, model.predict(explanation))
        for other in METRICS:
            distances.setdefault(other, pairwise(series, other))
        shares = {f"share_{m}": _explained(distances[m], model.labels_) for m in METRICS}
        found = {"k": model.best_k_, "nodes": model.n_nodes_, "f1": model.accuracy_}
        return {**found, **shares, "planted": planted, "seconds": seconds}

    return measure


def _explained(distances: np.ndarray, labels: np.ndarray) -> float:
    """1 - D / D(one cluster), with D the sum of the distances to the medoids."""
    parts = (np.flatnonzero(labels == c) for c in np.unique(labels))
    within = sum(distances[np.ix_(part, part)].sum(axis=0).min() for part in parts)
    return float(1 - within / distances.sum(axis=0).min())


def sheets(settings: Settings) -> list[Sheet]:
    """Both distances in turn for each panel."""
    rows = read_rows(settings.output / FILE)
    if not rows:
        return []
    headings = ["data", "distance", "k", "nodes", "F1", "explained, Euclidean", "explained, DTW"]
    means = "; ".join(
        f"{metric}: {_mean(found, 'nodes'):.1f} nodes, planted {_mean(found, 'planted'):.2f}, "
        f"{_mean(found, 'seconds'):.1f} s"
        for (metric,), found in group(rows, "distance").items()
    )
    note = (
        "`XClusters()` with each distance. Explained: 1 − D / D(one cluster), with D the sum of "
        "the distances to the medoids, measured with both distances. Planted: adjusted Rand index "
        f"between the clusters of the rules and the planted trends. Means over all panels: {means}."
    )
    lines = [_line(row) for row in rows]
    return [Sheet("Distances of the trends", [*headings, "planted", "seconds"], lines, note)]


def _mean(rows: list[Row], column: str) -> float:
    return float(np.mean([float(row[column]) for row in rows if row[column]]))


def _line(row: Row) -> list[str]:
    shares = (f"{float(row[f'share_{metric}']):.1%}" for metric in METRICS)
    planted = f"{float(row['planted']):.2f}" if row["planted"] else "–"
    found = row["dataset"], row["distance"], row["k"], row["nodes"], f"{float(row['f1']):.3f}"
    return [*found, *shares, planted, f"{float(row['seconds']):.1f}"]
