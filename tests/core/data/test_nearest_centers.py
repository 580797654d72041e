"""Nearest centers, against all distances."""

import numpy as np
import pytest
from scipy import sparse

from pellucid._core.data import moments
from pellucid._core.data.moments import nearest_centers
from pellucid._utils.numeric_domain import OutOfDomain
from pellucid._utils.threads import SERIAL, ThreadPool

FORMS = {
    "row-major": np.ascontiguousarray,
    "column-major": np.asfortranarray,
    "sparse": sparse.csr_array,
}


def by_distances(X, centers):
    costs = np.zeros((len(X), len(centers)))
    for j in range(X.shape[1]):
        costs += (X[:, j, None] - centers[:, j]) ** 2
    return costs.argmin(axis=1)


@pytest.fixture(params=[0, moments.FEW_DIFFERENCES], autouse=True)
def few_differences(request, monkeypatch):
    """Few rows with and without the compiled loop."""
    monkeypatch.setattr(moments, "FEW_DIFFERENCES", request.param)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_rows", [1, 2, 7, 5001])
@pytest.mark.parametrize("n_centers", [1, 2, 5])
def test_odd_and_even_numbers_of_rows_and_centers(form, n_rows, n_centers):
    random = np.random.RandomState(n_rows + n_centers)
    X, centers = random.normal(size=(n_rows, 3)), random.normal(size=(n_centers, 3))
    found = nearest_centers(FORMS[form](X), centers, SERIAL)
    assert found.tolist() == by_distances(X, centers).tolist()


@pytest.mark.parametrize("form", FORMS)
def test_of_equally_near_centers_the_lowest(form):
    X = np.random.RandomState(0).randint(-2, 3, size=(4097, 2)).astype(float)
    centers = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [0.0, 0.0]])
    found = nearest_centers(FORMS[form](X), centers, SERIAL)
    assert found.tolist() == by_distances(X, centers).tolist()
    assert (found[(X == 1).all(axis=1)] == 0).all()


@pytest.mark.parametrize("form", FORMS)
def test_what_products_cannot_tell_apart_is_told_apart_by_differences(form):
    X = 1e8 + np.linspace(-1, 1, 101)[:, None]
    centers = np.array([[1e8 - 0.25], [1e8 + 0.25], [0.0]])
    found = nearest_centers(FORMS[form](X), centers, SERIAL)
    assert found.tolist() == by_distances(X, centers).tolist()
    assert set(found) == {0, 1}


def test_numbers_out_of_the_domain_are_found():
    for large in (1e101, 1e200, -1.7e308):
        with pytest.raises(OutOfDomain):
            nearest_centers(np.array([[1.0], [large], [2.0]]), np.array([[0.0], [4.0]]), SERIAL)


def test_threads_change_nothing():
    random = np.random.RandomState(0)
    X, centers = random.normal(size=(20000, 4)), random.normal(size=(7, 4))
    with ThreadPool(3) as pool:
        found = nearest_centers(X, centers, pool)
    assert (found == nearest_centers(X, centers, SERIAL)).all()


def test_few_rows_need_no_compiled_loop(monkeypatch, few_differences):
    if moments.FEW_DIFFERENCES:
        monkeypatch.setattr(moments, "_dense_nearest", None)
    X = np.random.RandomState(0).normal(size=(150, 4))
    assert nearest_centers(X, X[:3], SERIAL).tolist() == by_distances(X, X[:3]).tolist()
