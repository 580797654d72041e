"""Matrices of distances: whether they are sound, whether they fit into memory, files of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from pellucid._utils.threads import SERIAL, ThreadPool, count_threads
from pellucid.xclusters.distances.memory import free_memory

_BLOCK = 256
"""Rows that are looked at together."""


def as_rows(distances: np.ndarray) -> np.ndarray:
    """A symmetric matrix with its rows one after the other in memory, without a copy if possible.

    The rows of a matrix in Fortran order are its columns. Where the two halves differ in
    rounding, the order of storage thus says which of them counts.
    """
    if distances.flags.f_contiguous and not distances.flags.c_contiguous:
        distances = distances.T
    return np.ascontiguousarray(distances)


def check_matrix(
    distances: Any, n: int | None = None, name: str = "distances", *, n_jobs: int | None = None
) -> np.ndarray:
    """A square matrix of distances, or an error that names what is wrong and where.

    Entries must be finite and at least 0, with zeros on the diagonal and both halves alike; as
    much as rounding may leave (the square root of the precision, of the largest entry) is let
    pass.

    Parameters
    ----------
    distances : array-like of shape (n, n)
        float32 and float64 are returned as they are.
    n : int, optional
        How many rows there must be.
    name : str
        What errors call the matrix.
    n_jobs : int, optional
        Number of threads; all processors when left out.
    """
    matrix = _read(distances, n, name)
    with ThreadPool(count_threads(n_jobs)) as pool:
        D = as_rows(matrix)
        largest = largest_entry(D, pool)
        # NaN is the least and the largest of all.
        if not (smallest_entry(D, pool) >= 0 and largest < np.inf):
            _refuse_entry(matrix, name)
        gap = _gap(D, pool)
    most = np.sqrt(np.finfo(matrix.dtype).eps) * largest
    diagonal = matrix.diagonal()
    if (diagonal > most).any():
        i = int(np.argmax(diagonal > most))
        raise ValueError(
            f"{name}[{i}, {i}] is {diagonal[i]:.6g}: the distance of a row to itself must be 0. "
            "If these are similarities, turn them into distances first, for example by "
            f"{name}.max() - {name}; else use np.fill_diagonal({name}, 0)"
        )
    if gap > most:
        _refuse_asymmetry(matrix, most, name)
    return matrix


def largest_entry(D: np.ndarray, pool: ThreadPool = SERIAL) -> float:
    """Largest entry of a matrix, read once."""
    blocks = pool.blocks(len(D), _BLOCK)
    return float(np.max(pool.map(lambda block: D[slice(*block)].max(), blocks)))


def smallest_entry(D: np.ndarray, pool: ThreadPool = SERIAL) -> float:
    """Smallest entry of a matrix, read once."""
    blocks = pool.blocks(len(D), _BLOCK)
    return float(np.min(pool.map(lambda block: D[slice(*block)].min(), blocks)))


def save_matrix(path: str | os.PathLike, distances: np.ndarray) -> None:
    """Keep a matrix in a ``.npy`` file.

    It is written beside and then renamed: an interrupted run leaves no half of a file.
    """
    path = _npy(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to save the matrix in")
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(draft, "wb") as file:
            np.save(file, np.asarray(distances), allow_pickle=False)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def load_matrix(path: str | os.PathLike, *, mmap: bool = False) -> np.ndarray:
    """A matrix that `save_matrix` kept.

    Parameters
    ----------
    path : path
    mmap : bool, default=False
        Leave the entries in the file until they are read.
    """
    path = _npy(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no matrix in {path}")
    try:
        matrix = np.load(path, mmap_mode="r" if mmap else None, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path} holds no matrix that NumPy can read: {error}") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{path} holds an array of shape {matrix.shape}, not a square matrix")
    return matrix


def require_memory(n_rows: int, n_columns: int, itemsize: int = 8) -> None:
    """Raise an error that says how much memory is needed where there is not so much."""
    needed, free = n_rows * n_columns * itemsize, free_memory()
    if free is not None and needed > free:
        raise MemoryError(
            f"{n_rows:,} × {n_columns:,} distances take {_readable(needed)}, and "
            f"{_readable(free)} of memory are free; take a sample of the rows"
        )


def _readable(size: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"


def _npy(path: str | os.PathLike) -> Path:
    path = Path(path)
    return path if path.suffix == ".npy" else path.with_name(path.name + ".npy")


def _read(distances: Any, n: int | None, name: str) -> np.ndarray:
    if sparse.issparse(distances):
        raise TypeError(
            f"{name} is a sparse matrix, whose missing entries would be distances of 0; give a "
            "dense one, for example by .toarray()"
        )
    matrix = np.asarray(distances)
    if matrix.dtype not in (np.float32, np.float64):
        try:
            matrix = matrix.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} holds other things than numbers: {error}") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"{name} has shape {matrix.shape}; distances form a square matrix, a row and a column "
            "for each row of the data"
        )
    if n is not None and len(matrix) != n:
        raise ValueError(f"{name} is {len(matrix)} × {len(matrix)}, but the data have {n} rows")
    if len(matrix) == 0:
        raise ValueError(f"{name} is empty; at least one row is needed")
    return matrix


def _gap(D: np.ndarray, pool: ThreadPool) -> float:
    """Largest difference between the two halves."""
    from pellucid.xclusters.kernels import asymmetry

    starts = range(0, len(D), _BLOCK)
    return max(pool.map(lambda begin: asymmetry(D, begin, min(begin + _BLOCK, len(D))), starts))


def _refuse_entry(matrix: np.ndarray, name: str) -> None:
    """Name the first entry that is negative, NaN or infinite."""
    for begin in range(0, len(matrix), _BLOCK):
        rows = matrix[begin : begin + _BLOCK]
        wrong = np.argwhere(~(np.isfinite(rows) & (rows >= 0)))
        if len(wrong):
            i, j = wrong[0]
            value = rows[i, j]
            why = (
                "Negative values in data are no distances; turn similarities into distances first"
                if value < 0
                else "Every distance must be known and finite"
            )
            raise ValueError(f"{name}[{begin + i}, {j}] is {value:.6g}. {why}")


def _refuse_asymmetry(matrix: np.ndarray, most: float, name: str) -> None:
    """Name the first pair of entries that differ."""
    for begin in range(0, len(matrix), _BLOCK):
        rows, columns = matrix[begin : begin + _BLOCK], matrix[:, begin : begin + _BLOCK].T
        wrong = np.argwhere(np.abs(rows - columns) > most)
        if len(wrong):
            i, j = wrong[0]
            raise ValueError(
                f"{name} is not symmetric: [{begin + i}, {j}] is {rows[i, j]:.6g}, "
                f"[{j}, {begin + i}] is {columns[i, j]:.6g}. If both directions count alike, use "
                f"({name} + {name}.T) / 2"
            )
