"""Growing in place leads to the tree that cells which are kept lead to."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

from _support.strategies import tiny_data
from pellucid import IMM
from pellucid._core.criteria.mistakes import Mistakes
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.dataset import Dataset
from pellucid._core.data.weights import Weights
from pellucid._core.growers import in_place
from pellucid._core.growers.greedy import grow_greedily
from pellucid._utils.progress import Progress
from pellucid._utils.threads import SERIAL, ThreadPool


class Kept(Mistakes):
    """Cells are not overwritten."""

    is_cut_in_place = False


def grow(kind, X, centers, weight, pool=SERIAL):
    data = Dataset(X, Weights.of(weight), pool)
    problem = Problem(data, centers, data.nearest(centers))
    growth = grow_greedily(kind(problem), "round", Progress("", 0, 0))
    return growth.builder.build(), growth.leaf_of_rows


def assert_same(X, centers, weight, pool=SERIAL):
    tree, leaf = grow(Kept, X, centers, weight)
    found, found_leaf = grow(Mistakes, X, centers, weight, pool)
    assert found == tree
    np.testing.assert_array_equal(found_leaf, leaf)
    np.testing.assert_array_equal(found.apply(X), leaf)


@given(tiny_data())
@settings(max_examples=200, deadline=None)
def test_the_same_tree_on_few_rows(data):
    assert_same(data.X, data.centers, data.weight)


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    centers = rng.normal(0, 3, size=(12, 4))
    X = np.round(centers[rng.integers(0, 12, 6000)] + rng.normal(0, 2, size=(6000, 4)), 2)
    return X, centers


@pytest.mark.parametrize(
    "weigh", [np.ones, lambda n: np.arange(n) % 4 + 1.0, lambda n: 0.1 * np.arange(1, n + 1)]
)
@pytest.mark.parametrize("store", [np.asarray, np.asfortranarray, lambda X: X.astype(np.float32)])
def test_the_same_tree_on_many_rows(blobs, weigh, store):
    X, centers = blobs
    assert_same(store(X), centers, weigh(len(X)))


def test_cells_cut_side_by_side(blobs, monkeypatch):
    monkeypatch.setattr(in_place, "_LEAST_ROWS", 0)
    X, centers = blobs
    with ThreadPool(2) as pool:
        assert_same(X, centers, np.ones(len(X)), pool)


def test_centers_at_one_place_share_a_leaf(blobs):
    X, centers = blobs
    centers = np.concatenate([centers, centers[:2]])
    tree, _ = grow(Mistakes, X, centers, np.ones(len(X)))
    assert tree.n_leaves == 12
    assert_same(X, centers, np.ones(len(X)))


def test_sparse_rows_are_cut_alike(blobs):
    X, centers = blobs
    weight = 0.1 * np.arange(1, len(X) + 1)
    models = [
        IMM(reference=centers).fit(form(X), sample_weight=weight)
        for form in (np.asarray, sparse.csr_array)
    ]
    assert models[0].tree_ == models[1].tree_
