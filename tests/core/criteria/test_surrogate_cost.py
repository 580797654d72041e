"""Surrogate cost: true bounds, and the best split of a node against all splits one by one."""

import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from _support.extended import examples
from _support.problems import problem_of
from pellucid import ExKMC
from pellucid._core.criteria import surrogate_cost as module
from pellucid._core.criteria.surrogate_cost import (
    CenterBounds,
    SparseLossSearch,
    SurrogateCost,
    codes_by_row,
)
from pellucid._core.data import binning
from pellucid._utils.threads import SERIAL

integer_costs = st.integers(1, 5).flatmap(
    lambda k: st.lists(
        st.lists(st.integers(0, 9), min_size=k, max_size=k), min_size=1, max_size=7
    ).map(lambda rows: np.array(rows, dtype=np.int64))
)


def bounds_of(costs: np.ndarray) -> CenterBounds:
    """Bounds of all rows, compared with their cheapest center."""
    rows = np.arange(len(costs), dtype=np.int32)
    return CenterBounds.of(rows, costs, SERIAL, int(costs.sum(axis=0).argmin()))


@settings(max_examples=examples(100), deadline=None)
@given(integer_costs)
def test_no_split_gains_more_than_its_bound(costs):
    bounds, total = bounds_of(costs), costs.sum(axis=0).min()
    for sides in product([False, True], repeat=len(costs)):
        left = np.array(sides)
        at_left, at_right = costs[left].sum(axis=0), costs[~left].sum(axis=0)
        gain = int(total - at_left.min() - at_right.min())
        assert gain <= bounds.max_gain
        if gain > 0:
            allowed = bounds.centers(gain)
            assert gain == total - at_left[allowed].min() - at_right[allowed].min()


@settings(max_examples=examples(100), deadline=None)
@given(integer_costs, st.integers(0, 7))
def test_bounds_of_a_child_are_those_of_the_parent_minus_the_sibling(costs, n_left):
    rows = np.arange(len(costs), dtype=np.int32)
    left, right = rows[:n_left], rows[n_left:]
    whole, part, rest = (CenterBounds.of(r, costs, SERIAL, 0) for r in (rows, left, right))
    found = whole.subtract(part)
    np.testing.assert_array_equal(found.totals, rest.totals)
    np.testing.assert_array_equal(found.alone, rest.alone)
    np.testing.assert_array_equal(found.excess, rest.excess)
    assert (found.level, found.largest) == (rest.level, rest.largest)


def brute_force(X: np.ndarray, costs: np.ndarray) -> tuple[int, int, float] | None:
    """Surrogate cost, feature and lowest value of the best split; None if no split gains."""
    best = (int(costs.sum(axis=0).min()), -1, 0.0)
    for feature in range(X.shape[1]):
        for value in np.unique(X[:, feature])[:-1].tolist():
            left = X[:, feature] <= value
            cost = int(costs[left].sum(axis=0).min() + costs[~left].sum(axis=0).min())
            if cost < best[0]:
                best = (cost, feature, value)
    return None if best[1] < 0 else best


@pytest.mark.parametrize("search", ["values", "histogram", "sparse histogram"])
@pytest.mark.parametrize("n_clusters", [2, 5, 12])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_split_is_that_of_brute_force(seed, n_clusters, search, monkeypatch):
    # Few rows are searched value by value, many rows by a histogram.
    monkeypatch.setattr(module, "_FEW_ROWS_PER_BIN", 10 if search == "values" else 0)
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, size=(120, 4)) * (rng.random((120, 4)) < 0.6).astype(float)
    centers = rng.normal(3, 3, size=(n_clusters, 4))
    labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    weight = rng.integers(1, 4, size=120).astype(float)
    data = sparse.csc_array(X) if search == "sparse histogram" else X
    problem = problem_of(data, centers, labels, weight)
    criterion = SurrogateCost(problem)
    found, expected = criterion.best_split(criterion.root()), brute_force(X, problem.costs)
    if expected is None:
        assert found is None or found.gain <= 0
    else:
        assert (found.objective, found.feature) == expected[:2]
        at_most = X[:, found.feature] <= found.threshold
        np.testing.assert_array_equal(at_most, X[:, expected[1]] <= expected[2])


@pytest.mark.parametrize("store", [np.asarray, sparse.csc_array])
@pytest.mark.parametrize("n_bins", [3, 256])
def test_few_bins_and_ties(store, n_bins, monkeypatch):
    """Bounds inside bins hold, and the lowest of several equally good splits is found."""
    monkeypatch.setattr(module, "_FEW_ROWS_PER_BIN", 0)
    monkeypatch.setattr(binning, "N_BINS", n_bins)
    monkeypatch.setattr(binning, "_FEW_VALUES", 0)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.integers(-3, 4, size=(14, 2)).astype(float)
        centers = rng.integers(-3, 4, size=(int(rng.integers(2, 4)), 2)).astype(float)
        labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        problem = problem_of(store(X), centers, labels)
        criterion = SurrogateCost(problem)
        found, expected = criterion.best_split(criterion.root()), brute_force(X, problem.costs)
        if expected is not None:
            assert (found.objective, found.feature) == expected[:2], seed
            at_most = X[:, found.feature] <= found.threshold
            np.testing.assert_array_equal(at_most, X[:, expected[1]] <= expected[2], f"{seed}")


@pytest.mark.slow
@pytest.mark.parametrize("n_clusters", [3, 20])
def test_the_tree_does_not_depend_on_threads_or_storage(n_clusters):
    rng = np.random.default_rng(n_clusters)
    X = np.round(rng.normal(size=(6000, 5)) + rng.integers(0, 4, size=(6000, 1)), 2)
    X[rng.random(X.shape) < 0.5] = 0
    centers = X[rng.choice(6000, n_clusters, replace=False)]
    trees = [
        ExKMC(reference=centers, n_leaves=2 * n_clusters, n_jobs=n_jobs).fit(data).tree_
        for n_jobs in (1, 2)
        for data in (X, np.asfortranarray(X), sparse.csr_array(X))
    ]
    assert all(tree == trees[0] for tree in trees)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_histograms_of_sparse_data_take_few_bytes_per_entry(share):
    X = sparse.random_array((20_000, 800), density=0.05, format="csc", rng=0)
    centers = X[:2].toarray()
    problem = problem_of(X, centers, np.zeros(20_000, dtype=int))
    rows = np.arange(int(share * 20_000), dtype=np.int32)
    arguments = rows, np.arange(2), problem.costs[rows].sum(axis=0)
    codes = codes_by_row(problem)
    SparseLossSearch(problem, *arguments, codes)  # compiles
    tracemalloc.start()
    search = SparseLossSearch(problem, *arguments, codes)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert search.bins.dtype == np.int32
    assert peak < 13 * X.nnz
