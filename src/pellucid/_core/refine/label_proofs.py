"""Trees of depth one to three with the least mistakes, and a proof of it.

The loops are in `pellucid._core.kernels.label_bounds`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

MAX_DEPTH = 3
"""Depth of the trees that can be searched."""


class Proof(NamedTuple):
    """A lower bound of the mistakes, and a tree that has them unless they are those of the limit.

    The tree is nested: ``(feature, rank, left, right)``, or None for a leaf.
    """

    bound: int
    tree: Any = None


class ExactSearch:
    """Searches of all trees over ranked rows, `rank` and `own` as in `label_search`."""

    def __init__(self, rank: np.ndarray, own: np.ndarray, n_labels: int) -> None:
        self.rank, self.own, n = rank, own, len(rank)
        self._everything = np.ascontiguousarray(
            np.argsort(rank, axis=0, kind="stable").T, dtype=np.int32
        )
        self._side, self._goes = np.empty(n, np.int64), np.empty(n, np.int64)
        self._counts = np.empty((2, 3, n_labels), np.int64)
        self._best = np.empty((2, 8), np.int64)
        self._stack = np.empty((2, 10, n + 2), np.int64)

    def prove(self, depth: int, n_leaves: int, limit: int, max_work: float) -> Proof | None:
        """The least mistakes, or that they are at least `limit`; None if the work is not enough.

        With fewer leaves than a tree of this depth can have, and more than three, it is a bound.
        """
        found = np.array([0, -1, -1, 0, int(max_work)])
        if not self._solve(self._everything, depth, n_leaves, limit, found):
            return None
        if found[0] >= limit:
            return Proof(limit)
        unlimited = np.array([0, -1, -1, 0, 2**62])
        return Proof(int(found[0]), self._tree(self._everything, depth, n_leaves, unlimited))

    def _solve(
        self, order: np.ndarray, depth: int, n_leaves: int, limit: int, found: np.ndarray
    ) -> bool:
        from pellucid._core.kernels import label_bounds as loops

        data, scratch = (self.rank, self.own, order), (self._counts, self._best)
        if depth == 1 or n_leaves == 2:
            loops.solve_one(*data, self._side, *scratch, found)
            return True
        if depth == 2 or n_leaves == 3:
            is_three = n_leaves == 3
            stack = self._stack[0]
            return loops.solve_two(*data, limit, is_three, self._side, *scratch, stack, found)
        part = np.empty_like(order)
        sides = self._side, self._goes
        return loops.solve_three(*data, part, limit, *sides, *scratch, self._stack, found)

    def _tree(self, order: np.ndarray, depth: int, n_leaves: int, found: np.ndarray) -> Any:
        """The best tree of the rows of `order`."""
        if depth == 0 or n_leaves == 1 or order.shape[1] == 0:
            return None
        self._solve(order, depth, n_leaves, 2**62, found)
        value, feature, rank = found[:3].tolist()
        if feature < 0:
            return None
        goes_left = self.rank[:, feature] <= rank
        shape = len(order), -1
        sides = [order[kept[order]].reshape(shape) for kept in (goes_left, ~goes_left)]
        choices = [(2, 1), (1, 2)] if n_leaves == 3 else [(n_leaves // 2, n_leaves // 2)]
        for leaves in choices:
            total = 0
            for side, n in zip(sides, leaves):
                if min(depth - 1, n - 1) == 0:
                    total += self._leaf(side)
                else:
                    self._solve(side, depth - 1, n, 2**62, found)
                    total += int(found[0])
            if total == value:
                break
        children = (self._tree(s, depth - 1, n, found) for s, n in zip(sides, leaves))
        return feature, rank, *children

    def _leaf(self, order: np.ndarray) -> int:
        """Mistakes of a leaf."""
        units = np.zeros(self._counts.shape[2], np.int64)
        np.add.at(units, self.own[order[0], 0], self.own[order[0], 1])
        return int(units.sum() - units.max())
