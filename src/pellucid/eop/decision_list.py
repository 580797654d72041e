"""A list of levels: the first that holds a row answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid.eop.problem import project
from pellucid.eop.shapes.regions import Regions


@dataclass(frozen=True)
class Level:
    """A projection, a classifier on it, and the regions where it may answer.

    Attributes
    ----------
    features : tuple of int
        Columns of the projection.
    classifier : object
        Its ``predict`` takes those columns and gives positions in `classes_`.
    regions : Regions
        Where it answers.
    max_error : float
        Errors that were allowed inside the regions.
    error : float
        Share of errors inside the regions, on the rows that were learned from.
    held_out_error : float
        The same on the rows held out for calibration; NaN if there are none.
    coverage : float
        Share of the weight of all training rows that the level answers.
    n_samples : int
        Training rows that it answers.
    reached : ndarray of int
        Numbers of the training rows that no level before answers.
    covered : ndarray of int
        Numbers of the training rows that it answers.
    counts : ndarray of shape (n_regions, n_classes, n_classes)
        Weight of those rows by region, answer and true class.
    """

    features: tuple[int, ...]
    classifier: Any
    regions: Regions
    max_error: float
    error: float
    held_out_error: float
    coverage: float
    n_samples: int
    reached: np.ndarray
    covered: np.ndarray
    counts: np.ndarray


class LevelAnswers(NamedTuple):
    """What a list of levels says of some rows."""

    level: np.ndarray
    """Number of the level that answers, or -1."""
    region: np.ndarray
    """Number of its region, or -1."""
    answer: np.ndarray
    """Position of the class, or -1."""


def find_answers(levels: Sequence[Level], X) -> LevelAnswers:
    """Ask the levels in turn; rows that one holds are asked no further.

    Parameters
    ----------
    levels : sequence of Level
    X : ndarray or CSC matrix of shape (n_samples, n_features)
    """
    n = X.shape[0]
    found = LevelAnswers(*(np.full(n, -1, dtype=np.int64) for _ in range(3)))
    left = np.arange(n)
    for number, level in enumerate(levels):
        if not len(left):
            break
        P = project(X, level.features, left)
        region = level.regions.which(P)
        inside = region >= 0
        rows = left[inside]
        if len(rows):
            found.level[rows] = number
            found.region[rows] = region[inside]
            found.answer[rows] = level.classifier.predict(P[inside])
        left = left[~inside]
    return found


def complexity(levels: Sequence[Level], level: np.ndarray, region: np.ndarray, weight) -> float:
    """Expected effort of an answer, as the EOP paper counts it.

    Of nonparametric regions, the neighbours that are consulted, plus one for the classifier; of
    the others, the regions that are looked at. Each is multiplied by the number of columns that
    it uses.

    Parameters
    ----------
    levels : sequence of Level
    level, region : ndarray of int
        Where each row is answered; -1 for rows that are left over.
    weight : ndarray
        Weights of the rows.
    """
    if not levels:
        return 0.0
    effort = np.zeros(len(level))
    for number, one in enumerate(levels):
        costs = np.append(np.cumsum(one.regions.costs), one.regions.costs.sum())
        effort[level == number] += costs[region[level == number]]
        effort[(level > number) | (level < 0)] += costs[-1]
    extra = levels[0].regions.kind == "nonparametric"
    return float(np.average(effort, weights=weight) + extra)


def probabilities(
    levels: Sequence[Level], answers: LevelAnswers, leftover: np.ndarray
) -> np.ndarray:
    """Shares of classes among the training rows with the same answer in the same region.

    One more row is counted in that is answered rightly, and the answer is never less likely
    than another class.

    Parameters
    ----------
    levels : sequence of Level
    answers : LevelAnswers
    leftover : ndarray of shape (n_classes,)
        Shares for rows that no level answers.
    """
    found = np.tile(leftover, (len(answers.level), 1))
    for number, level in enumerate(levels):
        table = shares_by_answer(level.counts)
        rows = answers.level == number
        found[rows] = table[answers.region[rows], answers.answer[rows]]
    return found


def shares_by_answer(counts: np.ndarray) -> np.ndarray:
    """Counts by region, answer and true class as shares; see `probabilities`."""
    table = counts + np.eye(counts.shape[-1])
    own = np.diagonal(table, axis1=1, axis2=2)
    np.einsum("rii->ri", table)[:] = np.maximum(own, table.max(axis=2) * (1 + 1e-9))
    return table / table.sum(axis=2, keepdims=True)
