"""ExShallowSearch meets its goals where any penalty does, and reports when none does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, make_blobs

from _support.extended import EXTENDED, examples
from _support.fitting import fit
from _support.strategies import tiny_data
from pellucid import IMM, ExGreedy, ExKMC, ExShallow, ExShallowSearch
from pellucid.baselines import CARTExplainer
from pellucid.metrics import weighted_average_explanation_size

GRID = np.concatenate([[0.0], np.geomspace(1e-3, 1.9, 25)])


def size(model):
    return weighted_average_explanation_size(model.tree_)


def ratio(model):
    if model.reference_inertia_ == 0:
        return 1.0 if model.inertia_ == 0 else np.inf
    return model.inertia_ / model.reference_inertia_


def blobs(seed=0, k=6):
    X, _ = make_blobs(200, 4, centers=k, cluster_std=4.0, random_state=seed)
    return X, KMeans(k, n_init=2, random_state=seed).fit(X).cluster_centers_


@pytest.fixture(scope="module", params=range(3 if EXTENDED else 1))
def grid_fits(request):
    """Data, centers, and cost ratio and WAES of the fits of a dense grid of penalties."""
    X, centers = blobs(request.param)
    fits = [ExShallow(reference=centers, depth_penalty=p).fit(X) for p in GRID]
    return X, centers, [(ratio(model), size(model)) for model in fits]


def search(grid_fits, **goals):
    X, centers, _ = grid_fits
    return ExShallowSearch(reference=centers, max_fits=1000, **goals).fit(X)


@pytest.mark.slow
@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("squeeze", [0.99, 1.0, 1.05])
def test_both_goals_are_met_where_brute_force_meets_them(grid_fits, place, squeeze):
    grid = sorted(set(grid_fits[2]))
    cost, waes = grid[int(place * (len(grid) - 1))]
    waes *= squeeze
    model = search(grid_fits, goal_cost=cost, goal_size=waes)
    if any(c <= cost and w <= waes for c, w in grid):
        assert model.reached_
    if model.reached_:
        assert ratio(model) <= cost * (1 + 1e-9)
        assert size(model) <= waes * (1 + 1e-9)
    else:
        assert ratio(model) <= cost * (1 + 1e-9)
        assert size(model) <= min(w for c, w in grid if c <= cost) + 1e-12


@pytest.mark.slow
def test_with_one_goal_the_other_quantity_is_optimised(grid_fits):
    grid = grid_fits[2]
    cost, waes = np.median([c for c, _ in grid]), np.median([w for _, w in grid])
    model = search(grid_fits, goal_cost=cost)
    assert model.reached_
    assert ratio(model) <= cost
    assert size(model) <= min(w for c, w in grid if c <= cost) + 1e-12
    model = search(grid_fits, goal_size=waes)
    assert model.reached_
    assert size(model) <= waes
    assert ratio(model) <= min(c for c, w in grid if w <= waes) + 1e-12


@pytest.mark.slow
def test_unreachable_goals_are_reported(grid_fits):
    grid = grid_fits[2]
    cheapest = search(grid_fits, goal_cost=0.5, goal_size=0.1)
    assert not cheapest.reached_
    assert ratio(cheapest) <= min(c for c, _ in grid) + 1e-12
    smallest = search(grid_fits, goal_size=0.1)
    assert not smallest.reached_
    assert size(smallest) <= min(w for _, w in grid) + 1e-12


@given(tiny_data(), st.sampled_from([1.0, 1.1, 1.5]), st.sampled_from([0.5, 1.0, 1.5, 2.0]))
@settings(max_examples=examples(40), deadline=None)
def test_exshallow_with_the_best_penalty_grows_the_same_tree(data, cost, waes):
    goals = {"goal_cost": cost, "goal_size": waes, "n_jobs": 1, "max_fits": 30}
    model = fit(ExShallowSearch(), data, **goals)
    same = fit(ExShallow(depth_penalty=model.best_depth_penalty_), data, n_jobs=1)
    assert same.tree_ == model.tree_
    assert model.n_fits_ <= 30
    assert model.reached_ == (ratio(model) <= cost + 1e-9 and size(model) <= waes + 1e-9)
    assert model.tree_ in [point.tree for point in model.path_]


def test_without_goals_it_is_exshallow():
    X, centers = blobs()
    model = ExShallowSearch(reference=centers).fit(X)
    assert model.tree_ == ExShallow(reference=centers).fit(X).tree_
    assert (model.best_depth_penalty_, model.n_fits_, model.reached_) == (0.03, 1, True)


@pytest.mark.parametrize("other", [IMM(), ExGreedy(), ExKMC(base=None, n_leaves=10)], ids=repr)
def test_goals_from_another_estimator_fitted_or_not(other):
    X = load_digits().data
    kmeans = KMeans(10, n_init=1, random_state=0).fit(X)
    unfitted = ExShallowSearch(reference=kmeans, goal_cost=other, goal_size=other).fit(X)
    fitted = clone(other).set_params(reference=kmeans).fit(X)
    model = ExShallowSearch(reference=kmeans, goal_cost=fitted, goal_size=fitted).fit(X)
    assert model.tree_ == unfitted.tree_
    assert not hasattr(other, "tree_")
    assert model.inertia_ <= fitted.inertia_ * (1 + 1e-9)
    assert model.reached_
    assert size(model) <= size(fitted) + 1e-9


def test_goals_from_an_estimator_with_the_same_tree():
    X = load_iris().data
    other = ExShallow(3, random_state=0).fit(X)
    model = ExShallowSearch(reference=other.reference_centers_, goal_cost=other, goal_size=other)
    model.fit(X)
    assert model.reached_
    assert model.n_fits_ == 1


def test_goals_are_measured_with_the_weights_of_this_fit():
    X, centers = blobs()
    weight = np.random.default_rng(0).integers(0, 4, len(X)).astype(float)
    other = CARTExplainer(reference=centers, random_state=0).fit(X)  # without weights
    model = ExShallowSearch(reference=centers, goal_size=other, max_fits=10)
    model.fit(X, sample_weight=weight)
    waes = weighted_average_explanation_size(other.tree_, X, sample_weight=weight)
    assert model.reached_ == (size(model) <= waes + 1e-9)
    cost = ExShallowSearch(reference=centers, goal_cost=other, max_fits=10)
    cost.fit(X, sample_weight=weight)
    repeated = np.repeat(X, weight.astype(int), axis=0)
    again = clone(cost).set_params(goal_cost=other).fit(repeated)
    assert again.best_depth_penalty_ == cost.best_depth_penalty_


def test_max_fits_is_an_upper_bound():
    X, centers = blobs()
    for max_fits in (1, 2, 3, 7):
        model = ExShallowSearch(reference=centers, goal_cost=1.0, max_fits=max_fits).fit(X)
        assert model.n_fits_ <= max_fits
        assert 1 <= len(model.path_) <= max_fits


@pytest.mark.slow
def test_the_best_penalty_has_few_digits():
    X = load_digits().data[:600]
    kmeans = KMeans(10, n_init=1, random_state=0).fit(X)
    model = ExShallowSearch(reference=kmeans, goal_cost=1.25).fit(X)
    assert model.n_fits_ > 1
    assert len(repr(model.best_depth_penalty_)) <= 8


@pytest.mark.parametrize("name", ["goal_cost", "goal_size"])
def test_invalid_goals_raise(name):
    X, centers = blobs()
    for bad in (-1.0, "imm", KMeans(2)):
        with pytest.raises(ValueError, match=f"'{name}' parameter"):
            ExShallowSearch(reference=centers, **{name: bad}).fit(X)
    narrow = IMM(2, random_state=0).fit(X[:, :2])
    with pytest.raises(ValueError, match=f"tree of {name} has 2 columns, but X has 4"):
        ExShallowSearch(reference=centers, **{name: narrow}).fit(X)


@pytest.mark.slow
def test_rows_of_noise_do_not_count_towards_the_cost():
    X, _ = blobs()
    labels = KMeans(6, n_init=1, random_state=0).fit(X).labels_.astype(int)
    labels[:10] = -1
    model = ExShallowSearch(noise="drop", goal_cost=1.3).fit(X, labels)
    alone = ExShallowSearch(goal_cost=1.3).fit(X[10:], labels[10:])
    assert model.best_depth_penalty_ == alone.best_depth_penalty_
    assert model.tree_ == alone.tree_


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the tree has")
def test_the_tree_does_not_depend_on_the_storage():
    """Neighbouring floating-point numbers: the costs of the trees differ by rounding only."""
    rng = np.random.default_rng(42011702)
    for _ in range(60 if EXTENDED else 8):
        X = 1e10 + rng.integers(0, 4, (5, 3)) * np.spacing(1e10)
        centers, weight = X[rng.integers(0, 5, 4)], rng.random(5) + 0.01
        for objective in ("kmeans", "kmedians"):
            model = ExShallowSearch(
                reference=centers,
                objective=objective,
                goal_cost=1.05,
                max_fits=4,
                threshold_style="data",
            )
            dense = clone(model).fit(X, sample_weight=weight)
            stored = clone(model).fit(csc_array(X), sample_weight=weight)
            assert dense.tree_ == stored.tree_
            assert dense.path_.to_pandas()["cost"].equals(stored.path_.to_pandas()["cost"])


def test_a_goal_of_k_medians_is_a_cost_of_k_medians():
    X, centers = blobs()
    rival = IMM(reference=centers, objective="kmedians").fit(X)
    model = ExShallowSearch(reference=centers, objective="kmedians", goal_cost=rival).fit(X)
    assert model.reached_
    assert model.inertia_ <= rival.inertia_ * (1 + 1e-9)
