"""Random thresholds: the distribution of the trees and their costs."""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs

import _support.random_cuts_oracle as oracle
from _support.extended import EXTENDED, examples, seeds
from _support.fitting import fit
from _support.strategies import tiny_data
from pellucid import ExKMC, RandomThresholds
from pellucid._core.criteria.random_cuts import draw_cuts
from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset
from pellucid.cluster._random_thresholds import cost_changes
from pellucid.datasets import make_synthetic_2
from pellucid.metrics import kmeans_cost

pytestmark = pytest.mark.slow

METHODS = ["makarychev-shan", "gamlath"]
each_method = pytest.mark.parametrize("method", METHODS)

CENTERS = np.array([[0.0, 0.0], [4.0, 0.3], [4.3, 0.5], [6.0, 3.0], [1.0, 3.2]])
"""For k-means, the second and the third are so close that the first cut may not separate them."""


def leaf_centers(trees, draw, centers):
    """Sets of centers of all inner nodes and of all leaves of one tree."""
    inner, leaves, stack = [], [], [(0, frozenset(range(len(centers))))]
    while stack:
        node, here = stack.pop()
        if trees.left[draw, node] < 0:
            leaves.append(here)
            continue
        inner.append(here)
        feature, at = trees.feature[draw, node], trees.threshold[draw, node]
        left = frozenset(c for c in here if centers[c, feature] <= at)
        stack += [(trees.left[draw, node], left), (trees.right[draw, node], here - left)]
    return frozenset(inner), leaves


def route(trees, draw, X):
    """Cluster of each row, row by row."""
    labels = []
    for x in X:
        node = 0
        while trees.left[draw, node] >= 0:
            goes_left = x[trees.feature[draw, node]] <= trees.threshold[draw, node]
            node = (trees.left if goes_left else trees.right)[draw, node]
        labels.append(trees.cluster[draw, node])
    return np.array(labels)


def chi_square_per_degree(ours, theirs):
    """About 1 for two samples of the same distribution."""
    keys = [key for key in {*ours, *theirs} if ours[key] + theirs[key] >= 10]
    n, m = ours.total(), theirs.total()
    terms = [
        (ours[key] * np.sqrt(m / n) - theirs[key] * np.sqrt(n / m)) ** 2 / (ours[key] + theirs[key])
        for key in keys
    ]
    return sum(terms) / (len(keys) - 1), len(keys)


N_DRAWN = 1000 if EXTENDED else 400


@cache
def drawn_by_rejection(method, objective):
    """Trees of the oracle."""
    return oracle.draw_trees(CENTERS, N_DRAWN, method, objective, np.random.default_rng(1))


@pytest.mark.parametrize(
    ("objective", "method"),
    [("kmeans", "makarychev-shan"), ("kmeans", "gamlath"), ("kmedians", "gamlath")]
    + [("kmedians", "makarychev-shan")] * EXTENDED,
)
def test_trees_have_the_distribution_of_rejection_sampling(method, objective):
    n = N_DRAWN
    drawn = drawn_by_rejection(method, objective)
    trees = draw_cuts(CENTERS, 4 * n, 0, method=method, objective=objective)
    firsts = zip(trees.feature[:, 0], trees.threshold[:, 0])
    ours = Counter((f, np.floor(4 * at)) for f, at in firsts)
    theirs = Counter((f, np.floor(4 * at)) for (f, at), _ in drawn)
    value, n_kinds = chi_square_per_degree(ours, theirs)
    assert n_kinds > 12
    assert value < 1.8
    shapes = Counter(leaf_centers(trees, draw, CENTERS)[0] for draw in range(4 * n))
    value, n_kinds = chi_square_per_degree(shapes, Counter(shape for _, shape in drawn))
    assert n_kinds > 8
    assert value < 1.8


def test_the_test_of_distributions_distinguishes_the_two_objectives():
    drawn = drawn_by_rejection("gamlath", "kmedians")
    trees = draw_cuts(CENTERS, 4 * N_DRAWN, 0, method="gamlath", objective="kmeans")
    ours = Counter(
        (f, np.floor(4 * at)) for f, at in zip(trees.feature[:, 0], trees.threshold[:, 0])
    )
    theirs = Counter((f, np.floor(4 * at)) for (f, at), _ in drawn)
    assert chi_square_per_degree(ours, theirs)[0] > 5


