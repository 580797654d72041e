"""Sums of lines by bin of dense and sparse columns, against adding them up one by one."""

import numpy as np
import pytest
from scipy import sparse

from pellucid._core.criteria import surrogate_histograms as dense_prices
from pellucid._core.criteria import surrogate_sparse as stored_prices
from pellucid._core.criteria.problem import Problem
from pellucid._core.criteria.surrogate_bounds import Rivals, Standing
from pellucid._core.criteria.surrogate_cost import SurrogateState
from pellucid._core.criteria.surrogate_histograms import DenseSums
from pellucid._core.criteria.surrogate_sparse import StoredPrices
from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset
from pellucid._utils.threads import SERIAL

N_SAMPLES, N_FEATURES, N_CLUSTERS = 60, 5, 4
EVERY = np.arange(N_FEATURES)


def make_problem(is_sparse):
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 40, size=(N_SAMPLES, N_FEATURES)) * (
        rng.random((N_SAMPLES, N_FEATURES)) < [0.1, 0.3, 0.9, 1.0, 0.0]
    )
    rows = sparse.csc_array(X.astype(float)) if is_sparse else X.astype(float)
    data = Dataset(rows, Weights.of(np.ones(N_SAMPLES)))
    centers = X[:N_CLUSTERS].astype(float)
    return Problem(data, centers, data.nearest(centers))


@pytest.fixture
def problem():
    return make_problem(is_sparse=True)


def rivals_of(problem):
    return Rivals(problem.costs, 1, np.array([0, 3]), N_SAMPLES.bit_length())


def standing_of(problem, rows):
    return Standing.of(rows, problem.costs, SERIAL, 1)


def some_rows(seed, n_rows=N_SAMPLES):
    return np.random.default_rng(seed).permutation(N_SAMPLES)[:n_rows].astype(np.int32)


def assert_levels(levels, features, problem, rivals, rows):
    begins, which, found = levels
    for f, j in enumerate(features):
        codes = problem.bins.dense_column(j, N_SAMPLES)[rows]
        expected = np.zeros((problem.bins.edges.shape[1], rivals.n_sums), dtype=np.int64)
        np.add.at(expected, codes, rivals.lines_of(rows))
        bins = which[begins[f] : begins[f + 1]]
        assert (np.diff(bins) > 0).all()
        assert set(codes) <= set(bins)
        np.testing.assert_array_equal(found[begins[f] : begins[f + 1]], expected[bins])


def assert_right(sums, problem, rows):
    assert_levels(sums.add_up(EVERY), EVERY, problem, sums.rivals, rows)
    assert_levels(sums.column(2), [2], problem, sums.rivals, rows)
    for features, levels in sums.probe(np.array([3, 0])):
        assert_levels(levels, features, problem, sums.rivals, rows)
    lines = sums.rivals.lines_of(rows)
    np.testing.assert_array_equal(sums.lines_at(np.array([2, 0])), lines[[2, 0]])
    np.testing.assert_array_equal(sums.totals[:-1], lines.sum(axis=0)[:-1])
    assert sums.totals[-1] % 2**sums.rivals.shift == len(rows)


@pytest.mark.parametrize("n_rows", [3, 29, 31, 60])
def test_sparse_sums_of_some_rows(problem, n_rows):
    rows = some_rows(1, n_rows)
    stored = StoredPrices(problem)
    for keep in (True, False):
        sums = stored.sums_of(rows, rivals_of(problem), SurrogateState(), keep=keep)
        assert sums.is_kept == (keep and n_rows > 30)
        assert_right(sums, problem, rows)


def test_sparse_sums_less_those_of_some_rows(problem):
    rows, stored = some_rows(2), StoredPrices(problem)
    sums = stored.sums_of(rows, rivals_of(problem), SurrogateState(), keep=True)
    for n_left in (47, 20, 3):
        rows, gone = rows[:n_left], rows[n_left:]
        sums = stored.without(sums, gone, rows)
        assert_right(sums, problem, rows)


@pytest.mark.parametrize("small", [0, 2**22])
def test_dense_sums_of_some_rows(small, monkeypatch):
    monkeypatch.setattr(dense_prices, "_SMALL", small)
    problem, rows = make_problem(is_sparse=False), some_rows(3, 50)
    sums = DenseSums(problem, rivals_of(problem), rows, standing_of(problem, rows))
    assert_right(sums, problem, rows)


@pytest.mark.parametrize("is_sparse", [True, False])
def test_blocks_of_columns_cover_all_of_them(is_sparse, monkeypatch):
    monkeypatch.setattr(stored_prices, "_CHUNK", 40)
    monkeypatch.setattr(dense_prices, "_CHUNK", 400)
    problem, rows = make_problem(is_sparse), np.arange(9, dtype=np.int32)
    rivals = rivals_of(problem)
    if is_sparse:
        sums = StoredPrices(problem).sums_of(rows, rivals, SurrogateState(), keep=False)
    else:
        sums = DenseSums(problem, rivals, rows, standing_of(problem, rows))
    blocks = sums.blocks(np.arange(1, 5))
    assert len(blocks) > 1
    assert np.concatenate(blocks).tolist() == [1, 2, 3, 4]
