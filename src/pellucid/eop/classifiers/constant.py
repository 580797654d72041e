"""Classifiers that always predict the same class."""

from __future__ import annotations

import numpy as np

from pellucid.eop.classifiers.base import BaseClassifier, FittedClassifier
from pellucid.regions.classifiers import Stump


class ConstantBase(BaseClassifier):
    """One classifier per class, which always predicts it.

    The regions of a projection are then the areas with mostly rows of one class. Projections and
    classes are ranked by :func:`~pellucid.eop.class_scan.scan_classes`.
    """

    def answers(self, rows: np.ndarray, subsets: np.ndarray) -> np.ndarray:
        """The most frequent class, for each subset."""
        heaviest = int(np.argmax(self.problem.class_units(rows)))
        return np.full((len(subsets), len(rows)), heaviest, dtype=np.int64)

    def fit(self, rows: np.ndarray, features: tuple[int, ...], answer: int = 0) -> FittedClassifier:
        """The classifier of one class: a stump with the same class on both sides."""
        constant = Stump(0, np.inf, answer, answer)
        return FittedClassifier(constant, np.full(len(rows), answer, dtype=np.int64))
