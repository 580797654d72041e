"""What a second thread brings."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.jobs import Job
from benchmarks.methods import TITLES, make, warm_up
from benchmarks.page import Section, Sheet, holds
from benchmarks.settings import Settings
from benchmarks.speed import cases
from benchmarks.store import Store, group, read_rows
from benchmarks.timing import best_of

FILE = "speed_threads.csv"
METHODS = ("imm", "imm+exkmc 2k", "exshallow")
FLOOR = 1.6
"""What was asked for: how many times as fast two threads are at least."""


def jobs(settings: Settings) -> list[Job]:
    """Each method with one thread and with two; nothing on a machine with one core."""
    if (os.cpu_count() or 1) < 2:
        return []
    store = Store(settings.output / FILE, ("case", "method", "n_jobs"), ("seconds",))
    case = cases.large(settings.quick)
    repeats = 1 if settings.quick else 3
    return [_job(store, case, method, n, repeats) for method in METHODS for n in (1, 2)]


def _job(store: Store, case: cases.Case, method: str, n_jobs: int, repeats: int) -> Job:
    def measure():
        X, k = cases.load(case)
        centers = cases.fit_kmeans(case)[0].cluster_centers_
        warm_up(method, X, k, n_jobs=n_jobs)
        return {"seconds": best_of(repeats, lambda: make(method, centers, n_jobs=n_jobs).fit(X))}

    return Job(store, {"case": case.name, "method": method, "n_jobs": n_jobs}, measure)


def sections(folder: Path) -> list[Section]:
    """Seconds with one and two threads."""
    official = {case.name for case in cases.TABLE}
    lines = []
    for (case, method), rows in group(read_rows(folder / FILE), "case", "method").items():
        seconds = {row["n_jobs"]: float(row["seconds"]) for row in rows}
        if len(seconds) < 2:
            continue
        faster = seconds["1"] / seconds["2"]
        asked = f" (≥ {FLOOR:g}: {holds(faster, FLOOR, at_least=True)})" if case in official else ""
        times = [f"{seconds[n]:.2f} s" for n in ("1", "2")]
        lines.append([case, TITLES[method], *times, f"{faster:.2f} ×{asked}"])
    headings = ["data", "method", "1 thread", "2 threads", "as fast"]
    sheet = Sheet("One thread and two", headings, lines)
    return [Section("Threads", "", [sheet] if lines else [])]
