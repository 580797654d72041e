"""The mixed distance (1 − α)·a / max(a) + α·e / max(e)."""

from __future__ import annotations

import numpy as np

from pellucid.xclusters.distances.memory import free_memory

_BLOCK = 2**20
"""Entries that are mixed at a time, to avoid a second temporary matrix."""

_TIE = 2.0**-20
"""Least part of each distance at α = 0 and α = 1, where it only decides ties of the other."""


class Mixture:
    """Mixes two distance matrices into one reused matrix.

    Parameters
    ----------
    accuracy, explanation : ndarray of shape (n, n)
        Distances on the accuracy features (a) and on the explanation features (e). A matrix of
        zeros is not normalized.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.xclusters.mixture import Mixture
    >>> a, e = np.array([[0, 4.0], [4, 0]]), np.array([[0, 0.5], [0.5, 0]])
    >>> Mixture(a, e).at(0.25)
    array([[0., 1.],
           [1., 0.]])
    """

    accuracy: np.ndarray
    explanation: np.ndarray

    def __init__(self, accuracy: np.ndarray, explanation: np.ndarray) -> None:
        self.accuracy, self.explanation = accuracy, explanation
        self._scales = _largest(accuracy), _largest(explanation)
        self._mixed: np.ndarray | None = None
        self._alpha = -1.0

    def at(self, alpha: float) -> np.ndarray:
        """The mixed distances; the matrix is overwritten by the next call."""
        if self._mixed is None:
            self._mixed = np.empty(self.accuracy.shape)
        if alpha != self._alpha:
            self._alpha = alpha
            factor_a = max(1 - alpha, _TIE) / self._scales[0]
            factor_e = max(alpha, _TIE) / self._scales[1]
            n = len(self._mixed)
            step = max(_BLOCK // max(n, 1), 1)
            for first in range(0, n, step):
                rows = slice(first, first + step)
                np.multiply(self.accuracy[rows], factor_a, out=self._mixed[rows])
                self._mixed[rows] += self.explanation[rows] * factor_e
        return self._mixed


def check_memory(n: int, n_matrices: int = 3) -> None:
    """Raise an error if the matrices of `n` rows (a, e and mixed) do not fit into memory."""
    bytes_per_pair = 8 * n_matrices
    needed, free = bytes_per_pair * n * n, free_memory()
    if free is not None and needed > free:
        raise MemoryError(
            f"{n:,} rows need {needed / 1e9:,.1f} GB for {n_matrices} distance matrices, but only "
            f"{free / 1e9:,.1f} GB of memory are free; about "
            f"{int((free / bytes_per_pair) ** 0.5):,} rows would fit: use a sample of the rows"
        )


def _largest(distances: np.ndarray) -> float:
    largest = float(distances.max())
    return largest if largest > 0 else 1.0
