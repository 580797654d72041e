"""Data frames as arrays of numbers.

narwhals reads the data frames of all libraries. scikit-learn's `check_array` would read a table of
mixed columns as objects; columns are therefore converted one by one, so that an error names one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from pellucid._utils.notices import InputError


class PlainTable(NamedTuple):
    """Column names and values of a numeric table."""

    names: list[Any]
    numbers: np.ndarray


def read_plain_table(X: Any) -> PlainTable | None:
    """A pandas, polars or pyarrow table that can be converted as a whole; None for other input.

    Conversion column by column dominates the time of a prediction for few rows. pandas returns a
    read-only view of the table if its memory is contiguous.
    """
    if isinstance(X, (np.ndarray, list)) or sparse.issparse(X):
        return None
    from narwhals import dependencies

    if dependencies.is_pandas_dataframe(X):
        dtypes = set(X.dtypes)
        if all(isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in dtypes):
            single = dtypes == {np.dtype(np.float32)}
            return PlainTable(X.columns.tolist(), X.to_numpy(np.float32 if single else np.float64))
    elif dependencies.is_polars_dataframe(X):
        if {str(dtype) for dtype in set(X.dtypes)} in ({"Float64"}, {"Float32"}):
            return PlainTable(X.columns, X.to_numpy())
    elif dependencies.is_pyarrow_table(X) and {str(t) for t in X.schema.types} == {"double"}:
        numbers = np.empty(X.shape, order="F")
        for position, column in enumerate(X.itercolumns()):
            numbers[:, position] = column.to_numpy()
        return PlainTable(X.column_names, numbers)
    return None


def as_table(X: Any) -> Any:
    """`X` as a narwhals data frame, or None if it is not a data frame."""
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return None
    refuse_scan(X)
    import narwhals as nw

    try:
        table = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in getattr(X, "column_names", X.columns)]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"column {twice!r} appears more than once; column names must be unique"
        ) from None
    if isinstance(table, nw.LazyFrame):
        raise TypeError("X is a lazy frame; call its collect() first")
    return table if isinstance(table, nw.DataFrame) else None


def is_scan(X: Any) -> bool:
    """Whether X is a result of `pellucid.scan`, without loading the module if it is not."""
    return type(X).__module__.startswith("pellucid.scale")


def refuse_scan(X: Any) -> None:
    """Raise an error if `X` is a scan."""
    if is_scan(X):
        raise InputError(
            "rows in memory are needed here, not a scan",
            hint="fit and predict of IMM, EMN, BSIMM, ExGreedy, ExShallow, ExKMC and "
            "ExplainableKMeans take scans",
        )


class _Names:
    """The shape and the column names of a table, in a form that scikit-learn can read."""

    def __init__(self, table: Any) -> None:
        self.shape, self._names = table.shape, table.columns

    def __dataframe__(self) -> _Names:
        return self

    def column_names(self) -> list[Any]:
        """Names of the columns."""
        return self._names


def with_names(X: Any, table: Any) -> Any:
    """`X` itself, or a proxy if scikit-learn cannot read the column names of its type.

    Older versions read names by the data frame interchange protocol, which newer versions of
    polars do not support.
    """
    probe = BaseEstimator()
    validate_data(probe, X, skip_check_array=True)
    return X if hasattr(probe, "feature_names_in_") else _Names(table)


def table_to_array(table: Any) -> np.ndarray:
    """A table of any numeric types as an array, converted column by column.

    Objects that are numbers, such as `Decimal`, and sparse columns of pandas are numeric too.
    """
    import narwhals as nw

    single = all(dtype == nw.Float32 for dtype in table.schema.values())
    array = np.empty(table.shape, dtype=np.float32 if single else np.float64, order="F")
    for position, (name, dtype) in enumerate(table.schema.items()):
        column = table.get_column(name)
        if dtype.is_numeric() or dtype == nw.Boolean:
            array[:, position] = column.cast(nw.Float32 if single else nw.Float64).to_numpy()
            continue
        numbers = _numbers_of_objects(column) if dtype in (nw.Object, nw.Unknown) else None
        if numbers is None:
            remedy = "encode it first, for example with sklearn.preprocessing.OneHotEncoder"
            if dtype.is_temporal():
                days = "the days since its first value"
                remedy = f"convert it to a number first, for example to {days}"
            raise ValueError(
                f"column {name!r} is not numeric (its type is {dtype}); drop it, or {remedy}; "
                "for tables of mixed columns use pellucid.explain"
            )
        array[:, position] = numbers
    return array


def _numbers_of_objects(column: Any) -> np.ndarray | None:
    """The values of a column as float64, or None unless all are numbers or missing."""
    values = np.asarray(column.to_native())
    if values.dtype == object and any(isinstance(value, (str, bytes)) for value in values):
        return None
    try:
        return values.astype(np.float64) if values.dtype.kind in "Ofiub" else None
    except (TypeError, ValueError):
        return None
