"""Levels, regions and answers in words and as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pellucid.eop.answer_regions import AnswerRegion, answer_regions
from pellucid.eop.decision_list import Level, LevelAnswers
from pellucid.eop.problem import project
from pellucid.eop.shapes.nonparametric import NeighborRegion
from pellucid.eop.shapes.regions import describe_extent
from pellucid.eop.uncovered_rows import UncoveredRows, closest_level


@dataclass(frozen=True)
class LevelRule:
    """A level in words."""

    level: int
    names: tuple[str, ...]
    pieces: tuple[AnswerRegion, ...]
    coverage: float
    error: float
    held_out_error: float

    def __str__(self) -> str:
        held = (
            ""
            if np.isnan(self.held_out_error)
            else f" (of held-out rows {100 * self.held_out_error:.1f} %)"
        )
        head = (
            f"level {self.level + 1}, {' and '.join(self.names)}: {100 * self.coverage:.1f} % of "
            f"the rows, {100 * self.error:.1f} % wrong{held}"
        )
        lines, region = [head], -1
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
    """Why a row gets its answer.

    Attributes
    ----------
    row : int
    answer : object
        The class; None when there is no answer.
    level, region : int
        Which region holds the row, counted from 0; -1 if none does.
    names : tuple of str
        Columns of the projection.
    values : tuple of float
        The row there.
    bounds : dict of str to tuple of float
        The box that holds it, or the box around its neighbours.
    support, purity : float
        Weight of the training rows with this answer in this region, and the share of them that
        belong to the class.
    text : str
        The reason in words.
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
        """Whether no region holds the row."""
        return self.level < 0

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        what = "no answer" if self.answer is None else f"class {self.answer}"
        return f"row {self.row}: {what} because {self.text}"


def level_rules(
    levels: Sequence[Level], names: Sequence[str], classes: np.ndarray, total: float
) -> list[LevelRule]:
    """All levels in words; see `answer_regions` for the parameters."""
    return [
        LevelRule(
            level=number,
            names=tuple(str(names[f]) for f in level.features),
            pieces=tuple(answer_regions(number, level, names, classes, total)),
            coverage=level.coverage,
            error=level.error,
            held_out_error=level.held_out_error,
        )
        for number, level in enumerate(levels)
    ]


def explain_rows(
    levels: Sequence[Level],
    rules: Sequence[LevelRule],
    leftover: UncoveredRows,
    X,
    answers: LevelAnswers,
    classes: np.ndarray,
) -> list[EOPExplanation]:
    """Why each row gets its answer.

    Parameters
    ----------
    levels : sequence of Level
    rules : sequence of LevelRule
        The levels in words.
    leftover : UncoveredRows
    X : ndarray or CSC matrix of shape (n_samples, n_features)
    answers : LevelAnswers
    classes : ndarray
    """
    found: list[Any] = [
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
        for one in _explain_by_neighbors(levels, rules, leftover, X, answers, classes):
            found[one.row] = one
    for number, (level, rule) in enumerate(zip(levels, rules)):
        rows = np.flatnonzero(answers.level == number)
        P = project(X, level.features, rows)
        pieces = {(piece.region, piece.answer): piece for piece in rule.pieces}
        around = None
        if isinstance(level.regions, NeighborRegion) and len(rows):
            around = np.stack(level.regions.neighbours(P), axis=2), level.regions.score(P)
        for i, row in enumerate(rows.tolist()):
            region, answer = int(answers.region[row]), classes[answers.answer[row]]
            piece = pieces.get((region, answer)) or _empty_answer_region(
                level, rule, region, answer
            )
            bounds, text = piece.bounds, f"{piece.text} ({piece.figures})"
            if around is not None:
                bounds = dict(zip(rule.names, map(tuple, around[0][i].tolist())))
                amid = _neighborhood_text(level.regions.n_neighbors, bounds, around[1][i])
                text = f"{amid} ({piece.figures})"
            found[row] = EOPExplanation(
                row=row,
                answer=answer,
                level=number,
                region=region,
                names=rule.names,
                values=tuple(P[i].tolist()),
                bounds=bounds,
                support=piece.support,
                purity=piece.purity,
                text=text,
            )
    return found


def _explain_by_neighbors(levels, rules, leftover, X, answers, classes) -> Iterator[EOPExplanation]:
    """Of the rows in no region, which neighbours speak for the answer."""
    left = np.flatnonzero(answers.level < 0)
    at, answer = closest_level(levels, X, left)
    figures = _uncovered_figures(leftover)
    for number in np.unique(at).tolist():
        level, names = levels[number], rules[number].names
        chosen = np.flatnonzero(at == number)
        P = project(X, level.features, left[chosen])
        ends, scores = np.stack(level.regions.neighbours(P), axis=2), level.regions.score(P)
        for i, position in enumerate(chosen.tolist()):
            bounds = dict(zip(names, map(tuple, ends[i].tolist())))
            amid = _neighborhood_text(level.regions.n_neighbors, bounds, scores[i])
            yield EOPExplanation(
                row=int(left[position]),
                answer=classes[answer[position]],
                level=-1,
                region=-1,
                names=names,
                values=tuple(P[i].tolist()),
                bounds=bounds,
                support=0.0,
                purity=leftover.purity,
                text=f"no region holds it, and level {number + 1} comes closest: {amid}{figures}",
            )


def _uncovered_figures(leftover: UncoveredRows) -> str:
    if not leftover.share:
        return ""
    return f" ({100 * leftover.purity:.1f} % of training rows in no region are rightly answered)"


def _uncovered_reason(leftover: UncoveredRows) -> str:
    if leftover.answer is None:
        return "no region holds it"
    rows = "such training rows" if leftover.share else "all training rows"
    share = f"{100 * leftover.purity:.1f} %"
    return f"no region holds it, and {share} of {rows} are {leftover.answer}"


def _empty_answer_region(level: Level, rule: LevelRule, region: int, answer: Any) -> AnswerRegion:
    """A place that gets an answer which no training row in its region got."""
    text = level.regions.describe(rule.names)[region]
    return AnswerRegion(
        rule.level, region, answer, level.features, text, "", {}, 0.0, 0.0, float("nan")
    )


def _neighborhood_text(n_neighbors: int, bounds: dict, score: float) -> str:
    within = " and ".join(describe_extent(name, *ends) for name, ends in bounds.items())
    return (
        f"{within} holds its {n_neighbors} nearest neighbours, of whom, by closeness, "
        f"{100 * score:.1f} % are rightly classified"
    )
