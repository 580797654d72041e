"""ExplainableKMeans: at most the cost of the methods it combines, within limits, repeatable."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_blobs
from sklearn.preprocessing import StandardScaler

from _support.extended import EXTENDED
from pellucid import IMM, ExGreedy, ExKMC, ExplainableKMeans, ExShallow
from pellucid._core.refine import portfolio
from pellucid._core.refine.polish import polish_tree
from pellucid._core.refine.tuning import EFFORTS
from pellucid.explanation.rules import path_conditions, simplify
from pellucid.metrics import weighted_average_explanation_size

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def blobs():
    X, _ = make_blobs(150, 4, centers=6, cluster_std=3.0, random_state=3)
    return X.round(2)


@pytest.fixture(scope="module")
def centers(blobs):
    return IMM(6, random_state=0).fit(blobs).reference_centers_


@pytest.fixture(scope="module")
def few():
    """Few rows, and centers."""
    X = make_blobs(60, 2, centers=5, cluster_std=3.0, random_state=0)[0].round(2)
    return X, IMM(5, random_state=0).fit(X).reference_centers_


@pytest.fixture(scope="module")
def four(few):
    """The same rows, whose cheapest tree for these centers is deeper than two levels."""
    return few[0], IMM(4, random_state=0).fit(few[0]).reference_centers_


@pytest.fixture(scope="module")
def balanced(blobs, centers):
    """The cheapest tree of the default effort."""
    return ExplainableKMeans(reference=centers, faithfulness=0).fit(blobs)


def test_the_fast_effort_costs_at_most_polished_exshallow(blobs, centers):
    model = ExplainableKMeans(reference=centers, effort="fast", faithfulness=0).fit(blobs)
    part = ExShallow(reference=centers, polish=True).fit(blobs)
    assert model.inertia_ <= part.inertia_ * (1 + 1e-12)
    assert model.n_leaves_ <= 6


def test_the_cost_is_at_most_that_of_each_method(blobs, centers, balanced):
    for kind in (IMM, ExGreedy, ExShallow):
        for polish in (False, True):
            part = kind(reference=centers, polish=polish).fit(blobs)
            assert balanced.inertia_ <= part.inertia_ * (1 + 1e-12)


def test_the_best_effort_is_never_costlier(few):
    """It includes the search of the default effort."""
    X, centers = few
    balanced, best = (
        ExplainableKMeans(reference=centers, effort=effort, faithfulness=0).fit(X)
        for effort in ("balanced", "best")
    )
    assert best.inertia_ <= balanced.inertia_
    assert best.n_trees_tried_ > balanced.n_trees_tried_


def test_more_leaves_do_not_raise_the_cost(blobs, centers, balanced):
    many = ExplainableKMeans(reference=centers, n_leaves=12, faithfulness=0).fit(blobs)
    assert many.inertia_ < balanced.inertia_
    assert 6 <= many.n_leaves_ <= 12
    assert set(many.labels_) == set(range(6))
    expanded = ExKMC(reference=centers, n_leaves=12).fit(blobs)
    assert many.inertia_ <= expanded.inertia_ * (1 + 1e-12)


def test_trees_of_few_rows_are_the_best_of_two_searches():
    X = np.round(make_blobs(60, 2, centers=5, cluster_std=3, random_state=0)[0], 2)
    cheap, faithful = (
        ExplainableKMeans(5, n_leaves=8, faithfulness=f, random_state=0).fit(X) for f in (0, 0.3)
    )
    assert cheap.inertia_ <= faithful.inertia_ * (1 + 1e-12)


def test_max_depth_is_respected_and_few_of_the_start_trees_are_polished(four, monkeypatch):
    X, centers = four
    cheapest = ExplainableKMeans(reference=centers, faithfulness=0).fit(X)
    assert cheapest.tree_.max_depth > 2
    polished = []

    def polish(tree, *args, **kwargs):
        polished.append(tree)
        return polish_tree(tree, *args, **kwargs)

    monkeypatch.setattr(portfolio, "polish_tree", polish)
    n_trees = EFFORTS["balanced"].n_polished + 1  # and the one of the local search
    for depth in (2, 3) if EXTENDED else (2,):
        polished.clear()
        model = ExplainableKMeans(reference=centers, max_depth=depth).fit(X)
        # Again without rounds if a tree gets too deep, and the same for another faithfulness.
        assert 0 < len(polished) <= 2 * (2 * n_trees + 1)
        assert model.tree_.max_depth <= depth
        assert model.inertia_ >= cheapest.inertia_ * (1 - 1e-12)


@pytest.mark.parametrize(("n_clusters", "depth"), [(4, 2), (8, 3), (16, 4)])
def test_a_tree_of_the_least_depth_is_found(n_clusters, depth):
    """With the default effort, two tests of limits of the depth find such trees."""
    X = make_blobs(240, 5, centers=12, cluster_std=4.0, random_state=1)[0]
    for effort in ("fast", "balanced") if EXTENDED else ("fast",):
        model = ExplainableKMeans(n_clusters, max_depth=depth, effort=effort, random_state=0).fit(X)
        assert (model.tree_.n_leaves, model.tree_.max_depth) == (n_clusters, depth)


def test_more_leaves_are_used_within_a_limit_of_the_depth():
    X = make_blobs(240, 5, centers=12, cluster_std=4.0, random_state=1)[0]
    options = {"max_depth": 4, "effort": "balanced" if EXTENDED else "fast", "random_state": 0}
    few, many = (ExplainableKMeans(8, n_leaves=n, **options).fit(X) for n in (8, 16))
    assert many.tree_.n_leaves > 8
    assert many.tree_.max_depth <= 4
    assert many.inertia_ < few.inertia_


def test_max_conditions_is_respected(few):
    X, centers = few
    effort = "balanced" if EXTENDED else "fast"
    lengths = [
        max(len(simplify(path_conditions(tree, leaf))) for leaf in tree.leaves.tolist())
        for tree in (
            ExplainableKMeans(reference=centers, n_leaves=8, effort=effort, **limit).fit(X).tree_
            for limit in ({}, {"max_conditions": 3})
        )
    ]
    assert lengths[0] > 3 >= lengths[1]


@pytest.mark.slow
def test_a_limit_of_the_depth_loses_nothing_that_one_of_the_conditions_finds():
    X = StandardScaler().fit_transform(load_breast_cancer().data)
    options = {"effort": "balanced" if EXTENDED else "fast", "random_state": 0}
    found = [
        ExplainableKMeans(4, faithfulness=0.3, **options, **limit).fit(X)
        for limit in ({"max_depth": 2}, {"max_conditions": 2})
    ]
    assert [(model.tree_.n_leaves, model.tree_.max_depth) for model in found] == [(4, 2)] * 2
    assert found[0].inertia_ == pytest.approx(found[1].inertia_, rel=1e-12)


def test_limits_that_no_tree_meets_raise_an_error(blobs, centers):
    with pytest.raises(ValueError, match=r"max_depth=2 is too small: .* 6 clusters .* at least 3"):
        ExplainableKMeans(reference=centers, max_depth=2).fit(blobs)
    with pytest.raises(
        ValueError, match="no tree for 6 clusters was found within max_conditions=1"
    ):
        ExplainableKMeans(reference=centers, max_conditions=1, effort="fast").fit(blobs)
    with pytest.raises(ValueError, match="n_leaves=5 is less than the 6 clusters"):
        ExplainableKMeans(reference=centers, n_leaves=5).fit(blobs)


def test_a_depth_penalty_makes_explanations_shorter(blobs, centers, balanced):
    short = ExplainableKMeans(reference=centers, depth_penalty=10.0).fit(blobs)
    size = weighted_average_explanation_size
    assert size(short.tree_) <= size(balanced.tree_)


def test_more_references_do_not_raise_the_cost_and_keep_cluster_names(few):
    one, three = (ExplainableKMeans(3, n_references=n, random_state=0).fit(few[0]) for n in (1, 3))
    assert three.inertia_ <= one.inertia_ * (1 + 1e-12)
    assert np.array_equal(one.reference_labels_, three.reference_labels_)
    assert (three.labels_ == three.reference_labels_).mean() > 0.5
    assert three.n_trees_tried_ == 3 * one.n_trees_tried_


def test_labels_of_the_reference_are_kept():
    iris = load_iris()
    names = np.array(["setosa", "versicolor", "virginica"])[iris.target]
    model = ExplainableKMeans().fit(iris.data, names)
    assert (model.predict(iris.data) == names).mean() > 0.8


def test_storage_and_threads_do_not_change_the_tree(four):
    X, centers = four
    X = np.where(np.abs(X) < 2, 0.0, X)
    models = [
        ExplainableKMeans(reference=centers, n_jobs=n_jobs).fit(form(X))
        for n_jobs, form in ((1, np.asarray), (1, sparse.csr_array), (2, np.asfortranarray))
    ]
    assert all(model.tree_ == models[0].tree_ for model in models)
    assert len({model.inertia_ for model in models if model.n_jobs == 1}) <= 2


@pytest.mark.filterwarnings("ignore:less than half")
def test_costs_are_exact_with_very_large_integer_weights():
    X = np.array([[0, 1], [-1, 0], [2, -1], [0, -1], [-2, 95]])
    weight = [394585363836971, 31108945684702, 335175907703506, 266036544172775, 227627169318773]
    labels = [0, 1, 2, 1, 2]
    greedy = ExGreedy(random_state=0).fit(X, labels, sample_weight=weight)
    model = ExplainableKMeans(
        max_conditions=3, faithfulness=0, reference=greedy.reference_centers_, random_state=0
    )
    model.fit(X, sample_weight=weight)
    assert model.inertia_ <= greedy.inertia_


def objective(model, X, faithfulness):
    """What ExplainableKMeans minimises, computed for any model of the same reference."""
    return model.inertia_ / model.reference_inertia_ + faithfulness * np.mean(
        model.labels_ != model.reference_labels_
    )


@pytest.mark.parametrize("n_leaves", [4, 6])
def test_agreement_is_part_of_the_objective(few, four, n_leaves):
    X, centers = four if n_leaves == 4 else few
    cheapest = ExplainableKMeans(reference=centers, n_leaves=n_leaves, faithfulness=0).fit(X)
    others = [kind(reference=centers).fit(X) for kind in (IMM, ExGreedy, ExShallow)]
    for faithfulness in (0.3, 2, 30) if EXTENDED else (0.3, 30):
        faithful = ExplainableKMeans(
            reference=centers, n_leaves=n_leaves, faithfulness=faithfulness
        ).fit(X)
        found = objective(faithful, X, faithfulness)
        for other in others if n_leaves == 6 else [cheapest, *others]:
            # Relative costs are those of the means: they differ a little from the search's.
            assert found <= objective(other, X, faithfulness) * (1 + 1e-6)
        assert faithful.mistakes_ <= cheapest.mistakes_
        assert faithful.inertia_ >= cheapest.inertia_ * (1 - 1e-3)


def test_a_high_faithfulness_keeps_every_row_that_a_tree_can_keep():
    """Two clusters overlap in the column that separates their means at the lowest cost."""
    X = np.array([[0.0, 0.0], [1, 0], [9, 0], [8, 5], [9, 5], [1, 5], [9, 5], [8, 0]])
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 0])
    centers = np.array([X[labels == c].mean(axis=0) for c in (0, 1)])
    # The nearest centers are these labels, since the second column is far more important.
    scaled = X * [1, 10]
    model = ExplainableKMeans(reference=centers * [1, 10], faithfulness=100).fit(scaled)
    assert model.mistakes_ == 0


@pytest.mark.parametrize("faithfulness", [-1, np.inf, np.nan, "high"])
def test_a_faithfulness_that_is_no_share_is_refused(faithfulness):
    with pytest.raises(ValueError, match="faithfulness"):
        ExplainableKMeans(2, faithfulness=faithfulness).fit([[0.0], [1], [2]])


def test_weights_count_in_the_agreement(few):
    X, centers = few
    weight = np.random.default_rng(0).integers(1, 4, size=len(X))
    weighted = ExplainableKMeans(reference=centers).fit(X, sample_weight=weight)
    repeated = ExplainableKMeans(reference=centers).fit(np.repeat(X, weight, axis=0))
    for name in ("feature", "threshold", "cluster", "weighted_n_node_samples"):
        np.testing.assert_array_equal(getattr(weighted.tree_, name), getattr(repeated.tree_, name))
    assert weighted.mistakes_ == repeated.mistakes_


@pytest.mark.parametrize("store", [np.asarray, sparse.csc_array])
def test_mistakes_cost_as_much_with_far_centers(store):
    X = 2.0**53 + 2 * np.random.default_rng(0).integers(0, 50, (15, 3))
    centers = X[0] * np.array([[0.8], [1.1]])
    model = ExplainableKMeans(reference=centers, effort="fast", faithfulness=5).fit(store(X))
    assert model.mistakes_ == 0


NEIGHBOURING_FLOATS = """
    2130 2321 1030 2113 3330 0202 1033 3000 2100 1213 3033 0300
    0321 0202 0223 1002 1301 1122 1111 1300 1113 2032 1310 0031
    2322 0002 2201 2020 2310 2022
