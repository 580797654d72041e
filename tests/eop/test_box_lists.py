"""Decision lists of boxes that are grown, pruned and optimized together."""

from itertools import combinations, product

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from pellucid import EOPClassifier
from pellucid._core.data.arrays import Weights
from pellucid.eop.box_lists import BoxList
from pellucid.eop.box_search import ClassBoxSearch, Figures, RankBox, Stakes
from pellucid.eop.problem import RegionProblem, Settings, list_projections

ENDS = [(0, 3), (0, 2), (0, 1), (0, 0), (1, 3), (1, 2), (1, 1), (2, 3), (2, 2), (3, 3)]


def rows_of(X, y, weight=None, max_dim=2):
    weights = Weights.of(np.ones(len(y)) if weight is None else weight)
    problem = RegionProblem(X, y, int(y.max()) + 1, weights)
    subsets = list_projections(np.arange(X.shape[1]), max_dim, "all", np.random.RandomState(0))
    return ClassBoxSearch(problem, np.arange(len(y)), subsets)


def make(data, min_support=0.0, is_optimized=True):
    settings = Settings(0.1, 0.01, 8, min_support, None, 0.5, "both", optimizes=is_optimized)
    return BoxList(data, settings, lambda: False)


def box_of(data, answer, *ends):
    lower, upper = np.array(ends, dtype=np.int64).T
    n_ends = int((lower > 0).sum() + (upper < data.sizes[: len(ends)] - 1).sum())
    return RankBox(np.arange(len(ends)), answer, lower, upper, Figures(0, n_ends, 0, 0, 0))


def objective(data, boxes, penalty):
    return make(data)._objective(boxes, penalty) / data.total


@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("facet", [0, 3])
def test_the_best_box_of_all_projections_and_classes_is_found(dim, facet):
    random = np.random.default_rng(dim + facet)
    X, y = random.integers(0, 4, (80, 3)).astype(float), random.integers(0, 3, 80)
    data = rows_of(X, y, random.integers(1, 4, 80).astype(float), dim)
    stakes = Stakes(np.arange(80), 3 * data.units, data.units, np.zeros_like(data.units), facet)
    everything = [np.arange(len(subset)) for subset in data.subsets]
    best = data.best(stakes, 3, everything)[0][0]

    def value(features, answer, ends):
        inside = np.ones(80, dtype=bool)
        for feature, (low, high) in zip(features, ends):
            inside &= (X[:, feature] >= low) & (X[:, feature] <= high)
        n_ends = sum(int(low > 0) + int(high < 3) for low, high in ends)
        gains = np.where(y == answer, stakes.own, 0) - stakes.cost
        return gains[inside].sum() - facet * n_ends

    largest = max(
        value(features, answer, ends)
        for features in combinations(range(3), dim)
        for answer in range(3)
        for ends in product(ENDS, repeat=dim)
    )
    assert best.figures.value == largest
    features = data.features[best.columns]
    assert value(features, best.answer, list(zip(best.lower, best.upper))) == largest
    inside = data.inside(best)
    assert best.figures.total == data.units[inside].sum()
    assert best.figures.right == data.units[inside & (y == best.answer)].sum()


@pytest.mark.parametrize("seed", range(3))
def test_the_best_box_given_the_others_is_found(seed):
    random = np.random.default_rng(seed)
    X = random.integers(0, 4, (60, 2)).astype(float)
    y = ((X[:, 0] > 1.5) & (X[:, 1] < 2.5)).astype(int)
    y[random.random(60) < 0.15] = 2
    data, penalty = rows_of(X, y), 0.01
    start = box_of(data, 1, (2, 3), (0, 1))
    found = make(data)._optimize([start], penalty, 1)
    best = max(
        objective(data, [box_of(data, answer, *ends)], penalty)
        for answer in (1, 2)
        for ends in product(ENDS, repeat=2)
    )
    assert objective(data, found, penalty) == pytest.approx(best)
    assert best > objective(data, [start], penalty)


