"""Rules of a fitted set: their conditions, measures and texts, and their form as regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid.explanation.conditions import Condition, conditions_text
from pellucid.explanation.region_list import RegionList
from pellucid.explanation.rules import label_text, percent
from pellucid.regions.classifiers import Stump
from pellucid.regions.levels import ListLevel
from pellucid.regions.shapes import Boxes
from pellucid.rules.boxes import Box, RuleColumns, size_of
from pellucid.tables.column_formats import PLAIN, ColumnFormat
from pellucid.tables.encoding import Indicator


@dataclass(frozen=True)
class SetRule:
    """A rule of a rule set: conditions that all must hold, and measures on the training rows."""

    cluster: Any  # label of the cluster that it describes
    conditions: tuple[Condition, ...]  # those on categories of a column are one in the text
    size: int  # number of conditions: bounds, and sets of categories
    n_samples: int  # rows for which it holds, without noise
    coverage: float  # fraction of the rows of its cluster, by weight, for which it holds
    precision: float  # fraction of its rows, by weight and without noise, that are in its cluster
    n_noise: int = 0  # rows of noise for which it holds
    precision_with_noise: float = float("nan")  # noise counts as rows of another cluster
    held_out_precision: float = float("nan")  # with noise; NaN if it holds for no row held out

    @property
    def text(self) -> str:
        """The conditions as text."""
        return conditions_text(self.conditions)

    @property
    def figures(self) -> str:
        """Number of rows, coverage and precision as text."""
        rows = "row" if self.n_samples == 1 else "rows"
        text = f"{self.n_samples:,} {rows}, {percent(self.coverage)} of the cluster, "
        text += f"precision {percent(self.precision)}"
        if self.n_noise:
            text += f", with {self.n_noise:,} of noise {percent(self.precision_with_noise)}"
        if not np.isnan(self.held_out_precision):
            text += f", held out {percent(self.held_out_precision)}"
        return text

    def holds(self, X: np.ndarray) -> np.ndarray:
        """Which rows of a dense matrix, with indicators of categories, satisfy the rule."""
        found = np.ones(len(X), dtype=bool)
        for condition in self.conditions:
            found &= condition.holds(X)
        return found

    def __str__(self) -> str:
        return f"cluster {label_text(self.cluster)}: {self.text}\n    {self.figures}"


@dataclass(frozen=True)
class RuleSetRow:
    """The rules that hold for a row."""

    row: int  # position of the row
    cluster: Any  # the cluster that is predicted
    rules: tuple[SetRule, ...]  # the one that decides first; empty if none holds

    def __str__(self) -> str:
        if not self.rules:
            return f"row {self.row}: unexplained, because no rule holds"
        first, *others = self.rules
        text = f"row {self.row}: cluster {label_text(self.cluster)} because {first.text}"
        for rule in others:
            text += f"; also cluster {label_text(rule.cluster)}: {rule.text}"
        return text


def conditions_of(
    columns: RuleColumns, box: Box, formats: Mapping[str, ColumnFormat]
) -> tuple[Condition, ...]:
    """The conditions of a box on the columns of the matrix; a set is made of indicators."""
    names, found = columns.names, []
    for condition in box:
        features = columns.features[condition.column]
        if condition.codes is not None:
            chosen = [features[code] for code in sorted(condition.codes) if code < len(features)]
            only = len(chosen) == 1
            listed = chosen if only else [f for f in features if f not in chosen]
            found += [Condition(f, 0.5, not only, names[f]) for f in listed]
            continue
        feature, name = features[0], names[features[0]]
        written = formats.get(str(name), PLAIN)
        ends = ((condition.lower, False), (condition.upper, True))
        found += [Condition(feature, e, up, name, written) for e, up in ends if np.isfinite(e)]
    return tuple(found)


class RowGroup(NamedTuple):
    """Some rows: their positions, weights in units, and clusters (-1 for noise)."""

    rows: np.ndarray
    weight: np.ndarray
    labels: np.ndarray

    def by_cluster(self, inside: np.ndarray, n_clusters: int) -> np.ndarray:
        """Weight of the rows for which a rule holds, by cluster; that of noise is the last."""
        sums = np.zeros(n_clusters + 1, dtype=np.int64)
        np.add.at(sums, self.labels[inside], self.weight[inside])
        return sums


class FittedRule(NamedTuple):
    """A rule, the position of its cluster, and the rows for which it holds."""

    rule: SetRule
    cluster: int
    inside: np.ndarray
    weights: np.ndarray  # of the rows to find rules on by cluster, in units


def describe_rules(
    boxes: Sequence[tuple[int, Box]],
    columns: RuleColumns,
    rows: RowGroup,
    held: RowGroup,
    formats: Mapping[str, ColumnFormat],
    labels: Sequence[Any],
) -> list[FittedRule]:
    """Boxes of clusters as rules with their measures, by cluster and the largest first."""
    sizes = rows.by_cluster(np.ones(len(rows.rows), dtype=bool), len(labels))
    found = []
    for cluster, box in boxes:
        inside = columns.inside(box)
        trained, tested = inside[rows.rows], inside[held.rows]
        weights = rows.by_cluster(trained, len(labels))
        test_weights = held.by_cluster(tested, len(labels))
        rule = SetRule(
            cluster=labels[cluster],
            conditions=conditions_of(columns, box, formats),
            size=size_of(box),
            n_samples=int(np.count_nonzero(trained & (rows.labels >= 0))),
            coverage=_ratio(weights[cluster], sizes[cluster]),
            precision=_ratio(weights[cluster], weights[:-1].sum()),
            n_noise=int(np.count_nonzero(trained & (rows.labels < 0))),
            precision_with_noise=_ratio(weights[cluster], weights.sum()),
            held_out_precision=_ratio(test_weights[cluster], test_weights.sum()),
        )
        found.append(FittedRule(rule, cluster, inside, weights))
    return sorted(found, key=lambda each: (each.cluster, -each.rule.coverage))


def _ratio(part: int, whole: int) -> float:
    return float(part / whole) if whole else float("nan")


def explained_shares(
    fitted: Sequence[FittedRule], rows: RowGroup, n_clusters: int
) -> tuple[float, np.ndarray]:
    """Fraction of the weight that satisfies a rule of its own cluster: of all clusters, of each."""
    is_explained = np.zeros(len(rows.rows), dtype=bool)
    for each in fitted:
        is_explained |= each.inside[rows.rows] & (rows.labels == each.cluster)
    explained = rows.by_cluster(is_explained, n_clusters)[:-1]
    sizes = rows.by_cluster(np.ones_like(is_explained), n_clusters)[:-1]
    return _ratio(explained.sum(), sizes.sum()), np.array(list(map(_ratio, explained, sizes)))


def precision_of(answer: np.ndarray, rows: RowGroup) -> float:
    """Fraction of the rows with a prediction, by weight, whose predicted cluster is theirs."""
    predicted = answer[rows.rows]
    has_answer = predicted >= 0
    right = rows.weight[has_answer & (predicted == rows.labels)].sum()
    return _ratio(right, rows.weight[has_answer].sum())


def priorities(fitted: Sequence[FittedRule]) -> list[int]:
    """Positions of the rules from the one that decides first: by precision, then by weight."""
    keys = [(-each.rule.precision_with_noise, -int(each.weights.sum())) for each in fitted]
    return sorted(range(len(fitted)), key=keys.__getitem__)


def as_regions(fitted: Sequence[FittedRule], unit: float, **described: Any) -> RegionList:
    """The rules as a decision list, the one that decides first at the top; units as weights."""
    levels = []
    for i in priorities(fitted):
        rule, answer = fitted[i].rule, fitted[i].cluster
        features = tuple(dict.fromkeys(c.feature for c in rule.conditions)) or (0,)
        lower, upper = np.full(len(features), -np.inf), np.full(len(features), np.inf)
        for condition in rule.conditions:
            # The end between the two values of an indicator is 0.
            end = 0.0 if isinstance(condition.name, Indicator) else condition.threshold
            (upper if condition.is_upper else lower)[features.index(condition.feature)] = end
        weights = fitted[i].weights[:-1] * unit
        counts = np.zeros((1, len(weights), len(weights)))
        counts[0, answer] = weights
        classifier = Stump(0, 0.0, answer, answer)
        levels.append(ListLevel(features, classifier, Boxes(lower, upper), counts))
    return RegionList(levels, default=None, **described)
