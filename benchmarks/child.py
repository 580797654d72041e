"""What is measured in a process of its own: peak memory and the first call.

``python -m benchmarks.child memory METHOD X.npy CENTERS.npy`` and
``python -m benchmarks.child compilation METHOD`` print one JSON object.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from time import perf_counter

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


def first_call(method: str) -> dict:
    """Seconds of the first fit in this process, on a handful of rows."""
    from benchmarks.methods import make

    X = _few_rows()
    start = perf_counter()
    make(method, X[:3]).fit(X)
    return {"seconds": perf_counter() - start}


def peak_memory(method: str, x_path: str, centers_path: str) -> dict:
    """Most memory during a fit above what there was before it, and the size of the input."""
    from benchmarks.methods import make

    centers = np.load(centers_path)
    few = _few_rows()
    sample = np.load(x_path, mmap_mode="r")
    make(method, few[:3]).fit(few.astype(sample.dtype))
    X = np.load(x_path)
    before = _reset_peak()
    make(method, centers).fit(X)
    return {"input_bytes": X.nbytes, "peak_bytes": max(_peak() - before, 0)}


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
    print(json.dumps({"memory": peak_memory, "compilation": first_call}[what](*rest)))
