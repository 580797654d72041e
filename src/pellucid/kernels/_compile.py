"""How every loop is compiled."""

from numba import njit

compiled = njit(nogil=True, cache=True, error_model="numpy")
"""Without the interpreter lock, so that threads run side by side; kept on disk."""

inlined = njit(nogil=True, cache=True, error_model="numpy", inline="always")
