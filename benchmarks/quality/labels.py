"""Agreement with labels of other clusterings, beside scikit-learn's CART with as many leaves."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, SpectralClustering
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_moons,
)
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import scale
from sklearn.tree import DecisionTreeClassifier

from benchmarks.jobs import Job
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, read_rows
from pellucid import ExplainableKMeans
from pellucid._utils.notices import impure_rules_allowed

FILE = "quality_labels.csv"
DATA: dict[str, tuple[int, Callable[[], np.ndarray]]] = {
    "wine": (3, lambda: scale(load_wine().data)),
    "cancer": (5, lambda: scale(load_breast_cancer().data)),
    "digits": (10, lambda: load_digits().data),
    "iris": (3, lambda: load_iris().data),
    "moons": (2, lambda: make_moons(1500, noise=0.06, random_state=0)[0]),
    "blobs": (8, lambda: make_blobs(1800, 8, centers=8, cluster_std=3.0, random_state=0)[0]),
}
CLUSTERERS: dict[str, Callable[[int, int], Any]] = {
    "agglomerative": lambda k, n: AgglomerativeClustering(k),
    "spectral": lambda k, n: SpectralClustering(k, affinity="nearest_neighbors", random_state=0),
    "mixture": lambda k, n: GaussianMixture(k, covariance_type="diag", random_state=0),
    "HDBSCAN": lambda k, n: HDBSCAN(min_cluster_size=max(5, n // 60), copy=True),
}
VALUES = ("n_leaves", "cart", "agreement", "bound", "time_ratio")


def jobs(settings: Settings) -> list[Job]:
    """Each data set, clusterer and number of leaves."""
    store = Store(settings.output / FILE, ("dataset", "clusterer", "leaves"), VALUES)
    return [
        Job(
            store,
            {"dataset": name, "clusterer": clusterer, "leaves": f"{factor} k"},
            partial(_measure, name, clusterer, factor),
        )
        for name in (("iris",) if settings.quick else DATA)
        for clusterer in list(CLUSTERERS)[: 1 if settings.quick else None]
        for factor in (1, 2)
    ]


def _measure(name: str, clusterer: str, factor: int) -> dict[str, Any]:
    """Shares of the rows; noise is a label as any other, and the time is the least of three."""
    k, load = DATA[name]
    X = load()
    labels = CLUSTERERS[clusterer](k, len(X)).fit_predict(X)
    n = factor * len(np.unique(labels))
    if n == factor:
        return dict.fromkeys(VALUES, "")
    cart = DecisionTreeClassifier(max_leaf_nodes=n, random_state=0)
    model = ExplainableKMeans(n_leaves=n, noise="cluster", n_jobs=1)
    seconds: dict[Any, list[float]] = {cart: [], model: []}
    with impure_rules_allowed():
        model.fit(X, labels)  # compiles
        for estimator, taken in seconds.items():
            for _ in range(3):
                start = time.process_time()
                estimator.fit(X, labels)
                taken.append(time.process_time() - start)
    return {
        "n_leaves": n,
        "cart": float((cart.predict(X) == labels).mean()),
        "agreement": float((model.predict(X) == labels).mean()),
        "bound": 1 - model.disagreement_lower_bound_ / len(X),
        "time_ratio": min(seconds[model]) / min(seconds[cart]),
    }


def sections(settings: Settings) -> list[Section]:
    """Every case, and the mean."""
    rows = [row for row in read_rows(settings.output / FILE) if row["cart"]]
    if not rows:
        return []
    gains = [float(row["agreement"]) - float(row["cart"]) for row in rows]
    lines = [
        [
            f"{row['dataset']}, {row['clusterer']}",
            row["n_leaves"],
            f"{float(row['cart']):.1%}",
            f"{float(row['agreement']):.1%}",
            f"{100 * gain:+.2f}",
            f"{float(row['bound']):.1%}",
            f"{float(row['time_ratio']):.1f}",
        ]
        for row, gain in zip(rows, gains)
    ]
    text = (
        f"Rows whose rule gives their label. Mean difference to CART {100 * np.mean(gains):+.2f} "
        f"points, lowest {100 * min(gains):+.2f}, in {len(gains)} cases. A tree is proven to be "
        "the best where the bound is its agreement. Times are those of whole fits on one thread."
    )
    headings = ["labels", "leaves", "CART", "agreement", "points", "bound", "time / CART"]
    return [Section("Trees for given labels", "", [Sheet("Agreement", headings, lines, text)])]
