"""`predict` and `apply` beside scikit-learn's decision tree of the same shape."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.tree import DecisionTreeClassifier

from benchmarks.jobs import Job
from benchmarks.page import Section, Sheet, holds
from benchmarks.settings import Settings
from benchmarks.speed import cases
from benchmarks.store import Store, read_rows
from benchmarks.timing import best_of
from pellucid.baselines import CARTExplainer

FILE = "speed_predict.csv"
CALLS = ("predict", "apply")
FLOOR = 3.0
"""What was asked for: how many times as fast as scikit-learn at least."""


def jobs(settings: Settings) -> list[Job]:
    """Both calls, on dense and on sparse rows."""
    store = Store(settings.output / FILE, ("case", "call"), ("seconds", "sklearn_seconds"))
    real = [] if settings.quick else [c for c in cases.real(settings.data) if c.is_sparse]
    scattered = cases.Case("scattered counts (CSR), k = 10", 400 if settings.quick else 20_000)
    found = []
    for case in (cases.large(settings.quick), *(real or [scattered])):
        found += [_job(store, case, call, 1 if settings.quick else 5) for call in CALLS]
    return found


def _job(store: Store, case: cases.Case, call: str, repeats: int) -> Job:
    def measure():
        X, cart, ours = _trees(case)
        getattr(ours, call)(X)
        return {
            "seconds": best_of(repeats, lambda: getattr(ours, call)(X)),
            "sklearn_seconds": best_of(repeats, lambda: cart.predict(X)),
        }

    return Job(store, {"case": case.name, "call": call}, measure)


@lru_cache(maxsize=1)
def _trees(case: cases.Case):
    """The rows, scikit-learn's tree on k-means labels, and the same tree as ours."""
    if case.file or case.n_features:
        X, k = cases.load(case)
    else:
        X, k = _scattered_counts(case.n_samples), 10
    labels = KMeans(n_clusters=k, n_init=1, random_state=0).fit(X).labels_
    cart = DecisionTreeClassifier(max_leaf_nodes=k, random_state=0).fit(X, labels)
    ours = CARTExplainer(random_state=0).fit(X, labels)
    assert ours.n_leaves_ == cart.get_n_leaves()
    return X, cart, ours


def _scattered_counts(n_samples: int):
    """Few and small counts in a thousand columns, as texts have them."""
    random = np.random.default_rng(0)
    return sparse.random_array(
        (n_samples, 1000),
        density=0.02,
        format="csr",
        rng=random,
        data_sampler=lambda size: random.poisson(2.0, size) + 1.0,
    )


def sections(folder: Path) -> list[Section]:
    """Seconds beside scikit-learn's."""
    official = {case.name for case in cases.QUICK}
    lines = []
    for row in read_rows(folder / FILE):
        ours, theirs = float(row["seconds"]), float(row["sklearn_seconds"])
        faster = theirs / ours
        asked = f" (≥ {FLOOR:g}: {holds(faster, FLOOR, at_least=True)})"
        verdict = f"{faster:.1f} ×{'' if row['case'] in official else asked}"
        times = [f"{1000 * seconds:.1f} ms" for seconds in (ours, theirs)]
        lines.append([row["case"], f"`{row['call']}`", *times, verdict])
    headings = ["data", "call", "ours", "`DecisionTreeClassifier.predict`", "as fast"]
    note = "Trees of the same shape, from the same labels: `CARTExplainer` and scikit-learn's own."
    sheet = Sheet("Routing rows to leaves", headings, lines, note)
    return [Section("Prediction", "", [sheet] if lines else [])]
