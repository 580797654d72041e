"""Means and costs of two groupings, against sums written out."""

import numpy as np
import pytest
from scipy import sparse

from pellucid.numeric.moments import cost_to_centers, means_and_costs

N_SAMPLES, N_FEATURES = 40, 3


def by_hand(X, labels, weight, origins):
    centers, cost = origins.copy(), 0.0
    for g in range(len(origins)):
        rows = labels == g
        if rows.any():
            centers[g] = np.average(X[rows], axis=0, weights=weight[rows])
            cost += (weight[rows, None] * (X[rows] - centers[g]) ** 2).sum()
    return centers, cost


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csc_array])
@pytest.mark.parametrize(
    ("n_groups", "label_type", "least"),
    [(4, np.intp, 0), (4, np.intp, -1), (4, np.uint8, 0), (120, np.uint8, 0), (4, np.int32, -1)],
)
def test_labels_of_any_width(form, n_groups, label_type, least):
    """Labels of rows are kept small: they must not run over when two groupings are told apart."""
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(N_SAMPLES, N_FEATURES)), rng.random(N_SAMPLES) + 0.1
    labels, others = rng.integers(least, n_groups, size=(2, N_SAMPLES))
    others[::2] = labels[::2]
    origins = rng.normal(size=(n_groups, N_FEATURES))
    for first, second in [(label_type, np.intp), (np.intp, label_type)]:
        found = means_and_costs(
            form(X), labels.astype(first), others.astype(second), weight, origins
        )
        for (centers, cost), group in zip(found, (labels, others)):
            expected, expected_cost = by_hand(X, group, weight, origins)
            np.testing.assert_allclose(centers, expected, atol=1e-12)
            assert cost == pytest.approx(expected_cost)
    distances = (weight * ((X - origins[labels]) ** 2).sum(axis=1))[labels >= 0]
    cost = cost_to_centers(form(X), labels.astype(label_type), origins, weight)
    assert cost == pytest.approx(distances.sum())
