"""Maps of one column onto another that keep the order of its numbers, or turn it round."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

_LARGEST = np.finfo(np.float64).max
_LARGE_POWER = 1e25
"""Beyond this, and nearer to 0 than one over it, powers are not looked at."""

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
"""Functions that keep the order of numbers (or turn it round: False) wherever they are defined."""


@dataclass(frozen=True)
class Step:
    """A map of one column onto another that keeps the order of numbers, or turns it round."""

    function: Callable[[np.ndarray], np.ndarray]
    is_rising: bool = True

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """The map; what is out of its reach becomes the largest or the smallest number."""
        with np.errstate(all="ignore"):
            mapped = np.asarray(self.function(values), dtype=np.float64)
        # Logarithms and roots are not defined for what lies below; so low it stays.
        below = -_LARGEST if self.is_rising else _LARGEST
        return np.clip(np.where(np.isnan(mapped), below, mapped), -_LARGEST, _LARGEST)


def direction(transformer: Any) -> bool | None:
    """Whether a transformer keeps the order of each column by itself; None if it does neither."""
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


def one_column(transformer: Any, position: int) -> Callable[[np.ndarray], np.ndarray]:
    """What a transformer does to one of its columns."""
    from sklearn import preprocessing as p

    if isinstance(transformer, p.FunctionTransformer):
        return (lambda values: values) if transformer.func is None else transformer.func
    least, most = -_LARGEST, _LARGEST
    if isinstance(transformer, p.PowerTransformer):
        # It stops at powers that are too large for a float, and one kind at what is not positive.
        most = _LARGE_POWER
        least = 1 / most if transformer.method == "box-cox" else -most

    def function(values: np.ndarray) -> np.ndarray:
        rows = np.ones((len(values), transformer.n_features_in_))
        rows[:, position] = np.clip(values, least, most)
        with warnings.catch_warnings():
            # The names of the columns, and numbers too large for some formula.
            warnings.simplefilter("ignore")
            return np.asarray(transformer.transform(rows))[:, position]

    return function
