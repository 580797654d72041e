"""Scans: data that are read in batches, any number of times, instead of being held in memory."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from pellucid._core.batches.batch import RawBatch
from pellucid._utils.imports import is_missing
from pellucid._utils.notices import InputError
from pellucid._utils.progress import Progress
from pellucid._utils.threads import ThreadPool
from pellucid.scale.passes import FitEstimate, PassRecord, RecordedPartitions, estimate_fit
from pellucid.scale.prediction import predict_source
from pellucid.scale.queries import open_source
from pellucid.scale.sampling import GatheredRows, GatherTask
from pellucid.scale.sources import Chunk, Source, matrix_of, refuse_repeated

_MAX_BATCH_ROWS, _MIN_BATCH_ROWS = 2**18, 2**10

_KEPT = 0.6
"""Share of the memory that codes and leaves of all rows may take; the rest is for batches."""

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


@dataclass(frozen=True)
class BatchScan:
    """Data in batches, as returned by :func:`pellucid.scan`, whose parameters are attributes.

    `columns` are those that are clustered, and `memory` is a number of bytes.
    """

    source: Source
    columns: tuple[str, ...]
    weight: str | None
    labels: str | None
    memory: int
    exact: bool = True
    checkpoint: str | os.PathLike[str] | None = None
    on_pass: Callable[[PassRecord], Any] | None = None

    def with_clusters(self, model: Any, column: str = "cluster") -> Any:
        """All rows with their clusters, as a lazy object; ``model.predict(scan)`` is the same.

        Parameters
        ----------
        model : fitted estimator that explains a clustering by a tree, or Explanation
            Fitted on a scan or in memory. A model with column names finds its columns by name,
            any other by the order of `columns`. Only columns that the tree uses are read.
        column : str, default="cluster"
            Name of the new column.

        Returns
        -------
        polars.LazyFrame
            For a LazyFrame, and for paths of Parquet files of this machine, without partitions or
            `filter`, if polars is installed.
        DuckDB relation, Spark DataFrame or Dask DataFrame
            For one of these.
        dask.array.Array
            For a Dask array: the clusters.
        pyarrow.RecordBatchReader
            For other paths, Delta and Iceberg tables, and what pyarrow reads.
        iterator
            For a function: its data frames with the new column; for arrays, the clusters.

        Notes
        -----
        Where a number that the tree uses is missing, NaN or infinite, queries (polars, DuckDB,
        Spark) have no cluster (null), and all others raise an error that names the column.
        """
        self.check_output(column)
        return predict_source(model, self.source, self.columns, column)

    def check_output(self, column: str = "cluster") -> None:
        """Raise an error if the data have a column of this name."""
        if column in (*self.source.numeric, *self.source.others):
            raise InputError(
                f"the data already have a column {column!r}",
                hint='choose another name: scan.with_clusters(model, "another name")',
            )

    def estimate(self, model: Any) -> FitEstimate:
        """Print how many passes, bytes and memory a fit takes, before it begins.

        Parameters
        ----------
        model : estimator
            The estimator that is to be fitted on this scan.

        Returns
        -------
        FitEstimate
            The numbers. Ranges are those of a balanced tree and of a chain.
        """
        found = estimate_fit(self, model)
        print(found)
        return found

    def count_rows(self) -> int:
        """Number of rows; where no package knows it, by a pass over one column."""
        if (n_rows := self.source.count()) is not None:
            return n_rows
        return sum(c.n_rows for c in self.source.read(self.columns[:1], _MAX_BATCH_ROWS))

    def batch_rows(self, n_threads: int, n_clusters: int) -> int:
        """Rows per batch, so that all batches in memory leave `kept_bytes` of `memory`."""
        # Values, float64 copies and codes of the columns; costs and losses at all centers.
        per_row = 20 * len(self.columns) + 24 * n_clusters + 64
        n_rows = (self.memory - self.kept_bytes) // (4 * n_threads * per_row)
        return int(np.clip(n_rows, _MIN_BATCH_ROWS, _MAX_BATCH_ROWS))

    @property
    def kept_bytes(self) -> int:
        """Bytes of encoded rows that are kept in memory from pass to pass."""
        return int(_KEPT * self.memory)

    def rows_in_memory(self, n_copies: int) -> int:
        """Rows that fit into `memory`, if so many copies are needed."""
        return self.memory // (n_copies * 8 * (len(self.columns) + 2))

    def gather(self, limit: int, n_threads: int) -> GatheredRows:
        """All rows, if there are at most `limit`, by one pass; other machines count them first."""
        if (n_rows := self.source.count()) is not None and n_rows > limit:
            return GatheredRows(n_rows, None)
        task = GatherTask(limit, self.columns, self.labels)
        with ThreadPool(n_threads) as pool, closing(self.source.partitions(self, pool, 1)) as parts:
            return parts.map_raw(task) or GatheredRows(0, None)

    def named(self, X: np.ndarray) -> Any:
        """Values of the columns as a data frame with their names, if a library makes one."""
        makers = {"polars": "DataFrame", "pandas": "DataFrame", "pyarrow": "table"}
        for library, maker in makers.items():
            if not is_missing(library):
                return getattr(import_module(library), maker)(dict(zip(self.columns, X.T)))
        return X

    @property
    def names(self) -> list[str]:
        """All columns that are read."""
        return list(dict.fromkeys(filter(None, [*self.columns, self.weight, self.labels])))

    @property
    def reader(self) -> BatchReader:
        """Makes batches of chunks; it can be sent to other processes."""
        return BatchReader(self.columns, self.weight, self.labels)

    def partitions(
        self, pool: ThreadPool, n_clusters: int, progress: Progress
    ) -> RecordedPartitions:
        """The batches, which are encoded once; passes are recorded."""
        return RecordedPartitions(self.source.partitions(self, pool, n_clusters), progress, self)

    def read(self, n_rows: int) -> Iterator[RawBatch]:
        yield from map(self.reader, self.source.read(self.names, n_rows))

    def sample(self, n_rows: int) -> np.ndarray:
        """Some rows from all parts of the data."""
        chunks = self.source.sample(list(self.columns), n_rows)
        parts = [matrix_of(chunk, self.columns) for chunk in chunks]
        if not any(map(len, parts)):
            raise InputError("the data have no rows")
        rows = np.concatenate(parts)
        return rows[:: -(-len(rows) // n_rows)]


@dataclass(frozen=True)
class BatchReader:
    """Makes a batch of a chunk; columns, weight and labels are as in `BatchScan`."""

    columns: tuple[str, ...]
    weight: str | None
    labels: str | None

    def __call__(self, chunk: Chunk) -> RawBatch:
        """The batch; weights are checked."""
        X, weight = matrix_of(chunk, self.columns), None
        if self.weight is not None:
            weight = chunk.columns[self.weight].astype(np.float64)
            bad = ~(np.isfinite(weight) & (weight >= 0))
            if bad.any():
                raise InputError(
                    f"the weight column {self.weight!r} contains {weight[bad][0]} in "
                    f"{chunk.origin}; weights must be finite and at least 0"
                )
        labels = None if self.labels is None else chunk.columns[self.labels]
        return RawBatch(X, weight, labels, chunk.origin)


def scan(
    source: Any,
    columns: Sequence[str] | None = None,
    *,
    filter: Any = None,
    weight: str | None = None,
    labels: str | None = None,
    memory: str | int = "2GB",
    exact: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    on_pass: Callable[[PassRecord], Any] | None = None,
) -> BatchScan:
    """Read data in batches instead of into memory.

    The result is given to `fit` of `IMM`, `EMN`, `BSIMM`, `ExGreedy`, `ExShallow`, `ExKMC`,
    `SpEx` or `ExplainableKMeans` in place of X. The tree is the same, bit for bit, as that of the
    same rows in memory; for `ExplainableKMeans` only if the rows fit into `memory`.

    Parameters
    ----------
    source : path, list of paths, query, table, dataset, Dask or Spark collection, or callable
        A path, an address such as ``"s3://bucket/folder"``, a glob or a list of them: Parquet, CSV
        or Feather files, folders of files, or the folder of a Delta or Iceberg table. Or a polars
        LazyFrame, a DuckDB relation, a pyarrow dataset, table, ParquetFile or RecordBatchReader, a
        table of deltalake or pyiceberg, a Dask DataFrame or Array, a Spark DataFrame, or a function
        without parameters that returns batches (arrays, data frames or Arrow batches) anew each
        time. Below a folder, names that begin with ``_`` or ``.`` are left out, and
        ``year=2020`` in the name of a folder is a column ``year``.
    columns : sequence of str, optional
        Columns to cluster. Default: all columns of numbers, without `weight` and `labels`.
    filter : pyarrow Expression or list of tuples, optional
        Rows to read, of paths, datasets, Delta and Iceberg tables:
        ``pyarrow.dataset.field("year") > 2020`` or ``[("year", ">", 2020)]``. Files and groups of
        rows that have no such row are not read.
    weight : str, optional
        Column of sample weights.
    labels : str, optional
        Column of the labels to explain.
    memory : str or int, default="2GB"
        Memory for batches, such as ``"500MB"``.
    exact : bool, default=True
        Whether the best of all thresholds is found. With False, only the edges of about 256 bins
        per column are compared, which takes fewer passes. The edges come from a sample of the
        rows. `scan_gap_` of the fitted model says what this may cost: no split of the tree has an
        objective that is more than this above the best one. The objective is the weight of the
        mistakes (`IMM`, `EMN`, `BSIMM`), the relative cost with the depth penalty (`ExGreedy`,
        `ExShallow`), the cost (`ExKMC`) or the sum of the cut ratios (`SpEx`).
    checkpoint : path, optional
        A folder in which the merged result of every finished pass is stored. After a crash, the
        same fit takes finished passes from there, if data and parameters are the same. The results
        are removed when a fit ends. They are pickles: use a folder that only you can write.
    on_pass : callable, optional
        Called after every pass with a `pellucid.scale.PassRecord`: its number, task, seconds, rows
        and bytes. The same is logged, level INFO, by the logger "pellucid.scale".

    Returns
    -------
    BatchScan
        What `fit` and `predict` take in place of rows.

    See Also
    --------
    explain : Clusters and rules for a table or a scan.
    ExShallow : One of the estimators that fit a scan.

    Examples
    --------
    >>> import numpy as np
    >>> import pellucid
    >>> rng = np.random.default_rng(0)
    >>> parts = [rng.normal(size=(100, 2)) + shift for shift in ([0, 0], [9, 0], [0, 9])]
    >>> data = pellucid.scan(lambda: parts)
    >>> model = pellucid.IMM(reference=[[0, 0], [9, 0], [0, 9]]).fit(data)
    >>> print(model.explain())
    cluster 0: x0 ≤ 4 and x1 ≤ 4
        100 rows (33.3%, 100.0% pure)
    cluster 1: x0 > 4
        100 rows (33.3%, 100.0% pure)
    cluster 2: x0 ≤ 4 and x1 > 4
        100 rows (33.3%, 100.0% pure)
    """
    opened = open_source(source, filter)
    known = [*opened.numeric, *opened.others]
    refuse_repeated(known, "the table")
    for name in [*(columns or ()), weight, labels]:
        if name and name not in known:
            raise InputError(f"the data have no column {name!r}; they have {', '.join(known[:20])}")
    for name in [*(columns or ()), weight]:
        if name in opened.others:
            raise InputError(f"column {name!r} holds no numbers")
    if columns is None:
        columns = [name for name in opened.numeric if name not in (weight, labels)]
    if not columns:
        raise InputError("the data have no column of numbers to cluster")
    used = dict.fromkeys(name for name in [*columns, weight, labels] if name)
    for name in used:
        if name in opened.problems:
            raise InputError(opened.problems[name], hint="leave the column out (columns=)")
    if cast := [opened.casts[name] for name in used if name in opened.casts]:
        more = f", and {len(cast) - 1} more columns" if len(cast) > 1 else ""
        warnings.warn(f"{cast[0]}{more}; values are read as a type that fits both", stacklevel=2)
    read = tuple(columns), weight, labels, read_memory(memory)
    return BatchScan(opened, *read, exact, checkpoint, on_pass)


def read_memory(memory: str | int) -> int:
    """A number of bytes, such as ``"2GB"``.

    Examples
    --------
    >>> from pellucid.scale.scan import read_memory
    >>> read_memory("2GB"), read_memory("500 mb"), read_memory(1000)
    (2000000000, 500000000, 1000)
    """
    text = str(memory).upper().replace("IB", "B")
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?B?)\s*", text)
    if match is None or (unit := match[2] if match[2] in _UNITS else match[2] + "B") not in _UNITS:
        raise InputError(f"memory={memory!r} is not an amount of memory", hint='write "2GB"')
    return int(float(match[1]) * _UNITS[unit])
