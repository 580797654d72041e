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
from dataclasses import dataclass
from functools import cached_property
from threading import Lock, Thread
from typing import Any

import numpy as np

from pellucid._core.batches.batch import Batch, Encoder, RawBatch
from pellucid._core.batches.induced_cost import NearestCenters
from pellucid._core.batches.partitions import LocalPartitions, Task, over_batches
from pellucid._core.data.arrays import Weights
from pellucid._utils.notices import InputError
from pellucid._utils.threads import ThreadPool

_MAX_GROUP, _MIN_GROUPS = 8, 16
"""Stored batches that a thread takes at once, at most; and such groups of a pass, if possible."""

_LARGE_FILE = 2**28  # bytes of a file whose removal takes so long that another thread does it

_POSITION = Lock()
"""Held while the position in the file is used: macOS lacks `preadv`, Windows `pwrite` as well."""


@dataclass
class _Entry:
    """Where the arrays of a batch are, and what tasks found out about its rows.

    At `offset` in the file: weights if they are not 1, values; then codes, leaves and nearest
    centers unless `codes` are kept in memory. At `costs_at`: costs and margins of the rows. Arrays
    of `routed` and `nearest` are empty, but of their type, if they are in the file.
    """

    offset: int
    costs_at: int
    starts: np.ndarray
    n_features: int
    value_type: np.dtype
    code_type: np.dtype
    codes: np.ndarray | None
    routed: tuple[Any, np.ndarray] = (None, np.empty(0, dtype=np.int16))
    nearest: tuple[Any, list[np.ndarray]] = (None, [])


class CachedBatch(Batch):
    """A batch whose arrays are kept in memory or mapped from the file `descriptor`."""

    def __init__(self, descriptor: int, entry: _Entry, encoder: Encoder) -> None:
        self._descriptor, self._entry = descriptor, entry
        self._units = encoder.weight_units
        self.starts: np.ndarray = entry.starts
        self._values_at = 0 if self._units.are_ones else 8 * self.n_rows
        size = self.n_rows * entry.n_features
        self._codes_at = self._values_at + size * entry.value_type.itemsize
        self._n_mapped = self._codes_at
        if entry.codes is None:
            self._n_mapped += size * entry.code_type.itemsize
        self._leaves_at = entry.offset + self._n_mapped
        self._nearest_at = [self._leaves_at + size * self.n_rows for size in (4, 6)]
        self._costs_at = [entry.costs_at, entry.costs_at + 8 * self.n_rows]

    @cached_property
    def _pages(self) -> mmap.mmap:
        """Weights, values and codes in the file; only pages that are used are read."""
        # Arrays over a copy are writable, as those in memory are: one compilation serves both.
        n_bytes, offset = self._n_mapped, self._entry.offset
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

    def _save(self, offset: int, array: np.ndarray) -> np.ndarray:
        """Keep an array of the rows, or write it to the file; returns what `_load` takes."""
        if self._entry.codes is not None:
            return array
        write_array(self._descriptor, array, offset)
        return array[:0].copy()

    def _load(self, offset: int, saved: np.ndarray) -> np.ndarray:
        return saved if self._entry.codes is not None else self._read(offset, saved.dtype)

    @property
    def routed(self) -> tuple[Any, np.ndarray]:
        """The last routing, and the leaves of the rows."""
        routing, leaf = self._entry.routed
        return routing, leaf if routing is None else self._load(self._leaves_at, leaf)

    @routed.setter
    def routed(self, value: tuple[Any, np.ndarray]) -> None:
        routing, leaf = value
        self._entry.routed = routing, self._save(self._leaves_at, leaf)

    @property
    def nearest(self) -> tuple[Any, NearestCenters | None]:
        """The routing and the nearest centers that a task has stored."""
        routing, saved = self._entry.nearest
        if routing is None:
            return None, None
        costs = (self._read(offset, np.dtype(np.int64)) for offset in self._costs_at)
        return routing, NearestCenters(*map(self._load, self._nearest_at, saved), *costs)

    @nearest.setter
    def nearest(self, value: tuple[Any, NearestCenters]) -> None:
        routing, (*centers, cost, margin) = value
        for offset, array in zip(self._costs_at, (cost, margin)):
            write_array(self._descriptor, array, offset)
        self._entry.nearest = routing, list(map(self._save, self._nearest_at, centers))

    @property
    def n_features(self) -> int:
        return self._entry.n_features

    @cached_property
    def weights(self) -> Weights:  # type: ignore[override]
        if self._units.are_ones:
            return Weights.equal(self.n_rows)
        return self._units.of(self._mapped(0, (self.n_rows,), np.dtype(np.float64)))

    @cached_property
    def codes(self) -> np.ndarray:  # type: ignore[override]
        if self._entry.codes is not None:
            return self._entry.codes
        shape = (self.n_features, self.n_rows)
        return self._mapped(self._codes_at, shape, self._entry.code_type)

    @cached_property
    def columns(self) -> np.ndarray:  # type: ignore[override]
        shape = (self.n_features, self.n_rows)
        return self._mapped(self._values_at, shape, self._entry.value_type)


class CachedPartitions(LocalPartitions):
    """Batches that are encoded once; at most `memory` bytes of codes and leaves stay in memory."""

    def __init__(
        self, read: Callable[[], Iterable[RawBatch]], pool: ThreadPool, memory: int
    ) -> None:
        super().__init__(read, pool)
        self._memory, self._n_kept = memory, 0
        self._entries: list[_Entry] = []
        self._encoder: Encoder | None = None
        self._file: Any = None
        self._lock, self._end = Lock(), 0

    def map_encoded(self, task: Task, encoder: Encoder) -> Any:
        """The first pass encodes and stores the batches, the others read the file."""
        if self._encoder is not encoder:
            return self._encode(task, encoder)
        descriptor = self._file.fileno()

        def work(group: list[_Entry]) -> Any:
            # A batch exists only here: its arrays are released when the task has used it.
            batches = (CachedBatch(descriptor, entry, encoder) for entry in group)
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
        self._entries = [entries[number] for number in sorted(entries)]
        self._encoder = encoder
        return merged

    def _store(self, batch: Batch) -> _Entry:
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
        types = batch.columns.dtype, batch.codes.dtype
        return _Entry(offset, costs_at, batch.starts, batch.n_features, *types, codes)

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
