"""Data larger than memory: time of a fit on Parquet files against one plain read of them.

Each case runs in a process of its own: ``python -m benchmarks.scale FILE METHOD`` prints one JSON
object. A plain read decodes all batches of the file and drops them. Measured are seconds and the
peak of the memory above what was in use before the fit.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.child import _peak, _reset_peak
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, read_rows

FILE = "scale.csv"
LIMIT = 1800
"""Seconds for a case."""

N_COLUMNS, N_CLUSTERS = 20, 10
ROWS = (5_000_000, 50_000_000)
BOUNDS = {"IMM": 5, "ExShallow": 8, "ExKMC": 10}
"""Times of a plain read that a fit may take, by method."""

_BLOCK = 2**20


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

    make = {
        "IMM": lambda: pellucid.IMM(reference=centers()),
        "ExShallow": lambda: pellucid.ExShallow(reference=centers()),
        "ExKMC": lambda: pellucid.ExKMC(reference=centers(), n_leaves=2 * N_CLUSTERS),
    }[name]
    few = np.random.default_rng(0).normal(size=(500, N_COLUMNS)).astype(np.float32)
    make().fit(pellucid.scan(lambda: [few]))  # compiles
    plain = min(_plain_read(path) for _ in range(2))
    before, start = _reset_peak(), perf_counter()
    make().fit(pellucid.scan(path, memory="1GB"))
    seconds = perf_counter() - start
    line = {"plain_seconds": plain, "seconds": seconds, "peak_bytes": max(_peak() - before, 0)}
    print(json.dumps(line), flush=True)


def _plain_read(path: str) -> float:
    import pyarrow.parquet as pq

    start = perf_counter()
    for _ in pq.ParquetFile(path).iter_batches(batch_size=2**18):
        pass
    return perf_counter() - start


def measure(settings: Settings) -> None:
    """Run the cases that have not been run."""
    columns = ("plain_seconds", "seconds", "peak_bytes", "outcome")
    store = Store(settings.output / FILE, ("rows", "method"), columns)
    sizes = (100_000,) if settings.quick else ROWS
    for n_rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            for name in settings.choose(BOUNDS):
                case = {"rows": n_rows, "method": name}
                if settings.fresh:
                    store.drop([case])
                if case in store:
                    continue
                if not path.exists():
                    write_file(path, n_rows)
                print(f"scale: {n_rows:,} rows, {name}", flush=True)
                store.add([{**case, **_ask(path, name)}])


def _ask(path: Path, name: str) -> dict:
    command = [sys.executable, "-m", "benchmarks.scale", str(path), name]
    try:
        printed = subprocess.run(command, stdout=subprocess.PIPE, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return {"outcome": f"more than {LIMIT} seconds"}
    if printed.returncode:
        return {"outcome": f"exit code {printed.returncode}"}
    return {**json.loads(printed.stdout), "outcome": "done"}


def sections(settings: Settings) -> list[Section]:
    """Times against a plain read, and memory."""
    lines = []
    for row in read_rows(settings.output / FILE):
        head = [f"{int(row['rows']):,}", row["method"]]
        if row["outcome"] != "done":
            lines.append([*head, "–", "–", "–", f"{BOUNDS[row['method']]}", row["outcome"]])
            continue
        plain, seconds = float(row["plain_seconds"]), float(row["seconds"])
        memory = f"{float(row['peak_bytes']) / 2**20:,.0f} MiB"
        ratio = f"{seconds / plain:.1f}"
        bound = f"{BOUNDS[row['method']]}"
        lines.append([*head, f"{plain:.1f} s", f"{seconds:.1f} s", ratio, bound, memory])
    note = (
        f"Parquet files of {N_COLUMNS} float32 columns, k = {N_CLUSTERS}. The ratio is to one "
        "plain read of the file in the same process. Memory is the peak above what was in use "
        "before."
    )
    columns = ["rows", "method", "plain read", "fit", "ratio", "bound", "memory"]
    sheet = Sheet("Data larger than memory", columns, lines, note)
    return [Section("Data larger than memory", "", [sheet])] * bool(lines)


if __name__ == "__main__":
    run_case(sys.argv[1], sys.argv[2])
