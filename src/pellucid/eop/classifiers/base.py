"""Base classifiers: fitted on every projection, with as much of the work shared as there is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from pellucid.eop.problem import RegionProblem

FAILED = -1
"""Stands in place of an answer where a classifier cannot be fitted."""


class FittedClassifier(NamedTuple):
    """A classifier on one projection."""

    classifier: Any
    """Has ``predict(P)``, which gives positions of classes."""
    answers: np.ndarray
    """What it says of the rows it was fitted on, each as if it had not been there if it can."""


class BaseClassifier(ABC):
    """A kind of classifier.

    Parameters
    ----------
    problem : RegionProblem

    Attributes
    ----------
    failure : str
        Why it could not be fitted on some projection.
    """

    failure = ""

    def __init__(self, problem: RegionProblem) -> None:
        self.problem = problem

    def prepare(self, rows: np.ndarray, features: np.ndarray) -> None:  # noqa: B027
        """Do what can be done once for all projections of these columns; nothing by default."""

    @abstractmethod
    def answers(self, rows: np.ndarray, subsets: np.ndarray) -> np.ndarray:
        """What the classifiers of some projections say of the rows they are fitted on.

        Parameters
        ----------
        rows : ndarray of int
            Rows to fit on.
        subsets : ndarray of shape (n_subsets, size)
            Projections.

        Returns
        -------
        ndarray of shape (n_subsets, n_rows), int64
            Positions of classes; all `FAILED` where no classifier could be fitted.
        """

    @abstractmethod
    def fit(self, rows: np.ndarray, features: tuple[int, ...]) -> FittedClassifier | None:
        """The classifier of one projection; None where it cannot be fitted."""
