"""Seconds, as the best of a few runs: the least disturbed one says what the work takes."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """Seconds of the quickest of some runs."""
    seconds = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        seconds.append(perf_counter() - start)
    return min(seconds)
