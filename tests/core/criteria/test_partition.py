"""Rows on either side of a threshold, against a comparison of all values."""

import numpy as np
import pytest
from scipy import sparse

from pellucid._core.criteria.partition import split_rows
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset

STORAGES = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "column-major": np.asfortranarray,
    "sparse": sparse.csc_array,
}


def make_problem(X):
    weights = Weights.of(np.ones(X.shape[0]))
    centers = np.array([[-1.0, 0.0], [1.0, 0.0]])
    return Problem(Dataset(X, weights), centers, np.zeros(X.shape[0], dtype=np.intp))


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("n_rows", [5, 3000])
def test_sides_and_neighbours_of_a_threshold(storage, n_rows):
    random = np.random.RandomState(0)
    X = random.normal(size=(n_rows, 2)).round(2) * (random.rand(n_rows, 2) < 0.7)
    if storage == "float32":  # the others hold numbers that float32 cannot
        X = X.astype(np.float32).astype(np.float64)
    problem = make_problem(STORAGES[storage](X))
    rows = np.flatnonzero(random.rand(n_rows) < 0.6).astype(np.int32)
    values = X[rows, 0]
    edges = problem.bins.edges[0]
    between = np.nextafter(values[:20], -np.inf)  # not representable in float32
    thresholds = (*values[:40], *between, *edges[np.isfinite(edges)], -9.0, 9.0, 0.0)
    for threshold in map(float, thresholds):
        low, high, left, right = split_rows(problem, rows, 0, threshold)
        assert low == max(values[values <= threshold], default=-np.inf)
        assert high == min(values[values > threshold], default=np.inf)
        np.testing.assert_array_equal(left, rows[values <= threshold])
        np.testing.assert_array_equal(right, rows[values > threshold])


def test_no_rows():
    problem = make_problem(np.arange(10.0).reshape(5, 2))
    low, high, left, right = split_rows(problem, np.empty(0, dtype=np.int32), 0, 3.0)
    assert (low, high) == (-np.inf, np.inf)
    assert len(left) == len(right) == 0
