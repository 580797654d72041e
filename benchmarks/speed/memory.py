"""Peak memory of a fit above its input, in a process of its own."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks import child
from benchmarks.jobs import Job
from benchmarks.methods import TITLES
from benchmarks.page import Section, Sheet, holds
from benchmarks.settings import Settings
from benchmarks.speed import cases, limits
from benchmarks.store import Store, group, read_rows

FILE = "speed_memory.csv"
METHODS = ("imm", "imm+exkmc 2k", "exshallow")
BOUNDS = {"float64": 1.5, "float32": 2.0}
"""What was asked for: the largest multiple of the input."""

TEXT_BOUND = 3.0
"""The same for sparse text."""


def jobs(settings: Settings) -> list[Job]:
    """Each method, in double and in single precision, and on a large sparse text."""
    store = Store(
        settings.output / FILE, ("case", "method", "dtype"), ("input_bytes", "peak_bytes")
    )
    case = cases.large(settings.quick)
    methods = METHODS[:1] if settings.quick else METHODS
    text_methods = () if settings.quick else limits.TEXT_METHODS
    return [
        *(_job(store, case, method, dtype) for dtype in BOUNDS for method in methods),
        *(_text_job(store, method) for method in text_methods),
    ]


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


def _text_job(store: Store, method: str) -> Job:
    def measure():
        X, centers, _ = limits.load_text(limits.LARGE_TEXT, None)
        with tempfile.TemporaryDirectory() as folder:
            paths = Path(folder, "X.npz"), Path(folder, "centers.npy")
            sparse.save_npz(paths[0], X, compressed=False)
            np.save(paths[1], centers)
            return child.ask("memory", method, *map(str, paths))

    where = {"case": limits.LARGE_TEXT, "method": method, "dtype": "float64"}
    return Job(store, where, measure)


def sections(folder: Path) -> list[Section]:
    """The multiples of the input."""
    bounds = {case.name: BOUNDS for case in cases.TABLE}
    bounds[limits.LARGE_TEXT] = {"float64": TEXT_BOUND}
    lines = []
    for (case, method), rows in group(read_rows(folder / FILE), "case", "method").items():
        cells = []
        for dtype in BOUNDS:
            of_type = [row for row in rows if row["dtype"] == dtype]
            if not of_type:
                cells.append("–")
                continue
            times = float(of_type[0]["peak_bytes"]) / float(of_type[0]["input_bytes"])
            bound = bounds.get(case, {}).get(dtype)
            asked = f" (≤ {bound:g}: {holds(times, bound)})" if bound else ""
            cells.append(f"{times:.2f} ×{asked}")
        lines.append([case, {**TITLES, **limits.TEXT_METHODS}[method], *cells])
    note = (
        "Peak of the resident memory during a fit, less what was in use just before it with the "
        "data loaded and everything compiled, as a multiple of the bytes of the data."
    )
    sheet = Sheet("Memory above the input", ["data", "method", *BOUNDS], lines, note)
    return [Section("Memory", "", [sheet] if lines else [])]
