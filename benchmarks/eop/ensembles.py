"""MultiBoosting and Feating, the ensembles of tables 4 and 5 that scikit-learn does not have."""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeClassifier

_MIN_LEAF = 2
"""Rows of a leaf of all trees, as in C4.5."""


class MultiBoosting:
    """Committees of boosted trees, each from randomly weighted rows (Webb 2000).

    Wagging and AdaBoost.M1 together: T trees in ⌈√T⌉ committees. The first tree of a committee is
    learned from rows with random weights, from an exponential distribution, the next ones from
    weights that boosting increases for wrongly classified rows. All trees vote with log(1 / β).

    Parameters
    ----------
    n_members : int, default=60
        Number T of trees.
    random_state : int, default=0
    """

    def __init__(self, n_members: int = 60, random_state: int = 0) -> None:
        self.n_members, self.random_state = n_members, random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> MultiBoosting:
        """Learn the trees."""
        random = np.random.RandomState(self.random_state)
        self.classes_, n = np.unique(y), len(y)
        n_committees = int(np.ceil(np.sqrt(self.n_members)))
        ends = {int(np.ceil(i * self.n_members / n_committees)) for i in range(1, n_committees + 1)}
        self.members_, self.votes_ = [], []
        weight, n_tried = np.ones(n), 0
        while len(self.members_) < self.n_members and n_tried < 10 * self.n_members:
            n_tried += 1
            tree = DecisionTreeClassifier(
                min_samples_leaf=_MIN_LEAF, random_state=random.randint(2**31 - 1)
            ).fit(X, y, sample_weight=weight)
            is_wrong = tree.predict(X) != y
            error = weight[is_wrong].sum() / n
            if error > 0.5:
                weight = _random_weights(n, random)
                continue
            beta = 1e-10 if error == 0 else error / (1 - error)
            self.members_.append(tree)
            self.votes_.append(np.log(1 / max(beta, 1e-10)))
            if error == 0 or len(self.members_) in ends:
                weight = _random_weights(n, random)
                continue
            weight = weight / np.where(is_wrong, 2 * error, 2 * (1 - error))
            weight = np.maximum(weight, 1e-8)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The class with the most votes."""
        votes = np.zeros((len(X), len(self.classes_)))
        for tree, vote in zip(self.members_, self.votes_):
            votes[np.arange(len(X)), np.searchsorted(self.classes_, tree.predict(X))] += vote
        return self.classes_[votes.argmax(axis=1)]

    @property
    def n_nodes(self) -> int:
        """Nodes of all trees."""
        return sum(tree.tree_.node_count for tree in self.members_)


class Feating:
    """A model per column: a split of the rows, and a tree for each part (Ting et al. 2011).

    Feature-subspace aggregating with level trees of height 1. The split of a column is the one with
    the largest information gain. All models vote with the same weight.

    Parameters
    ----------
    min_rows : int, default=4
        Parts with fewer rows get their most frequent class.
    """

    def __init__(self, min_rows: int = 4) -> None:
        self.min_rows = min_rows

    def fit(self, X: np.ndarray, y: np.ndarray) -> Feating:
        """Learn the models."""
        self.classes_ = np.unique(y)
        self.members_ = [self._fit_column(X, y, column) for column in range(X.shape[1])]
        return self

    def _fit_column(self, X: np.ndarray, y: np.ndarray, column: int):
        """A split of one column, and a local model per part."""
        split = DecisionTreeClassifier(max_depth=1, criterion="entropy", random_state=0)
        split.fit(X[:, [column]], y)
        part = split.apply(X[:, [column]])
        models = {}
        for leaf in np.unique(part):
            rows = part == leaf
            least = _MIN_LEAF if rows.sum() >= self.min_rows else int(rows.sum())
            model = DecisionTreeClassifier(min_samples_leaf=least, random_state=0)
            models[leaf] = model.fit(X[rows], y[rows])
        return column, split, models

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The class with the most votes."""
        votes = np.zeros((len(X), len(self.classes_)))
        for column, split, models in self.members_:
            part = split.apply(X[:, [column]])
            for leaf, model in models.items():
                rows = np.flatnonzero(part == leaf)
                if len(rows):
                    found = np.searchsorted(self.classes_, model.predict(X[rows]))
                    votes[rows, found] += 1
        return self.classes_[votes.argmax(axis=1)]

    @property
    def n_nodes(self) -> int:
        """Nodes of all trees."""
        return sum(
            split.tree_.node_count + sum(model.tree_.node_count for model in models.values())
            for _, split, models in self.members_
        )


def _random_weights(n: int, random: np.random.RandomState) -> np.ndarray:
    """Weights of wagging: from the continuous Poisson distribution, with sum n."""
    weight = -np.log(random.randint(1, 1000, size=n) / 1000)
    return weight * n / weight.sum()
