"""Regions divided by predicted class, with their descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.eop.classifiers.stumps import Stump
from pellucid.eop.decision_list import Level
from pellucid.eop.shapes.boxes import Boxes, describe_box
from pellucid.tables.encoding import Indicator


@dataclass(frozen=True)
class AnswerRegion:
    """The part of a region in which one class is predicted.

    Attributes
    ----------
    level, region : int
        Indices of the level and of the region within it.
    answer : object
        The predicted class.
    features : tuple of int
        Column indices of the projection.
    where : str
        Description of the region.
    condition : str
        Condition under which the classifier predicts the class; empty if it predicts no other
        class in the region.
    bounds : dict of str to tuple of float
        For boxes, the ends in each column; empty for other shapes.
    support : float
        Weight (without weights, number) of the training rows in this part.
    share : float
        The support as a fraction of the weight of all training rows.
    purity : float
        Fraction of the training rows in this part that belong to the class.
    """

    level: int
    region: int
    answer: Any
    features: tuple[int, ...]
    where: str
    condition: str
    bounds: dict[str, tuple[float, float]]
    support: float
    share: float
    purity: float

    def __str__(self) -> str:
        return f"{self.text}: {self.answer} ({self.figures})"

    @property
    def text(self) -> str:
        """Region and condition as text."""
        return f"{self.where}, {self.condition}" if self.condition else self.where

    @property
    def figures(self) -> str:
        """Support and purity as text."""
        if not self.support:
            return "no training rows"
        return f"{self.support:,.10g} rows, {100 * self.purity:.1f} % of them {self.answer}"


def answer_regions(
    index: int, level: Level, names: Sequence[str | Indicator], classes: np.ndarray, total: float
) -> list[AnswerRegion]:
    """The regions of a level, each divided by predicted class.

    Parameters
    ----------
    index : int
        Index of the level.
    level : Level
    names : sequence of str or Indicator
        Descriptions of all columns.
    classes : ndarray
    total : float
        Weight of all training rows.
    """
    described = [names[f] for f in level.features]
    columns = [str(name) for name in described]
    is_box = isinstance(level.regions, Boxes)
    texts = level.regions.describe(described if is_box else columns)
    pieces = []
    for region, text in enumerate(texts):
        weight = level.counts[region].sum(axis=1)
        for answer in np.argsort(-weight, kind="stable").tolist():
            if weight[answer] == 0:
                continue
            bounds = _bounds(level, region, answer, columns)
            where, condition = text, ""
            if bounds and isinstance(level.classifier, Stump):
                where = describe_box(*np.array(list(bounds.values())).T, described)
            elif np.count_nonzero(weight) > 1:
                condition = _classifier_condition(level.classifier, answer, columns, classes)
            pieces.append(
                AnswerRegion(
                    level=index,
                    region=region,
                    answer=classes[answer],
                    features=level.features,
                    where=where,
                    condition=condition,
                    bounds=bounds,
                    support=float(weight[answer]),
                    share=float(weight[answer] / total),
                    purity=float(level.counts[region, answer, answer] / weight[answer]),
                )
            )
    return pieces


def _bounds(level: Level, region: int, answer: int, names: list[str]) -> dict:
    """Ends of a box, cut at the threshold of a stump to the side that predicts the answer."""
    box = level.regions.box_bounds(region)
    if box is None:
        return {}
    lower, upper = box
    stump = level.classifier
    if isinstance(stump, Stump) and stump.at_most != stump.above:
        if answer == stump.at_most:
            upper[stump.position] = min(upper[stump.position], stump.threshold)
        else:
            lower[stump.position] = max(lower[stump.position], stump.threshold)
    return {name: (float(a), float(b)) for name, a, b in zip(names, lower, upper)}


def _classifier_condition(
    classifier: Any, answer: int, names: list[str], classes: np.ndarray
) -> str:
    """Condition under which a classifier predicts a class, as text."""
    reason = getattr(classifier, "reason", None)
    if reason is not None:
        return reason(answer, names, classes)
    return f"where {type(classifier).__name__} predicts {classes[answer]}"
