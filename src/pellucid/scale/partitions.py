"""The partition protocol: a task is applied to every batch, and its results are merged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, Protocol

from pellucid._utils.threads import SERIAL, ThreadPool
from pellucid.scale.batches import Encoder, RawBatch


class Task(Protocol):
    """A step of the search. It is small, can be pickled, and holds all that it needs.

    The merged result must not depend on the order of the batches.
    """

    def __call__(self, batch: Any) -> Any:
        """The result of one batch."""

    def merge(self, first: Any, second: Any) -> Any:
        """The result of two batches together."""


class Partitions(ABC):
    """Rows in batches that can be read any number of times."""

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

    task: Task
    encoder: Encoder

    def __init__(self, task: Task, encoder: Encoder) -> None:
        self.task, self.encoder = task, encoder

    def __call__(self, raw: RawBatch) -> Any:
        """The result of one batch."""
        return self.task(self.encoder.encode(raw))

    def merge(self, first: Any, second: Any) -> Any:
        """The result of two batches together."""
        return self.task.merge(first, second)


class LocalPartitions(Partitions):
    """Batches that a function returns anew each time.

    Parameters
    ----------
    read : callable
        Returns an iterable of `RawBatch`.
    pool : ThreadPool
    """

    def __init__(self, read: Callable[[], Iterable[RawBatch]], pool: ThreadPool = SERIAL) -> None:
        self._read, self._pool = read, pool

    def _batches(self) -> Iterator[RawBatch]:
        """The batches; the next ones are read while the last ones are used."""
        return read_ahead(self._read(), self._pool.n_threads)

    def map_raw(self, task: Task) -> Any:
        """Merged results over all batches, a few of which are in memory at a time."""
        return merge_all(task, self._results(task, self._batches()))

    def _results(
        self, work: Callable[..., Any], items: Iterable[Any], per_thread: int = 1
    ) -> Iterator[Any]:
        """``work(item)`` for all items, in their order; some items per thread at a time."""
        for group in in_groups(items, per_thread * self._pool.n_threads):
            yield from self._pool.map(work, group)

    def map_encoded(self, task: Task, encoder: Encoder) -> Any:
        """Every batch is encoded again."""
        return self.map_raw(EncodedTask(task, encoder))

    def close(self) -> None:
        """There is nothing to remove."""


def merge_all(task: Task, results: Iterable[Any]) -> Any:
    """The merged results of a task; None if there are none."""
    merged = None
    for result in results:
        merged = result if merged is None else task.merge(merged, result)
    return merged


def in_groups(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Lists of `size` items, the last one perhaps shorter."""
    group: list[Any] = []
    for item in items:
        group.append(item)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def read_ahead(items: Iterable[Any], size: int) -> Iterator[Any]:
    """The same items; a thread takes the next ones from the source while one is used."""
    iterator = iter(items)
    with ThreadPoolExecutor(1) as executor:
        waiting = executor.submit(lambda: list(islice(iterator, size)))
        while group := waiting.result():
            waiting = executor.submit(lambda: list(islice(iterator, size)))
            yield from group
