"""Regions divided by predicted class, with their descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid._utils.texts import rule_words, say
from pellucid.regions.classifiers import Stump
from pellucid.regions.levels import ListLevel
from pellucid.regions.words import column_texts, describe_box
from pellucid.tables.encoding import Indicator

Bounds = dict[str, tuple[float, float]]  # lower and upper end per column


@dataclass(frozen=True)
class AnswerRegion:
    """The part of a region in which one class, the `answer`, is predicted."""

    level: int
    region: int
    answer: Any
    features: tuple[int, ...]
    where: str  # text of the region
    condition: str  # where in it the class is predicted; empty if no other class is
    bounds: Bounds  # ends of a box; empty for other shapes
    support: float  # weight of the training rows in this part
    share: float  # its fraction of all rows
    purity: float  # the fraction of the support that belongs to the class
    has_weights: bool = False  # whether weights are fractional
    n_inequalities: int = 0
    n_noise: int = 0  # rows with the label -1, which none of these numbers counts

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
            return say("noTrainingRows")
        key, name = ("weightIs", "weight") if self.has_weights else ("rowsAre", "rows")
        support = {name: describe_support(self.support, self.has_weights)}
        return say(key, purity=self.purity, answer=str(self.answer), **support)

    @property
    def is_first(self) -> bool:
        """Whether no other region is tested before it."""
        return self.level == 0 and self.region == 0


def region_text(region: AnswerRegion) -> str:
    """Text of a region; after the first level, "everywhere" becomes "everywhere else"."""
    is_rest = region.level > 0 and region.text == rule_words().everywhere
    return say("everywhereElse") if is_rest else region.text


def describe_support(support: float, has_weights: bool) -> str:
    """A number of rows, or a sum of fractional weights, as text."""
    if has_weights:
        return say("weight", weight=support)
    return say("rows", n=round(support) if support == round(support) else support)


def answer_regions(
    levels: Sequence[ListLevel],
    names: Sequence[str | Indicator],
    classes: np.ndarray,
    total: float,
    unit: float = 1.0,
) -> list[list[AnswerRegion]]:
    """The regions of each level, each divided by predicted class.

    `total` is the weight of all training rows, and `unit` the weight of the user that counts as 1.
    """
    has_weights = unit != 1.0 or any((e.counts != np.rint(e.counts)).any() for e in levels)
    found = []
    for index, level in enumerate(levels):
        described = [names[f] for f in level.features]
        pieces = []
        for region, text in enumerate(level.regions.texts(described)):
            weight = level.counts[region].sum(axis=1)
            pieces += [
                AnswerRegion(
                    level=index,
                    region=region,
                    answer=classes[answer],
                    features=level.features,
                    **_describe_part(level, region, answer, text, described, classes),
                    support=float(weight[answer] * unit),
                    share=float(weight[answer] / total),
                    purity=float(level.counts[region, answer, answer] / weight[answer]),
                    has_weights=has_weights,
                )
                for answer in np.argsort(-weight, kind="stable").tolist()
                if weight[answer] != 0
            ]
        found.append(pieces)
    return found


def _describe_part(
    level: ListLevel, region: int, answer: int, text: str, described: list[Any], classes: np.ndarray
) -> dict[str, Any]:
    """Text, bounds and number of inequalities of the part of a region that predicts a class."""
    columns, classifier = column_texts(described), level.classifier
    where, condition, bounds = text, "", {}
    n_inequalities = int(level.regions.n_facets[region])
    is_box = level.regions.box_bounds(region) is not None
    is_divided = np.count_nonzero(level.counts[region].sum(axis=1)) > 1
    if is_box:
        ends = level.ends(region, answer)
        bounds = dict(zip(columns, zip(*(end.tolist() for end in ends))))
        n_inequalities = int(np.isfinite(ends).sum())
    if is_box and isinstance(classifier, Stump):
        where = describe_box(*ends, described)
    elif is_divided and hasattr(classifier, "reason"):
        condition = classifier.reason(answer, columns, classes)
    elif is_divided:
        name = type(classifier).__name__
        condition = say("whereClassifier", classifier=name, answer=str(classes[answer]))
    n_inequalities += bool(condition)
    texts = {"where": where, "condition": condition}
    return {**texts, "bounds": bounds, "n_inequalities": n_inequalities}
