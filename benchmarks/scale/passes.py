"""Passes over the data of every method, and the bytes of their results, counted and extrapolated.

The counters are those of `PassRecord`. They depend on the rows, but not on the computer. Batches of
2¹⁸ generated rows are the tasks. Extrapolated is to 10⁹ rows of 50 columns on 100 workers.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import pellucid
from benchmarks.page import Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, read_rows

FILE = "scale_passes.csv"
PART = "passes"
N_COLUMNS, N_CLUSTERS, N_BINS = 50, 20, 256
ROWS = (1_000_000, 10_000_000)
_BLOCK = 2**18
N_WORKERS, TASK_ROWS, PLANNED_ROWS = 100, 625_000, 10**9
N_TASKS = PLANNED_ROWS // TASK_ROWS
MERGED_AT_ONCE = 16

_HISTOGRAM = 8 * N_COLUMNS * N_BINS * N_CLUSTERS
_OF_LEAVES = (N_CLUSTERS + 1) * _HISTOGRAM
METHODS: dict[str, tuple[Any, str, int]] = {
    # The estimator, and the bytes of the largest result of a task: as a formula, and as a number.
    "IMM": (pellucid.IMM, "8dkB", _HISTOGRAM),
    "EMN": (pellucid.EMN, "8dkB", _HISTOGRAM),
    "BSIMM": (partial(pellucid.BSIMM, beam_width=4), "2²⁸", 2**28),
    "ExGreedy": (pellucid.ExGreedy, "16dkB", 2 * _HISTOGRAM),
    "ExShallow": (pellucid.ExShallow, "16dkB", 2 * _HISTOGRAM),
    "ExKMC": (
        partial(pellucid.ExKMC, n_leaves=2 * N_CLUSTERS),
        "8dkB(k+1)",
        (N_CLUSTERS + 1) * _HISTOGRAM,
    ),
    "SpEx": (pellucid.SpEx, "8dkB(k+1)", (N_CLUSTERS + 1) * _HISTOGRAM),
    "ExplainableKMeans": (
        partial(pellucid.ExplainableKMeans, effort="fast", random_state=0),
        "8s(d+3)/t",
        8 * 130_000 * (N_COLUMNS + 3) // N_TASKS,
    ),
}


def centers() -> np.ndarray:
    """The reference centers of all cases."""
    return 1.5 * np.random.default_rng(0).normal(size=(N_CLUSTERS, N_COLUMNS))


def batches(n_rows: int) -> Iterator[np.ndarray]:
    """Overlapping normal clusters as float32."""
    means = centers()
    for start in range(0, n_rows, _BLOCK):
        rng, n = np.random.default_rng([1, start]), min(_BLOCK, n_rows - start)
        X = means[rng.integers(N_CLUSTERS, size=n)].astype(np.float32)
        yield X + rng.standard_normal(size=X.shape, dtype=np.float32)


def measure(settings: Settings) -> None:
    """Count the passes of the cases that have not been run."""
    columns = ("passes", "task_bytes", "part_bytes", "total_bytes", "merged_bytes", "depth")
    store = Store(settings.output / FILE, ("rows", "method"), columns)
    for n_rows in (20_000,) if settings.quick else ROWS:
        for name, (make, _, _) in METHODS.items():
            case = {"rows": n_rows, "method": name}
            if settings.fresh:
                store.drop([case])
            if case not in store:
                print(f"scale: passes of {name}, {n_rows:,} rows", flush=True)
                store.add([{**case, **count(make, n_rows)}])


def count(make: Any, n_rows: int) -> dict:
    """Passes of a fit, and bytes of their results."""
    records: list[Any] = []
    # So little memory that ExplainableKMeans uses a sample.
    memory = min(10**9, 400 * n_rows)
    data = pellucid.scan(lambda: batches(n_rows), memory=memory, on_pass=records.append)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(reference=centers()).fit(data)
    parts = [r.task_bytes for r in records if r.task in ("PartSumsTask", "InducedCostTask")]
    return {
        "passes": len(records),
        "task_bytes": max(r.task_bytes for r in records),
        "part_bytes": max(parts, default=0),
        "total_bytes": sum(r.total_bytes for r in records),
        "merged_bytes": max(r.merged_bytes for r in records),
        "depth": model.tree_.max_depth,
    }


def sheets(settings: Settings) -> list[Sheet]:
    """Counters, and what they are for 10⁹ rows on 100 workers."""
    rows = read_rows(settings.output / FILE)
    lines = [
        [
            f"{int(row['rows']):,}",
            row["method"],
            row["passes"],
            row["depth"],
            *(_mb(row[name]) for name in ("task_bytes", "part_bytes", "merged_bytes")),
        ]
        for row in rows
    ]
    note = (
        f"Generated rows of {N_COLUMNS} float32 columns, k = {N_CLUSTERS}, in batches of "
        f"{_BLOCK:,} rows. Bytes are those of the largest result of a task, of the largest sums of "
        "parts of a task, and of the largest merged result."
    )
    heads = ["rows", "method", "passes", "depth", "task", "sums of parts", "merged"]
    planned = [_planned(name, rows) for name in METHODS if any(r["method"] == name for r in rows)]
    about = (
        f"n = 10⁹ rows, d = {N_COLUMNS}, k = {N_CLUSTERS}, B = {N_BINS} bins, s = 130,000 rows "
        f"of the sample, {N_WORKERS} workers, t = {N_TASKS:,} tasks of {TASK_ROWS:,} rows. "
        "The bytes of a task follow from the formula; sums of parts are at most 2²⁴ bytes. "
        "Passes are those of the largest case above. "
        f"A merge reads {MERGED_AT_ONCE} results. Workers read the encoded rows once per pass, "
        "at most 5d bytes per row."
    )
    columns = ["method", "passes", "task", "bytes", "pass", "merge", "read per worker and pass"]
    return [
        Sheet("Passes", heads, lines, note),
        Sheet("10⁹ rows on 100 workers", columns, planned, about),
    ] * bool(rows)


def _planned(name: str, rows: list[dict]) -> list[str]:
    _, formula, n_bytes = METHODS[name]
    last = max((r for r in rows if r["method"] == name), key=lambda r: int(r["rows"]))
    read = 5 * N_COLUMNS * PLANNED_ROWS // N_WORKERS
    task = max(n_bytes, 2**24 if int(last["part_bytes"]) else 0)
    return [
        name,
        last["passes"],
        formula,
        _mb(task),
        f"{task * N_TASKS / 1e9:.1f} GB",
        _mb(MERGED_AT_ONCE * task),
        f"{read / 1e9:.1f} GB",
    ]


def _mb(n_bytes: Any) -> str:
    return f"{int(n_bytes) / 1e6:.1f} MB"
