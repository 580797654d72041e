"""Costs of groups that are far from their reference centers keep their digits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from pellucid import IMM


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_clusters_far_from_their_centers(storage):
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3)) * 1e-3 + 5
    centers = np.array([[0.0, 0, 0], [1e6, 0, 0]])
    model = IMM(reference=centers).fit(storage(X))
    expected = ((X - X.mean(axis=0)) ** 2).sum()
    assert model.inertia_ == pytest.approx(expected, rel=1e-9)
    assert model.reference_inertia_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_equal_rows_cost_nothing(storage):
    X = np.full((50, 2), 0.1)
    model = IMM(reference=[[3.0, 4.0], [7.0, 7.0]]).fit(storage(X))
    assert model.inertia_ <= 1e-30