def test_a_box_is_optimized_for_the_rows_that_earlier_boxes_leave():
    X = np.arange(40.0)[:, None]
    y = np.repeat([0, 1, 2, 1], 10)
    data = rows_of(X, y)
    # The first box takes rows of class 1, which the second would answer.
    boxes = [box_of(data, 0, (0, 14)), box_of(data, 1, (10, 19)), box_of(data, 2, (20, 29))]
    *_, boxes = make(data).path(boxes, [0.01])
    assert make(data).predict(boxes, np.arange(40)).tolist() == y.tolist()
    # Class 2 has its box before class 1, or class 1 is the rest: at most one end each.
    assert sum(box.figures.n_ends for box in boxes) <= 4


def test_useless_boxes_are_removed_but_the_only_one_of_a_class():
    X = np.arange(400.0)[:, None]
    y = np.repeat([0, 1], [360, 40])
    data = rows_of(X, y)
    boxes = [box_of(data, 1, (360, 399)), box_of(data, 0, (40, 90))]
    assert [box.answer for box in list(make(data).path(boxes, [0.01]))[-1]] == [1]
    assert [box.answer for box in list(make(data).path(boxes, [0.2]))[-1]] == [1]
    assert list(make(data, is_optimized=False).path(boxes, [0.2]))[-1] == []
    # A class with less than 2 % of the rows needs no box.
    rare = rows_of(X, np.repeat([0, 1], [396, 4]))
    assert list(make(rare).path([box_of(rare, 1, (396, 399))], [0.2]))[-1] == []


@pytest.mark.parametrize(("min_support", "n_inside"), [(0.0, 5), (10, 10)])
def test_boxes_keep_the_required_support(min_support, n_inside):
    X = np.arange(938.0)[:, None]
    y = np.repeat([0, 1, 0, 1, 0], [20, 5, 8, 5, 900])  # class 1 is too rare to need a box
    data = rows_of(X, y)
    *_, boxes = make(data, min_support).path([box_of(data, 1, (20, 37))], [0.0005])
    assert [np.sum(data.inside(box) & (y == 1)) for box in boxes] == [n_inside]


def test_weights_count_as_repeated_rows():
    random = np.random.default_rng(0)
    X, weight = random.normal(size=(50, 2)), random.integers(1, 4, 50)
    y = (X[:, 0] + 0.3 * random.normal(size=50) > 0).astype(int)
    weighted = rows_of(X, y, weight.astype(float))
    repeated = rows_of(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    found = []
    for data in (weighted, repeated):
        search = make(data)
        *_, boxes = search.path(search.grow(), [0.01, 0.02])
        found.append([(b.answer, b.lower.tolist(), b.upper.tolist()) for b in boxes])
    assert found[0] == found[1] != []


@pytest.mark.slow
def test_only_lists_whose_error_is_not_given_are_optimized(monkeypatch):
    calls = []
    optimize = BoxList._optimize
    monkeypatch.setattr(BoxList, "_optimize", lambda *a: calls.append(1) or optimize(*a))
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


def test_the_result_does_not_depend_on_the_order_of_the_rows():
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    given = {"max_error": 0.1, "complexity_penalty": 0.005, "calibration": 0}
    one, other = (EOPClassifier(**given).fit(X[r], y[r]) for r in (slice(None), order))
    assert str(one.explain()) == str(other.explain())


def test_ends_that_exclude_the_same_row_are_not_both_left_out():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [0.0, 2.0]])
    data = rows_of(X, np.array([0, 0, 1, 0]))
    # Only the third row is beyond either end, and it is beyond both.
    box = box_of(data, 0, (0, 1), (0, 1))
    features, shape = make(data).in_values(box, np.array([0, 1, 2]))
    inside = shape.contains(X[:3, list(features)])
    assert inside.tolist() == data.inside(box)[:3].tolist() == [True, True, False]
