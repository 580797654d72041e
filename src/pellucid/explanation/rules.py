"""Rules of leaves, clusters and rows: conditions without redundant ones, counts and purity."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple, TypeVar, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid._utils.texts import count
from pellucid.explanation.conditions import Condition, conditions_text, group_by_category
from pellucid.explanation.mixins import RulesHtmlMixin
from pellucid.tables.column_formats import PLAIN, ColumnFormat
from pellucid.tables.encoding import ColumnNames, Indicator
from pellucid.tree import LEAF, ThresholdTree

Formats = Mapping[str, ColumnFormat]
RuleT = TypeVar("RuleT", covariant=True)

NOT_EXPLAINED = "not explained"
"""Text of a cluster that has no leaf."""


@dataclass(frozen=True)
class Rule:
    """The conditions that define one leaf, without redundant ones.

    Attributes
    ----------
    leaf : int
        Node number of the leaf.
    cluster : object
        Label of the cluster, as in the reference clustering.
    conditions : tuple of Condition
        The conditions; all must hold.
    n_samples : int
        Number of training rows in the leaf.
    share : float
        Fraction of all training rows, by weight.
    purity : float
        Fraction of the leaf's rows, by weight, that are in this cluster of the reference; NaN if
        the leaf is empty.
    n_noise : int
        Number of rows of noise in the leaf, which were left out and count nowhere else.
    """

    leaf: int
    cluster: Any
    conditions: tuple[Condition, ...]
    n_samples: int
    share: float
    purity: float
    n_noise: int = 0

    @property
    def text(self) -> str:
        """The conditions as text.

        Two bounds of one feature become an interval. The conditions on the categories of one
        column become one list: of the allowed categories, or of the excluded ones if these are
        clearly fewer.
        """
        return conditions_text(self.conditions)

    def loosened(self, columns: Collection[str]) -> Rule:
        """The rule with a text that is true for new values of some columns.

        Parameters
        ----------
        columns : collection of str
            Columns that have values outside the training data.

        Returns
        -------
        Rule
            The same conditions.
        """
        conditions = (c.loosened() if c.column in columns else c for c in self.conditions)
        return replace(self, conditions=tuple(conditions))

    def __str__(self) -> str:
        return self.text


class Alternative(NamedTuple):
    """A leaf of a cluster, or leaves that differ only in the categories of one column."""

    text: str
    n_samples: int
    share: float


@dataclass(frozen=True)
class ClusterRule:
    """The rule of a cluster: the rules of its leaves, joined by "or".

    Attributes
    ----------
    cluster : object
        Label of the cluster.
    rules : tuple of Rule
        The rules of the leaves.
    n_samples : int
        Number of training rows in these leaves.
    share : float
        Fraction of all training rows, by weight.
    purity : float
        Fraction of these rows, by weight, that are in this cluster of the reference; NaN if there
        are none.
    n_noise : int
        Number of rows of noise in these leaves, which were left out and count nowhere else.
    """

    cluster: Any
    rules: tuple[Rule, ...]
    n_samples: int
    share: float
    purity: float
    n_noise: int = 0

    @property
    def precision(self) -> float:
        """Purity if rows of noise count as rows of another cluster."""
        n = self.n_samples + self.n_noise
        return self.purity * self.n_samples / n if n else float("nan")

    @property
    def text(self) -> str:
        """The rule as text, largest leaf first."""
        if not self.rules:
            return NOT_EXPLAINED
        if len(alternatives := self.alternatives) == 1:
            return alternatives[0].text
        return " or ".join(f"({alternative.text})" for alternative in alternatives)

    @property
    def alternatives(self) -> list[Alternative]:
        """The parts of the cluster as text, largest leaf first.

        Leaves that differ only in the categories of one column are one part: "district is A or
        B".
        """
        found = []
        for positions, union in group_by_category([rule.conditions for rule in self.rules]):
            rules = [self.rules[i] for i in positions]
            text = conditions_text(rules[0].conditions, union)
            n_samples, share = sum(r.n_samples for r in rules), sum(r.share for r in rules)
            found.append(Alternative(text, n_samples, share))
        return found

    def __str__(self) -> str:
        purity = "" if np.isnan(self.purity) else f", {100 * self.purity:.1f}% pure"
        if self.n_noise:
            purity += f"; with {self.n_noise:,} of noise {100 * self.precision:.1f}%"
        size = f"    {count(self.n_samples, 'row')} ({100 * self.share:.1f}%{purity})"
        return f"cluster {label_text(self.cluster)}: {self.text}\n{size}"


class RuleList(RulesHtmlMixin, Sequence[RuleT]):
    """A sequence of rules, such as those of all clusters; prints as text.

    Parameters
    ----------
    rules : sequence
        Rules, or explanations of rows.
    """

    def __init__(self, rules: Sequence[RuleT]) -> None:
        self._rules = tuple(rules)

    @overload
    def __getitem__(self, index: int) -> RuleT: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[RuleT, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        return self._rules[index]

    def __len__(self) -> int:
        return len(self._rules)

    def __str__(self) -> str:
        return "\n".join(map(str, self._rules))

    __repr__ = __str__


@dataclass(frozen=True)
class RowExplanation:
    """The rule and the path of one row.

    Attributes
    ----------
    row : int
        Position of the row.
    rule : Rule or None
        The rule of its leaf, in a text that is true for the row; None if the row has no cluster
        because a value is missing.
    path : tuple of (Condition, float)
        The condition of every split on the path, with the row's value.
    notes : tuple of str
        Which values were not in the training data, or are missing.
    """

    row: int
    rule: Rule | None
    path: tuple[tuple[Condition, float], ...]
    notes: tuple[str, ...] = ()

    @property
    def cluster(self) -> Any:
        """Label of the row's cluster; -1 if it has none."""
        return -1 if self.rule is None else self.rule.cluster

    @property
    def leaf(self) -> int:
        """Node number of the row's leaf; -1 if it has none."""
        return -1 if self.rule is None else self.rule.leaf

    def __str__(self) -> str:
        notes = "; ".join(self.notes)
        if self.rule is None:
            return f"row {self.row}: no cluster because {notes}"
        text = f"row {self.row}: cluster {label_text(self.cluster)} because {self.rule.text}"
        return f"{text} ({notes})" if notes else text


