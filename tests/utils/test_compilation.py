"""Compiling: kept on disk where that is possible, and never in the way where it is not."""

import os
import subprocess
import sys

FIT = "import pellucid; print(pellucid.IMM(reference=[[0.0], [5.0]]).fit([[0.0], [5.0]]).n_leaves_)"


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=True,
    )


def test_without_a_place_for_the_cache_everything_works():
    done = run(FIT, NUMBA_CACHE_LOCATOR_CLASSES="ZipCacheLocator")
    assert done.stdout.strip() == "2"
    assert done.stderr == ""


def test_machine_code_is_kept_for_the_next_process(tmp_path):
    code = (
        f"{FIT}; from pellucid._core.kernels.dataset import dense_nearest as loop;"
        "print(sum(loop.stats.cache_hits.values()))"
    )
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)).stdout.split() == ["2", "0"]
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)).stdout.split() == ["2", "1"]


def test_the_garbage_collector_rests_while_loops_are_compiled_and_no_longer(tmp_path):
    code = (
        "import gc; from numba.core import event; from pellucid._utils import compilation\n"
        "states = []\n"
        "class Watch(event.Listener):\n"
        "    def on_start(self, event): states.append(gc.isenabled())\n"
        "    def on_end(self, event): pass\n"
        "event.register('numba:compile', Watch())\n"
        f"{FIT}; print(any(states), len(states) > 0, gc.isenabled())"
    )
    done = run(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert done.stdout.split() == ["2", "False", "True", "True"]
    was_off = run(f"import gc; gc.disable(); {FIT}; print(gc.isenabled())")
    assert was_off.stdout.split() == ["2", "False"]
