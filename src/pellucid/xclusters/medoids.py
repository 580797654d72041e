"""k-medoids on a distance matrix by FasterPAM.

Implements Schubert and Rousseeuw, "Fast and eager k-medoids clustering: O(k) runtime improvement of
the PAM, CLARA, and CLARANS algorithms", Information Systems 101 (2021), with two changes. Costs are
integers, so that each swap strictly lowers the loss and results do not depend on threads. BUILD
skips rows that cannot win: the savings of a row never grow when other medoids are added, so its
earlier savings are an upper bound.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pellucid._utils.threads import ThreadPool, count_threads
from pellucid.tables.validation import read_sample_weight
from pellucid.xclusters.distances.matrix import check_matrix, row_major
from pellucid.xclusters.fasterpam import MedoidSearch, draw_rows


class Medoids(NamedTuple):
    """Result of `k_medoids`.

    Attributes
    ----------
    indices : ndarray of shape (n_clusters,), int64
        Row indices of the medoids.
    labels : ndarray of shape (n_samples,), int64
        Nearest medoid of each row; ties go to the lowest. A cluster is empty only if its medoid
        coincides with another one.
    loss : float
        Weighted sum of the distances of all rows to their medoids.
    n_swaps : int
        Number of swaps.
    n_iter : int
        Number of passes over all rows, including the last pass without a swap.
    """

    indices: np.ndarray
    labels: np.ndarray
    loss: float
    n_swaps: int
    n_iter: int


def k_medoids(
    distances: Any,
    n_clusters: int,
    *,
    weights: Any = None,
    init: Any = "build",
    max_iter: int = 300,
    random_state: Any = None,
    n_jobs: int | None = None,
    check_input: bool = True,
    order: np.ndarray | None = None,
) -> Medoids:
    """Choose medoids that minimize the sum of distances of all rows to their nearest medoid.

    Swaps a medoid for another row as long as this lowers the loss. The result is a local optimum:
    no single swap lowers the loss. It does not depend on the number of threads.

    Parameters
    ----------
    distances : ndarray of shape (n_samples, n_samples)
        Symmetric, nonnegative, with zeros on the diagonal. float32 and float64 in C or Fortran
        order are not copied.
    n_clusters : int
        Number of clusters.
    weights : array-like of shape (n_samples,), optional
        An integer weight w counts as w copies of the row. Rows of weight 0 are ignored, but get a
        label.
    init : "build", "k-medoids++" or array-like of int, default="build"
        "build" adds rows greedily, each time the one that lowers the loss most. Swaps are then
        tried in the order of the rows' sums of distances, so that the result does not depend on
        the order of the rows. "k-medoids++" draws rows that are far from each other. An array
        contains row indices to start from. If there are too few, "build" adds more; if there are
        too many, those with the smallest removal cost are removed.
    max_iter : int, default=300
        Maximum number of passes over all rows.
    random_state : int, RandomState instance or None, default=None
        Used by "k-medoids++".
    n_jobs : int, default=None
        Number of threads; None uses all processors.
    check_input : bool, default=True
        Whether to check for negative, missing and asymmetric distances.
    order : ndarray of shape (n_samples,), optional
        The row numbers in the order in which rows are tried. Ties go to the first row.

    Returns
    -------
    Medoids
        Medoids, labels and loss.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.xclusters import k_medoids
    >>> x = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 13.0])
    >>> found = k_medoids(np.abs(x[:, None] - x), 2)
    >>> found.indices, found.labels, found.loss
    (array([1, 4]), array([0, 0, 0, 1, 1, 1]), 5.0)
    """
    if check_input:
        distances = check_matrix(distances, n_jobs=n_jobs)
    D = row_major(distances)
    weight = read_sample_weight(weights, len(D))
    n_weighted = np.count_nonzero(weight > 0)
    if not 1 <= n_clusters <= n_weighted:
        kind = "" if n_weighted == len(D) else " of positive weight"
        raise ValueError(
            f"n_clusters={n_clusters} is not between 1 and the number of rows{kind}, {n_weighted}"
        )
    if max_iter < 1:
        raise ValueError(f"max_iter={max_iter} must be at least 1")
    with ThreadPool(count_threads(n_jobs)) as pool:
        search = MedoidSearch(D, weight, pool, order)
        if isinstance(init, str) and init == "build":
            search.build(n_clusters)
        elif isinstance(init, str) and init == "k-medoids++":
            search.set_medoids(draw_rows(D, weight, n_clusters, random_state, order))
        else:
            search.set_medoids(_read_rows(init, weight))
            search.remove_medoids(n_clusters)
            search.add_medoids(n_clusters)
        n_swaps, n_iter = search.swap(max_iter)
        labels, loss = search.labels_and_loss()
        return Medoids(search.medoids, labels, loss, n_swaps, n_iter)


def _read_rows(init: Any, weight: np.ndarray) -> np.ndarray:
    """Validate the row indices to start from."""
    rows = np.asarray(init)
    if isinstance(init, str):
        raise ValueError(
            f"unknown init={init!r}; use 'build', 'k-medoids++' or a list of row indices"
        )
    if rows.ndim != 1 or len(rows) == 0 or not np.issubdtype(rows.dtype, np.integer):
        raise ValueError(
            "init must be 'build', 'k-medoids++' or a list of row indices; got an array of "
            f"{rows.dtype} of shape {rows.shape}"
        )
    rows = rows.astype(np.int64)
    for position, row in enumerate(rows):
        if not 0 <= row < len(weight):
            raise ValueError(
                f"init[{position}] is {row}, but row indices range from 0 to {len(weight) - 1}"
            )
        if row in rows[:position]:
            raise ValueError(f"init[{position}] repeats row {row}; each row may occur once")
        if weight[row] == 0:
            raise ValueError(f"init[{position}] is row {row}, which has weight 0")
    return rows
