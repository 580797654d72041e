"""The state of a k-medoids search: medoids, the two nearest to each row, what the rows pay."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from pellucid._utils.threads import ThreadPool
from pellucid.xclusters.distances.matrix import largest_entry

_BITS = 50
"""All rows together pay fewer than two to the power of this: sums are exact in float64."""

_LARGEST_POWER = 1000
"""Of two, in float64, with some room."""

_REPEATABLE = 2.0**20
"""Total of whole weights up to which a weight is so many copies of a row, to the last bit."""

_CHUNK = 2**20
"""Distances that are worth a thread."""

_PATIENCE = 2**27
"""Distances that are read at once at the most: some tenths of a second, then Ctrl-C is heard."""


class MedoidSearch:
    """Medoids that are placed, added, removed and swapped.

    Parameters
    ----------
    D : ndarray of shape (n_samples, n_samples), float32 or float64, C-contiguous
        Symmetric distances.
    weight : ndarray of shape (n_samples,), float64
        Rows of weight 0 cannot be medoids.
    pool : ThreadPool

    Attributes
    ----------
    medoids : ndarray of int64
        Row numbers.
    """

    def __init__(self, D: np.ndarray, weight: np.ndarray, pool: ThreadPool) -> None:
        self.D, self.weight, self.pool = D, weight, pool
        n = len(D)
        self._candidates = np.flatnonzero(weight > 0)
        self._largest = largest_entry(D, pool)
        self._scale, self._times = _units(self._largest, weight)
        self._near, self._second = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
        # A row pays for the farthest there is until it has a medoid.
        self._to_near, self._to_second = np.full(n, self._largest), np.full(n, self._largest)
        self.medoids = np.empty(0, dtype=np.int64)
        self._price()

    def place(self, medoids: np.ndarray) -> None:
        """Start anew from these medoids."""
        from pellucid.xclusters.kernels import nearest_two

        self.medoids = medoids
        nearest_two(self.D, medoids, self._largest, *self._nearest())
        self._price()

    def build(self, n_clusters: int) -> None:
        """Medoids from nothing; swaps are tried in the order of the rows' sums of distances.

        So it does not matter in which order the rows came. Equal sums stay in that order.
        """
        saved = self.complete(n_clusters)[self._candidates]
        self._candidates = self._candidates[np.argsort(-saved, kind="stable")]

    def complete(self, n_clusters: int) -> np.ndarray:
        """Add medoids one by one, each time the row that saves most, the lowest of equals.

        A row never saves more than it would have saved with fewer medoids there. So they are
        looked at from the most they can save downwards, until none that is left can win.

        Returns
        -------
        ndarray of shape (n_samples,)
            What each row would have saved as the first one to be added.
        """
        from pellucid.xclusters.kernels import gains

        bound = np.full(len(self.D), np.inf)
        bound[self.weight == 0] = bound[self.medoids] = -1.0
        first = None
        while len(self.medoids) < n_clusters:
            rows = np.argsort(-bound, kind="stable")
            rows = rows[bound[rows] >= 0]
            best, begin, size = 0.0, 0, 16
            while begin < len(rows) and bound[rows[begin]] >= best:
                some = rows[begin : begin + size]
                some = some[bound[some] >= best]

                def work(block: tuple[int, int], some: np.ndarray = some) -> None:
                    state = self._pays, self._scale, self._times
                    gains(self.D, some[slice(*block)], *state, bound)

                self._share(work, 0, len(some))
                best = max(best, bound[some].max())
                begin, size = begin + len(some), 2 * size
            seen = rows[:begin]
            chosen = seen[bound[seen] == best].min()
            first = bound.copy() if first is None else first
            bound[chosen] = -1.0
            self.place(np.append(self.medoids, chosen))
        return first

    def reduce(self, n_clusters: int) -> None:
        """Remove medoids one by one, each time the one that is missed least."""
        while len(self.medoids) > n_clusters:
            self.place(np.delete(self.medoids, np.argmin(self._removal)))

    def swap(self, max_iter: int) -> tuple[int, int]:
        """Swap a medoid for another row while that helps; the number of swaps and of passes.

        Several threads look ahead, each at its own candidates, and the first swap in the order of
        the candidates is made, as one thread would. They look farther the longer nothing is found.
        """
        from pellucid.xclusters.kernels import exchange

        candidates, n = self._candidates, len(self._candidates)
        is_medoid = np.zeros(len(self.D), dtype=bool)
        is_medoid[self.medoids] = True
        least, most = (max(1, size // len(self.D)) for size in (_CHUNK, _PATIENCE))
        n_swaps = looked = since = at = 0
        ahead = least
        while since < n and looked < max_iter * n:
            end = min(at + ahead, at + n - since, n)
            found = self._find_swap(is_medoid, at, end)
            if found is None:
                since, ahead = since + end - at, min(2 * ahead, most)
            else:
                position, i = found
                is_medoid[self.medoids[i]] = False
                self.medoids[i] = candidates[position]
                is_medoid[self.medoids[i]] = True
                exchange(self.D, self.medoids, i, self._largest, *self._nearest())
                self._price()
                n_swaps, since, ahead, end = n_swaps + 1, 0, least, position + 1
            looked += end - at
            at = end % n
        if since < n:
            warnings.warn(
                f"k-medoids stopped after max_iter={max_iter} passes, while swaps still helped; "
                "allow more",
                ConvergenceWarning,
                stacklevel=3,
            )
        return n_swaps, -(-looked // n)

    def labels_and_loss(self) -> tuple[np.ndarray, float]:
        """Nearest medoid of each row, the lowest of equals, and the weighted sum of distances."""
        self.place(self.medoids)
        return self._near.astype(np.int64), math.fsum(self.weight * self._to_near)

    def _nearest(self) -> tuple[np.ndarray, ...]:
        return self._near, self._to_near, self._second, self._to_second

    def _price(self) -> None:
        """What rows pay, what they would pay for the second medoid, what each medoid saves."""
        self._pays = np.rint(self._to_near * self._scale) * self._times
        self._next_pays = np.rint(self._to_second * self._scale) * self._times
        if len(self.medoids):
            more = self._next_pays - self._pays
            self._removal = np.bincount(self._near, more, minlength=len(self.medoids))

    def _find_swap(self, is_medoid: np.ndarray, begin: int, end: int) -> tuple[int, int] | None:
        """First candidate of a range that helps, and the medoid to give up for it."""
        from pellucid.xclusters.kernels import first_swap

        def work(block: tuple[int, int]) -> np.ndarray:
            found = np.empty(2, dtype=np.int64)
            state = is_medoid, self._near, self._to_second, self._pays, self._next_pays
            prices = self._scale, self._times, self._removal
            first_swap(self.D, self._candidates, *block, *state, *prices, found)
            return found

        hits = (found for found in self._share(work, begin, end) if found[0] >= 0)
        hit = next(hits, None)
        return None if hit is None else (int(hit[0]), int(hit[1]))

    def _share(self, work: Callable[[tuple[int, int]], Any], begin: int, end: int) -> list:
        """Work through begin .. end, on several threads where that is worth it."""
        blocks = self.pool.blocks(end - begin, max(1, _CHUNK // len(self.D)))
        return self.pool.map(work, [(begin + a, begin + b) for a, b in blocks])


def draw_rows(D: np.ndarray, weight: np.ndarray, n_rows: int, random_state: Any) -> np.ndarray:
    """Rows to start from: each the best of a few drawn by how far they are from those before.

    As k-means++ does it, with distances for squared ones.
    """
    random = check_random_state(random_state)
    chosen = _draw(weight, 1, random)
    away = D[chosen[0]].astype(np.float64)
    while len(chosen) < n_rows:
        chances = weight * away
        chances[chosen] = 0.0
        if not chances.any():
            # Every row that is left coincides with a chosen one.
            chances = weight.copy()
            chances[chosen] = 0.0
        tries = _draw(chances, 2 + int(np.log(n_rows)), random)
        after = np.minimum(away, D[tries])
        best = int(np.argmin((weight * after).sum(axis=1)))
        chosen, away = np.append(chosen, tries[best]), after[best]
    return chosen.astype(np.int64)


def _draw(chances: np.ndarray, n: int, random: np.random.RandomState) -> np.ndarray:
    """Row numbers, each drawn with a chance in proportion, never one without a chance."""
    heaped = np.cumsum(chances)
    drawn = np.searchsorted(heaped, random.uniform(size=n) * heaped[-1], side="right")
    return drawn.clip(max=np.flatnonzero(chances)[-1])


def _units(largest: float, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`scale` and `times` of each row, as `kernels.medoids` reads them."""
    total = float(weight.sum())
    exponent = 0 if largest == 0 else _BITS - math.frexp(largest * total)[1]
    if not np.isfinite(largest * total) or exponent > _LARGEST_POWER - max(0, math.frexp(total)[1]):
        raise ValueError(
            f"the largest distance is {largest:.3g} and the weights sum to {total:.3g}, too "
            f"{'little' if largest < 1 else 'much'} to add up in float64; multiply the distances "
            "by a constant"
        )
    per_unit = 2.0**exponent
    if total <= _REPEATABLE and np.array_equal(weight, np.rint(weight)):
        return np.full(len(weight), per_unit), weight
    return weight * per_unit, np.ones(len(weight))
