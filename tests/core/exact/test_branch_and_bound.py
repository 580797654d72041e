"""The exact search: the best of all trees, and bounds that are valid whenever the search stops."""

import itertools
import signal
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from _support import oracles
from _support.extended import examples, seeds
from _support.fitting import fit
from _support.problems import pose
from _support.strategies import tiny_data
from pellucid import IMM, ExGreedy, OptimalTree
from pellucid._core.criteria.induced_cost import InducedCost
from pellucid._core.criteria.mistakes import Mistakes
from pellucid._core.exact.branch_and_bound import (
    BranchAndBound,
    grow_cuts,
    grow_optimally,
    objective_costs,
)
from pellucid._core.exact.subproblem import SearchSettings, SubproblemTable
from pellucid._utils.progress import Progress

OBJECTIVES = ["mistakes", "surrogate"]
each_objective = pytest.mark.parametrize("objective", OBJECTIVES)

SMALL = SearchSettings(n_listed=1, n_solved_centers=1)


def tree_cost(data, tree, objective):
    """Objective of a tree, row by row."""
    cost, clusters = oracles.price_of(data, objective), tree.predict(data.X)
    return sum(cost(row, cluster) for row, cluster in enumerate(clusters))


def least_cost(data, objective):
    return oracles.least_total(data, oracles.price_of(data, objective))


def overlapping(seed, n=100, n_features=4, n_clusters=7):
    """Clusters that overlap in every column, in eighths, so that every cost is exact."""
    rng = np.random.default_rng(seed)
    X = np.rint(8 * rng.normal(size=(n, n_features))) / 8
    centers = X[rng.choice(n, n_clusters, replace=False)]
    return oracles.Data(X, centers, oracles.nearest(X, centers), rng.integers(1, 4, n) * 1.0)


def solve(data, objective, search_settings):
    """Objective and tree of a search that starts without any tree."""
    problem = pose(data)
    costs, unit = objective_costs(problem, objective)
    table = SubproblemTable(problem, costs, search_settings)
    search = BranchAndBound(table)
    search.run()
    total, cuts = search.incumbent
    assert search.lower == total
    cuts = [cut and table.threshold(cut) for cut in cuts]
    criterion = (Mistakes if objective == "mistakes" else InducedCost)(problem)
    return total * unit, grow_cuts(criterion, "round", cuts).builder.build()


@cache
def least_objective(seed, objective):
    """The least objective of all trees of `overlapping(seed)`."""
    return fit(OptimalTree(criterion=objective), overlapping(seed)).objective_


def stop_early(data, objective, **limits):
    """Result of `grow_optimally`, and its tree."""
    found = grow_optimally(pose(data), objective, "round", Progress("", 0, 0), **limits)
    return found, found.growth.builder.build()


@given(tiny_data(max_rows=16, max_clusters=4), st.sampled_from(OBJECTIVES))
@settings(max_examples=examples(100), deadline=None)
def test_no_tree_is_better(data, objective):
    model = fit(OptimalTree(criterion=objective), data, n_jobs=1)
    least = least_cost(data, objective)
    assert model.objective_ == model.lower_bound_ == least
    assert tree_cost(data, model.tree_, objective) == least
    assert model.optimal_
    assert model.gap_ == 0


@each_objective
@pytest.mark.parametrize("seed", seeds(4))
def test_no_tree_of_real_valued_weighted_data_is_better(seed, objective):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 2)) * [1.0, 100.0] + [0.0, 1e6]
    centers = X[rng.choice(25, 4, replace=False)]
    data = oracles.Data(X, centers, oracles.nearest(X, centers), rng.uniform(0.5, 2.0, 25))
    model = fit(OptimalTree(criterion=objective), data)
    assert model.objective_ == pytest.approx(least_cost(data, objective), rel=1e-9)
    assert model.optimal_


@each_objective
@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_depends_neither_on_the_start_nor_on_workspace_sizes(seed, objective):
    data = overlapping(seed)
    model = fit(OptimalTree(criterion=objective), data)
    total, tree = solve(data, objective, SMALL)
    assert model.objective_ == total == tree_cost(data, tree, objective)


