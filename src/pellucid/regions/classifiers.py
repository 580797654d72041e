"""Classifiers of levels that are a few numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid._utils.texts import say
from pellucid.regions.words import format_of


@dataclass(frozen=True)
class Stump:
    """A threshold on the column at a position of the projection."""

    position: int
    threshold: float
    at_most: int  # class index for values ≤ threshold
    above: int

    def predict(self, P: np.ndarray) -> np.ndarray:
        return np.where(P[:, self.position] <= self.threshold, self.at_most, self.above)

    def reason(self, answer: int, names: Sequence[str], classes: np.ndarray) -> str:
        """Condition under which a class is predicted, as text."""
        name, side = names[self.position], "high" if answer == self.at_most else "low"
        return say("where", condition=format_of(name).condition(name, **{side: self.threshold}))

    def with_finite_threshold(self) -> Stump:
        """The same predictions with a finite threshold."""
        if np.isfinite(self.threshold):
            return self
        answer = self.at_most if self.threshold > 0 else self.above
        return replace(self, threshold=0.0, at_most=answer, above=answer)

    def facts(self) -> dict[str, Any]:
        """The stump as texts and finite numbers, for reports."""
        # Infinite where all rows are on one side.
        threshold = float(np.nan_to_num(self.threshold))
        place = {"kind": "stump", "position": self.position, "threshold": threshold}
        return {**place, "atMost": self.at_most, "above": self.above}


def with_middle_threshold(classifier: Any, positions: Collection[int]) -> Any:
    """A stump on a column of zeros and ones with the threshold 0.5; others as they are."""
    is_category = isinstance(classifier, Stump) and classifier.position in positions
    return replace(classifier, threshold=0.5) if is_category else classifier


@dataclass(frozen=True)
class LinearClassifier:
    """Predicts the class with the largest ``coef @ x + intercept``."""

    coef: np.ndarray
    intercept: np.ndarray  # minus infinity for classes without training rows

    def predict(self, P: np.ndarray) -> np.ndarray:
        return (P @ self.coef.T + self.intercept).argmax(axis=1)

    def facts(self) -> dict[str, Any]:
        """The classifier as numbers, None where they are infinite, for reports."""
        intercept = [float(v) if np.isfinite(v) else None for v in self.intercept]
        return {"kind": "linear", "coef": np.asarray(self.coef).tolist(), "intercept": intercept}

    def reason(self, answer: int, names: Sequence[str], classes: np.ndarray) -> str:
        """Condition under which a class is predicted, as text."""
        if len(self.coef) > 2 or not np.isfinite(self.intercept).all():
            return say("whereLinear", answer=str(classes[answer]))
        other = 1 - answer
        weights = self.coef[answer] - self.coef[other]
        size = np.abs(weights).max() or 1.0
        bound = (self.intercept[other] - self.intercept[answer]) / size
        terms = []
        for weight, name in zip(weights / size, names):
            factor = f"{abs(weight):.2g} ".removeprefix("1 ")
            terms.append(f"{'+' if weight >= 0 else '-'} {factor}{name}")
        text = " ".join(terms).removeprefix("+ ")
        return say("where", condition=f"{text} {'≥' if answer == 0 else '>'} {bound:.3g}")
