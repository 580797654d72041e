"""How every loop is compiled."""

from numba import njit

compiled = njit(nogil=True, cache=True, error_model="numpy")
"""Without the interpreter lock, so that threads run side by side; kept on disk."""

inner = njit(
    nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True
)
"""The same for loops that only compiled loops call, which is quicker to compile."""

inlined = njit(nogil=True, cache=True, error_model="numpy", inline="always")
"""Copied into the loop that calls it, where a call for every row would cost too much."""
