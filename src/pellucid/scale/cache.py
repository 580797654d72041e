"""Encoded batches in a temporary file, so that later passes do not read the source again.

The file holds, batch by batch, the weights, the codes and the values, the last two column by
column, and the leaves of the rows; then the costs, once they were needed. A pass reads only the
columns that it needs. The file has no name: it disappears when it is closed, also if the process is
killed.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.data.arrays import Weights
from pellucid._utils.notices import InputError
from pellucid._utils.threads import ThreadPool
from pellucid.scale.batches import Batch, Encoder, RawBatch
from pellucid.scale.partitions import LocalPartitions, Task, merge_all

_BATCHES_PER_THREAD = 4
"""Stored batches that a thread works on before the threads wait for each other."""


class _Entry(NamedTuple):
    """Where the arrays of a batch are in the file."""

    offset: int
    starts: np.ndarray
    code_type: np.dtype
    value_type: np.dtype


@lru_cache(maxsize=4)
def _equal_weights(n_rows: int) -> Weights:
    """Weights of 1, shared by the batches of a size."""
    return Weights.equal(n_rows)


class _BatchState:
    """What was computed for a batch and stored in the file.

    Attributes
    ----------
    routing : Routing or None
        The routing whose leaves are stored.
    dtype : dtype
        Of the leaves.
    costs_at : int
        Where the costs are in the file, if any are stored.
    costs_of : tuple of ndarray and float, or None
        Centers and unit of the stored costs.
    """

    def __init__(self, allocate: Callable[[int], int]) -> None:
        self.routing: Any = None
        self.dtype = np.dtype(np.int16)
        self.costs_at = 0
        self.costs_of: tuple[np.ndarray, float] | None = None
        self.allocate = allocate


class CachedBatch(Batch):
    """A batch whose arrays are read from the file when they are needed.

    Parameters
    ----------
    descriptor : int
        Of the file.
    entry : _Entry
    n_features : int
    encoder : Encoder
    state : _BatchState
    """

    def __init__(
        self,
        descriptor: int,
        entry: _Entry,
        n_features: int,
        encoder: Encoder,
        state: _BatchState,
    ) -> None:
        self._descriptor, self._entry, self._n_features = descriptor, entry, n_features
        self._units, self.starts = encoder.weight_units, entry.starts
        self._state, n = state, self.n_rows
        self._weights_at = entry.offset
        self._codes_at = entry.offset + (0 if self._units.are_ones else 8 * n)
        self._values_at = self._codes_at + n * n_features * entry.code_type.itemsize
        self._leaves_at = self._values_at + n * n_features * entry.value_type.itemsize

    def _read(self, offset: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        array = np.empty(shape, dtype=dtype)
        self._read_into(offset, array)
        return array

    def _read_into(self, offset: int, array: np.ndarray) -> None:
        buffer, done = memoryview(array).cast("B") if array.size else memoryview(b""), 0
        while done < len(buffer):
            n_bytes = os.preadv(self._descriptor, [buffer[done:]], offset + done)
            if not n_bytes:
                raise InputError("the temporary file of the scan was truncated")
            done += n_bytes

    def _read_lines(self, offset: int, numbers: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """Some lines of an array of n_features lines of n_rows numbers."""
        lines = np.empty((len(numbers), self.n_rows), dtype=dtype)
        for line, number in zip(lines, numbers.tolist()):
            self._read_into(offset + number * self.n_rows * dtype.itemsize, line)
        return lines

    @property
    def routed(self) -> tuple[Any, np.ndarray]:
        """The last routing, and the leaves of the rows."""
        if self._state.routing is None:
            return None, np.empty(0, dtype=np.int32)
        return self._state.routing, self._read(self._leaves_at, (self.n_rows,), self._state.dtype)

    @routed.setter
    def routed(self, value: tuple[Any, np.ndarray]) -> None:
        write_array(self._descriptor, value[1], self._leaves_at)
        self._state.routing, self._state.dtype = value[0], value[1].dtype

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self._n_features

    @cached_property
    def weights(self) -> Weights:
        """Weights of the rows."""
        if self._units.are_ones:
            return _equal_weights(self.n_rows)
        return self._units.of(self._read(self._weights_at, (self.n_rows,), np.dtype(np.float64)))

    @cached_property
    def codes(self) -> np.ndarray:
        """Bins of all values: (n_features, n_rows)."""
        shape = (self._n_features, self.n_rows)
        return self._read(self._codes_at, shape, self._entry.code_type)

    def costs(self, centers: np.ndarray, unit: float) -> np.ndarray:
        """Cost of every row at every center; those of the first centers are stored."""
        state = self._state
        if state.costs_of is None:
            self._costs = super().costs(centers, unit)
            state.costs_at = state.allocate(self._costs.nbytes)
            write_array(self._descriptor, self._costs, state.costs_at)
            state.costs_of = centers, unit
        return self._costs if self._are_stored(centers, unit) else super().costs(centers, unit)

    def costs_of(self, rows: np.ndarray, centers: np.ndarray, unit: float) -> np.ndarray:
        """The same for a few rows; only the parts of the file that hold them are read."""
        if not self._are_stored(centers, unit):
            return super().costs_of(rows, centers, unit)
        if "_costs" in self.__dict__:
            return self._costs[rows]
        start, n_bytes = self._state.costs_at, 8 * self.n_rows * len(centers)
        first = start - start % mmap.ALLOCATIONGRANULARITY
        with mmap.mmap(
            self._descriptor, start - first + n_bytes, prot=mmap.PROT_READ, offset=first
        ) as pages:
            stored = np.frombuffer(pages, dtype=np.int64, offset=start - first)
            costs = stored.reshape(self.n_rows, len(centers))[rows]
            del stored  # the pages cannot be closed while an array uses them
        return costs

    def _are_stored(self, centers: np.ndarray, unit: float) -> bool:
        of = self._state.costs_of
        return of is not None and of[0] is centers and of[1] == unit

    @cached_property
    def _costs(self) -> np.ndarray:
        assert self._state.costs_of is not None
        shape = (self.n_rows, len(self._state.costs_of[0]))
        return self._read(self._state.costs_at, shape, np.dtype(np.int64))

    def column_codes(self, features: np.ndarray) -> np.ndarray:
        """Bins of the values of some columns."""
        if "codes" in self.__dict__:
            return self.codes[features]
        return self._read_lines(self._codes_at, features, self._entry.code_type)

    @cached_property
    def columns(self) -> np.ndarray:
        """All values: (n_features, n_rows)."""
        shape = (self._n_features, self.n_rows)
        return self._read(self._values_at, shape, self._entry.value_type)

    def values(self, features: np.ndarray) -> np.ndarray:
        """Values of some columns."""
        if "columns" in self.__dict__:
            return self.columns[features]
        return self._read_lines(self._values_at, features, self._entry.value_type)


class CachedPartitions(LocalPartitions):
    """Batches of a local source that are encoded once.

    Parameters
    ----------
    read : callable
        Returns an iterable of `RawBatch`.
    pool : ThreadPool
    """

    def __init__(self, read: Callable[[], Iterable[RawBatch]], pool: ThreadPool) -> None:
        super().__init__(read, pool)
        self._entries: list[tuple[_Entry, _BatchState]] = []
        self._encoder: Encoder | None = None
        self._file: Any = None
        self._lock, self._end = Lock(), 0
        self._n_features = 0

    def map_encoded(self, task: Task, encoder: Encoder) -> Any:
        """The first pass encodes and stores the batches, the others read the file."""
        if self._encoder is not encoder:
            return self._encode(task, encoder)
        descriptor, n_features = self._file.fileno(), self._n_features

        def work(stored: tuple[_Entry, _BatchState]) -> Any:
            # The batch exists only here: its arrays are released when the task is done.
            return task(CachedBatch(descriptor, stored[0], n_features, encoder, stored[1]))

        return merge_all(task, self._results(work, self._entries, _BATCHES_PER_THREAD))

    def _encode(self, task: Task, encoder: Encoder) -> Any:
        self.close()
        self._file = tempfile.TemporaryFile(prefix="pellucid-", buffering=0)  # noqa: SIM115

        def work(raw: RawBatch) -> tuple[Any, _Entry]:
            batch = encoder.encode(raw)
            return task(batch), self._write(batch)

        merged = None
        for result, entry in self._results(work, self._batches()):
            self._entries.append((entry, _BatchState(self._allocate)))
            merged = result if merged is None else task.merge(merged, result)
        self._encoder = encoder
        return merged

    def _write(self, batch: Batch) -> _Entry:
        self._n_features = batch.n_features
        arrays = [batch.codes, batch.columns]
        if not batch.weights.are_ones:
            arrays.insert(0, batch.weights.values)
        # The leaves of the rows come last.
        at = offset = self._allocate(sum(a.nbytes for a in arrays) + 4 * batch.n_rows)
        for array in arrays:
            write_array(self._file.fileno(), array, at)
            at += array.nbytes
        return _Entry(offset, batch.starts, batch.codes.dtype, batch.columns.dtype)

    def _allocate(self, n_bytes: int) -> int:
        """Where this many bytes of the file are free."""
        with self._lock:
            offset = self._end
            self._end += n_bytes
        return offset

    def close(self) -> None:
        """Remove the temporary file."""
        if self._file is not None:
            self._file.close()
        self._file, self._encoder, self._entries, self._end = None, None, [], 0


def write_array(descriptor: int, array: np.ndarray, offset: int) -> None:
    """Write an array to the temporary file."""
    array = np.ascontiguousarray(array)
    buffer = memoryview(array).cast("B") if array.size else memoryview(b"")
    try:
        while len(buffer):
            n_bytes = os.pwrite(descriptor, buffer[: 2**30], offset)
            buffer, offset = buffer[n_bytes:], offset + n_bytes
    except OSError as error:
        raise InputError(
            f"cannot write the temporary file of the scan in {tempfile.gettempdir()}: "
            f"{error.strerror}",
            hint="set the environment variable TMPDIR to a folder with more space",
        ) from None
