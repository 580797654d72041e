"""Explanations of single rows, and the purity of leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

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
) -> RuleList:
    """A :class:`~pellucid.explanation.rules.RowExplanation` per row.

    Parameters
    ----------
    tree : ThresholdTree
    rules : sequence of Rule
        Rule of each leaf.
    leaf : ndarray of shape (n_samples,)
        Leaf of each row.
    values : callable
        ``values(feature, rows)``: values of a column of the tree at the given rows.
    feature_names : sequence of str or Indicator, optional
    formats : dict of str to ColumnFormat, optional
        How the values of numeric columns are written.
    """
    by_leaf = {rule.leaf: rule for rule in rules}
    explanations: list[Any] = [None] * len(leaf)
    for node in np.unique(leaf).tolist():
        path = path_conditions(tree, node, feature_names, formats)
        rows = np.flatnonzero(leaf == node)
        columns = [values(step.feature, rows) for step in path]
        for i, row in enumerate(rows.tolist()):
            steps = zip(path, (float(column[i]) for column in columns))
            explanations[row] = RowExplanation(row, by_leaf[node], tuple(steps))
    return RuleList(explanations)


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
