"""Means of groups of rows from sums of integers, which depend on no order, storage or partition.

Integer weights equal repeated rows. `math.fsum` is exact too, but it is a Python loop and its
partial sums cannot be merged between partitions.
"""

from __future__ import annotations

from functools import reduce
from sys import float_info
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid._core import kernels
from pellucid._core.data.arrays import EVERY_ROW, MAX_COPIES, FlatRows, loaded_rows, rows_of_task
from pellucid._utils.threads import SERIAL, ThreadPool

_BLOCK_COLUMNS = 8
"""Least number of columns per task: a cache line of a row-major matrix."""

_COUNTED_WEIGHTS = 2**17
"""Weights that are added up together; fixed, so that sums do not depend on the threads."""

_MAX_EXACT_ROWS = 2**21
"""Rows that `dense_sums` adds up exactly; a weight that is a count counts as so many rows."""


def group_means(
    X: Any, labels: np.ndarray, weight: np.ndarray, n_groups: int, pool: ThreadPool = SERIAL
) -> np.ndarray:
    """Weighted mean of each group of rows; NaN for an empty group. Label -1 is in no group."""
    starts = range(0, len(weight), _COUNTED_WEIGHTS)
    parts = pool.map(lambda s: LargestWeight.of(weight[s : s + _COUNTED_WEIGHTS]), starts)
    terms = Terms.of(_largest_values(X, weight, pool), reduce(LargestWeight.merge, parts))
    return GroupSums.of(X, labels, weight, n_groups, terms, pool).means()


def _largest_values(X: Any, weight: np.ndarray, pool: ThreadPool) -> np.ndarray:
    """Largest absolute value of each column in the rows that have a weight."""
    if sparse.issparse(X):
        has_weight = weight > 0
        if not has_weight.any():
            return np.zeros(X.shape[1])
        counted = X if has_weight.all() else X.tocsr()[has_weight]
        high, low = counted.max(axis=0).toarray(), counted.min(axis=0).toarray()
        return np.maximum(high, -low).astype(np.float64).ravel()

    flat = FlatRows.of(X)

    def work(block: tuple[int, int]) -> np.ndarray:
        largest = np.zeros(flat.n_columns)
        scratch = loaded_rows(X)
        kernels.dataset.largest_values(flat, EVERY_ROW, *block, weight, scratch, largest)
        return largest

    return np.max(pool.map(work, pool.blocks(X.shape[0], rows_of_task(X.shape[1]))), axis=0)


class LargestWeight(NamedTuple):
    """Largest weight of some rows, their total, and whether all are integers."""

    largest: float
    total: float
    are_integers: bool

    @classmethod
    def of(cls, weight: np.ndarray) -> LargestWeight:
        are_integers = bool((weight == np.rint(weight)).all())
        return cls(float(weight.max(initial=0.0)), float(weight.sum()), are_integers)

    def merge(self, other: LargestWeight) -> LargestWeight:
        largest, total = max(self.largest, other.largest), self.total + other.total
        return LargestWeight(largest, total, self.are_integers and other.are_integers)


class Terms(NamedTuple):
    """How weighted values become integers.

    A term of a column, or of the weight alone (the last), is less than 2**e for its exponent e. If
    `are_counts`, a row of weight w is w equal terms. Otherwise it is one term, w times the value.
    `are_single` says that no row is more than one term.
    """

    exponents: np.ndarray
    are_counts: bool
    are_single: bool

    @classmethod
    def of(cls, largest: np.ndarray, weight: LargestWeight) -> Terms:
        """Those of columns with some largest absolute values."""
        is_small = weight.largest <= _MAX_EXACT_ROWS and weight.total <= MAX_COPIES
        are_counts = weight.are_integers and is_small
        with np.errstate(under="ignore"):
            bounds = np.append(largest, 1.0) * (1.0 if are_counts else weight.largest)
        # A product may be rounded up to a power of two; a value alone keeps all its digits.
        exponents = np.frexp(bounds)[1].astype(np.int64) + (not are_counts)
        # The sum of all terms is at most total / largest times the largest term.
        n_terms = weight.total if are_counts else weight.total / max(weight.largest, float_info.min)
        exponents += max(0, int(np.frexp(n_terms / MAX_COPIES)[1]))
        return cls(exponents, are_counts, not are_counts or weight.largest <= 1)

    def blocks(self, weight: np.ndarray) -> list[slice]:
        """Blocks of rows that `dense_sums` adds up exactly."""
        ends = np.arange(_MAX_EXACT_ROWS, len(weight), _MAX_EXACT_ROWS)
        if not self.are_single and weight.sum() > 2 * _MAX_EXACT_ROWS:
            # A block has less than the number of rows of its multiple and one more row.
            multiple = np.cumsum(weight) // _MAX_EXACT_ROWS
            ends = np.flatnonzero(np.diff(multiple)) + 1
        bounds = [0, *ends.tolist(), len(weight)]
        return [slice(begin, end) for begin, end in zip(bounds, bounds[1:])]


