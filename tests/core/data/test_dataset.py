"""Costs in whole units: right, exact, and the same however the data are stored."""

import numpy as np
import pytest
from scipy import sparse

from pellucid._core.data.dataset import Dataset
from pellucid._core.data.weights import Weights
from pellucid._core.kernels.dataset import dense_costs, unscaled_costs


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


@pytest.mark.parametrize("weight", [np.ones(5000), np.arange(5000.0) % 3 + 1, np.full(5000, 0.3)])
def test_costs_are_where_they_are_wanted(weight):
    rng = np.random.default_rng(0)
    X, place = rng.normal(size=(5000, 3)), rng.permutation(5000).astype(np.int32)
    X[17] *= 1e8  # too dear for the quick loop
    data = Dataset(X, Weights.of(weight))
    expected, unit = data.costs(X[:4])
    begun = data.begin_costs(X[:4], place=place)
    begun.work.finish()
    found = begun.prices.costs[begun.prices.lines(np.arange(5000))]
    assert (begun.prices.place is None) == (weight[0] == 0.3)
    assert begun.unit == unit
    np.testing.assert_array_equal(found, expected)


def test_a_total_does_not_depend_on_the_order():
    rng = np.random.default_rng(0)
    weights, rows = Weights.of(rng.random(1000)), np.arange(1000)
    total = weights.total_of(rows)
    assert all(weights.total_of(rng.permutation(rows)) == total for _ in range(20))
    assert total == pytest.approx(weights.values.sum(), rel=1e-12)


def test_weights_in_whole_units():
    whole = Weights.of(np.array([1.0, 3.0]))
    assert whole.are_integers
    assert whole.units.tolist() == [1, 3]
    parts = Weights.of(np.array([0.5, 0.25, 1 / 3]))
    assert not parts.are_integers
    assert parts.units.sum() < 2**52
    np.testing.assert_allclose(parts.units / parts.units_per_weight, [0.5, 0.25, 1 / 3], rtol=1e-12)


def quick_costs(X, centers, unit, found):
    half, odd = divmod(round(-np.log2(unit)), 2)
    root, shift, place = 2.0**half, 2.0 ** (52 - odd), np.arange(len(X), dtype=np.int32)
    return unscaled_costs(X, centers * root, root, shift, np.empty(X.shape[1]), place, found)


@pytest.mark.parametrize("top", [1, 2**20, 2**51, 2**52 - 1, 2**52, 2**60])
def test_costs_are_rounded_alike_whether_quickly_or_not(top):
    """What is too large for the quick way is told."""
    rng = np.random.default_rng(top % 1000)
    X = np.sqrt(rng.integers(0, 4 * top + 1, size=(50, 5)) / 4)
    X[0] = 0
    X[0, 0] = np.sqrt(float(top))
    centers = np.array([np.zeros(5), X[1]])
    for unit in (1.0, 2.0**-40, 2.0**-41, 2.0**200):
        expected, found = np.empty((2, 50, 2), dtype=np.int64)
        scaled = X * np.sqrt(unit), centers * np.sqrt(unit)
        dense_costs(*scaled, np.ones(50), 1 / unit, expected)
        is_right = quick_costs(*scaled, unit, found)
        assert is_right == (expected.max() < 2**52)
        if is_right:
            np.testing.assert_array_equal(found, expected)


def test_halves_are_rounded_to_the_even_number():
    X = np.arange(0.5, 9).reshape(-1, 1)
    found = np.empty((9, 1), dtype=np.int64)
    assert quick_costs(X, np.zeros((1, 1)), 0.5, found)
    assert found[:, 0].tolist() == [round(2 * x * x) for x in X[:, 0].tolist()]


def test_costs_of_rows_far_off_are_the_same_dense_and_sparse():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 3)) * (rng.random((5000, 3)) < 0.5)
    X[[7, 4500]] *= 1e8
    weights = Weights.of(np.ones(len(X)))
    expected, unit = Dataset(sparse.csc_array(X), weights).costs(X[:4])
    found, same_unit = Dataset(X, weights).costs(X[:4])
    assert same_unit == unit
    assert expected.max() >= 2**52
    np.testing.assert_array_equal(found, expected)
