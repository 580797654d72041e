"""From the rows of a batch to the nodes of a growing tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid._core.data.arrays import order_by
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
        from pellucid.scale.kernels import route_node

        last, leaf = batch.routed
        if last is self:
            return leaf
        if last is None or not self.continues(last):
            last, leaf = None, np.zeros(batch.n_rows, dtype=np.int16)
        is_new = self.left >= 0
        if last is not None:
            is_new[: len(last.left)] &= last.left < 0
        if is_new.any():
            leaf = leaf.astype(np.int16 if len(self.left) < 2**15 else np.int32)  # a copy
            for node in is_new.nonzero()[0]:  # children have larger numbers than their parents
                numbers = map(leaf.dtype.type, (node, self.left[node], self.right[node]))
                values = batch.columns[self.feature[node]]
                route_node(*numbers, values, self.threshold[node], leaf)
        if last is None or is_new.any():
            batch.routed = self, leaf
        return leaf

    def equals(self, other: Routing) -> bool:
        """Whether both have the same splits."""
        return self is other or (len(self.left) == len(other.left) and self.continues(other))

    def continues(self, last: Routing) -> bool:
        """Whether all splits of another routing are among those of this one."""
        n, was_split = len(last.left), last.left >= 0
        if n > len(self.left):
            return False
        return all(
            np.array_equal(getattr(self, name)[:n][was_split], getattr(last, name)[was_split])
            for name in ("feature", "threshold", "left", "right")
        )


def rows_by_leaf(leaf: np.ndarray, numbers: Sequence[int]) -> dict[int, np.ndarray]:
    """Rows of some leaves, ascending."""
    n_nodes = max(numbers, default=0) + 2
    last = np.minimum(leaf, n_nodes - 1)  # one group for all later leaves
    ends = np.bincount(last, minlength=n_nodes).cumsum()
    order = order_by(last, n_nodes)
    return {n: order[ends[n - 1] if n else 0 : ends[n]] for n in numbers}
