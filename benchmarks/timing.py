"""Seconds, as the best of a few runs: the least disturbed one says what the work takes."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

LEAST_SECONDS = 0.5
"""What takes less than this in all is repeated more often: the shorter a run, the more of it a
disturbance takes.
"""


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """Seconds of the quickest of some runs, more of them if they are short."""
    seconds = []
    while len(seconds) < repeats or (repeats > 1 and sum(seconds) < LEAST_SECONDS):
        start = perf_counter()
        work()
        seconds.append(perf_counter() - start)
    return min(seconds)
