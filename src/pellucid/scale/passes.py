"""Passes over the data of a scan: an estimate before a fit, a record of each, and checkpoints."""

from __future__ import annotations

import hashlib
import io
import logging
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.batches.batch import Batch, Encoder
from pellucid._core.batches.partitions import (
    ExactTask,
    LocalPartitions,
    Partitions,
    Task,
    over_batches,
)
from pellucid._utils.notices import InputError
from pellucid._utils.progress import Progress
from pellucid._version import __version__
from pellucid.methods import STREAMED, one_of
from pellucid.reference.resolve import DEFAULT_N_CLUSTERS
from pellucid.scale.references import LLOYD_PASSES

logger: logging.Logger = logging.getLogger("pellucid.scale")

_STEP = 10  # percent between two reports


class PassRecord(NamedTuple):
    """What is known about a pass over the data.

    Attributes
    ----------
    number : int
        Number of the pass, from 1.
    task : str
        What was done with the rows.
    seconds : float
        Elapsed time.
    n_rows, n_tasks : int
        Rows that were looked at, and results that were merged.
    task_bytes, total_bytes, merged_bytes : int
        Bytes of the largest result of a task, of all results, and of the merged one.
    is_replayed : bool
        Whether the result comes from a checkpoint.
    """

    number: int
    task: str
    seconds: float
    n_rows: int
    n_tasks: int
    task_bytes: int
    total_bytes: int
    merged_bytes: int
    is_replayed: bool = False


class _Measured(NamedTuple):
    """The result of a task, with rows, results, and the bytes of the largest one and of all."""

    n_rows: int
    n_tasks: int
    largest: int
    total: int
    found: Any


class _MeasuredTask(ExactTask):
    """A task whose results are measured; ``on_rows(n_rows)`` is called on this machine only."""

    def __init__(self, task: Task, on_rows: Callable[[int], None] | None) -> None:
        self._task, self._on_rows, self.is_exact = task, on_rows, task.is_exact

    def over(self, batches: Iterable[Any]) -> _Measured:
        n_rows = 0

        def counted() -> Iterator[Any]:
            nonlocal n_rows
            for batch in batches:
                n = batch.n_rows if isinstance(batch, Batch) else len(batch.X)
                n_rows += n
                yield batch
                if self._on_rows is not None:
                    self._on_rows(n)

        found = over_batches(self._task, counted())
        size = size_of(found)
        return _Measured(n_rows, 1, size, size, found)

    def merge(self, first: _Measured, second: _Measured) -> _Measured:
        found = self._task.merge(first.found, second.found)
        largest = max(first.largest, second.largest)
        n_rows, n_tasks = first.n_rows + second.n_rows, first.n_tasks + second.n_tasks
        return _Measured(n_rows, n_tasks, largest, first.total + second.total, found)


def size_of(found: Any) -> int:
    """Bytes of all arrays of a result, and 8 for every other value."""
    if hasattr(found, "nbytes"):
        return int(found.nbytes)
    if isinstance(found, dict):
        return sum(map(size_of, found.values()))
    if isinstance(found, (list, tuple)):
        return sum(map(size_of, found))
    return sum(map(size_of, vars(found).values())) if hasattr(found, "__dict__") else 8


