"""Spark data frames: Arrow batches are mapped to partial results, which are merged by Spark.

Errors of the user are results, too, so that workers do not fail. Spark Connect works as well.
"""

from __future__ import annotations

import gc
import os
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from pellucid._core.batches.batch import Encoder
from pellucid._core.batches.partitions import MappedTask, Partitions, Task, over_batches
from pellucid._utils.notices import InputError
from pellucid._utils.threads import ThreadPool
from pellucid.scale.sources import SAMPLED_CHUNKS, Chunk, Source, arrow_columns, split_names

_BATCH_ROWS, _BATCH_BYTES = 2**16, 2**25
"""Rows, and bytes, of Arrow batches that are processed together."""

_MERGED_AT_ONCE = 16  # results that one task, and the driver, merges
_FIRST_MERGES = 4  # merging tasks of the first pass, when the number of results is not known

_RESULT = "result"
_SCHEMA = f"{_RESULT} binary"

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean")


class SparkSource(Source):
    """A Spark DataFrame."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        kinds = ((n, kind in _NUMBERS or kind.startswith("decimal")) for n, kind in frame.dtypes)
        self._store_names(*split_names(kinds))

    def read(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """Refused: rows are not collected."""
        raise InputError(
            "the rows of a Spark DataFrame are not read by the driver",
            hint="use a part of them: frame.sample(0.01).toPandas()",
        )

    def sample(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        task = MappedTask(SampleTask(n_rows), ChunkReader(list(columns)))
        yield from run_task(_numbered(self._frame, columns), task)[0] or ()

    def count(self) -> int:
        return self._frame.count()

    def partitions(self, scan: Any, pool: ThreadPool, n_clusters: int) -> Partitions:
        return SparkPartitions(self._frame, scan)

    def predict(self, predictor: Any) -> Any:
        """A DataFrame with the column of clusters, which is an expression of Spark."""
        from pyspark.sql import functions as F

        known = self._frame.columns
        if len({name.lower() for name in known}) < len(known):
            # Spark does not know apart names that differ by case.
            places = {name: f"c{place}" for place, name in enumerate(known)}
            columns = [places[name] for name in predictor.columns]
            found = SparkSource(self._frame.toDF(*places.values())).predict(
                replace(predictor, columns=columns, output="cluster")
            )
            return found.toDF(*known, predictor.output)
        # Such types are no numbers to Spark, or compare with more digits than a float has.
        other = [n for n, t in self._frame.dtypes if t == "boolean" or t.startswith("decimal")]
        stand_ins = predictor.stand_ins(other, self._frame.columns)
        casts = {new: F.col(quoted(name)).cast("double") for name, new in stand_ins.items()}
        clusters = F.expr(predictor.sql("spark", quoted, stand_ins))
        frame = self._frame.withColumns(casts) if casts else self._frame
        return frame.withColumn(predictor.output, clusters).drop(*casts)


@dataclass(frozen=True)
class SampleTask(Task):
    """Some rows of every partition."""

    n_rows: int

    def __call__(self, chunk: Chunk) -> list[Chunk]:
        return [chunk.every(max(1, SAMPLED_CHUNKS * chunk.n_rows // self.n_rows))]

    def merge(self, first: list[Chunk], second: list[Chunk]) -> list[Chunk]:
        """Rows of both; every second chunk if there are many."""
        chunks = [*first, *second]
        return chunks if len(chunks) <= 64 else chunks[::2]


class SparkPartitions(Partitions):
    """Partitions of a DataFrame with numbered columns; encoded batches persist as Arrow batches."""

    passes_are_costly = True

    def __init__(self, frame: Any, scan: Any) -> None:
        self._frame, self._read = _numbered(frame, scan.names), ChunkReader(scan.names, scan.reader)
        self._encoder: Encoder | None = None
        self._encoded: Any = None
        self._n_results = 0

    def map_raw(self, task: Task) -> Any:
        return self._run(self._frame, MappedTask(task, self._read))

    def map_encoded(self, task: Task, encoder: Encoder) -> Any:
        """Merged results over all partitions, which are encoded in the first pass."""
        if self._encoder is not encoder:
            self.close()
            work = partial(encode_batches, encoder, self._read)
            self._encoded = self._frame.mapInArrow(work, _SCHEMA).persist()
            self._encoder = encoder
        return self._run(self._encoded, task)

    def _run(self, frame: Any, task: Any) -> Any:
        found, self._n_results = run_task(frame, task, self._n_results)
        return found

    def close(self) -> None:
        """Let the executors drop the encoded batches."""
        if self._encoded is not None:
            self._encoded.unpersist()
        self._encoder = self._encoded = None


@dataclass(frozen=True)
class ChunkReader:
    """Gives the numbered columns of a chunk their names; `reader` makes a batch of it."""

    names: list[str]
    reader: Callable[[Chunk], Any] | None = None

    def __call__(self, chunk: Chunk) -> Any:
        named = Chunk(dict(zip(self.names, chunk.columns.values())), chunk.origin)
        return named if self.reader is None else self.reader(named)


def _numbered(frame: Any, names: Sequence[str]) -> Any:
    """Some columns of a data frame, with numbers as names."""
    places = {name: f"c{place}" for place, name in enumerate(frame.columns)}
    return frame.toDF(*places.values()).select(*(places[name] for name in names))


def run_task(frame: Any, task: Any, n_results: int = 0) -> tuple[Any, int]:
    """Map a task over the Arrow batches of a data frame, and merge the results as a tree.

    Returns the merged result and the number of results, by which a later pass chooses the levels.
    """
    found = frame.mapInArrow(partial(map_batches, task), _SCHEMA)
    n = n_results or _FIRST_MERGES * _MERGED_AT_ONCE
    while n > _MERGED_AT_ONCE:
        n = -(-n // _MERGED_AT_ONCE)
        found = found.repartition(n).mapInArrow(partial(merge_batches, task), _SCHEMA)
    try:
        rows = found.collect()
    except Exception as error:
        if type(error).__name__ != "PythonException":
            raise
        reason = str(error).split("JVM stacktrace")[0].strip().splitlines()[-1]
        raise InputError(f"a Python worker of Spark failed: {reason}") from None
    merged = _merge_results(task, (row.result for row in rows))
    if merged is None:
        return None, 0
    if isinstance(merged.value, InputError):
        raise merged.value from None
    return merged.value, merged.n_results


class _Result(NamedTuple):
    """The merged result of some partitions; an `InputError` if there was one."""

    n_results: int
    value: Any


def _merge_results(task: Any, results: Iterable[bytes]) -> _Result | None:
    merged = None
    for found in map(pickle.loads, results):
        if merged is None:
            merged = found
            continue
        failed = [part.value for part in (merged, found) if isinstance(part.value, InputError)]
        value = failed[0] if failed else task.merge(merged.value, found.value)
        merged = _Result(merged.n_results + found.n_results, value)
    return merged


def map_batches(task: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """The result of a task over the batches of a partition, as one Arrow batch."""
    _set_cache_folder()
    try:
        items = _items(batches)
        first = next(items, None)
        if first is None:
            return
        found = over_batches(task, chain([first], items))
        _freeze_modules()
    except InputError as error:
        found = error
    yield _as_batch(_Result(1, found))


def encode_batches(encoder: Encoder, read: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """The encoded batches of a partition, or the first error, as Arrow batches of one row each."""
    _set_cache_folder()
    try:
        yield from map(_as_batch, map(encoder.encode, map(read, _chunks(batches))))
    except InputError as error:
        yield _as_batch(error)


def merge_batches(task: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """The merged result of the results of some partitions, as one Arrow batch."""
    merged = _merge_results(task, _buffers(batches))
    if merged is not None:
        yield _as_batch(merged)


def _items(batches: Iterable[Any]) -> Iterator[Any]:
    """What the Arrow batches of a data frame hold: encoded batches, or the rows of its source."""
    first = next(iter(batches), None)
    if first is None:
        return
    every = chain([first], batches)
    if first.schema.names != [_RESULT]:
        yield from _chunks(every)
        return
    for item in map(pickle.loads, _buffers(every)):
        if isinstance(item, InputError):
            raise item
        yield item


def _chunks(batches: Iterable[Any]) -> Iterator[Chunk]:
    """Chunks of rows, each from several Arrow batches."""
    import pyarrow as pa

    waiting: list[Any] = []
    for batch in chain(batches, [None]):
        if batch is not None:
            waiting.append(batch)
            n_rows, n_bytes = (sum(getattr(b, n) for b in waiting) for n in ("num_rows", "nbytes"))
            if n_rows < _BATCH_ROWS and n_bytes < _BATCH_BYTES:
                continue
        if waiting:
            for part in pa.Table.from_batches(waiting).combine_chunks().to_batches():
                yield Chunk(arrow_columns(part, part.schema.names), _partition_name())
            waiting = []


def _buffers(batches: Iterable[Any]) -> Iterator[Any]:
    """The values of the column of Arrow batches, which are not copied."""
    return (value.as_buffer() for batch in batches for value in batch.column(0))


def _as_batch(result: Any) -> Any:
    import pyarrow as pa

    data = pa.array([pickle.dumps(result, protocol=5)], type=pa.binary())
    return pa.RecordBatch.from_arrays([data], [_RESULT])


@cache
def _freeze_modules() -> None:
    """Let the garbage collector, which runs after every task, leave out what has been loaded."""
    gc.freeze()


def _partition_name() -> str:
    from pyspark import TaskContext

    context = TaskContext.get()
    return "a partition" if context is None else f"partition {context.partitionId()}"


def _set_cache_folder() -> None:
    """Let executors store compiled code in a temporary folder if they cannot in the package's."""
    if not os.access(Path(__file__).parents[1], os.W_OK):
        folder = os.path.join(tempfile.gettempdir(), "pellucid-numba")
        os.environ.setdefault("NUMBA_CACHE_DIR", folder)


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
