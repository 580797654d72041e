"""Distance matrices of all rows, and distances of new rows to given rows."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import numpy as np

from pellucid._utils.progress import Progress
from pellucid._utils.threads import ThreadPool, count_threads
from pellucid.xclusters.distances.categorical import Gower, Jaccard
from pellucid.xclusters.distances.matrix import (
    check_matrix,
    load_matrix,
    require_memory,
    save_matrix,
)
from pellucid.xclusters.distances.numeric import (
    DTW,
    SCIPY_BOOLEAN_METRICS,
    SCIPY_METRICS,
    CallableDistance,
    Cosine,
    Distance,
    NumericDistance,
    ScipyDistance,
)
from pellucid.xclusters.rows import count_rows

__all__ = ["METRICS", "between", "check_matrix", "load_matrix", "pairwise", "save_matrix"]

METRICS = ("cosine", "dtw", "euclidean", "gower", "jaccard", "manhattan", "precomputed")
"""Names of the distances."""

_STEPS = 20
"""Number of progress lines per matrix."""


def pairwise(
    X: Any,
    metric: str | Callable[[Any, Any], float],
    *,
    window: int | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> np.ndarray:
    """Compute the distance matrix of all rows.

    The result is exactly symmetric, has a zero diagonal, and does not depend on the number of
    threads. A MemoryError is raised in advance if it does not fit into memory.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), data frame, or list of 1-D arrays
        Numbers for "euclidean", "manhattan" and "cosine"; series, one per row or one per list
        item, for "dtw"; categories for "jaccard"; numbers and categories for "gower".
    metric : str or callable
        - "dtw": dynamic time warping, the square root of the sum of squared differences along the
          best alignment of two series, which may have different lengths.
        - "euclidean", "manhattan": for rows of equal length.
        - "cosine": 1 - cosine similarity. Rows of zeros have distance 0 from each other and 1 from
          all other rows.
        - "jaccard": ``1 - |A ∩ B| / |A ∪ B|`` of the sets of (column, value) pairs. Missing
          values are not part of the sets.
        - "gower": mean over the columns of ``|x - y| / range`` for numbers (0 in a constant
          column) and of ``[x ≠ y]`` for categories. Columns in which a value is missing are
          ignored; rows without a common column have distance 1. Text, boolean, date and
          categorical columns are categories. Integer codes are numbers unless they are converted
          to strings.
        - other metrics of `scipy.spatial.distance`, by name: "braycurtis", "canberra",
          "chebyshev", "cityblock" (the same as "manhattan"), "correlation", "hamming",
          "jensenshannon", "minkowski" (p = 2), "sqeuclidean"; for rows of 0 and 1 "dice",
          "rogerstanimoto", "russellrao", "sokalsneath" and "yule". "jaccard" is the one above.
        - "precomputed": `X` is the matrix, which is checked.
        - a function of two rows that returns a nonnegative number; called once per pair.
    window : int, optional
        Maximum shift between two series in steps, for "dtw", in addition to the difference of
        their lengths. None is unlimited; 0 compares series of equal length step by step.
    n_jobs : int, optional
        Number of threads; None uses all processors.
    verbose : int, default=0
        If not 0, print the progress.

    Returns
    -------
    ndarray of shape (n_samples, n_samples), float64
        With "precomputed", `X` itself.

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
    distance = find_distance(metric, window)
    rows = distance.read(X, "X")
    n = count_rows(rows)
    require_memory(n, n)
    distances = np.zeros((n, n))
    progress = Progress(f"distances ({distance.name})", _STEPS, verbose)
    with ThreadPool(count_threads(n_jobs)) as pool:

        def work(tile: tuple[int, int, int, int]) -> None:
            top, bottom, left, right = tile
            part = distance.tile(rows, rows, tile, same=True)
            if top == left:
                # Rounding may differ between the triangles; the upper one is used for both.
                part = np.triu(part, 1)
                distances[top:bottom, top:bottom] = part[:, : bottom - top].T
                distances[top:bottom, left:right] += part
                distances[bottom:right, top:bottom] = part[:, bottom - top :].T
            else:
                distances[top:bottom, left:right] = part
                distances[left:right, top:bottom] = part.T

        _compute_tiles(distance, rows, rows, True, pool, work, progress)
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
    """Compute the distances of the rows of `X` to the rows of `Y`.

    Parameters
    ----------
    X, Y : as for `pairwise`
        With "precomputed", `X` is the matrix, and only the length of `Y` is used.
    metric, window, n_jobs : as for `pairwise`
        The distance, the window of dynamic time warping, and the number of threads.
    ranges : array of shape (n_features,), optional
        Ranges of the columns for "gower", usually `column_ranges` of the training rows. None uses
        the ranges of `X` and `Y` together.

    Returns
    -------
    ndarray of shape (n_rows_of_X, n_rows_of_Y), float64
        Distances.
    """
    if isinstance(metric, str) and metric == "precomputed":
        return _check_rectangle(X, Y)
    distance = find_distance(metric, window, ranges)
    rows, others = distance.read(X, "X"), distance.read(Y, "Y")
    shape = count_rows(rows), count_rows(others)
    require_memory(*shape)
    distances = np.empty(shape)
    with ThreadPool(count_threads(n_jobs)) as pool:

        def work(tile: tuple[int, int, int, int]) -> None:
            top, bottom, left, right = tile
            distances[top:bottom, left:right] = distance.tile(rows, others, tile, same=False)

        _compute_tiles(distance, rows, others, False, pool, work, Progress("", _STEPS, 0))
    return distances


