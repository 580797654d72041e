"""``pellucid explain`` on a large CSV file, beside reading the file and clustering it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import polars as pl

from benchmarks import child
from benchmarks.jobs import Job
from benchmarks.page import Section, Sheet, holds
from benchmarks.settings import Settings
from benchmarks.store import Row, Store, group, read_rows

FILE = "speed_command.csv"
K = 5
FLOOR = 2.0
"""What was asked for: explaining takes less than so many times reading plus clustering."""

_BOTH = ("cluster", "explain")
_MEASURES = ("seconds", "cpu_seconds", "work_seconds", "work_cpu_seconds")


def jobs(settings: Settings) -> list[Job]:
    """One file, several times."""
    values = ("run", *(f"{what}_{measure}" for what in _BOTH for measure in _MEASURES))
    store = Store(settings.output / FILE, ("rows",), values)
    n_rows, noise = (100, 0.3) if settings.quick else (1_000_000, 3.0)
    return [_job(store, n_rows, noise, settings.n_seeds(3))]


def _job(store: Store, n_rows: int, noise: float, n_runs: int) -> Job:
    def measure():
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "rows.csv")
            make_table(min(n_rows, 2000), noise).write_csv(file)
            _run("explain", file)  # so that everything is compiled
            make_table(n_rows, noise).write_csv(file, float_precision=3)
            return [
                {"run": run, **_run("cluster", file), **_run("explain", file)}
                for run in range(n_runs)
            ]

    return Job(store, {"rows": n_rows}, measure)


def make_table(n_rows: int, noise: float = 3.0) -> pl.DataFrame:
    """Eight columns of numbers and one of five categories, in five groups, overlapping by noise."""
    random = np.random.default_rng(0)
    kind = random.integers(K, size=n_rows)
    numbers = noise * random.normal(size=(n_rows, 8)) + 4 * random.normal(size=(K, 8))[kind]
    table = pl.DataFrame(numbers, schema=[f"number {i}" for i in range(8)])
    return table.with_columns(kind=pl.Series(np.array(list("abcde"))[kind]))


def _run(what: str, file: Path) -> dict[str, float]:
    start = perf_counter()
    found = child.ask(what, str(file), str(K))
    found["seconds"] = perf_counter() - start - found.pop("aside_seconds")
    found["cpu_seconds"] -= found.pop("aside_cpu_seconds")
    return {f"{what}_{measure}": found[measure] for measure in _MEASURES}


def sections(folder: Path) -> list[Section]:
    """Medians over the runs, with and without what it takes to start."""
    lines = []
    for (n_rows,), rows in group(read_rows(folder / FILE), "rows").items():
        for title, prefix in (("the whole process", ""), ("without starting", "work_")):
            lines += [
                [f"{int(n_rows):,}", title, clock, *_cells(rows, f"{prefix}{measure}")]
                for clock, measure in (("wall", "seconds"), ("processor", "cpu_seconds"))
            ]
    headings = ["rows", "what is timed", "clock", "read and cluster", "`explain`", "ratio"]
    note = (
        "Each in a process of its own, by turns: `polars.read_csv` and "
        f"`KMeans({K}, n_init=3)` on the columns of numbers, scaled, and a column for each "
        f"category, and `pellucid explain FILE -k {K} --quiet`, which reads the same file with the "
        "same reader and runs the same k-means on the same columns. The whole process is from "
        "the start of Python to its end, imports and all; without starting means that polars, "
        "scikit-learn and this package have been imported before the clock starts (Numba, which "
        "only the explanation needs, has not). What the first script does to scale and encode "
        "the columns is not counted; what the command does is. Medians over the runs."
    )
    sheet = Sheet("From a CSV file to rules", headings, lines, note)
    return [Section("Command line", "", [sheet] if lines else [])]


def _cells(rows: list[Row], measure: str) -> list[str]:
    cluster, explain = ([float(row[f"{what}_{measure}"]) for row in rows] for what in _BOTH)
    ratios = [ours / theirs for ours, theirs in zip(explain, cluster)]
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    asked = f"{median(ratios):.2f} ({spread}; < {FLOOR:g}: {holds(median(ratios), FLOOR)})"
    return [f"{median(cluster):.2f} s", f"{median(explain):.2f} s", asked]
