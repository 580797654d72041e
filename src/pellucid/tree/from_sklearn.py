"""Threshold trees from the fitted decision trees of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.tree.builder import TreeBuilder
from pellucid.tree.rounding import ThresholdStyle, choose_threshold
from pellucid.tree.threshold_tree import LEAF

ColumnValues = Callable[[int, np.ndarray], np.ndarray]
"""``values(feature, rows)``: values of a column for some rows."""


class SklearnSplit(NamedTuple):
    """A split of a scikit-learn tree, by its numbers of nodes, and the rows of the children."""

    node: int
    feature: int
    children: tuple[int, int]
    rows: tuple[np.ndarray, np.ndarray]


def splits_in_growth_order(
    sklearn_tree: Any, rows: np.ndarray, values: ColumnValues
) -> Iterator[SklearnSplit]:
    """Splits in the order of best-first growth; scikit-learn compares `values` in float32."""
    rows_of = {0: rows}
    inner = np.flatnonzero(sklearn_tree.children_left != LEAF)
    # Both children are numbered when their parent is split, so the order of growth is the order
    # of the children's numbers.
    for node in inner[np.argsort(sklearn_tree.children_left[inner])].tolist():
        rows, feature = rows_of.pop(node), int(sklearn_tree.feature[node])
        left = values(feature, rows).astype(np.float32) <= sklearn_tree.threshold[node]
        children = int(sklearn_tree.children_left[node]), int(sklearn_tree.children_right[node])
        parts = rows[left], rows[~left]
        rows_of.update(zip(children, parts))
        yield SklearnSplit(node, feature, children, parts)


def build_from_splits(
    splits: Iterable[SklearnSplit],
    *,
    n_features: int,
    rows: np.ndarray,
    cluster: Sequence[int] | Mapping[int, int],
    values: ColumnValues,
    total_weight: Callable[[np.ndarray], float],
    threshold_style: ThresholdStyle = "round",
) -> tuple[TreeBuilder, dict[int, np.ndarray]]:
    """The builder of a tree with the given splits, parents first, and the rows of each leaf.

    `rows` are those at the root, `cluster` is by scikit-learn's numbers of nodes, and thresholds
    are chosen between `values`.
    """
    builder, number_of, leaf_rows = TreeBuilder(n_features), {0: 0}, {}

    def describe(node: int, rows: np.ndarray) -> None:
        number = number_of[node]
        leaf_rows[number] = rows
        builder.set_cluster(number, cluster[node])
        builder.set_counts(number, len(rows), total_weight(rows))

    describe(0, rows)
    for node, feature, children, parts in splits:
        left, right = (values(feature, part) for part in parts)
        threshold = choose_threshold(float(left.max()), float(right.min()), threshold_style)
        del leaf_rows[number_of[node]]
        numbers = builder.split(number_of[node], feature=feature, threshold=threshold)
        for child, number, part in zip(children, numbers, parts):
            number_of[child] = number
            describe(child, part)
    return builder, leaf_rows
