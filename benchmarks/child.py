"""What is measured in a process of its own: peak memory, the first call, the command line.

``python -m benchmarks.child memory METHOD X.npy CENTERS.npy`` (or ``X.npz``),
``... compilation METHOD FORM``, ``... cluster FILE.csv K`` and ``... explain FILE.csv K`` print one
JSON object.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

ROOT = Path(__file__).parent.parent


def ask(*arguments: str, **environment: str) -> dict:
    """Run this module in a new process and read what it prints."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.child", *arguments],
        env={**os.environ, "PYTHONPATH": path, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(answer.stdout)


def first_call(method: str, form: str) -> dict:
    """Seconds of the first fit in this process, on a handful of rows, dense or CSR."""
    from scipy import sparse

    from benchmarks.methods import make

    rows = _few_rows()
    X = sparse.csr_array(rows) if form == "CSR" else rows
    start = perf_counter()
    make(method, rows[:3]).fit(X)
    return {"seconds": perf_counter() - start}


def peak_memory(method: str, x_path: str, centers_path: str) -> dict:
    """Most memory during a fit above what there was before it, and the size of the input.

    A file that ends in npz has a sparse matrix.
    """
    from scipy import sparse

    from benchmarks.methods import make

    centers, is_sparse = np.load(centers_path), x_path.endswith("npz")
    X = sparse.load_npz(x_path) if is_sparse else np.load(x_path)
    few = _few_rows().astype(X.dtype)
    make(method, few[:3].astype(np.float64)).fit(sparse.csr_array(few) if is_sparse else few)
    n_bytes = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if is_sparse else X.nbytes
    before = _reset_peak()
    make(method, centers).fit(X)
    return {"input_bytes": n_bytes, "peak_bytes": max(_peak() - before, 0)}


def cluster_file(path: str, k: str) -> dict:
    """Seconds of reading a CSV file and of k-means on its scaled numbers and its categories."""
    import polars as pl
    from polars import selectors as cs
    from sklearn.cluster import KMeans

    read = _Clock()
    table = pl.read_csv(path)
    read.stop()
    aside = _Clock()
    numbers = table.select(cs.float().sub(cs.float().mean()).truediv(cs.float().std(ddof=0)))
    X = np.ascontiguousarray(
        np.hstack([numbers, table.select(cs.string()).to_dummies().cast(pl.Float64)])
    )
    aside.stop()
    n_init = 3 if len(X) > 100_000 else 10
    cluster = _Clock()
    KMeans(int(k), n_init=n_init, random_state=0).fit(X)
    cluster.stop()
    return {
        "work_seconds": read.seconds + cluster.seconds,
        "work_cpu_seconds": read.cpu_seconds + cluster.cpu_seconds,
        "aside_seconds": aside.seconds,
        "aside_cpu_seconds": aside.cpu_seconds,
        "cpu_seconds": process_time(),
    }


def explain_file(path: str, k: str) -> dict:
    """Seconds of ``pellucid explain`` on a file."""
    import pellucid.cli.explain
    import pellucid.cluster  # noqa: F401
    from pellucid.cli.app import app

    work = _Clock()
    with redirect_stdout(io.StringIO()):
        app(["explain", path, "-k", k, "--quiet"], standalone_mode=False)
    work.stop()
    return {
        "work_seconds": work.seconds,
        "work_cpu_seconds": work.cpu_seconds,
        "aside_seconds": 0.0,
        "aside_cpu_seconds": 0.0,
        "cpu_seconds": process_time(),
    }


class _Clock:
    """Seconds, and seconds of all processors, since it was made."""

    def __init__(self) -> None:
        self._start = perf_counter(), process_time()

    def stop(self) -> None:
        self.seconds = perf_counter() - self._start[0]
        self.cpu_seconds = process_time() - self._start[1]


def _few_rows() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(300, 4))


def _reset_peak() -> int:
    """Memory in use now; from here on the peak is counted anew, where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return _peak()
    return _status("VmRSS")


def _peak() -> int:
    """Most memory that this process has had.

    Linux hands the peak of the parent on to `getrusage` of its children, so its own count, which
    starts with the process, is preferred.
    """
    if Path("/proc/self/status").exists():
        return _status("VmHWM")
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(name: str) -> int:
    text = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(rf"^{name}:\s+(\d+) kB", text, flags=re.MULTILINE)[1])


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    parts = {
        "memory": peak_memory,
        "compilation": first_call,
        "cluster": cluster_file,
        "explain": explain_file,
    }
    print(json.dumps(parts[what](*rest)))
