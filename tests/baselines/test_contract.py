"""The baselines keep scikit-learn's contract as the methods do, and none is forgotten."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks

import pellucid.baselines
from _support.references import check_weights_are_repetitions
from _support.sklearn_checks import expected_failures
from pellucid.baselines import CUBT, CARTExplainer, CLTree, KDTreeExplainer

GROWN = [CARTExplainer(), KDTreeExplainer()]
ESTIMATORS = [*GROWN, CUBT(min_size=2), CLTree(min_split=20, min_y=0.0, min_rd=1.0)]
each = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)


def with_leaves(estimator, n_leaves):
    """A copy with a fixed seed, and a number of leaves if it is a parameter."""
    options = {"n_leaves": n_leaves} if "n_leaves" in estimator.get_params() else {}
    return clone(estimator).set_params(random_state=0, **options)


@pytest.mark.slow
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@each
def test_weights_are_repetitions(estimator):
    check_weights_are_repetitions(estimator)


def test_every_baseline_is_checked():
    public = {getattr(pellucid.baselines, name) for name in pellucid.baselines.__all__}
    assert public == {type(estimator) for estimator in ESTIMATORS}


@pytest.mark.slow
@each
def test_storage_does_not_matter(estimator):
    X, y = make_blobs(150, 6, centers=5, cluster_std=3, random_state=1)
    X = np.where(np.abs(X) < 3, 0.0, X).astype(np.float32).astype(np.float64)
    model = with_leaves(estimator, 12)
    expected = clone(model).fit(X, y).tree_
    long = sparse.csc_array(X)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    for same in (X.astype(np.float32), np.asfortranarray(X), sparse.csr_array(X), long):
        assert clone(model).fit(same, y).tree_ == expected


@pytest.mark.parametrize("estimator", GROWN, ids=repr)
def test_one_fit_has_the_trees_of_all_sizes(estimator):
    X, y = make_blobs(300, 4, centers=5, cluster_std=3, random_state=1)
    model = clone(estimator).set_params(n_leaves=9, random_state=0).fit(X, y)
    trees = list(model.staged_trees())
    assert [tree.n_leaves for tree in trees] == list(range(1, 10))
    assert trees[-1] == model.tree_
    for n_leaves in (1, 2, 6):
        assert clone(model).set_params(n_leaves=n_leaves).fit(X, y).tree_ == trees[n_leaves - 1]


@each
def test_rows_of_a_weight_of_zero_are_absent(estimator):
    X, y = make_blobs(120, 3, centers=4, cluster_std=4, random_state=2)
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    model = with_leaves(estimator, 7)
    whole = clone(model).fit(X, y, sample_weight=weight)
    there = weight > 0
    part = clone(model).fit(X[there], y[there], sample_weight=weight[there])
    assert whole.tree_ == part.tree_
