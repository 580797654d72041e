"""Levels and predictions as text and as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import repeat
from typing import Any

import numpy as np

from pellucid._utils.texts import rule_words, say
from pellucid.regions.answer_regions import AnswerRegion, region_text
from pellucid.regions.levels import Level, LevelAnswers, project


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
        share = say("shareOfRows", share=self.share) if self.share else say("noTrainingRows")
        figures = [share]
        answer = say("closestLevel" if self.by_neighbours else "noAnswer")
        if self.by_neighbours and self.share:
            figures.append(say("suchRowsCorrect", purity=self.purity))
        elif self.answer is not None:
            answer, key = f"{self.answer}", "suchRowsAre" if self.share else "allRowsAre"
            figures.append(say(key, purity=self.purity, answer=answer))
        text = say("uncovered", answer=answer, figures=figures)
        names = [repr(each) for each in self.missing]
        return f"{text}\n{say('noRegionPredicts', n=len(names), names=names)}" if names else text


def closest_level(
    levels: Sequence[Level], X: Any, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The first level at which each row has its highest score, and the class that it predicts."""
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


@dataclass(frozen=True)
class LevelRule:
    """Description of one level.

    Attributes
    ----------
    level : int
        Index of the level.
    names : tuple of str
        Columns of the projection.
    pieces : tuple of AnswerRegion
        The regions, each divided by predicted class.
    coverage, error, held_out_error : float
        See `Level`.
    """

    level: int
    names: tuple[str, ...]
    pieces: tuple[AnswerRegion, ...]
    coverage: float
    error: float
    held_out_error: float

    def __str__(self) -> str:
        is_known = not np.isnan(self.held_out_error)
        held_out = say("heldOut", error=self.held_out_error) if is_known else ""
        values: dict[str, Any] = {"level": self.level + 1, "share": self.coverage}
        if len(self.pieces) == 1 and not self.pieces[0].condition:
            piece = self.pieces[0]
            figures = [piece.figures, held_out] if is_known else [piece.figures]
            values |= {"region": region_text(piece), "answer": str(piece.answer)}
            return say("levelOfOne", figures=figures, **values)
        values |= {"columns": self.names, "error": self.error, "heldOut": held_out}
        lines, region = [say("levelHeadHeldOut" if is_known else "levelHead", **values)], -1
        for piece in self.pieces:
            if not piece.condition:
                lines.append(f"    {piece}")
                continue
            if piece.region != region:
                lines.append(f"    {piece.where}")
            region = piece.region
            lines.append(f"        {piece.condition}: {piece.answer} ({piece.figures})")
        return "\n".join(lines)


@dataclass(frozen=True)
class EOPExplanation:
    """Explanation of the prediction for one row.

    Attributes
    ----------
    row : int
    answer : object
        The predicted class; None without a prediction.
    level, region : int
        Indices of the level and the region that contain the row; -1 if none does.
    names : tuple of str
        Columns of the projection.
    values : tuple of float
        Values of the row in these columns.
    bounds : dict of str to tuple of float
        Lower and upper end per column: of the box that contains the row, or of the bounding box
        of its neighbors.
    support, purity : float
        Weight of the training rows with this prediction in this region, and the fraction of them
        that belong to the class.
    text : str
        The reason as text.
    """

    row: int
    answer: Any
    level: int
    region: int
    names: tuple[str, ...]
    values: tuple[float, ...]
    bounds: dict[str, tuple[float, float]]
    support: float
    purity: float
    text: str

    @property
    def abstained(self) -> bool:
        """Whether the row is in no region."""
        return self.level < 0

    def to_dict(self) -> dict[str, Any]:
        """All attributes as plain data.

        Returns
        -------
        dict
            The explanation as plain values.
        """
        return asdict(self)

    def __str__(self) -> str:
        answer = "no answer" if self.answer is None else f"class {self.answer}"
        return f"row {self.row}: {answer} because {self.text}"


@dataclass(frozen=True)
class SeedStability:
    """How much a model depends on the random state, by fit."""

    first_columns: list[tuple[str, ...]]  # columns of the first level
    n_levels: list[int]
    accuracy: list[float]  # on the given rows
    agreement: float  # fraction of the rows with the same prediction, mean over all pairs of fits

    def __str__(self) -> str:
        names = Counter(" and ".join(columns) or "no region" for columns in self.first_columns)
        n = len(self.first_columns)
        first = "; ".join(f"{text} ({count} of {n})" for text, count in names.most_common())
        return (
            f"first level: {first}\n"
            f"levels: {min(self.n_levels)} to {max(self.n_levels)}\n"
            f"accuracy: {min(self.accuracy):.3f} to {max(self.accuracy):.3f}\n"
            f"same prediction: {100 * self.agreement:.1f}% of the rows, mean over pairs of fits"
        )


def explain_rows(
    levels: Sequence[Level],
    rules: Sequence[LevelRule],
    leftover: UncoveredRows,
    X: Any,
    answers: LevelAnswers,
    classes: np.ndarray,
) -> list[EOPExplanation]:
    """Explain the prediction for each row by the descriptions of the levels (`rules`)."""
    reason = "it is in no region"
    if leftover.answer is not None:
        subject = "such training rows" if leftover.share else "all training rows"
        reason += f", and {100 * leftover.purity:.1f}% of {subject} are {leftover.answer}"
    explanations = [
        EOPExplanation(row, leftover.answer, -1, -1, (), (), {}, 0.0, leftover.purity, reason)
        for row in range(X.shape[0])
    ]
    uncovered = np.flatnonzero((answers.level < 0) & leftover.by_neighbours)
    closest, closest_answer = closest_level(levels, X, uncovered)
    answer_of = dict(zip(uncovered.tolist(), closest_answer.tolist()))
    for index, (level, rule) in enumerate(zip(levels, rules)):
        pieces = {(piece.region, piece.answer): piece for piece in rule.pieces}
        rows = np.flatnonzero(answers.level == index)
        for row, values, found in _reasons(level, rule, X, rows):
            region, answer = int(answers.region[row]), classes[answers.answer[row]]
            piece = pieces.get((region, answer))
            if piece is None:  # no training row in the region has this prediction
                where = level.regions.describe(rule.names)[region]
                place = index, region, answer, level.features, where
                piece = AnswerRegion(*place, "", {}, 0.0, 0.0, float("nan"))
            bounds, text = found or (piece.bounds, piece.text)
            if not piece.is_first:
                is_rest, earlier = text == rule_words().everywhere, "it is in no earlier region"
                text = earlier if is_rest else f"{earlier}, and {text}"
            parts = row, answer, index, region, rule.names, values, bounds
            text = f"{text} ({piece.figures})"
            explanations[row] = EOPExplanation(*parts, piece.support, piece.purity, text)
        for row, values, (bounds, text) in _reasons(level, rule, X, uncovered[closest == index]):
            text = f"it is in no region; the closest level is level {index + 1}: {text}"
            if leftover.share:
                share = f"{100 * leftover.purity:.1f}%"
                text += f" ({share} of training rows in no region correctly classified)"
            new = {"answer": classes[answer_of[row]], "names": rule.names, "text": text}
            explanations[row] = replace(explanations[row], values=values, bounds=bounds, **new)
    return explanations


def _reasons(level: Level, rule: LevelRule, X: Any, rows: np.ndarray) -> Iterator[tuple[Any, ...]]:
    """Each row with its values, and with its bounds and text if its region does not have them."""
    if len(rows):
        P = project(X, level.features, rows)
        found = level.regions.explain_points(P, rule.names) or repeat(None)
        yield from zip(rows.tolist(), map(tuple, P.tolist()), found)
