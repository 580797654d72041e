"""What it costs to search rows in memory as one batch: why some criteria have two forms."""

from __future__ import annotations

import time
from pathlib import Path

import pellucid
from benchmarks.jobs import Job
from benchmarks.methods import TITLES, make
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.speed import cases
from benchmarks.store import Store, group, read_rows

FILE = "speed_batches.csv"
METHODS = ("imm", "imm+exkmc 2k", "exshallow")
ROWS = {"memory": "in memory", "batch": "one batch"}


def jobs(settings: Settings) -> list[Job]:
    """Each method on rows in memory, and on the same rows as one batch."""
    store = Store(settings.output / FILE, ("case", "method", "rows"), ("seconds",))
    case = (cases.QUICK if settings.quick else cases.TABLE)[0]
    n_runs = 2 if settings.quick else 6
    return [_job(store, case, method, rows, n_runs) for method in METHODS for rows in ROWS]


def _job(store: Store, case: cases.Case, method: str, rows: str, n_runs: int) -> Job:
    def measure():
        X, _ = cases.load(case)
        centers = cases.fit_kmeans(case)[0].cluster_centers_
        given = X if rows == "memory" else pellucid.scan(lambda: [X])
        seconds = []
        for _ in range(n_runs):  # the first one compiles
            start = time.process_time()
            make(method, centers, n_jobs=1).fit(given)
            seconds.append(time.process_time() - start)
        return {"seconds": min(seconds)}

    return Job(store, {"case": case.name, "method": method, "rows": rows}, measure)


def sections(folder: Path) -> list[Section]:
    """Processor seconds of both, and their ratio."""
    lines = []
    for (case, method), rows in group(read_rows(folder / FILE), "case", "method").items():
        seconds = {row["rows"]: float(row["seconds"]) for row in rows}
        if len(seconds) == len(ROWS):
            times = [f"{1000 * seconds[rows]:.0f} ms" for rows in ROWS]
            ratio = seconds["batch"] / seconds["memory"]
            lines.append([case, TITLES[method], *times, f"{ratio:.1f}"])
    sheet = Sheet("One thread, processor time", ["data", "method", *ROWS.values(), "ratio"], lines)
    return [Section("Rows in memory as one batch", "", [sheet] if lines else [])]
