"""The choice of parameters by cross-validation, the same for all methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

N_FOLDS = 3


class Trial(NamedTuple):
    """One set of parameters after cross-validation."""

    parameters: Any
    n_right: float
    """Held-out rows that were classified rightly, over all folds."""
    complexity: float
    """Mean over the folds."""


def folds(y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows to learn from and rows to test on, each row once among the latter."""
    return StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(np.zeros(len(y)), y)


def most_accurate(trials: list[Trial]) -> Any:
    """Parameters of the most accurate trial, the simplest and then the first among equals."""
    return min(trials, key=lambda trial: (-trial.n_right, trial.complexity)).parameters


def simplest(trials: list[Trial], n_samples: int) -> Any:
    """Parameters of the simplest trial within one standard error of the most accurate.

    This is how CART is pruned (Breiman et al. 1984). Among equals the more accurate one, then
    the first.
    """
    best = max(trial.n_right for trial in trials) / n_samples
    error = np.sqrt(best * (1 - best) / n_samples)
    good = [trial for trial in trials if trial.n_right / n_samples >= best - error]
    return min(good, key=lambda trial: (trial.complexity, -trial.n_right)).parameters
