"""From the rows of a batch to the nodes of a growing tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.scale.batches import Batch
from pellucid.tree import TreeBuilder


@dataclass(frozen=True)
class Routing:
    """The splits of a growing tree, as they are sent to the batches.

    Attributes
    ----------
    feature, left, right : ndarray of shape (n_nodes,), int
        -1 for leaves.
    threshold : ndarray of shape (n_nodes,)
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray

    @classmethod
    def of(cls, builder: TreeBuilder) -> Routing:
        """The splits of a tree so far."""
        nodes = builder.nodes
        return cls(
            np.array([node.feature for node in nodes], dtype=np.intp),
            np.array([node.threshold for node in nodes], dtype=np.float64),
            np.array([node.left for node in nodes], dtype=np.intp),
            np.array([node.right for node in nodes], dtype=np.intp),
        )

    def leaves(self, batch: Batch) -> np.ndarray:
        """The leaf of each row.

        A batch stores the leaves of the last routing. If this one continues it, only the splits
        since then are applied, and only their columns are read.
        """
        from pellucid.scale.kernels import route

        last, leaf = batch.routed
        if last is None or not self._continues(last):
            last, leaf = None, np.zeros(batch.n_rows, dtype=np.int32)
        is_new = self.left >= 0
        if last is not None:
            is_new[: len(last.left)] &= last.left < 0
        if is_new.any():
            used = np.unique(self.feature[is_new])
            slot = np.searchsorted(used, self.feature)
            leaf = leaf.copy()
            route(batch.columns(used), slot, self.threshold, self.left, self.right, leaf)
        if last is None or is_new.any():
            batch.routed = self, leaf
        return leaf

    def _continues(self, last: Routing) -> bool:
        """Whether all splits of another routing are among those of this one."""
        n, was_split = len(last.left), last.left >= 0
        if n > len(self.left):
            return False
        return all(
            np.array_equal(getattr(self, name)[:n][was_split], getattr(last, name)[was_split])
            for name in ("feature", "threshold", "left", "right")
        )


def rows_by_leaf(leaf: np.ndarray, numbers: list[int]) -> dict[int, np.ndarray]:
    """Rows of some leaves."""
    return {number: (leaf == number).nonzero()[0].astype(np.int32) for number in numbers}
