"""Random thresholds between the reference centers (Makarychev and Shan; Gamlath et al.).

The k-means cost of many trees at once, by the rows that each moves out of the reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse

from pellucid._core.criteria.base import CenterSplitCriterion, Node, NodeRows
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.partition import SplitRows
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import divide_rows, row_major
from pellucid._core.data.dataset import Dataset
from pellucid._core.data.moments import cost_to_centers
from pellucid._utils.threads import SERIAL, ThreadPool

Objective = Literal["kmeans", "kmedians"]
RandomMethod = Literal["makarychev-shan", "gamlath"]


def draw_cuts(
    centers: np.ndarray,
    n_draws: int,
    seed: int,
    *,
    method: RandomMethod = "makarychev-shan",
    objective: Objective = "kmeans",
    pool: ThreadPool = SERIAL,
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
    from pellucid._core.kernels.random_cuts import draw_trees

    k, n_features = centers.shape
    coordinates = np.ascontiguousarray(np.sort(centers.T, axis=1))
    rank = np.stack([row.searchsorted(centers[:, j]) for j, row in enumerate(coordinates)])
    squared = objective == "kmeans"
    distance = np.empty((0, 0))
    if method == "makarychev-shan":
        distance = _cut_weights(coordinates, rank, squared)
    uniforms = np.random.default_rng(seed).random((n_draws, k - 1, 2))
    nodes = np.full((4, n_draws, 2 * k - 1), -1)
    trees = Trees(nodes[0], np.full(nodes[0].shape, np.nan), *nodes[1:])
    min_draws = -(-50_000 // (k * k * n_features))

    def work(block: tuple[int, int]) -> None:
        draw_trees(
            coordinates=coordinates,
            rank=rank,
            distance=distance,
            squared=squared,
            uniforms=uniforms,
            begin=block[0],
            end=block[1],
            trees=tuple(trees),
            lengths=np.empty((n_features, k - 1)),
            scratch=tuple(np.zeros((4, 2 * k), dtype=np.int64)),
        )

    pool.map(work, pool.blocks(n_draws, min_draws))
    return trees


def _cut_weights(coordinates: np.ndarray, rank: np.ndarray, squared: bool) -> np.ndarray:
    """Weight of all cuts between any two centers, up to a common factor."""
    lengths = np.diff(coordinates, axis=1)
    lengths /= lengths.max(initial=0.0) or 1.0
    cumulative = np.zeros(coordinates.shape)
    np.cumsum(lengths**2 if squared else lengths, axis=1, out=cumulative[:, 1:])
    embedded = np.take_along_axis(cumulative, rank, axis=1)
    return np.stack([np.abs(embedded - point[:, None]).sum(axis=0) for point in embedded.T])


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """Number of the node in the drawn tree."""

    number: int


class DrawnCuts(CenterSplitCriterion[DrawnNode]):
    """The splits of a tree that has been drawn, the one with index `draw`."""

    def __init__(self, problem: Problem, trees: Trees, draw: int) -> None:
        super().__init__(problem)
        self.tree = Trees(*(part[draw] for part in trees))

    def start_state(self, cluster: int | None = None) -> DrawnNode:
        return DrawnNode(0)

    def child_states(
        self, node: Node[DrawnNode], left: NodeRows, right: NodeRows
    ) -> tuple[DrawnNode, DrawnNode]:
        """The children of the node in the drawn tree."""
        number = node.state.number
        return DrawnNode(int(self.tree.left[number])), DrawnNode(int(self.tree.right[number]))

    def best_center_splits(
        self, node: Node[DrawnNode], features: np.ndarray, n: int
    ) -> list[Split]:
        """The split that was drawn for the node."""
        number = node.state.number
        return [Split(0.0, int(self.tree.feature[number]), float(self.tree.threshold[number]))]

    def split_rows(self, rows: np.ndarray, feature: int, threshold: float) -> SplitRows:
        # Few columns are read, so quantising them all would take longer.
        values = self.problem.values(feature, rows)
        left = values <= threshold
        low = float(np.max(values, where=left, initial=-np.inf))
        high = float(np.min(values, where=~left, initial=np.inf))
        return SplitRows(low, high, *divide_rows(rows, left))


_MOST_NUMBERS = 2**22
"""Sums of one batch of trees; more would leave the cache for nothing."""


class Trees(NamedTuple):
    """Many trees, one a line.

    Attributes
    ----------
    feature : ndarray of int
        Column that each node looks at.
    threshold : ndarray of float64
    left, right : ndarray of int
        Its children; -1 at a leaf.
    cluster : ndarray of int
        Cluster of each leaf.
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    cluster: np.ndarray


class _Rows(NamedTuple):
    """Row attributes other than values, in the layout of the kernels."""

    labels: np.ndarray
    scale: np.ndarray
    times: np.ndarray
    units: np.ndarray


