"""Ctrl-C while a scan is read ends the fit at once and leaves no temporary file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import _thread, os, signal, time, warnings
import numpy as np
from pellucid import IMM, scan

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
X = np.random.default_rng(0).normal(size=(5000, 4))
n_threads = _thread._count()  # that of threading also counts ended ones that are not its own

def temporary_files():
    links = []
    for name in os.listdir("/proc/self/fd"):
        try:
            links.append(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:
            pass
    return [link for link in links if link.startswith(os.environ["TMPDIR"])]

def batches():
    for part in range(50):
        if part > 2 and temporary_files():
            if part == 3:
                print("ready", flush=True)
            time.sleep(0.5)
        yield X

def fit():
    warnings.simplefilter("ignore")
    # Compiles; what LLVM locks when it is interrupted in a thread stays locked.
    IMM(reference=X[:10], n_jobs=2).fit(scan(lambda: iter([X, X])))
    try:
        IMM(reference=X[:10], n_jobs=2).fit(scan(batches))
    except KeyboardInterrupt:
        return len(temporary_files())

n_files = fit()
end = time.monotonic() + 60
while _thread._count() > n_threads and time.monotonic() < end:
    time.sleep(0.01)
print("stopped", n_files, _thread._count() - n_threads, flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_no_temporary_file_is_left(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TMPDIR": str(tmp_path),
        },
    ) as process:
        # There is no deadline but that of pytest: on a busy machine, imports alone take minutes.
        try:
            assert process.stdout.readline() == "ready\n"
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate()
        finally:
            process.kill()
    assert (output, errors, process.returncode) == ("stopped 0 0\n", "", 0)
    assert list(tmp_path.iterdir()) == []
