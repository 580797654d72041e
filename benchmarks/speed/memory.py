"""Peak memory of a fit above its input, in a process of its own."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks import child
from benchmarks.jobs import Job
from benchmarks.methods import TITLES
from benchmarks.page import Section, Sheet, holds
from benchmarks.settings import Settings
from benchmarks.speed import cases
from benchmarks.store import Store, group, read_rows

FILE = "speed_memory.csv"
METHODS = ("imm", "imm+exkmc 2k", "exshallow")
FLOORS = {"float64": 1.5, "float32": 2.0}
"""What was asked for: the largest multiple of the input."""


def jobs(settings: Settings) -> list[Job]:
    """Each method, in double and in single precision."""
    store = Store(
        settings.output / FILE, ("case", "method", "dtype"), ("input_bytes", "peak_bytes")
    )
    case = cases.large(settings.quick)
    methods = METHODS[:1] if settings.quick else METHODS
    return [_job(store, case, method, dtype) for dtype in FLOORS for method in methods]


def _job(store: Store, case: cases.Case, method: str, dtype: str) -> Job:
    def measure():
        X, _ = cases.load(case)
        kmeans, _ = cases.fit_kmeans(case)
        with tempfile.TemporaryDirectory() as folder:
            paths = Path(folder, "X.npy"), Path(folder, "centers.npy")
            np.save(paths[0], X.astype(dtype, copy=False))
            np.save(paths[1], kmeans.cluster_centers_)
            return child.ask("memory", method, *map(str, paths))

    return Job(store, {"case": case.name, "method": method, "dtype": dtype}, measure)


def sections(folder: Path) -> list[Section]:
    """The multiples of the input."""
    official = {case.name for case in cases.TABLE}
    lines = []
    for (case, method), rows in group(read_rows(folder / FILE), "case", "method").items():
        cells = []
        for dtype, floor in FLOORS.items():
            of_type = [row for row in rows if row["dtype"] == dtype]
            if not of_type:
                cells.append("–")
                continue
            times = float(of_type[0]["peak_bytes"]) / float(of_type[0]["input_bytes"])
            asked = f" (≤ {floor:g}: {holds(times, floor)})" if case in official else ""
            cells.append(f"{times:.2f} ×{asked}")
        lines.append([case, TITLES[method], *cells])
    note = (
        "Peak of the resident memory during a fit, less what was in use just before it with the "
        "data loaded and everything compiled, as a multiple of the bytes of the data."
    )
    sheet = Sheet("Memory above the input", ["data", "method", *FLOORS], lines, note)
    return [Section("Memory", "", [sheet] if lines else [])]
