"""One pair (k, α): the mixed distance, D and N, and that each is looked at once."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.xclusters import mixture as mixture_module
from pellucid.xclusters.evaluate import Evaluator, KMedoidsStarts, distortion_and_medoids
from pellucid.xclusters.mixture import Mixture, check_memory
from pellucid.xclusters.strategies import bayesian_search, elbow, grid_search, look_around, two_step
from pellucid.xclusters.trees import TreeGrower


def matrices(seed=0, n=40):
    rng = np.random.default_rng(seed)
    told = rng.integers(0, 3, (n, 4)).astype(float)
    points = rng.normal(size=(n, 2)) + 2 * told[:, :2]
    a = np.linalg.norm(points[:, None] - points[None], axis=2)
    e = (told[:, None] != told[None]).mean(axis=2)
    return a, e, told


def evaluator(init="ends", trade_off=1.0, seed=0, k_range=(2, 6), weight=None, cluster=None):
    a, e, told = matrices(seed)
    mixture = Mixture(a, e)
    weight = np.ones(len(a)) if weight is None else weight
    cluster = cluster or KMedoidsStarts(mixture, weight, init)
    return Evaluator(mixture, TreeGrower(told, weight), cluster, weight, k_range, trade_off)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_the_mixture_is_the_formula(alpha, monkeypatch):
    monkeypatch.setattr(mixture_module, "_BLOCK", 100)
    a, e, _ = matrices()
    mixture = Mixture(a, e)
    mixture.at(0.77)
    expected = (1 - alpha) * a / a.max() + alpha * e / e.max()
    np.testing.assert_allclose(mixture.at(alpha), expected, rtol=1e-12)


def test_a_side_on_which_all_rows_are_alike_adds_nothing():
    a, e, _ = matrices()
    np.testing.assert_allclose(Mixture(a, 0 * e).at(0.25), 0.75 * a / a.max(), rtol=1e-12)
    np.testing.assert_allclose(Mixture(0 * a, e).at(1.0), e / e.max(), rtol=1e-12)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 1000), st.integers(1, 5))
def test_distortion_is_to_the_best_member(seed, k):
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


def test_every_pair_is_clustered_once_and_the_corners_first():
    asked = []
    starts = KMedoidsStarts(Mixture(*matrices()[:2]), None, "build")

    def cluster(k, alpha):
        asked.append((k, alpha))
        return starts(k, alpha)

    found = evaluator(cluster=cluster)
    assert asked == [(2, 1.0), (6, 0.0)]
    for _ in range(3):
        found.objective(3, 0.5)
        found.parts(2, 1.0)
        found.evaluate(np.int64(3), np.float64(0.5))
    assert asked == [(2, 1.0), (6, 0.0), (3, 0.5)]
    assert list(found.evaluations) == asked


def test_d_and_n_are_relative_to_the_corners():
    found = evaluator(trade_off=2.0)
    assert found.parts(2, 1.0)[0] == 1.0
    assert found.parts(6, 0.0)[1] == 1.0
    one = found.evaluate(4, 0.5)
    d = one.distortion / found.evaluate(2, 1.0).distortion
    n = one.n_nodes / found.evaluate(6, 0.0).n_nodes
    assert found.parts(4, 0.5) == (d, n)
    assert found.objective(4, 0.5) == d + 2 * n
    table = found.table()
    assert table["k"].tolist() == [2, 6, 4]
    assert table["objective"][2] == d + 2 * n
    assert table["n_nodes"][2] == one.n_nodes == found.grower.grow(one.labels).tree.node_count
    assert found.objective(found.best().k, found.best().alpha) == table["objective"].min()


@pytest.mark.parametrize("init", ["ends", "build"])
def test_what_a_pair_is_worth_does_not_depend_on_what_came_before(init):
    pairs = [(k, alpha) for k in (2, 3, 4, 5, 6) for alpha in (0.0, 0.35, 0.7, 1.0)]
    there, back = evaluator(init), evaluator(init)
    forwards = {pair: there.evaluate(*pair) for pair in pairs}
    for pair in reversed(pairs):
        one, other = forwards[pair], back.evaluate(*pair)
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


def test_matrices_too_large_for_memory_are_refused_with_figures(monkeypatch):
    monkeypatch.setattr(mixture_module, "free_memory", lambda: 24 * 10**6)
    check_memory(1000)
    with pytest.raises(
        MemoryError, match=r"2,000 rows need 0.1 GB for 3 .* about 1,000 rows would fit"
    ):
        check_memory(2000)
    check_memory(1700, n_matrices=1)
    monkeypatch.setattr(mixture_module, "free_memory", lambda: None)
    check_memory(10**6)


def surface(k, alpha):
    """Its lowest place, among ks 3 to 11, is (6, 0.4)."""
    return 1 + (k - 6) ** 2 / 50 + (alpha - 0.4) ** 2


class Asked:
    def __init__(self, function):
        self.function, self.known = function, {}

    def __call__(self, k, alpha):
        return self.known.setdefault((k, alpha), self.function(k, alpha))


KS, ALPHAS = list(range(3, 12)), [round(0.05 * i, 2) for i in range(21)]


def test_the_grid_is_every_pair():
    ask = Asked(surface)
    grid_search(ask, KS, ALPHAS, lambda: False)
    assert list(ask.known) == [(k, alpha) for k in KS for alpha in ALPHAS]
    ask = Asked(surface)
    grid_search(ask, KS, ALPHAS, lambda: len(ask.known) >= 7)
    assert len(ask.known) == 7


def test_looking_around_ends_at_the_best_place_near():
    ask = Asked(surface)
    ask(8, 0.5)
    ask(3, 1.0)
    look_around(ask, ask.known, KS, ALPHAS, lambda: False)
    assert min(ask.known, key=ask.known.get) == (6, 0.4)
    assert len(ask.known) <= 2 + 18
    ask = Asked(surface)
    ask(8, 0.5)
    look_around(ask, ask.known, KS, ALPHAS, lambda: len(ask.known) >= 4)
    assert len(ask.known) == 4


def test_bayesian_search_finds_a_good_pair_and_repeats_itself():
    pytest.importorskip("bayes_opt")
    first, second = Asked(surface), Asked(surface)
    for ask in (first, second):
        bayesian_search(ask, KS, ALPHAS, lambda: False, n_pairs=18, random_state=1)
    assert first.known == second.known
    assert len(first.known) <= 18
    assert min(first.known.values()) < 1.05
    assert all(k in KS and 0 <= alpha <= 1 for k, alpha in first.known)


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
def test_a_missing_package_is_named_with_what_to_install(package, name, work, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"needs the package {name}: pip install {name}"):
        work()
