"""The cost in another space: its splits are those of brute force, on any storage of the rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeRegressor

from _support.problems import problem_of
from pellucid._core.criteria.space_cost import SpaceCost
from pellucid._core.criteria.sums import SumCriterion
from pellucid._core.growers.best_first import grow_best_first
from pellucid._utils.progress import Progress

WEIGHTS = {
    "ones": lambda random, n: np.ones(n),
    "copies": lambda random, n: random.integers(1, 4, n).astype(float),
    "any": lambda random, n: random.uniform(0.1, 2, n),
}


def sum_of_squares(Z, weight):
    """Sum of weighted squares about the mean, row by row."""
    mean = np.average(Z, axis=0, weights=weight)
    return float((weight * ((Z - mean) ** 2).sum(axis=1)).sum())


def least_cost(X, Z, weight):
    """Least sum of squares after any split."""
    return min(
        sum_of_squares(Z[left], weight[left]) + sum_of_squares(Z[~left], weight[~left])
        for column in X.T
        for threshold in np.unique(column)[:-1]
        for left in [column <= threshold]
    )


def data(seed, n=120, n_columns=3, width=4):
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(n, n_columns)), 1) * (random.random((n, n_columns)) < 0.7)
    Z = np.round(random.normal(size=(n, width)) + 3 * (X[:, :1] * X[:, 1:2] > 0), 2)
    return random, X, Z


def criterion_of(X, Z, weight):
    labels = np.abs(100 * Z[:, 0]).astype(int) % 3
    centers = np.zeros((3, X.shape[1]))
    problem = problem_of(X, centers, labels, weight, space=Z)
    return SumCriterion(problem, SpaceCost(problem))


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array])
def test_the_best_split_is_that_of_brute_force(seed, kind, form):
    random, X, Z = data(seed)
    weight = WEIGHTS[kind](random, len(X))
    criterion = criterion_of(form(X), Z, weight)
    node = criterion.root()
    split = criterion.best_split(node)
    left = X[:, split.feature] <= split.threshold
    found = sum_of_squares(Z[left], weight[left]) + sum_of_squares(Z[~left], weight[~left])
    assert found == pytest.approx(least_cost(X, Z, weight), rel=1e-9)
    whole = sum_of_squares(Z, weight)
    assert split.gain / criterion.cost(node) == pytest.approx(1 - found / whole, rel=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_every_bin_is_searched_that_may_hold_a_better_split(seed):
    """More values than bins: thresholds inside bins are found by their bounds."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(900, 2))
    Z = random.normal(size=(900, 3)) + 2 * (X[:, :1] > random.normal())
    weight = np.ones(900)
    split = criterion_of(X, Z, weight).best_split(criterion_of(X, Z, weight).root())
    left = X[:, split.feature] <= split.threshold
    found = sum_of_squares(Z[left], weight[left]) + sum_of_squares(Z[~left], weight[~left])
    assert found == pytest.approx(least_cost(X, Z, weight), rel=1e-9)


def grown(X, Z, weight, n_leaves=6):
    silent = Progress("", 1, 0)
    return grow_best_first(criterion_of(X, Z, weight), "midpoint", silent, n_leaves).builder.build()


def test_growth_is_that_of_a_regression_tree():
    """Best-first growth by the cost in the space is scikit-learn's multi-output regression tree."""
    random = np.random.default_rng(3)
    X, weight = random.normal(size=(200, 4)), np.ones(200)
    Z = random.normal(size=(200, 3)) + X[:, :3] ** 2
    tree = grown(X, Z, weight)
    regression = DecisionTreeRegressor(max_leaf_nodes=6, random_state=0).fit(X, Z)
    pairs = set(zip(tree.apply(X).tolist(), regression.apply(X).tolist()))
    assert len(pairs) == tree.n_leaves == 6


def test_the_tree_depends_on_no_order_and_no_storage():
    random, X, Z = data(5)
    weight = random.integers(1, 4, len(X)).astype(float)
    expected, order = grown(X, Z, weight), random.permutation(len(X))
    assert grown(X[order], Z[order], weight[order]) == expected
    assert grown(sparse.csc_array(X), np.asfortranarray(Z), weight) == expected
    times = weight.astype(int)
    copies = grown(np.repeat(X, times, axis=0), np.repeat(Z, times, axis=0), np.ones(times.sum()))
    for name in ("feature", "threshold", "cluster"):
        np.testing.assert_array_equal(getattr(copies, name), getattr(expected, name))
