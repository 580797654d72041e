"""Distance matrices: computation, validation, memory check and files."""

from __future__ import annotations

import os
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from pellucid._utils.files import replacing
from pellucid._utils.memory import available_memory
from pellucid._utils.progress import Progress
from pellucid._utils.threads import ThreadPool, count_threads
from pellucid.xclusters.distances.kinds import (
    DTW,
    SCIPY_METRICS,
    CallableDistance,
    Cosine,
    Distance,
    Gower,
    Jaccard,
    NumericDistance,
    ScipyDistance,
)
from pellucid.xclusters.rows import count_rows

# Names of the distances.
METRICS = ("cosine", "dtw", "euclidean", "gower", "jaccard", "manhattan", "precomputed")
_STEPS = 20  # number of progress lines per matrix
_BLOCK = 256  # rows that are checked at a time


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
    progress = Progress(f"distances ({distance.name})", _STEPS, verbose)
    return _compute_tiles(distance, rows, None, n_jobs, progress)


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
    return _compute_tiles(distance, rows, others, n_jobs, Progress("", _STEPS, 0))


def column_ranges(X: Any) -> np.ndarray:
    """Range of each column for "gower"; NaN for categorical columns."""
    distance = Gower()
    distance.read(X, "X")
    return distance.ranges


def find_distance(metric: Any, window: int | None = None, ranges: Any = None) -> Distance:
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
    if metric in ("cosine", "jaccard"):
        return Cosine() if metric == "cosine" else Jaccard()
    if metric in ("manhattan", "cityblock"):
        return NumericDistance("manhattan", "cityblock")
    if metric == "euclidean":
        return NumericDistance(metric)
    if metric in SCIPY_METRICS:
        return ScipyDistance(metric)
    raise ValueError(f"unknown metric={metric!r}; {_advice(str(metric))}")


# What replaces metrics of other packages that are not offered here.
_REPLACEMENTS = {
    "l1": "'manhattan' is the same",
    "l2": "'euclidean' is the same",
    "seuclidean": "standardize the columns and use 'euclidean'",
    "mahalanobis": "whiten the columns, for example by PCA(whiten=True), and use 'euclidean'",
}


def _advice(metric: str) -> str:
    if metric in _REPLACEMENTS:
        return _REPLACEMENTS[metric]
    names = sorted({*METRICS, *SCIPY_METRICS})
    if close := get_close_matches(metric.lower(), names, n=1):
        return f"did you mean {close[0]!r}?"
    return f"use {', '.join(map(repr, names))}, or a function of two rows"


def _compute_tiles(
    distance: Distance, rows: Any, others: Any, n_jobs: int | None, progress: Progress
) -> np.ndarray:
    """Compute the matrix by batches of tiles; without others, of its upper triangle alone."""
    same = others is None
    others = rows if same else others
    n_rows, n_columns = count_rows(rows), count_rows(others)
    require_memory(n_rows, n_columns)
    distances = np.zeros((n_rows, n_columns))

    def work(corner: tuple[int, int]) -> None:
        vertical, horizontal = (slice(a, a + length) for a, length in zip(corner, shape))
        part = distance.tile(rows[vertical], others[horizontal], *corner, same=same)
        if same:
            # Rounding may differ between the triangles; the upper one is used for both.
            part = np.triu(part, 1) if corner[0] == corner[1] else part
            distances[horizontal, vertical] = part.T
        distances[vertical, horizontal] += part

    with ThreadPool(count_threads(n_jobs)) as pool:
        shape = height, width = distance.tile_shape(rows, others, pool.n_threads)
        corners = [
            (top, left)
            for top in range(0, n_rows, height)
            for left in range(top if same else 0, n_columns, width)
        ]
        batch_size = 4 * pool.n_threads if distance.releases_gil else 1
        for begin in range(0, len(corners), batch_size):
            batch = corners[begin : begin + batch_size]
            if distance.releases_gil:
                pool.map(work, batch)
            else:
                work(batch[0])
            while progress.done < _STEPS * (begin + len(batch)) // len(corners):
                progress.step()
    return distances


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


def row_major(distances: np.ndarray) -> np.ndarray:
    """A symmetric matrix in row-major (C) order; one in Fortran order is transposed, not copied."""
    if distances.flags.f_contiguous and not distances.flags.c_contiguous:
        distances = distances.T
    return np.ascontiguousarray(distances)


def check_matrix(
    distances: Any, n: int | None = None, name: str = "distances", *, n_jobs: int | None = None
) -> np.ndarray:
    """Validate a distance matrix.

    Entries must be finite and nonnegative, the diagonal must be zero, and the matrix must be
    symmetric. The tolerance is the square root of the machine precision times the largest entry.
    Negative entries within the tolerance, such as -1e-16, become 0. Errors name the first invalid
    entry.

    Parameters
    ----------
    distances : array-like of shape (n, n)
        The matrix. float32 and float64 matrices without negative entries are returned unchanged.
    n : int, optional
        Required number of rows.
    name : str
        Name of the matrix in error messages.
    n_jobs : int, optional
        Number of threads; None uses all processors.

    Returns
    -------
    ndarray of shape (n, n)
        The matrix.
    """
    matrix = _read(distances, n, name)
    smallest, largest = float(matrix.min()), float(matrix.max())
    tolerance = np.sqrt(np.finfo(matrix.dtype).eps) * max(largest, 0.0)
    # Comparisons with NaN are False.
    if not (smallest >= -tolerance and largest < np.inf):
        _raise_invalid_entry(matrix, name, tolerance)
    if (matrix.diagonal() > tolerance).any():
        i = int(np.argmax(matrix.diagonal() > tolerance))
        raise ValueError(
            f"{name}[{i}, {i}] is {matrix[i, i]:.6g}: the distance of a row to itself must be 0. "
            "If these are similarities, convert them to distances first, for example by "
            f"{name}.max() - {name}; else use np.fill_diagonal({name}, 0)"
        )
    D = row_major(matrix)
    with ThreadPool(count_threads(n_jobs)) as pool:
        found = pool.map(lambda top: _first_asymmetric(D, top, tolerance), range(0, len(D), _BLOCK))
    for i, j in filter(None, found):
        raise ValueError(
            f"{name} is not symmetric: [{i}, {j}] is {matrix[i, j]:.6g}, [{j}, {i}] is "
            f"{matrix[j, i]:.6g}. To use the mean of both directions: ({name} + {name}.T) / 2"
        )
    return matrix if smallest >= 0 else np.maximum(matrix, 0)


