"""What a cut asks of one column, against a look at all values."""

import numpy as np
import pytest
from scipy import sparse

from pellucid._core.criteria.column_search import BinnedColumn
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.dataset import Dataset
from pellucid._core.data.weights import Weights

FORMS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "column-major": np.asfortranarray,
    "sparse": sparse.csc_array,
}


def make_problem(X):
    weights = Weights.of(np.ones(X.shape[0]))
    centers = np.array([[-1.0, 0.0], [1.0, 0.0]])
    return Problem(Dataset(X, weights), centers, np.zeros(X.shape[0], dtype=np.intp))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_rows", [5, 3000])
def test_neighbours_and_sides_of_a_threshold(form, n_rows):
    random = np.random.RandomState(0)
    X = np.float32(random.normal(size=(n_rows, 2)).round(2) * (random.rand(n_rows, 2) < 0.7))
    X = X.astype(np.float64)  # numbers that all forms can hold
    problem = make_problem(FORMS[form](X))
    rows = np.flatnonzero(random.rand(n_rows) < 0.6).astype(np.int32)
    values = X[rows, 0]
    edges = problem.bins.edges[0]
    between = np.nextafter(values[:20], -np.inf)  # float32 has no such numbers
    places = (*values[:40], *between, *edges[np.isfinite(edges)], -9.0, 9.0, 0.0)
    for at in map(float, places):
        column = BinnedColumn(problem, 0, rows)
        low = max(values[values <= at], default=-np.inf)
        high = min(values[values > at], default=np.inf)
        assert column.around(at) == (low, high)
        assert column.at_most(at).tolist() == (values <= at).tolist()


def test_no_rows_have_no_neighbours():
    problem = make_problem(np.arange(10.0).reshape(5, 2))
    column = BinnedColumn(problem, 0, np.empty(0, dtype=np.int32))
    assert column.around(3.0) == (-np.inf, np.inf)
    assert column.at_most(3.0).tolist() == []
