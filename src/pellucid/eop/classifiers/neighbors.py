"""Training rows by place: nearest neighbours that do not depend on the order of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pellucid.eop.classifiers.base import BaseClassifier, FittedClassifier
from pellucid.eop.problem import project

N_NEIGHBORS = 5
"""Neighbours of the built-in k-NN classifier, as in scikit-learn."""


class DistinctRows:
    """Rows gathered by place, in a tree.

    Rows that coincide are taken together, and a row of weight w counts as w neighbours, so it
    never matters which of several equally near rows comes first.

    Parameters
    ----------
    Z : ndarray of shape (n, dim)
        Rows, scaled.
    weight : ndarray of shape (n,)

    Attributes
    ----------
    places : ndarray of shape (n_places, dim)
        Different rows, in lexical order.
    of_row : ndarray of shape (n,), int
        Place of each row.
    """

    def __init__(self, Z: np.ndarray, weight: np.ndarray) -> None:
        from sklearn.neighbors import KDTree

        order = np.lexsort(Z.T[::-1])
        ordered = Z[order]
        is_new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
        self.of_row = np.empty(len(Z), dtype=np.int64)
        self.of_row[order] = np.cumsum(is_new) - 1
        self.places = ordered[is_new]
        self.weight = weight
        self.total = np.bincount(self.of_row, weights=weight)
        self._tree = KDTree(self.places)

    def gather(self, values: np.ndarray) -> np.ndarray:
        """Weight of the rows of each place that have each of some properties.

        Parameters
        ----------
        values : ndarray of shape (n, n_properties), bool
        """
        sums = [np.bincount(self.of_row, weights=self.weight * column) for column in values.T]
        return np.column_stack(sums)

    def near(self, Z: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Distances and numbers of the places next to each row, and the weight taken of each.

        The weights add up to `k`, or to all there is.
        """
        distance, index = self._tree.query(Z, k=min(k, len(self.places)))
        return distance, index, _take(self.total[index], k)

    def nearest_to_training_rows(
        self, k: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The same for the training rows, each without itself (of a heavier row, without one).

        The last array is the weight that was left out of the first place of each row.
        """
        distance, index = self._tree.query(self.places, k=min(k + 1, len(self.places)))
        distance, index = distance[self.of_row], index[self.of_row]
        total, own = self.total[index], np.minimum(self.weight, 1.0)
        total[:, 0] -= own
        return distance, index, _take(total, k), own


def _take(total: np.ndarray, k: int) -> np.ndarray:
    return np.clip(k - (np.cumsum(total, axis=1) - total), 0.0, total)


def shares(part: np.ndarray, total: np.ndarray) -> np.ndarray:
    """``part / total``, 0 where there is nothing."""
    return np.divide(part, total, out=np.zeros(np.shape(part)), where=total > 0)


class KNNClassifier:
    """The heaviest class among the nearest rows; the lowest of equals.

    Attributes
    ----------
    n_neighbors : int
    scale : ndarray of shape (dim,)
        Distances are taken after division by these.
    """

    def __init__(self, P, y, weight, n_classes: int, scale, n_neighbors: int) -> None:
        self.scale, self.n_neighbors = scale, n_neighbors
        self._places = DistinctRows(P / scale, weight)
        self._is_class = y[:, None] == np.arange(n_classes)
        self._classes = self._places.gather(self._is_class)

    def predict(self, P: np.ndarray) -> np.ndarray:
        """Position of the class, for every row."""
        if not len(P):
            return np.empty(0, dtype=np.int64)
        _, index, taken = self._places.near(P / self.scale, self.n_neighbors)
        weight = shares(taken, self._places.total[index])
        return (weight[:, :, None] * self._classes[index]).sum(axis=1).argmax(axis=1)

    def reason(self, answer: int, names: Sequence[str], classes: np.ndarray) -> str:
        """When it gives an answer, in words."""
        return f"where most of the {self.n_neighbors} nearest rows are {classes[answer]}"

    def own_answers(self) -> np.ndarray:
        """What it says of each training row when that row is left out."""
        _, index, taken, own = self._places.nearest_to_training_rows(self.n_neighbors)
        classes, total = self._classes[index], self._places.total[index]
        classes[:, 0] -= own[:, None] * self._is_class
        total[:, 0] -= own
        return (shares(taken, total)[:, :, None] * classes).sum(axis=1).argmax(axis=1)


class KNNBase(BaseClassifier):
    """The nearest neighbours; training rows are judged without themselves."""

    def answers(self, rows, subsets):
        """See `BaseClassifier.answers`."""
        return np.stack([self._make(rows, tuple(s)).own_answers() for s in subsets.tolist()])

    def fit(self, rows, features):
        """See `BaseClassifier.fit`."""
        classifier = self._make(rows, features)
        return FittedClassifier(classifier, classifier.own_answers())

    def _make(self, rows: np.ndarray, features: tuple[int, ...]) -> KNNClassifier:
        problem = self.problem
        return KNNClassifier(
            project(problem.X, features, rows),
            problem.y[rows],
            problem.weight(rows),
            problem.n_classes,
            problem.scales[1][list(features)],
            N_NEIGHBORS,
        )
