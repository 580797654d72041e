"""Where batches come from: any number of times, some columns at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.batches.partitions import Partitions
from pellucid._utils.notices import InputError
from pellucid._utils.threads import ThreadPool
from pellucid.scale.cache import CachedPartitions
from pellucid.tables.frames import as_table

_SAMPLE_CHUNK_ROWS = 2**16
SAMPLED_CHUNKS = 16
"""Chunks and row groups of which a sample consists, at least."""

BUFFER_BYTES = 2**20  # bytes per column that are read at a time
PREDICTED_ROWS = 2**16  # rows whose clusters are found at a time


class Chunk(NamedTuple):
    """Some rows of a source; missing numbers are NaN, and `origin` is for error messages."""

    columns: dict[str, np.ndarray]
    origin: str

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.columns.values())))

    def every(self, step: int, origin: str = "") -> Chunk:
        """Some of the rows, evenly spaced."""
        return Chunk({name: array[::step] for name, array in self.columns.items()}, origin)


class Source(ABC):
    """Rows that can be read repeatedly: names of the columns of numbers, and of the others.

    `problems` and `casts` say of some columns why they cannot be used, or how types differ.
    """

    numeric: list[str]
    others: list[str]
    problems: Mapping[str, str] = {}
    casts: Mapping[str, str] = {}

    def _store_names(self, numeric: list[str], others: list[str]) -> None:
        self.numeric, self.others = numeric, others

    @abstractmethod
    def read(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """Chunks of about `n_rows` rows."""

    @abstractmethod
    def predict(self, predictor: Any) -> Any:
        """All rows with the clusters that a `ScanPredictor` finds, as a lazy object."""

    def fingerprint(self) -> Any:
        """What changes if the data change, as far as it is known without reading them."""
        return None

    def count(self) -> int | None:
        """Number of rows, if all of them would have to be sent to learn it otherwise."""
        return None

    def partitions(self, scan: Any, pool: ThreadPool, n_clusters: int) -> Partitions:
        """The batches of a scan, encoded once and stored."""
        n_rows = scan.batch_rows(pool.n_threads, n_clusters)
        return CachedPartitions(lambda: scan.read(n_rows), pool, scan.kept_bytes)

    def sample(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """Rows from all parts of the source, usually more than `n_rows`."""
        for chunk in self.read(columns, _SAMPLE_CHUNK_ROWS):
            yield chunk.every(max(1, chunk.n_rows * SAMPLED_CHUNKS // n_rows))


class FileStates:
    """Sizes and times of files."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.states: dict[Path, tuple[int, int]] = {path: _file_state(path) for path in paths}

    def check(self) -> None:
        """Raise an error if a file has changed."""
        for path, state in self.states.items():
            if _file_state(path) != state:
                hint = "copy the file and start again"
                raise InputError(f"{path} has changed while it was read", hint=hint)

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

    def __init__(self, make: Callable[[], Iterable[Any]]) -> None:
        self._make = make
        self._n_rows: int | None = None
        tables = self._tables()
        if (first := next(tables, None)) is None:
            raise InputError("the function that was given to scan returns no batches")
        if not _length(first):  # it may lack the types of the others
            first = next(filter(_length, tables), first)
        kinds = ((name, values.dtype.kind in "fiub") for name, values in first.items())
        self._store_names(*split_names(kinds))

    def _tables(self) -> Iterator[dict[str, np.ndarray]]:
        return map(_columns_of, self._batches())

    def _batches(self) -> Iterator[Any]:
        """Those of a new call; batches of Arrow are tables."""
        for batch in self._make():
            if type(batch).__name__ == "RecordBatch":
                import pyarrow as pa

                batch = pa.table(batch)
            yield batch

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
        for number, batch in enumerate(self._batches()):
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
    if isinstance(batch, np.ndarray):
        if batch.ndim != 2:
            raise InputError(f"a batch has the shape {batch.shape}; it must have two axes")
        return {f"x{j}": batch[:, j] for j in range(batch.shape[1])}
    frame, kind = as_table(batch), type(batch).__name__
    if frame is None:
        raise InputError(f"a batch is a {kind}; it must be an array or a data frame")
    names = list(map(str, frame.columns))
    refuse_repeated(names, "a batch")
    return {name: column.to_numpy() for name, column in zip(names, frame.iter_columns())}


def _length(table: dict[str, np.ndarray]) -> int:
    return len(next(iter(table.values()), ()))


def _require_columns(table: dict[str, np.ndarray], columns: Sequence[str], origin: str) -> None:
    for name in columns:
        if name not in table:
            raise InputError(f"{origin} has no column {name!r}")


def refuse_repeated(names: Sequence[str], where: str) -> None:
    """Raise an error if two columns have the same name."""
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        problem = f"{where} has more than one column {repeated[0]!r}"
        raise InputError(f"{problem}; column names must be unique")


def split_names(columns: Iterable[tuple[str, bool]]) -> tuple[list[str], list[str]]:
    """Names of the columns of numbers, and of the others, given which are numbers."""
    names: tuple[list[str], list[str]] = [], []
    for name, is_numeric in columns:
        names[not is_numeric].append(name)
    return names


def split_arrow_names(schema: Any) -> tuple[list[str], list[str]]:
    """The same for a schema of Arrow."""
    return split_names((field.name, is_number(field.type)) for field in schema)


def is_number(kind: Any) -> bool:
    """Whether a type of Arrow is one of numbers or booleans."""
    import pyarrow.types as types

    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(test(kind) for test in tests)


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

    def is_gap(value: Any) -> bool:
        is_nan = isinstance(value, float) and value != value
        return value is None or is_nan or type(value).__name__ == "NAType"

    return any(map(is_gap, values))


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
