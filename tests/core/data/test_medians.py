"""Absolute distances and medians: right, exact, and the same however the data are stored."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from _support import oracles
from _support.extended import examples
from pellucid._core.data.arrays import Weights
from pellucid._core.data.medians import MedianDataset, absolute_cost, group_medians
from pellucid._utils.threads import ThreadPool


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 7)) * 10.0 ** np.arange(-3, 4) * (rng.random((300, 7)) < 0.5)
    return X.astype(np.float32).astype(float), rng.normal(size=(4, 7)) * 10.0 ** np.arange(-3, 4)


WEIGHTS = {
    "ones": np.ones(300),
    "whole": np.arange(300.0) % 7 + 1,
    "fractions": np.geomspace(1e-3, 1e3, 300),
}
each_weight = pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)


def storages(X):
    return np.asfortranarray(X), X.astype(np.float32), sparse.csc_array(X)


@each_weight
def test_costs_are_the_weighted_absolute_distances(data, weight):
    X, centers = data
    costs, unit = MedianDataset(X, Weights.of(weight)).costs(centers)
    assert costs.dtype == np.int64
    assert np.log2(unit) == np.rint(np.log2(unit))
    expected = weight[:, None] * np.abs(X[:, None] - centers[None]).sum(axis=2)
    assert np.abs(costs * unit - expected).max() <= 1e-13 * expected.sum(axis=0).max()
    assert (costs.astype(float).sum(axis=0) < 2.0**62).all()
    for other in storages(X):
        same, same_unit = MedianDataset(other, Weights.of(weight)).costs(centers)
        assert same_unit == unit
        np.testing.assert_array_equal(same, costs)


def test_costs_of_many_rows_are_absolute_distances_too(data):
    X, centers = data
    few, unit = MedianDataset(X, Weights.of(np.ones(300))).costs(centers)
    many, larger = MedianDataset(np.tile(X, (8, 1)), Weights.of(np.ones(2400))).costs(centers)
    np.testing.assert_allclose(
        many * larger, np.tile(few * unit, (8, 1)), rtol=1e-9, atol=larger * 8
    )


@each_weight
def test_total_cost_is_that_of_the_own_center(data, weight):
    X, centers = data
    labels = np.arange(300) % 5 - 1
    own = np.abs(X - centers[labels]).sum(axis=1)
    expected = (weight * own)[labels >= 0].sum()
    for matrix in (X, *storages(X)):
        assert absolute_cost(matrix, labels, centers, weight) == pytest.approx(expected, rel=1e-13)


def test_total_cost_of_full_sparse_columns_far_from_0_keeps_its_digits():
    rng = np.random.default_rng(0)
    X, weight = 1e6 + rng.normal(size=(5000, 3)), rng.random(5000)
    labels, centers = np.arange(5000) % 2, np.full((2, 3), 1e6)
    expected = absolute_cost(X, labels, centers, weight)
    found = absolute_cost(sparse.csc_array(X), labels, centers, weight)
    assert found == pytest.approx(expected, rel=1e-12)


@given(
    hnp.arrays(np.float64, (8, 3), elements=st.integers(-2, 2).map(float)),
    hnp.arrays(np.float64, (4, 3), elements=st.integers(-5, 5).map(lambda i: i / 2)),
)
@settings(max_examples=examples(200), deadline=None)
def test_nearest_is_the_lowest_of_the_nearest(X, centers):
    expected = oracles.nearest(X, centers, "kmedians")
    for matrix in (X, *storages(X)):
        found = MedianDataset(matrix, Weights.of(np.ones(8))).nearest(centers)
        np.testing.assert_array_equal(found, expected)


def test_nearest_is_the_same_to_the_bit_where_centers_all_but_tie(data):
    """Centers mirrored about rows: rounding alone decides, and must decide alike."""
    X, centers = data
    away = centers[0]
    mirrored = np.concatenate([X[:40] + away, X[:40] - away])
    expected = MedianDataset(X, Weights.of(np.ones(300))).nearest(mirrored)
    for other in storages(X):
        found = MedianDataset(other, Weights.of(np.ones(300))).nearest(mirrored)
        np.testing.assert_array_equal(found, expected)


@st.composite
def grouped(draw):
    n = draw(st.integers(1, 40))
    X = draw(hnp.arrays(np.float64, (n, 2), elements=st.integers(-3, 3).map(float)))
    labels = draw(hnp.arrays(np.intp, n, elements=st.integers(-1, 2)))
    weight = draw(hnp.arrays(np.float64, n, elements=st.integers(0, 3).map(float)))
    return X, labels, weight


@pytest.mark.slow
@given(grouped())
@settings(max_examples=examples(150), deadline=None)
def test_medians_are_the_middle_of_repeated_rows(case):
    X, labels, weight = case
    units = Weights.of(weight).units
    for matrix in (X, *storages(X)):
        found = group_medians(matrix, labels, units, 3)
        for group in range(3):
            rows = labels == group
            if weight[rows].sum() == 0:
                assert np.isnan(found[group]).all()
            else:
                assert found[group].tolist() == oracles.medians(X[rows], weight[rows]).tolist()


@each_weight
def test_medians_of_floats_in_any_storage_and_with_any_number_of_threads(data, weight):
    X, labels = np.hstack([data[0]] * 3), np.arange(300) % 3
    X[5:25, 1] = -0.0
    units = Weights.of(weight).units
    found = group_medians(X, labels, units, 3)
    assert not np.signbit(found[found == 0]).any()
    with ThreadPool(3) as pool:
        for matrix in (X, *storages(X)):
            for threads in (pool, ThreadPool(1)):
                again = group_medians(matrix, labels, units, 3, threads)
                np.testing.assert_array_equal(again, found)
    for group in range(3):
        mine = units[labels == group]
        for column, median in zip(X[labels == group].T, found[group]):
            assert median in column
            assert 2 * mine[column <= median].sum() >= mine.sum() > 2 * mine[column < median].sum()


@pytest.mark.parametrize(
    "values",
    [np.arange(5000.0), -np.arange(5000.0), np.tile([1.0, 0.0], 2500), np.r_[:2500, 2500:0:-1.0]],
    ids=["rising", "falling", "two values", "roof"],
)
def test_medians_of_long_ordered_columns(values):
    found = group_medians(values[:, None], np.zeros(5000, np.intp), np.ones(5000, np.int64), 1)
    assert found[0, 0] == np.sort(values)[2499]
