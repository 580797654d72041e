"""Whatever a user hands in, as numbers, or an error that says where and what would work."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from pellucid.numeric.team import Team
from pellucid.tree import canonical_csc

_MANY_VALUES = 2**20
"""Values worth a thread of their own."""


def read_X(estimator: Any, X: Any, *, reset: bool):
    """`X` as a float array or CSC matrix of finite numbers, with width and names checked.

    Parameters
    ----------
    estimator : BaseEstimator
        Remembers (`reset`) or compares the number and the names of the columns.
    X : array-like, sparse matrix, or pandas, polars or pyarrow table
    reset : bool
        True in `fit`.

    Returns
    -------
    ndarray of float32 or float64, or csc_array
    """
    table = _as_table(X)
    if table is not None:
        numbers = _table_to_array(table)
    else:
        numbers = check_array(
            X,
            accept_sparse=("csc", "csr"),
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
            ensure_min_samples=0,
            estimator=estimator,
        )
    named = numbers if table is None else _with_names(X, table)
    validate_data(estimator, named, reset=reset, skip_check_array=True)
    if numbers.shape[0] == 0 or numbers.shape[1] == 0:
        check_array(numbers, estimator=estimator, accept_sparse=True)
    if sparse.issparse(numbers):
        numbers = canonical_csc(numbers)
    _check_finite(numbers, getattr(estimator, "feature_names_in_", None), type(estimator).__name__)
    return numbers


def read_sample_weight(sample_weight: Any, n_samples: int) -> np.ndarray:
    """Weights as float64; all ones when there are none."""
    if sample_weight is None:
        return np.ones(n_samples)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight.shape == {weight.shape}, expected ({n_samples},): one weight a row"
        )
    bad = np.flatnonzero(~np.isfinite(weight) | (weight < 0))
    if len(bad):
        raise ValueError(
            f"sample_weight[{bad[0]}] is {weight[bad[0]]}; weights must be finite and at least 0"
        )
    if not np.any(weight > 0):
        raise ValueError("every sample_weight is zero; at least one row must have a weight above 0")
    return weight


def _as_table(X: Any):
    import narwhals as nw

    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return None
    try:
        table = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in X.columns]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"column {twice!r} appears more than once; give every column a name of its own"
        ) from None
    if isinstance(table, nw.LazyFrame):
        raise TypeError("X is a lazy frame; call collect() on it first")
    return table if isinstance(table, nw.DataFrame) else None


class _Names:
    """The shape and the column names of a table, as every version of scikit-learn reads them."""

    def __init__(self, table) -> None:
        self.shape, self._names = table.shape, table.columns

    def __dataframe__(self) -> _Names:
        return self

    def column_names(self) -> list:
        """Names of the columns."""
        return self._names


def _with_names(X: Any, table):
    """`X` itself, or a stand-in where scikit-learn does not know its kind of table.

    Up to some version it reads names by the data frame interchange protocol, which polars has
    given up; later versions go another way.
    """
    probe = BaseEstimator()
    validate_data(probe, X, skip_check_array=True)
    return X if hasattr(probe, "feature_names_in_") else _Names(table)


def _table_to_array(table) -> np.ndarray:
    import narwhals as nw

    for name, dtype in table.schema.items():
        if not (dtype.is_numeric() or dtype == nw.Boolean):
            raise ValueError(
                f"column {name!r} is not numeric (its type is {dtype}); leave it out, or encode "
                "it first, for example with sklearn.preprocessing.OneHotEncoder"
            )
    single = all(dtype == nw.Float32 for dtype in table.schema.values())
    array = np.empty(table.shape, dtype=np.float32 if single else np.float64, order="F")
    for position, name in enumerate(table.columns):
        column = table.get_column(name).cast(nw.Float32 if single else nw.Float64)
        array[:, position] = column.to_numpy()
    return array


def _has_finite_sum(values: np.ndarray) -> bool:
    """Whether the sum of all values is finite: then all are, and no mask was needed to see it."""
    with Team(joblib.cpu_count()) as team:
        blocks = team.blocks(len(values), max(1, _MANY_VALUES // max(values[:1].size, 1)))

        def add(block: tuple[int, int]) -> float:
            with np.errstate(over="ignore", invalid="ignore"):
                return values[slice(*block)].sum(dtype=np.float64)

        return bool(np.isfinite(team.map(add, blocks)).all())


def _check_finite(X, names, estimator_name: str) -> None:
    values = X.data if sparse.issparse(X) else X
    if _has_finite_sum(values) or np.isfinite(values).all():
        return
    for column in range(X.shape[1]):
        if sparse.issparse(X):
            entries = slice(X.indptr[column], X.indptr[column + 1])
            at = np.flatnonzero(~np.isfinite(X.data[entries]))
            rows, wrong = X.indices[entries][at], X.data[entries][at]
        else:
            rows = np.flatnonzero(~np.isfinite(X[:, column]))
            wrong = X[rows, column]
        if len(rows):
            what = "NaN" if np.isnan(wrong[0]) else "infinity (inf)"
            name = f"column {column}" if names is None else f"column {names[column]!r}"
            raise ValueError(
                f"Input X contains {what}: {name}, first at row {rows[0]}. {estimator_name} needs "
                "finite numbers: drop such rows, or fill them in, for example with "
                "sklearn.impute.SimpleImputer"
            )
