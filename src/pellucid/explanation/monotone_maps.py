"""Monotone maps of single columns, as scalers and other transformers apply them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

_LARGEST = float(np.finfo(np.float64).max)
_POWER_LIMIT = 1e25
"""Values beyond this, and nearer to 0 than its inverse, are clipped before powers are taken."""

_FUNCTIONS = {
    None: True,
    np.arcsinh: True,
    np.arctan: True,
    np.cbrt: True,
    np.exp: True,
    np.exp2: True,
    np.expm1: True,
    np.log: True,
    np.log10: True,
    np.log1p: True,
    np.log2: True,
    np.negative: False,
    np.sinh: True,
    np.sqrt: True,
    np.tanh: True,
}
"""Functions that are increasing (True) or decreasing (False) wherever they are defined."""


@dataclass(frozen=True)
class MonotoneMap:
    """An increasing or decreasing map of one column onto another."""

    function: Callable[[np.ndarray], np.ndarray]
    is_increasing: bool = True

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """The map; where it overflows or is not defined, the largest or smallest number."""
        with np.errstate(all="ignore"):
            mapped = np.asarray(self.function(values), dtype=np.float64)
        # Logarithms and roots are not defined for small values, whose images count as smallest.
        below = -_LARGEST if self.is_increasing else _LARGEST
        return np.clip(np.where(np.isnan(mapped), below, mapped), -_LARGEST, _LARGEST)


def is_increasing_map(transformer: Any) -> bool | None:
    """Whether a transformer maps each column by an increasing (or decreasing: False) function.

    None if it does not map the columns one by one, or not monotonically.
    """
    from sklearn import preprocessing as p

    if isinstance(
        transformer,
        (
            p.Binarizer,
            p.MaxAbsScaler,
            p.MinMaxScaler,
            p.PowerTransformer,
            p.QuantileTransformer,
            p.RobustScaler,
            p.StandardScaler,
        ),
    ):
        return True
    if isinstance(transformer, p.KBinsDiscretizer):
        return True if transformer.encode == "ordinal" else None
    if isinstance(transformer, p.FunctionTransformer) and not transformer.kw_args:
        function = transformer.func
        return _FUNCTIONS.get(function) if function is None or callable(function) else None
    return None


def column_function(transformer: Any, position: int) -> Callable[[np.ndarray], np.ndarray]:
    """The function that a transformer applies to one of its columns."""
    from sklearn import preprocessing as p

    if isinstance(transformer, p.FunctionTransformer):
        return (lambda values: values) if transformer.func is None else transformer.func
    lowest, highest = -_LARGEST, _LARGEST
    if isinstance(transformer, p.PowerTransformer):
        # Powers overflow, and Box-Cox is defined for positive values only.
        highest = _POWER_LIMIT
        lowest = 1 / highest if transformer.method == "box-cox" else -highest

    def function(values: np.ndarray) -> np.ndarray:
        rows = np.ones((len(values), transformer.n_features_in_))
        rows[:, position] = np.clip(values, lowest, highest)
        with warnings.catch_warnings():
            # Missing column names, and overflow in the formula of the transformer.
            warnings.simplefilter("ignore")
            return np.asarray(transformer.transform(rows))[:, position]

    return function
