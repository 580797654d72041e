"""Where batches come from: Parquet files and functions.

Every source can be read any number of times, some columns at a time.
"""

from __future__ import annotations

import glob
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.batches.partitions import Partitions
from pellucid._utils.imports import import_optional
from pellucid._utils.notices import InputError
from pellucid._utils.threads import ThreadPool
from pellucid.scale.cache import CachedPartitions
from pellucid.tables.frames import as_table

_SAMPLE_CHUNK_ROWS = 2**16
_SAMPLED_CHUNKS = 16
"""Chunks and row groups of which a sample consists, at least."""

BUFFER_BYTES = 2**20
"""Bytes per column that are read at a time."""

PREDICTED_ROWS = 2**16
"""Rows whose clusters are found at a time."""

_TABLE_FORMATS = {
    "_delta_log": ("a Delta table", "scan(polars.scan_delta(...))"),
    "metadata/*.metadata.json*": ("an Iceberg table", "scan(polars.scan_iceberg(...))"),
    ".hoodie": ("a Hudi table", "scan of a Spark DataFrame"),
}
"""By a name in their folder: tables whose folder keeps files of deleted rows."""


class Chunk(NamedTuple):
    """Some rows of a source; missing numbers are NaN, and `origin` is for error messages."""

    columns: dict[str, np.ndarray]
    origin: str

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))