class RecordedPartitions(Partitions):
    """Partitions whose passes are reported, logged, given to a callback and stored."""

    def __init__(self, partitions: Partitions, progress: Progress, scan: Any) -> None:
        self._partitions, self._progress = partitions, progress
        self._checkpoint, self._on_pass = Checkpoint.of(scan), scan.on_pass
        self.passes_are_costly: bool = partitions.passes_are_costly
        self._n_passes, self._n_rows = 0, 0

    def map_raw(self, task: Task) -> Any:
        return self._recorded(task, None, self._partitions.map_raw)

    def map_encoded(self, task: Task, encoder: Encoder) -> Any:
        run = partial(self._partitions.map_encoded, encoder=encoder)
        return self._recorded(task, encoder, run)

    def _recorded(self, task: Task, encoder: Any, run: Callable[[Task], Any]) -> Any:
        self._n_passes += 1
        start, number = perf_counter(), self._n_passes
        self._progress.report(f"pass {number}")
        checkpoint, key, measured = self._checkpoint, "", None
        if checkpoint is not None:
            key = checkpoint.key(number, task, encoder)
            measured = checkpoint.find(number, key)
        is_replayed = measured is not None
        if not is_replayed:
            measured = run(_MeasuredTask(task, self._counter()))
            if checkpoint is not None:
                checkpoint.store(number, key, measured)
        if measured is None:
            return None
        n_rows, n_tasks, largest, total, found = measured
        self._n_rows = max(self._n_rows, n_rows)
        step = number, type(task).__name__, perf_counter() - start, n_rows, n_tasks
        record = PassRecord(*step, largest, total, size_of(found), is_replayed)
        logger.info("%s: %s", self._progress.task, record)
        if self._on_pass is not None:
            self._on_pass(record)
        return found

    def _counter(self) -> Callable[[int], None] | None:
        """Counts the rows that were seen, and reports every ten percent of those of all."""
        if not (isinstance(self._partitions, LocalPartitions) and self._progress.is_reported):
            return None
        done, shown, lock = 0, 0, Lock()

        def count(n_rows: int) -> None:
            nonlocal done, shown
            with lock:
                done += n_rows
                percent = min(100, 100 * done // self._n_rows) if self._n_rows else 0
                if percent >= shown + _STEP:
                    shown = percent - percent % _STEP
                    self._progress.report(f"pass {self._n_passes}: {percent}%")

        return count

    def close(self) -> None:
        self._partitions.close()

    def finish(self) -> None:
        """Remove what was stored: the fit has ended."""
        if self._checkpoint is not None:
            self._checkpoint.remove()


@dataclass
class Checkpoint:
    """A folder with the results of finished passes, each under its number.

    The key of a result has the task, with all that it knows, the encoder, and the source.
    """

    folder: Path
    source: str
    _encoder: Any = None
    _encoder_key: str = ""

    @classmethod
    def of(cls, scan: Any) -> Checkpoint | None:
        if scan.checkpoint is None:
            return None
        folder = Path(scan.checkpoint)
        folder.mkdir(parents=True, exist_ok=True)
        known = (__version__, scan.names, scan.weight, scan.labels, scan.exact)
        return cls(folder, repr((*known, scan.source.fingerprint())))

    def _path(self, number: int) -> Path:
        return self.folder / f"pellucid-pass-{number:04}.pickle"

    def key(self, number: int, task: Task, encoder: Any) -> str:
        if encoder is not self._encoder:
            self._encoder, self._encoder_key = encoder, _digest(encoder)
        return _digest((self.source, number, task, self._encoder_key))

    def find(self, number: int, key: str) -> Any:
        """The stored result of a pass; None if there is none, or that of another step."""
        try:
            stored, found = pickle.loads(self._path(number).read_bytes())
        except (OSError, pickle.UnpicklingError, EOFError):
            return None
        return found if stored == key else None

    def store(self, number: int, key: str, found: Any) -> None:
        """Store the result of a pass; a file is complete, or is not there."""
        draft = self._path(number).with_suffix(".part")
        try:
            draft.write_bytes(pickle.dumps((key, found), protocol=5))
            os.replace(draft, self._path(number))
        except OSError as error:
            raise InputError(f"cannot write the checkpoint {draft}: {error.strerror}") from None

    def remove(self) -> None:
        for path in self.folder.glob("pellucid-pass-*"):
            path.unlink()


def _digest(known: Any) -> str:
    """A text that is the same for equal objects, whether or not their parts are the same ones."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=5)
    pickler.fast = True
    try:
        pickler.dump(known)
    except (pickle.PicklingError, AttributeError, TypeError, ValueError) as error:
        raise InputError(f"checkpoint= needs a reference that can be pickled: {error}") from None
    return hashlib.sha256(buffer.getbuffer()).hexdigest()


_N_BINS, _PART_BYTES = 256, 2**24

_BY_LEVEL = {
    # Most passes per level of the tree, and whether they read all values.
    **{"IMM": (5, False), "EMN": (5, False), "BSIMM": (9, False), "ExGreedy": (9, True)},
    **{"ExShallow": (11, True), "ExKMC": (6, True), "SpEx": (11, True)},
    "ExplainableKMeans": (0, True),
}
_FEWEST, _OTHER = 2, 7  # fewest passes per level; and those at the begin and the end, at most


class FitEstimate(NamedTuple):
    """Passes over the data, bytes that they read, and memory; ranges depend on the tree.

    Attributes
    ----------
    n_rows : int
        Rows of the scan.
    passes : tuple of int
        Fewest and most passes, of a balanced tree and of a chain.
    source_passes : int
        Passes that read the source, at most; the others read encoded rows.
    read_bytes : tuple of int
        Bytes that are read in all passes, at least and at most.
    stored_bytes : int
        Encoded rows: in a temporary file, or on the workers of Dask or Spark.
    memory : int
        The limit of the scan for batches, and the largest merged results.
    """

    n_rows: int
    passes: tuple[int, int]
    source_passes: int
    read_bytes: tuple[int, int]
    stored_bytes: int
    memory: int

    def __str__(self) -> str:
        (few, many), (least, most) = self.passes, self.read_bytes
        return (
            f"{self.n_rows:,} rows\n"
            f"passes: {few} to {many}, up to {self.source_passes} of them over the source\n"
            f"bytes read: {_gb(least)} to {_gb(most)}\n"
            f"encoded rows: {_gb(self.stored_bytes)}\n"
            f"memory: {_gb(self.memory)}"
        )


def estimate_fit(scan: Any, model: Any) -> FitEstimate:
    names = [method.name for method in STREAMED.values()]
    name = next((cls.__name__ for cls in type(model).__mro__ if cls.__name__ in names), None)
    if name is None:
        problem = f"there is no estimate for {type(model).__name__}"
        raise InputError(f"{problem}; there is for {one_of(names)}")
    n, d = scan.count_rows(), len(scan.columns)
    s = scan.sample(64).dtype.itemsize
    centers = getattr(model.reference, "cluster_centers_", model.reference)
    has_centers = np.ndim(centers) == 2
    k = len(centers) if has_centers else model.n_clusters or DEFAULT_N_CLUSTERS
    n_leaves = model._max_leaves(k)
    source = 1 + bool(scan.weight)
    if scan.labels is not None:
        source += 2
    elif model.reference is None:
        source += 1 + LLOYD_PASSES
    most, reads_values = _BY_LEVEL[name]
    few, many = int(np.ceil(np.log2(max(n_leaves, 2)))), max(1, n_leaves - 1)  # levels
    # Begin, counts and centers; one more leaf of ExKMC takes passes like a level.
    passes = source + 2 + min(_FEWEST, most) * few, source + _OTHER + most * many
    level = (d + s + 4) + 2 * (2 * (s + 1) + 2) + 3 + (d * s if reads_values else 0)
    fixed, level = source * d * s + 2 * (d * s + 4), level if most else 0
    read = n * (fixed + level * few), n * (fixed + level * many)
    largest = 8 * d * k * _N_BINS * (k if name in ("ExKMC", "SpEx") else 2)
    memory = scan.memory + largest + _PART_BYTES
    return FitEstimate(n, passes, source, read, n * d * (s + 1), memory)


def _gb(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:,.2f} GB"
