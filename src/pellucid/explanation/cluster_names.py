"""Suggested names of clusters.

A name consists of claims such as "high income". Each of them is a condition, such as income > 45,
that holds for most rows of the cluster and for clearly fewer of the others. The claims of the rule
of the cluster come first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import or_
from typing import NamedTuple

import numpy as np

from pellucid._utils.texts import rule_words
from pellucid.explanation.conditions import Condition, category_set
from pellucid.explanation.rules import ClusterRule
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import Indicator, column_of
from pellucid.tree.rounding import choose_threshold

TYPICAL, CLEAR = 0.6, 0.25
"""Share of the rows of a cluster for which a claim has to hold, and its difference from that of the
other rows: less is hardly seen in the table.
"""

MEDIUM, BESIDE_MEDIUM, MEDIUM_GAIN = (0.05, 0.95), 0.1, 0.4
"""Quantiles between which medium values are, the share of other rows below and above, and the
difference of shares that such a claim needs: it says less than high or low.
"""

YES = ("yes", "true", "y", "t", "1")
_NO = ("no", "false", "n", "f", "0")
_VAGUE = ("none", "other", "others", "unknown", "missing", "total", "all", "both")
"""Categories that need the name of their column to be understood."""

_ADJECTIVE = re.compile(r"(?:ed|able|ible|ive)$", re.IGNORECASE)
_VERB = re.compile(r"(?:is|are|has|have|had|was)(?:[_. ]|(?=[A-Z]))")
_NEGATED = re.compile(r"no[ _-]+(?=\w)", re.IGNORECASE)


class Claim(NamedTuple):
    """A claim about a cluster, with the share of its rows and of the other rows that satisfy it.

    `side` is 1 for high, 0 for medium and -1 for low numbers, `level` their mean in the cluster.
    """

    words: str
    column: str
    condition: str
    share: float
    others: float
    side: int | None = None
    level: float = 0.0

    @property
    def gain(self) -> float:
        """The difference of the two shares."""
        return self.share - self.others

    @property
    def is_clear(self) -> bool:
        """Whether the claim holds for most rows, and for clearly fewer of the others."""
        return self.share >= TYPICAL and self.gain >= CLEAR

    def __str__(self) -> str:
        shares = f"{self.share:.0%} of the cluster, {self.others:.0%} of the others"
        return f"{self.words}: {self.condition} ({shares})"


class ClusterName(str):
    """The suggested name of a cluster, a text, with the `claims` that it makes."""

    claims: tuple[Claim, ...]

    def __new__(cls, text: str, claims: Iterable[Claim] = ()) -> ClusterName:
        """A name of the given text."""
        found = super().__new__(cls, text)
        found.claims = tuple(claims)
        return found


@dataclass(frozen=True)
class NamedColumns:
    """Columns of numbers and of indicators; `Z` has them on the scale of the clusters."""

    names: Sequence[str | Indicator]
    features: Sequence[np.ndarray]
    Z: np.ndarray
    formats: Mapping[str, ColumnFormat]


def suggest_names(
    columns: NamedColumns,
    labels: np.ndarray,
    clusters: Iterable[object],
    rules: Sequence[ClusterRule] = (),
) -> list[ClusterName]:
    """A different description of each cluster, such as "high income, low spending" or "average"."""
    search = _Claims(columns)
    found = [
        search.of_cluster(labels == cluster, rules[i] if rules else None)
        for i, cluster in enumerate(clusters)
    ]
    found = _without_contradictions(found)
    names = [_joined(claims, 2) for claims in found]
    for n_words, may_repeat in ((3, False), (2, True), (3, True)):
        names = [
            _joined(claims, n_words, may_repeat) if names.count(name) > 1 else name
            for name, claims in zip(names, found)
        ]
    unique = []
    for position, name in enumerate(names):
        if names.count(name) == 1:
            unique.append(name)
        elif rules and rules[position].rules:
            unique.append(ClusterName(rules[position].text))
        else:
            unique.append(ClusterName(f"{name} ({position})", name.claims))
    return unique


def _without_contradictions(found: list[list[Claim]]) -> list[list[Claim]]:
    """The claims without those of "high" below a cluster with "medium", or of "low" above one."""
    medium: dict[str, list[float]] = {}
    for claim in chain.from_iterable(found):
        if claim.side == 0:
            medium.setdefault(claim.column, []).append(claim.level)

    def is_true(claim: Claim) -> bool:
        side = claim.side or 0
        return all(side * (claim.level - level) >= 0 for level in medium.get(claim.column, ()))

    return [[claim for claim in claims if is_true(claim)] for claims in found]


def _joined(claims: Sequence[Claim], n_words: int, may_repeat: bool = False) -> ClusterName:
    """The name of the first claims of different columns, and unless allowed of different words."""
    chosen: list[Claim] = []
    for claim in claims:
        known = {word for c in chosen for word in _words(c.words)}
        if len(chosen) < n_words and (may_repeat or not known & _words(claim.words)):
            chosen.append(claim)
    return ClusterName(", ".join(c.words for c in chosen) or rule_words().average, chosen)


def _words(text: str) -> set[str]:
    """The words of a claim without those that every claim may have."""
    say = rule_words()
    patterns = (say.low, say.high, say.medium, say.early, say.late, say.without, say.not_of)
    common = {word for pattern in patterns for word in pattern.split()}
    split = re.sub(r"(?<=[a-z])(?=[A-Z])|[\W_]+", " ", text).split()
    return {word.casefold() for word in split if len(word) > 2 and word not in common}


class _Claims:
    """Search for claims about clusters."""

    def __init__(self, columns: NamedColumns) -> None:
        self.columns = columns
        self.place: dict[str, list[int]] = {}
        for j, name in enumerate(columns.names):
            self.place.setdefault(column_of(name), []).append(j)
        self.median = {
            j: float(np.median(column))
            for j, (name, column) in enumerate(zip(columns.names, columns.features))
            if not isinstance(name, Indicator)
        }

    def of_cluster(self, mine: np.ndarray, rule: ClusterRule | None) -> list[Claim]:
        """Claims about a cluster, the best first: those of its rule, then one per other column."""
        if not mine.any() or mine.all():
            return []
        conditions = {} if rule is None else _common_conditions(rule)
        claims: list[Claim] = []
        for column in dict.fromkeys([*conditions, *self.place]):
            found = self._of(column, mine, conditions.get(column, []))
            claims += [c for c in found if c.share >= TYPICAL and c.gain > 0]
        claims.sort(key=lambda claim: -claim.gain)
        ordered = sorted(claims, key=lambda claim: claim.column not in conditions)
        # One claim per column, the first; if none of them is clear, the best of all.
        first = {c.column: c for c in reversed(ordered) if c.is_clear}
        return [c for c in ordered if first.get(c.column) is c] or claims[:1]

    def _of(
        self, column: str, mine: np.ndarray, conditions: Sequence[Sequence[Condition]]
    ) -> Iterator[Claim]:
        """Claims by one column. `conditions` has those of the rule, for each of its leaves."""
        first = self.place[column][0]
        if first not in self.median:
            yield from self._of_categories(column, mine, conditions)
            return
        lows = [[c.threshold for c in leaf if not c.is_upper] for leaf in conditions]
        highs = [[c.threshold for c in leaf if c.is_upper] for leaf in conditions]
        low = min(map(max, lows)) if lows and all(lows) else None
        high = max(map(min, highs)) if highs and all(highs) else None
        yield from self._of_numbers(first, mine, low, high)

    def _of_numbers(
        self, j: int, mine: np.ndarray, low: float | None, high: float | None
    ) -> Iterator[Claim]:
        """Whether the values are medium, high or low, by bounds of the rule or by the means."""
        name, say = str(self.columns.names[j]), rule_words()
        known = self.columns.formats.get(name, ColumnFormat())
        is_time = known.is_date or known.kind == "year"
        low_or_high = (say.early, say.late) if is_time else (say.low, say.high)
        values, z = self.columns.features[j], self.columns.Z[:, j]

        inside, outside = z[mine].mean(), z[~mine].mean()

        def claim(pattern: str, side: int | None, **bounds: float) -> Claim:
            condition = known.condition(name, **bounds)
            # "legs = 4" is shorter than any description of it.
            words = condition if condition.startswith(f"{name} = ") else pattern.format(name)
            holds = (values > bounds.get("low", -np.inf)) & (values <= bounds.get("high", np.inf))
            found = _claim(words, name, condition, mine, holds)
            return found._replace(side=side, level=float(inside))

        is_high = bool(inside > outside)
        end = "low" if is_high else "high"
        of_rule = low if is_high else high
        bound = of_rule
        if bound is None:
            # Halfway between the means, on the scale of the clusters.
            bound = float(values[z <= (inside + outside) / 2].max(initial=values.min()))
        # High is above the median, and low is below it.
        below = values[values < self.median[j]]
        bound = max(bound, self.median[j]) if is_high else min(bound, below.max(initial=-np.inf))
        bound = _readable(values, bound)
        # A rule may have a bound on the other side only.
        is_against = low != high and of_rule is None
        found: Claim | None = None
        if inside != outside and not is_against and values.min() <= bound < values.max():
            found = claim(low_or_high[is_high], 1 if is_high else -1, **{end: bound})
        if of_rule is not None and not (found is not None and found.is_clear):
            # The rule divides beyond the median: most rows are neither high nor low.
            beyond = claim(say.not_of.format(low_or_high[not is_high]), None, **{end: of_rule})
            found = beyond if found is None or beyond.gain > found.gain else found
        is_clear = found is not None and found.is_clear
        if not is_clear or (low is not None and high is not None):
            first, last = np.quantile(values[mine], MEDIUM)
            least = _readable(values, values[values < first].max(initial=-np.inf), low)
            most = _readable(values, values[values <= last].max(), high)
            others = values[~mine]
            if min((others <= least).mean(), (others > most).mean()) >= BESIDE_MEDIUM:
                medium = claim(say.medium, 0, low=least, high=most)
                found = medium if medium.gain >= MEDIUM_GAIN else found
        if found is not None:
            yield found

    def _of_categories(
        self, column: str, mine: np.ndarray, conditions: Sequence[Sequence[Condition]]
    ) -> Iterator[Claim]:
        names = {
            name.value: (name, self.columns.features[j] > 0.5)
            for j in self.place[column]
            if isinstance(name := self.columns.names[j], Indicator)
        }
        for name, holds in names.values():
            yield _claim(category_words(name), column, str(name), mine, holds)
        if not conditions:
            return
        allowed = reduce(or_, map(category_set, conditions))
        included = [v for v in names if (v in allowed.values) != allowed.is_excluded]
        left_out = [v for v in names if v not in included]
        if len(included) == 2 < len(names):
            either = allowed.text
            if all(category_words(names[v][0]) == names[v][0].word for v in included):
                either = f" {rule_words().or_} ".join(names[v][0].word for v in included)
            holds = names[included[0]][1] | names[included[1]][1]
            yield _claim(either, column, allowed.text, mine, holds)
        elif len(left_out) == 1 < len(included):
            name, holds = names[left_out[0]]
            yield _claim(_negated(name), column, name.negation, mine, ~holds)


def _claim(words: str, column: str, condition: str, mine: np.ndarray, holds: np.ndarray) -> Claim:
    share, others = float(holds[mine].mean()), float(holds[~mine].mean())
    return Claim(words, column, condition, share, others)


def _readable(values: np.ndarray, bound: float, of_rule: float | None = None) -> float:
    """The bound of the rule, or one with few digits that divides the values like `bound`."""
    if of_rule is not None or not values.min() <= bound < values.max():
        return bound if of_rule is None else of_rule
    left, right = values[values <= bound].max(), values[values > bound].min()
    return choose_threshold(float(left), float(right), "round")


def _common_conditions(rule: ClusterRule) -> dict[str, list[list[Condition]]]:
    """Conditions by column and leaf, of the columns that all leaves of a rule use."""
    leaves: list[dict[str, list[Condition]]] = []
    for leaf in rule.rules:
        found: dict[str, list[Condition]] = {}
        for condition in leaf.conditions:
            found.setdefault(condition.column, []).append(condition)
        leaves.append(found)
    columns = [c for c in leaves[0] if all(c in leaf for leaf in leaves)] if leaves else []
    return {column: [leaf[column] for leaf in leaves] for column in columns}


def category_words(name: Indicator) -> str:
    """A category in words, with the name of its column where it is needed."""
    word, say = name.word, rule_words()
    spellings = {str(value).casefold() for value in name.categories if value is not None}
    is_flag = spellings <= {*YES, *_NO} or word.casefold() in ("yes", "no", "true", "false")
    is_column_word = len(name.column) > 2 and not _VERB.match(name.column)
    is_column_word &= name.column.casefold() not in (*YES, *_NO)
    if name.value is None or (is_flag and not is_column_word):
        return str(name)
    if is_flag and word.casefold() in YES:
        return name.column
    if is_flag and word.casefold() in _NO:
        pattern = say.not_of if _ADJECTIVE.search(name.column) else say.without
        return pattern.format(name.column)
    if _NEGATED.match(word):
        return say.without.format(_NEGATED.sub("", word, count=1))
    is_clear = len(word) > 2 and any(c.isalpha() for c in word) and word.casefold() not in _VAGUE
    return word if is_clear else str(name)


def _negated(name: Indicator) -> str:
    """That a row does not have a category."""
    words, say = category_words(name), rule_words()
    without = say.without.format("")
    if words == str(name):
        return name.negation
    return words.removeprefix(without) if words.startswith(without) else say.not_of.format(words)
