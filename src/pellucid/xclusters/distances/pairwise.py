"""Distances of all rows to all rows, or of new rows to some, by name or by a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pellucid._utils.progress import Progress
from pellucid._utils.threads import ThreadPool, count_threads
from pellucid.xclusters.distances.categorical import Gower, Jaccard
from pellucid.xclusters.distances.dtw import Warping
from pellucid.xclusters.distances.matrix import (
    check_matrix,
    load_matrix,
    require_memory,
    save_matrix,
)
from pellucid.xclusters.distances.numeric import Angle, Euclidean, Function, Manhattan, Measure

__all__ = ["METRICS", "between", "check_matrix", "load_matrix", "pairwise", "save_matrix"]

METRICS = ("cosine", "dtw", "euclidean", "gower", "jaccard", "manhattan", "precomputed")
"""Distances that are known by name."""

_STEPS = 20
"""Lines that tell how far a matrix has come, when asked to."""


def pairwise(
    X: Any,
    metric: str | Callable[[Any, Any], float],
    *,
    window: int | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> np.ndarray:
    """Distances of all rows to all rows.

    The result is symmetric to the last bit, zero on the diagonal, and the same whatever the number
    of threads. Whether it fits into memory is seen before it is made.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), data frame, or list of 1-D arrays
        Numbers for "euclidean", "manhattan" and "cosine"; series, one a row or one an entry of
        the list, for "dtw"; categories for "jaccard"; numbers and categories for "gower".
    metric : str or callable
        - "dtw": dynamic time warping, the root of the sum of squared differences along the best
          alignment of two series, whose lengths may differ. Needs the package dtaidistance.
        - "euclidean", "manhattan": of rows of equal length.
        - "cosine": 1 - cosine of the angle; rows of zeros are at 1 from all but each other.
        - "jaccard": of the sets of (column, value) pairs, 1 - shared ÷ all. A missing value is no
          pair.
        - "gower": mean over columns of the absolute difference as a share of the column's range
          (0 in a constant column), or of 0 and 1 for equal and different categories. A column
          counts for the pairs of rows that both have a value in it; rows that share none are at
          1. Text, boolean, date and categorical columns are categories; integer codes are numbers
          unless they are turned into text.
        - "precomputed": `X` is the matrix, and is checked.
        - a function of two rows that returns a number of at least 0, called once for each pair.
    window : int, optional
        For "dtw": steps by which two series may be shifted against each other at the most, in
        addition to the difference of their lengths. Without it, any; 0 compares series of equal
        length step by step.
    n_jobs : int, optional
        Number of threads; all processors when left out.
    verbose : int, default=0
        Tell how far it is.

    Returns
    -------
    ndarray of shape (n_samples, n_samples), float64
        Of the given type and memory with "precomputed".

    Examples
    --------
    >>> from pellucid.xclusters import pairwise
    >>> pairwise([["a", "x"], ["a", "y"], ["b", "z"]], "jaccard").round(3)
    array([[0.   , 0.667, 1.   ],
           [0.667, 0.   , 1.   ],
           [1.   , 1.   , 0.   ]])
    """
    if isinstance(metric, str) and metric == "precomputed":
        return check_matrix(X, n_jobs=n_jobs)
    measure = find_measure(metric, window)
    rows = measure.read(X, "X")
    n = len(rows)
    require_memory(n, n)
    distances = np.zeros((n, n))
    progress = Progress(f"distances ({measure.name})", _STEPS, verbose)
    with ThreadPool(count_threads(n_jobs)) as pool:

        def work(tile: tuple[int, int, int, int]) -> None:
            top, bottom, left, right = tile
            part = measure.tile(rows, rows, tile, same=True)
            if top == left:
                # Rounding may differ between the halves: the upper one counts.
                part = np.triu(part, 1)
                distances[top:bottom, top:bottom] = part[:, : bottom - top].T
                distances[top:bottom, left:right] += part
                distances[bottom:right, top:bottom] = part[:, bottom - top :].T
            else:
                distances[top:bottom, left:right] = part
                distances[left:right, top:bottom] = part.T

        _work_through(measure, rows, rows, True, pool, work, progress)
    return distances


def between(
    X: Any,
    Y: Any,
    metric: str | Callable[[Any, Any], float],
    *,
    window: int | None = None,
    n_jobs: int | None = None,
    ranges: np.ndarray | None = None,
) -> np.ndarray:
    """Distances of the rows of `X` to those of `Y`.

    Parameters
    ----------
    X, Y : as for `pairwise`
        With "precomputed", `X` is the matrix, and `Y` only says how many columns it has.
    metric, window, n_jobs : as for `pairwise`
    ranges : array of shape (n_features,), optional
        For "gower": ranges of the columns, from `column_ranges` of the rows that distances were
        first taken of; those of `X` and `Y` together when left out.

    Returns
    -------
    ndarray of shape (n_rows_of_X, n_rows_of_Y), float64
    """
    if isinstance(metric, str) and metric == "precomputed":
        return _check_rectangle(X, Y)
    measure = find_measure(metric, window, ranges)
    rows, others = measure.read(X, "X"), measure.read(Y, "Y")
    require_memory(len(rows), len(others))
    distances = np.empty((len(rows), len(others)))
    with ThreadPool(count_threads(n_jobs)) as pool:

        def work(tile: tuple[int, int, int, int]) -> None:
            top, bottom, left, right = tile
            distances[top:bottom, left:right] = measure.tile(rows, others, tile, same=False)

        _work_through(measure, rows, others, False, pool, work, Progress("", _STEPS, 0))
    return distances


def column_ranges(X: Any) -> np.ndarray:
    """Range of each column as "gower" takes it; NaN for columns of categories."""
    measure = Gower()
    measure.read(X, "X")
    return measure.ranges


def find_measure(metric: Any, window: int | None = None, ranges: Any = None) -> Measure:
    """The distance of a name, or of a function."""
    if window is not None and metric != "dtw":
        raise ValueError(f"window={window} is for metric='dtw'; leave it out with {metric!r}")
    if callable(metric):
        return Function(metric)
    if metric == "dtw":
        return Warping(window)
    if metric == "gower":
        return Gower(ranges)
    known = {"euclidean": Euclidean, "manhattan": Manhattan, "cosine": Angle, "jaccard": Jaccard}
    if metric not in known:
        raise ValueError(
            f"metric={metric!r} is not known; use one of {', '.join(map(repr, METRICS))} or a "
            "function of two rows"
        )
    return known[metric]()


def _tiles(
    n_rows: int, n_columns: int, shape: tuple[int, int], same: bool
) -> Iterator[tuple[int, int, int, int]]:
    """Parts of a matrix, or of its upper half."""
    height, width = shape
    for top in range(0, n_rows, height):
        bottom = min(top + height, n_rows)
        for left in range(top if same else 0, n_columns, width):
            yield top, bottom, left, min(left + width, n_columns)


def _work_through(
    measure: Measure,
    rows: Any,
    others: Any,
    same: bool,
    pool: ThreadPool,
    work: Callable,
    progress: Progress,
) -> None:
    """Tile by tile, some at a time, so that one can tell how far it is and Ctrl-C is heard."""
    shape = measure.tile_shape(rows, others, pool.n_threads)
    tiles = list(_tiles(len(rows), len(others), shape, same))
    at_once = 4 * pool.n_threads if measure.releases_lock else 1
    for begin in range(0, len(tiles), at_once):
        some = tiles[begin : begin + at_once]
        if measure.releases_lock:
            pool.map(work, some)
        else:
            with measure.threads(pool.n_threads):
                work(some[0])
        done = begin + len(some)
        while progress.done < _STEPS * done // len(tiles):
            progress.step()


def _check_rectangle(X: Any, Y: Any) -> np.ndarray:
    distances, n = np.asarray(X, dtype=np.float64), len(Y)
    if distances.ndim != 2 or distances.shape[1] != n:
        raise ValueError(
            f"X has shape {distances.shape}; with metric='precomputed' it holds the distances of "
            f"new rows to the {n} rows that were fitted, one column each"
        )
    wrong = np.argwhere(~(np.isfinite(distances) & (distances >= 0)))
    if len(wrong):
        i, j = wrong[0]
        raise ValueError(
            f"X[{i}, {j}] is {distances[i, j]:.6g}; distances are finite and at least 0"
        )
    return distances
