"""Encoded batches in a temporary file, so that later passes do not read the source again.

The file holds, batch by batch, the labels, the units of weight, the codes and the values, the last
two column by column. A pass reads only the columns that it needs. The file has no name: it
disappears when it is closed, also if the process is killed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.data.arrays import Weights
from pellucid._utils.notices import InputError
from pellucid._utils.threads import ThreadPool
from pellucid.scale.batches import Batch, Encoder, RawBatch
from pellucid.scale.partitions import LocalPartitions, Task, in_groups


class _Entry(NamedTuple):
    """Where the arrays of a batch are in the file."""

    offset: int
    n_rows: int
    label_type: np.dtype
    code_type: np.dtype
    value_type: np.dtype


class _RoutingState:
    """The routing whose leaves are stored for a batch."""

    routing: Any = None


class CachedBatch(Batch):
    """A batch whose arrays are read from the file when they are needed.

    Parameters
    ----------
    descriptor : int
        Of the file.
    entry : _Entry
    n_features : int
    encoder : Encoder
    state : _RoutingState
    """

    def __init__(
        self,
        descriptor: int,
        entry: _Entry,
        n_features: int,
        encoder: Encoder,
        state: _RoutingState,
    ) -> None:
        self._descriptor, self._entry, self._n_features = descriptor, entry, n_features
        self._units = encoder.weight_units
        self._state, n = state, entry.n_rows
        self._weights_at = entry.offset + n * entry.label_type.itemsize
        self._codes_at = self._weights_at + (0 if self._units.are_ones else 8 * n)
        self._values_at = self._codes_at + n * n_features * entry.code_type.itemsize
        self._leaves_at = self._values_at + n * n_features * entry.value_type.itemsize

    def _read(self, offset: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        array = np.empty(shape, dtype=dtype)
        buffer, done = memoryview(array).cast("B") if array.size else memoryview(b""), 0
        while done < len(buffer):
            n_bytes = os.preadv(self._descriptor, [buffer[done:]], offset + done)
            if not n_bytes:
                raise InputError("the temporary file of the scan was truncated")
            done += n_bytes
        return array

    @property
    def routed(self) -> tuple[Any, np.ndarray]:
        """The last routing, and the leaves of the rows."""
        if self._state.routing is None:
            return None, np.empty(0, dtype=np.int32)
        leaf = self._read(self._leaves_at, (self.n_rows,), np.dtype(np.int32))
        return self._state.routing, leaf

    @routed.setter
    def routed(self, value: tuple[Any, np.ndarray]) -> None:
        write_array(self._descriptor, value[1], self._leaves_at)
        self._state.routing = value[0]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._entry.n_rows

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self._n_features

    @cached_property
    def labels(self) -> np.ndarray:
        """Own center of each row."""
        return self._read(self._entry.offset, (self.n_rows,), self._entry.label_type)

    @cached_property
    def weights(self) -> Weights:
        """Weights of the rows."""
        if self._units.are_ones:
            return Weights.equal(self.n_rows)
        return self._units.of(self._read(self._weights_at, (self.n_rows,), np.dtype(np.float64)))

    @cached_property
    def codes(self) -> np.ndarray:
        """Bins of all values: (n_features, n_rows)."""
        shape = (self._n_features, self.n_rows)
        return self._read(self._codes_at, shape, self._entry.code_type)

    def column_codes(self, feature: int) -> np.ndarray:
        """Bins of the values of a column."""
        if "codes" in self.__dict__:
            return self.codes[feature]
        dtype = self._entry.code_type
        at = self._codes_at + feature * self.n_rows * dtype.itemsize
        return self._read(at, (self.n_rows,), dtype)

    @cached_property
    def X(self) -> np.ndarray:
        """All values."""
        shape = (self._n_features, self.n_rows)
        return self._read(self._values_at, shape, self._entry.value_type).T

    def _column(self, feature: int) -> np.ndarray:
        if "X" in self.__dict__:
            return self.X[:, feature]
        dtype = self._entry.value_type
        at = self._values_at + feature * self.n_rows * dtype.itemsize
        return self._read(at, (self.n_rows,), dtype)

    def values(self, feature: int, rows: np.ndarray) -> np.ndarray:
        """Values of a column for some rows, as float64."""
        return self._column(feature)[rows].astype(np.float64)

    def columns(self, features: np.ndarray) -> np.ndarray:
        """Values of some columns: (len(features), n_rows)."""
        return np.array([self._column(int(feature)) for feature in features])


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
        self._entries: list[_Entry] = []
        self._states: dict[_Entry, _RoutingState] = {}
        self._encoder: Encoder | None = None
        self._file: Any = None
        self._lock, self._end = Lock(), 0
        self._n_features = 0

    def map_encoded(self, task: Task, encoder: Encoder) -> Any:
        """The first pass encodes and stores the batches, the others read the file."""
        if self._encoder is not encoder:
            return self._encode(task, encoder)
        descriptor = self._file.fileno()
        batches = (
            CachedBatch(descriptor, entry, self._n_features, encoder, self._states[entry])
            for entry in self._entries
        )
        return self._map_merge(task, batches)

    def _encode(self, task: Task, encoder: Encoder) -> Any:
        self.close()
        self._file = tempfile.TemporaryFile(prefix="pellucid-", buffering=0)  # noqa: SIM115

        def work(raw: RawBatch) -> tuple[Any, _Entry]:
            batch = encoder.encode(raw)
            return task(batch), self._write(batch)

        merged = None
        for group in in_groups(self._batches(), self._pool.n_threads):
            for result, entry in self._pool.map(work, group):
                self._entries.append(entry)
                self._states[entry] = _RoutingState()
                merged = result if merged is None else task.merge(merged, result)
        self._encoder = encoder
        return merged

    def _write(self, batch: Batch) -> _Entry:
        labels = batch.labels
        values = np.ascontiguousarray(batch.X.T, dtype=batch.value_type)
        self._n_features = len(values)
        arrays = [labels, batch.codes, values]
        if not batch.weights.are_ones:
            arrays.insert(1, batch.weights.values)
        with self._lock:
            offset = self._end
            # The leaves of the rows come last.
            self._end += sum(array.nbytes for array in arrays) + 4 * batch.n_rows
        at = offset
        for array in arrays:
            write_array(self._file.fileno(), array, at)
            at += array.nbytes
        return _Entry(offset, batch.n_rows, labels.dtype, batch.codes.dtype, values.dtype)

    def close(self) -> None:
        """Remove the temporary file."""
        if self._file is not None:
            self._file.close()
        self._file, self._encoder, self._entries, self._end = None, None, [], 0
        self._states = {}


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
