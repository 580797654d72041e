"""The exact search: the best of all trees, and bounds that hold whenever the search ends."""

import itertools
import signal
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from _support import oracles
from _support.fitting import fit
from _support.strategies import tiny_data
from pellucid import IMM, ExGreedy, OptimalTree
from pellucid._core.exact import branch_and_bound as best_bound
from pellucid._core.exact import optimal
from pellucid._core.exact import subproblem_table as part_table

OBJECTIVES = ["mistakes", "surrogate"]


def paid(data, model, objective):
    """Objective of a fitted tree, row by row."""
    price, clusters = oracles.price_of(data, objective), model.tree_.predict(data.X)
    return sum(price(row, cluster) for row, cluster in enumerate(clusters))


def crowded(seed, n=100, n_features=4, n_clusters=7):
    """Clusters that overlap in every column, in eighths, so that every cost is exact."""
    rng = np.random.default_rng(seed)
    X = np.rint(8 * rng.normal(size=(n, n_features))) / 8
    centers = X[rng.choice(n, n_clusters, replace=False)]
    return oracles.Data(X, centers, oracles.nearest(X, centers), rng.integers(1, 4, n) * 1.0)


@pytest.fixture
def left_alone(monkeypatch):
    """A search without greedy trees to start from, that keeps next to no cuts at a time."""
    monkeypatch.setattr(optimal, "_value", lambda growth, costs: 2**60)
    monkeypatch.setattr(part_table, "_FEW_CUTS", 1)
    monkeypatch.setattr(part_table, "_ROOM", 1)
    monkeypatch.setattr(best_bound, "_FEW_CENTERS", 1)


@given(tiny_data(max_rows=16, max_clusters=4), st.sampled_from(OBJECTIVES))
@settings(max_examples=100, deadline=None)
def test_no_tree_is_better(data, objective):
    model = fit(OptimalTree(objective=objective), data, n_jobs=1)
    least = oracles.least_total(data, oracles.price_of(data, objective))
    assert model.objective_ == model.lower_bound_ == paid(data, model, objective) == least
    assert model.optimal_
    assert model.gap_ == 0


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(4))
def test_no_tree_of_real_valued_weighted_data_is_better(seed, objective):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 2)) * [1.0, 100.0] + [0.0, 1e6]
    centers = X[rng.choice(25, 4, replace=False)]
    data = oracles.Data(X, centers, oracles.nearest(X, centers), rng.uniform(0.5, 2.0, 25))
    model = fit(OptimalTree(objective=objective), data)
    least = oracles.least_total(data, oracles.price_of(data, objective))
    assert model.objective_ == pytest.approx(least, rel=1e-9)
    assert model.optimal_


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(3))
def test_the_answer_depends_on_neither_the_start_nor_the_room(seed, objective, request):
    data = crowded(seed)
    usual = fit(OptimalTree(objective=objective), data)
    request.getfixturevalue("left_alone")
    alone = fit(OptimalTree(objective=objective), data)
    assert alone.optimal_
    assert alone.objective_ == usual.objective_ == paid(data, alone, objective)


@pytest.mark.usefixtures("left_alone")
@given(data=tiny_data(max_rows=12, max_clusters=4), objective=st.sampled_from(OBJECTIVES))
@settings(max_examples=80, deadline=None)
def test_the_search_finds_the_best_tree_all_alone(data, objective):
    model = fit(OptimalTree(objective=objective), data, n_jobs=1)
    assert model.optimal_
    assert model.objective_ == paid(data, model, objective)
    assert model.objective_ == oracles.least_total(data, oracles.price_of(data, objective))


@given(tiny_data(max_rows=20, max_clusters=6), st.sampled_from(OBJECTIVES))
@settings(max_examples=60, deadline=None)
def test_greedy_trees_are_never_better(data, objective):
    best = fit(OptimalTree(objective=objective), data, n_jobs=1).objective_
    for greedy in (IMM(), ExGreedy()):
        assert best <= paid(data, fit(greedy, data, n_jobs=1), objective)


def test_greedy_trees_can_be_worse():
    data = crowded(0)
    for objective, greedy in zip(OBJECTIVES, (IMM(), ExGreedy())):
        best = fit(OptimalTree(objective=objective), data).objective_
        assert best < paid(data, fit(greedy, data), objective)


def steps_of(monkeypatch, at_end=None, interrupt=None):
    """Time that goes by one second a step; at `at_end` there is an interruption."""
    seconds = itertools.count()

    def now():
        time = next(seconds)
        if time == at_end:
            interrupt()
        return time

    for module in (optimal, best_bound):
        monkeypatch.setattr(module, "monotonic", now)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(2))
def test_bounds_hold_whenever_time_is_up(seed, objective, monkeypatch):
    data = crowded(seed)
    best = fit(OptimalTree(objective=objective), data).objective_
    lower, stopped = 0.0, 0
    for limit in [0, 1, 2, 4, 8, 16, 32, 64, 128, 256]:
        steps_of(monkeypatch)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            model = OptimalTree(objective=objective, reference=data.centers, time_limit=limit)
            model.fit(data.X, sample_weight=data.weight)
        assert model.lower_bound_ <= best <= model.objective_ == paid(data, model, objective)
        assert model.lower_bound_ >= lower
        assert model.n_leaves_ == 7
        assert model.gap_ == pytest.approx(1 - model.lower_bound_ / model.objective_)
        assert model.optimal_ == (model.lower_bound_ == model.objective_) == (not caught)
        lower, stopped = model.lower_bound_, stopped + (not model.optimal_)
    assert stopped > 2


def press_ctrl_c():
    signal.raise_signal(signal.SIGINT)


def raise_interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("interrupt", [press_ctrl_c, raise_interrupt])
@pytest.mark.parametrize("at_end", [1, 3, 20])
def test_an_interrupted_search_returns_its_best_tree(objective, interrupt, at_end, monkeypatch):
    data = crowded(0)
    best = fit(OptimalTree(objective=objective), data).objective_
    steps_of(monkeypatch, at_end, interrupt)
    with pytest.warns(ConvergenceWarning, match="ended before it was over: a better tree may save"):
        model = OptimalTree(objective=objective, reference=data.centers, time_limit=1e9).fit(
            data.X, sample_weight=data.weight
        )
    assert model.n_leaves_ == 7
    assert model.lower_bound_ <= best <= model.objective_ == paid(data, model, objective)
    assert model.lower_bound_ < model.objective_
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_pressing_ctrl_c_twice_ends_it_all(monkeypatch):
    data = crowded(0)
    steps_of(monkeypatch, 3, lambda: (press_ctrl_c(), press_ctrl_c()))
    with pytest.raises(KeyboardInterrupt):
        fit(OptimalTree(), data, time_limit=1e9)


def test_a_search_out_of_memory_returns_its_best_tree(monkeypatch):
    data = crowded(0)
    monkeypatch.setattr(best_bound, "_MOST_BYTES", 20_000)
    model = fit(OptimalTree(), data)
    assert not model.optimal_
    assert 0 < model.lower_bound_ < model.objective_ == paid(data, model, "mistakes")
