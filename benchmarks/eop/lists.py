"""EOP in the tables: its parameters by cross-validation, its figures on test rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from math import ceil
from typing import Any

import numpy as np

from benchmarks.eop.choice import Trial, folds, most_accurate, simplest
from pellucid import EOPClassifier
from pellucid.metrics import eop_complexity, level_measures

ERRORS = (0.05, 0.1, 0.2, 0.3)
PENALTIES = (0.0, 0.03)
MOST_LEVELS = 30
HELD_OUT = 0.3
"""Share of the training rows that calibrate the regions."""


class EOP:
    """EOP of one kind: parameters by cross-validation, figures on test rows.

    Where simple lists are wanted, the number of levels is among the parameters. A list that is
    cut short is what `max_levels` gives, so one fit shows all of them, as one tree shows all its
    prunings. Where accuracy is wanted, lists are as long as they grow: the best of so many
    lengths is mostly a matter of luck.

    Parameters
    ----------
    base : str
    regions : str
    wants_accuracy : bool, default=False
        Whether to take the most accurate parameters instead of the simplest good ones.
    errors : sequence of float
        ε to choose from.
    penalties : sequence of float
        η to choose from.
    min_support : float, default=0.03
        Share of all training rows that a region must cover, at all levels alike. See `n_rows`.
    leftover : {"majority", "neighbours"}, default="majority"
        What answers rows in no region.
    relax : bool or float, default=True
        Errors that may be allowed at the most.
    """

    def __init__(
        self,
        base: str,
        regions: str,
        wants_accuracy: bool = False,
        errors: Sequence[float] = ERRORS,
        penalties: Sequence[float] = PENALTIES,
        min_support: float = 0.03,
        leftover: str = "majority",
        relax: bool | float = True,
    ) -> None:
        self.base, self.regions = base, regions
        self.wants_accuracy = wants_accuracy
        self.errors, self.penalties, self.min_support = errors, penalties, min_support
        self.leftover, self.relax = leftover, relax

    def fit(self, X: np.ndarray, y: np.ndarray, quick: bool) -> tuple[EOPClassifier, str]:
        """The chosen model, fitted on all rows, and what was chosen."""
        grid = [(0.2, 0.0)] if quick else list(product(self.errors, self.penalties))
        lengths = range(MOST_LEVELS if self.wants_accuracy else 1, MOST_LEVELS + 1)
        right: dict = defaultdict(float)
        sizes: dict = defaultdict(list)
        for train, test in folds(y):
            for error, penalty in grid:
                model = self._make(len(train), error, penalty).fit(X[train], y[train])
                stages = list(self._stages(model, y[train], X[test], y[test]))
                for n_levels in lengths:
                    # A list that has ended earlier stays as it is.
                    n_right, size = stages[min(n_levels, len(stages) - 1)]
                    right[error, penalty, n_levels] += n_right
                    sizes[error, penalty, n_levels].append(size)
        trials = [Trial(key, right[key], float(np.mean(sizes[key]))) for key in right]
        chosen = most_accurate(trials) if self.wants_accuracy else simplest(trials, len(y))
        error, penalty, n_levels = chosen
        model = self._make(len(y), error, penalty, n_levels).fit(X, y)
        return model, f"ε {error:g}, η {penalty:g}, at most {n_levels} levels"

    def judge(self, model: EOPClassifier, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
        """Figures on test rows."""
        level, region = model.apply(X).T
        levels = model.levels_
        dims, tests = _dims(levels), self._n_regions(levels)
        return {
            "accuracy": np.mean(model.predict(X) == y),
            "complexity": self._complexity(levels, level, region),
            "size": float(np.dot(dims, tests)),
            "effort": eop_complexity(level, tests, dims=dims, region=region),
            "levels": len(levels),
            "coverage": np.mean(level >= 0),
            **level_measures(level, answers(model, X) == y[:, None]).combined(),
        }

    def _complexity(self, levels: list, level: np.ndarray, region: np.ndarray) -> float:
        """As the paper counts: neighbours and the classifier, or boxes, for the average row."""
        if self.regions == "nonparametric":
            tests = [one.regions.n_neighbors for one in levels]
            return eop_complexity(level, tests, classification=1)
        return eop_complexity(level, self._n_regions(levels), region=region)

    def _n_regions(self, levels: list) -> list[int]:
        return [len(one.regions) for one in levels]

    def _make(
        self, n_samples: int, error: float, penalty: float, n_levels: int = MOST_LEVELS
    ) -> EOPClassifier:
        return EOPClassifier(
            self.base,
            regions=self.regions,
            max_error=error,
            complexity_penalty=penalty,
            min_support=n_rows(self.min_support, n_samples),
            calibration=HELD_OUT,
            leftover=self.leftover,
            relax=self.relax,
            max_levels=n_levels,
            random_state=0,
            n_jobs=2,
        )

    def _stages(self, model, y, X_test, y_test) -> Iterator[tuple[int, float]]:
        """Rows that are right, and the size of the list, after 0, 1, 2, ... levels."""
        found = model.apply(X_test)[:, 0]
        # Not what `apply` says of the training rows, which are their own neighbours there.
        known = np.full(len(y), len(model.levels_))
        for number, level in enumerate(model.levels_):
            known[level.covered] = number
        given = answers(model, X_test)
        spoken_for, best = np.zeros(len(found), dtype=y.dtype), np.full(len(found), -1.0)
        for n_levels in range(len(model.levels_) + 1):
            is_left = (found < 0) | (found >= n_levels)
            left = y[known >= n_levels]
            answer = np.full(len(found), _most_common(left if len(left) else y))
            if n_levels and self.leftover == "neighbours":
                level = model.levels_[n_levels - 1]
                score = level.regions.score(X_test[:, level.features])
                spoken_for = np.where(score > best, given[:, n_levels - 1], spoken_for)
                best = np.maximum(score, best)
                answer = spoken_for.copy()
            rows = np.flatnonzero(~is_left)
            answer[rows] = given[rows, found[rows]]
            levels = model.levels_[:n_levels]
            size = np.dot(_dims(levels), self._n_regions(levels))
            yield int(np.sum(answer == y_test)), float(size)


def n_rows(share: float, n_samples: int) -> int:
    """Rows, without those held out, that make up a share of all training rows.

    A `min_support` below 1 would be a share of what is left of a class, which becomes smaller
    from level to level: lists would have more levels, with ever smaller regions.
    """
    return max(ceil(share * (1 - HELD_OUT) * n_samples - 1e-9), 1)


def answers(model: Any, X: np.ndarray) -> np.ndarray:
    """What the classifier of each level says of each row, whether it is asked or not."""
    if not model.levels_:
        return np.empty((len(X), 0), dtype=model.classes_.dtype)
    found = [level.classifier.predict(X[:, level.features]) for level in model.levels_]
    return model.classes_[np.column_stack(found)]


def _dims(levels: list) -> list[int]:
    return [len(one.features) for one in levels]


def _most_common(y: np.ndarray) -> Any:
    classes, counts = np.unique(y, return_counts=True)
    return classes[counts.argmax()]
