"""The partition protocol: a task is applied to every batch, its results merged, passes reported."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from itertools import islice
from threading import Lock
from typing import Any, Protocol

from pellucid._core.batches.batch import Batch, Encoder, RawBatch
from pellucid._utils.progress import Progress
from pellucid._utils.threads import SERIAL, ThreadPool

_STEP = 10
"""Percent between two reports."""


class Task(Protocol):
    """A step of the search. It is small, can be pickled, and holds all that it needs.

    The merged result must not depend on the order of the batches, except for rounding errors.
    """

    def __call__(self, batch: Any, /) -> Any:
        """The result of one batch."""

    def merge(self, first: Any, second: Any) -> Any:
        """The result of two batches together."""


class ExactTask(ABC):
    """A task whose results are integers or extremes: in any order, they merge to the same bits."""

    @abstractmethod
    def __call__(self, batch: Any) -> Any:
        """The result of one batch."""

    @abstractmethod
    def merge(self, first: Any, second: Any) -> Any:
        """The result of two batches together."""

    def over(self, batches: Iterable[Any]) -> Any:
        """The result of one or several batches together."""
        return reduce(self.merge, map(self, batches))


class Partitions(ABC):
    """Rows in batches that can be read any number of times.

    `passes_are_costly` says that every pass encodes the rows anew, so that few passes matter more
    than few rows.
    """

    passes_are_costly: bool = False

    @abstractmethod
    def map_raw(self, task: Task) -> Any:
        """Merged results of a task over the batches as they were read; None without batches."""

    @abstractmethod
    def map_encoded(self, task: Task, encoder: Encoder) -> Any:
        """Merged results of a task over the encoded batches; None without batches."""

    @abstractmethod
    def close(self) -> None:
        """Remove temporary files."""


class EncodedTask:
    """A task over encoded batches as one over raw batches."""

    def __init__(self, task: Task, encoder: Encoder) -> None:
        self.task, self.encoder = task, encoder

    def __call__(self, raw: RawBatch) -> Any:
        """The result of one batch."""
        return self.task(self.encoder.encode(raw))

    def merge(self, first: Any, second: Any) -> Any:
        """The result of two batches together."""
        return self.task.merge(first, second)


class LocalPartitions(Partitions):
    """Batches that ``read()``, which returns an iterable of `RawBatch`, returns anew each time."""

    def __init__(self, read: Callable[[], Iterable[RawBatch]], pool: ThreadPool = SERIAL) -> None:
        self._read, self._pool = read, pool

    def _batches(self) -> Iterator[RawBatch]:
        """The batches; the next ones are read while the last ones are used."""
        return read_ahead(self._read(), self._pool.n_threads)

    def map_raw(self, task: Task) -> Any:
        """Merged results over all batches, a few of which are in memory at a time."""
        return self._merged(task, task, self._batches())

    def _merged(self, task: Task, work: Callable[..., Any], items: Iterable[Any]) -> Any:
        """Merged ``work(item)`` of all items; every thread takes the next item when it is free."""
        waiting, merged = _SharedItems(items), _OrderedMerge(task)

        def take_items(_: int) -> None:
            try:
                for place, item in waiting:
                    merged.add(place, work(item))
            except BaseException:
                waiting.close()
                raise

        self._pool.map(take_items, range(self._pool.n_threads))
        return merged.result

    def map_encoded(self, task: Task, encoder: Encoder) -> Any:
        """Every batch is encoded again."""
        return self.map_raw(EncodedTask(task, encoder))

    def close(self) -> None:
        """There is nothing to remove."""


class _SharedItems:
    """The items of an iterable with their places, for several threads."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._items, self._lock = enumerate(items), Lock()

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return self

    def __next__(self) -> tuple[int, Any]:
        with self._lock:
            return next(self._items)

    def close(self) -> None:
        """No thread gets another item."""
        with self._lock:
            self._items = enumerate(())


