"""The levels of a decision list: the first with a region that contains a row classifies it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid.regions.classifiers import Stump
from pellucid.regions.shapes import Regions
from pellucid.tree.predictor import column_values


def project(
    X: Any, features: Sequence[int] | np.ndarray, rows: np.ndarray | None = None
) -> np.ndarray:
    """Select columns and rows of a dense or CSC matrix as a row-major float64 array."""
    rows = np.arange(X.shape[0]) if rows is None else rows
    P = np.empty((len(rows), len(features)))
    for position, feature in enumerate(features):
        P[:, position] = column_values(X, feature, rows)
    return P


@dataclass(frozen=True)
class ListLevel:
    """A projection on some columns, and the regions of it in which a classifier is used."""

    features: tuple[int, ...]
    classifier: Any  # its ``predict`` takes the columns and returns indices into `classes_`
    regions: Regions
    counts: np.ndarray  # weight of the training rows by region, predicted class and true class

    def ends(self, region: int, answer: int) -> tuple[np.ndarray, np.ndarray]:
        """Ends of a box, if it is one, cut at the threshold of a stump that predicts a class."""
        infinite = np.full(self.regions.dim, np.inf)
        lower, upper = self.regions.box_bounds(region) or (-infinite, infinite)
        stump = self.classifier
        if isinstance(stump, Stump) and stump.at_most != stump.above:
            end, nearer = (upper, min) if answer == stump.at_most else (lower, max)
            end[stump.position] = nearer(end[stump.position], stump.threshold)
        return lower, upper

    def branches(self, region: int) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """Cluster, lower and upper ends of each side of the stump in a region."""
        stump = self.classifier
        sides = [(answer, *self.ends(region, answer)) for answer in (stump.at_most, stump.above)]
        if stump.at_most == stump.above:
            return sides[:1]
        at = stump.position
        return [(answer, low, high) for answer, low, high in sides if low[at] < high[at]]


@dataclass(frozen=True)
class Level(ListLevel):
    """A level of a fitted model, with what it reached in training."""

    max_error: float  # maximum error rate ε with which the regions were found
    error: float  # error rate inside the regions on the training rows that are not held out
    held_out_error: float  # the same on the held-out rows; NaN if there are none
    coverage: float  # fraction of the weight of all rows that the level covers
    n_samples: int
    reached: np.ndarray  # indices of the rows that no earlier level covers
    covered: np.ndarray


class LevelAnswers(NamedTuple):
    """Per row, the indices of its level, of its region in it, and of the predicted class, or -1."""

    level: np.ndarray
    region: np.ndarray
    answer: np.ndarray


def find_answers(levels: Sequence[ListLevel], X: Any) -> LevelAnswers:
    """Evaluate the levels in turn; each row is classified by the first that covers it."""
    n = X.shape[0]
    answers = LevelAnswers(*(np.full(n, -1, dtype=np.int64) for _ in range(3)))
    remaining = np.arange(n)
    for index, level in enumerate(levels):
        if not len(remaining):
            break
        P = project(X, level.features, remaining)
        region = level.regions.which(P)
        inside = region >= 0
        rows = remaining[inside]
        if len(rows):
            answers.level[rows] = index
            answers.region[rows] = region[inside]
            answers.answer[rows] = level.classifier.predict(P[inside])
        remaining = remaining[~inside]
    return answers


def complexity(
    levels: Sequence[ListLevel], level: np.ndarray, region: np.ndarray, weight: np.ndarray
) -> float:
    """Expected complexity of a prediction, as defined in the EOP paper.

    Nonparametric regions: expected number of neighbors plus 1. Other regions: expected number of
    regions tested. Each neighbor or region counts once per column that it uses.
    """
    if not levels:
        return 0.0
    row_complexity = np.zeros(len(level))
    for index, tested in enumerate(levels):
        costs = np.append(np.cumsum(tested.regions.costs), tested.regions.costs.sum())
        row_complexity[level == index] += costs[region[level == index]]
        row_complexity[(level > index) | (level < 0)] += costs[-1]
    return float(np.average(row_complexity, weights=weight) + levels[0].regions.classifier_cost)


def probabilities(
    levels: Sequence[ListLevel], answers: LevelAnswers, leftover: np.ndarray
) -> np.ndarray:
    """Class frequencies among the training rows with the same answer in the same region.

    One correctly classified row is added as smoothing. The predicted class always gets the
    largest frequency. Rows in no region get the frequencies `leftover`.
    """
    frequencies = np.tile(leftover, (len(answers.level), 1))
    for index, level in enumerate(levels):
        table = shares_by_answer(level.counts)
        rows = answers.level == index
        frequencies[rows] = table[answers.region[rows], answers.answer[rows]]
    return frequencies


def shares_by_answer(counts: np.ndarray) -> np.ndarray:
    """Convert counts by region, answer and true class to frequencies; see `probabilities`."""
    table = counts + np.eye(counts.shape[-1])
    correct = np.diagonal(table, axis1=1, axis2=2)
    np.einsum("rii->ri", table)[:] = np.maximum(correct, table.max(axis=2) * (1 + 1e-9))
    return table / table.sum(axis=2, keepdims=True)


def free_label(classes: np.ndarray, text: str) -> Any:
    """A label of rows without an answer that no class has: -1 or less, or `text` beside texts."""
    if classes.dtype.kind in "iufb":
        return -1 if -1 not in classes else int(np.floor(classes.min())) - 1
    while text in classes.tolist():
        text += "_"
    return text
