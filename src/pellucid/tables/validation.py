"""Validation of input: arrays of numbers, or errors that name the place and a remedy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from pellucid._utils.arrays import all_finite
from pellucid._utils.numeric_domain import check_spread, check_weights, refuse_large
from pellucid._utils.threads import count_threads
from pellucid.tables.frames import as_table, is_scan, read_plain_table, table_to_array, with_names
from pellucid.tree.predictor import canonical_csc

_as_floats: Any = partial(check_array, dtype=(np.float64, np.float32), ensure_all_finite=False)
MAX_SPARSE_SPACE = 512  # columns of a sparse space up to which it is stored as a dense one


def read_X(estimator: Any, X: Any, *, reset: bool, check: bool = True) -> Any:
    """`X` as a float array or CSC matrix, finite unless `check` is off. The estimator stores
    (`reset`, in `fit`) or checks the number and the names of the columns.
    """
    numbers = _read_numbers(estimator, X, reset)
    values = numbers
    if sparse.issparse(numbers):
        numbers = canonical_csc(numbers)
        values = numbers.data
    if check and not all_finite(values, partial(count_threads, getattr(estimator, "n_jobs", None))):
        refuse_infinite(estimator, numbers)
    return numbers


def rows_without_copy(X: Any, numbers: Any) -> sparse.csr_array | None:
    """`X` as CSR rows that share its memory; None if it is not CSR, has another type than
    `numbers`, which were read from it, or its entries are not sorted or not unique.
    """
    if not sparse.issparse(X) or X.format != "csr" or X.dtype != numbers.dtype:
        return None
    rows = sparse.csr_array((X.data, X.indices, X.indptr), shape=X.shape)
    # Contiguous, writeable arrays of one type: loops are not compiled again for others.
    parts = (rows.data, rows.indices, rows.indptr)
    is_plain = all(part.flags.carray for part in parts)
    is_same_type = rows.indices.dtype == numbers.indices.dtype
    return rows if is_plain and is_same_type and rows.has_canonical_format else None


def read_rows(estimator: Any, X: Any) -> Any:
    """`X` for a fitted estimator, without a copy if possible, with width and names checked. The
    caller checks that numbers are finite while it reads them.
    """
    has_names = hasattr(estimator, "feature_names_in_")
    if _is_plain(X) and X.shape[1] == estimator.n_features_in_ and not has_names:
        return X
    return _read_numbers(estimator, X, reset=False)


def refuse_infinite(estimator: Any, X: Any) -> None:
    """Raise an error that names the first column of `X` with NaN or an infinity, and the row."""
    names = getattr(estimator, "feature_names_in_", None)
    if (found := _first_infinite(X, names)) is not None:
        raise ValueError(
            f"Input X contains {found}. {type(estimator).__name__} needs finite numbers: drop such "
            "rows, or impute the values, for example with sklearn.impute.SimpleImputer"
        ) from None


def _first_infinite(X: Any, names: Any) -> str | None:
    """The first column of `X` with NaN or an infinity, and the row, in words; None without one."""
    X = canonical_csc(X) if sparse.issparse(X) else X
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
            name = column if names is None else repr(names[column])
            return f"{what}: column {name}, first at row {rows[0]}"
    return None


def read_sample_weight(sample_weight: Any, n_samples: int) -> np.ndarray:
    """Sample weights as float64; ones if `sample_weight` is None."""
    if sample_weight is None:
        return np.ones(n_samples)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight.shape == {weight.shape}, expected ({n_samples},): one weight per row"
        )
    bad = np.flatnonzero(~np.isfinite(weight) | (weight < 0))
    if len(bad):
        raise ValueError(
            f"sample_weight[{bad[0]}] is {weight[bad[0]]}; weights must be finite and at least 0"
        )
    if not np.any(weight > 0):
        raise ValueError("all sample weights are zero; at least one must be positive")
    check_weights(weight)
    return weight


def read_space(space: Any, n_samples: int) -> np.ndarray:
    """The rows of another space, one per row of the data, as a dense matrix of finite numbers."""
    if is_scan(space):
        raise ValueError("space must be an array or data frame in memory, not a scan")
    table = as_table(space)
    names = None if table is None else list(table.columns)
    numbers: Any
    if table is not None:
        numbers = table_to_array(table)
    else:
        numbers = _as_floats(space, accept_sparse=True, input_name="space", estimator="space")
    if numbers.shape[0] != n_samples:
        raise ValueError(
            f"space has {numbers.shape[0]} rows, but X has {n_samples}; pass one row of the space "
            "per row of X, in the same order"
        )
    if sparse.issparse(numbers):
        if numbers.shape[1] > MAX_SPARSE_SPACE:
            raise ValueError(
                f"space is sparse and has {numbers.shape[1]} columns; reduce them first, for "
                f"example by sklearn.decomposition.TruncatedSVD(100). Up to {MAX_SPARSE_SPACE} are "
                "stored as dense ones"
            )
        numbers = numbers.toarray()
    if (found := _first_infinite(numbers, names)) is not None:
        raise ValueError(f"space contains {found}. It needs finite numbers")
    refuse_large(numbers, names, what="space")
    check_spread(numbers, what="space")
    return numbers


def _read_numbers(estimator: Any, X: Any, reset: bool) -> Any:
    """`X` as a float array or a CSR or CSC matrix, with width and names checked."""
    if _is_plain(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    plain = read_plain_table(X)
    known = getattr(estimator, "feature_names_in_", None)
    if plain is not None and not reset and known is not None and plain.names == known.tolist():
        numbers = plain.numbers
    elif (table := as_table(X)) is not None:
        numbers = table_to_array(table) if plain is None else plain.numbers
        validate_data(estimator, with_names(X, table), reset=reset, skip_check_array=True)
        if reset and not numbers.flags.writeable:
            # Compiled code of fit then sees writeable arrays only.
            numbers = numbers.copy(order="F")
    else:
        how = {"accept_sparse": ("csc", "csr"), "ensure_min_samples": 0, "estimator": estimator}
        numbers = _as_floats(X, **how)
        validate_data(estimator, numbers, reset=reset, skip_check_array=True)
    if 0 in numbers.shape:
        check_array(numbers, estimator=estimator, accept_sparse=True)
    return numbers


def _is_plain(X: Any) -> bool:
    """Whether `X` is a non-empty float array or CSR or CSC matrix, used without conversion."""
    if not (type(X) is np.ndarray or (sparse.issparse(X) and X.format in ("csc", "csr"))):
        return False
    return X.ndim == 2 and X.dtype in (np.float64, np.float32) and 0 not in X.shape