class GroupSums(NamedTuple):
    """Weighted sums of the values of groups of rows, as integers: (n_groups, n_features + 1).

    The sum is (high + low / 2**31) 2**(e - 30), with the exponents e of `terms`. The last column is
    the weight alone.
    """

    high: np.ndarray
    low: np.ndarray
    terms: Terms

    @classmethod
    def of(
        cls,
        X: Any,
        labels: np.ndarray,
        weight: np.ndarray,
        n_groups: int,
        terms: Terms,
        pool: ThreadPool = SERIAL,
    ) -> GroupSums:
        """Sums of some rows; label -1 is in no group."""
        loops = kernels.dataset
        n_features, are_counts = X.shape[1], terms.are_counts
        high, low = np.zeros((2, n_groups, n_features + 1), dtype=np.int64)
        # The scale may exceed the largest number where a column has only tiny ones.
        scale = np.ldexp(1.0, np.minimum(30 - terms.exponents, 1000))
        columns, dense = slice(None), X
        if sparse.issparse(X):
            by_group = labels, weight, are_counts, scale, high, low
            storage = X.data, X.indices, X.indptr
            blocks = pool.blocks(n_features, _BLOCK_COLUMNS)
            pool.map(lambda block: loops.sparse_sums(*storage, *block, *by_group), blocks)
            columns, dense = slice(n_features, None), np.empty((len(labels), 0))
        flat = FlatRows.of(dense)

        def work(block: tuple[int, int]) -> np.ndarray:
            sums = np.zeros((2, n_groups, flat.n_columns + 1))
            by_group = labels, weight, are_counts, scale[columns]
            loops.dense_sums(flat, EVERY_ROW, *block, *by_group, loaded_rows(dense), *sums)
            sums[1] *= 2.0**31
            return sums.astype(np.int64)

        blocks = [
            (exact.start + begin, exact.start + end)
            for exact in terms.blocks(weight)
            for begin, end in pool.blocks(exact.stop - exact.start, rows_of_task(flat.n_columns))
        ]
        for sums in pool.map(work, blocks):
            high[:, columns] += sums[0]
            low[:, columns] += sums[1]
        return cls(high, low, terms)

    def merge(self, other: GroupSums) -> GroupSums:
        """Sums of the rows of both, of the same terms."""
        return GroupSums(self.high + other.high, self.low + other.low, self.terms).normalized()

    def normalized(self) -> GroupSums:
        """The same sums with low parts of at most 2**30, so that they do not overflow."""
        carry = (self.low + 2**30) >> 31
        return GroupSums(self.high + carry, self.low - (carry << 31), self.terms)

    def means(self) -> np.ndarray:
        """Mean of each group; NaN for groups without weight.

        The mean of equal values of equal weight is that value: what is left of the sum after a
        first division is divided once more.
        """
        same = self.normalized()
        high, low = same.high.astype(np.float64), same.low * 2.0**-31
        sums = high + low
        rest = (high - sums) + low
        weight, weight_rest = sums[:, -1:], rest[:, -1:]
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums / weight
            product, error = _exact_product(means, weight)
            means += ((sums - product) - error + rest - means * weight_rest) / weight
        shift = np.minimum(30 - self.terms.exponents, 1000)
        return np.ldexp(means[:, :-1], shift[-1] - shift[:-1])


def _exact_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The product and its rounding error (Dekker's algorithm)."""

    def halves(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        scaled = 134217729.0 * x  # 2**27 + 1
        high = scaled - (scaled - x)
        return high, x - high

    product = a * b
    (a_high, a_low), (b_high, b_low) = halves(a), halves(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
