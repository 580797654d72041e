"""Random thresholds between the reference centers (Makarychev and Shan; Gamlath et al.)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from pellucid._core.criteria.base import CenterSplitCriterion, Node, NodeRows
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.partition import SplitRows
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import divide_rows
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
