"""Dask data frames and arrays: one batch per partition, results merged as a tree."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
from dask.sizeof import sizeof

from pellucid._core.batches.batch import Batch, Encoder, RawBatch
from pellucid._core.batches.partitions import Partitions, Task, over_batches
from pellucid._core.data.arrays import Weights
from pellucid._utils.notices import InputError
from pellucid._utils.threads import ThreadPool
from pellucid.scale.sources import Chunk, Source, split_names

_MERGED_AT_ONCE = 8  # results that one task merges
_TASKS_PER_THREAD = 4  # tasks of a pass per thread of a worker

_SAMPLED_PARTITIONS = 8

_STATE_BYTES = 14
"""Bytes per row that passes add to a batch: leaves, second nearest centers and margins."""


@sizeof.register((Batch, RawBatch, Weights))
def _size(holder: Any) -> int:
    """Bytes of the arrays of a batch, by which workers decide what they spill to the disk."""
    state = _STATE_BYTES * holder.n_rows if isinstance(holder, Batch) else 0
    return state + sum(map(sizeof, vars(holder).values()))


class DaskSource(Source):
    """A Dask DataFrame, or a Dask Array of two axes."""

    def __init__(self, data: Any) -> None:
        # Every attribute of a Delayed is another one.
        n_axes = getattr(data, "ndim", None)
        if not isinstance(n_axes, int) or n_axes != 2:
            raise InputError(
                f"scan cannot read this Dask {type(data).__name__}",
                hint="give it a Dask DataFrame, or a Dask Array of two axes",
            )
        self._data, self._is_array = data, not hasattr(data, "columns")
        if self._is_array:
            self._data = data.rechunk({1: -1})
            self._store_names([f"x{j}" for j in range(data.shape[1])], [])
        else:
            kinds = (getattr(dtype, "kind", "O") in "fiub" for dtype in data.dtypes)
            self._store_names(*split_names(zip(map(str, data.columns), kinds)))

    def delayed_chunks(self, columns: Sequence[str]) -> list[Any]:
        """A lazy `Chunk` per partition."""
        import dask

        if self._is_array:
            parts = self._data.to_delayed().ravel().tolist()
        else:
            chosen = [name for name in self._data.columns if str(name) in columns]
            parts = self._data[chosen].to_delayed()
        delayed = dask.delayed(partial(_chunk, columns=list(columns)))
        return [delayed(part, f"partition {number}") for number, part in enumerate(parts)]

    def read(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        for chunk in self.delayed_chunks(columns):
            yield chunk.compute()

    def sample(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        import dask

        chunks = self.delayed_chunks(columns)
        chosen = chunks[:: max(1, len(chunks) // _SAMPLED_PARTITIONS)]
        thin = dask.delayed(partial(_thin, n_rows=max(1, n_rows // len(chosen))))
        yield from dask.compute(*map(thin, chosen))

    def count(self) -> int:
        """Number of rows; of a data frame, Dask may know it without reading columns."""
        import dask

        if not self._is_array:
            return len(self._data)
        return sum(dask.compute(*map(dask.delayed(len), self._data.to_delayed().ravel())))

    def partitions(self, scan: Any, pool: ThreadPool, n_clusters: int) -> Partitions:
        return DaskPartitions(scan.reader, self.delayed_chunks(scan.names))

    def predict(self, predictor: Any) -> Any:
        """A Dask DataFrame with the column of clusters; for an array, the clusters."""
        if self._is_array:
            work, empty = partial(_labels, predictor=predictor), predictor.names[:0]
            return self._data.map_blocks(work, drop_axis=1, dtype=empty.dtype, meta=empty)
        meta = _with_labels(self._data._meta, predictor)
        return self._data.map_partitions(_with_labels, predictor, meta=meta)


class DaskPartitions(Partitions):
    """Batches that `reader` makes of lazy chunks; the workers keep them, encoded."""

    def __init__(self, reader: Any, chunks: list[Any]) -> None:
        self._raw = _called(reader, chunks)
        self._encoder: Encoder | None = None
        self._encoded: list[Any] = []
        self._groups: list[list[Any]] = []

    def map_raw(self, task: Task) -> Any:
        return _map_merge(task, [[part] for part in self._raw])

    def map_encoded(self, task: Task, encoder: Encoder) -> Any:
        """Merged results over all partitions, which are encoded once."""
        import dask

        if self._encoder is not encoder:
            self._encoded = list(dask.persist(*_called(encoder.encode, self._raw)))
            self._encoder, self._groups = encoder, []
        elif not self._groups:
            self._groups = _in_groups(self._encoded)
        # Where the partitions are must not change the rounding errors of a sum.
        is_grouped = self._groups and task.is_exact
        groups = self._groups if is_grouped else [[part] for part in self._encoded]
        return _map_merge(task, groups)

    def close(self) -> None:
        """Let the workers drop the encoded batches."""
        self._encoder, self._encoded, self._groups = None, [], []


def _in_groups(parts: list[Any]) -> list[list[Any]]:
    """Computed partitions in groups by worker: Dask needs some milliseconds for every task."""
    from dask.system import CPU_COUNT

    places, n_tasks = [""] * len(parts), {"": _TASKS_PER_THREAD * CPU_COUNT}
    if "distributed" in sys.modules:
        from distributed import futures_of

        if futures := futures_of(parts):
            client = futures[0].client
            held = client.who_has(futures)
            places = [next(iter(held.get(part.key, ())), "") for part in parts]
            n_tasks |= {name: _TASKS_PER_THREAD * n for name, n in client.nthreads().items()}
    groups = []
    for place in sorted(set(places)):
        of_place = [part for part, its_place in zip(parts, places) if its_place == place]
        size = -(-len(of_place) // n_tasks.get(place, 1))
        groups += [of_place[i : i + size] for i in range(0, len(of_place), size)]
    return groups


def _map_merge(task: Task, groups: list[list[Any]]) -> Any:
    import dask

    if not groups:
        return None
    shared = dask.delayed(task, traverse=False)
    apply, merge = dask.delayed(over_batches), dask.delayed(_merge)
    results = [apply(shared, group) for group in groups]
    while len(results) > 1:
        groups = [results[i : i + _MERGED_AT_ONCE] for i in range(0, len(results), _MERGED_AT_ONCE)]
        results = [merge(shared, group) for group in groups]
    return results[0].compute()


def _called(function: Any, parts: list[Any]) -> list[Any]:
    """Results for all parts, by a function of this module, which registers their sizes."""
    import dask

    call, shared = dask.delayed(_call), dask.delayed(function, traverse=False)
    return [call(shared, part) for part in parts]


def _call(function: Any, value: Any) -> Any:
    return function(value)


def _merge(task: Task, results: list[Any]) -> Any:
    return reduce(task.merge, results)


def _chunk(part: Any, origin: str, columns: list[str]) -> Chunk:
    """Some columns of a data frame, whose names may be numbers, or of an array: x0, x1, ..."""
    if isinstance(part, np.ndarray):
        return Chunk({name: part[:, int(name[1:])] for name in columns}, origin)
    places = {str(name): place for place, name in enumerate(part.columns)}
    return Chunk({name: part.iloc[:, places[name]].to_numpy() for name in columns}, origin)


def _labels(block: np.ndarray, predictor: Any) -> np.ndarray:
    return predictor.labels(_chunk(block, "a block", predictor.columns or ["x0"]))


def _with_labels(frame: Any, predictor: Any) -> Any:
    columns = predictor.columns or [str(frame.columns[0])]
    labels = predictor.labels(_chunk(frame, "a partition", columns))
    return frame.assign(**{predictor.output: labels})


def _thin(chunk: Chunk, n_rows: int) -> Chunk:
    return chunk.every(max(1, chunk.n_rows // n_rows), chunk.origin)
