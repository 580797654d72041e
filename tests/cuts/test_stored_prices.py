"""Sums of prices by bin of sparse columns, against adding them up one by one."""

import numpy as np
import pytest
from scipy import sparse

from pellucid.cuts import stored_prices
from pellucid.cuts.problem import Problem
from pellucid.cuts.stored_prices import StoredPrices
from pellucid.numeric.fixed_point import Data, Weights

N_SAMPLES, N_FEATURES, N_CLUSTERS = 60, 5, 4


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 40, size=(N_SAMPLES, N_FEATURES)) * (
        rng.random((N_SAMPLES, N_FEATURES)) < [0.1, 0.3, 0.9, 1.0, 0.0]
    )
    data = Data(sparse.csc_array(X.astype(float)), Weights.of(np.ones(N_SAMPLES)))
    centers = X[:N_CLUSTERS].astype(float)
    return Problem(data, centers, data.nearest(centers))


@pytest.fixture
def prices(problem):
    costs = problem.costs
    return np.column_stack([costs, costs.min(axis=1), np.ones(N_SAMPLES, dtype=np.int64)])


def assert_right(sums, problem, prices, rows):
    totals = prices[rows].sum(axis=0)[sums.columns]
    begins, which, found = sums.columns_between(0, N_FEATURES, totals)
    for j in range(N_FEATURES):
        codes = problem.bins.dense_column(j, N_SAMPLES)[rows]
        expected = np.zeros((256, len(sums.columns)), dtype=np.int64)
        np.add.at(expected, codes, prices[np.ix_(rows, sums.columns)])
        bins = which[begins[j] : begins[j + 1]]
        assert (np.diff(bins.astype(int)) > 0).all()
        assert set(codes) <= set(bins)
        np.testing.assert_array_equal(found[begins[j] : begins[j + 1]], expected[bins])


@pytest.mark.parametrize("n_rows", [3, 29, 31, 60])
def test_sums_of_some_rows(problem, prices, n_rows):
    rows = np.random.default_rng(1).permutation(N_SAMPLES)[:n_rows].astype(np.int32)
    sums = StoredPrices(problem, prices).sums_of(rows, prices[rows].sum(axis=0))
    assert (sums.kept is None) == (n_rows <= 30)
    assert_right(sums, problem, prices, rows)


def test_kept_sums_less_those_of_some_rows(problem, prices):
    rows = np.random.default_rng(2).permutation(N_SAMPLES).astype(np.int32)
    stored = StoredPrices(problem, prices)
    sums = stored.sums_of(rows, prices.sum(axis=0))
    for n_left in (47, 20, 1):
        rows, gone = rows[:n_left], rows[n_left:]
        sums = stored.without(sums, gone)
        assert_right(sums, problem, prices, rows)


def test_blocks_of_columns_cover_all_of_them(problem, prices, monkeypatch):
    monkeypatch.setattr(stored_prices, "_CHUNK", 100)
    sums = StoredPrices(problem, prices).sums_of(np.arange(9), prices[:9].sum(axis=0))
    covered = [j for first, last in sums.blocks(np.arange(1, 5)) for j in range(first, last)]
    assert covered == [1, 2, 3, 4]


def test_centers_left_out_are_never_the_cheapest(problem, prices):
    rows = np.arange(40, dtype=np.int32)
    sums = StoredPrices(problem, prices).sums_of(rows, prices[rows].sum(axis=0))
    for seed in range(20):
        some = np.random.default_rng(seed).permutation(rows)[: 1 + seed]
        costs = prices[some].sum(axis=0)
        assert costs[sums.columns[:-2]].min() == costs[:-2].min()
