"""Threads over blocks of rows or columns. No result may depend on how many there are."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

import joblib

_Result = TypeVar("_Result")

_local = threading.local()


class Team:
    """A number of threads that work through lists together.

    Parameters
    ----------
    n_threads : int
    """

    def __init__(self, n_threads: int = 1) -> None:
        self.n_threads = n_threads
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def map(self, work: Callable[..., _Result], items: Sequence) -> list[_Result]:
        """``work(item)`` for all items; the results are in the order of the items."""
        # A worker that waited for other workers could wait for ever.
        if self.n_threads == 1 or len(items) < 2 or getattr(_local, "is_worker", False):
            return [work(item) for item in items]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.n_threads - 1)
        results: list = [None] * len(items)
        waiting = deque(enumerate(items))

        def take_part() -> None:
            _local.is_worker = True
            try:
                while waiting:
                    try:
                        i, item = waiting.popleft()
                    except IndexError:  # somebody else was quicker
                        return
                    results[i] = work(item)
            except BaseException:
                waiting.clear()
                raise
            finally:
                _local.is_worker = False

        # The caller works too: it is awake already, and may be done before the others are.
        n_others = min(self.n_threads, len(items)) - 1
        others = [self._pool.submit(take_part) for _ in range(n_others)]
        try:
            take_part()
        finally:
            begun = [other for other in others if not other.cancel()]
            wait(begun)
        for other in begun:
            other.result()
        return results

    def blocks(self, total: int, least: int) -> list[tuple[int, int]]:
        """Ranges that cover 0 .. total, a few for each thread, of at least `least` each.

        Only for work whose result does not depend on where the ranges end.
        """
        if self.n_threads == 1 or total < 2 * least:
            return [(0, total)]
        wanted = 2 * self.n_threads
        n = max(1, min(wanted, total // max(least, 1)))
        ends = [total * i // n for i in range(n + 1)]
        return list(zip(ends[:-1], ends[1:]))


ALONE = Team(1)
"""No threads at all."""


def count_threads(n_jobs: int | None) -> int:
    """Threads that an estimator's `n_jobs` allows."""
    if n_jobs is None:
        return joblib.cpu_count()
    if n_jobs == 0:
        raise ValueError("n_jobs=0 asks for no thread at all; use a positive number, -1 or None")
    return joblib.effective_n_jobs(n_jobs) if n_jobs < 0 else n_jobs
