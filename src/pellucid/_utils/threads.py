"""Threads over blocks of rows or columns. No result may depend on how many there are.

Work is handed out dozens of times while a tree grows, and much of it takes less than a millisecond.
An executor of the standard library needs a good part of that for its futures and for every thread
that it starts, which it waits for; a queue and two locks do here.
"""

from __future__ import annotations

import os
import threading
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from queue import SimpleQueue
from typing import Generic, TypeVar
from weakref import WeakSet

import joblib

_Result = TypeVar("_Result")

_local = threading.local()


class WorkQueue(Generic[_Result]):
    """A list that threads work through together, each taking what comes next.

    Parameters
    ----------
    work : callable
    items : sequence
    """

    def __init__(self, work: Callable[..., _Result], items: Sequence) -> None:
        self._work, self._waiting = work, deque(enumerate(items))
        self._results: list = [None] * len(items)
        self._lock, self._last_leaves = threading.Lock(), threading.Lock()
        self._last_leaves.acquire()
        self._n_others, self._is_closed = 0, False
        self._error: BaseException | None = None

    def join(self) -> None:
        """Take part beside whoever asked for the results, who is told of errors."""
        with self._lock:
            if self._is_closed:
                return
            self._n_others += 1
        try:
            self._take_part()
        except BaseException as error:
            self._error = error
        finally:
            with self._lock:
                self._n_others -= 1
                if self._is_closed and not self._n_others:
                    self._last_leaves.release()

    def finish(self) -> list[_Result]:
        """Take part, wait for the others, and return the results in the order of the items."""
        # The caller works too: it is awake already, and may be done before the others are.
        try:
            self._take_part()
        finally:
            self._wait()
        if self._error is not None:
            raise self._error
        return self._results

    def give_up(self) -> None:
        """Begin with nothing more, and wait until nobody is at it."""
        self._waiting.clear()
        self._wait()

    def _take_part(self) -> None:
        """Work as long as there is something left to begin with."""
        was_worker = getattr(_local, "is_worker", False)
        _local.is_worker = True
        try:
            while self._waiting:
                try:
                    i, item = self._waiting.popleft()
                except IndexError:  # somebody else was quicker
                    return
                self._results[i] = self._work(item)
        except BaseException:
            self._waiting.clear()
            raise
        finally:
            _local.is_worker = was_worker

    def _wait(self) -> None:
        with self._lock:
            is_busy, self._is_closed = self._n_others > 0 and not self._is_closed, True
        if is_busy:
            self._last_leaves.acquire()


def _work_on(lists: SimpleQueue) -> None:
    """What a thread of a pool does: one list after the other, until there is none."""
    while True:
        shared = lists.get()
        if shared is None:
            return
        shared.join()
        shared = None  # nothing is kept while there is nothing to do


class ThreadPool:
    """A number of threads that work through lists together.

    Parameters
    ----------
    n_threads : int
    """

    def __init__(self, n_threads: int = 1) -> None:
        self.n_threads = n_threads
        self._lists: SimpleQueue = SimpleQueue()
        self._n_started = 0
        self._ahead: WeakSet[WorkQueue] = WeakSet()

    def __enter__(self) -> ThreadPool:
        return self

    def __exit__(self, *exception: object) -> None:
        for shared in list(self._ahead):
            shared.give_up()
        for _ in range(self._n_started):
            self._lists.put(None)
        self._n_started = 0

    def map(
        self,
        work: Callable[..., _Result],
        items: Sequence,
        besides: Callable[[], object] | None = None,
    ) -> list[_Result]:
        """``work(item)`` for all items; the results are in the order of the items.

        What is to be done `besides` is done by the caller, while others begin with the items.
        """
        if len(items) < 2 or not self.is_parallel:
            results = [work(item) for item in items]
            if besides is not None:
                besides()
            return results
        shared = self._share(work, items, len(items) - 1)
        try:
            if besides is not None:
                besides()
        finally:
            results = shared.finish()
        return results

    def ahead(self, work: Callable[..., _Result], items: Sequence) -> WorkQueue[_Result]:
        """The same for later, while the caller does something else; see `WorkQueue.finish`.

        What the caller shares out in the meantime, it may have to do alone.
        """
        n_others = len(items) if self.is_parallel else 0
        shared = self._share(work, items, n_others)
        self._ahead.add(shared)
        return shared

    @property
    def is_parallel(self) -> bool:
        """Whether there is anybody to share with."""
        # A worker that waited for other workers could wait for ever.
        return self.n_threads > 1 and not getattr(_local, "is_worker", False)

    def _share(self, work: Callable[..., _Result], items: Sequence, n_others: int) -> WorkQueue:
        shared = WorkQueue(work, items)
        for _ in range(min(self.n_threads - 1, n_others)):
            if self._n_started < self.n_threads - 1:
                start_new_thread(_work_on, (self._lists,))
                self._n_started += 1
            self._lists.put(shared)
        return shared

    def blocks(self, total: int, least: int, each: int = 2) -> list[tuple[int, int]]:
        """Ranges that cover 0 .. total, `each` for each thread, of at least `least` each.

        Just one where nobody is there to share with. Only for work whose result does not depend on
        where the ranges end.
        """
        if total < 2 * least or not self.is_parallel:
            return [(0, total)]
        wanted = each * self.n_threads
        n = max(1, min(wanted, total // max(least, 1)))
        ends = [total * i // n for i in range(n + 1)]
        return list(zip(ends[:-1], ends[1:]))


SERIAL = ThreadPool(1)
"""No threads at all."""


def count_threads(n_jobs: int | None) -> int:
    """Threads that an estimator's `n_jobs` allows."""
    if n_jobs is None:
        allowed = getattr(os, "sched_getaffinity", lambda _: ())(0)
        return _n_cpus(len(allowed), os.environ.get("LOKY_MAX_CPU_COUNT"))
    if n_jobs == 0:
        raise ValueError("n_jobs=0 asks for no thread at all; use a positive number, -1 or None")
    return joblib.effective_n_jobs(n_jobs) if n_jobs < 0 else n_jobs


@lru_cache(maxsize=16)
def _n_cpus(n_allowed: int, limit: str | None) -> int:
    """What joblib makes of the machine and of these limits, which takes a while to find out."""
    return joblib.cpu_count()
