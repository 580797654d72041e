"""Enumeration, sampling and scores of projections."""

import numpy as np
import pytest

from pellucid._core.data.arrays import Weights
from pellucid.eop.base_classifiers import StumpBase, scan_projections
from pellucid.eop.problem import RegionProblem, list_projections
from pellucid.regions.levels import project


def test_all_subsets_in_order():
    subsets = list_projections(np.array([1, 4, 7]), 2, "all", np.random.RandomState(0))
    assert [s.tolist() for s in subsets] == [[[1], [4], [7]], [[1, 4], [1, 7], [4, 7]]]


def test_one_column_has_one_subset():
    subsets = list_projections(np.array([3]), 2, "all", np.random.RandomState(0))
    assert [s.tolist() for s in subsets] == [[[3]]]


@pytest.mark.parametrize(
    ("n", "wanted", "counts"),
    [(10, 8, [4, 4]), (10, 30, [10, 20]), (10, 1000, [10, 45]), (10_000, 600, [300, 300])],
)
def test_samples_are_distinct_subsets_of_both_sizes(n, wanted, counts):
    subsets = list_projections(np.arange(n), 2, wanted, np.random.RandomState(0))
    assert [len(s) for s in subsets] == counts
    for s in subsets:
        assert len(np.unique(s, axis=0)) == len(s)
        assert (np.diff(s, axis=1) > 0).all()
        assert s.max() < n


def test_too_many_subsets_raise_an_error_with_advice():
    with pytest.raises(ValueError, match=r"50,005,000 subsets .* projections=5000"):
        list_projections(np.arange(10_000), 2, "all", np.random.RandomState(0))


def test_constant_and_duplicate_columns_are_ignored():
    random = np.random.RandomState(0)
    X = random.normal(size=(50, 6))
    X[:, 2], X[:, 4] = 1.5, X[:, 1]
    problem = RegionProblem(X, np.zeros(50, np.int64), 1, Weights.of(np.ones(50)))
    assert problem.useful_features.tolist() == [0, 1, 3, 5]


def test_error_and_potential_of_every_projection():
    random = np.random.RandomState(1)
    n = 120
    X = random.normal(size=(n, 4))
    y = (X[:, 0] * X[:, 2] > 0).astype(np.int64)
    problem = RegionProblem(X, y, 2, Weights.of(random.randint(1, 3, n).astype(float)))
    rows = np.arange(0, n, 2)
    subsets = list_projections(np.arange(4), 2, "all", random)
    base = StumpBase(problem)
    scan = scan_projections(base, rows, subsets, [0.25, 0.5], lambda: False)
    units = problem.units[rows]
    for size, subset in enumerate(subsets):
        bins = max(2, int((units.sum() / 30) ** (1 / (size + 1))))
        for i, features in enumerate(subset.tolist()):
            correct = base.fit(rows, tuple(features)).answers == y[rows]
            assert scan.error[size][i] == units[~correct].sum() / units.sum()
            P = project(X, features, rows)
            repeated = np.sort(np.repeat(P, units, axis=0), axis=0)
            edges = repeated[[k * units.sum() // bins for k in range(1, bins)]]
            cells = (P[:, None, :] >= edges[None]).sum(axis=1)
            for e, max_error in enumerate((0.25, 0.5)):
                potential = 0
                for cell in np.unique(cells, axis=0):
                    in_cell = (cells == cell).all(axis=1)
                    gain = max_error * units[in_cell & correct].sum()
                    loss = (1 - max_error) * units[in_cell & ~correct].sum()
                    potential += max(0, gain - loss)
                assert np.isclose(scan.potential[size][e, i], potential / max_error / units.sum())
    by_error = next(scan.ranked(0.0, "error"))
    assert scan.error[len(by_error) - 1].min() == min(e.min() for e in scan.error)
    assert next(scan.ranked(0.0, "coverage", 0)) == (0, 2)
    assert len(next(scan.ranked(10.0, "coverage", 0))) == 1
    rankings = {name: list(scan.ranked(0.0, name)) for name in ("coverage", "error", "both")}
    assert rankings["both"][:2] == [rankings["coverage"][0], rankings["error"][0]]
    assert all(sorted(found) == sorted(rankings["error"]) for found in rankings.values())
    assert len(rankings["both"]) == 10


def test_scan_can_be_stopped():
    problem = RegionProblem(np.eye(4), np.arange(4) % 2, 2, Weights.of(np.ones(4)))
    subsets = list_projections(np.arange(4), 2, "all", np.random.RandomState(0))
    assert scan_projections(StumpBase(problem), np.arange(4), subsets, [0.1], lambda: True) is None
