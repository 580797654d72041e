"""Rows of a dense matrix as loops read them, row numbers sorted, and sample weights as integers.

Sums of floating-point numbers depend on the order of their terms; sums of integers do not. Weights
are therefore rounded once, to multiples of a power of two that is so small that rounding does not
matter, and then counted in units of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from pellucid._utils.arrays import ROWS_A_THREAD, filled
from pellucid._utils.threads import SERIAL, ThreadPool

_MIN_SORTED = 2**17
"""Fewest rows that are sorted by a thread of their own."""

_MIN_PART = 2**14
"""Fewest values that are sorted by a thread of their own, if others have to be read, too."""

_TWO_STEP_VALUES = 512
"""Values from which on `stable_argsort` is faster in two steps."""

MAX_COPIES = 2.0**32
"""Total up to which integer weights count as copies of rows.

The cost of a copy is rounded to 2**-61 of the cost of all rows. With more copies, the sum of what
is lost would be seen.
"""

_LOADED_VALUES = 2**13
"""Values of rows that loops load at a time, so that they stay in the first-level cache."""

_TASK_VALUES = 2**18
"""Values of rows that are worth a task of their own: waking a thread takes as long as the work on
some 50,000 values.
"""

EVERY_ROW = np.empty(0, dtype=np.int32)
"""Stands for all rows where loops may be given some."""


class FlatRows(NamedTuple):
    """A dense matrix of any layout as one array, so that loops are compiled once per dtype.

    Entry (i, j) is ``values[i * row_step + j * column_step]``. `is_loaded` says that `loaded_rows`
    is the matrix itself.
    """

    values: np.ndarray
    row_step: int
    column_step: int
    n_columns: int
    is_loaded: bool

    @classmethod
    def of(cls, X: np.ndarray) -> FlatRows:
        """Those of a matrix; they are a copy only if it is neither float64 nor float32."""
        is_loaded, size = _is_loaded(X), X.itemsize
        is_float = X.dtype == np.float64 or X.dtype == np.float32
        if not is_float or any(step < 0 or step % size for step in X.strides):
            X, size = np.ascontiguousarray(X, dtype=np.float64), 8
        row_step, column_step = X.strides[0] // size, X.strides[1] // size
        last = (X.shape[0] - 1) * row_step + (X.shape[1] - 1) * column_step
        n_values = 1 + last if X.size else 0
        values = as_strided(X, (n_values,), (size,), writeable=False)
        return cls(values, row_step, column_step, X.shape[1], is_loaded)


def _is_loaded(X: np.ndarray) -> bool:
    return len(X) > 0 and X.dtype == np.float64 and X.flags.carray


def loaded_rows(X: np.ndarray) -> np.ndarray:
    """What loops read rows from: `X` itself, or memory into which they load some at a time."""
    n_columns = X.shape[1]
    return X if _is_loaded(X) else np.empty((max(16, _LOADED_VALUES // n_columns), n_columns))


def rows_of_task(n_values: int) -> int:
    """Fewest rows of a task that works on so many values of each row."""
    return max(64, _TASK_VALUES // max(n_values, 1))


def divide_rows(rows: np.ndarray, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that go left and those that go right, in their order."""
    return rows.compress(left), rows.compress(~left)


def order_by(groups: np.ndarray, n_groups: int, pool: ThreadPool = SERIAL) -> np.ndarray:
    """Row numbers sorted by group 0 .. n_groups, those of a group in their order."""
    small = np.uint8 if n_groups <= 2**8 else np.uint16 if n_groups <= 2**16 else np.intp
    blocks = pool.blocks(len(groups), _MIN_SORTED, per_thread=1)

    def sort(block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        some = groups[slice(*block)].astype(small, copy=False)
        # NumPy sorts integers of up to 16 bits in linear time.
        order = np.argsort(some, kind="stable").astype(np.int32)
        if len(blocks) == 1:
            return order, order
        order += np.int32(block[0])
        return order, np.bincount(some, minlength=n_groups + 1)

    parts = pool.map(sort, blocks)
    if len(parts) == 1:
        return parts[0][0]
    sizes = np.array([counts for _, counts in parts])
    # Where the rows of each part begin that are in each group.
    starts = (np.cumsum(sizes.T.ravel()) - sizes.T.ravel()).reshape(sizes.T.shape).T
    order = np.empty(len(groups), dtype=np.int32)

    def store(i: int) -> None:
        at = 0
        for start, size in zip(starts[i].tolist(), sizes[i].tolist()):
            order[start : start + size] = parts[i][0][at : at + size]
            at += size

    pool.map(store, range(len(parts)))
    return order


def rows_by_group(groups: np.ndarray, n_groups: int, pool: ThreadPool = SERIAL) -> list[np.ndarray]:
    """The row numbers of each group 0 .. n_groups - 1, in their order."""
    ends = np.cumsum(count_groups(groups, n_groups, pool))
    return np.split(order_by(groups, n_groups, pool), ends[:-1])


def count_groups(groups: np.ndarray, n_groups: int, pool: ThreadPool) -> np.ndarray:
    """The number of rows of each group 0 .. n_groups - 1."""
    blocks = pool.blocks(len(groups), ROWS_A_THREAD, per_thread=1)
    counts = pool.map(lambda b: np.bincount(groups[slice(*b)], minlength=n_groups), blocks)
    return np.sum(counts, axis=0)


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


def sorted_together(arrays: Sequence[np.ndarray], pool: ThreadPool) -> list[np.ndarray]:
    """Arrays in ascending order of the last one, equal values in their order, by all threads.

    Each thread sorts a range of the values.
    """
    values = arrays[-1]
    n = len(values) // _MIN_PART if pool.is_parallel else 1
    if (n := min(n, 2 * pool.n_threads)) < 2:
        order = stable_argsort(values)
        return [array.take(order) for array in arrays]
    sample = np.sort(values[:: len(values) // (64 * n)])
    limits = np.unique(sample[len(sample) * np.arange(1, n) // n])
    ranges = list(zip([-np.inf, *limits], [*limits, np.inf]))

    def sort(ends: tuple[float, float]) -> list[np.ndarray]:
        places = np.flatnonzero((values > ends[0]) & (values <= ends[1]))
        order = places.take(stable_argsort(values.take(places)))
        return [array.take(order) for array in arrays]

    return [np.concatenate(parts) for parts in zip(*pool.map(sort, ranges))]


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
    def equal(cls, n_samples: int, pool: ThreadPool = SERIAL) -> Weights:
        """Weight 1 for every row."""
        units, values = (filled(n_samples, t, pool, lambda rows: 1) for t in (np.int64, np.float64))
        return cls(units, 1.0, values, True, True)

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
        return self.units[: len(rows)] if self.are_ones else self.units[rows]

    def of_units(self, units: int) -> int | float:
        """The weight of a number of units: an integer if all weights are integers."""
        return int(units) if self.are_integers else float(units) / self.units_per_weight

    def total_of(self, rows: np.ndarray) -> float:
        """Total weight of the given rows, independent of their order."""
        if self.are_ones:
            return float(len(rows))
        return float(self.units[rows].sum()) / self.units_per_weight
