"""What the user gave as rows of numbers, as series, or as columns of values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid.tables.frames import as_table, read_plain_table, table_to_array


class Column(NamedTuple):
    """Values of one column, and whether they are numbers."""

    name: str
    values: list | np.ndarray
    is_numeric: bool


def read_numbers(X: Any, name: str, metric: str) -> Any:
    """Rows of finite numbers of equal length: a float64 array or a CSR matrix."""
    if sparse.issparse(X):
        matrix = sparse.csr_array(X).astype(np.float64)
        if not np.isfinite(matrix.data).all():
            raise ValueError(f"{name} holds NaN or infinities; {metric} needs finite numbers")
        return matrix
    table = None if isinstance(X, (list, tuple)) else as_table(X)
    if table is not None:
        plain = read_plain_table(X)
        matrix = table_to_array(table) if plain is None else plain.numbers
    else:
        if is_ragged(X):
            lengths = [len(row) for row in X]
            other = next(i for i, length in enumerate(lengths) if length != lengths[0])
            raise ValueError(
                f"series {other} of {name} has {lengths[other]} steps, series 0 has {lengths[0]}: "
                f"{metric!r} compares step by step and needs equal lengths. Use metric='dtw', or "
                "bring the series to one length first"
            )
        matrix = _as_floats(X, name)
    if matrix.ndim:
        _not_empty(matrix, name)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError(
            f"{name} has shape {matrix.shape}; rows of numbers form a matrix (n_rows, n_columns)"
        )
    matrix = np.ascontiguousarray(matrix, dtype=np.float64)
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(
            f"{name}[{row}, {column}] is {matrix[row, column]}; {metric!r} needs finite numbers: "
            "drop such rows, or fill them in"
        )
    return matrix


def read_series(X: Any, name: str) -> np.ndarray | list[np.ndarray]:
    """Series of finite numbers: a float64 array, one a row, or a list where lengths differ."""
    if sparse.issparse(X):
        raise TypeError(f"{name} is sparse, but series are read from dense data; use .toarray()")
    if not is_ragged(X):
        # The package does not read what it may not write to.
        return np.require(read_numbers(X, name, "dtw"), requirements="W")
    series = [
        np.require(_as_floats(one, f"series {i}"), requirements="CW") for i, one in enumerate(X)
    ]
    for i, one in enumerate(series):
        if one.ndim != 1 or len(one) == 0:
            raise ValueError(
                f"series {i} of {name} has shape {one.shape}; a series is a list of one number or "
                "more"
            )
        if not np.isfinite(one).all():
            step = int(np.argmin(np.isfinite(one)))
            raise ValueError(
                f"series {i} of {name} is {one[step]} at step {step}; fill it in, for example by "
                "numpy.interp, or leave that step out"
            )
    return series


def read_things(X: Any, name: str) -> list:
    """Rows as a function of two rows gets them: arrays, or whatever a list holds."""
    if isinstance(X, (list, tuple)):
        things = list(X)
        lists = all(isinstance(thing, (list, tuple)) for thing in things)
        return _not_empty([np.asarray(thing) for thing in things] if lists else things, name)
    if sparse.issparse(X):
        return _not_empty(list(X.toarray()), name)
    table = as_table(X)
    if table is not None:
        columns = read_columns(X, name)
        if all(column.is_numeric for column in columns):
            return _not_empty(list(read_numbers(X, name, "the metric")), name)
        rows = np.empty((len(table), len(columns)), dtype=object)
        for position, column in enumerate(columns):
            rows[:, position] = column.values
        return _not_empty(list(rows), name)
    return _not_empty(list(np.asarray(X)), name)


def read_columns(X: Any, name: str) -> list[Column]:
    """Columns of values of any kind.

    In a table the type of a column says whether it holds numbers; elsewhere its values do.
    """
    if sparse.issparse(X):
        raise TypeError(
            f"{name} is sparse, but categories are read from dense data; use .toarray()"
        )
    table = None if isinstance(X, (list, tuple)) else as_table(X)
    if table is not None:
        columns = [
            Column(repr(column), _values(table.get_column(column)), dtype.is_numeric())
            for column, dtype in table.schema.items()
        ]
        _not_empty(range(len(table)), name)
    else:
        if is_ragged(X):
            lengths = [len(row) for row in X]
            other = next(i for i, length in enumerate(lengths) if length != lengths[0])
            raise ValueError(
                f"row {other} of {name} has {lengths[other]} values, row 0 has {lengths[0]}; every "
                "row needs a value, or None, for every column"
            )
        array = _not_empty(X if isinstance(X, np.ndarray) else np.array(X, dtype=object), name)
        if array.ndim != 2 or array.shape[1] == 0:
            raise ValueError(
                f"{name} has shape {array.shape}; rows of values form a table (n_rows, n_columns)"
            )
        columns = [_column(array[:, j], str(j)) for j in range(array.shape[1])]
    if not columns:
        raise ValueError(f"{name} has no columns")
    return columns


def is_ragged(X: Any) -> bool:
    """Whether `X` is a list of series whose lengths differ."""
    if not (isinstance(X, (list, tuple)) or (isinstance(X, np.ndarray) and X.dtype == object)):
        return False
    if not all(hasattr(one, "__len__") and not isinstance(one, str) for one in X):
        return False
    return len({len(one) for one in X}) > 1


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or what pandas has in their place."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and value != value


def _values(column: Any) -> list | np.ndarray:
    import narwhals as nw

    if column.dtype.is_numeric():
        return column.cast(nw.Float64).to_numpy()
    return column.to_list()


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
            f"{name} holds other things than numbers ({error}); for categories use "
            "metric='jaccard' or 'gower'"
        ) from None


def _not_empty(rows: Any, name: str) -> Any:
    if len(rows) == 0:
        raise ValueError(f"{name} is empty; at least one row is needed")
    return rows
