"""k-medoids: the rows that stand for clusters, found by swaps on a matrix of distances.

FasterPAM, written after Schubert and Rousseeuw, "Fast and eager k-medoids clustering: O(k) runtime
improvement of the PAM, CLARA, and CLARANS algorithms", Information Systems 101 (2021). Two things
are our own. Distances count in whole units, so that each swap truly lowers the loss and no result
depends on threads. And BUILD looks only at rows that can still win: what one more medoid saves
never grows as others are added, so that what it saved before is a bound.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pellucid._utils.threads import ThreadPool, count_threads
from pellucid.tables.validation import read_sample_weight
from pellucid.xclusters.distances.matrix import as_rows, check_matrix
from pellucid.xclusters.fasterpam import MedoidSearch, draw_rows


class Medoids(NamedTuple):
    """What `k_medoids` found.

    Attributes
    ----------
    indices : ndarray of shape (n_clusters,), int64
        Rows that are the medoids.
    labels : ndarray of shape (n_samples,), int64
        Nearest medoid of each row, the lowest of equals. Only where medoids coincide can one be
        without rows.
    loss : float
        Weighted sum of the distances of all rows to their medoids.
    n_swaps : int
        Swaps that were made.
    n_iter : int
        Passes over all rows that were begun; the last one found nothing to swap.
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
) -> Medoids:
    """Choose rows as medoids such that all rows are near to one of them.

    Swaps a medoid for another row while that lowers the sum of distances; at the end no single
    swap does. The same input and seed give the same medoids whatever the number of threads.

    Parameters
    ----------
    distances : ndarray of shape (n_samples, n_samples)
        Symmetric, at least 0, with zeros on the diagonal. float32 and float64 in C or Fortran
        order are read as they are, without a copy.
    n_clusters : int
    weights : array-like of shape (n_samples,), optional
        A whole weight counts as that many copies of the row. Rows of weight 0 are absent, but get
        a label.
    init : "build", "k-medoids++" or array-like of int, default="build"
        "build" takes one row after the other, each time the one that lowers the sum most, and
        tries swaps in the order of the rows' sums of distances, so that the order of the rows does
        not matter; "k-medoids++" draws rows far from each other, by `random_state`. An array holds
        row numbers to start from: too few are completed as by "build", too many are reduced, each
        time by the one that is missed least.
    max_iter : int, default=300
        Most passes over all rows.
    random_state : int, RandomState instance or None, default=None
        For "k-medoids++".
    n_jobs : int, default=None
        Number of threads; all processors when left out.
    check_input : bool, default=True
        Whether to look for negative, missing and asymmetric distances first.

    Returns
    -------
    Medoids

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
    D = as_rows(distances)
    weight = read_sample_weight(weights, len(D))
    there = np.flatnonzero(weight > 0)
    if not 1 <= n_clusters <= len(there):
        of = "" if len(there) == len(D) else " of a weight above 0"
        raise ValueError(
            f"n_clusters={n_clusters} is not between 1 and the number of rows{of}, {len(there)}"
        )
    if max_iter < 1:
        raise ValueError(f"max_iter={max_iter}: at least one pass is needed")
    with ThreadPool(count_threads(n_jobs)) as pool:
        search = MedoidSearch(D, weight, pool)
        if isinstance(init, str) and init == "build":
            search.build(n_clusters)
        elif isinstance(init, str) and init == "k-medoids++":
            search.place(draw_rows(D, weight, n_clusters, random_state))
        else:
            search.place(_read_rows(init, weight))
            search.reduce(n_clusters)
            search.complete(n_clusters)
        n_swaps, n_iter = search.swap(max_iter)
        labels, loss = search.labels_and_loss()
        return Medoids(search.medoids, labels, loss, n_swaps, n_iter)


def _read_rows(init: Any, weight: np.ndarray) -> np.ndarray:
    """Row numbers to start from."""
    rows = np.asarray(init)
    if isinstance(init, str):
        raise ValueError(
            f"init={init!r} is not known; use 'build', 'k-medoids++' or a list of row numbers"
        )
    if rows.ndim != 1 or len(rows) == 0 or not np.issubdtype(rows.dtype, np.integer):
        raise ValueError(
            "init must be 'build', 'k-medoids++' or a list of row numbers; got an array of "
            f"{rows.dtype} of shape {rows.shape}"
        )
    rows = rows.astype(np.int64)
    for position, row in enumerate(rows):
        if not 0 <= row < len(weight):
            raise ValueError(f"init[{position}] is {row}, but rows go from 0 to {len(weight) - 1}")
        if row in rows[:position]:
            raise ValueError(f"init[{position}] is row {row} once more; name each row once")
        if weight[row] == 0:
            raise ValueError(f"init[{position}] is row {row}, whose weight is 0")
    return rows
