"""k-medoids on a distance matrix by FasterPAM.

Implements Schubert and Rousseeuw, "Fast and eager k-medoids clustering: O(k) runtime improvement of
the PAM, CLARA, and CLARANS algorithms", Information Systems 101 (2021), with two changes. Costs are
integers, so that each swap strictly lowers the loss and results do not depend on threads. BUILD
skips rows that cannot win. The package kmedoids has no weights, no exact sums, and ties that depend
on the order of the rows.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from pellucid._utils.arrays import draw_weighted
from pellucid._utils.threads import ThreadPool, count_threads
from pellucid.tables.validation import read_sample_weight
from pellucid.xclusters.distances.pairwise import check_matrix, row_major

_BITS = 50  # the total cost in units stays below 2**_BITS, so that sums are exact in float64
_MAX_EXPONENT = 1000  # largest exponent of the unit, with a margin to the range of float64
# Total integer weight up to which a weight w equals w copies of a row to the last bit.
_MAX_EXACT_WEIGHT = 2.0**20
# Distances per task, and between two checks for Ctrl-C: some tenths of a second.
_CHUNK, _MAX_CHUNK = 2**20, 2**27


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


class MedoidSearch:
    """Medoids and the operations that set, add, remove and swap them.

    D is symmetric and C-contiguous. Rows of weight 0 cannot be medoids. `order` is the order in
    which rows are tried; ties go to the first row.
    """

    def __init__(
        self, D: np.ndarray, weight: np.ndarray, pool: ThreadPool, order: np.ndarray | None = None
    ) -> None:
        self.D = D
        self.weight = weight
        self.pool = pool
        n = len(D)
        order = np.arange(n) if order is None else order
        self._candidates = order[weight[order] > 0]
        self._rank = np.argsort(order)
        self._largest = float(D.max())
        self._scale, self._multiplier = _units(self._largest, weight)
        self._nearest, self._second = np.empty((2, n), dtype=np.int32)
        # Without medoids, each row has the cost of the largest distance.
        self._nearest_distance, self._second_distance = np.full((2, n), self._largest)
        self.medoids: np.ndarray = np.empty(0, dtype=np.int64)
        self._update_costs()

    def set_medoids(self, medoids: np.ndarray) -> None:
        from pellucid.xclusters.kernels import nearest_two

        self.medoids = medoids
        nearest_two(self.D, medoids, self._largest, *self._nearest_arrays())
        self._update_costs()

    def build(self, n_clusters: int) -> None:
        """Initialize by BUILD; order swap candidates by their sums of distances, not as given."""
        savings = self.add_medoids(n_clusters)[self._candidates]
        self._candidates = self._candidates[np.argsort(-savings, kind="stable")]

    def add_medoids(self, n_clusters: int) -> np.ndarray:
        """Add medoids greedily, each time the row with the largest savings (BUILD).

        The savings of a row never grow when other medoids are added, so earlier savings are upper
        bounds. Candidates are evaluated in the order of their bounds until no remaining bound
        reaches the best savings. Returns the savings of each row as the first medoid to be added.
        """
        from pellucid.xclusters.kernels import savings

        bound = np.full(len(self.D), np.inf)
        bound[self.weight == 0] = bound[self.medoids] = -1.0
        first_savings = bound
        while len(self.medoids) < n_clusters:
            rows = np.argsort(-bound, kind="stable")
            rows = rows[bound[rows] >= 0]
            best, begin, size = 0.0, 0, 16
            while begin < len(rows) and bound[rows[begin]] >= best:
                batch = rows[begin : begin + size]
                batch = batch[bound[batch] >= best]

                def work(block: tuple[int, int], batch: np.ndarray = batch) -> None:
                    some, units = batch[slice(*block)], (self._scale, self._multiplier)
                    savings(self.D, some, self._cost, *units, bound)

                self._map_blocks(work, 0, len(batch))
                best = max(best, bound[batch].max())
                begin, size = begin + len(batch), 2 * size
            evaluated = rows[:begin]
            tied = evaluated[bound[evaluated] == best]
            chosen = tied[self._rank[tied].argmin()]
            first_savings = bound.copy() if first_savings is bound else first_savings
            bound[chosen] = -1.0
            self.set_medoids(np.append(self.medoids, chosen))
        return first_savings

    def remove_medoids(self, n_clusters: int) -> None:
        while len(self.medoids) > n_clusters:
            self.set_medoids(np.delete(self.medoids, np.argmin(self._removal_cost)))

    def swap(self, max_iter: int) -> tuple[int, int]:
        """Swap medoids for other rows while this lowers the loss (FasterPAM).

        Threads evaluate blocks of candidates in parallel. The first improving swap in candidate
        order is applied, as with one thread. The blocks grow while no swap is found. Returns the
        number of swaps and of passes.
        """
        from pellucid.xclusters.kernels import update_nearest_two

        candidates, n = self._candidates, len(self._candidates)
        is_medoid = np.zeros(len(self.D), dtype=bool)
        is_medoid[self.medoids] = True
        min_length, max_length = (max(1, size // len(self.D)) for size in (_CHUNK, _MAX_CHUNK))
        n_swaps = n_tried = n_since_swap = begin = 0
        length = min_length
        while n_since_swap < n and n_tried < max_iter * n:
            end = min(begin + length, begin + n - n_since_swap, n)
            swap = self._find_swap(is_medoid, begin, end)
            if swap is None:
                n_since_swap, length = n_since_swap + end - begin, min(2 * length, max_length)
            else:
                position, i = swap
                is_medoid[self.medoids[i]] = False
                self.medoids[i] = candidates[position]
                is_medoid[self.medoids[i]] = True
                update_nearest_two(self.D, self.medoids, i, self._largest, *self._nearest_arrays())
                self._update_costs()
                n_swaps, n_since_swap, length, end = n_swaps + 1, 0, min_length, position + 1
            n_tried += end - begin
            begin = end % n
        if n_since_swap < n:
            found = f"k-medoids stopped after max_iter={max_iter} passes before it converged"
            warnings.warn(f"{found}; increase max_iter", ConvergenceWarning, stacklevel=3)
        return n_swaps, -(-n_tried // n)

    def labels_and_loss(self) -> tuple[np.ndarray, float]:
        """Nearest medoid of each row (ties go to the lowest), and the weighted sum of distances."""
        self.set_medoids(self.medoids)
        return self._nearest.astype(np.int64), math.fsum(self.weight * self._nearest_distance)

    def _nearest_arrays(self) -> tuple[np.ndarray, ...]:
        return self._nearest, self._nearest_distance, self._second, self._second_distance

    def _update_costs(self) -> None:
        """Update the cost of each row at its nearest two medoids, and the removal costs."""
        self._cost = np.rint(self._nearest_distance * self._scale) * self._multiplier
        self._second_cost = np.rint(self._second_distance * self._scale) * self._multiplier
        if len(self.medoids):
            increase = self._second_cost - self._cost
            self._removal_cost = np.bincount(self._nearest, increase, minlength=len(self.medoids))

    def _find_swap(self, is_medoid: np.ndarray, begin: int, end: int) -> tuple[int, int] | None:
        """First improving candidate of a range, and the position of the medoid to replace."""
        from pellucid.xclusters.kernels import first_swap

        def work(block: tuple[int, int]) -> np.ndarray:
            swap = np.empty(2, dtype=np.int64)
            first_swap(self.D, self._candidates, *block, is_medoid, *rows, *costs, swap)
            return swap

        rows = self._nearest, self._second_distance, self._cost, self._second_cost
        costs = self._scale, self._multiplier, self._removal_cost
        swaps = [swap.tolist() for swap in self._map_blocks(work, begin, end)]
        return next(((position, i) for position, i in swaps if position >= 0), None)

    def _map_blocks(
        self, work: Callable[[tuple[int, int]], Any], begin: int, end: int
    ) -> list[Any]:
        """Apply `work` to blocks of begin .. end, in parallel if there are several."""
        blocks = self.pool.blocks(end - begin, max(1, _CHUNK // len(self.D)))
        return self.pool.map(work, [(begin + a, begin + b) for a, b in blocks])


def draw_rows(
    D: np.ndarray, weight: np.ndarray, n_rows: int, random_state: Any, order: Any = None
) -> np.ndarray:
    """Greedy k-means++ seeding with distances instead of squared distances.

    Each row is the best of 2 + ⌊ln n_rows⌋ rows drawn with probability proportional to
    weight · distance to the nearest chosen row. Rows are numbered in the given order meanwhile.
    """
    random = check_random_state(random_state)
    order = np.arange(len(D)) if order is None else order
    weight = weight[order]
    chosen = draw_weighted(weight, 1, random)
    distance = D[order[chosen[0]]][order].astype(np.float64)
    while len(chosen) < n_rows:
        probability = weight * distance
        probability[chosen] = 0.0
        if not probability.any():
            # All remaining rows coincide with chosen ones.
            probability = weight.copy()
            probability[chosen] = 0.0
        trials = draw_weighted(probability, 2 + int(np.log(n_rows)), random)
        new_distance = np.minimum(distance, D[order[trials]][:, order])
        best = int(np.argmin((weight * new_distance).sum(axis=1)))
        chosen, distance = np.append(chosen, trials[best]), new_distance[best]
    return order[chosen].astype(np.int64)


def _units(largest: float, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scale and multiplier of each row, as defined in `kernels`."""
    total = math.fsum(weight)
    exponent = 0 if largest == 0 else _BITS - math.frexp(largest * total)[1]
    if not np.isfinite(largest * total) or exponent > _MAX_EXPONENT - max(0, math.frexp(total)[1]):
        raise ValueError(
            f"the largest distance is {largest:.3g} and the weights sum to {total:.3g}, too "
            f"{'small' if largest < 1 else 'large'} to sum in float64; multiply the distances by a "
            "constant"
        )
    per_unit = 2.0**exponent
    if total <= _MAX_EXACT_WEIGHT and np.array_equal(weight, np.rint(weight)):
        return np.full(len(weight), per_unit), weight
    return weight * per_unit, np.ones(len(weight))
