"""How often trees return on bootstraps of the rows, for the same reference."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.preprocessing import scale

from benchmarks import data
from benchmarks.jobs import Job
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, read_rows
from pellucid import IMM, ExplainableKMeans, ExShallow, stability
from pellucid._utils.notices import impure_rules_allowed

FILE = "quality_stability.csv"
CLUSTERS = {"wine": 3, "breast_cancer_wdbc": 4, "digits": 10}
"""Clusters by data set. The columns of digits have one unit; the others are standardized."""

METHODS: dict[str, tuple[Any, dict[str, Any]]] = {
    "ExShallow": (ExShallow, {}),
    "IMM": (IMM, {}),
    "ExplainableKMeans, fast": (ExplainableKMeans, {"effort": "fast"}),
    "ExplainableKMeans": (ExplainableKMeans, {}),
    "ExplainableKMeans, stability": (ExplainableKMeans, {"stability": True}),
}
VALUES = ("ari", "rows", "first", "questions", "columns", "agreement", "cost")


def jobs(settings: Settings) -> list[Job]:
    """Each data set and method; `--seeds` is the number of draws."""
    store = Store(settings.output / FILE, ("dataset", "k", "method", "draws"), VALUES)
    n_draws = settings.n_seeds(usual=100, quick=3)
    methods = list(METHODS)[: 2 if settings.quick else None]
    return [
        Job(
            store,
            {"dataset": name, "k": CLUSTERS[name], "method": method, "draws": n_draws},
            partial(_measure, name, method, n_draws),
        )
        for name in (("wine",) if settings.quick else CLUSTERS)
        for method in methods
    ]


def _measure(name: str, method: str, n_draws: int) -> dict[str, float]:
    X = data.load(name)[0]
    X = X if name == "digits" else scale(X)
    estimator, parameters = METHODS[method]
    with impure_rules_allowed():
        model = estimator(CLUSTERS[name], random_state=0, **parameters).fit(X)
    found = stability(model, X, n_bootstraps=n_draws)
    questions, columns = found.questions, [c for c in found.columns if c.in_model]
    return {
        "ari": found.mean_ari,
        "rows": found.agreement,
        "first": questions[0].returns / n_draws,
        "questions": sum(q.returns for q in questions) / (n_draws * len(questions)),
        "columns": sum(c.used for c in columns) / (n_draws * len(columns)),
        "agreement": float((model.labels_ == model.reference_labels_).mean()),
        "cost": model.inertia_ / model.reference_inertia_,
    }


def sections(settings: Settings) -> list[Section]:
    """Means over the draws."""
    rows = read_rows(settings.output / FILE)
    lines = [
        [
            f"{row['dataset']}, k = {row['k']}",
            row["method"],
            row["draws"],
            f"{float(row['ari']):.2f}",
            *(f"{float(row[c]):.0%}" for c in VALUES[1:5]),
            f"{float(row['agreement']):.1%}",
            f"{float(row['cost']):.3f}",
        ]
        for row in rows
    ]
    headings = [
        "data",
        "method",
        "draws",
        "ARI",
        "rows that stay",
        "first question returns",
        "questions return",
        "columns return",
        "agreement",
        "cost",
    ]
    note = (
        "`pellucid.stability` with its defaults: each tree is fitted again on bootstraps of the "
        "rows, for the same k-means reference. ARI compares the clusters of the tree and of each "
        "refit on all rows. Agreement (rows in their reference cluster) and cost (a multiple of "
        "the reference's) are those of the tree on all rows. Wine and breast cancer are "
        "standardized."
    )
    return [Section("Stability", "", [Sheet("Bootstraps", headings, lines, note)])] if rows else []
