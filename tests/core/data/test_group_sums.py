"""Means of groups of rows, against exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from pellucid._core.data import group_sums
from pellucid._core.data.group_sums import group_means
from pellucid._utils.threads import SERIAL

N_GROUPS = 3


@pytest.mark.parametrize("seed", range(30))
def test_integer_weights_are_copies_in_any_order_and_storage(seed):
    """Bit for bit, also where a row without weight has the largest value."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 40), rng.integers(1, 4)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-100, 100, size=d)
    weight, labels = rng.integers(0, 9, n), rng.integers(-1, N_GROUPS, n)
    means = group_means(X, labels, weight.astype(float), N_GROUPS)
    copies = rng.permutation(np.repeat(np.arange(n), weight))
    ones = np.ones(len(copies))
    for store in (np.asarray, sparse.csc_array):
        found = group_means(store(X[copies]), labels[copies], ones, N_GROUPS)
        np.testing.assert_array_equal(found, means)


@pytest.mark.parametrize("weight", [None, "integers"])
@pytest.mark.parametrize("store", [np.asarray, sparse.csc_array])
def test_the_mean_of_equal_values_is_that_value(weight, store):
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(1, 60))
        X = np.repeat(rng.normal(size=(1, 3)) * 10.0 ** rng.uniform(-90, 90), n, axis=0)
        weights = np.ones(n) if weight is None else rng.integers(1, 1000, n).astype(float)
        means = group_means(store(X), rng.integers(0, N_GROUPS, n), weights, N_GROUPS)
        assert ((means == X[0]) | np.isnan(means)).all()


@pytest.mark.parametrize("fractions", [False, True])
def test_sums_in_several_blocks_are_exact(fractions, monkeypatch):
    """Weights are so large that few rows can be added in floats without rounding."""
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(300, 2)), rng.integers(1, 2**20, 300) + 0.5 * fractions
    labels = rng.integers(0, N_GROUPS, 300)
    means = group_means(X, labels, weight, N_GROUPS)
    for group in range(N_GROUPS):
        rows = np.flatnonzero(labels == group)
        w = [Fraction(v) for v in weight[rows].tolist()]
        for j in range(2):
            x = [Fraction(v) for v in X[rows, j].tolist()]
            exact = sum(a * b for a, b in zip(x, w)) / sum(w)
            assert abs(Fraction(means[group, j]) - exact) <= np.abs(X).max() * 2.0**-52
    monkeypatch.setattr(group_sums, "_MAX_EXACT_ROWS", 2**20)
    np.testing.assert_array_equal(group_means(X, labels, weight, N_GROUPS, SERIAL), means)


def test_sums_of_more_rows_than_fit_into_one_integer_do_not_overflow():
    n_copies = 2**24  # the batch is merged with itself, 2**35 rows together
    X, weight = np.full((2**11, 1), 0.99999), np.ones(2**11)
    total = group_sums.LargestWeight(1.0, float(len(X) * n_copies), True)
    terms = group_sums.Terms.of(X.max(axis=0), total)
    sums = group_sums.GroupSums.of(X, np.zeros(len(X), dtype=np.intp), weight, 1, terms)
    for _ in range(24):
        sums = sums.merge(sums)
    assert sums.high.min() > 0
    assert sums.means()[0, 0] == pytest.approx(0.99999, rel=1e-15)
