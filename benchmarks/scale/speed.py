"""Data larger than memory: time of a fit on Parquet files against one plain read of them.

Each case runs in a process of its own, which prints one JSON object. A plain read decodes all
batches of the file and drops them. It comes after the fit, since it keeps the whole file in memory.
Measured are seconds and the largest memory of the process up to the end of the fit. Each case runs
twice, and the shorter times count: the speed of a computer changes from minute to minute.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.child import _peak
from benchmarks.page import Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, read_rows

FILE = "scale.csv"
LIMIT = 1800
"""Seconds for a case."""

N_COLUMNS, N_CLUSTERS = 20, 10
ROWS = (5_000_000, 50_000_000)
BOUNDS = {"IMM": 5, "ExShallow": 8, "ExKMC": 10}
"""Times of a plain read that a fit may take, by method."""

ON_DASK = "IMM on Dask"
"""The largest file on two workers; to be compared with the streamed time."""

CASES = (*BOUNDS, ON_DASK)

_BLOCK = 2**20

_CASE = "import sys; from benchmarks.scale.speed import run_case; run_case(*sys.argv[1:])"
"""The program of a case."""


def centers() -> np.ndarray:
    """The reference centers of all cases."""
    return 2.5 * np.random.default_rng(0).normal(size=(N_CLUSTERS, N_COLUMNS))


def write_file(path: Path, n_rows: int) -> None:
    """Write overlapping normal clusters as float32."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, means, writer = np.random.default_rng(1), centers(), None
    for start in range(0, n_rows, _BLOCK):
        n = min(_BLOCK, n_rows - start)
        X = means[rng.integers(N_CLUSTERS, size=n)]
        X = (X + rng.normal(size=X.shape, scale=1.5)).astype(np.float32)
        table = pa.table({f"x{j}": X[:, j] for j in range(N_COLUMNS)})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=_BLOCK)
    if writer is not None:
        writer.close()


def run_case(path: str, name: str) -> None:
    """Fit one method and print what was measured."""
    import pellucid

    if name == ON_DASK:
        return _run_on_dask(path)
    make = {
        "IMM": lambda: pellucid.IMM(reference=centers()),
        "ExShallow": lambda: pellucid.ExShallow(reference=centers()),
        "ExKMC": lambda: pellucid.ExKMC(reference=centers(), n_leaves=2 * N_CLUSTERS),
    }[name]
    few = np.random.default_rng(0).normal(size=(500, N_COLUMNS)).astype(np.float32)
    make().fit(pellucid.scan(lambda: [few]))  # compiles
    _warm_up(path)
    start = perf_counter()
    make().fit(pellucid.scan(path, memory="2GB"))
    seconds, peak = perf_counter() - start, _peak()
    plain = min(_plain_read(path) for _ in range(2))
    line = {"plain_seconds": plain, "seconds": seconds, "peak_bytes": peak}
    print(json.dumps(line), flush=True)


def _run_on_dask(path: str) -> None:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    import pellucid

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    few = np.random.default_rng(0).normal(size=(500, N_COLUMNS)).astype(np.float32)
    with LocalCluster(**options) as cluster, Client(cluster):
        model = pellucid.IMM(reference=centers())
        model.fit(pellucid.scan(lambda: [few]))  # compiles, for all processes
        frame = dd.read_parquet(path, split_row_groups=1)
        few_rows = frame.partitions[:2].map_partitions(lambda part: part.iloc[:500])
        model.fit(pellucid.scan(few_rows))  # loads the machine code into the workers
        _warm_up(path)
        start = perf_counter()
        model.fit(pellucid.scan(frame))
        seconds, peak = perf_counter() - start, _peak()
    plain = min(_plain_read(path) for _ in range(2))
    line = {"plain_seconds": plain, "seconds": seconds, "peak_bytes": peak}
    print(json.dumps(line), flush=True)


def _warm_up(path: str) -> None:
    """Bring the file into the memory of the operating system."""
    with Path(path).open("rb") as file:
        while file.read(2**24):
            pass


def _plain_read(path: str) -> float:
    import pyarrow.parquet as pq

    start = perf_counter()
    for _ in pq.ParquetFile(path).iter_batches(batch_size=2**18):
        pass
    return perf_counter() - start