def test_only_makarychev_and_shan_keep_close_centers_together():
    centers = np.array([[0.0, 0.0], [0.65, 0.35], [5.0, 1.0], [9.0, 3.0]])
    assert oracle.between(centers, 0, 1, "kmeans") < oracle.between(centers, 0, 3, "kmeans") / 64
    parted = {}
    for method in METHODS:
        trees = draw_cuts(centers, 1000, 0, method=method)
        cut = zip(trees.feature[:, 0], trees.threshold[:, 0])
        parted[method] = sum(oracle.separates(centers, {0, 1}, f, at) for f, at in cut)
    assert parted["makarychev-shan"] == 0 < parted["gamlath"]


@given(tiny_data(), st.sampled_from(METHODS), st.sampled_from(["kmeans", "kmedians"]))
@settings(max_examples=examples(60), deadline=None)
def test_every_center_is_alone_in_its_leaf(data, method, objective):
    trees = draw_cuts(data.centers, 3, 0, method=method, objective=objective)
    for draw in range(3):
        for leaf in leaf_centers(trees, draw, data.centers)[1]:
            assert len(np.unique(data.centers[list(leaf)], axis=0)) == 1
    model = fit(RandomThresholds(method=method, n_draws=2, random_state=0), data)
    distinct = np.unique(data.centers, axis=0)
    assert model.n_leaves_ == len(distinct)
    assert len(set(model.tree_.apply(distinct).tolist())) == len(distinct)
    own = model.tree_.predict(data.centers)
    assert np.array_equal(data.centers[own], data.centers)


def test_gaps_whose_square_underflows_are_drawn_when_no_other_is_left():
    centers = np.array([[0.0], [1e-200], [1.0]])
    for method in METHODS:
        trees = draw_cuts(centers, 5, 0, method=method)
        assert all(len(leaf_centers(trees, draw, centers)[1]) == 3 for draw in range(5))


@given(tiny_data(), st.booleans())
@settings(max_examples=examples(60), deadline=None)
def test_costs_are_those_of_the_clusters_of_each_tree(data, fractional):
    weight = data.weight * (0.3 if fractional else 1.0)
    first = first_equal_center(data.centers)
    labels = first[data.labels].astype(np.uint8)
    trees = draw_cuts(data.centers, 4, 0)
    reference = kmeans_cost(data.X, labels, sample_weight=weight)
    groupings = [route(trees, t, data.X) for t in range(4)]
    changes = [
        cost_changes(Dataset(X, Weights.of(weight)), data.centers, labels, groupings)[0]
        for X in (data.X, sparse.csc_array(data.X), np.asfortranarray(data.X, dtype=np.float32))
    ]
    costs = [kmeans_cost(data.X, groups, sample_weight=weight) for groups in groupings]
    np.testing.assert_allclose(reference + changes[0], costs, rtol=1e-9, atol=1e-9)
    for other in changes[1:]:
        np.testing.assert_allclose(other, changes[0], rtol=1e-9, atol=1e-9)


def first_equal_center(centers):
    return np.array([np.flatnonzero((centers == center).all(axis=1))[0] for center in centers])


@pytest.mark.parametrize("as_sparse", [False, True])
def test_threads_and_repeated_rows_do_not_matter(as_sparse):
    X, _ = make_blobs(900, 6, centers=7, cluster_std=4, random_state=0)
    X = np.where(np.abs(X) < 2, 0.0, X)
    weight = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    copies = np.repeat(X, weight.astype(int), axis=0)
    centers = X[:7]

    def changes(rows, weight=None, **parameters):
        data = sparse.csr_array(rows) if as_sparse else rows
        model = RandomThresholds(reference=centers, n_draws=25, random_state=0, **parameters)
        model.fit(data, sample_weight=weight)
        return model.draw_costs_ - model.reference_inertia_, model.tree_.threshold

    costs, thresholds = changes(X, weight, n_jobs=1)
    for again, same in (changes(X, weight, n_jobs=3), changes(copies, n_jobs=2)):
        np.testing.assert_allclose(again, costs, rtol=1e-12)
        np.testing.assert_array_equal(same, thresholds)


