"""Interface of the base classifiers, which are fitted on every projection."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from pellucid.eop.problem import RegionProblem

FAILED = -1
"""Predicted class index of a classifier that could not be fitted."""


class FittedClassifier(NamedTuple):
    """A classifier fitted on one projection."""

    classifier: Any
    """Object with ``predict(P)``, which returns class indices."""
    answers: np.ndarray
    """Predictions for the rows it was fitted on; leave-one-out or cross-validated if needed."""


class BaseClassifier(ABC):
    """A classifier that can be fitted on many projections.

    Parameters
    ----------
    problem : RegionProblem

    Attributes
    ----------
    failure : str
        Error message of the last projection on which the classifier could not be fitted.
    """

    failure = ""

    def __init__(self, problem: RegionProblem) -> None:
        self.problem = problem

    def prepare(self, rows: np.ndarray, features: np.ndarray) -> None:  # noqa: B027
        """Precompute what all projections of these columns share; nothing by default."""

    @abstractmethod
    def answers(self, rows: np.ndarray, subsets: np.ndarray) -> np.ndarray:
        """Fit a classifier on each projection and predict the rows that it is fitted on.

        Parameters
        ----------
        rows : ndarray of int
            Rows to fit on.
        subsets : ndarray of shape (n_subsets, size)
            Projections.

        Returns
        -------
        ndarray of shape (n_subsets, n_rows), int64
            Class indices; all `FAILED` where the classifier could not be fitted.
        """

    @abstractmethod
    def fit(self, rows: np.ndarray, features: tuple[int, ...]) -> FittedClassifier | None:
        """Fit the classifier on one projection; None where it cannot be fitted."""
