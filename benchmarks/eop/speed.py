"""How long EOP takes on many columns, beside a random forest in the same run."""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.jobs import Job
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, read_rows
from pellucid.datasets import make_eop_patterns

FILE = "eop_speed.csv"
N_THREADS = 2


class Task(NamedTuple):
    """Data and a model."""

    title: str
    n_samples: int
    n_features: int
    parameters: dict[str, Any]


_PAIRS = {
    f"{base}, {regions}": Task(
        f"all pairs; {title}, {shape}", 5000, 60, {"base": base, "regions": regions}
    )
    for base, title in (("stump", "stumps"), ("linear_svm", "linear SVMs"))
    for regions, shape in (("box", "boxes"), ("nonparametric", "neighbours"))
}
TASKS = {
    **_PAIRS,
    "sampled": Task(
        "1,000 projections drawn; stumps, boxes",
        2000,
        10_000,
        {"base": "stump", "projections": 1000},
    ),
}


def jobs(settings: Settings) -> list[Job]:
    """Each task."""
    columns = ("rows", "columns", "seconds", "first_level", "levels", "forest")
    store = Store(settings.output / FILE, ("task",), columns)
    tasks = TASKS
    if settings.quick:
        name, task = next(iter(TASKS.items()))
        tasks = {name: task._replace(n_samples=600, n_features=8)}
    return [
        Job(store, {"task": name}, lambda task=task: _measure(task)) for name, task in tasks.items()
    ]


def _measure(task: Task) -> dict[str, float]:
    """Seconds of a fit, of its first level, which sees all rows, and of a forest."""
    from pellucid import EOPClassifier

    X, y = make_eop_patterns(task.n_samples, task.n_features, random_state=0)
    model = EOPClassifier(**task.parameters, random_state=0, n_jobs=N_THREADS)
    forest = RandomForestClassifier(n_jobs=N_THREADS, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # What is compiled on first use is not counted.
        model.fit(X[:300, :4], y[:300])
        seconds = _seconds(model, X, y)
        levels = model.n_levels_
        first = _seconds(model.set_params(max_levels=1), X, y)
    return {
        "rows": task.n_samples,
        "columns": task.n_features,
        "seconds": seconds,
        "first_level": first,
        "levels": levels,
        "forest": _seconds(forest, X, y),
    }


def _seconds(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def sections(settings: Settings) -> list[Section]:
    """One sheet."""
    rows = read_rows(settings.output / FILE)
    lines = []
    for row in rows:
        seconds, first, forest = (float(row[c]) for c in ("seconds", "first_level", "forest"))
        size = f"{int(row['rows']):,} × {int(row['columns']):,}"
        texts = [f"{seconds:.2f}", row["levels"], f"{first:.2f}", f"{forest:.2f}"]
        lines.append([TASKS[row["task"]].title, size, *texts, f"{seconds / forest:.1f}"])
    if not lines:
        return []
    headings = ["what", "data", "seconds", "levels", "first level", "forest", "ratio"]
    note = (
        "Seconds of a whole fit, of its first level, and of scikit-learn's random forest (100 "
        f"trees), all with {N_THREADS} threads in one run. Every level fits the base classifier on "
        "every projection anew: 60 columns have 1,770 pairs."
    )
    return [Section("EOP: speed", "", [Sheet("Many columns", headings, lines, note)])]
