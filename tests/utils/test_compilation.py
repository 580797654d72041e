"""Compiling: kept on disk where that is possible, and never in the way where it is not."""

import gc
import os
import signal
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba.core import event, types

from pellucid._utils.compilation import compiled, inner

pytestmark = pytest.mark.slow

FIT = "import pellucid; print(pellucid.IMM(reference=[[0.0], [5.0]]).fit([[0.0], [5.0]]).n_leaves_)"


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=True,
    )


def len_of(x):
    return len(x)


def test_without_a_place_for_the_cache_everything_works():
    done = run(FIT, NUMBA_CACHE_LOCATOR_CLASSES="ZipCacheLocator")
    assert done.stdout.strip() == "2"
    assert done.stderr == ""


def test_without_internal_names_of_numba_everything_works(tmp_path):
    without = "import sys; sys.modules['pellucid._utils.loop_compiler'] = None;"
    done = run(without + FIT, NUMBA_CACHE_DIR=str(tmp_path))
    assert done.stdout.strip() == "2"
    assert done.stderr == ""


def test_machine_code_is_kept_for_the_next_process(tmp_path):
    code = (
        "import numpy as np; from pellucid._core.kernels.induced_cost import sum_least_costs;"
        "sum_least_costs(np.zeros(2, int), np.zeros(1, int), np.zeros((2, 1)));"
        "print(sum(sum_least_costs.stats.cache_hits.values()))"
    )
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)).stdout.split() == ["0"]
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)).stdout.split() == ["1"]


LOOPS_OF_FUNCTIONS = """
import numpy as np
from pellucid._utils.compilation import compiled, inlined

@inlined
def add_one(x):
    return x + 1

@inlined
def double(x):
    return 2 * x

def loop_of(function):
    @compiled
    def change(x):
        for i in range(len(x)):
            x[i] = function(x[i])
    return change

x = np.full(1, 5.0)
for function in (add_one, double):
    loop = loop_of(function)
    loop(x)
    print(x[0], sum(loop.stats.cache_hits.values()))
"""


def test_loops_that_get_a_function_are_kept_for_the_next_process(tmp_path):
    (tmp_path / "loops.py").write_text(LOOPS_OF_FUNCTIONS, encoding="utf-8")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import loops"
    outputs = [run(code, NUMBA_CACHE_DIR=str(tmp_path / "cache")).stdout.split() for _ in range(2)]
    assert outputs == [["6.0", "0", "12.0", "0"], ["6.0", "1", "12.0", "1"]]


class Watch(event.Listener):
    """Whether the garbage collector is on whenever a function is compiled."""

    def __init__(self):
        self.states = []

    def on_start(self, event):
        self.states.append(gc.isenabled())

    def on_end(self, event):
        pass


def test_the_garbage_collector_rests_while_loops_are_compiled_and_no_longer(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))  # without earlier machine code

    @compiled
    def fill(x):
        for i in range(len(x)):
            x[i] = 1

    watch = Watch()
    with event.install_listener("numba:compile", watch):
        assert gc.isenabled()
        fill(np.zeros(2))
        assert gc.isenabled()
        gc.disable()
        try:
            fill(np.zeros(2, dtype=np.float32))
            assert not gc.isenabled()
        finally:
            gc.enable()
    assert watch.states
    assert not any(watch.states)


def test_ctrl_c_during_compilation_takes_effect_at_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    n_sent = 0

    class Sender(event.Listener):
        def on_start(self, _):
            nonlocal n_sent
            n_sent += 1
            signal.raise_signal(signal.SIGINT)

        def on_end(self, _):
            pass

    @compiled
    def add_one(x):
        return x + 1

    try:
        with event.install_listener("numba:compile", Sender()), pytest.raises(KeyboardInterrupt):
            add_one(1)
        assert n_sent == 1
        assert len(add_one.signatures) == 1  # the loop is complete
        assert add_one(1) == 2
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert gc.isenabled()
        with pytest.raises(KeyboardInterrupt):  # and at once when nothing is compiled
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, handler)


def test_loops_without_a_caller_in_python_are_stored_with_their_callers_only(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    @inner
    def add(x, i):
        x[i] += 2.0 * x[i - 1]
        return x[i] > 4.0

    @compiled
    def add_all(x):
        n = 0
        for i in range(1, len(x)):
            n += add(x, i)
        return n

    x = np.ones(4)
    assert add_all(x) == 2
    assert x.tolist() == [1.0, 3.0, 7.0, 15.0]
    stored = {path.name.split("-")[0].split(".")[-1] for path in tmp_path.rglob("*.nbc")}
    assert stored == {"add_all"}


def powers(x):
    y = x * x + x * x
    y = y * x + x * y
    return y + x * y + y * y


def test_signatures_of_operators_are_found_once_for_loops_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    find, found = types.Function.get_call_type, []

    def get_call_type(function, context, args, kws):
        found.append((function.typing_key, tuple(args)))
        return find(function, context, args, kws)

    monkeypatch.setattr(types.Function, "get_call_type", get_call_type)
    x = np.complex64(1.5)  # no loop has it, so that nothing is known yet
    loop = compiled(powers)
    result = loop(x)
    assert len(found) == len(set(found)) > 0
    found.clear()
    assert numba.njit(powers)(x) == result == powers(x)
    assert len(found) > len(set(found))
