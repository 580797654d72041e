"""How every loop is compiled."""

from __future__ import annotations

import gc
from collections.abc import Callable
from threading import Lock

from numba import njit
from numba.core import event


class _CollectorPause(event.Listener):
    """Keeps the garbage collector away from the compiler.

    It would look at the compiler's many objects over and over, and find none that is not needed:
    a tenth of the time.
    """

    def __init__(self) -> None:
        self._lock, self._n_compiling, self._was_on = Lock(), 0, False

    def on_start(self, event: event.Event) -> None:
        with self._lock:
            if not self._n_compiling:
                self._was_on = gc.isenabled()
                gc.disable()
            self._n_compiling += 1

    def on_end(self, event: event.Event) -> None:
        with self._lock:
            self._n_compiling -= 1
            if self._was_on and not self._n_compiling:
                gc.enable()


event.register("numba:compile", _CollectorPause())


def _kept_on_disk(*, makes_arrays: bool = False, **options: object) -> Callable:
    """A decorator that compiles without the interpreter lock and keeps the machine code on disk.

    Where no folder can be written to, each process compiles for itself. An eighth of the time is
    saved by what these loops do not need: expressions of whole arrays to be rewritten, and arrays
    to be counted by who refers to them, unless they make some.
    """
    spared = {"no_rewrites": True, "_nrt": makes_arrays}
    options = {"nogil": True, "error_model": "numpy", **spared, **options}

    def compile_loop(function: Callable) -> Callable:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:
            return njit(**options)(function)

    return compile_loop


compiled = _kept_on_disk(no_cfunc_wrapper=True)
"""For loops that are called from Python."""

pruned = _kept_on_disk(no_cfunc_wrapper=True, no_rewrites=False)
"""As `compiled`, without the branches that arguments which are None rule out."""

allocating = _kept_on_disk(no_cfunc_wrapper=True, makes_arrays=True)
"""As `compiled`, for loops that make arrays of their own."""

inner = _kept_on_disk(no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""For loops that only compiled loops call, which is quicker to compile."""

inlined = _kept_on_disk(inline="always")
"""Copied into the loop that calls it, where a call for every row would cost too much."""

fused = _kept_on_disk(no_cfunc_wrapper=True, fastmath={"contract", "reassoc", "nsz"})
"""For sums in any fixed order, products added without rounding in between."""

fused_allocating = _kept_on_disk(
    no_cfunc_wrapper=True, makes_arrays=True, fastmath={"contract", "reassoc", "nsz"}
)
"""As `fused`, for loops that make arrays of their own."""

reordered = _kept_on_disk(
    no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"reassoc", "contract", "nsz"}
)
"""As `inner`, for sums that are the same in any order, which are then taken several at a time.

NaN and infinities keep their meaning.
"""
