"""The explanation problem on partitioned data, and the partition protocol.

A task is applied to every batch, and its results are merged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.batches.batch import Encoder, RawBatch, WeightUnits
from pellucid._utils.threads import SERIAL, ThreadPool


def merged(first: Any, second: Any) -> Any:
    """The sum of two results: part by part if they are tuples, lists or dictionaries."""
    if hasattr(first, "merge"):
        return first.merge(second)
    if isinstance(first, dict):
        return {key: merged(part, second[key]) for key, part in first.items()}
    if isinstance(first, (tuple, list)):
        parts = map(merged, first, second)
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    return first + second


class Task:
    """A step of the search. It is small, can be pickled, and holds all that it needs.

    A subclass defines `__call__`, or `over` if it works on several batches together. The merged
    result must not depend on the order of the batches, except for rounding errors.
    """

    is_exact = False
    """Whether results are integers or extremes: in any order, they merge to the same bits."""

    def __call__(self, batch: Any, /) -> Any:
        return self.over([batch])

    def over(self, batches: Iterable[Any]) -> Any:
        return reduce(self.merge, map(self, batches))

    def merge(self, first: Any, second: Any) -> Any:
        """The result of two batches together: their sum, unless overridden."""
        return merged(first, second)


class ExactTask(Task):
    is_exact = True


class Partitions(ABC):
    """Rows in batches that can be read any number of times.

    `passes_are_costly` says that every pass encodes the rows anew, so that few passes matter more
    than few rows.
    """

    passes_are_costly: bool = False

    @abstractmethod
    def map_raw(self, task: Task) -> Any:
        """Merged results of a task over the batches as they were read; None without batches."""

    def map_encoded(self, task: Task, encoder: Encoder) -> Any:
        """Merged results over the encoded batches, which are encoded anew unless overridden."""
        return self.map_raw(MappedTask(task, encoder.encode))

    def close(self) -> None:  # noqa: B027
        """Remove temporary files, if there are any."""


@dataclass(frozen=True)
class MappedTask(Task):
    """A task over what a function makes of each batch."""

    task: Task
    function: Callable[[Any], Any]

    def __call__(self, batch: Any) -> Any:
        return self.task(self.function(batch))

    def merge(self, first: Any, second: Any) -> Any:
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
        """Merged ``work(item)`` of all items; every thread takes the next item when it is free.

        Results are merged in the order of the items, whenever they come: sums of floats then do not
        depend on which thread is faster.
        """
        waiting, taking, merging = enumerate(items), Lock(), Lock()
        done: dict[int, Any] = {}  # results by place that are not merged yet
        merged, n_merged = None, 0

        def next_item() -> tuple[int, Any] | None:
            with taking:
                return next(waiting, None)

        def take_items(_: int) -> None:
            nonlocal waiting, merged, n_merged
            try:
                while (taken := next_item()) is not None:
                    place, result = taken[0], work(taken[1])
                    with merging:
                        done[place] = result
                        while n_merged in done:
                            found = done.pop(n_merged)
                            merged = found if n_merged == 0 else task.merge(merged, found)
                            n_merged += 1
            except BaseException:
                with taking:
                    waiting = enumerate(())  # no thread gets another item
                raise

        self._pool.map(take_items, range(self._pool.n_threads))
        return merged


def over_batches(task: Task, batches: Iterable[Any]) -> Any:
    """The merged result of a task over one or several batches."""
    return task.over(batches)


def read_ahead(items: Iterable[Any], size: int) -> Iterator[Any]:
    """The same items; a thread takes the next ones from the source while one is used."""
    iterator = iter(items)
    with ThreadPoolExecutor(1) as executor:
        waiting = executor.submit(lambda: list(islice(iterator, size)))
        while group := waiting.result():
            waiting = executor.submit(lambda: list(islice(iterator, size)))
            yield from group


class BatchBins(NamedTuple):
    """Bins of the columns; the attributes are those of `pellucid._core.data.binning.Bins`."""

    edges: np.ndarray
    inside: np.ndarray
    center_code: np.ndarray


@dataclass(frozen=True)
class BatchProblem:
    """The data in partitions, and the clustering to be explained.

    `cost_unit` is the value of one unit of cost, a power of two; `units_per_row` are the units of
    weight that count as one row, as in `Weights`. `criteria` maps classes of criteria in memory to
    those on batches. If `is_exact` is false, thresholds inside bins are not searched, and `gaps`
    has, by node, the objective of the best edge less a lower bound of all thresholds.
    """

    is_in_memory = False
    partitions: Partitions
    encoder: Encoder
    centers: np.ndarray
    bins: BatchBins
    cost_unit: float = 1.0
    units_per_row: float = 1.0
    is_exact: bool = True
    criteria: Mapping[type[Any], Callable[..., Any]] = field(default_factory=dict)
    gaps: dict[int, float] = field(default_factory=dict)

    @property
    def n_features(self) -> int:
        return self.centers.shape[1]

    @property
    def n_clusters(self) -> int:
        return len(self.centers)

    @property
    def n_bins(self) -> int:
        return self.bins.edges.shape[1]

    @property
    def weight_units(self) -> WeightUnits:
        return self.encoder.weight_units

    def criterion(self, kind: type[Any], *parameters: Any) -> Any:
        """The criterion of a kind for this problem, given its form in memory."""
        return self.criteria[kind](self, *parameters)

    def map(self, task: Task) -> Any:
        """Merged results of a task over all batches."""
        return self.partitions.map_encoded(task, self.encoder)