"""
"""Rows of four columns, in steps of the last bit below -3."""


def test_cuts_that_are_equally_good_do_not_depend_on_the_order_of_the_rows():
    steps = np.array([list(map(int, row)) for row in NEIGHBOURING_FLOATS.split()])
    X = -3 - steps * 2.0**-51
    centers = (
        -3
        - np.array([[3, 3, 3, 0], [2, 0, 2, 0], [2, 1, 3, 0], [1, 1, 1, 3], [2, 3, 1, 0]])
        * 2.0**-51
    )
    model = ExplainableKMeans(reference=centers, faithfulness=0.0)
    trees = {
        str(clone(model).fit(np.random.default_rng(i).permutation(X)).explain()) for i in range(4)
    }
    assert len(trees) == 1


def test_the_unit_of_sums_does_not_depend_on_the_order_of_the_rows():
    X = np.array([[0.1, 0.0], [-0.1, 0.0], [0.1, 0.3], [0.6, 0.7]])
    model = ExplainableKMeans(reference=[[0.1, 0.3], [0.35, 0.2], [-0.15, -0.2]])
    orders = map(list, list(itertools.permutations(range(4)))[:: 1 if EXTENDED else 4])
    assert len({str(clone(model).fit(X[order]).explain()) for order in orders}) == 1
