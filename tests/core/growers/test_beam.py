"""Beam search is exhaustive when wide, greedy when narrow, and never worse than greedy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from _support import oracles
from _support.extended import examples
from _support.fitting import fit_exactly as fit
from _support.strategies import tiny_data
from pellucid import BSIMM, IMM, BeamSearch, ExGreedy, ExShallow
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.induced_cost import InducedCost
from pellucid._core.criteria.mistakes import Mistakes
from pellucid._core.criteria.problem import Problem
from pellucid._core.data import binning as bins
from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset
from pellucid._core.growers.beam import NodePool
from pellucid._utils.progress import Progress


@pytest.fixture(params=[2, 256])
def n_quantiles(request, monkeypatch):
    """With two bins, tiny data have several values in one."""
    monkeypatch.setattr(bins, "N_BINS", request.param)


def pose(data) -> Problem:
    counted = np.flatnonzero(np.asarray(data.weight) > 0)
    X, weight = np.asarray(data.X, dtype=float)[counted], np.asarray(data.weight)[counted]
    return Problem(Dataset(X, Weights.of(weight)), data.centers, np.asarray(data.labels)[counted])


def best_of_each_gap(data, rows, centers, objective):
    """For each feature and pair of neighbouring centers the best cut: (objective, feature, low)."""
    gaps = {}
    for cut in oracles.cuts_between_centers(data, rows, centers):
        feature, low = cut[:2]
        place = (feature, sum(data.centers[c][feature] <= low for c in centers))
        found = (objective(cut), feature, low)
        gaps[place] = min(gaps.get(place, found), found)
    return sorted(gaps.values())


def fewest_mistakes(data, rows, centers):
    """Least mistakes of all trees that use only the best cut of each gap."""
    if len(centers) < 2:
        return 0.0
    cuts = best_of_each_gap(
        data, rows, centers, lambda cut: oracles.mistakes(data, rows, centers, *cut[:2])
    )
    least = np.inf if cuts else 0.0
    for cost, feature, low in cuts:
        left, right, near, far = oracles.sides(data, rows, centers, feature, low)
        home = (
            [i for i in left if data.labels[i] in near],
            [i for i in right if data.labels[i] in far],
        )
        least = min(
            least,
            cost + fewest_mistakes(data, home[0], near) + fewest_mistakes(data, home[1], far),
        )
    return least


def mistakes_of(model, data):
    return float((np.asarray(data.weight) * (model.labels_ != model.reference_labels_)).sum())


@given(tiny_data(max_rows=10, max_clusters=4), st.integers(1, 6))
@settings(max_examples=examples(150), deadline=None)
def test_the_cuts_of_a_node_are_the_best_of_its_gaps(data, n):
    problem = pose(data)
    rows = [i for i in range(len(data.X)) if data.weight[i] > 0]
    centers = list(range(len(data.centers)))
    found = Mistakes(problem).best_splits(Mistakes(problem).root(), n)
    expected = best_of_each_gap(
        data, rows, centers, lambda cut: oracles.mistakes(data, rows, centers, *cut[:2])
    )
    assert [cut.objective for cut in found] == [cut[0] for cut in expected[:n]]
    assert [cut.feature for cut in found] == [cut[1] for cut in expected[:n]]


@given(tiny_data(max_rows=9, max_features=2, max_clusters=4))
@settings(max_examples=examples(80), deadline=None)
def test_a_wide_beam_finds_the_best_of_all_trees(data):
    model = fit(BSIMM(beam_width=10_000, n_candidates=1_000), data)
    rows = [i for i in range(len(data.X)) if data.weight[i] > 0]
    best = fewest_mistakes(data, rows, list(range(len(data.centers))))
    if model.n_leaves_ == len(data.centers):
        assert mistakes_of(model, data) == pytest.approx(best)


@pytest.mark.slow
@given(tiny_data())
@settings(max_examples=examples(150), deadline=None)
def test_a_beam_of_one_is_imm(data):
    assert fit(BSIMM(beam_width=1), data).tree_ == fit(IMM(), data).tree_


@pytest.mark.slow
@given(tiny_data(), st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=examples(150), deadline=None)
def test_never_more_mistakes_than_imm(data, width, n_candidates):
    beam = fit(BSIMM(beam_width=width, n_candidates=n_candidates), data)
    assert mistakes_of(beam, data) <= mistakes_of(fit(IMM(), data), data)


@pytest.mark.slow
@pytest.mark.usefixtures("n_quantiles")
@pytest.mark.parametrize("penalty", [0.0, 0.05])
def test_beam_search_is_never_worse_than_greedy_search_for_any_criterion(penalty):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) + rng.integers(0, 4, size=(300, 1)) * [2.0, 1.0, 0.0, -2.0]
    centers = X[rng.choice(300, 7, replace=False)]
    problem = Problem(Dataset(X, Weights.of(np.ones(300))), centers, oracles.nearest(X, centers))
    criterion = InducedCost(problem, penalty)

    def loss(width):
        growth = BeamSearch(width).grow(criterion, "round", Progress("", 1, 0))
        cells, total = {0: criterion.root()}, 0.0
        builder = growth.builder
        for number in builder.splits:
            cell, node = cells.pop(number), builder.nodes[number]
            split = Split(0.0, node.feature, node.threshold)
            total += criterion.loss(cell, split)
            divided = criterion.divide_node(cell, split)
            cells[node.left], cells[node.right] = divided.left, divided.right
        return total

    losses = [loss(width) for width in (1, 10, 40)]
    assert losses[1] <= losses[0]
    assert losses[2] < losses[0]


def test_a_tree_is_kept_once_whatever_the_order_of_its_splits(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, size=(60, 2)).astype(float)
    centers = X[:6]
    problem = Problem(Dataset(X, Weights.of(np.ones(60))), centers, oracles.nearest(X, centers))
    kept, drop_unreachable = [], NodePool.drop_unreachable

    def record(pool, trees):
        kept.append([tree.splits for tree in trees[:-1]])  # the last is the greedy tree
        drop_unreachable(pool, trees)

    monkeypatch.setattr(NodePool, "drop_unreachable", record)
    BeamSearch(10, 4).grow(Mistakes(problem), "round", Progress("", 1, 0))
    assert max(map(len, kept)) > 1
    assert all(len(set(splits)) == len(splits) for splits in kept)


def test_each_node_is_searched_once(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    centers = X[:6]
    problem = Problem(Dataset(X, Weights.of(np.ones(200))), centers, oracles.nearest(X, centers))
    criterion, searched = Mistakes(problem), []
    search = criterion.best_splits

    def watched(cell, n=1):
        searched.append(cell)
        return search(cell, n)

    monkeypatch.setattr(criterion, "best_splits", watched)
    BeamSearch(8, 4).grow(criterion, "round", Progress("", 1, 0))
    # In each of k - 1 rounds, at most two new nodes per kept tree and for the greedy tree.
    assert len({id(cell) for cell in searched}) == len(searched) <= 1 + 2 * (8 + 1) * 5


@pytest.mark.slow
def test_search_by_name_and_by_object_agree():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 3))
    for model in (ExGreedy, ExShallow):
        named = model(reference=X[:5], search="beam").fit(X)
        made = model(reference=X[:5], search=BeamSearch(40, 10)).fit(X)
        assert named.tree_ == made.tree_
    with pytest.raises(ValueError, match="search"):
        ExGreedy(reference=X[:5], search="best").fit(X)


def test_the_loss_of_a_split_does_not_depend_on_the_order_of_the_rows():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 3)).astype(float)
    weight, centers = rng.random(40), np.array([[0.0, 0, 0], [1, 0, 1], [1, 1, 0]])
    labels = Dataset(X, Weights.of(weight)).nearest(centers)

    def losses(rows):
        data = Dataset(X[rows], Weights.of(weight[rows]))
        criterion = InducedCost(Problem(data, centers, labels[rows], unit_from_labels=True), 0.03)
        root = criterion.root()
        return [criterion.loss(root, split) for split in criterion.best_splits(root, 3)]

    expected = losses(np.arange(40))
    for _ in range(50):
        assert losses(rng.permutation(40)) == expected
