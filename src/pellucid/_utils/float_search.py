"""All float64 numbers, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

_AT_ONCE = 1024
"""Numbers that are tried at once in looking for one."""


def last_where(holds: Callable[[np.ndarray], np.ndarray]) -> float:
    """The largest float64 for which something holds that holds for all smaller ones too.

    Infinite, with its sign, where it holds for all or for none. Floats are counted off, so that
    there is nothing between one and the next.

    Parameters
    ----------
    holds : callable
        Maps an array of numbers to booleans.

    Examples
    --------
    >>> from pellucid._utils.float_search import last_where
    >>> last_where(lambda x: (x - 5) / 2 <= 0.1)
    5.199999999999999
    """
    last = int(np.finfo(np.float64).max.view(np.int64))
    first, last = -last, last
    if not holds(_floats([first]))[0]:
        return -np.inf
    if holds(_floats([last]))[0]:
        return np.inf
    while last - first > 1:
        step = max((last - first) // _AT_ONCE, 1)
        tried = range(first + step, last, step)
        n_held = int(np.argmin(np.append(holds(_floats(tried)), False)))
        first, last = (
            tried[n_held - 1] if n_held else first,
            tried[n_held] if n_held < len(tried) else last,
        )
    return float(_floats([first])[0])


def _floats(numbers: Iterable[int]) -> np.ndarray:
    """The float64 at each place in the order of all of them, 0 being at 0."""
    places = np.array(list(numbers), dtype=np.int64)
    return np.copysign(np.abs(places).view(np.float64), places)
