"""Rows in no region: their predictions and their description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid._utils.texts import say
from pellucid.regions.levels import Level, project


@dataclass(frozen=True)
class UncoveredRows:
    """How rows in no region are classified.

    Attributes
    ----------
    answer : object
        The class that all of them get; None if they get none or different classes.
    share : float
        Fraction of the training weight in no region.
    purity : float
        Fraction of the training rows in no region for which the prediction is correct.
    missing : tuple
        Classes that no region predicts.
    by_neighbours : bool
        Whether each row gets the prediction of the closest level.
    """

    answer: Any
    share: float
    purity: float
    missing: tuple[Any, ...] = ()
    by_neighbours: bool = False

    def __str__(self) -> str:
        if not self.missing:
            return self._answer_text
        names = [repr(each) for each in self.missing]
        return f"{self._answer_text}\n{say('noRegionPredicts', n=len(names), names=names)}"

    @property
    def _answer_text(self) -> str:
        share = say("shareOfRows", share=self.share) if self.share else say("noTrainingRows")
        figures = [share]
        if self.by_neighbours:
            answer = say("closestLevel")
            if self.share:
                figures.append(say("suchRowsCorrect", purity=self.purity))
        else:
            answer = say("noAnswer") if self.answer is None else f"{self.answer}"
            if self.answer is not None:
                key = "suchRowsAre" if self.share else "allRowsAre"
                figures.append(say(key, purity=self.purity, answer=answer))
        return say("uncovered", answer=answer, figures=figures)


def closest_level(
    levels: Sequence[Level], X: Any, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The level at which each row has the highest score, and the class that it predicts.

    All levels have nonparametric regions. Ties go to the first level.
    """
    best = np.full(len(rows), -1.0)
    closest, answer = np.zeros((2, len(rows)), dtype=np.int64)
    for index, level in enumerate(levels if len(rows) else ()):
        P = project(X, level.features, rows)
        regions: Any = level.regions  # nonparametric
        score = regions.score(P)
        better = score > best
        best[better], closest[better] = score[better], index
        answer[better] = level.classifier.predict(P)[better]
    return closest, answer
