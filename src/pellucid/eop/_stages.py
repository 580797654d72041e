"""Predictions and measures of an EOP model level by level, and their spread over seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from pellucid.eop.explanations import closest_level
from pellucid.metrics.rule_lists import LevelMeasures, level_measures
from pellucid.regions.levels import Level, LevelAnswers, find_answers, project
from pellucid.tables.validation import read_sample_weight, read_X


@dataclass(frozen=True)
class SeedStability:
    """How much a model depends on the random state.

    Attributes
    ----------
    first_columns : list of tuple of str
        Columns of the first level of each fit.
    n_levels : list of int
        Number of levels of each fit.
    accuracy : list of float
        Accuracy of each fit on the given rows.
    agreement : float
        Fraction of the rows with the same prediction, mean over all pairs of fits.
    """

    first_columns: list[tuple[str, ...]]
    n_levels: list[int]
    accuracy: list[float]
    agreement: float

    def __str__(self) -> str:
        names = Counter(" and ".join(columns) or "no region" for columns in self.first_columns)
        n = len(self.first_columns)
        first = "; ".join(f"{text} ({count} of {n})" for text, count in names.most_common())
        return (
            f"first level: {first}\n"
            f"levels: {min(self.n_levels)} to {max(self.n_levels)}\n"
            f"accuracy: {min(self.accuracy):.3f} to {max(self.accuracy):.3f}\n"
            f"same prediction: {100 * self.agreement:.1f}% of the rows, mean over pairs of fits"
        )


class StagesMixin:
    """Methods of the EOP classifiers that follow the levels, or refit with other seeds."""

    classes_: np.ndarray
    levels_: list[Level]
    abstain_label_: Any
    leftover: str
    _class_weight: np.ndarray
    _total: float

    @property
    def _uses_neighbors(self) -> bool:
        """Whether rows in no region are classified by the closest level."""
        return self.leftover == "neighbours" and bool(self.levels_)

    def _find_answers(self, X: Any) -> tuple[Any, LevelAnswers]:
        """The rows as numbers, and the answers of the levels for them."""
        check_is_fitted(self)
        numbers = read_X(self, X, reset=False)
        return numbers, find_answers(self.levels_, numbers)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Predictions of the first 1, 2, ... levels.

        Rows that these levels do not cover get the most frequent class of the training rows that
        they do not cover, `abstain_label_`, or the class of the closest of these levels, as
        `leftover` says.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows to classify.

        Yields
        ------
        ndarray of shape (n_samples,)
            Predicted class of each row.
        """
        numbers, found = self._find_answers(X)
        labels = np.append(self.classes_, self.abstain_label_)
        remaining = self._class_weight.copy()
        for number, level in enumerate(self.levels_, start=1):
            remaining = remaining - level.counts.sum(axis=(0, 1))
            uncovered = np.flatnonzero((found.level < 0) | (found.level >= number))
            answer = found.answer.copy()
            if self.leftover == "abstain":
                answer[uncovered] = -1
            elif self._uses_neighbors:
                answer[uncovered] = closest_level(self.levels_[:number], numbers, uncovered)[1]
            else:
                # Weights are summed in another order here, so that 0 may be a tiny number.
                has_rows = remaining.max() > 1e-9 * self._total
                answer[uncovered] = np.argmax(remaining if has_rows else self._class_weight)
            yield self.classes_[answer] if self.leftover != "abstain" else labels[answer]

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Accuracy of the first 1, 2, ... levels.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows to classify.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Yields
        ------
        float
            Accuracy on the given rows.
        """
        y = _read_classes(y, X)
        weight = read_sample_weight(sample_weight, len(y))
        for answer in self.staged_predict(X):
            yield float(np.average(answer == y, weights=weight))

    def level_measures(self, X: Any, y: Any, sample_weight: Any = None) -> LevelMeasures:
        """Support, Bayes factor, lift, J-score and NMI of each level on the given rows.

        See :func:`pellucid.metrics.level_measures`; ``combined()`` of the result gives the
        measures of the whole list.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows to classify.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        LevelMeasures
            One number per level for each measure.
        """
        numbers, found = self._find_answers(X)
        y = _read_classes(y, numbers)
        correct = np.empty((len(y), len(self.levels_)), dtype=bool)
        for number, level in enumerate(self.levels_):
            answer = level.classifier.predict(project(numbers, level.features))
            correct[:, number] = self.classes_[answer] == y
        return level_measures(found.level, correct, sample_weight=sample_weight)

    def stability(
        self, X: Any, y: Any, *, n_seeds: int = 5, sample_weight: Any = None
    ) -> SeedStability:
        """Refit with the random states 0 to `n_seeds` - 1 and compare the models.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows to fit and to compare on.
        y : array-like of shape (n_samples,)
            Their classes.
        n_seeds : int, default=5
            Number of fits.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        SeedStability
            First projections, numbers of levels, accuracies on `X` and the agreement of the
            predictions. Prints as text.
        """
        models = [
            clone(self).set_params(random_state=seed).fit(X, y, sample_weight=sample_weight)
            for seed in range(n_seeds)
        ]
        y = _read_classes(y, X)
        weight = read_sample_weight(sample_weight, len(y))
        given = [model.predict(X) for model in models]
        pairs = [np.mean(a == b) for a, b in combinations(given, 2)]
        return SeedStability(
            [tuple(model.explain()[0].names) if model.levels_ else () for model in models],
            [model.n_levels_ for model in models],
            [float(np.average(answer == y, weights=weight)) for answer in given],
            float(np.mean(pairs)) if pairs else 1.0,
        )


def _read_classes(y: Any, X: Any) -> np.ndarray:
    """The classes of given rows, one per row."""
    y = column_or_1d(y)
    check_consistent_length(X, y)
    return y
