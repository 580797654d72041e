"""Base classifiers: fitted on every projection, with as much of the work shared as there is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from pellucid.eop.problem import Problem

FAILED = -1
"""Stands in place of an error where a classifier cannot be fitted."""


class Fitted(NamedTuple):
    """A classifier on one projection."""

    classifier: Any
    """Has ``predict(P)``, which gives positions of classes."""
    answers: np.ndarray
    """What it says of the rows it was fitted on, each as if it had not been there if it can."""


class Base(ABC):
    """A kind of classifier.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @abstractmethod
    def errors(self, rows: np.ndarray, subsets: list[np.ndarray]) -> list[np.ndarray]:
        """Units that the classifier of each projection gets wrong, or `FAILED`.

        Parameters
        ----------
        rows : ndarray of int
            Rows to fit on.
        subsets : list of ndarray of shape (n_subsets, size)
            Projections by size.

        Returns
        -------
        list of ndarray of shape (n_subsets,), int64
        """

    @abstractmethod
    def fit(self, rows: np.ndarray, features: tuple[int, ...]) -> Fitted | None:
        """The classifier of one projection; None where it cannot be fitted."""


class Constant:
    """Always the same answer."""

    def __init__(self, answer: int) -> None:
        self.answer = answer

    def predict(self, P: np.ndarray) -> np.ndarray:
        """Position of the class, for every row."""
        return np.full(len(P), self.answer, dtype=np.int64)
