"""Threads over blocks of rows or columns. No result may depend on their number.

The number of threads is that of joblib and threadpoolctl. The team of waiting threads is our own:
many tasks are shorter than the dispatch of a task by `concurrent.futures` or joblib.
"""

from __future__ import annotations

import os
import pkgutil
import sys
import threading
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib import import_module
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

import joblib
from threadpoolctl import threadpool_limits

from pellucid._utils.sklearn_compat import configured_n_jobs, openmp_threads

_Result = TypeVar("_Result")

_local = threading.local()


class WorkQueue(Generic[_Result]):
    """Items that several threads process together, each taking the next; `results` are in order."""

    def __init__(self, work: Callable[..., _Result], items: Sequence[Any]) -> None:
        self._work, self._waiting = work, deque(enumerate(items))
        self.results: list[Any] = [None] * len(items)

    def process(self) -> None:
        """Process items until none is left; an error stops all threads after their item."""
        was_worker = getattr(_local, "is_worker", False)
        _local.is_worker = True
        try:
            while self._waiting:
                try:
                    i, item = self._waiting.popleft()
                except IndexError:  # another thread took the last item
                    return
                self.results[i] = self._work(item)
        except BaseException:
            self._waiting.clear()
            raise
        finally:
            _local.is_worker = was_worker


class _Helper:
    """The work of one thread on a queue, unless the queue is empty before the thread starts."""

    def __init__(self, queue: WorkQueue[Any]) -> None:
        self._queue = queue
        self._claim, self._end = threading.Lock(), threading.Lock()
        self._end.acquire()
        self.error: BaseException | None = None

    def run(self) -> None:
        """Process items, on a thread of the team."""
        if self._claim.acquire(blocking=False):
            try:
                self._queue.process()
            except BaseException as error:
                self.error = error
            finally:
                self._end.release()

    def wait(self) -> None:
        """Wait until the thread has finished, if it has started; else it has nothing to do."""
        if not self._claim.acquire(blocking=False):
            self._end.acquire()


def _work_on(tasks: SimpleQueue[_Helper | None]) -> None:
    """What a thread of a team does: the tasks that it gets, until there is a None."""
    while (helper := tasks.get()) is not None:
        helper.run()
        del helper  # arrays are not kept while the thread waits


class ThreadPool:
    """A number of threads, of which the calling thread is one. Threads start when needed."""

    def __init__(self, n_threads: int = 1) -> None:
        self.n_threads = n_threads
        self._n_started, self._tasks = 0, SimpleQueue[_Helper | None]()

    def __enter__(self) -> ThreadPool:
        return self

    def __exit__(self, *exception: object) -> None:
        for _ in range(self._n_started):
            self._tasks.put(None)
        self._n_started, self._tasks = 0, SimpleQueue()

    def map(self, work: Callable[..., _Result], items: Sequence[Any]) -> list[_Result]:
        """``work(item)`` for all items; the results are in the order of the items."""
        if len(items) < 2 or not self.is_parallel:
            return [work(item) for item in items]
        if not self._n_started:
            import_compiled_loops()
        n_helpers = min(self.n_threads, len(items)) - 1
        while self._n_started < n_helpers:
            start_new_thread(_work_on, (self._tasks,))
            self._n_started += 1
        queue = WorkQueue(work, items)
        helpers = [_Helper(queue) for _ in range(n_helpers)]
        try:
            for helper in helpers:
                self._tasks.put(helper)
            queue.process()
        finally:
            for helper in helpers:
                helper.wait()
        for helper in helpers:
            if helper.error is not None:
                raise helper.error
        return queue.results

    @property
    def is_parallel(self) -> bool:
        """Whether `map` uses several threads: not in work that `map` itself has started."""
        # A worker that waited for other workers could wait for ever.
        return self.n_threads > 1 and not getattr(_local, "is_worker", False)

    def blocks(self, total: int, min_size: int, per_thread: int = 2) -> list[tuple[int, int]]:
        """Ranges that cover 0 .. total: `per_thread` for each thread, none below `min_size`.

        A single range if `map` would not be parallel. Only for work whose result does not depend
        on where the ranges end.
        """
        if total < 2 * min_size or not self.is_parallel:
            return [(0, total)]
        n = max(1, min(per_thread * self.n_threads, total // max(min_size, 1)))
        if n > self.n_threads:  # no thread has a block more than the others
            n -= n % self.n_threads
        ends = [total * i // n for i in range(n + 1)]
        return list(zip(ends[:-1], ends[1:]))


# Modules and packages that functions import when they are called, also on other threads.
COMPILED_LOOPS = (
    "pellucid._core.kernels",
    "pellucid.eop.kernels",
    "pellucid.eop.box_kernels",
    "pellucid._core.batches.kernels",
    "pellucid.rules.kernels",
    "pellucid.tree.kernels",
    "pellucid.xclusters.kernels",
)


def import_compiled_loops() -> None:
    """Import the compiled loops of all packages in use, on the calling thread.

    Ctrl-C while two threads import at once leaves Python's import lock acquired: the other thread
    would wait for ever, and the calling thread for it.
    """
    for name in COMPILED_LOOPS:
        if name.rpartition(".")[0] in sys.modules:
            _import_with_submodules(name)


@cache
def _import_with_submodules(name: str) -> None:
    module = import_module(name)
    for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
        import_module(f"{name}.{found.name}")


SERIAL = ThreadPool(1)  # only the calling thread
_was_forked = threading.Event()
"""Whether this process was made by a fork, and OpenMP is not limited to one thread yet.

The threads of GNU OpenMP, which scikit-learn's k-means uses, do not exist in the child, but its
runtime would wait for them for ever.
"""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_was_forked.set)


def count_threads(n_jobs: int | None) -> int:
    """Number of threads for an estimator's `n_jobs`; None takes all that the process may use.

    It respects ``joblib.parallel_config``, the limits of joblib's workers and of threadpoolctl,
    ``OMP_NUM_THREADS`` and ``NUMBA_NUM_THREADS``. The child of a fork limits OpenMP to one thread.
    """
    if _was_forked.is_set():
        _was_forked.clear()
        threadpool_limits(1, user_api="openmp")
    if n_jobs is None:
        configured = configured_n_jobs()
        if configured is not None:
            return max(1, joblib.effective_n_jobs(configured))
        allowed = getattr(os, "sched_getaffinity", lambda _: ())(0)
        n_cpus = _n_cpus(len(allowed), os.environ.get("LOKY_MAX_CPU_COUNT"))
        given = os.environ.get("NUMBA_NUM_THREADS", "")
        numba_threads = int(given) if given.isdecimal() else 0
        return max(1, min(n_cpus, openmp_threads(), numba_threads or n_cpus))
    if n_jobs == 0:
        raise ValueError("n_jobs=0 asks for no thread at all; use a positive number, -1 or None")
    return joblib.effective_n_jobs(n_jobs) if n_jobs < 0 else n_jobs


@lru_cache(maxsize=16)
def _n_cpus(n_allowed: int, limit: str | None) -> int:
    """Processors that joblib counts under these limits; counting takes milliseconds."""
    return joblib.cpu_count()
