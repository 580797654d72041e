"""The distance that is both: (1 − α)·a / max(a) + α·e / max(e)."""

from __future__ import annotations

import numpy as np

from pellucid.xclusters.distances.memory import free_memory

_BLOCK = 2**20
"""Entries that are mixed at a time, so that no second matrix is needed on the way."""


class Mixture:
    """Mixes two distance matrices, into one matrix that is used again and again.

    Parameters
    ----------
    accuracy, explanation : ndarray of shape (n, n)
        Distances by the accuracy features (a) and by the explanation features (e). Where all
        of one are 0, there is nothing to divide by and they stay 0.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.xclusters.mixture import Mixture
    >>> a, e = np.array([[0, 4.0], [4, 0]]), np.array([[0, 0.5], [0.5, 0]])
    >>> Mixture(a, e).at(0.25)
    array([[0., 1.],
           [1., 0.]])
    """

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
            of_a, of_e = (1 - alpha) / self._scales[0], alpha / self._scales[1]
            n = len(self._mixed)
            step = max(_BLOCK // max(n, 1), 1)
            for first in range(0, n, step):
                rows = slice(first, first + step)
                np.multiply(self.accuracy[rows], of_a, out=self._mixed[rows])
                self._mixed[rows] += self.explanation[rows] * of_e
        return self._mixed


def check_memory(n: int, n_matrices: int = 3) -> None:
    """Refuse work on `n` rows whose matrices (a, e, mixed) do not fit into memory."""
    size = 8 * n_matrices
    needed, free = size * n * n, free_memory()
    if free is not None and needed > free:
        raise MemoryError(
            f"{n:,} rows need {needed / 1e9:,.1f} GB for {n_matrices} matrices of distances, and "
            f"{free / 1e9:,.1f} GB of memory are free; about {int((free / size) ** 0.5):,} rows "
            "would fit: take a sample of the rows, or group them first"
        )


def _largest(distances: np.ndarray) -> float:
    largest = float(distances.max())
    return largest if largest > 0 else 1.0