def measure(settings: Settings, names: list[str]) -> None:
    """Run the cases that have not been run."""
    columns = ("plain_seconds", "seconds", "peak_bytes", "outcome")
    store = Store(settings.output / FILE, ("rows", "method"), columns)
    sizes = (20_000,) if settings.quick else ROWS
    for n_rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            for name in names:
                if name == ON_DASK and n_rows < sizes[-1]:
                    continue
                case = {"rows": n_rows, "method": name}
                if settings.fresh:
                    store.drop([case])
                if case in store:
                    continue
                if not path.exists():
                    write_file(path, n_rows)
                print(f"scale: {n_rows:,} rows, {name}", flush=True)
                ask = _ask if settings.quick else _ask_twice
                store.add([{**case, **ask(path, name)}])


def _ask_twice(path: Path, name: str) -> dict:
    """The shorter times of two runs, and the larger memory."""
    first, second = _ask(path, name), _ask(path, name)
    for run in (first, second):
        if run["outcome"] != "done":
            return run
    times = {key: min(first[key], second[key]) for key in ("plain_seconds", "seconds")}
    peak = max(first["peak_bytes"], second["peak_bytes"])
    return {**times, "peak_bytes": peak, "outcome": "done"}


def _ask(path: Path, name: str) -> dict:
    os.sync()  # what was written or removed before must not slow down the case
    command = [sys.executable, "-c", _CASE, str(path), name]
    try:
        printed = subprocess.run(command, stdout=subprocess.PIPE, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return {"outcome": f"more than {LIMIT} seconds"}
    if printed.returncode:
        return {"outcome": f"exit code {printed.returncode}"}
    return {**json.loads(printed.stdout), "outcome": "done"}


def sheets(settings: Settings) -> list[Sheet]:
    """Times against a plain read, memory, growth, and Dask."""
    rows = read_rows(settings.output / FILE)
    lines = [_line(row) for row in rows if row["method"] in BOUNDS]
    note = (
        f"Parquet files of {N_COLUMNS} float32 columns, k = {N_CLUSTERS}. The ratio is to one "
        "plain read of the file in the same process; both are the least of two runs. Memory is the "
        "peak of the whole process. The exponent is that of the growth of the time from the file "
        "before."
    )
    columns = ["rows", "method", "plain read", "fit", "ratio", "bound", "memory", "exponent"]
    done = {(r["method"], int(r["rows"])): r for r in rows if r["outcome"] == "done"}
    for line in lines:
        line.append(_exponent(done, line[1], int(line[0].replace(",", ""))))
    found = [Sheet("Time and memory", columns, lines, note)] * bool(lines)
    pairs = [(done[m, n], done["IMM", n]) for m, n in done if m == ON_DASK and ("IMM", n) in done]
    on_dask = []
    for row, streamed in pairs:
        seconds, beside = float(row["seconds"]), float(streamed["seconds"])
        rows_text = f"{int(row['rows']):,}"
        on_dask.append(
            [rows_text, f"{seconds:.1f} s", f"{beside:.1f} s", f"{seconds / beside:.2f}"]
        )
    note = "A `LocalCluster` with two processes of one thread. The bound of the ratio is 1.5."
    heads = ["rows", "IMM on Dask", "streamed", "ratio"]
    return found + [Sheet("Dask", heads, on_dask, note)] * bool(on_dask)


def _line(row: dict) -> list[str]:
    head, bound = [f"{int(row['rows']):,}", row["method"]], f"{BOUNDS[row['method']]}"
    if row["outcome"] != "done":
        return [*head, "–", "–", "–", bound, row["outcome"]]
    plain, seconds = float(row["plain_seconds"]), float(row["seconds"])
    memory = f"{float(row['peak_bytes']) / 2**20:,.0f} MiB"
    return [*head, f"{plain:.1f} s", f"{seconds:.1f} s", f"{seconds / plain:.1f}", bound, memory]


def _exponent(done: dict, method: str, n_rows: int) -> str:
    """log(time ratio) / log(row ratio) to the next smaller file."""
    smaller = [n for m, n in done if m == method and n < n_rows]
    if not smaller or (method, n_rows) not in done:
        return "–"
    before, after = done[method, max(smaller)], done[method, n_rows]
    growth = np.log(float(after["seconds"]) / float(before["seconds"]))
    return f"{growth / np.log(n_rows / max(smaller)):.2f}"
