"""References that tests explain, and what weights mean with and without them."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
)

WEIGHT_CHECKS = [
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
]


def expected_failures(estimator):
    """Checks that cannot hold with the default reference, each with the reason."""
    why = "the default reference, k-means or k-medians, is seeded otherwise by repeated rows"
    return {check.__name__: why for check in WEIGHT_CHECKS}


class SpreadCenters(BaseEstimator):
    """A reference that takes a weighted row for so many copies, as k-means seeding does not."""

    def fit(self, X, y=None, sample_weight=None):
        X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)
        mean = np.average(X, axis=0, weights=sample_weight)
        spread = np.average(np.abs(X - mean), axis=0, weights=sample_weight)
        steps = np.arange(X.shape[1]) % 3 - 1
        self.cluster_centers_ = np.stack([mean + spread * np.roll(steps, i) for i in range(3)])
        return self
