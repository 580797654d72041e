"""Trees of depth one to three with the least mistakes, and a proof of it.

The loops are in `pellucid._core.kernels.label_bounds`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

MAX_DEPTH = 3
"""Depth of the trees that can be searched."""


class Proof(NamedTuple):
    """A lower bound of the mistakes, 0 without proof, and a tree with fewer than the limit.

    The tree is nested: ``(feature, rank, left, right)``, or None for a leaf.
    """

    bound: int
    tree: Any = None


class ExactSearch:
    """Searches of all trees over ranked rows, `rank` and `own` as in `label_search`."""

    def __init__(self, rank: np.ndarray, own: np.ndarray, n_labels: int) -> None:
        n = len(rank)
        self.rank, self.n_labels = np.ascontiguousarray(rank.T), n_labels
        self.label, self.weight = own[:, 0].astype(np.int32), np.ascontiguousarray(own[:, 1])
        self._everything = np.argsort(self.rank, axis=1, kind="stable").astype(np.int32)
        self._side, self._goes = np.empty(n, np.int8), np.empty(n, np.int8)
        self._counts = np.empty((2, 2, n_labels), np.int64)
        self._best, self._stacks = np.empty((4, 8), np.int64), np.empty((2, 10, n + 2), np.int64)

    def prove(self, depth: int, n_leaves: int, limit: int, max_work: float) -> Proof:
        """The least mistakes, or that they are at least `limit`; a bound of 0 if work is too short.

        With fewer leaves than a tree of this depth can have, and more than three, it is a bound.
        """
        found = self._found(int(max_work))
        is_done = self._solve(self._everything, depth, n_leaves, limit, found)
        value = int(found[0])
        if value >= limit:
            return Proof(limit * is_done)
        tree = self._tree(
            self._everything, depth, n_leaves, self._found(2**62), found[1:3].tolist()
        )
        return Proof(value * is_done, tree)

    def _found(self, max_work: int) -> np.ndarray:
        return np.array([0, -1, -1, 0, max_work, self.weight.max()])

    def _solve(
        self, order: np.ndarray, depth: int, n_leaves: int, limit: int, found: np.ndarray
    ) -> bool:
        from pellucid._core.kernels import label_bounds as loops

        data, scratch = (self.rank, self.label, self.weight, order), (self._counts, self._best)
        if depth == 1 or n_leaves == 2:
            loops.solve_one(*data, self._side, *scratch, found)
            return True
        if depth == 2 or n_leaves == 3:
            stack = self._stacks[0]
            return loops.solve_two(*data, limit, n_leaves == 3, self._side, *scratch, stack, found)
        sides, part = (self._side, self._goes), np.empty_like(order)
        return loops.solve_three(*data, part, limit, *sides, *scratch, self._stacks, found)

    def _tree(
        self, order: np.ndarray, depth: int, n_leaves: int, found: np.ndarray, cut: Any = None
    ) -> Any:
        """The best tree of the rows of `order`, or that of a cut."""
        if depth == 0 or n_leaves == 1 or order.shape[1] == 0:
            return None
        if cut is None:
            self._solve(order, depth, n_leaves, 2**62, found)
        feature, rank = found[1:3].tolist() if cut is None else cut
        if feature < 0:
            return None
        goes_left, shape = self.rank[feature] <= rank, (len(order), -1)
        sides = [order[kept[order]].reshape(shape) for kept in (goes_left, ~goes_left)]
        choices = [(2, 1), (1, 2)] if n_leaves == 3 else [(n_leaves // 2, n_leaves // 2)]
        totals = [
            sum(self._least(side, depth - 1, n, found) for side, n in zip(sides, leaves))
            for leaves in choices
        ]
        leaves = choices[totals.index(min(totals))]
        return feature, rank, *(self._tree(s, depth - 1, n, found) for s, n in zip(sides, leaves))

    def _least(self, order: np.ndarray, depth: int, n_leaves: int, found: np.ndarray) -> int:
        """Least mistakes of the rows of `order`."""
        if depth == 0 or n_leaves == 1 or order.shape[1] == 0:
            units = np.zeros(self.n_labels, np.int64)
            np.add.at(units, self.label[order[0]], self.weight[order[0]])
            return int(units.sum() - units.max())
        self._solve(order, depth, n_leaves, 2**62, found)
        return int(found[0])
