"""Where batches come from: Parquet files and functions.

Every source can be read any number of times, some columns at a time.
"""

from __future__ import annotations

import glob
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pellucid._utils.notices import InputError
from pellucid._utils.optional import import_optional
from pellucid._utils.threads import ThreadPool
from pellucid.scale.cache import CachedPartitions
from pellucid.scale.partitions import Partitions

_SAMPLE_CHUNK_ROWS = 2**16
_SAMPLED_CHUNKS = 16
"""Chunks and row groups of which a sample consists, at least."""

_BUFFER_BYTES = 2**20
"""Bytes per column that are read at a time."""

PREDICTED_ROWS = 2**16
"""Rows whose clusters are found at a time."""


class Chunk(NamedTuple):
    """Some rows of a source.

    Attributes
    ----------
    columns : dict of str to ndarray
        Values by name; missing numbers are NaN.
    origin : str
        Where the rows are, for error messages.
    """

    columns: dict[str, np.ndarray]
    origin: str

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))


class Source(ABC):
    """Rows that can be read repeatedly.

    Attributes
    ----------
    numeric, others : list of str
        Names of the columns of numbers, and of all other columns.
    """

    numeric: list[str]
    others: list[str]

    @abstractmethod
    def read(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """Chunks of about `n_rows` rows."""

    @abstractmethod
    def predict(self, predictor: Any) -> Any:
        """All rows with the clusters that a `ScanPredictor` finds, as a lazy object."""

    def check_unchanged(self) -> None:  # noqa: B027
        """Raise an error if the source is known to have changed since it was opened."""

    def partitions(self, scan: Any, pool: ThreadPool, n_clusters: int) -> Partitions:
        """The batches of a scan, encoded once and stored."""
        n_rows = scan.batch_rows(pool.n_threads, n_clusters)
        return CachedPartitions(lambda: scan.read(n_rows), pool, scan.kept_bytes)

    def sample(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """Rows from all parts of the source, usually more than `n_rows`."""
        for chunk in self.read(columns, _SAMPLE_CHUNK_ROWS):
            step = max(1, chunk.n_rows * _SAMPLED_CHUNKS // n_rows)
            yield Chunk({name: array[::step] for name, array in chunk.columns.items()}, "")


class ParquetSource(Source):
    """Parquet files with the same columns.

    Parameters
    ----------
    paths : list of Path
    is_dataset : bool
        Whether the files are those of a pyarrow dataset.
    """

    numeric: list[str]
    others: list[str]

    def __init__(self, paths: Sequence[Path], is_dataset: bool = False) -> None:
        self._parquet = import_optional(
            "pyarrow.parquet", "scan of Parquet files", "scan(polars.scan_parquet(...))"
        )
        self._paths, self._is_dataset = list(paths), is_dataset
        self._state = [_file_state(path) for path in self._paths]
        schemas = [self._open(path).schema_arrow for path in self._paths]
        for path, schema in zip(self._paths[1:], schemas[1:]):
            _check_same_schema(schemas[0], schema, self._paths[0], path)
        self._schema = schemas[0]
        self.numeric, self.others = split_arrow_names(self._schema)

    def _open(self, path: Path) -> Any:
        try:
            # By default all that was read stays in memory as long as the file is open.
            return self._parquet.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER_BYTES)
        except Exception as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"{path} is not a readable Parquet file: {reason}") from None

    def _batches(self, columns: Sequence[str], n_rows: int) -> Iterator[tuple[Any, str]]:
        """Arrow batches of one file after the other, and where they were read."""
        self.check_unchanged()
        for path in self._paths:
            file, first = self._open(path), 0
            with file:
                for batch in file.iter_batches(batch_size=n_rows, columns=list(columns)):
                    last = first + batch.num_rows
                    yield batch, f"{path}, rows {first:,} to {last - 1:,}"
                    first = last

    def read(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """Chunks of one file after the other."""
        for batch, origin in self._batches(columns, n_rows):
            yield Chunk(arrow_columns(batch, columns), origin)

    def predict(self, predictor: Any) -> Any:
        """A polars LazyFrame, or a pyarrow RecordBatchReader of a dataset or without polars."""
        if not self._is_dataset and find_spec("polars") is not None:
            import polars as pl

            frame = pl.scan_parquet(self._paths, glob=False, hive_partitioning=False)
            return frame.with_columns(predictor.polars_expression())
        batches = self._batches(self._schema.names, PREDICTED_ROWS)
        return predictor.arrow_reader(self._schema, batches)

    def sample(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """Rows of some row groups, evenly spaced over all files.

        If there are many row groups, the first rows of each are enough; the others need not be
        decoded.
        """
        groups = []
        for path in self._paths:
            with self._open(path) as file:
                groups += [(path, group) for group in range(file.num_row_groups)]
        chosen = groups[:: max(1, len(groups) // _SAMPLED_CHUNKS)]
        per_group = -(-n_rows // max(1, len(chosen)))
        for path, group in chosen:
            with self._open(path) as file:
                size = file.metadata.row_group(group).num_rows
                if len(chosen) >= _SAMPLED_CHUNKS:
                    parts = file.iter_batches(per_group, row_groups=[group], columns=list(columns))
                    batches = list(islice(parts, 1))
                else:
                    table = file.read_row_group(group, columns=list(columns))
                    rows = range(0, size, max(1, size // per_group))
                    batches = table.take(list(rows)).to_batches()
            for batch in batches:
                yield Chunk(arrow_columns(batch, columns), f"{path}, row group {group}")

    def check_unchanged(self) -> None:
        """Compare sizes and times of the files."""
        for path, state in zip(self._paths, self._state):
            if _file_state(path) != state:
                raise InputError(
                    f"{path} has changed while it was read", hint="copy the file and start again"
                )


class FunctionSource(Source):
    """A function that returns batches anew each time: arrays or data frames.

    Parameters
    ----------
    make : callable
    """

    numeric: list[str]
    others: list[str]

    def __init__(self, make: Callable[[], Iterable[Any]]) -> None:
        self._make = make
        first = next(iter(self._tables()), None)
        if first is None:
            raise InputError("the function that was given to scan returns no batches")
        self.numeric = [n for n, values in first.items() if values.dtype.kind in "fiub"]
        self.others = [name for name in first if name not in self.numeric]

    def _tables(self) -> Iterator[dict[str, np.ndarray]]:
        return map(_columns_of, self._make())

    def read(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """The batches of one call of the function; large ones are divided."""
        for number, table in enumerate(self._tables()):
            origin = f"batch {number}"
            _require_columns(table, columns, origin)
            length = len(next(iter(table.values()), ()))
            for start in range(0, length, n_rows):
                part = slice(start, start + n_rows)
                yield Chunk({name: table[name][part] for name in columns}, origin)

    def predict(self, predictor: Any) -> Iterator[Any]:
        """Data frames with the column of clusters; for arrays, arrays of the clusters."""
        for number, batch in enumerate(self._make()):
            chunk = Chunk(_columns_of(batch), f"batch {number}")
            _require_columns(chunk.columns, predictor.columns, chunk.origin)
            labels = predictor.labels(chunk)
            if isinstance(batch, np.ndarray):
                yield labels
            else:
                import narwhals as nw

                frame = nw.from_native(batch, eager_only=True)
                series = nw.new_series(predictor.output, labels, backend=frame.implementation)
                yield frame.with_columns(series).to_native()


def _columns_of(batch: Any) -> dict[str, np.ndarray]:
    """The columns of an array or a data frame."""
    if isinstance(batch, np.ndarray):
        if batch.ndim != 2:
            raise InputError(f"a batch has the shape {batch.shape}; it must have two axes")
        return {f"x{j}": batch[:, j] for j in range(batch.shape[1])}
    import narwhals as nw

    frame = nw.from_native(batch, eager_only=True)
    return {name: frame[name].to_numpy() for name in frame.columns}


def _require_columns(table: dict[str, np.ndarray], columns: Sequence[str], origin: str) -> None:
    missing = [name for name in columns if name not in table]
    if missing:
        raise InputError(f"{origin} has no column {missing[0]!r}")


def find_files(pattern: str) -> list[Path]:
    path = Path(pattern)
    if path.is_dir():
        found = sorted(path.glob("**/*.parquet"))
    else:
        found = [path] if path.exists() else sorted(map(Path, glob.glob(pattern, recursive=True)))
    if not found:
        raise InputError(f"no Parquet file matches {pattern}")
    return found


def split_arrow_names(schema: Any) -> tuple[list[str], list[str]]:
    import pyarrow.types as types

    numeric = [
        field.name
        for field in schema
        if types.is_integer(field.type)
        or types.is_floating(field.type)
        or types.is_boolean(field.type)
        or types.is_decimal(field.type)
    ]
    return numeric, [name for name in schema.names if name not in numeric]


def matrix_of(chunk: Chunk, columns: Sequence[str]) -> np.ndarray:
    """The columns of a chunk side by side: float32 if all of them are, float64 otherwise."""
    arrays = [chunk.columns[name] for name in columns]
    for name, array in zip(columns, arrays):
        if array.dtype.kind not in "fiub":
            # Integers and booleans with gaps arrive as objects.
            raise InputError(
                f"column {name!r} has missing values or no numbers ({array.dtype}) in "
                f"{chunk.origin}; fill or drop such rows, or leave the column out (columns=)"
            )
    dtype = np.float32 if all(array.dtype == np.float32 for array in arrays) else np.float64
    matrix = np.empty((len(arrays), chunk.n_rows), dtype=dtype)
    for row, array in zip(matrix, arrays):
        row[:] = array
    return matrix.T


def _check_same_schema(first: Any, other: Any, first_path: Path, path: Path) -> None:
    for field in first:
        if field.name not in other.names:
            raise InputError(f"{path} has no column {field.name!r}, which {first_path} has")
        if (found := other.field(field.name).type) != field.type:
            raise InputError(
                f"column {field.name!r} has the type {found} in {path}, but {field.type} in "
                f"{first_path}"
            )


def arrow_columns(batch: Any, columns: Sequence[str]) -> dict[str, np.ndarray]:
    """Columns of an Arrow batch; missing numbers are NaN."""
    found = {}
    for name in columns:
        column = batch.column(batch.schema.get_field_index(name))
        if str(column.type).startswith("decimal"):
            column = column.cast("double")
        found[name] = column.to_numpy(zero_copy_only=False)
    return found


def _file_state(path: Path) -> tuple[int, int]:
    try:
        stat = path.stat()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    return stat.st_size, stat.st_mtime_ns
