"""References that tests explain."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator


class SpreadCenters(BaseEstimator):
    """A reference that takes a weighted row for so many copies, as k-means seeding does not."""

    def fit(self, X, y=None, sample_weight=None):
        X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)
        mean = np.average(X, axis=0, weights=sample_weight)
        spread = np.average(np.abs(X - mean), axis=0, weights=sample_weight)
        steps = np.arange(X.shape[1]) % 3 - 1
        self.cluster_centers_ = np.stack([mean + spread * np.roll(steps, i) for i in range(3)])
        return self
