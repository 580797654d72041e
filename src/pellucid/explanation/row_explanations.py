"""Explanations of single rows, and the purity of leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.explanation.rules import Formats, RowExplanation, Rule, RuleList, path_conditions
from pellucid.tables.encoding import Indicator
from pellucid.tree import ThresholdTree


def explain_rows(
    tree: ThresholdTree,
    rules: Sequence[Rule],
    leaf: np.ndarray,
    values: Callable[[int, np.ndarray], np.ndarray],
    feature_names: Sequence[str | Indicator] | None = None,
    formats: Formats | None = None,
    special: Mapping[int, RowRule] | None = None,
) -> RuleList:
    """A :class:`~pellucid.explanation.rules.RowExplanation` per row.

    `rules` are those of the leaves, `leaf` is the leaf of each row. ``values(feature, rows)`` gives
    values of a column of the tree. `special` are rules of single rows; see :func:`special_rules`.
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
    """The rule of a row; None if it has no cluster.

    `notes` say why the rule differs from that of the leaf, or why there is none. `columns` are
    those of the rule in which the row has a value that was not in the training data.
    """

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

    The text of such a rule lists no values of the training data as the only possible ones: "plan
    is not basic" instead of "plan is plus or pro". `unusual` has the values for which the texts are
    not made, by column and row. `known` has all values of a column in the training data, where
    they are known.
    """
    by_leaf = {rule.leaf: rule for rule in rules}
    columns_of = {rule.leaf: {c.column for c in rule.conditions} for rule in rules}
    found_in: dict[int, dict[str, Any]] = {}
    for column, cells in unusual.items():
        for row, value in cells.items():
            if column in columns_of.get(int(leaf[row]), ()):
                found_in.setdefault(row, {})[column] = value
    loosened: dict[tuple[int, frozenset[str]], Rule] = {}
    found = {}
    for row, values in found_in.items():
        key = int(leaf[row]), frozenset(values)
        if key not in loosened:
            loosened[key] = by_leaf[key[0]].loosened(key[1])
        notes = tuple(_note(c, value, known[c]) for c, value in values.items() if c in known)
        found[row] = RowRule(loosened[key], notes, key[1])
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
