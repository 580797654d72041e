"""Whether numbers are finite, at the speed at which they can be read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pellucid._utils.threads import ThreadPool

_FEW = 2**14
"""Values for which a mask costs less than the care that a sum needs."""

_VALUES_A_THREAD = 2**20
"""Values worth a thread of their own."""


def all_finite(values: np.ndarray, count_threads: Callable[[], int]) -> bool:
    """Whether no value is NaN or infinite.

    If the sum is finite, all values are, and no mask was needed to see it.

    Parameters
    ----------
    values : ndarray of shape (n,) or (n, m)
    count_threads : callable
        Returns the number of threads; called only if one is not enough.
    """
    if values.size < _FEW:
        return bool(np.isfinite(values).all())

    def has_finite_sum(block: tuple[int, int]) -> bool:
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(values[slice(*block)].sum()))

    if values.size < 2 * _VALUES_A_THREAD:
        is_finite = has_finite_sum((0, len(values)))
    else:
        with ThreadPool(min(count_threads(), values.size // _VALUES_A_THREAD)) as pool:
            is_finite = all(pool.map(has_finite_sum, pool.blocks(len(values), 1)))
    return is_finite or bool(np.isfinite(values).all())