class ExplainMixin:
    """`explain` of models with a tree; `_explain_rows` is theirs."""

    rules_: RuleList[ClusterRule]

    @abstractmethod
    def _explain_rows(self, X: Any) -> RuleList[RowExplanation]: ...

    @overload
    def explain(self, X: None = None) -> RuleList[ClusterRule]: ...
    @overload
    def explain(self, X: Any) -> RuleList[RowExplanation]: ...
    def explain(self, X: Any = None) -> RuleList[Any]:
        """The rule of each cluster, or, given rows, the rule and the path of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features), optional
            Rows to explain. Default: the clusters are described.

        Returns
        -------
        RuleList
            One :class:`~pellucid.explanation.rules.ClusterRule` per cluster, or one
            :class:`~pellucid.explanation.rules.RowExplanation` per row. Prints as text.
        """
        if hasattr(self, "fit"):
            check_is_fitted(self)
        return self.rules_ if X is None else self._explain_rows(X)


def label_text(label: Any) -> str:
    """Text of the label of a cluster; 1.0, of a column of integers with gaps, becomes 1."""
    is_whole = isinstance(label, float) and label.is_integer() and abs(label) < 2**53
    return str(int(label) if is_whole else label)


def percent(share: float) -> str:
    """A share in percent; 100% only if it is exactly 1."""
    return "100%" if share == 1 else f"{100 * share:.1f}%"


def default_names(n_features: int) -> list[str]:
    """Names for columns that have none: x0, x1, ..."""
    return [f"x{i}" for i in range(n_features)]


def column_names(model: Any) -> ColumnNames | None:
    """Descriptions of the columns of the tree of a fitted estimator, if it has any."""
    return getattr(model, "tree_columns_", getattr(model, "feature_names_in_", None))


