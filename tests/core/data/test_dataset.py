"""Costs in units: correct, exact, and the same for every storage of the data."""

import numpy as np
import pytest
from scipy import sparse

from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 7)) * 10.0 ** np.arange(-3, 4) * (rng.random((300, 7)) < 0.5)
    return X, rng.normal(size=(4, 7)) * 10.0 ** np.arange(-3, 4)


def plain(X, centers, weight):
    return weight[:, None] * ((X[:, None] - centers[None]) ** 2).sum(axis=2)


@pytest.mark.parametrize("kind", ["ones", "whole", "fractions"])
def test_costs_are_the_weighted_squared_distances(data, kind):
    X, centers = data
    rng = np.random.default_rng(1)
    weight = {
        "ones": np.ones(300),
        "whole": rng.integers(1, 1000, 300).astype(float),
        "fractions": rng.uniform(1e-3, 1e3, 300),
    }[kind]
    costs, unit = Dataset(X, Weights.of(weight)).costs(centers)
    assert costs.dtype == np.int64
    assert np.log2(unit) == np.rint(np.log2(unit))
    expected = plain(X, centers, weight)
    assert np.abs(costs * unit - expected).max() <= 1e-13 * expected.sum(axis=0).max()
    np.testing.assert_allclose((costs * unit).sum(axis=0), expected.sum(axis=0), rtol=1e-11)


def test_storage_gives_the_same_bits(data):
    X, centers = data
    X = X.astype(np.float32).astype(np.float64)
    for weight in (np.ones(300), np.linspace(0.1, 2.0, 300)):
        weights = Weights.of(weight)
        expected, unit = Dataset(X, weights).costs(centers)
        others = (np.asfortranarray(X), X.astype(np.float32), sparse.csc_array(X))
        for other in others:
            costs, same_unit = Dataset(other, weights).costs(centers)
            assert same_unit == unit
            np.testing.assert_array_equal(costs, expected)


def test_sums_never_overflow():
    """Outliers, huge weights and many rows leave the total below 2**62."""
    X = np.vstack([np.zeros((10_000, 2)), [[1e9, -1e9]]])
    for weight in (np.ones(10_001), np.full(10_001, 1e6), np.full(10_001, 1e-6)):
        costs, _ = Dataset(X, Weights.of(weight)).costs(np.array([[0.0, 0.0], [1e9, 1e9]]))
        assert (costs >= 0).all()
        assert (costs.astype(float).sum(axis=0) < 2.0**62).all()


def test_a_total_does_not_depend_on_the_order():
    rng = np.random.default_rng(0)
    weights, rows = Weights.of(rng.random(1000)), np.arange(1000)
    total = weights.total_of(rows)
    assert all(weights.total_of(rng.permutation(rows)) == total for _ in range(20))
    assert total == pytest.approx(weights.values.sum(), rel=1e-12)


def test_weights_in_units():
    whole = Weights.of(np.array([1.0, 3.0]))
    assert whole.are_integers
    assert whole.units.tolist() == [1, 3]
    parts = Weights.of(np.array([0.5, 0.25, 1 / 3]))
    assert not parts.are_integers
    assert parts.units.sum() < 2**52
    np.testing.assert_allclose(parts.units / parts.units_per_weight, [0.5, 0.25, 1 / 3], rtol=1e-12)


def test_halves_are_rounded_to_the_even_number():
    X = np.arange(0.5, 9).reshape(-1, 1)
    found, _ = Dataset(X, Weights.equal(9)).costs(np.zeros((1, 1)), unit=0.5)
    assert found[:, 0].tolist() == [round(2 * x * x) for x in X[:, 0].tolist()]


def test_costs_of_outliers_are_the_same_dense_and_sparse():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 3)) * (rng.random((5000, 3)) < 0.5)
    X[[7, 4500]] *= 1e8
    weights = Weights.of(np.ones(len(X)))
    expected, unit = Dataset(sparse.csc_array(X), weights).costs(X[:4])
    found, same_unit = Dataset(X, weights).costs(X[:4])
    assert same_unit == unit
    assert expected.max() >= 2**52
    np.testing.assert_array_equal(found, expected)
