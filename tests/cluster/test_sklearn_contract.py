"""Every estimator keeps scikit-learn's contract, and none is forgotten."""

import inspect

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

import pellucid
import pellucid.cluster
from pellucid import IMM, ExGreedy, ExKMC, ExShallow


class SpreadCenters(BaseEstimator):
    """A reference that takes a weighted row for so many copies, as k-means seeding does not."""

    def fit(self, X, y=None, sample_weight=None):
        X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)
        mean = np.average(X, axis=0, weights=sample_weight)
        spread = np.average(np.abs(X - mean), axis=0, weights=sample_weight)
        steps = np.arange(X.shape[1]) % 3 - 1
        self.cluster_centers_ = np.stack([mean + spread * np.roll(steps, i) for i in range(3)])
        return self


WEIGHT_CHECKS = [
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
]
ESTIMATORS = [IMM(), ExGreedy(), ExShallow(), ExKMC(), ExKMC(base=ExShallow())]


def expected_failures(estimator):
    why = "scikit-learn's KMeans, the default reference, is seeded otherwise by repeated rows"
    return {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in ("dense", "sparse")}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", WEIGHT_CHECKS)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_weights_are_repetitions_once_the_reference_is(estimator, check):
    check("estimator", clone(estimator).set_params(reference=SpreadCenters()))


def test_every_public_estimator_is_checked():
    public = {
        thing
        for module in (pellucid, pellucid.cluster)
        for thing in (getattr(module, name) for name in module.__all__)
        if inspect.isclass(thing) and issubclass(thing, BaseEstimator)
    }
    assert public == {type(estimator) for estimator in ESTIMATORS}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_clone_keeps_parameters(estimator):
    twin = clone(estimator).set_params(n_clusters=4, threshold_style="midpoint")
    assert twin.get_params(deep=False)["n_clusters"] == 4
    assert estimator.n_clusters is None
