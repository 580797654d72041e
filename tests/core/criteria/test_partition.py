"""Rows that stand center by center: judged, looked into and cut, against all rows one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid._core.criteria.counted import CountedScan
from pellucid._core.criteria.mistakes import Mistakes
from pellucid._core.criteria.partition import OwnedRows
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.dataset import Dataset
from pellucid._core.data.weights import Weights
from pellucid._core.kernels.partition import NEVER


def make_problem(seed, n_samples=300, n_clusters=5):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 40, size=(n_samples, 3)) / 4
    data = Dataset(X, Weights.of(rng.integers(1, 4, n_samples).astype(float)))
    centers = X[rng.choice(n_samples, n_clusters, replace=False)]
    return Problem(data, centers, data.nearest(centers))


def owned_by(problem):
    ends = np.concatenate(
        [[0], np.cumsum(np.bincount(problem.labels, minlength=problem.n_clusters))]
    )
    return OwnedRows(problem.by_center.copy(), ends[:-1], ends[1:].copy())


def mistakes(problem, feature, at, rows):
    """Weight of the rows that a threshold separates from their centers."""
    left = problem.X[rows, feature] <= at
    center_left = problem.centers[problem.labels[rows], feature] <= at
    return int(problem.weights.units[rows][left != center_left].sum())


@given(st.integers(0, 10**6), st.lists(st.integers(0, 4), min_size=2, unique=True))
@settings(max_examples=60, deadline=None)
def test_edges_and_bounds(seed, members):
    problem, members = make_problem(seed), np.sort(members)
    bins, owned = problem.bins, owned_by(problem)
    codes = bins.center_code[:, members]
    position = np.array([codes.min(axis=1), codes.max(axis=1)]).T.copy()
    counts = Mistakes(problem).counts(Mistakes(problem).root())
    found = np.empty((problem.n_features, 1, 3))
    scan = CountedScan(bins, counts, members, bins.center_code, position)
    scan(np.arange(problem.n_features), found)
    rows = owned.of(members)
    for j, (first, last) in enumerate(position.tolist()):
        amounts = [mistakes(problem, j, bins.edges[j, t], rows) for t in range(first, last)]
        if not amounts:
            assert found[j, 0].tolist() == [np.inf, -1, np.inf]
            continue
        assert found[j, 0, 0] == min(amounts)
        assert found[j, 0, 1] == first + amounts.index(min(amounts))
        _, known, everywhere = scan.look(j, NEVER)
        assert known[first:last].tolist() == amounts
        values = np.unique(problem.X[rows, j])
        for b in range(first + 1, last + 1):
            inside = values[(values > bins.edges[j, b - 1]) & (values < bins.edges[j, b])]
            for at in inside.tolist():
                assert everywhere[b]
                assert mistakes(problem, j, at, rows) >= found[j, 0, 2]


def test_bins_that_are_looked_into():
    problem = make_problem(0)
    owned, members = owned_by(problem), np.array([1, 3])
    wanted = np.arange(problem.bins.edges.shape[1]) % 2 == 0
    values, codes, change = owned.look_into(problem, members, 1, wanted)
    rows = owned.of(members)
    rows = rows[wanted[problem.bins.codes[1, rows]]]
    rows = rows[np.argsort(problem.X[rows, 1], kind="stable")]
    np.testing.assert_array_equal(values, problem.X[rows, 1])
    np.testing.assert_array_equal(codes, problem.bins.codes[1, rows])
    past = values > problem.centers[problem.labels[rows], 1]
    np.testing.assert_array_equal(change, np.where(past, -1, 1) * problem.weights.units[rows])


@pytest.mark.parametrize("seed", range(20))
def test_the_sides_of_a_cut(seed):
    problem, rng = make_problem(seed), np.random.default_rng(seed)
    owned, members = owned_by(problem), np.array([0, 2, 3])
    feature, others = int(rng.integers(3)), owned.of(np.array([1, 4]))
    passive = rng.permutation(others)[: len(others) // 2]
    at = float(rng.choice(problem.X[:, feature])) + 0.1
    places, before = problem.centers[:, feature].copy(), owned.of(members)
    halves = owned.divide(problem, members, passive, feature, at, places)
    column = problem.X[:, feature]
    seen = np.concatenate([column[before], places[members]])
    low = seen[seen <= at].max(initial=-np.inf)
    high = min(
        seen[seen > at].min(initial=np.inf),
        column[passive][column[passive] > low].min(initial=np.inf),
    )
    assert (halves.low, halves.high) == (low, high)
    stays = (column[before] <= at) == (places[problem.labels[before]] <= at)
    np.testing.assert_array_equal(owned.of(members), before[stays])
    lost = before[~stays]
    for side, is_left in enumerate((True, False)):
        mine = lost[(column[lost] <= at) == is_left]
        assert sorted(halves.cut_off[side]) == sorted(mine)
        too = passive[(column[passive] <= low) == is_left]
        assert sorted(halves.passive[side]) == sorted([*mine, *too])
    np.testing.assert_array_equal(owned.of(np.array([1, 4])), others)
