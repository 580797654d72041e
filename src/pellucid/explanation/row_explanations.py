"""Why rows are where they are, and how true leaves are to the clusters they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.explanation.rules import RowExplanation, Rule, RuleList, path_conditions
from pellucid.tables.encoding import Indicator
from pellucid.tree import ThresholdTree
from pellucid.tree.predictor import column_values


def explain_rows(
    tree: ThresholdTree,
    rules: Sequence[Rule],
    X: Any,
    feature_names: Sequence[str | Indicator] | None = None,
) -> RuleList:
    """A :class:`~pellucid.explanation.rules.RowExplanation` for each row of a matrix."""
    by_leaf = {rule.leaf: rule for rule in rules}
    explanations: list[Any] = [None] * X.shape[0]
    leaves = tree.apply(X)
    for leaf in np.unique(leaves).tolist():
        path = path_conditions(tree, leaf, feature_names)
        rows = np.flatnonzero(leaves == leaf)
        columns = [column_values(X, step.feature, rows) for step in path]
        for i, row in enumerate(rows.tolist()):
            steps = zip(path, (float(column[i]) for column in columns))
            explanations[row] = RowExplanation(row, by_leaf[leaf], tuple(steps))
    return RuleList(explanations)


def leaf_purity(
    leaf: np.ndarray, agrees: np.ndarray, weight: np.ndarray | None = None
) -> dict[int, float]:
    """By leaf, the share of its rows, by weight, that agree with what it says."""
    if weight is None:  # whole numbers are quicker to count
        total = np.bincount(leaf)
        wrong = leaf.take(np.flatnonzero(~agrees))  # most often there are few
        pure = total - np.bincount(wrong, minlength=len(total))
    else:
        total = np.bincount(leaf, weights=weight)
        pure = np.bincount(leaf, weights=weight * agrees)
    reached = np.flatnonzero(total > 0)
    return dict(zip(reached.tolist(), (pure[reached] / total[reached]).tolist()))
