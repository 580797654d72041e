"""Distance matrices: validation, memory check, and files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from pellucid._utils.files import replacing
from pellucid._utils.memory import available_memory
from pellucid._utils.threads import ThreadPool, count_threads

_BLOCK = 256
"""Rows that are checked at a time."""


def row_major(distances: np.ndarray) -> np.ndarray:
    """A symmetric matrix in row-major (C) order, without a copy if possible.

    A matrix in Fortran order is transposed. If its triangles differ by rounding, the result
    therefore depends on the storage order.
    """
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
    diagonal = matrix.diagonal()
    if (diagonal > tolerance).any():
        i = int(np.argmax(diagonal > tolerance))
        raise ValueError(
            f"{name}[{i}, {i}] is {diagonal[i]:.6g}: the distance of a row to itself must be 0. "
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
    """The path with the suffix ``.npy``."""
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
