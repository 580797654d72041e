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
        """The leaf of each row."""
        from pellucid.scale.kernels import route

        leaf = np.zeros(batch.n_rows, dtype=np.int32)
        if self.left[0] < 0:
            return leaf
        used = np.unique(self.feature[self.feature >= 0])
        slot = np.searchsorted(used, self.feature)
        route(batch.columns(used), slot, self.threshold, self.left, self.right, leaf)
        return leaf


def rows_by_leaf(leaf: np.ndarray, numbers: list[int]) -> dict[int, np.ndarray]:
    """Rows of some leaves."""
    order = leaf.argsort(kind="stable").astype(np.int32)
    ends = leaf.take(order)
    starts = np.searchsorted(ends, numbers), np.searchsorted(ends, numbers, side="right")
    return {
        number: order[begin:end]
        for number, begin, end in zip(numbers, *(array.tolist() for array in starts))
    }
