"""Sample weights as integers.

Sums of floating-point numbers depend on the order of their terms; sums of integers do not. Weights
are therefore rounded once, to multiples of a power of two that is so small that rounding does not
matter, and then counted in units of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Weights:
    """Sample weights as integer multiples of a unit.

    Attributes
    ----------
    units : ndarray of shape (n_samples,), int64
        The weights, each ``round(values * units_per_weight)``.
    units_per_weight : float
        Number of units in a weight of 1, a power of two.
    values : ndarray of shape (n_samples,), float64
        The weights as they were given.
    are_ones : bool
        Whether every weight is 1.
    """

    units: np.ndarray
    units_per_weight: float
    values: np.ndarray
    are_ones: bool

    @classmethod
    def equal(cls, n_samples: int) -> Weights:
        """Weight 1 for every row."""
        return cls(np.ones(n_samples, dtype=np.int64), 1.0, np.ones(n_samples), True)

    @classmethod
    def of(cls, sample_weight: np.ndarray) -> Weights:
        """Integer weights are kept; fractions are rounded to 2**-52 of the total weight."""
        if (sample_weight == 1).all():
            return cls.equal(len(sample_weight))
        total = sample_weight.sum()
        are_integers = np.all(sample_weight == np.rint(sample_weight)) and total < 2.0**52
        per_weight = 1.0 if are_integers else 2.0 ** (51 - np.frexp(total)[1])
        units = np.rint(sample_weight * per_weight).astype(np.int64)
        return cls(units, per_weight, sample_weight, False)

    @property
    def are_integers(self) -> bool:
        """Whether every weight is an integer, so that it is equivalent to repeating the row."""
        return self.units_per_weight == 1.0

    def units_of(self, rows: np.ndarray) -> np.ndarray:
        """Units of the given rows."""
        return self.units[: len(rows)] if self.are_ones else self.units[rows]

    def total_of(self, rows: np.ndarray) -> float:
        """Total weight of the given rows, independent of their order."""
        if self.are_ones:
            return float(len(rows))
        return float(self.units[rows].sum()) / self.units_per_weight
