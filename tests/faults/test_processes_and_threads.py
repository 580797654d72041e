"""Ctrl-C, forked and spawned processes, and many threads at once: no hang, no other result."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pellucid import EMN, IMM, ExGreedy, ExKMC, ExShallow, SpEx

pytestmark = pytest.mark.slow

FORK = """
import os, sys, warnings
import numpy as np
from pellucid import IMM
# Python 3.12 and later warn of a fork while there are threads.
warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
X = np.random.default_rng(0).normal(size=(5000, 3))
before = IMM(4, random_state=0, n_jobs=2).fit(X)  # k-means on the threads of OpenMP
child = os.fork()
if child == 0:
    after = IMM(4, random_state=0, n_jobs=2).fit(X)
    os._exit(0 if after.tree_ == before.tree_ else 3)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
"""

INTERRUPTED = """
import sys
import numpy as np
from pellucid import BSIMM, IMM
X = np.random.default_rng(0).normal(size=(20000, 6))
for method in (IMM, BSIMM):  # so that nothing is compiled or loaded later
    method(reference=X[:3], n_jobs=2).fit(X[:100])
print("ready", flush=True)
while True:
    BSIMM(reference=X[:30], beam_width=20, n_jobs=2).fit(X)
"""

IMPORTS = """
import sys, threading
import numpy as np
imported = []
def note(event, arguments):
    if event == "import" and threading.current_thread() is not threading.main_thread():
        imported.append(arguments[0])
sys.addaudithook(note)
import pellucid
X = np.random.default_rng(0).normal(size=(40000, 3))
scan = pellucid.scan(lambda: iter(np.array_split(X, 4)))
for method in (pellucid.IMM, pellucid.ExShallow, pellucid.ExKMC):
    for data in (X, scan):
        method(reference=X[:4], n_jobs=2).fit(data)
print(*imported)
"""
"""Prints the modules that were imported on another thread than the main thread."""


def fit_once(seed):
    X = np.random.default_rng(seed).normal(size=(9000, 4))
    return IMM(reference=X[:5], n_jobs=2).fit(X).tree_


def run(code, *, timeout):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "2"},
        check=False,
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_of_a_fork_fits_after_its_parent():
    done = run(FORK, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_pool_of_forked_processes_after_a_fit():
    alone = [fit_once(seed) for seed in range(3)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(fit_once, range(3)).get(timeout=120) == alone


def test_a_spawned_process_after_a_fit():
    alone = fit_once(0)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map_async(fit_once, [0]).get(timeout=120) == [alone]


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_interrupted_fit_ends_with_one_exception():
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert errors.count("Traceback") == 1


def test_only_the_calling_thread_imports_modules():
    """Ctrl-C in an import for which another thread waits would make that thread wait for ever."""
    done = run(IMPORTS, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    # Numba imports the rest of itself at the first call, which takes its own lock.
    found = {name.partition(".")[0] for name in done.stdout.split()}
    assert found <= {"numba", "cffi"}


def test_sixteen_threads_fit_at_once():
    X = np.random.default_rng(1).normal(size=(5000, 5)).round(2)

    def fit(i):
        method = [IMM, EMN, ExGreedy, ExShallow, ExKMC, SpEx][i % 6]
        objective = "kmedians" if i % 4 == 0 else "kmeans"
        model = method(reference=X[: 3 + i % 5], objective=objective, n_jobs=1 + i % 3)
        return model.fit(X).tree_

    alone = [fit(i) for i in range(32)]
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(fit, range(32))) == alone
