"""The estimator of the exact search."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning

from pellucid import IMM, ExKMC, OptimalTree, export_text
from pellucid.metrics import surrogate_cost

pytestmark = pytest.mark.slow

OBJECTIVES = ["mistakes", "surrogate"]


@pytest.fixture(scope="module")
def blobs():
    """Values that float32 represents exactly, half of them zero, in overlapping clusters."""
    X, _ = make_blobs(300, 6, centers=7, cluster_std=5, random_state=1)
    return np.where(np.abs(X) < 4, 0.0, X).round(2).astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("n_clusters", [3, 6])
def test_small_data_are_solved_to_optimality(load, n_clusters, objective):
    X = load().data
    kmeans = KMeans(n_clusters, n_init=10, random_state=0).fit(X)
    model = OptimalTree(criterion=objective, reference=kmeans).fit(X)
    assert model.optimal_
    assert model.n_leaves_ == n_clusters
    if objective == "mistakes":
        assert model.objective_ == (model.labels_ != model.reference_labels_).sum()
    else:
        cost = surrogate_cost(X, model.tree_.predict(X), model.reference_centers_)
        assert model.objective_ == pytest.approx(cost)
    assert np.array_equal(model.predict(X), model.labels_)


def test_an_optimal_greedy_tree_is_returned_unchanged():
    X = load_iris().data
    assert OptimalTree(3, random_state=0).fit(X).tree_ == IMM(3, random_state=0).fit(X).tree_


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_storage_order_threads_and_repetition_do_not_matter(blobs, objective):
    centers = blobs[:6]
    weight = np.arange(len(blobs)) % 3
    usual = OptimalTree(criterion=objective, reference=centers).fit(blobs, sample_weight=weight)
    assert usual.optimal_
    model = OptimalTree(criterion=objective, reference=centers, n_jobs=1)
    for X in (sparse.csr_array(blobs), blobs.astype(np.float32), np.asfortranarray(blobs)):
        assert model.fit(X, sample_weight=weight).tree_ == usual.tree_
    assert model.fit(blobs[::-1], sample_weight=weight[::-1]).tree_ == usual.tree_
    repeated = model.fit(np.repeat(blobs, weight, axis=0))
    assert np.array_equal(repeated.tree_.threshold, usual.tree_.threshold, equal_nan=True)
    assert repeated.objective_ == usual.objective_


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_threshold_style_gives_the_same_partition(blobs, objective):
    trees = [
        OptimalTree(criterion=objective, reference=blobs[:5], threshold_style=style).fit(blobs)
        for style in ("round", "midpoint", "data")
    ]
    assert len({tuple(tree.tree_.feature) for tree in trees}) == 1
    for tree in trees:
        assert np.array_equal(tree.labels_, trees[0].labels_)
        assert np.array_equal(tree.predict(blobs), tree.labels_)


def test_centers_that_coincide_share_a_leaf(blobs):
    centers = blobs[[0, 1, 1, 2]]
    with pytest.warns(ConvergenceWarning, match="3 leaves for 4 clusters"):
        model = OptimalTree(reference=centers).fit(blobs)
    assert model.optimal_
    assert model.objective_ == (model.labels_ != model.reference_labels_).sum()


def test_one_cluster_is_a_leaf(blobs):
    model = OptimalTree(1).fit(blobs)
    assert (model.n_leaves_, model.objective_, model.optimal_) == (1, 0.0, True)


def test_the_tree_can_be_explained_exported_and_expanded(blobs):
    model = OptimalTree(reference=blobs[:5]).fit(blobs)
    assert len(model.explain()) == 5
    assert export_text(model).count("cluster") == 5
    grown = ExKMC(reference=blobs[:5], base=OptimalTree(), n_leaves=8).fit(blobs)
    assert np.array_equal(next(grown.staged_trees()).feature, model.tree_.feature)


def test_progress_prints_both_bounds(blobs, capsys):
    OptimalTree(reference=blobs[:7], verbose=1).fit(blobs)
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all("objective" in line and "lower bound" in line for line in lines)


def test_bad_parameters_are_named():
    with pytest.raises(ValueError, match="'criterion' parameter of OptimalTree"):
        OptimalTree(2, criterion="inertia").fit([[0.0], [1.0], [2.0]])
    with pytest.raises(ValueError, match="'time_limit' parameter of OptimalTree"):
        OptimalTree(2, time_limit=-1).fit([[0.0], [1.0], [2.0]])
