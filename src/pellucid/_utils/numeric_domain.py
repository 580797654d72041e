"""The numbers that `fit` accepts, for all estimators; described in docs/numeric_domain.md.

Costs are squares of differences times weights, sums of them over all rows, and squares of such
sums. The limits are chosen so that none of these overflows or underflows in float64, whatever the
number of rows. Inside the limits every result is finite.

Subnormal differences between rows are no problem as long as some other difference is not small:
they are far below the rounding error of the total cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

# Largest absolute value of a number of X, and of a coordinate of a reference center.
MAX_VALUE = 1e100
MIN_SPREAD = 1e-100  # least range of the widest column of X, unless all columns are constant
# Limits of the largest sample weight. Other weights may be as small as they like.
MIN_WEIGHT, MAX_WEIGHT = 1e-30, 1e30
# Rows of which two usually differ by more than `MIN_SPREAD`: a tenth of the time of a fit.
_N_SAMPLED = 256


class OutOfDomain(Exception):
    """Some number is NaN, infinite or too large, where that had not been looked for before."""


def are_in_domain(values: np.ndarray) -> bool:
    """Whether all values are finite and at most `MAX_VALUE` in absolute value."""
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    return low >= -MAX_VALUE and high <= MAX_VALUE  # NaN fails both comparisons


def check_values(X: Any, names: Sequence[str] | None = None) -> None:
    """Raise a ValueError if a finite number is too large, or if all differences are too small."""
    if not are_in_domain(X.data if sparse.issparse(X) else X):
        refuse_large(X, names)
    check_spread(X)


def refuse_large(X: Any, names: Sequence[str] | None = None, what: str = "Input X") -> None:
    """Raise a ValueError that names the first column with a number above `MAX_VALUE`, if any."""
    for column, (low, high) in enumerate(zip(*_extremes(X))):
        largest = low if abs(low) > abs(high) else high
        if abs(largest) > MAX_VALUE:
            name = column if names is None else repr(names[column])
            raise ValueError(too_large(what, largest, name)) from None


def too_large(what: str, value: float, column: object) -> str:
    """Message for a number above `MAX_VALUE` in a column of some data."""
    return (
        f"{what} contains {value:.4g} in column {column}: numbers of more than {MAX_VALUE:g} are "
        "too large to square and add up; divide the column by a constant, or drop such rows"
    )


def check_spread(X: Any, what: str = "X") -> None:
    """Raise a ValueError if rows differ, but in no column by as much as `MIN_SPREAD`."""
    if not sparse.issparse(X):
        some = X[:: -(-X.shape[0] // _N_SAMPLED)]
        if np.abs(some - some[0]).max() >= MIN_SPREAD:
            return
    low, high = _extremes(X)
    widest = float((high - low).max())
    if 0 < widest < MIN_SPREAD:
        raise ValueError(
            f"the rows of {what} differ by at most {widest:.4g} in every column, too little to "
            f"square in float64: the values of some column must differ by {MIN_SPREAD:g} or more; "
            "multiply the columns by a constant or standardize them"
        )


def check_weights(weight: np.ndarray, name: str = "sample_weight") -> None:
    """Raise a ValueError if the largest of some non-negative weights is too small or too large."""
    largest = weight.max()
    if not MIN_WEIGHT <= largest <= MAX_WEIGHT:
        raise ValueError(
            f"the largest {name} is {largest:.4g}; it must be between {MIN_WEIGHT:g} and "
            f"{MAX_WEIGHT:g}: multiply all weights by the same number, which changes no cluster"
        )


def _extremes(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest number of each column."""
    extremes = X.min(axis=0), X.max(axis=0)
    low, high = (e.toarray().ravel() for e in extremes) if sparse.issparse(X) else extremes
    return low.astype(np.float64), high.astype(np.float64)
