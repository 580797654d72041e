"""Read user input as a numeric matrix, as series, as objects, or as columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid._utils.numeric_domain import are_in_domain, refuse_large
from pellucid.tables.columns import frame_column
from pellucid.tables.frames import as_table, read_plain_table, table_to_array


class Column(NamedTuple):
    """Values of one column, and whether they are numeric."""

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
    else:
        if is_ragged(X):
            other, length = _other_length(X)
            raise ValueError(
                f"series {other} of {name} has {length} steps, series 0 has {len(X[0])}: "
                f"{metric!r} compares series step by step and needs equal lengths. Use the "
                "distance 'dtw', or resample the series to one length"
            )
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
        items = list(X)
        are_lists = all(isinstance(item, (list, tuple)) for item in items)
        return _check_not_empty([np.asarray(item) for item in items] if are_lists else items, name)
    if sparse.issparse(X):
        return _check_not_empty(list(X.toarray()), name)
    table = as_table(X)
    if table is not None:
        columns = read_columns(X, name)
        if all(column.is_numeric for column in columns):
            return _check_not_empty(list(read_numbers(X, name, "the metric")), name)
        rows = np.empty((len(table), len(columns)), dtype=object)
        for position, column in enumerate(columns):
            rows[:, position] = column.values
        return _check_not_empty(list(rows), name)
    return _check_not_empty(list(np.asarray(X)), name)


def read_columns(X: Any, name: str) -> list[Column]:
    """Read columns of any type.

    Whether a column is numeric follows from its type in a data frame, else from its values.
    """
    if sparse.issparse(X):
        raise TypeError(f"{name} is sparse, but categories must be dense; use .toarray()")
    table = None if isinstance(X, (list, tuple)) else as_table(X)
    if table is not None:
        columns = [
            Column(repr(column), frame_column(table, column), dtype.is_numeric())
            for column, dtype in table.schema.items()
        ]
        _check_not_empty(range(len(table)), name)
    else:
        if is_ragged(X):
            other, length = _other_length(X)
            raise ValueError(
                f"row {other} of {name} has {length} values, row 0 has {len(X[0])}; each row needs "
                "a value, or None, in each column"
            )
        array = _check_not_empty(
            X if isinstance(X, np.ndarray) else np.array(X, dtype=object), name
        )
        if array.ndim != 2 or array.shape[1] == 0:
            raise ValueError(
                f"{name} has shape {array.shape}; expected a table (n_rows, n_columns)"
            )
        columns = [_column(array[:, j], str(j)) for j in range(array.shape[1])]
    if not columns:
        raise ValueError(f"{name} has no columns")
    return columns


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
    is_numeric = bool(known) and all(
        isinstance(value, (int, float, np.number)) and not isinstance(value, (bool, np.bool_))
        for value in known
    )
    if is_numeric:
        numbers = [np.nan if is_missing(value) else float(value) for value in listed]
        return Column(name, np.array(numbers), True)
    return Column(name, listed, False)


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
