"""What more threads bring, from one to all processors."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.jobs import Job
from benchmarks.machine import describe
from benchmarks.methods import TITLES, make, warm_up
from benchmarks.page import Section, Sheet, holds
from benchmarks.settings import Settings
from benchmarks.speed import cases
from benchmarks.store import Store, group, read_rows
from benchmarks.timing import best_of

FILE = "speed_threads.csv"
METHODS = ("imm", "imm+exkmc 2k", "exshallow")
_LARGE_FLOORS = {2: 1.6, 8: 5.0, 16: 8.0}
FLOORS = {
    cases.TABLE[0].name: {16: 2.0},
    cases.TABLE[1].name: _LARGE_FLOORS,
    cases.LARGEST.name: _LARGE_FLOORS,
}
"""What was asked for: how many times as fast some numbers of threads are at least."""

_MANY_CORES = 8
"""Processors from which on the largest case is measured."""


def jobs(settings: Settings) -> list[Job]:
    """Each method with 1, 2, 4, ... threads; nothing on a machine with one core."""
    n_cores = os.cpu_count() or 1
    if n_cores < 2:
        return []
    columns = ("seconds", "kmeans_seconds", "machine")
    store = Store(settings.output / FILE, ("case", "method", "n_jobs"), columns)
    blobs = [cases.large(settings.quick)]
    if not settings.quick:
        blobs = [*cases.TABLE[:2], *([cases.LARGEST] if n_cores >= _MANY_CORES else [])]
    repeats = 1 if settings.quick else 3
    numbers = [1 << i for i in range(n_cores.bit_length()) if 1 << i < n_cores] + [n_cores]
    return [
        _job(store, case, method, n, 1 if case == cases.LARGEST else repeats)
        for case in blobs
        for method in METHODS
        for n in numbers
    ]


def _job(store: Store, case: cases.Case, method: str, n_jobs: int, repeats: int) -> Job:
    def measure():
        X, k = cases.load(case)
        kmeans, kmeans_seconds = cases.fit_kmeans(case)
        centers, machine = kmeans.cluster_centers_, describe()
        warm_up(method, X, k, n_jobs=n_jobs)
        seconds = best_of(repeats, lambda: make(method, centers, n_jobs=n_jobs).fit(X))
        return {
            "seconds": seconds,
            "kmeans_seconds": kmeans_seconds,
            "machine": f"{machine['processor']}, {machine['cores']} cores",
        }

    return Job(store, {"case": case.name, "method": method, "n_jobs": n_jobs}, measure)


def sections(folder: Path) -> list[Section]:
    """Seconds by number of threads, how many times as fast that is, and the ratio to k-means."""
    lines, machines = [], list[str]()
    found = group(read_rows(folder / FILE), "case", "method")
    numbers = sorted({int(row["n_jobs"]) for rows in found.values() for row in rows})
    for (case, method), rows in found.items():
        by_number = {int(row["n_jobs"]): row for row in rows}
        if len(by_number) < 2 or 1 not in by_number:
            continue
        machines += [row["machine"] for row in rows]
        alone, cells = float(by_number[1]["seconds"]), []
        for n in numbers:
            if n not in by_number:
                cells.append("–")
                continue
            seconds = float(by_number[n]["seconds"])
            floor = FLOORS.get(case, {}).get(n)
            faster = alone / seconds
            asked = f", ≥ {floor:g}: {holds(faster, floor, at_least=True)}" if floor else ""
            cells.append(f"{seconds:.3f} s" + (f" ({faster:.1f} ×{asked})" if n > 1 else ""))
        most = by_number[max(by_number)]
        ratio = float(most["seconds"]) / float(most["kmeans_seconds"])
        lines.append([case, TITLES[method], *cells, f"{ratio:.2f}"])
    threads = [f"{n} thread{'s' if n > 1 else ''}" for n in numbers]
    headings = ["data", "method", *threads, "ratio to k-means"]
    measured_on = "; ".join(dict.fromkeys(machines))
    note = f"Measured on: {measured_on}. The ratio is that of all threads to k-means."
    sheet = Sheet("From one thread to all", headings, lines, note)
    return [Section("Threads", "", [sheet] if lines else [])]
