"""Nearest neighbors among distinct rows, independent of the order of the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pellucid._utils.texts import say


class DistinctRows:
    """A k-d tree of the distinct rows, with weights.

    Identical rows are merged into one point, and a row of weight w counts as w neighbors. If only
    part of a point's weight is needed, all its rows contribute proportionally. The result
    therefore does not depend on the order of identical rows. `points` are the distinct rows in
    lexicographic order, `of_row` is the point of each row, and `total` the weight of each point.
    """

    of_row: np.ndarray
    points: np.ndarray
    total: np.ndarray

    def __init__(self, Z: np.ndarray, weight: np.ndarray) -> None:
        from sklearn.neighbors import KDTree

        order = np.lexsort(Z.T[::-1])
        ordered = Z[order]
        is_new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
        self.of_row = np.empty(len(Z), dtype=np.int64)
        self.of_row[order] = np.cumsum(is_new) - 1
        self.points = ordered[is_new]
        self.weight = weight
        self.total = np.bincount(self.of_row, weights=weight)
        self._tree = KDTree(self.points)

    def sum_by_point(self, indicators: np.ndarray) -> np.ndarray:
        """Weight per point of the rows for which each indicator, a column, is true."""
        sums = [np.bincount(self.of_row, weights=self.weight * column) for column in indicators.T]
        return np.column_stack(sums)

    def query(self, Z: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Distances and indices of the nearest points of each row, and the weight used of each.

        The weights sum to `k`, or to the total weight if that is smaller.
        """
        distance, index = self._tree.query(Z, k=min(k, len(self.points)))
        return distance, index, _used_weight(self.total[index], k)

    def query_leave_one_out(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """`query` for each training row without itself (without weight 1 of a heavier row).

        The last array is the weight that is left out of the first point of each row.
        """
        distance, index = self._tree.query(self.points, k=min(k + 1, len(self.points)))
        distance, index = distance[self.of_row], index[self.of_row]
        total, own = self.total[index], np.minimum(self.weight, 1.0)
        total[:, 0] -= own
        return distance, index, _used_weight(total, k), own


def _used_weight(total: np.ndarray, k: int) -> np.ndarray:
    """Weight used of each neighbor, nearest first, until `k` is reached."""
    return np.clip(k - (np.cumsum(total, axis=1) - total), 0.0, total)


def safe_divide(part: np.ndarray, total: np.ndarray) -> np.ndarray:
    """``part / total``, and 0 where the total is 0."""
    return np.divide(part, total, out=np.zeros(np.shape(part)), where=total > 0)


class KNNClassifier:
    """Predicts the class with the largest weight among the nearest rows; ties go to the lowest.

    Columns are divided by `scale` before distances are computed.
    """

    scale: np.ndarray
    n_neighbors: int

    def __init__(
        self,
        P: np.ndarray,
        y: np.ndarray,
        weight: np.ndarray,
        n_classes: int,
        scale: np.ndarray,
        n_neighbors: int,
    ) -> None:
        self.scale, self.n_neighbors = scale, n_neighbors
        self._rows = DistinctRows(P / scale, weight)
        self._is_class = y[:, None] == np.arange(n_classes)
        self._class_weight = self._rows.sum_by_point(self._is_class)

    def predict(self, P: np.ndarray) -> np.ndarray:
        """Class index of every row."""
        if not len(P):
            return np.empty(0, dtype=np.int64)
        _, index, used = self._rows.query(P / self.scale, self.n_neighbors)
        fraction = safe_divide(used, self._rows.total[index])
        return (fraction[:, :, None] * self._class_weight[index]).sum(axis=1).argmax(axis=1)

    def reason(self, answer: int, names: Sequence[str], classes: np.ndarray) -> str:
        """Condition under which a class is predicted, as text."""
        return say("whereNeighbors", n=self.n_neighbors, answer=str(classes[answer]))

    def leave_one_out(self) -> np.ndarray:
        """Leave-one-out predictions for the training rows."""
        _, index, used, own = self._rows.query_leave_one_out(self.n_neighbors)
        class_weight, total = self._class_weight[index], self._rows.total[index]
        class_weight[:, 0] -= own[:, None] * self._is_class
        total[:, 0] -= own
        fraction = safe_divide(used, total)
        return (fraction[:, :, None] * class_weight).sum(axis=1).argmax(axis=1)
