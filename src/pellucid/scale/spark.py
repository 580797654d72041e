"""Spark data frames: Arrow batches are mapped to partial results, which are merged by Spark.

Only the DataFrame API is used, so that Spark Connect works as well.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pellucid._core.batches.partitions import MappedTask, Partitions, Task
from pellucid._utils.notices import InputError
from pellucid._utils.threads import ThreadPool
from pellucid.scale.sources import Chunk, Source, arrow_columns

_BATCH_ROWS = 2**16
"""Rows of Arrow batches that are processed together."""

_MERGING_PARTITIONS = 4
"""Tasks that merge the results of all partitions, before the driver merges theirs."""

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean")


class SparkSource(Source):
    """A Spark DataFrame."""

    numeric: list[str]
    others: list[str]

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.numeric, self.others = [], []
        for name, kind in frame.dtypes:
            is_numeric = kind in _NUMBERS or kind.startswith("decimal")
            (self.numeric if is_numeric else self.others).append(name)

    def read(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """Refused: rows are not collected."""
        raise InputError(
            "the rows of a Spark DataFrame are not read by the driver",
            hint="use a part of them: frame.sample(0.01).toPandas()",
        )

    def sample(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """Rows from all partitions."""
        frame = self._frame.select(*map(_quoted, columns))
        found = _run(frame, SampleTask(list(columns), n_rows))
        if found:
            yield from found

    def count(self) -> int:
        """Number of rows."""
        return self._frame.count()

    def partitions(self, scan: Any, pool: ThreadPool, n_clusters: int) -> Partitions:
        return SparkPartitions(self._frame.select(*map(_quoted, scan.names)), scan)

    def predict(self, predictor: Any) -> Any:
        """A DataFrame with the column of clusters, which is an expression of Spark."""
        from pyspark.sql import functions as F

        # Such types are no numbers to Spark, or compare with more digits than a float has.
        other = [n for n, t in self._frame.dtypes if t == "boolean" or t.startswith("decimal")]
        stand_ins = predictor.stand_ins(other, self._frame.columns)
        casts = {new: F.col(_quoted(name)).cast("double") for name, new in stand_ins.items()}
        clusters = F.expr(predictor.sql("spark", _quoted, stand_ins))
        frame = self._frame.withColumns(casts) if casts else self._frame
        return frame.withColumn(predictor.output, clusters).drop(*casts)


@dataclass(frozen=True)
class SampleTask(Task):
    """Some rows of every partition."""

    columns: list[str]
    n_rows: int

    def __call__(self, chunk: Chunk) -> list[Chunk]:
        """Some rows of a chunk."""
        step = max(1, 16 * chunk.n_rows // self.n_rows)
        return [Chunk({n: array[::step] for n, array in chunk.columns.items()}, "")]

    def merge(self, first: list[Chunk], second: list[Chunk]) -> list[Chunk]:
        """Rows of both; every second chunk if there are many."""
        chunks = [*first, *second]
        return chunks if len(chunks) <= 64 else chunks[::2]


class SparkPartitions(Partitions):
    """Partitions of a Spark DataFrame, which are encoded anew in every pass."""

    passes_are_costly = True

    def __init__(self, frame: Any, scan: Any) -> None:
        self._frame, self._reader = frame, scan.reader

    def map_raw(self, task: Task) -> Any:
        return _run(self._frame, MappedTask(task, self._reader))


def _run(frame: Any, task: Any) -> Any:
    """Map a task over the Arrow batches of a data frame and merge the results in two steps."""
    partial = frame.mapInArrow(_mapper(task), "result binary")
    merged = partial.repartition(_MERGING_PARTITIONS).mapInArrow(_merger(task), "result binary")
    results = [pickle.loads(row.result) for row in merged.collect()]
    return reduce(task.merge, results) if results else None


def _mapper(task: Any) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def work(batches: Iterable[Any]) -> Iterator[Any]:
        from pellucid.scale.spark import map_batches

        yield from map_batches(task, batches)

    return work


def _merger(task: Any) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def work(batches: Iterable[Any]) -> Iterator[Any]:
        from pellucid.scale.spark import merge_batches

        yield from merge_batches(task, batches)

    return work


def map_batches(task: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """The result of a task over the batches of a partition, as one Arrow batch."""
    _set_cache_folder()
    merged, waiting, n_waiting = None, [], 0

    def run(batches: list[Any], merged: Any) -> Any:
        import pyarrow as pa

        table = pa.Table.from_batches(batches).combine_chunks()
        for batch in table.to_batches():
            chunk = Chunk(arrow_columns(batch, batch.schema.names), _partition_name())
            found = task(chunk)
            merged = found if merged is None else task.merge(merged, found)
        return merged

    for batch in batches:
        waiting.append(batch)
        n_waiting += batch.num_rows
        if n_waiting >= _BATCH_ROWS:
            merged, waiting, n_waiting = run(waiting, merged), [], 0
    if n_waiting:
        merged = run(waiting, merged)
    if merged is not None:
        yield _as_batch(merged)


def merge_batches(task: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """The merged result of the results of some partitions, as one Arrow batch."""
    merged = None
    for batch in batches:
        for value in batch.column(0):
            found = pickle.loads(value.as_py())
            merged = found if merged is None else task.merge(merged, found)
    if merged is not None:
        yield _as_batch(merged)


def _as_batch(result: Any) -> Any:
    import pyarrow as pa

    data = pa.array([pickle.dumps(result, protocol=5)], type=pa.binary())
    return pa.RecordBatch.from_arrays([data], ["result"])


def _partition_name() -> str:
    from pyspark import TaskContext

    context = TaskContext.get()
    return "a partition" if context is None else f"partition {context.partitionId()}"


def _set_cache_folder() -> None:
    """Let executors store compiled code in a temporary folder if they cannot in the package's."""
    import os
    import tempfile
    from pathlib import Path

    if not os.access(Path(__file__).parents[1], os.W_OK):
        folder = os.path.join(tempfile.gettempdir(), "pellucid-numba")
        os.environ.setdefault("NUMBA_CACHE_DIR", folder)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
