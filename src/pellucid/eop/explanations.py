"""Levels and predictions as text and as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid._utils.texts import rule_words, say
from pellucid.eop.uncovered_rows import UncoveredRows, closest_level
from pellucid.regions.answer_regions import (
    AnswerRegion,
    answer_regions,
    has_fractional_weights,
    region_text,
)
from pellucid.regions.levels import Level, LevelAnswers, project
from pellucid.regions.words import column_texts

if TYPE_CHECKING:
    from pellucid.tables.encoding import Indicator

EARLIER = "it is in no earlier region"
"""Condition of all regions after the first."""


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
            figures = [piece.figures, *([held_out] if is_known else [])]
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


def _with_earlier(piece: AnswerRegion, text: str) -> str:
    """Text of a region with the condition that no earlier region contains the row."""
    if piece.is_first:
        return text
    return EARLIER if text == rule_words().everywhere else f"{EARLIER}, and {text}"


def level_rules(
    levels: Sequence[Level],
    names: Sequence[str | Indicator],
    classes: np.ndarray,
    total: float,
    unit: float = 1.0,
) -> list[LevelRule]:
    """Describe all levels; see `answer_regions` for the parameters."""
    has_weights = unit != 1.0 or has_fractional_weights(levels)
    return [
        LevelRule(
            level=index,
            names=tuple(column_texts(names[f] for f in level.features)),
            pieces=tuple(answer_regions(index, level, names, classes, total, unit, has_weights)),
            coverage=level.coverage,
            error=level.error,
            held_out_error=level.held_out_error,
        )
        for index, level in enumerate(levels)
    ]


def explain_rows(
    levels: Sequence[Level],
    rules: Sequence[LevelRule],
    leftover: UncoveredRows,
    X: Any,
    answers: LevelAnswers,
    classes: np.ndarray,
) -> list[EOPExplanation]:
    """Explain the prediction for each row.

    Parameters
    ----------
    levels : sequence of Level
    rules : sequence of LevelRule
        Descriptions of the levels.
    leftover : UncoveredRows
    X : ndarray or CSC matrix of shape (n_samples, n_features)
    answers : LevelAnswers
    classes : ndarray
    """
    explanations: list[Any] = [
        EOPExplanation(
            row,
            leftover.answer,
            -1,
            -1,
            (),
            (),
            {},
            0.0,
            leftover.purity,
            _uncovered_reason(leftover),
        )
        for row in range(X.shape[0])
    ]
    if leftover.by_neighbours:
        for explanation in _explain_by_closest_level(levels, rules, leftover, X, answers, classes):
            explanations[explanation.row] = explanation
    for index, (level, rule) in enumerate(zip(levels, rules)):
        rows = np.flatnonzero(answers.level == index)
        P = project(X, level.features, rows)
        pieces = {(piece.region, piece.answer): piece for piece in rule.pieces}
        row_reasons = level.regions.explain_points(P, rule.names) if len(rows) else None
        for i, row in enumerate(rows.tolist()):
            region, answer = int(answers.region[row]), classes[answers.answer[row]]
            piece = pieces.get((region, answer)) or _empty_answer_region(
                level, rule, region, answer
            )
            bounds, text = (piece.bounds, piece.text) if row_reasons is None else row_reasons[i]
            explanations[row] = EOPExplanation(
                row=row,
                answer=answer,
                level=index,
                region=region,
                names=rule.names,
                values=tuple(P[i].tolist()),
                bounds=bounds,
                support=piece.support,
                purity=piece.purity,
                text=f"{_with_earlier(piece, text)} ({piece.figures})",
            )
    return explanations


def _explain_by_closest_level(
    levels: Sequence[Level],
    rules: Sequence[LevelRule],
    leftover: UncoveredRows,
    X: Any,
    answers: LevelAnswers,
    classes: np.ndarray,
) -> Iterator[EOPExplanation]:
    """Explain rows in no region by their neighbors at the closest level."""
    uncovered = np.flatnonzero(answers.level < 0)
    closest, answer = closest_level(levels, X, uncovered)
    figures = _uncovered_figures(leftover)
    for index in np.unique(closest).tolist():
        level, names = levels[index], rules[index].names
        regions: Any = level.regions  # nonparametric
        chosen = np.flatnonzero(closest == index)
        P = project(X, level.features, uncovered[chosen])
        row_reasons = regions.explain_points(P, names)
        for i, position in enumerate(chosen.tolist()):
            bounds, text = row_reasons[i]
            yield EOPExplanation(
                row=int(uncovered[position]),
                answer=classes[answer[position]],
                level=-1,
                region=-1,
                names=names,
                values=tuple(P[i].tolist()),
                bounds=bounds,
                support=0.0,
                purity=leftover.purity,
                text=f"it is in no region; the closest level is level {index + 1}: {text}{figures}",
            )


def _uncovered_figures(leftover: UncoveredRows) -> str:
    if not leftover.share:
        return ""
    return f" ({100 * leftover.purity:.1f}% of training rows in no region correctly classified)"


def _uncovered_reason(leftover: UncoveredRows) -> str:
    if leftover.answer is None:
        return "it is in no region"
    rows = "such training rows" if leftover.share else "all training rows"
    share = f"{100 * leftover.purity:.1f}%"
    return f"it is in no region, and {share} of {rows} are {leftover.answer}"


def _empty_answer_region(level: Level, rule: LevelRule, region: int, answer: Any) -> AnswerRegion:
    """The part of a region with a prediction that no training row in the region has."""
    text = level.regions.describe(rule.names)[region]
    return AnswerRegion(
        rule.level, region, answer, level.features, text, "", {}, 0.0, 0.0, float("nan")
    )
