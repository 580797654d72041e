"""Cost in another space, beside label trees and a regression tree with as many leaves."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.kernel_approximation import Nystroem
from sklearn.manifold import SpectralEmbedding
from sklearn.preprocessing import scale
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks import data
from benchmarks.jobs import Job
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, read_rows
from pellucid import ExplainableKMeans, SpEx
from pellucid._utils.notices import impure_rules_allowed
from pellucid.tree.predictor import canonical_csc

FILE = "quality_spaces.csv"
MAX_ROWS = 2_000
SPACES: dict[str, Callable[[int, int], Any]] = {
    "PCA": lambda k, d: PCA(min(5, d), svd_solver="full"),
    "Nystroem": lambda k, d: Nystroem(n_components=100, random_state=0),
    "spectral": lambda k, d: SpectralEmbedding(k, affinity="nearest_neighbors", random_state=0),
}
FITS = {"least cost": {"faithfulness": 0}, "default": {}}
METHODS = ("SpEx", "CART", "regression", *FITS)
VALUES = (
    "clusters",
    *(f"{what} {method}" for what in ("cost", "agreement") for method in METHODS),
    "time_ratio",
)


def jobs(settings: Settings) -> list[Job]:
    """Each data set, space and number of leaves."""
    store = Store(settings.output / FILE, ("dataset", "space", "leaves"), VALUES)
    names = ["iris"] if settings.quick else data.names(settings.data)
    return [
        Job(
            store,
            {"dataset": name, "space": space, "leaves": f"{factor} k"},
            partial(_measure, name, space, factor, settings.data),
        )
        for name in names
        for space in _spaces(name, settings)
        for factor in (1, 2)
    ]


def _spaces(name: str, settings: Settings) -> list[str]:
    """The spaces of a data set; text has one of its own."""
    if settings.quick:
        return list(SPACES)[:1]
    return ["SVD(50)"] if name == "newsgroups20" else list(SPACES)


def _measure(name: str, space: str, factor: int, folder: Path | None) -> dict[str, Any]:
    """Costs relative to k-means in the space; one leaf per cluster has the mean of its rows."""
    X, k = data.load(name, folder)
    chosen = np.sort(np.random.default_rng(0).permutation(X.shape[0])[:MAX_ROWS])
    if sparse.issparse(X):  # words that occur in 1 % of the rows
        X = X[chosen]
        X = X[:, (X != 0).sum(axis=0) >= 0.01 * X.shape[0]].tocsr()
        Z = TruncatedSVD(50, random_state=0).fit_transform(X)
    else:
        X = scale(X[chosen])
        Z = SPACES[space](k, X.shape[1]).fit_transform(X)
    kmeans = KMeans(k, n_init=10, random_state=0).fit(Z)
    labels, n = kmeans.labels_, factor * k
    options = {"max_leaf_nodes": n, "random_state": 0}
    start = time.process_time()
    trees: dict[str, Any] = {
        "SpEx": SpEx(n_leaves=n).fit(X, labels).tree_,
        "CART": DecisionTreeClassifier(**options).fit(X, labels),
        "regression": DecisionTreeRegressor(**options).fit(X, Z),
    }
    seconds, found = time.process_time() - start, {}
    for method, tree in trees.items():
        leaf = tree.apply(canonical_csc(X) if method == "SpEx" and sparse.issparse(X) else X)
        clusters = leaf if factor == 1 else _named(leaf, labels)
        found[f"cost {method}"] = _cost(Z, clusters) / kmeans.inertia_
        found[f"agreement {method}"] = float((_named(leaf, labels) == labels).mean())
    with impure_rules_allowed():
        for method, parameters in FITS.items():
            model = ExplainableKMeans(reference=kmeans, n_leaves=n, n_jobs=1, **parameters)
            start = time.process_time()
            model.fit(X, space=Z)
            found["time_ratio"] = (time.process_time() - start) / seconds
            found[f"cost {method}"] = model.inertia_ / kmeans.inertia_
            found[f"agreement {method}"] = float((model.predict(X) == labels).mean())
    return {"clusters": k, **found}


def _named(leaf: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The label that most rows of each row's leaf have."""
    _, leaf = np.unique(leaf, return_inverse=True)
    table = np.zeros((leaf.max() + 1, labels.max() + 1))
    np.add.at(table, (leaf, labels), 1)
    return table.argmax(axis=1)[leaf]


def _cost(Z: np.ndarray, clusters: np.ndarray) -> float:
    """Sum of squares of the rows about the means of clusters."""
    parts = (Z[clusters == c] for c in np.unique(clusters))
    return float(sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts))


def sections(settings: Settings) -> list[Section]:
    """Every case, and how many are at or below the best of the other three."""
    rows = [row for row in read_rows(settings.output / FILE) if row["clusters"]]
    if not rows:
        return []
    lines, best = [], []
    for row in rows:
        costs = [float(row[f"cost {method}"]) for method in METHODS]
        best.append([cost <= min(costs[:3]) * (1 + 1e-9) for cost in costs[3:]])
        agreement = [float(row[f"agreement {method}"]) for method in METHODS]
        lines.append(
            [
                f"{row['dataset']}, {row['space']}",
                row["leaves"],
                *(f"{cost:.4f}" for cost in costs),
                f"{max(agreement[:3]):.1%}",
                *(f"{value:.1%}" for value in agreement[3:]),
            ]
        )
    counts = np.sum(best, axis=0).tolist()
    text = (
        "Cost in the space relative to k-means there. `ExplainableKMeans(faithfulness=0)` is at or "
        f"below the best of SpEx, CART and the regression tree in {counts[0]} of {len(rows)} "
        f"cases, with the default in {counts[1]}. Agreement: rows in their cluster of k-means, "
        "for the three the highest. At most 2,000 rows of a data set."
    )
    headings = ["case", "leaves", "SpEx", "CART", "regression tree", "least cost", "default"]
    headings += ["agreement of the three", "least cost", "default"]
    return [Section("Cost in another space", "", [Sheet("Spaces", headings, lines, text)])]
