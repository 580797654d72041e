"""How long EOP takes on many columns, beside a random forest in the same run."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_blobs, make_classification
from sklearn.ensemble import RandomForestClassifier

from benchmarks.jobs import Job
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, read_rows
from pellucid.datasets import make_eop_patterns

FILE = "eop_speed.csv"
N_THREADS = 2
SIZES = (25_000, 50_000, 100_000)


def _patterns(n_samples: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    return make_eop_patterns(n_samples, n_features, random_state=0)


def _blobs(n_samples: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_blobs(SIZES[-1], n_features, centers=5, cluster_std=4.0, random_state=0)
    return X[:n_samples], y[:n_samples]


def _classes(n_samples: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """The first rows of the same draw for all sizes."""
    X, y = make_classification(
        SIZES[-1], n_features, n_informative=6, n_classes=5, flip_y=0.05, random_state=0
    )
    return X[:n_samples], y[:n_samples]


class Task(NamedTuple):
    """Data and a model."""

    title: str
    n_samples: int
    n_features: int
    parameters: dict[str, Any]
    make: Callable[[int, int], tuple[np.ndarray, np.ndarray]] = _patterns


_PAIRS = {
    f"{base}, {regions}": Task(
        f"all pairs; {title}, {shape}", 5000, 60, {"base": base, "regions": regions}
    )
    for base, title in (("stump", "stumps"), ("linear_svm", "linear SVMs"))
    for regions, shape in (("box", "boxes"), ("nonparametric", "neighbours"))
}
_GROWING = {
    f"{data}, {n_samples}": Task(f"defaults; {title}", n_samples, 10, {}, make)
    for data, (title, make) in {
        "patterns": ("patterns in few columns", _patterns),
        "blobs": ("5 clusters", _blobs),
        "classes": ("5 classes of clusters, 5% noise", _classes),
    }.items()
    for n_samples in SIZES
}
TASKS = {
    **_PAIRS,
    "sampled": Task(
        "1,000 projections drawn; stumps, boxes",
        2000,
        10_000,
        {"base": "stump", "projections": 1000},
    ),
    **_GROWING,
}


def jobs(settings: Settings) -> list[Job]:
    """Each task."""
    columns = ("rows", "columns", "seconds", "first_level", "levels", "forest")
    store = Store(settings.output / FILE, ("task",), columns)
    tasks = TASKS
    if settings.quick:
        name, task = next(iter(TASKS.items()))
        tasks = {name: task._replace(n_samples=300, n_features=5)}
    return [
        Job(store, {"task": name}, lambda task=task: _measure(task)) for name, task in tasks.items()
    ]


def _measure(task: Task) -> dict[str, float]:
    """Seconds of a fit, of its first level, which sees all rows, and of a forest."""
    from pellucid import EOPClassifier

    X, y = task.make(task.n_samples, task.n_features)
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
    """Many columns, and growing numbers of rows."""
    rows = read_rows(settings.output / FILE)
    if not rows:
        return []
    headings = ["what", "data", "seconds", "levels", "first level", "forest", "ratio"]
    wide = [_line(row) for row in rows if row["task"] not in _GROWING]
    note = (
        "Seconds of a whole fit, of its first level, and of scikit-learn's random forest (100 "
        f"trees), all with {N_THREADS} threads in one run. Every level fits the base classifier on "
        "every projection anew: 60 columns have 1,770 pairs."
    )
    growing = [row for row in rows if row["task"] in _GROWING]
    before: list[dict[str, str]] = [{}, *growing]
    lines = [[*_line(row), _exponent(last, row)] for last, row in zip(before, growing)]
    text = "Exponent: by which power of the number of rows the seconds grow from the line above."
    sheets = [
        Sheet("Many columns", headings, wide, note),
        Sheet("Many rows", [*headings, "exponent"], lines, text),
    ]
    return [Section("EOP: speed", "", sheets)]


def _line(row: dict[str, str]) -> list[str]:
    seconds, first, forest = (float(row[c]) for c in ("seconds", "first_level", "forest"))
    size = f"{int(row['rows']):,} × {int(row['columns']):,}"
    texts = [f"{seconds:.2f}", row["levels"], f"{first:.2f}", f"{forest:.2f}"]
    return [TASKS[row["task"]].title, size, *texts, f"{seconds / forest:.1f}"]


def _exponent(last: dict[str, str], row: dict[str, str]) -> str:
    """Of the growth between two sizes of the same data, or nothing for the first size."""
    if not last or TASKS[last["task"]].title != TASKS[row["task"]].title:
        return ""
    seconds, n_rows = (float(row[c]) / float(last[c]) for c in ("seconds", "rows"))
    return f"{np.log(seconds) / np.log(n_rows):.2f}"
