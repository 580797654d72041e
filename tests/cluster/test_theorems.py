"""What the papers prove, as properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, make_blobs

from _support.extended import examples
from _support.fitting import fit
from _support.strategies import tiny_data
from pellucid import EMN, IMM, ExGreedy, ExKMC, ExShallow, RandomThresholds, SpEx
from pellucid.metrics import (
    surrogate_cost,
    weighted_average_depth,
    weighted_average_explanation_size,
)

METHODS = [
    IMM(),
    ExGreedy(),
    ExShallow(),
    ExKMC(),
    ExKMC(base=None),
    RandomThresholds(random_state=0),
    SpEx(n_leaves=7),
    EMN(),
]


@given(tiny_data())
@settings(max_examples=examples(100), deadline=None)
def test_imm_has_one_leaf_for_each_distinct_center(data):
    model = fit(IMM(), data)
    distinct = np.unique(data.centers, axis=0)
    assert model.n_leaves_ == len(distinct)
    assert len(set(model.tree_.apply(distinct).tolist())) == len(distinct)
    own = model.tree_.predict(data.centers)
    assert np.array_equal(data.centers[own], data.centers)


@given(tiny_data(), st.integers(5, 12))
@settings(max_examples=examples(100), deadline=None)
def test_exkmc_surrogate_cost_never_rises(data, n_leaves):
    for base in ("imm", None):
        costs = fit(ExKMC(base=base, n_leaves=n_leaves), data).surrogate_costs_
        assert (np.diff(costs) <= 0).all()


@given(tiny_data())
@settings(max_examples=examples(100), deadline=None)
def test_a_tree_that_refines_the_reference_reproduces_it(data):
    """With leaves enough, growth goes on until no leaf mixes rows of two reference clusters."""
    model = fit(ExKMC(base=None, n_leaves=1000), data)
    cost = surrogate_cost(
        data.X, model.tree_.predict(data.X), data.centers, sample_weight=data.weight
    )
    best = surrogate_cost(data.X, data.labels, data.centers, sample_weight=data.weight)
    assert cost == best


@pytest.mark.parametrize("model", METHODS, ids=repr)
@given(tiny_data())
@settings(max_examples=examples(50), deadline=None)
def test_surrogate_cost_bounds_the_true_cost_and_rules_are_no_longer_than_paths(model, data):
    fitted = fit(model, data)
    surrogate = surrogate_cost(
        data.X, fitted.tree_.predict(data.X), data.centers, sample_weight=data.weight
    )
    assert fitted.inertia_ <= surrogate * (1 + 1e-12)
    size = weighted_average_explanation_size(fitted.tree_)
    assert size <= weighted_average_depth(fitted.tree_) + 1e-12


def test_the_cost_curve_is_that_of_the_staged_trees():
    X, _ = make_blobs(300, 4, centers=6, cluster_std=3, random_state=0)
    model = ExKMC(6, n_leaves=15, random_state=0).fit(X)
    trees = list(model.staged_trees())
    assert [tree.n_leaves for tree in trees] == list(range(6, 16))
    assert trees[-1] == model.tree_
    costs = [surrogate_cost(X, tree.predict(X), model.reference_centers_) for tree in trees]
    np.testing.assert_allclose(model.surrogate_costs_, costs, rtol=1e-12)
    for small, large in zip(trees, trees[1:]):
        inside = {(f, t) for f, t in zip(small.feature, small.threshold) if f >= 0}
        assert inside <= {(f, t) for f, t in zip(large.feature, large.threshold) if f >= 0}


def test_cuts_that_gain_nothing_do_not_end_the_tree():
    X = load_breast_cancer().data
    model = ExKMC(6, n_leaves=30, random_state=0).fit(X)
    costs = model.surrogate_costs_
    assert model.n_leaves_ == 5 + len(costs) < 30
    assert costs[-1] < costs[-2]


def test_the_base_of_exkmc_can_be_any_tree():
    X, centers = load_digits().data, load_digits().data[:10]
    shallow = ExShallow(reference=centers).fit(X)
    from_class = ExKMC(reference=centers, base=ExShallow()).fit(X)
    from_fitted = ExKMC(reference=centers, base=shallow).fit(X)
    from_tree = ExKMC(reference=centers, base=shallow.tree_).fit(X)
    assert from_class.tree_ == from_fitted.tree_ == from_tree.tree_
    assert from_tree.n_leaves_ == 20
    first = next(from_tree.staged_trees())
    np.testing.assert_array_equal(first.feature, shallow.tree_.feature)
    with pytest.raises(ValueError, match="n_leaves=5 is less than the 10 leaves"):
        ExKMC(reference=centers, base=shallow, n_leaves=5).fit(X)


@pytest.mark.parametrize("threshold_style", ["round", "midpoint", "data"])
def test_the_name_imm_and_an_imm_estimator_are_the_same_base(threshold_style):
    X, centers = load_digits().data, load_digits().data[:10]
    style = {"threshold_style": threshold_style}
    by_name = ExKMC(reference=centers, **style).fit(X)
    by_estimator = ExKMC(reference=centers, base=IMM(**style), **style).fit(X)
    assert by_name.tree_ == by_estimator.tree_
    np.testing.assert_array_equal(by_name.surrogate_costs_, by_estimator.surrogate_costs_)
    base = next(by_name.staged_trees())
    imm = IMM(reference=centers, **style).fit(X).tree_
    np.testing.assert_array_equal(base.threshold, imm.threshold)


def test_depth_penalty_makes_trees_shallow():
    X, centers = load_digits().data, load_digits().data[:10]
    depth = [
        weighted_average_depth(ExShallow(reference=centers, depth_penalty=p).fit(X).tree_)
        for p in (0.0, 0.03, 1.0)
    ]
    assert depth[0] > depth[1] >= depth[2]


def _induced_cost(X, centers, feature, threshold):
    """Cost of the rows on each side of a cut at the closest center of this side."""
    cost = 0.0
    for side, of in (
        (X[:, feature] <= threshold, centers[:, feature] <= threshold),
        (X[:, feature] > threshold, centers[:, feature] > threshold),
    ):
        squares = ((X[side, None] - centers[of]) ** 2).sum(axis=2)
        cost += squares.min(axis=1).sum()
    return cost


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.filterwarnings("ignore::pellucid._utils.notices.ImpureRuleWarning")
def test_the_price_of_the_best_cut_is_at_most_that_of_lemma_1(seed):
    random = np.random.default_rng(seed)
    k, d = int(random.integers(2, 8)), int(random.integers(1, 6))
    if seed % 2:  # codewords, the instance of the lower bound
        centers = random.integers(0, 2, (k, 20)) * 1.0
        X = np.repeat(centers, 20, axis=0)
        X[np.arange(len(X)), np.tile(np.arange(20), k)] = 0.5
    else:
        X, centers = random.normal(size=(60, d)), random.normal(scale=2, size=(k, d))
    centers = np.unique(centers, axis=0)
    k = len(centers)
    if k < 2:
        return
    root = ExGreedy(reference=centers).fit(X).tree_
    current = ((X[:, None] - centers) ** 2).sum(axis=2).min(axis=1).sum()
    price = _induced_cost(X, centers, root.feature[0], root.threshold[0]) / current
    assert 1 - 1e-9 <= price <= 4 * k + 1
    for feature in range(X.shape[1]):
        for threshold in np.unique(X[:, feature]):
            n_left = (centers[:, feature] <= threshold).sum()
            n_rows = (X[:, feature] <= threshold).sum()
            # A side has at least as many rows as centers.
            if 0 < n_left < k and n_left <= n_rows <= len(X) - (k - n_left):
                other = _induced_cost(X, centers, feature, threshold) / current
                assert price <= other * (1 + 1e-9)
