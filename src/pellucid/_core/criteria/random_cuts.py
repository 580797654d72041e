"""Cuts drawn at random between the reference centers; the rows have no say in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pellucid._core.criteria.base import CenterSplitCriterion, Node, NodeRows
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.partition import SplitRows
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import divide_rows
from pellucid._core.data.batch_tree_costs import Trees
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
    """Draw whole trees, each by cuts from one measure over all columns.

    Cut upon cut is drawn until every leaf holds one center, and goes into every leaf in which it
    separates centers. Between two neighbouring coordinates a < b of centers in a column, the
    density of the threshold t is constant for k-medians, and proportional to min(t - a, b - t)
    for k-means, so that the gap as a whole has the weight b - a or (b - a)^2. Cuts that separate
    no two centers of any leaf are left out, which is the same as drawing again.

    Parameters
    ----------
    centers : ndarray of shape (n_clusters, n_features), float64
    n_draws : int
    seed : int
        The first draws are the same whatever the number of draws.
    method : {"makarychev-shan", "gamlath"}
        The first leaves out cuts between two centers that share a leaf and are at most D / k^3
        apart, in the measure above, D being the largest such distance at the time.
    objective : {"kmeans", "kmedians"}
    pool : ThreadPool

    Returns
    -------
    Trees
    """
    from pellucid._core.kernels.random_cuts import draw_trees

    k, n_features = centers.shape
    ends = np.ascontiguousarray(np.sort(centers.T, axis=1))
    rank = np.stack([np.searchsorted(line, centers[:, j]) for j, line in enumerate(ends)])
    squared = objective == "kmeans"
    avoids_close = method == "makarychev-shan"
    distance = _measure_between(ends, rank, squared) if avoids_close else np.empty((0, 0))
    gaps = (ends, rank.astype(np.int64), distance, squared)
    uniforms = np.random.default_rng(seed).random((n_draws, k - 1, 2))
    shape = (n_draws, 2 * k - 1)
    trees = Trees(
        np.full(shape, -1),
        np.full(shape, np.nan),
        np.full(shape, -1),
        np.full(shape, -1),
        np.full(shape, -1),
    )
    least = -(-50_000 // (k * k * n_features))

    def work(block: tuple[int, int]) -> None:
        lengths, room = np.empty((n_features, k - 1)), tuple(np.zeros((4, 2 * k), dtype=np.int64))
        draw_trees(*gaps, uniforms, *block, tuple(trees), lengths, room)

    pool.map(work, pool.blocks(n_draws, least))
    return trees


def _measure_between(ends: np.ndarray, rank: np.ndarray, squared: bool) -> np.ndarray:
    """Measure of all cuts between any two centers, up to a common factor."""
    lengths = np.diff(ends, axis=1)
    lengths /= lengths.max(initial=0.0) or 1.0
    place = np.zeros(ends.shape)
    np.cumsum(lengths**2 if squared else lengths, axis=1, out=place[:, 1:])
    embedded = np.take_along_axis(place, rank, axis=1)
    return np.stack([np.abs(embedded - at[:, None]).sum(axis=0) for at in embedded.T])


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """Number of a node in a tree that was drawn."""

    number: int


class GivenCuts(CenterSplitCriterion[DrawnNode]):
    """Cuts that were drawn beforehand; what is left to find is which rows they separate.

    Parameters
    ----------
    problem : Problem
    trees : Trees
    draw : int
        Which of the trees.
    """

    def __init__(self, problem: Problem, trees: Trees, draw: int) -> None:
        super().__init__(problem)
        self.tree = Trees(*(part[draw] for part in trees))

    def start_state(self, cluster: int | None = None) -> DrawnNode:
        """State of the root."""
        return DrawnNode(0)

    def child_states(
        self, node: Node[DrawnNode], left: NodeRows, right: NodeRows
    ) -> tuple[DrawnNode, DrawnNode]:
        """The children of the node in the tree that was drawn."""
        number = node.state.number
        return DrawnNode(int(self.tree.left[number])), DrawnNode(int(self.tree.right[number]))

    def best_center_splits(self, node: Node[DrawnNode], features: np.ndarray, n: int):
        """The one split that was drawn for these centers."""
        number = node.state.number
        return [Split(0.0, int(self.tree.feature[number]), float(self.tree.threshold[number]))]

    def split_rows(self, rows: np.ndarray, feature: int, threshold: float) -> SplitRows:
        """Rows on either side of a threshold."""
        # So few columns are looked at that none is worth quantising.
        values = self.problem.values(feature, rows)
        left = values <= threshold
        low = float(np.max(values, where=left, initial=-np.inf))
        high = float(np.min(values, where=~left, initial=np.inf))
        return SplitRows(low, high, *divide_rows(rows, left))
