"""Boxes of a list that are optimized together."""

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from pellucid import EOPClassifier
from pellucid._core.data.arrays import Weights
from pellucid.eop.box_finder import BoxFinder
from pellucid.eop.problem import RegionProblem
from pellucid.eop.refining import ListBox, ListOptimizer
from pellucid.regions.shapes import Boxes

ENDS = [-np.inf, 0.5, 1.5, 2.5, np.inf]


def make(X, y, weight=None, min_support=0.0):
    weights = Weights.of(np.ones(len(y)) if weight is None else weight)
    problem = RegionProblem(X, y, int(y.max()) + 1, weights)
    return ListOptimizer(problem, np.arange(len(y)), BoxFinder(0, 0.3), min_support, 0.5)


def box_of(X, answer, lower, upper, source=0):
    box = Boxes(np.array([lower], dtype=float), np.array([upper], dtype=float))
    features = tuple(range(X.shape[1]))
    return ListBox(features, answer, box, box.contains(X), source, int(box.n_facets.sum()))


def value(optimizer, boxes, penalty):
    answer = optimizer.predict(boxes, optimizer.rows)
    n_facets = sum(box.n_facets for box in boxes)
    right = optimizer.units[answer == optimizer.y].sum() / optimizer.total
    return right - penalty * n_facets


def path(optimizer, boxes, *penalties):
    return optimizer.path(boxes, penalties, lambda: False)[-1]


@pytest.mark.parametrize("seed", range(3))
def test_the_best_box_given_the_others_is_found(seed):
    random = np.random.default_rng(seed)
    X = random.integers(0, 4, (60, 2)).astype(float)
    y = ((X[:, 0] > 1.5) & (X[:, 1] < 2.5)).astype(int)
    y[random.random(60) < 0.15] = 2
    optimizer, penalty = make(X, y), 0.01
    start = box_of(X, 1, [1.5, -np.inf], [2.5, 1.5])
    found = path(optimizer, [start], penalty)
    best = max(
        value(optimizer, [box_of(X, 1, low, high)], penalty)
        for low in product(ENDS[:-1], repeat=2)
        for high in product(ENDS[1:], repeat=2)
        if low[0] < high[0] and low[1] < high[1]
    )
    assert value(optimizer, found, penalty) == pytest.approx(best)
    assert best > value(optimizer, [start], penalty)


def test_a_box_is_optimized_for_the_rows_that_earlier_boxes_leave():
    X = np.arange(40.0)[:, None]
    y = np.repeat([0, 1, 2, 1], 10)
    # The first box takes rows of class 1, which the second would answer.
    first, second = box_of(X, 0, [-np.inf], [14.5]), box_of(X, 1, [9.5], [19.5], source=1)
    boxes = path(make(X, y), [first, second, box_of(X, 2, [19.5], [29.5], source=2)], 0.01)
    assert make(X, y).predict(boxes, np.arange(40)).tolist() == y.tolist()
    # Class 2 has its box before class 1, or class 1 is the rest: at most one end each.
    assert sum(box.n_facets for box in boxes) <= 4


def test_useless_and_small_boxes_are_removed():
    X = np.arange(40.0)[:, None]
    y = np.repeat([0, 1], [36, 4])
    boxes = [box_of(X, 1, [35.5], [np.inf]), box_of(X, 0, [3.5], [9.5], source=1)]
    assert [box.source for box in path(make(X, y), boxes, 0.01)] == [0]
    assert path(make(X, y), boxes, 0.2) == []


@pytest.mark.parametrize(("min_support", "n_inside"), [(0.0, 5), (10, 10)])
def test_boxes_keep_the_required_support(min_support, n_inside):
    X = np.arange(38.0)[:, None]
    y = np.repeat([0, 1, 0, 1], [20, 5, 8, 5])
    boxes = path(make(X, y, min_support=min_support), [box_of(X, 1, [19.5], [np.inf])], 0.01)
    assert [np.sum(box.inside & (y == 1)) for box in boxes] == [n_inside]


def test_weights_count_as_repeated_rows():
    random = np.random.default_rng(0)
    X, weight = random.normal(size=(50, 2)), random.integers(1, 4, 50)
    y = (X[:, 0] + 0.3 * random.normal(size=50) > 0).astype(int)
    repeated = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    start = [-0.5, -1.0], [np.inf, 1.0]
    found = path(make(X, y, weight.astype(float)), [box_of(X, 1, *start)], 0.01)
    same = path(make(*repeated), [box_of(repeated[0], 1, *start)], 0.01)
    assert [(b.box.lower.tolist(), b.box.upper.tolist()) for b in found] == [
        (b.box.lower.tolist(), b.box.upper.tolist()) for b in same
    ]


@pytest.mark.slow
def test_only_lists_whose_error_is_not_given_are_optimized(monkeypatch):
    calls = []
    optimize = ListOptimizer._optimize
    monkeypatch.setattr(
        ListOptimizer, "_optimize", lambda *a: calls.append(1) or optimize(*a), raising=True
    )
    X, y = load_iris(return_X_y=True)
    for given in ({"max_error": 0.1}, {"strict": True}, {"leftover": "abstain"}):
        EOPClassifier(complexity_penalty=0.01, random_state=0, **given).fit(X, y)
        assert not calls
    EOPClassifier(complexity_penalty=0.01, random_state=0).fit(X, y)
    assert calls


def test_levels_state_what_they_cover_after_optimization():
    X, y = load_wine(return_X_y=True)
    model = EOPClassifier(complexity_penalty=0.005, random_state=0).fit(X, y)
    level, region = model.apply(X).T
    for index, found in enumerate(model.levels_):
        assert found.covered.tolist() == np.flatnonzero(level == index).tolist()
        assert found.counts.sum() == len(found.covered)
        answers = found.counts.sum(axis=(0, 2)).argmax()
        assert found.counts[:, answers, answers].sum() >= 0.5 * len(found.covered)
    assert [step.after for step in model.history_ if step.is_used] == [
        found.regions for found in model.levels_
    ]
    assert (region[level >= 0] == 0).all()
