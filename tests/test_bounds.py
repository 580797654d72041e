"""Compiled loops stay inside their arrays: a small run of everything with bounds checked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from _support.extended import EXTENDED

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
@pytest.mark.skipif(not EXTENDED, reason="compiles all loops again; `make test-extended` runs it")
def test_compiled_loops_stay_inside_their_arrays(tmp_path):
    """Array accesses are checked at compile time, so the machine code is not that of the cache."""
    script = ROOT / "tests" / "_support" / "bounds_run.py"
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = {
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_CACHE_DIR": str(tmp_path),
        "NUMBA_OPT": "0",  # compiles faster; what is checked is the same
        "PYTHONPATH": path,
    }
    run = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert not run.stdout.split(), f"loops that were not called: {run.stdout}"
