"""The `polish` parameter of all methods: the cost never rises."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning

from _support.extended import EXTENDED
from pellucid import IMM, ExGreedy, ExKMC, ExShallow
from pellucid.baselines import CARTExplainer, KDTreeExplainer

pytestmark = pytest.mark.slow

METHODS = [IMM, ExGreedy, ExShallow, ExKMC, CARTExplainer, KDTreeExplainer]
each_method = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(scope="module")
def tables():
    blobs, _ = make_blobs(120, 5, centers=5, cluster_std=3.0, random_state=3)
    digits = load_digits().data[:50]
    found = {}
    for X, k in ((load_iris().data, 3), (load_wine().data, 3), (digits, 4), (blobs, 5)):
        found[X.shape] = X, KMeans(k, n_init=2, random_state=0).fit(X).cluster_centers_
    return found.values()


@each_method
def test_polish_never_raises_the_cost(method, tables):
    falls = []
    for X, centers in tables:
        plain, polished, deep = (
            method(reference=centers, polish=polish).fit(X) for polish in (False, True, "deep")
        )
        assert deep.inertia_ <= polished.inertia_ <= plain.inertia_
        assert polished.n_leaves_ <= polished._max_leaves(len(centers))
        assert set(polished.labels_) >= set(plain.labels_)
        np.testing.assert_array_equal(polished.predict(X), polished.labels_)
        np.testing.assert_array_equal(polished.reference_labels_, plain.reference_labels_)
        falls.append(plain.inertia_ - polished.inertia_)
    assert max(falls) > 0


def test_polish_improves_a_tree_of_few_mistakes_and_high_cost():
    """One distant row is one mistake, two close rows are two: IMM prefers the former."""
    rows = [[0, 0], [1, 5], [10, 10], [9, 4.5], [0.5, 40]]
    X = np.repeat(np.array(rows, dtype=float), [100, 2, 100, 2, 1], axis=0)
    centers = np.array([[0.0, 0.0], [10.0, 10.0]])
    plain, polished = (IMM(reference=centers, polish=polish).fit(X) for polish in (False, True))
    assert plain.labels_.tolist() == [0] * 102 + [1] * 102 + [0]
    assert polished.labels_.tolist() == [0] * 102 + [1] * 100 + [0] * 2 + [1]
    assert polished.inertia_ < 0.75 * plain.inertia_


def test_the_best_cut_of_five_rows():
    """The reference cuts after 0; the best cut is between 2 and 9."""
    X = np.array([[0.0], [1.0], [2.0], [9.0], [10.0]])
    model = IMM(polish=True).fit(X, np.array([0, 1, 1, 1, 1]))
    assert model.tree_.threshold[0] == 6.0
    assert model.inertia_ == 2.5
    np.testing.assert_array_equal(model.cluster_centers_, [[1.0], [9.5]])


def test_weights_change_the_best_cuts():
    """A heavy row gets a cluster of its own."""
    X = np.array([[0.0], [1.0], [2.0], [9.0], [10.0]])
    weight = np.array([1.0, 1.0, 1e3, 1.0, 1.0])
    labels = np.array([0, 1, 1, 2, 2])
    model = IMM(polish=True).fit(X, labels, sample_weight=weight)
    np.testing.assert_array_equal(model.labels_, [0, 0, 1, 2, 2])


@pytest.mark.parametrize("method", METHODS if EXTENDED else [IMM, ExKMC])
def test_threads_and_storage_do_not_change_the_tree(method):
    """With as many leaves as clusters, and with more; every method polishes by the same code."""
    X, _ = make_blobs(1500, 4, centers=3, cluster_std=4, random_state=0)
    X = np.where(np.abs(X) < 4, 0.0, X)
    centers = X[:3]
    expected = method(reference=centers, polish="deep", n_jobs=1).fit(X).tree_
    assert method(reference=centers, polish="deep", n_jobs=2).fit(X).tree_ == expected
    as_sparse = sparse.csr_array(X)
    assert method(reference=centers, polish="deep", n_jobs=2).fit(as_sparse).tree_ == expected


def test_polish_does_not_change_the_staged_trees_of_exkmc(tables):
    for X, centers in tables:
        plain, polished = (
            ExKMC(reference=centers, polish=polish).fit(X) for polish in (False, True)
        )
        np.testing.assert_array_equal(plain.surrogate_costs_, polished.surrogate_costs_)
        assert list(plain.staged_trees()) == list(polished.staged_trees())


def test_exkmc_continues_from_a_polished_base(tables):
    for X, centers in tables:
        base = IMM(reference=centers, polish=True)
        expanded = ExKMC(reference=centers, base=base).fit(X)
        assert next(expanded.staged_trees()).feature.tolist() == base.fit(X).tree_.feature.tolist()


def test_dropped_rows_and_zero_weights_have_no_effect():
    X = np.array([[0.0], [1.0], [2.0], [9.0], [10.0]])
    labels = np.array([0, 1, 1, 1, 1])
    more = np.vstack([X, [[3.0], [400.0]]])
    expected = IMM(polish=True).fit(X, labels).tree_
    noise = IMM(noise="drop", polish=True).fit(more, np.append(labels, [-1, -1]))
    assert noise.tree_ == expected
    weight = np.array([1.0] * 5 + [0.0] * 2)
    absent = IMM(polish=True).fit(more, np.append(labels, [1, 1]), sample_weight=weight)
    assert absent.tree_ == expected


def test_clusters_with_equal_centers_are_separated():
    X = np.array([[0.0], [1.0], [9.0], [10.0], [20.0]])
    centers = np.array([[5.0], [5.0], [20.0]])
    with pytest.warns(ConvergenceWarning, match="2 leaves for 3 clusters"):
        IMM(reference=centers).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        polished = IMM(reference=centers, polish=True).fit(X)
    assert polished.inertia_ == 1.0


def test_invalid_values_raise_an_error():
    with pytest.raises(ValueError, match="'polish' parameter of IMM must be .*'deep'"):
        IMM(2, polish="shallow").fit(np.eye(4))
