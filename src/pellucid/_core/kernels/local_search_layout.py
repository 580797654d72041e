"""Layout of the arrays of `local_search`, importable without Numba."""

from __future__ import annotations

FEATURE, AT, LEFT, RIGHT, BEGIN, END, PARENT, STALE = range(8)
"""Columns of the nodes."""

N_STEPS = 64
"""Coarse steps of a column of the data."""
