"""A k-medians clustering, to be explained when the user has none of his own.

By hand, because scikit-learn has no k-medians and the packages that have one would each be a
dependency for these few lines: the loops are those that the trees need anyway.
"""

from __future__ import annotations

import numpy as np

from pellucid.numeric.absolute import AbsoluteData

_MAX_ROUNDS = 300
"""As many as scikit-learn's k-means allows itself."""


def refine_medians(data: AbsoluteData, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Assign rows to the nearest center, move centers to medians, and so on while rows move.

    Neither step can raise the cost, and where no row moves it can fall no further. Labels and
    medians are the same to the bit however the data are stored, and so is the end.

    Parameters
    ----------
    data : AbsoluteData
    centers : ndarray of shape (n_clusters, n_features), float64
        Where to start.

    Returns
    -------
    centers : ndarray of shape (n_clusters, n_features)
        Lower medians of their rows; only where there are fewer distinct rows than centers are
        some without rows.
    labels : ndarray of shape (n_samples,), intp
    """
    labels = data.nearest(centers)
    for _ in range(_MAX_ROUNDS):
        centers = _move(data, centers, labels)
        before, labels = labels, data.nearest(centers)
        if np.array_equal(before, labels):
            break
    return centers, labels


def _move(data: AbsoluteData, centers: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The medians; centers without rows go to the rows that pay most."""
    medians = data.group_centers(labels, len(centers))
    idle = np.flatnonzero(np.isnan(medians).any(axis=1))
    if len(idle):
        medians[idle] = centers[idle]
        paid = data.costs(medians)[0][np.arange(len(labels)), labels]
        for center, row in zip(idle, np.argsort(-paid, kind="stable")):
            if paid[row] > 0:
                line = data.rows[[row]]
                medians[center] = np.ravel(line.toarray() if hasattr(line, "toarray") else line)
    return medians
