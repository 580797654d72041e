"""Rows of any input: numbers, series, objects or columns; distinct rows and their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid._utils.numeric_domain import are_in_domain, refuse_large
from pellucid.tables.frames import (
    Columns,
    as_table,
    frame_column,
    is_numeric,
    read_plain_table,
    table_to_array,
)

_BLOCK_VALUES = 2**20  # values of sparse rows that are made dense at a time


class Column(NamedTuple):
    name: str
    values: list[Any] | np.ndarray
    is_numeric: bool


def read_numbers(X: Any, name: str, metric: str) -> Any:
    """Read a matrix of finite numbers as a float64 array or a CSR matrix."""
    if sparse.issparse(X):
        matrix = sparse.csr_array(X).astype(np.float64)
        if not np.isfinite(matrix.data).all():
            raise ValueError(f"{name} contains NaN or infinity; {metric} needs finite numbers")
        if not are_in_domain(matrix.data):
            refuse_large(matrix.tocsc(), what=name)
        return matrix
    table = None if isinstance(X, (list, tuple)) else as_table(X)
    if table is not None:
        plain = read_plain_table(X)
        matrix = table_to_array(table) if plain is None else plain.numbers
    elif is_ragged(X):
        other, length = _other_length(X)
        raise ValueError(
            f"series {other} of {name} has {length} steps, series 0 has {len(X[0])}: "
            f"{metric!r} compares series step by step and needs equal lengths. Use the "
            "distance 'dtw', or resample the series to one length"
        )
    else:
        matrix = _as_floats(X, name)
    if matrix.ndim:
        _check_not_empty(matrix, name)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError(
            f"{name} has shape {matrix.shape}; expected a matrix (n_rows, n_columns) of numbers"
        )
    matrix = np.ascontiguousarray(matrix, dtype=np.float64)
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(
            f"{name}[{row}, {column}] is {matrix[row, column]}; {metric!r} needs finite numbers: "
            "drop such rows, or impute the values"
        )
    if not are_in_domain(matrix):
        refuse_large(matrix, what=name)
    return matrix


def read_series(X: Any, name: str) -> np.ndarray | list[np.ndarray]:
    """Read series of finite numbers as the rows of an array, or as a list if lengths differ."""
    if sparse.issparse(X):
        raise TypeError(f"{name} is sparse, but series must be dense; use .toarray()")
    if not is_ragged(X):
        return read_numbers(X, name, "dtw")
    series = [_as_floats(values, f"series {i}") for i, values in enumerate(X)]
    for i, values in enumerate(series):
        if values.ndim != 1 or len(values) == 0:
            raise ValueError(
                f"series {i} of {name} has shape {values.shape}; a series is a non-empty list of "
                "numbers"
            )
        if not np.isfinite(values).all():
            step = int(np.argmin(np.isfinite(values)))
            raise ValueError(
                f"series {i} of {name} is {values[step]} at step {step}; impute the value, for "
                "example by numpy.interp, or drop that step"
            )
        if not are_in_domain(values):
            refuse_large(values[:, None], what=f"series {i} of {name}")
    return series


def read_objects(X: Any, name: str) -> list[Any]:
    """Read the rows as arguments of a callable distance: arrays, or the items of a list."""
    if isinstance(X, (list, tuple)):
        are_lists = all(isinstance(item, (list, tuple)) for item in X)
        rows = [np.asarray(item) if are_lists else item for item in X]
    elif sparse.issparse(X):
        rows = list(X.toarray())
    elif as_table(X) is None:
        rows = list(np.asarray(X))
    elif all(column.is_numeric for column in read_columns(X, name)):
        rows = list(read_numbers(X, name, "the metric"))
    else:
        objects = [np.asarray(column.values, dtype=object) for column in read_columns(X, name)]
        rows = list(np.column_stack(objects))
    return _check_not_empty(rows, name)


def read_columns(X: Any, name: str) -> list[Column]:
    """Columns of any type; those of a data frame are numeric by type, others by their values."""
    if sparse.issparse(X):
        raise TypeError(f"{name} is sparse, but categories must be dense; use .toarray()")
    table = None if isinstance(X, (list, tuple)) else as_table(X)
    if table is not None:
        columns = [
            Column(repr(column), frame_column(table, column), dtype.is_numeric())
            for column, dtype in table.schema.items()
        ]
        _check_not_empty(range(len(table)), name)
    elif is_ragged(X):
        other, length = _other_length(X)
        raise ValueError(
            f"row {other} of {name} has {length} values, row 0 has {len(X[0])}; each row needs "
            "a value, or None, in each column"
        )
    else:
        array = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
        if _check_not_empty(array, name).ndim != 2 or array.shape[1] == 0:
            raise ValueError(
                f"{name} has shape {array.shape}; expected a table (n_rows, n_columns)"
            )
        columns = [_column(array[:, j], str(j)) for j in range(array.shape[1])]
    if not columns:
        raise ValueError(f"{name} has no columns")
    return columns


def count_rows(rows: Any) -> int:
    """Number of rows of a matrix or a list; sparse matrices have no length."""
    return rows.shape[0] if hasattr(rows, "shape") else len(rows)


def is_ragged(X: Any) -> bool:
    """Whether `X` is a list of series of different lengths."""
    if not (isinstance(X, (list, tuple)) or (isinstance(X, np.ndarray) and X.dtype == object)):
        return False
    if not all(hasattr(row, "__len__") and not isinstance(row, str) for row in X):
        return False
    return len({len(row) for row in X}) > 1


def _other_length(X: Any) -> tuple[int, int]:
    """Number and length of the first series that is not as long as series 0."""
    return next((i, len(row)) for i, row in enumerate(X) if len(row) != len(X[0]))


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, pandas.NA or pandas.NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and value != value


def _column(values: np.ndarray, name: str) -> Column:
    if values.dtype.kind in "fiu":
        return Column(name, values, True)
    listed = values.tolist()
    known = [value for value in listed if not is_missing(value)]
    if not known or not all(map(_is_number, known)):
        return Column(name, listed, False)
    numbers = [np.nan if is_missing(value) else float(value) for value in listed]
    return Column(name, np.array(numbers), True)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, (bool, np.bool_))


def _as_floats(X: Any, name: str) -> np.ndarray:
    try:
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} contains non-numeric values ({error}); for categories use metric='jaccard' "
            "or 'gower'"
        ) from None


def _check_not_empty(rows: Any, name: str) -> Any:
    if len(rows) == 0:
        raise ValueError(f"{name} is empty; at least one row is needed")
    return rows


class RowGroups(NamedTuple):
    """Groups of identical rows: `first` row, total `weight` and `rank` by values of each group.

    Clusters that are computed from distinct rows with added weights are the same whether a row has
    an integer weight or is repeated, and whatever the order. `group` is the group of each row.
    """

    first: np.ndarray
    group: np.ndarray
    weight: np.ndarray
    rank: np.ndarray

    @classmethod
    def of(cls, parts: Sequence[Any], rows: np.ndarray, weight: np.ndarray) -> RowGroups:
        """Group some rows, given by their numbers in ascending order and their weights.

        Rows are identical if all parts are, and are sorted by the first part, then by the next. A
        part is a table, an array, a list of series, or given distances.
        """
        ranks = np.column_stack([rank for part in parts for rank in _ranks(part, rows)])
        _, first, group = np.unique(ranks, axis=0, return_index=True, return_inverse=True)
        # Ties go to the first row. In sorted rows, all ties would go to the same side.
        rank = np.random.default_rng(0).permutation(len(first))
        first, group = first[rank], np.argsort(rank)[group.ravel()]
        # Sums of fractions depend on the order of their terms.
        order = np.lexsort((weight, group))
        starts = np.searchsorted(group[order], np.arange(len(first)))
        return cls(rows[first], group, np.add.reduceat(weight[order], starts), rank)


class GivenDistances(NamedTuple):
    """A given distance matrix, in which rows are identical if all their distances are."""

    matrix: np.ndarray


def _ranks(part: Any, rows: np.ndarray) -> Iterable[np.ndarray]:
    """Integers per row that are equal for identical rows, in an order given by the values."""
    if isinstance(part, Columns):
        for column in part.values:
            values = column[rows]
            if is_numeric(values):
                yield np.unique(values, return_inverse=True)[1].ravel()
            else:
                yield _rank([(type(value).__name__, str(value)) for value in values])
    elif isinstance(part, GivenDistances):
        matrix = part.matrix[np.ix_(rows, rows)]
        # Sets of distances do not depend on the order of the rows, but may coincide.
        yield _rank([tuple(np.unique(distances)) for distances in matrix])
        yield np.unique(matrix, axis=0, return_inverse=True)[1].ravel()
    elif isinstance(part, np.ndarray) and part.ndim == 2 and part.dtype != object:
        yield np.unique(part[rows], axis=0, return_inverse=True)[1].ravel()
    else:
        series = [np.asarray(part[row]).ravel().tolist() for row in rows]
        yield _rank([(len(s), *((type(v).__name__, v) for v in s)) for s in series])


def _rank(keys: Sequence[tuple[Any, ...]]) -> np.ndarray:
    """Place of each key among the sorted distinct keys."""
    place = {key: i for i, key in enumerate(sorted(set(keys)))}
    return np.array([place[key] for key in keys])


def order_by_values(rows: Any, weight: np.ndarray) -> np.ndarray:
    """Row numbers by hashes of the values, whatever their storage and type, and by weights."""
    keys = b"".join(blake2b(row, digest_size=8).digest() for row in _row_bytes(rows))
    return np.lexsort((weight, np.frombuffer(keys, dtype=np.uint64)))


def _row_bytes(rows: Any) -> Iterable[bytes]:
    """The values of each row as bytes."""
    if sparse.issparse(rows):
        step = max(_BLOCK_VALUES // rows.shape[1], 1)
        by_row = rows.tocsr()
        for start in range(0, rows.shape[0], step):
            yield from _row_bytes(by_row[start : start + step].toarray())
    elif isinstance(rows, np.ndarray) and rows.dtype.kind in "biuf":
        # Adding 0 makes -0 and 0 the same.
        yield from (row.tobytes() for row in rows.astype(np.float64) + 0.0)
    elif isinstance(rows, (list, tuple)) or np.ndim(rows) == 1:
        yield from ((np.asarray(series, dtype=np.float64) + 0.0).tobytes() for series in rows)
    else:
        table = as_table(rows)
        records = rows.tolist() if table is None else table.rows()
        yield from (repr(tuple(record)).encode() for record in records)
