"""Random thresholds: the mean cost over many draws, beside what is guaranteed."""

from __future__ import annotations

import numpy as np

from benchmarks.jobs import Job
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, read_rows
from pellucid import IMM, RandomThresholds
from pellucid.datasets import make_synthetic_2

FILE = "quality_randomness.csv"
METHODS = ("makarychev-shan", "gamlath")
N_DRAWS = 200


def jobs(settings: Settings) -> list[Job]:
    """Synthetic II in several sizes, both distributions."""
    columns = ("mean", "best", "imm", "guarantee")
    store = Store(settings.output / FILE, ("k", "method"), columns)
    sizes = (10,) if settings.quick else (10, 20, 40)
    return [
        Job(store, {"k": k, "method": method}, lambda k=k, method=method: _measure(k, method))
        for k in sizes
        for method in METHODS
    ]


def _measure(k: int, method: str) -> dict[str, float]:
    X, labels = make_synthetic_2(k, 200, random_state=0)
    centers = np.array([X[labels == c].mean(axis=0) for c in np.unique(labels)])
    model = RandomThresholds(reference=centers, method=method, n_draws=N_DRAWS, random_state=0).fit(
        X
    )
    ratios = model.draw_costs_ / model.reference_inertia_
    imm = IMM(reference=centers).fit(X)
    bound = k * np.log(k) * (np.log(np.log(k)) if method == METHODS[0] else np.log(k))
    return {
        "mean": float(ratios.mean()),
        "best": float(ratios.min()),
        "imm": imm.inertia_ / imm.reference_inertia_,
        "guarantee": float(bound),
    }


def sections(settings: Settings) -> list[Section]:
    """The mean ratio to the reference's cost."""
    rows = read_rows(settings.output / FILE)
    lines = [
        [
            row["k"],
            row["method"],
            *(f"{float(row[c]):.2f}" for c in ("mean", "best", "imm")),
            f"{float(row['guarantee']):.1f}",
        ]
        for row in rows
    ]
    headings = ["k", "method", "mean of the draws", "best draw", "IMM", "growth of the guarantee"]
    note = (
        f"Cost over that of the reference on Synthetic II, {N_DRAWS} draws. The guarantees are "
        "k log k log log k and k log² k up to a constant; the column shows those figures."
    )
    sheet = Sheet("Random thresholds on Synthetic II", headings, lines, note)
    return [Section("Random thresholds", "", [sheet])] if rows else []
