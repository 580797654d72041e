"""ExplainableKMeans beside the tree of least k-means cost, which trying all trees finds."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks import data
from benchmarks.jobs import Job
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, group, read_rows
from pellucid import IMM, ExGreedy, ExplainableKMeans, ExShallow

FILE = "quality_least_cost.csv"
SETS = {
    "iris": (2, 3, 4),
    "breast_tissue": (2, 3),
    "wine": (2, 3),
    "ecoli": (2, 3),
    "waveform": (3,),
}
"""Data sets, and numbers of clusters for which all trees can be tried."""

METHODS = {
    "ours": partial(ExplainableKMeans, faithfulness=0),
    "IMM": IMM,
    "ExGreedy": ExGreedy,
    "ExShallow": ExShallow,
}


def jobs(settings: Settings) -> list[Job]:
    """Each data set and number of clusters."""
    store = Store(settings.output / FILE, ("dataset", "k"), ("least", "reference", *METHODS))
    names = [name for name in SETS if name in data.names(settings.data)]
    if settings.quick:
        return [Job(store, {"dataset": "iris", "k": 2}, _measure("iris", 2, settings))]
    return [
        Job(store, {"dataset": name, "k": k}, _measure(name, k, settings))
        for name in names
        for k in SETS[name]
    ]


def _measure(name: str, k: int, settings: Settings):
    def measure():
        X = np.asarray(data.load(name, settings.data)[0], dtype=np.float64)
        X = X - X.mean(axis=0)
        models = {m: kind(k, random_state=0).fit(X) for m, kind in METHODS.items()}
        found = {method: model.inertia_ for method, model in models.items()}
        return {"least": least_cost(X, k), "reference": models["ours"].reference_inertia_, **found}

    return measure


def least_cost(X: np.ndarray, n_leaves: int) -> float:
    """The least k-means cost of a tree with so many leaves, each of them a cluster."""
    if n_leaves == 1:
        return _sum_of_squares(X)
    if n_leaves == 2:
        return _least_cost_of_two(X)
    best = np.inf
    for feature in range(X.shape[1]):
        rows = X[np.argsort(X[:, feature], kind="stable")]
        for n_left in 1 + np.flatnonzero(np.diff(rows[:, feature]) > 0):
            left, right = rows[:n_left], rows[n_left:]
            for n in range(1, n_leaves):
                if n <= len(left) and n_leaves - n <= len(right):
                    best = min(best, least_cost(left, n) + least_cost(right, n_leaves - n))
    return best


def _sum_of_squares(X: np.ndarray) -> float:
    return float(((X - X.mean(axis=0)) ** 2).sum())


def _least_cost_of_two(X: np.ndarray) -> float:
    """The best single cut, from sums over the rows up to each value."""
    total, best, n = (X**2).sum(), np.inf, len(X)
    for feature in range(X.shape[1]):
        rows = X[np.argsort(X[:, feature], kind="stable")]
        n_left = 1 + np.flatnonzero(np.diff(rows[:, feature]) > 0)
        if len(n_left):
            sums = rows.cumsum(axis=0)
            left, right = sums[n_left - 1], sums[-1] - sums[n_left - 1]
            between = (left**2).sum(axis=1) / n_left + (right**2).sum(axis=1) / (n - n_left)
            best = min(best, float(total - between.max()))
    return best


def sections(settings: Settings) -> list[Section]:
    """Excess cost of the best tree and of the methods' trees."""
    lines = []
    for (name, k), (row, *_) in group(read_rows(settings.output / FILE), "dataset", "k").items():
        reference, least = float(row["reference"]), float(row["least"])
        costs = [float(row[method]) for method in METHODS]
        above = f"{100 * (costs[0] / least - 1):.4f} %"
        lines.append([name, k, *(f"{cost / reference - 1:.4f}" for cost in (least, *costs)), above])
    headings = ["data", "k", "least", *METHODS, "ours above the least cost"]
    note = (
        "Excess cost (NPC − 1) of the tree of least k-means cost, found by trying all trees with "
        "one leaf per cluster, and of the methods' trees, from the same k-means clustering."
    )
    sheet = Sheet("Distance to the least cost", headings, lines, note)
    return [Section("The least cost", "", [sheet])] if lines else []
