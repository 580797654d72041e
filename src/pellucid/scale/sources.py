"""Where batches come from: Parquet files, lazy frames, DuckDB relations, functions.

Every source can be read any number of times, some columns at a time.
"""

from __future__ import annotations

import glob
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike, fspath
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

    def check_unchanged(self) -> None:  # noqa: B027
        """Raise an error if the source is known to have changed since it was opened."""

    def partitions(self, scan: Any, pool: ThreadPool, n_clusters: int) -> Partitions:
        """The batches of a scan, encoded once and stored in a temporary file."""
        n_rows = scan.batch_rows(pool.n_threads, n_clusters)
        return CachedPartitions(lambda: scan.read(n_rows), pool)

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
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._parquet = import_optional(
            "pyarrow.parquet", "pyarrow", "scan of Parquet files", "scan(polars.scan_parquet(...))"
        )
        self._paths = list(paths)
        self._state = [_file_state(path) for path in self._paths]
        schemas = [self._open(path).schema_arrow for path in self._paths]
        for path, schema in zip(self._paths[1:], schemas[1:]):
            _check_same_schema(schemas[0], schema, self._paths[0], path)
        self.numeric, self.others = _split_arrow_names(schemas[0])

    def _open(self, path: Path) -> Any:
        try:
            return self._parquet.ParquetFile(path)
        except Exception as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"{path} is not a readable Parquet file: {reason}") from None

    def read(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """Chunks of one file after the other."""
        self.check_unchanged()
        for path in self._paths:
            file, first = self._open(path), 0
            with file:
                for batch in file.iter_batches(batch_size=n_rows, columns=list(columns)):
                    last = first + batch.num_rows
                    origin = f"{path}, rows {first:,} to {last - 1:,}"
                    yield Chunk(arrow_columns(batch, columns), origin)
                    first = last

    def sample(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """Rows of some row groups, evenly spaced over all files."""
        groups = []
        for path in self._paths:
            with self._open(path) as file:
                groups += [(path, group) for group in range(file.num_row_groups)]
        chosen = groups[:: max(1, len(groups) // _SAMPLED_CHUNKS)]
        for path, group in chosen:
            with self._open(path) as file:
                table = file.read_row_group(group, columns=list(columns))
                step = max(1, table.num_rows * len(chosen) // n_rows)
                for batch in table.take(list(range(0, table.num_rows, step))).to_batches():
                    yield Chunk(arrow_columns(batch, columns), f"{path}, row group {group}")

    def check_unchanged(self) -> None:
        """Compare sizes and times of the files."""
        for path, state in zip(self._paths, self._state):
            if _file_state(path) != state:
                raise InputError(
                    f"{path} has changed while it was read", hint="copy the file and start again"
                )


class ArrowReaderSource(Source):
    """A query whose results are Arrow batches, such as a DuckDB relation.

    Parameters
    ----------
    schema : pyarrow.Schema
    open_reader : callable
        ``open_reader(columns, n_rows)`` runs the query and returns its batches.
    """

    def __init__(self, schema: Any, open_reader: Callable[..., Iterable]) -> None:
        self.numeric, self.others = _split_arrow_names(schema)
        self._open_reader = open_reader

    def read(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """Chunks of a new run of the query."""
        first = 0
        for batch in self._open_reader(list(columns), n_rows):
            if batch.num_rows:
                origin = f"rows {first:,} to {first + batch.num_rows - 1:,}"
                yield Chunk(arrow_columns(batch, columns), origin)
                first += batch.num_rows


class FunctionSource(Source):
    """A function that returns batches anew each time: arrays or data frames.

    Parameters
    ----------
    make : callable
    """

    def __init__(self, make: Callable[[], Iterable[Any]]) -> None:
        self._make = make
        first = next(iter(self._tables()), None)
        if first is None:
            raise InputError("the function that was given to scan returns no batches")
        self.numeric = [n for n, values in first.items() if values.dtype.kind in "fiub"]
        self.others = [name for name in first if name not in self.numeric]

    def _tables(self) -> Iterator[dict[str, np.ndarray]]:
        for batch in self._make():
            if isinstance(batch, np.ndarray):
                if batch.ndim != 2:
                    raise InputError(f"a batch has the shape {batch.shape}; it must have two axes")
                yield {f"x{j}": batch[:, j] for j in range(batch.shape[1])}
            else:
                import narwhals as nw

                frame = nw.from_native(batch, eager_only=True)
                yield {name: frame[name].to_numpy() for name in frame.columns}

    def read(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """The batches of one call of the function; large ones are divided."""
        for number, table in enumerate(self._tables()):
            origin = f"batch {number}"
            missing = [name for name in columns if name not in table]
            if missing:
                raise InputError(f"{origin} has no column {missing[0]!r}")
            length = len(next(iter(table.values()), ()))
            for start in range(0, length, n_rows):
                part = slice(start, start + n_rows)
                yield Chunk({name: table[name][part] for name in columns}, origin)


def open_source(source: Any) -> Source:
    """The source of what was given to `pellucid.scan`."""
    if isinstance(source, (str, PathLike)):
        return ParquetSource(_find_files(fspath(source)))
    module = type(source).__module__.split(".")[0]
    if module == "polars" and type(source).__name__ == "LazyFrame":
        return _of_polars(source)
    if module in ("duckdb", "_duckdb"):
        return _of_duckdb(source)
    if module == "pyarrow" and hasattr(source, "iter_batches"):
        return _of_parquet_file(source)
    if module == "pyarrow" and hasattr(source, "files"):
        return ParquetSource([Path(path) for path in source.files])
    if callable(source):
        return FunctionSource(source)
    raise InputError(
        f"scan cannot read {type(source).__name__}",
        hint="give it a path or glob of Parquet files, a polars LazyFrame, a pyarrow ParquetFile "
        "or dataset, a DuckDB relation, a Dask DataFrame or Array, or a function that returns "
        "batches",
    )


def _find_files(pattern: str) -> list[Path]:
    path = Path(pattern)
    if path.is_dir():
        found = sorted(path.glob("**/*.parquet"))
    else:
        found = [path] if path.exists() else sorted(map(Path, glob.glob(pattern, recursive=True)))
    if not found:
        raise InputError(f"no Parquet file matches {pattern}")
    return found


def _of_polars(frame: Any) -> Source:
    def open_reader(columns: list[str], n_rows: int) -> Iterator[Any]:
        for batch in frame.select(columns).collect_batches(chunk_size=n_rows, maintain_order=True):
            yield from batch.to_arrow().to_batches()

    return ArrowReaderSource(frame.limit(0).collect().to_arrow().schema, open_reader)


def _of_duckdb(relation: Any) -> Source:
    schema = relation.limit(0).to_arrow_table().schema

    def open_reader(columns: list[str], n_rows: int) -> Iterable[Any]:
        chosen = relation.select(*(f'"{name.replace(chr(34), chr(34) * 2)}"' for name in columns))
        return chosen.to_arrow_reader(n_rows)

    return ArrowReaderSource(schema, open_reader)


def _of_parquet_file(file: Any) -> Source:
    def open_reader(columns: list[str], n_rows: int) -> Iterable[Any]:
        return file.iter_batches(batch_size=n_rows, columns=columns)

    return ArrowReaderSource(file.schema_arrow, open_reader)


def _split_arrow_names(schema: Any) -> tuple[list[str], list[str]]:
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