def column_ranges(X: Any) -> np.ndarray:
    """Range of each column for "gower"; NaN for categorical columns."""
    distance = Gower()
    distance.read(X, "X")
    return distance.ranges


def find_distance(metric: Any, window: int | None = None, ranges: Any = None) -> Distance:
    """Create the distance for a name or a function."""
    if window is not None and metric != "dtw":
        raise ValueError(
            f"window={window} is only used by metric='dtw'; set it to None with {metric!r}"
        )
    if callable(metric):
        return CallableDistance(metric)
    if metric == "dtw":
        return DTW(window)
    if metric == "gower":
        return Gower(ranges)
    if metric in ("manhattan", "cityblock"):
        return NumericDistance("manhattan", "cityblock")
    if metric in ("cosine", "jaccard"):
        return Cosine() if metric == "cosine" else Jaccard()
    if metric == "euclidean":
        return NumericDistance(metric)
    if metric in (*SCIPY_METRICS, *SCIPY_BOOLEAN_METRICS):
        return ScipyDistance(metric)
    raise ValueError(f"unknown metric={metric!r}; {_advice(str(metric))}")


_REPLACEMENTS = {
    "l1": "'manhattan' is the same",
    "l2": "'euclidean' is the same",
    "seuclidean": "standardize the columns and use 'euclidean'",
    "mahalanobis": "whiten the columns, for example by PCA(whiten=True), and use 'euclidean'",
}
"""What replaces metrics of other packages that are not offered here."""


def _advice(metric: str) -> str:
    """What to use instead of an unknown metric."""
    if metric in _REPLACEMENTS:
        return _REPLACEMENTS[metric]
    names = sorted({*METRICS, *SCIPY_METRICS, *SCIPY_BOOLEAN_METRICS})
    close = get_close_matches(metric.lower(), names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"use {', '.join(map(repr, names))}, or a function of two rows"


def _compute_tiles(
    distance: Distance,
    rows: Any,
    others: Any,
    same: bool,
    pool: ThreadPool,
    work: Callable[..., Any],
    progress: Progress,
) -> None:
    """Compute the tiles in batches, with progress and Ctrl-C checks in between.

    If both sides are the `same` rows, those of the upper triangle are enough.
    """
    height, width = distance.tile_shape(rows, others, pool.n_threads)
    n_rows, n_columns = count_rows(rows), count_rows(others)
    tiles = [
        (top, min(top + height, n_rows), left, min(left + width, n_columns))
        for top in range(0, n_rows, height)
        for left in range(top if same else 0, n_columns, width)
    ]
    batch_size = 4 * pool.n_threads if distance.releases_gil else 1
    for begin in range(0, len(tiles), batch_size):
        batch = tiles[begin : begin + batch_size]
        if distance.releases_gil:
            pool.map(work, batch)
        else:
            work(batch[0])
        done = begin + len(batch)
        while progress.done < _STEPS * done // len(tiles):
            progress.step()


def _check_rectangle(X: Any, Y: Any) -> np.ndarray:
    distances, n = np.asarray(X, dtype=np.float64), len(Y)
    if distances.ndim != 2 or distances.shape[1] != n:
        raise ValueError(
            f"X has shape {distances.shape}; with metric='precomputed' it must contain the "
            f"distances of new rows to the {n} fitted rows, one column per fitted row"
        )
    # As in `check_matrix`, small negative numbers are rounding errors.
    finite = np.isfinite(distances)
    largest = distances.max(where=finite, initial=0.0)
    tolerance = np.sqrt(np.finfo(np.float64).eps) * largest
    wrong = np.argwhere(~(finite & (distances >= -tolerance)))
    if len(wrong):
        i, j = wrong[0]
        raise ValueError(
            f"X[{i}, {j}] is {distances[i, j]:.6g}; distances must be finite and nonnegative"
        )
    return distances
