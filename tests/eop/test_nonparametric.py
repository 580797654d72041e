"""Nonparametric regions and k-NN against slow reference implementations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from _support.extended import examples
from pellucid.eop.neighbor_finder import (
    TINY,
    KNNClassifier,
    NeighborFinder,
    NeighborRegion,
    lowest_threshold,
)
from pellucid.eop.problem import ProjectionView


def slow_score(point, P, correct, m):
    """Distance-weighted fraction of correct rows among the m nearest; identical rows are merged."""
    distance = np.sqrt(((P - point) ** 2).sum(axis=1))
    n_used = numerator = denominator = 0.0
    for d in np.unique(distance):
        # Generated data have no two distinct points at the same distance.
        at_distance = distance == d
        used = min(m - n_used, at_distance.sum())
        n_used += used
        numerator += used / (d + TINY) * correct[at_distance].mean()
        denominator += used / (d + TINY)
        if n_used == m:
            break
    return numerator / denominator if denominator else 0.0


def generated(seed, n=25):
    random = np.random.RandomState(seed)
    P = random.normal(size=(n, 2))
    P[n // 2 : n // 2 + 4] = P[0]
    return P, random.rand(n) < 0.7


@given(st.integers(0, 10**6), st.integers(1, 12))
@settings(max_examples=examples(40), deadline=None)
def test_scores(seed, m):
    P, right = generated(seed)
    region = NeighborRegion(P, right, np.ones(len(P)), np.ones(2), m, 0.8)
    for i in range(len(P)):
        others = np.arange(len(P)) != i
        assert np.isclose(region.scores[i], slow_score(P[i], P[others], right[others], m))
    points = np.random.RandomState(seed).normal(size=(5, 2))
    expected = [slow_score(point, P, right, m) for point in points]
    assert np.allclose(region.score(points), expected)
    assert (region.contains(points) == (region.score(points) >= 0.8)).all()


@given(st.integers(0, 10**6), st.integers(1, 8))
@settings(max_examples=examples(30), deadline=None)
def test_integer_weight_equals_repeated_rows(seed, m):
    P, right = generated(seed, 15)
    times = np.random.RandomState(seed).randint(1, 4, len(P))
    again = np.repeat(np.arange(len(P)), times)
    a = NeighborRegion(P, right, times.astype(float), np.ones(2), m, 0.8)
    b = NeighborRegion(P[again], right[again], np.ones(len(again)), np.ones(2), m, 0.8)
    assert (a.scores[again] == b.scores).all()
    points = np.random.RandomState(seed).normal(size=(5, 2))
    assert (a.score(points) == b.score(points)).all()
    y = right.astype(np.int64)
    one = KNNClassifier(P, y, times.astype(float), 2, np.ones(2), m)
    two = KNNClassifier(P[again], y[again], np.ones(len(again)), 2, np.ones(2), m)
    assert (one.predict(points) == two.predict(points)).all()
    assert (one.leave_one_out()[again] == two.leave_one_out()).all()


def test_knn_equals_scikit_learn_without_ties():
    from sklearn.neighbors import KNeighborsClassifier

    random = np.random.RandomState(0)
    P, Q, y = random.normal(size=(80, 2)), random.normal(size=(50, 2)), random.randint(0, 3, 80)
    ours = KNNClassifier(P, y, np.ones(80), 3, np.ones(2), 5)
    theirs = KNeighborsClassifier(5).fit(P, y)
    assert (ours.predict(Q) == theirs.predict(Q)).all()
    alone = [
        KNeighborsClassifier(5).fit(np.delete(P, i, 0), np.delete(y, i)).predict(P[i : i + 1])[0]
        for i in range(80)
    ]
    assert (ours.leave_one_out() == alone).all()


@given(
    st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.integers(1, 3)), max_size=20),
    st.sampled_from([0.0, 0.1, 0.3, 0.5]),
)
@settings(max_examples=examples(80), deadline=None)
def test_threshold_is_the_lowest_with_an_allowed_error(rows, max_error):
    scores = np.array([score / 5 for score, _, _ in rows])
    right = np.array([is_right for _, is_right, _ in rows], dtype=bool)
    units = np.array([unit for _, _, unit in rows], dtype=np.int64)
    found = lowest_threshold(scores, right, units, 0.4, max_error)

    def is_good(threshold):
        inside = scores >= threshold
        total, wrong = units[inside].sum(), units[inside & ~right].sum()
        return total > 0 and wrong <= max_error * total + 1e-9

    good = [t for t in [0.4, *np.unique(scores)] if t >= 0.4 and is_good(t)]
    assert found == (min(good) if good else np.inf)


@pytest.mark.parametrize("n_bootstraps", [0, 15])
def test_held_out_rows_raise_the_threshold(n_bootstraps):
    random = np.random.RandomState(4)
    P, held = random.uniform(size=(800, 1)), random.uniform(size=(800, 1))
    right, held_right = (random.rand(800) < np.where(Q[:, 0] < 0.2, 0.99, 0.9) for Q in (P, held))
    ones = np.ones(800, np.int64)
    view = ProjectionView(P, right, ones, held, held_right, ones, np.ones(1), 1.0)
    found = NeighborFinder(n_bootstraps, 0.05).find(view, 0.05, 0.05, 0)
    assert found.before.threshold == 0.95
    assert found.before.n_neighbors == 20
    assert found.after.threshold > 0.95
    inside, held_inside = found.which >= 0, found.held_which >= 0
    wrong = np.append(~right[inside], ~held_right[held_inside])
    assert wrong.mean() <= (0.05 if not n_bootstraps else 0.08)


def test_number_of_neighbors_does_not_decrease_when_max_error_is_relaxed():
    random = np.random.RandomState(0)
    P, right = random.uniform(size=(300, 2)), random.rand(300) < 0.8
    view = ProjectionView(
        P, right, np.ones(300, np.int64), P[:0], right[:0], np.ones(0, np.int64), np.ones(2), 1.0
    )
    expected = {(0.1, 0.1): 10, (0.1, 0.3): 10, (0.1, 0.05): 20, (0.0, 0.3): 50}
    for (initial, current), n in expected.items():
        found = NeighborFinder(0, initial).find(view, current, current, 0)
        assert found.after.n_neighbors == n
        assert found.after.threshold == 1 - current