def names_of_columns(
    model: Any, n_features: int, given: ColumnNames | None = None
) -> list[str | Indicator]:
    """The given descriptions of the columns of a tree, else those of the model, else x0, x1, ..."""
    names = column_names(model) if given is None else given
    found = default_names(n_features) if names is None else names
    if len(found) != n_features:
        raise ValueError(f"{len(found)} feature names for a model of {n_features} columns")
    return list(found)


def path_conditions(
    tree: ThresholdTree,
    leaf: int,
    feature_names: ColumnNames | None = None,
    formats: Formats | None = None,
) -> list[Condition]:
    """Conditions of all splits from the root to `leaf`, redundant ones included."""
    names = default_names(tree.n_features) if feature_names is None else feature_names
    return [split_condition(tree, node, left, names, formats) for node, left in tree.path(leaf)]


def split_condition(
    tree: ThresholdTree,
    node: int,
    is_left: bool,
    names: ColumnNames,
    formats: Formats | None = None,
) -> Condition:
    """The condition that leads from an inner node to its left or its right child."""
    feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
    name = names[feature]
    if isinstance(name, Indicator):
        return Condition(feature, threshold, is_left, name)
    return Condition(feature, threshold, is_left, str(name), (formats or {}).get(str(name), PLAIN))


def simplify(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """The tightest bound per feature and side; a known category makes excluded ones redundant."""
    tightest: dict[tuple[int, bool], Condition] = {}
    for condition in conditions:
        key = (condition.feature, condition.is_upper)
        known = tightest.get(key)
        sign = 1 if condition.is_upper else -1
        if known is None or sign * condition.threshold < sign * known.threshold:
            tightest[key] = condition
    indicated = [c for c in tightest.values() if isinstance(c.name, Indicator)]
    included = [c.name for c in indicated if not c.is_upper]
    columns = {c.column for c in indicated if not c.is_upper}
    # A leaf that no row can reach may both include and exclude a category; both are kept.
    redundant = {id(c) for c in indicated if c.column in columns and c.name not in included}
    return tuple(c for c in tightest.values() if id(c) not in redundant)


def leaf_rules(
    tree: ThresholdTree,
    feature_names: ColumnNames | None = None,
    labels: Sequence[Any] | None = None,
    purity: dict[int, float] | None = None,
    noise: Mapping[int, int] | None = None,
    formats: Formats | None = None,
) -> list[Rule]:
    """One rule per leaf, left to right; a purity that is missing is NaN."""
    names = default_names(tree.n_features) if feature_names is None else feature_names
    weight = tree.weighted_n_node_samples.tolist()
    children = list(zip(tree.children_left.tolist(), tree.children_right.tolist()))
    paths: list[tuple[Condition, ...]] = [()] * tree.node_count
    rules = []
    for node, pair in enumerate(children):  # parents first
        if pair[0] != LEAF:
            for child, is_left in zip(pair, (True, False)):
                step = split_condition(tree, node, is_left, names, formats)
                paths[child] = (*paths[node], step)
            continue
        cluster = int(tree.cluster[node])
        label = cluster if labels is None else labels[cluster]
        n = int(tree.n_node_samples[node])
        share = weight[node] / weight[0] if weight[0] > 0 else 0.0
        quality = float((purity or {}).get(node, np.nan)), (noise or {}).get(node, 0)
        rules.append(Rule(node, label, simplify(paths[node]), n, share, *quality))
    return rules


def cluster_rules(rules: Sequence[Rule], labels: Sequence[Any]) -> RuleList[ClusterRule]:
    """Rules of the leaves grouped by cluster, one entry for each of `labels`."""
    found = []
    for label in labels:
        own = [rule for rule in rules if rule.cluster == label]
        n_samples, n_noise = sum(r.n_samples for r in own), sum(r.n_noise for r in own)
        share = sum(rule.share for rule in own)
        pure = sum(rule.share * rule.purity for rule in own if rule.share > 0)
        purity = pure / share if share > 0 else float("nan")
        ordered = tuple(sorted(own, key=lambda rule: (-rule.share, rule.leaf)))
        found.append(ClusterRule(label, ordered, n_samples, share, purity, n_noise))
    return RuleList(found)


def explain_rows(
    tree: ThresholdTree,
    rules: Sequence[Rule],
    leaf: np.ndarray,
    values: Callable[[int, np.ndarray], np.ndarray],
    feature_names: ColumnNames | None = None,
    formats: Formats | None = None,
    special: Mapping[int, RowRule] | None = None,
) -> RuleList[RowExplanation]:
    """A `RowExplanation` per row, given the rules of leaves and the leaf of each row.

    ``values(feature, rows)`` gives a column of the tree; `special` are rules of single rows.
    """
    special = special or {}
    by_leaf = {rule.leaf: rule for rule in rules}
    explanations: list[Any] = [None] * len(leaf)
    for node in np.unique(leaf).tolist():
        rows = np.flatnonzero(leaf == node)
        path = [] if node < 0 else path_conditions(tree, node, feature_names, formats)
        columns = [values(step.feature, rows) for step in path]
        usual = RowRule(by_leaf.get(node))
        for i, row in enumerate(rows.tolist()):
            found = special.get(row, usual)
            taken = (step.loosened() if step.column in found.columns else step for step in path)
            steps = tuple(zip(taken, (float(column[i]) for column in columns)))
            explanations[row] = RowExplanation(row, found.rule, steps, found.notes)
    return RuleList(explanations)


class RowRule(NamedTuple):
    """The rule of a row, None without a cluster, with notes; `columns` have new values there."""

    rule: Rule | None
    notes: tuple[str, ...] = ()
    columns: frozenset[str] = frozenset()


def special_rules(
    rules: Sequence[Rule],
    leaf: np.ndarray,
    unusual: Mapping[str, Mapping[int, Any]],
    known: Mapping[str, Sequence[Any]],
) -> dict[int, RowRule]:
    """The rules of the rows for which the text of the rule of their leaf may be false.

    Their texts list no values as the only possible ones: "plan is not basic" instead of "plan is
    plus or pro". `unusual` has cells by column and row, `known` the values of the training data.
    """
    by_leaf = {rule.leaf: rule for rule in rules}
    columns_of = {rule.leaf: {c.column for c in rule.conditions} for rule in rules}
    found_in: dict[int, dict[str, Any]] = {}
    for column, cells in unusual.items():
        for row, value in cells.items():
            if column in columns_of.get(int(leaf[row]), ()):
                found_in.setdefault(row, {})[column] = value
    loosened = cache(lambda leaf, columns: by_leaf[leaf].loosened(columns))
    found = {}
    for row, values in found_in.items():
        columns = frozenset(values)
        notes = tuple(_note(c, value, known[c]) for c, value in values.items() if c in known)
        found[row] = RowRule(loosened(int(leaf[row]), columns), notes, columns)
    return found


def _note(column: str, value: Any, known: Sequence[Any]) -> str:
    """That a value of a column was not in the training data."""
    if value is None:
        return f"{column}: missing values were not in the training data"
    same = [each for each in known if str(each).casefold() == str(value).strip().casefold()]
    but = f"; {same[0]!r} was" if same else ""
    return f"{column}: {value!r} was not in the training data{but}"


def leaf_purity(
    leaf: np.ndarray, agrees: np.ndarray, weight: np.ndarray | None = None
) -> dict[int, float]:
    """By leaf, the fraction of its rows, by weight, whose reference cluster is the leaf's."""
    if weight is None:  # counting integers is faster
        total = np.bincount(leaf)
        wrong = leaf.take(np.flatnonzero(~agrees))  # few in most cases
        pure = total - np.bincount(wrong, minlength=len(total))
    else:
        total = np.bincount(leaf, weights=weight)
        pure = np.bincount(leaf, weights=weight * agrees)
    reached = np.flatnonzero(total > 0)
    return dict(zip(reached.tolist(), (pure[reached] / total[reached]).tolist()))
