"""Evaluation of pairs (k, α): mixed distance, D and N, caching, and searches."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from _support.extended import examples
from pellucid.xclusters import evaluate as evaluate_module
from pellucid.xclusters.evaluate import (
    Evaluator,
    KMedoidsStarts,
    Mixture,
    distortion_and_medoids,
)
from pellucid.xclusters.search import (
    alpha_grid,
    as_affinities,
    bayesian_search,
    elbow,
    grid_search,
    refine_locally,
    two_step,
)
from pellucid.xclusters.trees import TreeGrower


def matrices(seed=0, n=40):
    rng = np.random.default_rng(seed)
    features = rng.integers(0, 3, (n, 4)).astype(float)
    points = rng.normal(size=(n, 2)) + 2 * features[:, :2]
    a = np.linalg.norm(points[:, None] - points[None], axis=2)
    e = (features[:, None] != features[None]).mean(axis=2)
    return a, e, features


def evaluator(init="ends", trade_off=1.0, seed=0, k_range=(2, 6), weight=None, cluster=None):
    a, e, features = matrices(seed)
    mixture = Mixture(a, e)
    weight = np.ones(len(a)) if weight is None else weight
    cluster = cluster or KMedoidsStarts(mixture, weight, init)
    return Evaluator(mixture, TreeGrower(features, weight), cluster, weight, k_range, trade_off)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_mixture_formula(alpha, monkeypatch):
    monkeypatch.setattr(evaluate_module, "_BLOCK", 100)  # the matrices have many blocks
    a, e, _ = matrices()
    mixture = Mixture(a, e)
    mixture.at(0.77)
    # At both ends, the other distance decides ties.
    of_a, of_e = max(1 - alpha, 2.0**-20), max(alpha, 2.0**-20)
    expected = of_a * a / a.max() + of_e * e / e.max()
    np.testing.assert_allclose(mixture.at(alpha), expected, rtol=1e-12)


def test_zero_distances_contribute_nothing():
    a, e, _ = matrices()
    np.testing.assert_allclose(Mixture(a, 0 * e).at(0.25), 0.75 * a / a.max(), rtol=1e-12)
    np.testing.assert_allclose(Mixture(0 * a, e).at(1.0), e / e.max(), rtol=1e-12)


@settings(deadline=None, max_examples=examples(30))
@given(st.integers(0, 1000), st.integers(1, 5))
def test_distortion_is_relative_to_the_best_member(seed, k):
    rng = np.random.default_rng(seed)
    a = matrices(seed, 12)[0]
    labels = np.unique(rng.integers(0, k, 12), return_inverse=True)[1]
    weight = rng.integers(1, 4, 12).astype(float)
    total = 0.0
    distortion, medoids = distortion_and_medoids(a, labels, weight)
    for cluster in range(labels.max() + 1):
        members = np.flatnonzero(labels == cluster)
        sums = [sum(weight[j] * a[i, j] ** 2 for j in members) for i in members]
        total += min(sums)
        assert sums[members.tolist().index(medoids[cluster])] == pytest.approx(min(sums))
    assert distortion == pytest.approx(total)


def test_every_pair_is_clustered_once_after_the_corners():
    clustered = []
    starts = KMedoidsStarts(Mixture(*matrices()[:2]), None, "build")

    def cluster(k, alpha):
        clustered.append((k, alpha))
        return starts(k, alpha)

    found = evaluator(cluster=cluster)
    assert clustered == [(2, 1.0), (6, 0.0)]
    for _ in range(3):
        found.objective(3, 0.5)
        found.normalized_parts(2, 1.0)
        found.evaluate(np.int64(3), np.float64(0.5))
    assert clustered == [(2, 1.0), (6, 0.0), (3, 0.5)]
    assert list(found.evaluations) == clustered


def test_d_and_n_are_normalized_by_the_corners():
    found = evaluator(trade_off=2.0)
    assert found.normalized_parts(2, 1.0)[0] == 1.0
    assert found.normalized_parts(6, 0.0)[1] == 1.0
    one = found.evaluate(4, 0.5)
    d = one.distortion / found.evaluate(2, 1.0).distortion
    n = one.n_nodes / found.evaluate(6, 0.0).n_nodes
    assert found.normalized_parts(4, 0.5) == (d, n)
    assert found.objective(4, 0.5) == d + 2 * n
    table = found.table()
    assert table["k"].tolist() == [2, 6, 4]
    assert table["objective"][2] == d + 2 * n
    assert table["n_nodes"][2] == one.n_nodes == found.grower.grow(one.labels).tree.node_count
    assert found.objective(found.best().k, found.best().alpha) == table["objective"].min()


@pytest.mark.parametrize("init", ["ends", "build"])
def test_evaluation_does_not_depend_on_the_order(init):
    pairs = [(k, alpha) for k in (2, 3, 4, 5, 6) for alpha in (0.0, 0.35, 0.7, 1.0)]
    forward, backward = evaluator(init), evaluator(init)
    expected = {pair: forward.evaluate(*pair) for pair in pairs}
    for pair in reversed(pairs):
        one, other = expected[pair], backward.evaluate(*pair)
        np.testing.assert_array_equal(one.labels, other.labels)
        assert one.distortion == other.distortion


@pytest.mark.parametrize("init", ["ends", "neighbour"])
def test_more_starts_never_cluster_worse(init):
    a, e, _ = matrices(3)
    mixture = Mixture(a, e)

    def loss(labels, alpha):
        mixed = mixture.at(alpha)
        groups = [np.flatnonzero(labels == c) for c in np.unique(labels)]
        return sum(mixed[np.ix_(g, g)].sum(axis=1).min() for g in groups)

    more, one = KMedoidsStarts(mixture, None, init), KMedoidsStarts(mixture, None, "build")
    for k in (3, 5):
        for alpha in (0.0, 0.5, 1.0):
            assert loss(more(k, alpha), alpha) <= loss(one(k, alpha), alpha) + 1e-9


def surface(k, alpha):
    """Minimum at (6, 0.4) for k from 3 to 11."""
    return 1 + (k - 6) ** 2 / 50 + (alpha - 0.4) ** 2


class CachedObjective:
    def __init__(self, function):
        self.function, self.known = function, {}

    def __call__(self, k, alpha):
        return self.known.setdefault((k, alpha), self.function(k, alpha))


KS, ALPHAS = list(range(3, 12)), [round(0.05 * i, 2) for i in range(21)]


def test_grid_search_evaluates_every_pair():
    objective = CachedObjective(surface)
    grid_search(objective, KS, ALPHAS, lambda: False)
    assert list(objective.known) == [(k, alpha) for k in KS for alpha in ALPHAS]
    objective = CachedObjective(surface)
    grid_search(objective, KS, ALPHAS, lambda: len(objective.known) >= 7)
    assert len(objective.known) == 7


def test_local_refinement_reaches_the_minimum():
    objective = CachedObjective(surface)
    objective(8, 0.5)
    objective(3, 1.0)
    refine_locally(objective, objective.known, KS, lambda: False)
    k, alpha = min(objective.known, key=objective.known.get)
    assert (k, alpha) == (6, pytest.approx(0.4))
    assert len(objective.known) <= 2 + len(KS) + 18
    assert {(k, 0.0) for k in KS} <= set(objective.known)
    objective = CachedObjective(surface)
    objective(8, 0.5)
    refine_locally(objective, objective.known, KS, lambda: len(objective.known) >= 4)
    assert len(objective.known) == 4
    objective = CachedObjective(surface)
    for i in range(62):  # of at most a third of 9 · 21 pairs
        objective(3 + i % 9, 0.5 + i / 1000)
    refine_locally(objective, objective.known, KS, lambda: False)
    assert len(objective.known) == 63


@pytest.mark.slow
def test_bayesian_search_is_good_and_repeatable():
    pytest.importorskip("bayes_opt")
    first, second = CachedObjective(surface), CachedObjective(surface)
    for objective in (first, second):
        bayesian_search(objective, KS, ALPHAS, lambda: False, n_pairs=12, random_state=1)
    assert first.known == second.known
    assert len(first.known) <= 12
    assert min(first.known.values()) < 1.05
    assert all(k in KS and 0 <= alpha <= 1 for k, alpha in first.known)


@pytest.mark.slow
def test_two_step_takes_the_elbow():
    curve = dict(zip(KS, [100, 60, 30, 12, 10, 9, 8, 7.5, 7]))
    assert two_step(lambda k, alpha: curve[k], KS, lambda: False) == (6, 0.0)
    assert elbow([3, 4], [5.0, 1.0]) == 3
    assert elbow([3, 4, 5], [1.0, 1.0, 1.0]) == 3
    assert two_step(lambda k, alpha: curve[k], KS, lambda: True) == (3, 0.0)


@pytest.mark.parametrize(
    ("package", "name", "work"),
    [
        ("kneed", "kneed", lambda: elbow([3, 4, 5], [3.0, 2.0, 1.0])),
        (
            "bayes_opt",
            "bayesian-optimization",
            lambda: bayesian_search(surface, KS, ALPHAS, lambda: False),
        ),
    ],
)
def test_missing_package_names_the_pip_command(package, name, work, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"the package {name}; pip install 'pellucid"):
        work()


def test_the_last_step_of_the_grid_may_be_shorter():
    assert alpha_grid(0.3) == [0.0, 0.3, 0.6, 0.9, 1.0]


def test_affinities_use_the_standard_deviation():
    affinities = as_affinities(np.array([[0.0, 2.0], [2.0, 0.0]]))
    np.testing.assert_allclose(affinities, [[1.0, np.exp(-2)], [np.exp(-2), 1.0]])
