"""Lines of rows added up by bin, for dense data."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pellucid._core.criteria.problem import Problem
from pellucid._core.criteria.surrogate_bounds import Rivals, Standing

_CHUNK = 2**17
"""Sums that are added up and judged together: few enough to stay in cache."""

_SMALL = 2**22
"""Bytes of sums that are kept for as long as a cell is searched, to look into columns."""

TOGETHER = 4
"""Numbers of a line that take no longer to add up than fewer do."""

_NEAR = 2**16
"""Numbers in the lines of rows that are added up together: few enough to stay in cache."""


class DenseSums:
    """Sums by bin of the lines of a cell's rows, of dense data.

    Parameters
    ----------
    problem : Problem
    rivals : Rivals
    rows : ndarray of int32
    standing : Standing
        Of the cell.
    """

    is_kept = False

    def __init__(
        self, problem: Problem, rivals: Rivals, rows: np.ndarray, standing: Standing
    ) -> None:
        self.problem, self.rivals, self.rows = problem, rivals, rows
        self._shape = (problem.n_features, problem.bins.edges.shape[1], rivals.n_sums)
        is_small = 8 * int(np.prod(self._shape)) <= _SMALL
        self._sums = np.empty(self._shape, dtype=np.int64) if is_small else None
        gains = standing.totals[rivals.star] - standing.totals[rivals.rivals]
        # Of the last number of the lines, it is enough to count the rows.
        self.totals = np.append(gains, len(rows))

    def blocks(self, features: np.ndarray) -> list[np.ndarray]:
        """The features in blocks to be worked on one after the other."""
        step = max(1, _CHUNK // (self._shape[1] * self._shape[2]))
        return [features[i : i + step] for i in range(0, len(features), step)]

    def add_up(self, features: np.ndarray):
        """Of some neighbouring columns: where the bins of each begin, their codes and sums."""
        if self._sums is None:
            return self._anew(features)
        sums = self._sums[features[0] : features[-1] + 1]
        sums.fill(0)
        self._add(features, sums)
        return self._levels(sums)

    def column(self, feature: int):
        """The same of one column, once they have been added up."""
        if self._sums is None:
            return self._anew(np.array([feature]))
        return self._levels(self._sums[feature : feature + 1])

    def probe(self, features: np.ndarray):
        """Some columns, in any order, and the same of them, for this once."""
        yield features, self._anew(features)

    def _anew(self, features: np.ndarray):
        sums = np.zeros((len(features), *self._shape[1:]), dtype=np.int64)
        self._add(features, sums)
        return self._levels(sums)

    def lines_at(self, places: np.ndarray) -> np.ndarray:
        """Lines of the rows at some places of the cell."""
        return self.rivals.lines_of(self.rows[places])

    def _add(self, features: np.ndarray, sums: np.ndarray) -> None:
        from pellucid._core.kernels.surrogate_cost import add_by_bin

        step = max(_NEAR // self._shape[2], 64)
        for start in range(0, len(self.rows), step):
            some = self.rows[start : start + step]
            add_by_bin(features, self.problem.bins.codes, some, self.rivals.lines_of(some), sums)

    def _levels(self, sums: np.ndarray):
        n, width, n_sums = sums.shape
        return *_every_bin(n, width), sums.reshape(-1, n_sums)


@lru_cache(maxsize=32)
def _every_bin(n: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the bins of n columns begin, if all have as many, and the codes of all bins."""
    return width * np.arange(n + 1), np.tile(np.arange(width), n)
