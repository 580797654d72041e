"""Base of the baselines that split the rows without looking at the reference."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from pellucid._core.criteria.problem import Problem
from pellucid._core.growers.cart import as_leaf
from pellucid._core.growers.growing_tree import GrowthResult
from pellucid._utils.progress import Progress
from pellucid.cluster._base import BaseThresholdTree
from pellucid.tree.from_sklearn import SklearnSplit, build_from_splits


class UniqueRows:
    """The distinct rows of a problem in lexicographic order, and the `number` of each row's own.

    Whatever is computed from them has the same bits for any order and storage of the rows, and
    whether a row is weighted or repeated.
    """

    def __init__(self, problem: Problem) -> None:
        X = problem.X.toarray() if sparse.issparse(problem.X) else np.asarray(problem.X)
        # Adding 0 makes -0 and 0 equal in all bits.
        self.X, number = np.unique(X.astype(np.float64) + 0.0, axis=0, return_inverse=True)
        self.problem, self.number = problem, number.reshape(-1)
        units = np.bincount(self.number, problem.weights.units)  # exact
        self.weight = units / problem.weights.units_per_weight

    def costs_of(self, groups: list[np.ndarray]) -> np.ndarray:
        """Cost of each group of distinct rows at each reference center, as exact floats."""
        costs = np.zeros((len(self.X), self.problem.n_clusters), dtype=np.int64)
        np.add.at(costs, self.number, self.problem.costs)
        return np.array([costs[rows].sum(axis=0) for rows in groups], dtype=np.float64)


class UnsupervisedTree(BaseThresholdTree):
    """Base of the baselines whose splits, by `_find_tree`, do not depend on the reference."""

    def _max_leaves(self, n_clusters: int) -> int:
        # The base warns of fewer leaves than this and names a cause that is none of these methods.
        return 1

    @abstractmethod
    def _find_tree(
        self, rows: UniqueRows, progress: Progress
    ) -> tuple[list[SklearnSplit], dict[int, int]]:
        """The splits, parents before children, and the cluster of each leaf. The root is 0."""

    def _grow(self, problem: Problem, progress: Progress) -> GrowthResult:
        rows = UniqueRows(problem)
        splits, cluster = self._find_tree(rows, progress)
        found = np.arange(problem.n_samples, dtype=np.int32)
        builder, leaf_rows = build_from_splits(
            list(_with_all_rows(splits, rows)),
            n_features=problem.n_features,
            rows=found,
            cluster=defaultdict(int, cluster),
            values=problem.values,
            total_weight=problem.weights.total_of,
            threshold_style=self.threshold_style,
        )
        leaves = {number: as_leaf(part) for number, part in leaf_rows.items()}
        return GrowthResult(builder, [0.0] * len(splits), leaves)


def _with_all_rows(splits: list[SklearnSplit], rows: UniqueRows) -> Iterator[SklearnSplit]:
    """The splits, with the rows of the problem instead of the distinct ones."""
    members = {0: np.arange(len(rows.number), dtype=np.int32)}
    is_left = np.zeros(len(rows.X), dtype=bool)
    for node, feature, children, (left, _) in splits:
        is_left[left] = True
        goes_left = is_left[rows.number[members[node]]]
        is_left[left] = False
        parts = members[node][goes_left], members.pop(node)[~goes_left]
        members.update(zip(children, parts))
        yield SklearnSplit(node, feature, children, parts)