def save_matrix(path: str | os.PathLike[str], distances: np.ndarray) -> None:
    """Save a matrix to a ``.npy`` file.

    The file is written under a temporary name and then renamed, so that an interrupted run leaves
    no partial file.

    Parameters
    ----------
    path : path-like
        The file.
    distances : ndarray of shape (n, n)
        Distance matrix.
    """
    path = _npy(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"folder {path.parent} does not exist; cannot save the matrix")
    with replacing(path) as unfinished, open(unfinished, "wb") as file:
        np.save(file, np.asarray(distances), allow_pickle=False)


def load_matrix(path: str | os.PathLike[str], *, mmap: bool = False) -> np.ndarray:
    """Load a matrix that was saved by `save_matrix`.

    Parameters
    ----------
    path : path
        The file.
    mmap : bool, default=False
        Whether to memory-map the file instead of reading it.

    Returns
    -------
    ndarray of shape (n, n)
        The matrix.
    """
    path = _npy(path)
    if not path.exists():
        raise FileNotFoundError(f"file {path} does not exist")
    try:
        matrix = np.load(path, mmap_mode="r" if mmap else None, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path} is not a matrix that NumPy can read: {error}") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{path} contains an array of shape {matrix.shape}, not a square matrix")
    return matrix


def require_memory(n_rows: int, n_columns: int, n_matrices: int = 1) -> None:
    """Raise a MemoryError if distance matrices of this size do not fit into memory."""
    fitting = (available_memory() or np.inf) / (8 * n_matrices)
    if n_rows * n_columns > fitting:
        most = fitting**0.5 if n_rows == n_columns else fitting / n_columns
        which = "distances" if n_matrices == 1 else f"distances in {n_matrices} matrices"
        raise MemoryError(
            f"{n_rows:,} × {n_columns:,} {which} need {_gb(n_rows * n_columns * n_matrices)}, but "
            f"only {_gb(fitting * n_matrices)} of memory are free; about {int(most):,} rows would "
            "fit: use a sample of the rows"
        )


def _gb(n_numbers: float) -> str:
    return f"{8 * n_numbers / 1e9:,.1f} GB"


def _npy(path: str | os.PathLike[str]) -> Path:
    path = Path(path)
    return path if path.suffix == ".npy" else path.with_name(path.name + ".npy")


def _read(distances: Any, n: int | None, name: str) -> np.ndarray:
    if sparse.issparse(distances):
        raise TypeError(
            f"{name} is a sparse matrix, whose implicit entries would be distances of 0; use a "
            "dense matrix, for example by .toarray()"
        )
    matrix = np.asarray(distances)
    if matrix.dtype not in (np.float32, np.float64):
        try:
            matrix = matrix.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} contains non-numeric values: {error}") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"{name} has shape {matrix.shape}; expected a square matrix with one row and one "
            "column per row of the data"
        )
    if n is not None and len(matrix) != n:
        raise ValueError(f"{name} is {len(matrix)} × {len(matrix)}, but the data have {n} rows")
    if len(matrix) == 0:
        raise ValueError(f"{name} is empty; at least one row is needed")
    return matrix


def _raise_invalid_entry(matrix: np.ndarray, name: str, tolerance: float) -> None:
    """Raise an error that names the first negative, NaN or infinite entry."""
    tolerance = tolerance if np.isfinite(tolerance) else 0.0
    for top in range(0, len(matrix), _BLOCK):
        rows = matrix[top : top + _BLOCK]
        wrong = np.argwhere(~(np.isfinite(rows) & (rows >= -tolerance)))
        if len(wrong):
            i, j = wrong[0]
            value = rows[i, j]
            reason = (
                "Negative values in data are not distances; convert similarities to distances first"
                if value < 0
                else "Distances must be finite"
            )
            raise ValueError(f"{name}[{top + i}, {j}] is {value:.6g}. {reason}")


def _first_asymmetric(D: np.ndarray, top: int, tolerance: float) -> tuple[int, int] | None:
    """The first entry of a block of rows that differs from the entry across the diagonal."""
    rows, columns = D[top : top + _BLOCK, top:], D[top:, top : top + _BLOCK].T
    blocks = (slice(left, left + _BLOCK) for left in range(0, rows.shape[1], _BLOCK))
    if max(np.abs(rows[:, block] - columns[:, block]).max() for block in blocks) <= tolerance:
        return None
    i, j = np.argwhere(np.abs(rows - columns) > tolerance)[0] + top
    return int(i), int(j)
