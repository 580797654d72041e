"""``n_jobs=None`` respects the limits that are set outside of the package."""

from __future__ import annotations

import os
import subprocess
import sys

import joblib
import pytest
from threadpoolctl import threadpool_limits

from pellucid._utils import threads
from pellucid._utils.threads import count_threads


@pytest.fixture
def many_processors(monkeypatch):
    """A machine with eight processors, as far as `count_threads` knows."""
    monkeypatch.setattr(threads, "_n_cpus", lambda n_allowed, limit: 8)
    monkeypatch.setattr(threads, "openmp_threads", lambda: 8)


def test_all_processors_without_limits(many_processors):
    assert count_threads(None) == 8


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_configuration_of_joblib(many_processors, n_jobs):
    with joblib.parallel_config(n_jobs=n_jobs):
        assert count_threads(None) == n_jobs
        assert count_threads(3) == 3
    assert count_threads(None) == 8


def test_threads_of_joblib_use_one_thread_each(many_processors):
    found = joblib.Parallel(n_jobs=2, backend="threading")(
        joblib.delayed(count_threads)(None) for _ in range(4)
    )
    assert found == [1] * 4


def test_limits_of_threadpoolctl():
    with threadpool_limits(1):
        assert count_threads(None) == 1


@pytest.mark.slow
@pytest.mark.parametrize("variable", ["OMP_NUM_THREADS", "NUMBA_NUM_THREADS"])
def test_environment_variables(variable):
    code = "from pellucid._utils.threads import count_threads; print(count_threads(None))"
    environment = {**os.environ, variable: "1"}
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "1"


def test_processes_of_joblib_share_the_processors():
    n_cpus = joblib.cpu_count()
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(count_threads)(None) for _ in range(2))
    assert all(n <= max(1, n_cpus // 2) for n in found)
