"""Encoded batches that are stored, so that later passes do not read the source again.

Codes and leaves are kept in memory while they fit into the limit of the scan. A temporary file
holds, batch by batch, the weights and the values, and the codes and leaves of further batches.
Values and codes are stored column by column, and a pass reads only the columns that it needs. The
file has no name: it disappears when it is closed, also if the process is killed.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from threading import Lock, Thread
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.batches.batch import Batch, Encoder, RawBatch
from pellucid._core.batches.induced_rows import NearestCenters
from pellucid._core.batches.partitions import LocalPartitions, Task, over_batches
from pellucid._core.data.arrays import Weights
from pellucid._utils.notices import InputError
from pellucid._utils.threads import ThreadPool

_MAX_GROUP, _MIN_GROUPS = 8, 16
"""Stored batches that a thread takes at once, at most; and such groups of a pass, if possible."""

_LARGE_FILE = 2**28
"""Bytes of a file whose removal takes so long that another thread does it."""

_POSITION = Lock()
"""Held while the position in the file is used: macOS lacks `preadv`, Windows `pwrite` as well."""


class _Entry(NamedTuple):
    """Where the arrays of a batch are.

    At `offset` in the file: weights if they are not 1, values; then codes, leaves and nearest
    centers if they are not kept. At `costs_at`: costs and margins of the rows, if a task stores
    them. If `codes` are kept in memory, leaves and nearest centers are kept, too.
    """

    offset: int
    costs_at: int
    starts: np.ndarray
    value_type: np.dtype
    code_type: np.dtype
    codes: np.ndarray | None


class _BatchState:
    """What tasks found out about the rows of a batch.

    `leaf` are the leaves by `routing`, and `nearest` what `Batch.nearest` has but for costs and
    margins. Arrays are empty, but of their type, if they are in the file.
    """

    leaf: np.ndarray

    def __init__(self) -> None:
        self.routing: Any = None
        self.leaf = np.empty(0, dtype=np.int16)
        self.nearest: tuple[Any, list[np.ndarray]] = (None, [])


class CachedBatch(Batch):
    """A batch whose arrays are kept in memory or mapped from the file `descriptor`."""

    starts: np.ndarray

    def __init__(
        self,
        descriptor: int,
        entry: _Entry,
        n_features: int,
        encoder: Encoder,
        state: _BatchState,
    ) -> None:
        self._descriptor, self._entry, self._n_features = descriptor, entry, n_features
        self._units, self.starts, self._state = encoder.weight_units, entry.starts, state
        self._values_at = 0 if self._units.are_ones else 8 * self.n_rows
        size = self.n_rows * n_features
        self._codes_at = self._values_at + size * entry.value_type.itemsize
        self._n_mapped = self._codes_at
        if entry.codes is None:
            self._n_mapped += size * entry.code_type.itemsize
        self._leaves_at = entry.offset + self._n_mapped
        self._nearest_at = self._leaves_at + 4 * self.n_rows

    @cached_property
    def _pages(self) -> mmap.mmap:
        """Weights, values and codes in the file."""
        return self._map(self._entry.offset, self._n_mapped)

    def _map(self, offset: int, n_bytes: int) -> mmap.mmap:
        """A part of the file; only pages that are used are read."""
        # Arrays over a copy are writable, as those in memory are: one compilation serves both.
        return mmap.mmap(self._descriptor, n_bytes, access=mmap.ACCESS_COPY, offset=offset)

    def _mapped(self, place: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """An array of the file, `place` bytes after the start of the batch."""
        if not self.n_rows:
            return np.empty(shape, dtype=dtype)
        return np.ndarray(shape, dtype, self._pages, place)

    def _read(self, offset: int, dtype: np.dtype) -> np.ndarray:
        """One number per row from the file."""
        array = np.empty(self.n_rows, dtype=dtype)
        buffer, done = array.data.cast("B") if array.size else memoryview(b""), 0
        while done < len(buffer):
            n_bytes = _read_at(self._descriptor, buffer[done:], offset + done)
            if not n_bytes:
                raise InputError("the temporary file of the scan was truncated")
            done += n_bytes
        return array

    @property
    def routed(self) -> tuple[Any, np.ndarray]:
        """The last routing, and the leaves of the rows."""
        routing, leaf = self._state.routing, self._state.leaf
        if routing is not None and self._entry.codes is None:
            leaf = self._read(self._leaves_at, leaf.dtype)
        return routing, leaf

    @routed.setter
    def routed(self, value: tuple[Any, np.ndarray]) -> None:
        self._state.routing, leaf = value
        if self._entry.codes is None:
            write_array(self._descriptor, leaf, self._leaves_at)
            leaf = leaf[:0].copy()
        self._state.leaf = leaf

    @property
    def nearest(self) -> tuple[Any, NearestCenters | None]:
        """The routing and the nearest centers that a task has stored."""
        routing, centers = self._state.nearest
        if routing is None:
            return None, None
        if self._entry.codes is None:
            places = self._nearest_at, self._nearest_at + 2 * self.n_rows
            centers = [self._read(at, array.dtype) for at, array in zip(places, centers)]
        n_bytes, number = 8 * self.n_rows, np.dtype(np.int64)
        costs = (self._read(self._entry.costs_at + at, number) for at in (0, n_bytes))
        return routing, NearestCenters(*centers, *costs)

    @nearest.setter
    def nearest(self, value: tuple[Any, NearestCenters]) -> None:
        routing, (*centers, cost, margin) = value
        write_array(self._descriptor, cost, self._entry.costs_at)
        write_array(self._descriptor, margin, self._entry.costs_at + 8 * self.n_rows)
        if self._entry.codes is None:
            for place, array in enumerate(centers):
                write_array(self._descriptor, array, self._nearest_at + 2 * self.n_rows * place)
            centers = [array[:0].copy() for array in centers]
        self._state.nearest = routing, centers

    @property
    def n_features(self) -> int:
        return self._n_features

    @cached_property
    def weights(self) -> Weights:  # type: ignore[override]
        """Weights of the rows."""
        if self._units.are_ones:
            return Weights.equal(self.n_rows)
        return self._units.of(self._mapped(0, (self.n_rows,), np.dtype(np.float64)))

    @cached_property
    def codes(self) -> np.ndarray:  # type: ignore[override]
        """Bins of all values: (n_features, n_rows)."""
        if self._entry.codes is not None:
            return self._entry.codes
        shape = (self._n_features, self.n_rows)
        return self._mapped(self._codes_at, shape, self._entry.code_type)

    @cached_property
    def columns(self) -> np.ndarray:  # type: ignore[override]
        """All values: (n_features, n_rows)."""
        shape = (self._n_features, self.n_rows)
        return self._mapped(self._values_at, shape, self._entry.value_type)


class CachedPartitions(LocalPartitions):
    """Batches of a local source that are encoded once.

    ``read()`` returns an iterable of `RawBatch`; at most `memory` bytes of codes and leaves are
    kept in memory.
    """

    def __init__(
        self, read: Callable[[], Iterable[RawBatch]], pool: ThreadPool, memory: int
    ) -> None:
        super().__init__(read, pool)
        self._memory, self._n_kept = memory, 0
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

        def work(group: list[tuple[_Entry, _BatchState]]) -> Any:
            # A batch exists only here: its arrays are released when the task has used it.
            batches = (
                CachedBatch(descriptor, entry, n_features, encoder, state) for entry, state in group
            )
            return over_batches(task, batches)

        entries = self._entries
        size = min(_MAX_GROUP, max(1, len(entries) // _MIN_GROUPS))
        groups = [entries[start : start + size] for start in range(0, len(entries), size)]
        return self._merged(task, work, groups)

    def _encode(self, task: Task, encoder: Encoder) -> Any:
        self.close()
        self._file = tempfile.TemporaryFile(prefix="pellucid-", buffering=0)  # noqa: SIM115

        entries: dict[int, _Entry] = {}

        def work(numbered: tuple[int, RawBatch]) -> Any:
            number, raw = numbered
            batch = encoder.encode(raw)
            entries[number] = self._store(batch)
            return task(batch)

        merged = self._merged(task, work, enumerate(self._batches()))
        self._entries = [(entries[number], _BatchState()) for number in sorted(entries)]
        self._encoder = encoder
        return merged

    def _store(self, batch: Batch) -> _Entry:
        self._n_features = batch.n_features
        arrays = [batch.columns]
        if not batch.weights.are_ones:
            arrays.insert(0, batch.weights.values)
        n_state_bytes = 8 * batch.n_rows  # leaves and two centers of at most 2 bytes
        codes = batch.codes if self._keep(batch.codes.nbytes + n_state_bytes) else None
        if codes is None:
            arrays.append(batch.codes)  # leaves and centers come after them
        at = offset = self._allocate(sum(a.nbytes for a in arrays) + n_state_bytes)
        for array in arrays:
            write_array(self._file.fileno(), array, at)
            at += array.nbytes
        costs_at = self._allocate(16 * batch.n_rows)  # uses no space before they are written
        return _Entry(offset, costs_at, batch.starts, batch.columns.dtype, batch.codes.dtype, codes)

    def _keep(self, n_bytes: int) -> bool:
        """Whether this many bytes more fit into memory; they then count."""
        with self._lock:
            fits = self._n_kept + n_bytes <= self._memory
            self._n_kept += n_bytes if fits else 0
        return fits

    def _allocate(self, n_bytes: int) -> int:
        """Where this many bytes of the file are free; a place that can be mapped."""
        with self._lock:
            offset = self._end
            self._end += -(-n_bytes // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
        return offset

    def close(self) -> None:
        """Remove the temporary file, and drop what is kept in memory."""
        if self._file is not None and self._end < _LARGE_FILE:
            self._file.close()
        elif self._file is not None:
            Thread(target=self._file.close).start()
        self._file, self._encoder, self._entries = None, None, []
        self._end = self._n_kept = 0


def write_array(descriptor: int, array: np.ndarray, offset: int) -> None:
    """Write an array to the temporary file."""
    array = np.ascontiguousarray(array)
    buffer = array.data.cast("B") if array.size else memoryview(b"")
    with temporary_files():
        while len(buffer):
            n_bytes = _write_at(descriptor, buffer[: 2**30], offset)
            buffer, offset = buffer[n_bytes:], offset + n_bytes


@contextmanager
def temporary_files() -> Iterator[None]:
    """Replace errors of writing temporary files by one that names the folder."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"cannot write the temporary file of the scan in {tempfile.gettempdir()}: "
            f"{error.strerror or error}",
            hint="set the environment variable TMPDIR to a folder with more space",
        ) from None


def _read_at(descriptor: int, buffer: memoryview, offset: int) -> int:
    """Fill a buffer from a place of the file, as far as it goes; returns the number of bytes."""
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, [buffer], offset)
    with _POSITION:
        os.lseek(descriptor, offset, os.SEEK_SET)
        found = os.read(descriptor, len(buffer))
    buffer[: len(found)] = found
    return len(found)


def _write_at(descriptor: int, buffer: memoryview, offset: int) -> int:
    """Write a buffer to a place of the file, as far as it goes; returns the number of bytes."""
    if hasattr(os, "pwrite"):
        return os.pwrite(descriptor, buffer, offset)
    with _POSITION:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.write(descriptor, buffer)
