"""Greedy growth: the same tree however the data are stored, ordered, weighted and distributed."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from pellucid import BSIMM, EMN, IMM, ExGreedy, ExKMC, ExShallow
from pellucid._core.criteria import column_search, mistakes
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset
from pellucid._core.growers.growing_tree import grow_greedily
from pellucid._utils.progress import Progress

METHODS = (IMM, EMN, ExGreedy, ExShallow, ExKMC)


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    centers = rng.normal(0, 3, size=(12, 4))
    X = np.round(centers[rng.integers(0, 12, 3000)] + rng.normal(0, 2, size=(3000, 4)), 2)
    return X, centers


@pytest.mark.parametrize("method", METHODS)
def test_number_of_threads(method):
    X, _ = make_blobs(20_000, 6, centers=8, cluster_std=3, random_state=0)
    one, three = (method(reference=X[:8], n_jobs=n).fit(X) for n in (1, 3))
    assert one.tree_ == three.tree_
    assert one.inertia_ == three.inertia_


@pytest.mark.parametrize("method", METHODS)
def test_storage(method, blobs):
    X, centers = blobs
    X = np.where(np.abs(X) < 1, 0.0, np.float32(X)).astype(np.float64)
    stores = (np.asarray, np.asfortranarray, np.float32, sparse.csr_array, sparse.csc_array)
    weight = 0.1 * np.arange(1, len(X) + 1)
    models = [method(reference=centers).fit(store(X), sample_weight=weight) for store in stores]
    assert all(model.tree_ == models[0].tree_ for model in models)


@pytest.mark.parametrize("method", METHODS)
def test_order_of_the_rows(method, blobs):
    X, centers = blobs
    order = np.random.default_rng(1).permutation(len(X))
    assert method(reference=centers).fit(X).tree_ == method(reference=centers).fit(X[order]).tree_


@pytest.mark.parametrize("method", METHODS)
def test_integer_weights_are_copies(method, blobs):
    X, centers = blobs
    weight = np.arange(len(X)) % 4
    weighted = method(reference=centers).fit(X, sample_weight=weight)
    repeated = method(reference=centers).fit(np.repeat(X, weight, axis=0))
    assert weighted.inertia_ == pytest.approx(repeated.inertia_)
    for name in ("feature", "threshold", "children_left", "cluster"):
        np.testing.assert_array_equal(getattr(weighted.tree_, name), getattr(repeated.tree_, name))


def test_greedy_growth_is_a_beam_of_width_one(blobs):
    X, centers = blobs
    assert (
        IMM(reference=centers).fit(X).tree_ == BSIMM(reference=centers, beam_width=1).fit(X).tree_
    )


@pytest.mark.parametrize("weight", [1.0, 0.1])
def test_sums_that_are_not_stored(blobs, weight, monkeypatch):
    X, centers = blobs
    data = Dataset(X, Weights.of(weight * (np.arange(len(X)) % 3 + 1)))
    problem, results = Problem(data, centers, data.nearest(centers)), []
    for rows_per_bin in (0, 10**9):
        monkeypatch.setattr(mistakes, "_MANY_ROWS_PER_BIN", rows_per_bin)
        results.append(grow_greedily(mistakes.Mistakes(problem), "round", Progress("", 0, 0)))
    assert results[0].builder.build() == results[1].builder.build()
    np.testing.assert_array_equal(results[0].leaf_of_rows, results[1].leaf_of_rows)
    np.testing.assert_array_equal(results[0].builder.build().apply(X), results[0].leaf_of_rows)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_centers_at_one_place_share_a_leaf(blobs):
    X, centers = blobs
    model = IMM(reference=np.concatenate([centers, centers[:2]])).fit(X)
    assert model.n_leaves_ == 12


@pytest.mark.parametrize("method", [ExShallow, ExGreedy])
def test_columns_that_are_refined_together(method, monkeypatch):
    """Many columns of few rows: the same trees as one column after the other."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(90, 600)), 1)
    X += rng.normal(size=(4, 600))[rng.integers(4, size=90)]
    given = {"reference": X[:4], "n_jobs": 1}
    weight = rng.integers(1, 4, size=90)
    for data in (X, sparse.csr_array(X)):
        together = method(**given).fit(data, sample_weight=weight)
        with monkeypatch.context() as patched:
            patched.setattr(column_search, "FEW_ROWS", 0)
            alone = method(**given).fit(data, sample_weight=weight)
        assert together.tree_ == alone.tree_
