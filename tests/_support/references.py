"""References that tests explain, and what weights mean with and without them."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone


def check_weights_are_repetitions(estimator):
    """A row of weight w is the same as w copies, for a reference for which this holds too.

    scikit-learn's checks pass labels to `fit`; the default reference is seeded otherwise by
    repeated rows.
    """
    rng = np.random.RandomState(42)
    X, weight = rng.rand(15, 30), rng.randint(0, 5, size=15)
    for as_matrix in (np.asarray, sparse.csr_array):
        model = clone(estimator).set_params(reference=SpreadCenters(), random_state=0)
        repeated = clone(model).fit(as_matrix(X.repeat(weight, axis=0)))
        model.fit(as_matrix(X), sample_weight=weight)
        np.testing.assert_array_equal(model.predict(X), repeated.predict(X))
        np.testing.assert_allclose(model.transform(X), repeated.transform(X))


class SpreadCenters(BaseEstimator):
    """A reference for which a row of weight w is the same as w copies; not so k-means seeding."""

    def fit(self, X, y=None, sample_weight=None):
        X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)
        mean = np.average(X, axis=0, weights=sample_weight)
        spread = np.average(np.abs(X - mean), axis=0, weights=sample_weight)
        steps = np.arange(X.shape[1]) % 3 - 1
        self.cluster_centers_ = np.stack([mean + spread * np.roll(steps, i) for i in range(3)])
        return self
