"""Settings that keep the whole suite short, and the order of the tests.

Tests of more than about a second are marked `slow` where they stand, and are left out by
``make test-quick``.
"""

from __future__ import annotations

import os
import signal
import sys

import pytest
from hypothesis import HealthCheck, settings

if "PYTEST_XDIST_WORKER" in os.environ:
    # There is a process per processor: threads of OpenMP and BLAS would only wait for each other.
    for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(_variable, "1")

# Tests start many processes. Without bytecode each one would compile the source text of NumPy,
# SciPy, scikit-learn and Numba anew, which takes longer than most of these tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# On a busy machine, any example may take long.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

collect_ignore = ["typed/probes.py"]
"""Read by type checkers, not run."""

FIRST = (
    "tests/test_bounds.py",
    "tables/test_hostile_files.py",
    "scale/test_same_tree.py",
    "scale/test_spark.py",
    "scale/test_dask.py",
    "faults/",
    "benchmarks/",
    "fuzz/test_fuzz.py",
)
"""Paths of tests that come first, in this order, or parts of paths.

They take long: at the end, one process would wait for the other one. The first ones compile nothing
that others use, while the other process compiles. Spark, Dask and the faults start processes: if
the loops are compiled by then, these need not compile them, each for itself. No other process takes
some of the tests on Spark, so that one Spark is started.
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put long tests first."""
    items.sort(key=_place)


def _place(item: pytest.Item) -> int:
    path = item.path.as_posix()
    return next((i for i, part in enumerate(FIRST) if part in path), len(FIRST))


@pytest.fixture(autouse=True)
def python_handles_ctrl_c() -> None:
    """Python's own handler for SIGINT: a Spark session replaces it for the rest of the process."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
