"""The first call on a machine, when everything is compiled, and the next one."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks import child
from benchmarks.jobs import Job
from benchmarks.methods import TITLES
from benchmarks.page import Section, Sheet, holds
from benchmarks.settings import Settings
from benchmarks.store import Store, read_rows

FILE = "speed_compilation.csv"
METHODS = ("imm", "imm+exkmc 2k", "exshallow", "explainable k-means")
FORMS = ("dense", "CSR")
BOUNDS = {"imm": 2.5, "imm+exkmc 2k": 4.0, "exshallow": 4.0, "explainable k-means": 6.0}
"""Upper bounds of the seconds of compilation."""


def jobs(settings: Settings) -> list[Job]:
    """Each method, with an empty cache and with the one that leaves behind."""
    store = Store(settings.output / FILE, ("method", "form"), ("cold_seconds", "warm_seconds"))
    methods = METHODS[:1] if settings.quick else METHODS
    repeats = 1 if settings.quick else 3
    return [_job(store, method, form, repeats) for form in FORMS for method in methods]


def _job(store: Store, method: str, form: str, repeats: int) -> Job:
    def measure():
        cold, warm = np.min([_first_and_next(method, form) for _ in range(repeats)], axis=0)
        return {"cold_seconds": cold, "warm_seconds": warm}

    return Job(store, {"method": method, "form": form}, measure)


def _first_and_next(method: str, form: str) -> list[float]:
    """Seconds of the first fit with an empty cache, and in the next process."""
    with tempfile.TemporaryDirectory() as cache:
        return [
            child.ask("compilation", method, form, NUMBA_CACHE_DIR=cache)["seconds"]
            for _ in range(2)
        ]


def sections(folder: Path) -> list[Section]:
    """Seconds of the first call."""
    lines = []
    for row in read_rows(folder / FILE):
        cold, warm = float(row["cold_seconds"]), float(row["warm_seconds"])
        bound = BOUNDS[row["method"]]
        compiling = f"{cold - warm:.1f} s (≤ {bound:g}: {holds(cold - warm, bound)})"
        seconds = f"{cold:.1f} s", f"{warm:.2f} s", compiling
        title = TITLES.get(row["method"], "ExplainableKMeans")
        lines.append([title, row["form"], *seconds])
    headings = ["method", "data", "nothing compiled yet", "next process", "compilation"]
    note = (
        "Seconds of the first `fit` of a new process, on 300 rows, the least of three; importing "
        "Numba is part of it. "
        "Compilation is the difference between the two."
    )
    sheet = Sheet("First call", headings, lines, note)
    return [Section("Compilation", "", [sheet] if lines else [])]
