"""What a problem computes depends on the values of the centers, not on the array objects."""

import numpy as np
import pytest
from scipy import sparse

from pellucid import IMM, ExKMC, ExShallow
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset
from pellucid._core.data.medians import MedianDataset

FORMS = {"dense": np.asarray, "sparse": sparse.csc_array}


@pytest.fixture(scope="module")
def clusters():
    """Rows near the corners of a long box, where the two bounds of the costs differ."""
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0, 0.0], [100.0, 0.0, 1.0], [0.0, 1000.0, 0.0]])
    labels = rng.integers(3, size=400)
    return centers[labels] + rng.normal(size=(400, 3)), centers, labels


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [Dataset, MedianDataset])
def test_copies_of_the_centers_change_nothing(clusters, form, kind):
    X, centers, labels = clusters
    data = kind(FORMS[form](X), Weights.equal(len(X)))
    data.nearest(centers)
    first = Problem(data, centers, labels, unit_from_labels=True)
    second = Problem(data, centers.copy(), labels.copy(), unit_from_labels=True)
    assert first.cost_unit == second.cost_unit
    np.testing.assert_array_equal(first.costs, second.costs)
    np.testing.assert_array_equal(first.bins.edges, second.bins.edges)
    np.testing.assert_array_equal(first.bins.codes, second.bins.codes)
    grouping = np.roll(labels, 1)
    for (means, cost), (same, same_cost) in zip(
        first.centers_and_costs(grouping), second.centers_and_costs(grouping)
    ):
        np.testing.assert_array_equal(means, same)
        assert cost == same_cost


@pytest.mark.parametrize("form", FORMS)
def test_the_unit_from_labels_is_smaller_and_costs_do_not_overflow(clusters, form):
    X, centers, labels = clusters
    data = Dataset(FORMS[form](X), Weights.equal(len(X)))
    by_labels = Problem(data, centers, labels, unit_from_labels=True)
    by_centers = Problem(data, centers, labels)
    assert by_labels.cost_unit < by_centers.cost_unit
    for problem in (by_labels, by_centers):
        expected = ((X[:, None] - centers) ** 2).sum(axis=2)
        error = np.abs(problem.costs * problem.cost_unit - expected)
        assert error.max() <= 3 * problem.cost_unit
        assert problem.costs.sum(axis=0).max() < 2**61


@pytest.mark.parametrize("kind", [Dataset, MedianDataset])
def test_own_cost_is_the_same_integer_in_any_storage_and_order(clusters, kind):
    X, centers, labels = clusters
    X, weight = X + 1e6, np.random.default_rng(1).random(len(X))
    grouping, order = np.roll(labels, 1), np.random.default_rng(2).permutation(len(X))

    def problem(form, rows):
        data = kind(FORMS[form](X[rows]), Weights.of(weight[rows]))
        return Problem(data, centers + 1e6, labels[rows], unit_from_labels=True)

    first = problem("dense", slice(None))
    found = first.own_cost(grouping)
    assert found * first.cost_unit == pytest.approx(first.centers_and_costs(grouping)[0][1])
    assert problem("sparse", slice(None)).own_cost(grouping) == found
    assert problem("dense", order).own_cost(grouping[order]) == found


@pytest.mark.parametrize("estimator", [IMM, ExKMC, ExShallow])
def test_trees_from_copies_of_the_centers_are_equal(clusters, estimator):
    X, centers, _ = clusters
    first = estimator(reference=centers).fit(X)
    second = estimator(reference=centers.copy()).fit(X.copy())
    assert first.tree_ == second.tree_
    assert first.inertia_ == second.inertia_
