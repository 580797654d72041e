"""Random thresholds between the reference centers (Makarychev and Shan; Gamlath et al.)."""

from __future__ import annotations

from math import inf, nextafter, sqrt
from typing import Literal, NamedTuple

import numpy as np

from pellucid._core.criteria.base import CenterSplitCriterion, Node, NodeRows
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.partition import SplitRows
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import divide_rows

Objective = Literal["kmeans", "kmedians"]
RandomMethod = Literal["makarychev-shan", "gamlath"]


def draw_cuts(
    centers: np.ndarray,
    n_draws: int,
    seed: int,
    *,
    method: RandomMethod = "makarychev-shan",
    objective: Objective = "kmeans",
) -> Trees:
    """Draw whole trees from the centers alone.

    Cuts are drawn until every leaf holds one center; a cut is put into every leaf in which it
    separates centers. Between two neighbouring coordinates a < b of centers in a column, the
    density of the threshold t is constant for k-medians and proportional to min(t - a, b - t) for
    k-means, so that the gap has the weight b - a or (b - a)^2. A cut that separates no centers of
    any leaf is rejected.

    "makarychev-shan" also rejects cuts between two centers of a leaf whose distance is at most D /
    k^3. The distance is the weight of all cuts between the two, and D the largest distance between
    two centers of a leaf at the time. The first draws of a seed are the same whatever the number of
    draws.
    """
    k = len(centers)
    coordinates = np.ascontiguousarray(np.sort(centers.T, axis=1))
    rank = np.stack([row.searchsorted(centers[:, j]) for j, row in enumerate(coordinates)])
    squared, rejects = objective == "kmeans", method == "makarychev-shan"
    distance = _cut_weights(coordinates, rank, squared) if rejects else None
    uniforms = np.random.default_rng(seed).random((n_draws, k - 1, 2))
    nodes = np.full((4, n_draws, 2 * k - 1), -1)
    trees = Trees(nodes[0], np.full(nodes[0].shape, np.nan), *nodes[1:])
    for numbers, tree in zip(uniforms, zip(*trees)):
        _draw_tree(coordinates, rank, distance, squared, numbers, Trees(*tree))
    return trees


def _draw_tree(
    coordinates: np.ndarray,
    rank: np.ndarray,
    distance: np.ndarray | None,
    squared: bool,
    uniforms: np.ndarray,
    tree: Trees,
) -> None:
    """Fill the arrays of a tree.

    `coordinates`, (n_features, k), are sorted, and `rank` has the number of them below that of each
    center. Of the two numbers for each cut, one decides the gap, and one the place within it.
    """
    k, n_nodes = len(rank[0]), 1
    leaf = np.zeros(k, dtype=np.intp)
    for u, v in uniforms.tolist():
        order = np.argsort(leaf, kind="stable")
        starts = np.flatnonzero(np.append(True, np.diff(leaf[order]) > 0))
        low, high = (f.reduceat(rank[:, order], starts, axis=1) for f in (np.minimum, np.maximum))
        lengths = np.where(_covers(low, high, k), np.diff(coordinates, axis=1), 0.0)
        if distance is not None:
            a, b = np.triu_indices(k, 1)
            a, b = a[leaf[a] == leaf[b]], b[leaf[a] == leaf[b]]
            apart = distance[a, b]
            is_close = apart <= apart.max(initial=0.0) / float(k) ** 3
            if apart.any():
                ends = rank[:, a[is_close]], rank[:, b[is_close]]
                lengths[_covers(np.minimum(*ends), np.maximum(*ends), k)] = 0.0
        if not lengths.any():  # the centers of each leaf coincide
            break
        weight = lengths / lengths.max()  # so that the square of no length underflows
        reached = (weight * weight if squared else weight).cumsum()
        place = int(np.searchsorted(reached, u * reached[-1], side="right"))
        j, g = divmod(min(place, int(np.flatnonzero(lengths)[-1])), k - 1)
        a, b = coordinates[j, g : g + 2].tolist()
        threshold = _draw_threshold(a, b, squared, v)
        for node, first, last in zip(leaf[order][starts].tolist(), low[j], high[j]):
            if first <= g < last:
                tree.feature[node], tree.threshold[node] = j, threshold
                tree.left[node], tree.right[node] = n_nodes, n_nodes + 1
                of_node = leaf == node
                leaf[of_node] = n_nodes + (rank[j, of_node] > g)
                n_nodes += 2
    tree.cluster[leaf[::-1]] = np.arange(k)[::-1]  # the lowest of several


def _covers(first: np.ndarray, last: np.ndarray, k: int) -> np.ndarray:
    """Which of the k - 1 gaps of each column lie between the ends of an interval."""
    n_features, at = len(first), k * np.arange(len(first))[:, None]
    changes = (np.bincount((ends + at).ravel(), minlength=n_features * k) for ends in (first, last))
    return np.subtract(*changes).reshape(n_features, k).cumsum(axis=1)[:, :-1] > 0


def _draw_threshold(a: float, b: float, squared: bool, u: float) -> float:
    """Threshold t, a <= t < b, at quantile u of the density in the gap from a to b."""
    if not squared:
        at = a + (b - a) * u
    elif u < 0.5:
        at = a + (b - a) * sqrt(u / 2.0)
    else:
        at = b - (b - a) * sqrt((1.0 - u) / 2.0)
    return max(a, min(at, nextafter(b, -inf)))


def _cut_weights(coordinates: np.ndarray, rank: np.ndarray, squared: bool) -> np.ndarray:
    """Weight of all cuts between any two centers, up to a common factor."""
    lengths = np.diff(coordinates, axis=1)
    lengths /= lengths.max(initial=0.0) or 1.0
    cumulative = np.zeros(coordinates.shape)
    np.cumsum(lengths**2 if squared else lengths, axis=1, out=cumulative[:, 1:])
    embedded = np.take_along_axis(cumulative, rank, axis=1)
    return np.stack([np.abs(embedded - point[:, None]).sum(axis=0) for point in embedded.T])


class DrawnCuts(CenterSplitCriterion[int]):
    """The splits of a tree that has been drawn, the one with index `draw`.

    The state of a node is its number in that tree.
    """

    def __init__(self, problem: Problem, trees: Trees, draw: int) -> None:
        super().__init__(problem)
        self.tree = Trees(*(part[draw] for part in trees))

    def start_state(self, cluster: int | None = None) -> int:
        return 0

    def child_states(self, node: Node[int], left: NodeRows, right: NodeRows) -> tuple[int, int]:
        return int(self.tree.left[node.state]), int(self.tree.right[node.state])

    def best_center_splits(self, node: Node[int], features: np.ndarray, n: int) -> list[Split]:
        feature, threshold = self.tree.feature[node.state], self.tree.threshold[node.state]
        return [Split(0.0, int(feature), float(threshold))]

    def split_rows(self, rows: np.ndarray, feature: int, threshold: float) -> SplitRows:
        # Few columns are read, so quantising them all would take longer.
        values = self.problem.values(feature, rows)
        left = values <= threshold
        low = float(np.max(values, where=left, initial=-np.inf))
        high = float(np.min(values, where=~left, initial=np.inf))
        return SplitRows(low, high, *divide_rows(rows, left))


class Trees(NamedTuple):
    """Many trees, one a line: by node, the column that it looks at, and the threshold.

    `left` and `right` are its children, -1 at a leaf, and `cluster` is the cluster of a leaf.
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    cluster: np.ndarray
