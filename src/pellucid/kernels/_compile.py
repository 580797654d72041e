"""How every loop is compiled."""

from __future__ import annotations

from collections.abc import Callable

from numba import njit


def _kept_on_disk(**options: object) -> Callable:
    """A decorator that compiles without the interpreter lock and keeps the machine code on disk.

    Where no folder can be written to, each process compiles for itself.
    """

    def compile_loop(function: Callable) -> Callable:
        try:
            return njit(nogil=True, error_model="numpy", cache=True, **options)(function)
        except RuntimeError:
            return njit(nogil=True, error_model="numpy", **options)(function)

    return compile_loop


compiled = _kept_on_disk(no_cfunc_wrapper=True)
"""For loops that are called from Python."""

inner = _kept_on_disk(no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""For loops that only compiled loops call, which is quicker to compile."""

inlined = _kept_on_disk(inline="always")
"""Copied into the loop that calls it, where a call for every row would cost too much."""

fused = _kept_on_disk(no_cfunc_wrapper=True, fastmath={"contract", "reassoc", "nsz"})
"""For sums in any fixed order, products added without rounding in between."""

reordered = _kept_on_disk(
    no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"reassoc", "contract", "nsz"}
)
"""As `inner`, for sums that are the same in any order, which are then taken several at a time.

NaN and infinities keep their meaning.
"""
