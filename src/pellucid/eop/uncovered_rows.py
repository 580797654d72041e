"""Rows that no region holds: what they are answered, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.eop.decision_list import Level, LevelAnswers
from pellucid.eop.problem import RegionProblem, project


@dataclass(frozen=True)
class UncoveredRows:
    """What becomes of rows that no region holds."""

    answer: Any
    """The class that they are all given, or None if there is none."""
    share: float
    purity: float
    """Share of such training rows that are of that class, or that are rightly answered."""
    by_neighbours: bool = False
    """Whether each gets the answer that its neighbours speak most for."""

    def __str__(self) -> str:
        if self.by_neighbours:
            figures = "no training rows"
            if self.share:
                figures = (
                    f"{100 * self.share:.1f} % of the rows, "
                    f"{100 * self.purity:.1f} % of such rows rightly"
                )
            return f"in no region: what most neighbours speak for ({figures})"
        what = "no answer" if self.answer is None else f"{self.answer}"
        figures = f"{100 * self.share:.1f} % of the rows" if self.share else "no training rows"
        if self.answer is not None:
            rows = "such rows" if self.share else "all rows"
            figures += f", {100 * self.purity:.1f} % of {rows} are {self.answer}"
        return f"in no region: {what} ({figures})"


def closest_level(levels: Sequence[Level], X, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The level at which the neighbours of each row are most often rightly classified.

    Parameters
    ----------
    levels : sequence of Level
        With nonparametric regions, at least one.
    X : ndarray or CSC matrix of shape (n_samples, n_features)
    rows : ndarray of int
        Rows in no region.

    Returns
    -------
    level, answer : ndarray of shape (len(rows),), int
        The first of equal levels, and what its classifier says.
    """
    best = np.full(len(rows), -1.0)
    found, answer = np.zeros((2, len(rows)), dtype=np.int64)
    for number, level in enumerate(levels if len(rows) else ()):
        P = project(X, level.features, rows)
        score = level.regions.score(P)
        better = score > best
        best[better], found[better] = score[better], number
        answer[better] = level.classifier.predict(P)[better]
    return found, answer


def answer_all(levels: Sequence[Level], X, found: LevelAnswers, answer: int | None) -> np.ndarray:
    """Answers with those for rows in no region filled in.

    Parameters
    ----------
    levels : sequence of Level
    X : ndarray or CSC matrix of shape (n_samples, n_features)
    found : LevelAnswers
        What the levels say.
    answer : int or None
        Position of the class that all of them are given; None to ask their neighbours.
    """
    left = np.flatnonzero(found.level < 0)
    answers = found.answer.copy()
    answers[left] = closest_level(levels, X, left)[1] if answer is None else answer
    return answers


def count_uncovered_answers(
    problem: RegionProblem, rows: np.ndarray, guess: np.ndarray
) -> np.ndarray:
    """Weight of some rows by what was guessed of them, if anything, and true class."""
    guessed = rows[guess[rows] >= 0]
    counts = np.zeros((problem.n_classes, problem.n_classes))
    np.add.at(counts, (guess[guessed], problem.y[guessed]), problem.weight(guessed))
    return counts