class _OrderedMerge:
    """Merges results in the order of their places, whenever they come.

    Sums of floats then do not depend on which thread is faster.
    """

    def __init__(self, task: Task) -> None:
        self._task, self._lock = task, Lock()
        self._waiting: dict[int, Any] = {}
        self._next = 0
        self.result: Any = None

    def add(self, place: int, result: Any) -> None:
        """Add the result of the item at a place."""
        with self._lock:
            self._waiting[place] = result
            while self._next in self._waiting:
                found = self._waiting.pop(self._next)
                self.result = found if self._next == 0 else self._task.merge(self.result, found)
                self._next += 1


def over_batches(task: Task, batches: Iterable[Any]) -> Any:
    """The merged result of a task over one or several batches."""
    over = getattr(task, "over", None)
    return reduce(task.merge, map(task, batches)) if over is None else over(batches)


def read_ahead(items: Iterable[Any], size: int) -> Iterator[Any]:
    """The same items; a thread takes the next ones from the source while one is used."""
    iterator = iter(items)
    with ThreadPoolExecutor(1) as executor:
        waiting = executor.submit(lambda: list(islice(iterator, size)))
        while group := waiting.result():
            waiting = executor.submit(lambda: list(islice(iterator, size)))
            yield from group


def with_reports(partitions: Partitions, progress: Progress) -> Partitions:
    """The same partitions; every pass is reported if somebody wants to know."""
    return ReportedPartitions(partitions, progress) if progress.is_reported else partitions


class ReportedPartitions(Partitions):
    """Partitions that report the number of the pass, and its percentage of the rows.

    Percentages are reported of batches on this machine, from the second pass on, when the number of
    rows is known.
    """

    def __init__(self, partitions: Partitions, progress: Progress) -> None:
        self._partitions, self._progress = partitions, progress
        self.passes_are_costly = partitions.passes_are_costly
        self._n_passes, self._n_rows = 0, 0

    def map_raw(self, task: Task) -> Any:
        """Merged results over the batches as they were read."""
        with _Pass(self) as counted:
            return self._partitions.map_raw(counted(task))

    def map_encoded(self, task: Task, encoder: Encoder) -> Any:
        """Merged results over the encoded batches."""
        with _Pass(self) as counted:
            return self._partitions.map_encoded(counted(task), encoder)

    def close(self) -> None:
        """Remove temporary files."""
        self._partitions.close()


class _Pass:
    """One pass."""

    def __init__(self, owner: ReportedPartitions) -> None:
        self.owner, self.done, self.shown, self.lock = owner, 0, 0, Lock()

    def __enter__(self):
        self.owner._n_passes += 1
        self._report("")
        is_local = isinstance(self.owner._partitions, LocalPartitions)
        return (lambda task: _CountedTask(task, self)) if is_local else (lambda task: task)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.owner._n_rows = max(self.owner._n_rows, self.done)

    def _report(self, text: str) -> None:
        self.owner._progress.report(f"pass {self.owner._n_passes}{text}")

    def count(self, n_rows: int) -> None:
        """Count rows, and report the next full ten percent."""
        with self.lock:
            self.done += n_rows
            if not self.owner._n_rows:
                return
            percent = min(100, 100 * self.done // self.owner._n_rows)
            if percent >= self.shown + _STEP:
                self.shown = percent - percent % _STEP
                self._report(f": {percent}%")


class _CountedTask:
    """A task that counts the rows it has seen."""

    def __init__(self, task: Task, of_pass: _Pass) -> None:
        self._task, self._pass = task, of_pass

    def __call__(self, batch: Any) -> Any:
        found = self._task(batch)
        self._pass.count(len(batch.X) if isinstance(batch, RawBatch) else batch.n_rows)
        return found

    def over(self, batches: Iterable[Batch]) -> Any:
        """The merged result of several batches."""
        return over_batches(self._task, self._counted(batches))

    def _counted(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        for batch in batches:
            yield batch
            self._pass.count(batch.n_rows)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._task, name)