def cost_changes(
    data: Dataset, centers: np.ndarray, labels: np.ndarray, trees: Trees
) -> np.ndarray:
    """By how much the k-means cost of each tree's clusters exceeds that of the reference's.

    Both costs are to the means of the clusters. Only rows that a tree puts into another cluster
    than the reference does are added up, in whole units: the answer does not depend on the order or
    the storage of the rows, nor on the number of threads.
    """
    weights, k = data.weights, len(centers)
    unit = _gap_unit(data, centers, labels)
    ones = np.ones(len(labels))
    whole = weights.are_integers
    rows = _Rows(
        labels,
        ones if whole else weights.values,
        weights.units if whole else ones.astype(np.int64),
        weights.units,
    )

    def add_up(trees: Trees, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        net, weight = _add_up(data, rows, centers, 1.0 / unit, trees, begin, end)
        return net[:, :k] * unit, weight[:, :k] / weights.units_per_weight

    sums, total = add_up(_nowhere(k), 0, 1)
    reference = total[0, :, k], -sums[0]
    offsets = centers - centers.mean(axis=0)
    n_trees = len(trees.feature)
    share = -(-n_trees // data.pool.n_threads)
    step = min(share, max(1, _MOST_NUMBERS // ((k + 1) * centers.shape[1])))

    def work(begin: int) -> list[float]:
        moves = add_up(trees, begin, min(begin + step, n_trees))
        return [_change(*reference, offsets, weight[:, :k], net) for net, weight in zip(*moves)]

    batches = data.pool.map(work, range(0, n_trees, step))
    return np.array([change for batch in batches for change in batch])


def _gap_unit(data: Dataset, centers: np.ndarray, labels: np.ndarray) -> float:
    """Power of two that keeps the sum of all gaps in any column below 2**60 units.

    That sum is at most the root of total weight times total squared distance (Cauchy-Schwarz).
    """
    weight = data.weights.values
    squares = cost_to_centers(data.X, labels, centers, weight, data.pool)
    # The margin keeps rounding from tipping a power of two.
    largest = np.sqrt(weight.sum()) * np.sqrt(squares) * (1 + 2.0**-20)
    return 1.0 if largest == 0 else float(2.0 ** (np.frexp(largest)[1] - 60))


def _nowhere(k: int) -> Trees:
    """A single leaf that belongs to no cluster, so that every row moves."""
    node = np.full((1, 1), -1)
    return Trees(node, np.zeros((1, 1)), node, node, np.full((1, 1), k))


def _add_up(
    data: Dataset,
    rows: _Rows,
    centers: np.ndarray,
    per_unit: float,
    trees: Trees,
    begin: int,
    end: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Net gaps and weights of the rows that some trees move, in whole units."""
    from pellucid._core.kernels.random_cuts import dense_moves, sparse_moves

    k, n_features = centers.shape
    net = np.zeros((end - begin, k + 1, n_features), dtype=np.int64)
    weight = np.zeros((end - begin, k + 1, k + 1), dtype=np.int64)
    rest = (centers, per_unit, tuple(trees), begin, end, net, weight)
    if sparse.issparse(data.X):
        X = data.rows
        sparse_moves(X.data, X.indices, X.indptr, data.weights.are_integers, *rows, *rest)
    else:
        for some, part in row_major(data.X, 0, data.X.shape[0]):
            dense_moves(part, *(values[some] for values in rows), *rest)
    return net, weight


def _change(
    total: np.ndarray, sums: np.ndarray, offsets: np.ndarray, weight: np.ndarray, net: np.ndarray
) -> float:
    """Cost of the clusters after the moves less that before them.

    With s the centers, a row at gap g to its own center y costs |g + s_y - s_c|^2 - |g|^2 more at
    center c; and the mean of a cluster of weight N, whose gaps to its center add up to T, saves
    |T|^2 / N against the center.

    `total`, (k,), and `sums`, (k, n_features), are weight and gaps of each reference cluster,
    `offsets` the centers about their mean, and ``weight[a, b]`` what moved from a to b. `net`, (k,
    n_features), are the gaps of the rows that came to each cluster less those of the rows that left
    it.
    """
    change = -2.0 * (net * offsets).sum()
    after = sums + net
    for y, c in np.argwhere(weight > 0):
        apart = offsets[y] - offsets[c]
        change += weight[y, c] * (apart**2).sum()
        after[c] += weight[y, c] * apart
    total_after = total + weight.sum(axis=0) - weight.sum(axis=1)
    return float(change + _saved(total, sums) - _saved(total_after, after))


def _saved(total: np.ndarray, sums: np.ndarray) -> float:
    filled = total > 0
    return float(((sums[filled] ** 2).sum(axis=1) / total[filled]).sum())
