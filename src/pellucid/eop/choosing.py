"""Choose ε and η by cross-validation on the training rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pellucid.eop.class_learner import ClassLearner
from pellucid.eop.problem import RegionProblem

MAX_ERRORS = (0.1, 0.3)
"""Values of ε that are tried."""

MAX_PENALTY = 0.02
"""Largest η that is tried; the smallest is half a row, and each is twice the one before."""

_N_FOLDS = 3


class ParameterChoice(NamedTuple):
    """ε and η with their result."""

    max_error: float
    complexity_penalty: float
    accuracy: float
    """Cross-validated accuracy."""
    n_inequalities: float
    """Mean over the folds."""


def penalties_of(n_rows: float) -> list[float]:
    """Values of η for a number of rows: half a row per inequality, one row, two rows, ..."""
    smallest = min(0.5 / max(n_rows, 1.0), MAX_PENALTY)
    n = int(np.floor(np.log2(MAX_PENALTY / smallest))) + 1
    return [smallest * 2**i for i in range(n)]


def choose_parameters(
    make_learner: Callable[[np.ndarray, float, float, np.random.RandomState], ClassLearner],
    problem: RegionProblem,
    max_errors: Sequence[float],
    penalties: Sequence[float],
    seed: int,
) -> list[ParameterChoice]:
    """Cross-validate all pairs of ε and η; the first result is the best.

    For each fold and ε one list is grown, with the smallest η, and simplified with each η. The
    best pair is the simplest one, by the number of inequalities, whose accuracy is within one
    standard error of the highest. Pairs without any region in a fold are left out if others are
    more accurate than the most frequent class.

    Parameters
    ----------
    make_learner : callable
        Takes rows, ε, η and a random state, and makes a learner of these rows.
    problem : RegionProblem
    max_errors, penalties : sequence of float
        Values of ε and η, the latter in ascending order.
    seed : int
        Seed of the folds.
    """
    weight = problem.weight(np.arange(len(problem.y)))
    shape = (len(max_errors), len(penalties))
    right, size, is_empty = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=bool)
    fold_of_row = _folds(problem.y, np.random.RandomState(seed))
    for fold in range(_N_FOLDS):
        train, test = (np.flatnonzero(part) for part in (fold_of_row != fold, fold_of_row == fold))
        if not len(train) or not len(test):
            continue
        for i, max_error in enumerate(max_errors):
            random = np.random.RandomState(seed)
            learner = make_learner(train, max_error, penalties[0], random)
            learner.grow()
            if learner.interrupt.requested:
                return [ParameterChoice(max_error, penalties[0], np.nan, np.nan)]
            for j, (answer, n_facets) in enumerate(learner.answers_by_penalty(penalties, test)):
                right[i, j] += weight[test] @ (answer == problem.y[test])
                size[i, j] += n_facets / _N_FOLDS
                is_empty[i, j] |= n_facets == 0
    accuracy = right / weight.sum()
    choices = [
        ParameterChoice(e, p, float(accuracy[i, j]), float(size[i, j]))
        for i, e in enumerate(max_errors)
        for j, p in enumerate(penalties)
    ]
    regions = [choice for choice, empty in zip(choices, is_empty.ravel()) if not empty]
    majority = problem.class_units(np.arange(len(problem.y))).max() / problem.units.sum()
    if max((choice.accuracy for choice in regions), default=0.0) > majority:
        choices = regions
    best = max(choice.accuracy for choice in choices)
    least = best - np.sqrt(best * (1 - best) / weight.sum())
    return sorted(choices, key=lambda c: (c.accuracy < least, c.n_inequalities, -c.accuracy))


def _folds(y: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """Fold of each row, stratified by class.

    `StratifiedKFold` of scikit-learn refuses, or warns of, classes with fewer rows than folds.
    """
    order = random.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), dtype=np.int64)
    fold[order] = np.arange(len(y)) % _N_FOLDS
    return fold
