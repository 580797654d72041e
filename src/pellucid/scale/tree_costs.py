"""Costs of several finished trees over all rows, in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.batches.batch import Batch
from pellucid._core.batches.problem import BatchProblem
from pellucid._core.data.group_sums import GroupSums, LargestWeight, Terms
from pellucid.tree import ThresholdTree


class RowStatistics(NamedTuple):
    """Number of rows, largest absolute value of every column, and largest weight."""

    n_rows: int
    largest: np.ndarray
    weight: LargestWeight


@dataclass(frozen=True)
class RowStatisticsTask:
    """What has to be known before sums are exact."""

    def __call__(self, batch: Batch) -> RowStatistics:
        """Those of one batch."""
        largest = np.abs(batch.X).max(axis=0, initial=0.0).astype(np.float64)
        return RowStatistics(batch.n_rows, largest, LargestWeight.of(batch.weights.values))

    def merge(self, first: RowStatistics, second: RowStatistics) -> RowStatistics:
        """Those of two batches."""
        return RowStatistics(
            first.n_rows + second.n_rows,
            np.maximum(first.largest, second.largest),
            first.weight.merge(second.weight),
        )


@dataclass(frozen=True)
class TreeSumsTask:
    """Exact sums of the rows by leaf, for several trees."""

    trees: Sequence[ThresholdTree]
    terms: Terms

    def __call__(self, batch: Batch) -> list[tuple[np.ndarray, GroupSums]]:
        """By tree: units of weight by node, and sums by node."""
        X, found = np.ascontiguousarray(batch.X, dtype=np.float64), []
        for tree in self.trees:
            leaf, n = tree.apply(X), tree.node_count
            # Units are whole and their total is below 2**52, so that sums of floats are exact.
            units = np.bincount(leaf, weights=batch.weights.units, minlength=n).astype(np.int64)
            found.append((units, GroupSums.of(X, leaf, batch.weights.values, n, self.terms)))
        return found

    def merge(self, first: list[Any], second: list[Any]) -> list[tuple[np.ndarray, GroupSums]]:
        """Those of two batches."""
        return [(a[0] + b[0], a[1].merge(b[1])) for a, b in zip(first, second)]


class TreeValue(NamedTuple):
    """A tree with the weights of all rows.

    `between_ss` is the between-cluster sum of squares about the mean: the cost is a constant minus
    this.
    """

    tree: ThresholdTree
    between_ss: float


def evaluate_trees(
    problem: BatchProblem, trees: Sequence[ThresholdTree], statistics: RowStatistics
) -> list[TreeValue]:
    """Weights and costs of finished trees. They do not depend on the order of the rows."""
    terms = Terms.of(statistics.largest, statistics.weight)
    found = problem.map(TreeSumsTask(trees, terms))
    per_weight = problem.weight_units.per_weight
    return [
        TreeValue(_with_weights(tree, units / per_weight), _between(tree, units, sums))
        for tree, (units, sums) in zip(trees, found)
    ]


def _between(tree: ThresholdTree, units: np.ndarray, sums: GroupSums) -> float:
    """Between-cluster sum of squares about the mean of all rows."""
    clusters = np.unique(tree.cluster[tree.leaves])
    shape = (len(clusters), sums.high.shape[1])
    high, low = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    weight = np.zeros(len(clusters), dtype=np.int64)
    place = np.searchsorted(clusters, tree.cluster[tree.leaves])
    np.add.at(high, place, sums.high[tree.leaves])
    np.add.at(low, place, sums.low[tree.leaves])
    np.add.at(weight, place, units[tree.leaves])
    of_clusters = GroupSums(high, low, sums.terms).normalized()
    high, low = (part.sum(axis=0, keepdims=True) for part in of_clusters[:2])
    of_all = GroupSums(high, low, sums.terms)
    squares = ((of_clusters.means() - of_all.means()) ** 2).sum(axis=1)
    return float((weight * np.nan_to_num(squares)).sum())


def _with_weights(tree: ThresholdTree, weight: np.ndarray) -> ThresholdTree:
    weight = weight.copy()
    for node in reversed(range(tree.node_count)):
        if not tree.is_leaf[node]:
            weight[node] = weight[tree.children_left[node]] + weight[tree.children_right[node]]
    return tree.replace(weighted_n_node_samples=weight)
