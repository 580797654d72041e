"""Trees within a limit of the depth."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris, make_blobs
from sklearn.preprocessing import scale

from _support.extended import EXTENDED
from pellucid import ExplainableKMeans
from pellucid._core.criteria.base import StartTree
from pellucid._core.criteria.induced_cost import DepthLimitedCost, InducedCost
from pellucid._core.criteria.problem import Problem
from pellucid._core.criteria.surrogate_cost import SurrogateCost
from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset
from pellucid._core.growers import grow
from pellucid._core.growers.best_first import grow_best_first
from pellucid._core.refine.local_search import TreeLimits
from pellucid._utils.progress import Progress

pytestmark = pytest.mark.slow

SILENT = Progress("", 1, 0)


def problem_of(n_clusters, seed=0):
    X = make_blobs(400, 4, centers=12, cluster_std=4.0, random_state=seed)[0]
    data = Dataset(np.ascontiguousarray(X), Weights.of(np.ones(len(X))))
    kmeans = KMeans(n_clusters, n_init=1, random_state=seed).fit(X)
    return Problem(data, kmeans.cluster_centers_, kmeans.labels_)


@pytest.mark.parametrize("n_clusters", [5, 8])
@pytest.mark.parametrize("penalty", [0.0, 0.1])
def test_the_best_of_the_splits_that_keep_the_depth_is_chosen(n_clusters, penalty):
    problem = problem_of(n_clusters)
    free, limited = InducedCost(problem, penalty), DepthLimitedCost(problem, penalty, 3)
    node, n_restricted = free.root(), 0
    for level in range(3):
        splits = free.best_splits(node, n=1000)
        centers, most = problem.centers[node.rows.centers], 2 ** (2 - level)
        n_left = [int((centers[:, s.feature] <= s.threshold).sum()) for s in splits]
        allowed = [s for s, n in zip(splits, n_left) if n <= most and len(centers) - n <= most]
        assert limited.best_split(node) == allowed[0]
        n_restricted += allowed[0] != splits[0]
        divided = limited.divide_node(node, allowed[0])
        node = max(divided.left, divided.right, key=lambda child: len(child.rows.centers))
        if len(node.rows.centers) == 1:
            break
    assert n_restricted or n_clusters < 8  # eight leaves at depth 3 leave no choice of the numbers


def test_the_best_split_is_returned_if_none_keeps_the_depth():
    problem = problem_of(5)
    node = InducedCost(problem).root()
    assert DepthLimitedCost(problem, 0.0, 1).best_split(node) == InducedCost(problem).best_split(
        node
    )


@pytest.mark.parametrize("seed", range(3))
def test_greedy_trees_and_expansions_have_the_depth(seed):
    problem = problem_of(8, seed)
    growth = grow(DepthLimitedCost(problem, 0.0, 3), "greedy", "midpoint", SILENT)
    start = StartTree(growth.builder.build(), growth.leaf_of_rows)
    assert (start.tree.n_leaves, start.tree.max_depth) == (8, 3)
    more = grow_best_first(
        SurrogateCost(problem), "midpoint", SILENT, n_leaves=14, start=start, max_depth=4
    )
    tree = more.builder.build()
    assert 8 < tree.n_leaves <= 14
    assert tree.max_depth == 4


def test_the_smaller_limit_is_safe():
    assert TreeLimits(4).safe_depth is None
    assert TreeLimits(4, max_depth=3).safe_depth == 3
    assert TreeLimits(4, max_depth=3, max_conditions=2).safe_depth == 2
    assert TreeLimits(4, max_conditions=5).safe_depth == 5


@pytest.mark.parametrize(
    ("load", "n_clusters"), [(load_iris, 3)] + [(load_breast_cancer, 4)] * EXTENDED
)
def test_a_limit_that_the_best_tree_keeps_changes_no_cost(load, n_clusters):
    X = scale(load().data)
    free, limited = (
        ExplainableKMeans(n_clusters, max_depth=depth, faithfulness=0, random_state=0).fit(X)
        for depth in (None, 2)
    )
    assert free.get_depth() == 2
    assert limited.inertia_ <= free.inertia_ * (1 + 1e-9)


def test_trees_for_the_reference_labels_are_starts_within_a_limit():
    X = load_iris().data
    kmeans = KMeans(3, n_init=10, random_state=0).fit(X)
    sizes = {"n_leaves": 4, "max_depth": 2}
    model = ExplainableKMeans(reference=kmeans, faithfulness=0, **sizes).fit(X)
    labelled = ExplainableKMeans(**sizes).fit(X, kmeans.labels_)
    assert model.get_depth() == labelled.get_depth() == 2
    assert model.inertia_ <= labelled.inertia_ * (1 + 1e-9)
    assert model.inertia_ < 1.02 * model.reference_inertia_
