"""Blocks of rows of a dense matrix; row numbers divided and sorted.

Sample weights as integers.

Sums of floating-point numbers depend on the order of their terms; sums of integers do not. Weights
are therefore rounded once, to multiples of a power of two that is so small that rounding does not
matter, and then counted in units of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import fsum

import numpy as np

_COPIED_ROWS = 2048
"""Rows per block if they must be copied: few enough to stay in cache."""

_TWO_STEP_VALUES = 512
"""Values from which on `stable_argsort` is faster in two steps."""

MAX_COPIES = 2.0**32
"""Total up to which integer weights count as copies of rows.

The cost of a copy is rounded to 2**-61 of the cost of all rows. With more copies, the sum of what
is lost would be seen.
"""


def row_major(
    X: np.ndarray,
    begin: int,
    end: int,
    columns: slice = slice(None),
) -> Iterator[tuple[slice, np.ndarray]]:
    """Rows begin .. end (and some columns) in row-major float64 blocks, each with its row range.

    Rows that must be copied come in blocks that stay in cache, others in a single block.
    """
    is_ready = X.flags.c_contiguous and X.dtype == np.float64 and columns == slice(None)
    step = end - begin if is_ready else _COPIED_ROWS
    for start in range(begin, end, max(step, 1)):
        rows = slice(start, min(start + step, end))
        yield rows, np.ascontiguousarray(X[rows, columns], dtype=np.float64)


def divide_rows(rows: np.ndarray, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that go left and those that go right, in their order."""
    return rows.compress(left), rows.compress(~left)


def order_by(groups: np.ndarray, n_groups: int) -> np.ndarray:
    """Row numbers sorted by group 0 .. n_groups, those of a group in their order."""
    small = np.uint8 if n_groups <= 2**8 else np.uint16 if n_groups <= 2**16 else np.intp
    # NumPy sorts integers of up to 16 bits in linear time.
    return np.argsort(groups.astype(small, copy=False), kind="stable").astype(np.int32)


def stable_argsort(values: np.ndarray) -> np.ndarray:
    """Positions of the values in ascending order, equal ones in their order.

    NumPy sorts 16-bit integers and nearly sorted values in linear time. So the values are sorted
    by their position in 2**16 equal parts of the range first, and then by themselves.
    """
    if len(values) >= _TWO_STEP_VALUES:
        low = float(values.min())
        span = float(values.max()) - low
        scale = 65535 / span if span > 0 else 0.0
        if 0 < scale < np.inf:
            nearly = ((values - low) * scale).astype(np.uint16).argsort(kind="stable")
            return nearly.take(values.take(nearly).argsort(kind="stable"))
    return values.argsort(kind="stable")


@dataclass(frozen=True)
class Weights:
    """Sample weights as integer multiples of a unit.

    `units` are ``round(values * units_per_weight)``, where `units_per_weight` is a power of two.
    `values` are the weights as they were given; 0 if less than half a unit. `are_integers` says
    whether every weight is an integer and their total is at most `MAX_COPIES`, so that a weight is
    equivalent to repeating the row.
    """

    units: np.ndarray
    units_per_weight: float
    values: np.ndarray
    are_ones: bool
    are_integers: bool

    @classmethod
    def equal(cls, n_samples: int) -> Weights:
        """Weight 1 for every row."""
        return cls(np.ones(n_samples, dtype=np.int64), 1.0, np.ones(n_samples), True, True)

    @classmethod
    def of(cls, sample_weight: np.ndarray) -> Weights:
        """Integer weights are kept, up to a total of `MAX_COPIES`; others are rounded to a power of
        two times an integer.

        The power of two is between 2**-51 and 2**-50 of the total weight. Rows whose weight is
        rounded to 0 have weight 0 everywhere.
        """
        if (sample_weight == 1).all():
            return cls.equal(len(sample_weight))
        total = sample_weight.sum()
        if (sample_weight == np.rint(sample_weight)).all() and total <= MAX_COPIES:
            return cls(sample_weight.astype(np.int64), 1.0, sample_weight, False, True)
        if np.frexp(total * (1 - 2.0**-30))[1] != np.frexp(total * (1 + 2.0**-30))[1]:
            total = fsum(sample_weight)  # rounding errors, which depend on the order, would matter
        per_weight = 2.0 ** (51 - np.frexp(total)[1])
        units = np.rint(sample_weight * per_weight).astype(np.int64)
        return cls(units, per_weight, np.where(units > 0, sample_weight, 0.0), False, False)

    @cached_property
    def units_per_row(self) -> float:
        """Units that count as one row: a weight of 1 if all are integers, else the mean weight.

        Both do not change when fractional weights are multiplied by a power of two.
        """
        return 1.0 if self.are_integers else float(self.units.sum() / (self.units > 0).sum())

    @cached_property
    def total(self) -> float:
        """Total weight, independent of the order of the rows."""
        return float(self.units.sum()) / self.units_per_weight

    def units_of(self, rows: np.ndarray) -> np.ndarray:
        """Units of the given rows."""
        return self.units[: len(rows)] if self.are_ones else self.units[rows]

    def of_units(self, units: int) -> int | float:
        """The weight of a number of units: an integer if all weights are integers."""
        return int(units) if self.are_integers else float(units) / self.units_per_weight

    def total_of(self, rows: np.ndarray) -> float:
        """Total weight of the given rows, independent of their order."""
        if self.are_ones:
            return float(len(rows))
        return float(self.units[rows].sum()) / self.units_per_weight