@given(data=tiny_data(max_rows=12, max_clusters=4), objective=st.sampled_from(OBJECTIVES))
@settings(max_examples=examples(80), deadline=None)
def test_a_search_without_a_start_tree_finds_the_optimum(data, objective):
    total, tree = solve(data, objective, SMALL)
    assert total == tree_cost(data, tree, objective) == least_cost(data, objective)


@given(tiny_data(max_rows=20, max_clusters=6), st.sampled_from(OBJECTIVES))
@settings(max_examples=examples(60), deadline=None)
def test_greedy_trees_are_never_better(data, objective):
    best = fit(OptimalTree(criterion=objective), data, n_jobs=1).objective_
    for greedy in (IMM(), ExGreedy()):
        assert best <= tree_cost(data, fit(greedy, data, n_jobs=1).tree_, objective)


def test_greedy_trees_can_be_worse():
    data = overlapping(0)
    for objective, greedy in zip(OBJECTIVES, (IMM(), ExGreedy())):
        best = least_objective(0, objective)
        assert best < tree_cost(data, fit(greedy, data).tree_, objective)


def step_clock(interrupt_at=None, interrupt=None):
    """A clock that advances by one second per call, and interrupts at one of them."""
    seconds = itertools.count()

    def clock():
        time = next(seconds)
        if time == interrupt_at:
            interrupt()
        return time

    return clock


@each_objective
@pytest.mark.parametrize("seed", range(2))
def test_bounds_are_valid_whenever_time_is_up(seed, objective):
    data = overlapping(seed)
    best = least_objective(seed, objective)
    lower, n_stopped = 0.0, 0
    for limit in [0, 1, 2, 4, 8, 16, 32, 64, 128, 256]:
        found, tree = stop_early(data, objective, time_limit=limit, clock=step_clock())
        assert found.lower_bound <= best <= found.objective == tree_cost(data, tree, objective)
        assert found.lower_bound >= lower
        assert found.is_proven == (found.lower_bound == found.objective)
        assert tree.n_leaves == 7
        lower, n_stopped = found.lower_bound, n_stopped + (not found.is_proven)
    assert n_stopped > 2


@each_objective
def test_a_search_out_of_time_warns_and_reports_the_gap(objective):
    data = overlapping(0)
    best = least_objective(0, objective)
    model = OptimalTree(criterion=objective, reference=data.centers, time_limit=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(data.X, sample_weight=data.weight)
    assert not model.optimal_
    assert model.lower_bound_ <= best <= model.objective_
    assert model.gap_ == pytest.approx(1 - model.lower_bound_ / model.objective_)


def press_ctrl_c():
    signal.raise_signal(signal.SIGINT)


def raise_interrupt():
    raise KeyboardInterrupt


@each_objective
@pytest.mark.parametrize("interrupt", [press_ctrl_c, raise_interrupt])
@pytest.mark.parametrize("interrupt_at", [1, 3, 20])
def test_an_interrupted_search_returns_its_best_tree(objective, interrupt, interrupt_at):
    data = overlapping(0)
    best = least_objective(0, objective)
    clock = step_clock(interrupt_at, interrupt)
    found, tree = stop_early(data, objective, time_limit=1e9, clock=clock)
    assert tree.n_leaves == 7
    assert found.lower_bound <= best <= found.objective == tree_cost(data, tree, objective)
    assert found.lower_bound < found.objective
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_ends_the_fit():
    clock = step_clock(3, lambda: (press_ctrl_c(), press_ctrl_c()))
    with pytest.raises(KeyboardInterrupt):
        stop_early(overlapping(0), "mistakes", time_limit=1e9, clock=clock)


def test_a_search_out_of_memory_returns_its_best_tree():
    data = overlapping(0)
    limit = SearchSettings(max_bytes=20_000)
    found, tree = stop_early(data, "mistakes", settings=limit)
    assert not found.is_proven
    assert 0 < found.lower_bound < found.objective == tree_cost(data, tree, "mistakes")