class Source(ABC):
    """Rows that can be read repeatedly: names of the columns of numbers, and of the others."""

    numeric: list[str]
    others: list[str]

    @abstractmethod
    def read(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """Chunks of about `n_rows` rows."""

    @abstractmethod
    def predict(self, predictor: Any) -> Any:
        """All rows with the clusters that a `ScanPredictor` finds, as a lazy object."""

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
    """Parquet files with the same columns."""

    numeric: list[str]
    others: list[str]

    def __init__(self, paths: Sequence[Path]) -> None:
        self._parquet = import_optional(
            "pyarrow.parquet", "scan of Parquet files", "scan(polars.scan_parquet(...))"
        )
        self._files = FileStates(paths)
        opened = [self._contents(path) for path in paths]
        # Files without rows are left out: they often lack the types of the others.
        files = [file for file in zip(paths, *zip(*opened)) if file[2]]
        (first, self._schema, _), *others = files or [(paths[0], *opened[0])]
        for path, schema, _ in others:
            _check_same_schema(self._schema, schema, first, path)
        self._paths = [first, *(path for path, *_ in others)]
        self.numeric, self.others = split_arrow_names(self._schema)

    def _contents(self, path: Path) -> tuple[Any, int]:
        """The schema and the number of rows of a file."""
        with self._open(path) as file:
            schema, n_rows = file.schema_arrow, file.metadata.num_rows
        refuse_repeated(schema.names, str(path))
        return schema, n_rows

    def _open(self, path: Path) -> Any:
        try:
            # By default all that was read stays in memory as long as the file is open.
            return self._parquet.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER_BYTES)
        except Exception as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"{path} is not a readable Parquet file: {reason}") from None

    def _batches(self, columns: Sequence[str], n_rows: int) -> Iterator[tuple[Any, str]]:
        """Arrow batches of one file after the other, and where they were read."""
        self._files.check()
        for path in self._paths:
            first = 0
            with self._open(path) as file, self._files.reading(path):
                for batch in file.iter_batches(batch_size=n_rows, columns=list(columns)):
                    last = first + batch.num_rows
                    yield batch, f"{path}, rows {first:,} to {last - 1:,}"
                    first = last
        self._files.check()

    def read(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """Chunks of one file after the other."""
        for batch, origin in self._batches(columns, n_rows):
            yield Chunk(arrow_columns(batch, columns), origin)

    def predict(self, predictor: Any) -> Any:
        """A polars LazyFrame, or a pyarrow RecordBatchReader without polars."""
        if find_spec("polars") is not None:
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
                sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
                groups += [(path, group) for group, size in enumerate(sizes) if size]
        chosen = groups[:: max(1, len(groups) // _SAMPLED_CHUNKS)]
        per_group = -(-n_rows // max(1, len(chosen)))
        for path, group in chosen:
            with self._open(path) as file, self._files.reading(path):
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


class FileStates:
    """Sizes and times of files."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._states = {path: _file_state(path) for path in paths}

    def check(self) -> None:
        """Raise an error if a file has changed."""
        for path, state in self._states.items():
            if _file_state(path) != state:
                raise InputError(
                    f"{path} has changed while it was read", hint="copy the file and start again"
                )

    @contextmanager
    def reading(self, what: object) -> Iterator[None]:
        """Replace errors of Arrow by one that names what is read, such as a file."""
        import pyarrow as pa

        try:
            yield
        except (NotImplementedError, MemoryError):
            raise
        except (pa.ArrowException, OSError) as error:
            self.check()
            reason = str(error).splitlines()[0]
            raise InputError(f"{what} is damaged: {reason}", hint="write it again") from None


class FunctionSource(Source):
    """A function that returns batches anew each time: arrays or data frames."""

    numeric: list[str]
    others: list[str]

    def __init__(self, make: Callable[[], Iterable[Any]]) -> None:
        self._make = make
        self._n_rows: int | None = None
        # A batch without rows may lack the types of the others.
        first = None
        for table in self._tables():
            if first is None or _length(table):
                first = table
            if _length(first):
                break
        if first is None:
            raise InputError("the function that was given to scan returns no batches")
        self.numeric = [n for n, values in first.items() if values.dtype.kind in "fiub"]
        self.others = [name for name in first if name not in self.numeric]

    def _tables(self) -> Iterator[dict[str, np.ndarray]]:
        return map(_columns_of, self._make())

    def read(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """The batches of one call of the function; large ones are divided."""
        total = 0
        for number, table in enumerate(self._tables()):
            origin, length = f"batch {number}", _length(table)
            if length:
                _require_columns(table, columns, origin)
            for start in range(0, length, n_rows):
                part = slice(start, start + n_rows)
                yield Chunk({name: table[name][part] for name in columns}, origin)
            total += length
        if self._n_rows not in (None, total):
            raise InputError(
                f"the function that was given to scan returned {self._n_rows:,} rows, and then "
                f"{total:,}",
                hint="it must return the same rows in every call",
            )
        self._n_rows = total

    def partitions(self, scan: Any, pool: ThreadPool, n_clusters: int) -> Partitions:
        """The batches of a scan. Another fit may find other rows."""
        self._n_rows = None
        return super().partitions(scan, pool, n_clusters)

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
    frame = as_table(batch)
    if frame is None:
        raise InputError(
            f"a batch is a {type(batch).__name__}; it must be an array or a data frame"
        )
    names = list(map(str, frame.columns))
    refuse_repeated(names, "a batch")
    return {name: column.to_numpy() for name, column in zip(names, frame.iter_columns())}


def _length(table: dict[str, np.ndarray]) -> int:
    return len(next(iter(table.values()), ()))


def _require_columns(table: dict[str, np.ndarray], columns: Sequence[str], origin: str) -> None:
    missing = [name for name in columns if name not in table]
    if missing:
        raise InputError(f"{origin} has no column {missing[0]!r}")


def find_files(pattern: str) -> list[Path]:
    """The Parquet files of a path, a folder or a glob.

    Below a folder or a wildcard, names that begin with ``_`` or ``.`` are left out, as in Spark:
    other programs write there. A glob that spells out such a name finds them.
    """
    path = Path(pattern)
    if path.exists():
        matches, n_given, is_hidden_wanted = [path], len(path.parts), False
    else:
        matches = list(map(Path, glob.glob(pattern, recursive=True)))
        n_given = next((i for i, part in enumerate(path.parts) if glob.has_magic(part)), 0)
        is_hidden_wanted = any(map(_is_hidden, path.parts[n_given:]))
    found = {
        file
        for match in matches
        for file in (match.glob("**/*.parquet") if match.is_dir() else [match])
        if not file.is_dir()
        and (is_hidden_wanted or not any(map(_is_hidden, file.parts[n_given:])))
    }
    if matches != [path] or path.is_dir():
        _refuse_table_formats([path, *found])
    if not found:
        raise InputError(
            f"no Parquet file matches {pattern}",
            hint="in a folder, names that begin with _ or . are left out",
        )
    return sorted(found)


def _is_hidden(name: str) -> bool:
    # Spark writes the folders of a column "_a" as "_a=1".
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _refuse_table_formats(paths: Sequence[Path]) -> None:
    """Raise an error if the files belong to a table that keeps files of deleted rows."""
    folders = {folder for path in paths for folder in (path, *path.absolute().parents)}
    for folder in sorted(folders):
        for mark, (kind, remedy) in _TABLE_FORMATS.items():
            if next(folder.glob(mark), None) is not None:
                raise InputError(
                    f"{folder} is {kind}; its folder may hold files of deleted rows",
                    hint=f"{remedy} reads its current rows",
                )


def refuse_repeated(names: Sequence[str], where: str) -> None:
    """Raise an error if two columns have the same name."""
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        raise InputError(
            f"{where} has more than one column {repeated[0]!r}; column names must be unique"
        )


def split_arrow_names(schema: Any) -> tuple[list[str], list[str]]:
    import pyarrow.types as types

    numeric: list[str] = []
    others: list[str] = []
    for field in schema:
        is_numeric = (
            types.is_integer(field.type)
            or types.is_floating(field.type)
            or types.is_boolean(field.type)
            or types.is_decimal(field.type)
        )
        (numeric if is_numeric else others).append(field.name)
    return numeric, others


def matrix_of(chunk: Chunk, columns: Sequence[str]) -> np.ndarray:
    """The columns of a chunk side by side: float32 if all of them are, float64 otherwise."""
    arrays = [chunk.columns[name] for name in columns]
    for name, array in zip(columns, arrays):
        if array.dtype.kind not in "fiub" and len(array):
            # Integers and booleans with gaps arrive as objects.
            problem = "contains missing values" if has_gaps(array) else "holds no numbers"
            raise InputError(
                f"column {name!r} {problem} in {chunk.origin}",
                hint="fill or drop such rows, or leave the column out (columns=)",
            )
    dtype = np.float32 if all(array.dtype == np.float32 for array in arrays) else np.float64
    matrix = np.empty((len(arrays), chunk.n_rows), dtype=dtype)
    for row, array in zip(matrix, arrays):
        row[:] = array
    return matrix.T


def has_gaps(values: np.ndarray) -> bool:
    """Whether an array of objects contains None, NaN or the missing value of pandas."""
    return any(
        value is None
        or (isinstance(value, float) and value != value)
        or type(value).__name__ == "NAType"
        for value in values
    )


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