@each_method
def test_more_draws_never_cost_more(method):
    X, _ = make_blobs(500, 5, centers=8, cluster_std=4, random_state=0)
    models = [
        RandomThresholds(8, method=method, n_draws=n, random_state=3).fit(X) for n in (1, 2, 7, 40)
    ]
    inertia = [model.inertia_ for model in models]
    assert inertia == sorted(inertia, reverse=True)
    assert inertia[-1] < inertia[0]
    for model in models:
        assert model.draw_costs_.shape == (model.n_draws,)
        np.testing.assert_allclose(models[-1].draw_costs_[: model.n_draws], model.draw_costs_)
        assert model.inertia_ == pytest.approx(model.draw_costs_.min())
    other = RandomThresholds(8, method=method, n_draws=1, random_state=4).fit(X)
    assert other.tree_ != models[0].tree_


@each_method
def test_the_expected_cost_is_bounded_where_every_small_tree_is_costly(method):
    """The theorems leave their constants open; k ln k is far above the observed ratios."""
    X, y = make_synthetic_2(8, 60, random_state=0)
    model = RandomThresholds(method=method, n_draws=100, random_state=0).fit(X, y)
    ratio = model.draw_costs_ / model.reference_inertia_
    assert ratio.min() > 1.0
    assert ratio.mean() < 8 * np.log(8)


@pytest.mark.parametrize("seed", seeds(3))
def test_the_expected_cost_for_medians_is_within_its_factor(seed):
    """For cuts drawn by length the factor is known: 1 + 1/1 + ... + 1/(k - 1)."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(6, 3)).round(1)
    X = np.repeat(centers, 12, axis=0) + rng.laplace(scale=0.3, size=(72, 3))
    distance = np.abs(X[:, None] - centers[None]).sum(axis=2)
    trees = draw_cuts(centers, 400, seed, method="gamlath", objective="kmedians")
    costs = [distance[np.arange(72), route(trees, draw, X)].sum() for draw in range(400)]
    factor = 1 + sum(1 / i for i in range(1, 6))
    assert np.mean(costs) <= factor * distance.min(axis=1).sum()


def test_all_threshold_styles_split_the_rows_alike():
    X = load_iris().data
    models = [
        RandomThresholds(4, random_state=0, threshold_style=style).fit(X)
        for style in ("round", "midpoint", "data")
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.apply(X), models[0].apply(X))
        assert model.tree_ != models[0].tree_


def test_it_can_be_the_base_of_exkmc():
    X = load_iris().data
    base = RandomThresholds(n_draws=3, random_state=0)
    model = ExKMC(3, base=base, n_leaves=5, random_state=0).fit(X)
    assert model.n_leaves_ == 5


def test_invalid_parameters_raise():
    X = load_iris().data
    for wrong in ({"method": "uniform"}, {"n_draws": 0}, {"objective": "kmodes"}):
        with pytest.raises(ValueError, match="parameter of RandomThresholds must be"):
            RandomThresholds(3, **wrong).fit(X)


def test_values_too_wide_to_square_raise():
    model = RandomThresholds(reference=[[0.0, 0.0], [1.0, 1.0]])
    with pytest.raises(ValueError, match="1e\\+200 in column 1"):
        model.fit([[0.0, -1e200], [1.0, 1e200]])


def test_kmedians_keeps_the_cheapest_draw_and_splits_all_centers():
    X = np.random.default_rng(4).normal(size=(120, 3)).round(1)
    model = RandomThresholds(5, objective="kmedians", n_draws=6, random_state=0).fit(X)
    medians = [np.median(X[model.labels_ == c], axis=0) for c in range(5)]
    cost = sum(np.abs(X[model.labels_ == c] - medians[c]).sum() for c in range(5))
    assert model.inertia_ == pytest.approx(cost)
    assert model.inertia_ == pytest.approx(model.draw_costs_.min())
    assert model.n_leaves_ == 5
    assert sorted(model.tree_.predict(model.reference_centers_)) == list(range(5))


def test_rounding_does_not_decide_between_draws_of_the_same_kmedians_cost():
    for seed in (18, 20, 32, 91, 104):
        random = np.random.default_rng(seed)
        shape = random.integers([6, 2], [40, 5])
        X, weights = random.integers(2, size=shape).astype(float), random.random(shape[0])
        rows = np.unique(X, axis=0)
        centers = rows[random.permutation(len(rows))[:3]]
        model = RandomThresholds(reference=centers, objective="kmedians", n_draws=6, random_state=0)
        # Costs of sparse rows are added up in another order.
        trees = [
            model.fit(form(X), sample_weight=weights).tree_
            for form in (np.asarray, sparse.csr_array)
        ]
        assert trees[0] == trees[1]
