"""Lists of regions of one class each: every class is answered or reported, and each is pruned."""

import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from _support.extended import seeds
from pellucid import ATEOPClassifier, EOPClassifier
from pellucid._core.data.arrays import Weights
from pellucid.eop._classifier import PenaltyChoice, choose_penalty, penalties_of
from pellucid.eop.box_lists import FlatList
from pellucid.eop.problem import RegionProblem

FIXED = {"max_error": 0.1, "complexity_penalty": 0.002, "calibration": 0}


def grid(n_classes=9, per_class=40, seed=0):
    """Classes in the cells of a grid, of growing rarity."""
    random = np.random.default_rng(seed)
    side = int(np.sqrt(n_classes))
    sizes = [per_class // (1 + c // 3) for c in range(n_classes)]
    y = np.repeat(np.arange(n_classes), sizes)
    X = np.column_stack([y // side, y % side]) + 0.4 * random.random((len(y), 2))
    return np.column_stack([X, random.random(len(y))]), y


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def test_all_of_many_classes_are_answered():
    X, y = grid()
    model = EOPClassifier(**FIXED).fit(X, y)
    assert len(model.uncovered_classes_) == 0
    assert model.score(X, y) == 1.0
    assert all(len(level.features) <= 2 for level in model.levels_)


def test_a_rare_class_is_answered():
    random = np.random.default_rng(0)
    X = random.random((500, 3))
    y = np.where((X[:, 0] > 0.5) & (X[:, 1] > 0.96), 1, 0)
    assert 5 <= y.sum() <= 15
    model = EOPClassifier(**FIXED).fit(X, y)
    assert model.score(X[y == 1], y[y == 1]) > 0.8
    with pytest.warns(UserWarning, match="no region predicts class 1"):
        EOPClassifier("stump", **FIXED).fit(X, y)


def test_classes_without_a_region_are_reported():
    random = np.random.default_rng(1)
    X, y = random.random((300, 2)), np.repeat(["a", "b", "c"], [200, 96, 4])
    X[y == "b", 0] += 1
    with pytest.warns(UserWarning, match=r"no region predicts class 'c' \(1 of 3 classes\)"):
        model = EOPClassifier(**FIXED).fit(X, y)
    assert model.uncovered_classes_.tolist() == ["c"]
    assert str(model.explain()).endswith("no region predicts class 'c'")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        EOPClassifier(**FIXED).fit(X[y != "c"], y[y != "c"])


@pytest.mark.slow
@pytest.mark.parametrize("base", ["constant", "stump", "linear_svm"])
def test_no_region_has_less_than_half_of_its_class(base):
    random = np.random.default_rng(2)
    X, y = random.random((300, 3)), random.integers(0, 4, 300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = EOPClassifier(base, **FIXED, random_state=0).fit(X, y)
    pieces = [piece for rule in model.explain()[:-1] for piece in rule.pieces]
    assert all(piece.purity >= 0.5 for piece in pieces)


@pytest.mark.parametrize("base", ["constant", "stump"])
def test_support_as_a_number_of_rows_is_the_same_at_all_levels(base):
    random = np.random.default_rng(5)
    X = random.random((400, 2))
    y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.15)

    def smallest(min_support, X=X, y=y):
        model = EOPClassifier(base, **FIXED, min_support=min_support, random_state=0).fit(X, y)
        return min(level.counts.sum(axis=(1, 2)).min() for level in model.levels_)

    assert smallest(0.1) < 90 <= smallest(90)
    twice = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    assert smallest(180, *twice) == 2 * smallest(90)


def test_pruning_removes_what_does_not_pay():
    # Region 0 is wrong on one row, region 1 right on two, region 2 right on one.
    flat = FlatList(
        inside=np.array([[1, 0, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 1, 0]], dtype=bool),
        answer=np.array([1, 1, 1]),
        n_facets=np.array([1, 1, 1]),
        y=np.array([0, 1, 1, 1, 0]),
        units=np.ones(5, dtype=np.int64),
        n_classes=2,
    )
    assert flat.pruned(0.5).tolist() == [1, 2]
    # Without all regions the default is class 1, which is right on three rows.
    assert flat.pruned(1.5).tolist() == []
    assert replace(flat, has_default=False).pruned(1.5).tolist() == [1]


def test_pruning_keeps_the_last_region_of_a_needed_class():
    flat = FlatList(
        inside=np.array([[1, 1, 0, 0, 0], [0, 0, 1, 0, 0]], dtype=bool),
        answer=np.array([2, 1]),
        n_facets=np.array([1, 1]),
        y=np.array([0, 2, 1, 0, 0]),
        units=np.ones(5, dtype=np.int64),
        n_classes=3,
    )
    assert flat.pruned(5).tolist() == []
    assert replace(flat, needed=(2,)).pruned(5).tolist() == [0]
    # Class 0 is the default, and needs no region.
    assert replace(flat, needed=(0, 1)).pruned(5).tolist() == [1]


def test_levels_are_those_of_the_remaining_regions(wine):
    X, y = wine
    model = EOPClassifier(max_error=0.1, complexity_penalty=0.004, calibration=0).fit(X, y)
    reached = np.arange(len(X))
    for level in model.levels_:
        assert (level.reached == reached).all()
        assert level.counts.sum() == len(level.covered)
        reached = np.setdiff1d(reached, level.covered)
    used = [step for step in model.history_ if step.is_used]
    assert [step.features for step in used] == [level.features for level in model.levels_]
    assert [step.level for step in used] == list(range(model.n_levels_))
    found = model.apply(X)[:, 0]
    assert all(
        (np.flatnonzero(found == i) == lv.covered).all() for i, lv in enumerate(model.levels_)
    )
    less = EOPClassifier(max_error=0.1, complexity_penalty=0.03, calibration=0).fit(X, y)
    assert less.n_inequalities_ < model.n_inequalities_


def test_defaults_are_simpler_than_cart_and_as_accurate():
    X, y = load_iris(return_X_y=True)
    rows = np.arange(150) % 2 == 0
    model = EOPClassifier(random_state=0).fit(X[rows], y[rows])
    tree = DecisionTreeClassifier(random_state=0).fit(X[rows], y[rows])
    assert model.score(X[~rows], y[~rows]) >= tree.score(X[~rows], y[~rows]) - 0.015
    assert model.n_inequalities_ <= tree.tree_.node_count
    assert model.max_error_ == 0.2
    assert model.complexity_penalty_ == model.cv_results_[0].complexity_penalty
    assert isinstance(model.cv_results_[0], PenaltyChoice)
    best = max(choice.accuracy for choice in model.cv_results_)
    assert model.cv_results_[0].accuracy >= best - np.sqrt(best * (1 - best) / 75)
    assert len(model.calibration_rows_) == 0
    assert penalties_of(1000)[:2] == [0.002, 0.004]


def test_row_explanations_mention_earlier_regions(wine):
    X, y = wine
    model = EOPClassifier(**FIXED).fit(X, y)
    for explanation in model.explain(X):
        if explanation.level > 0:
            assert "because it is in no earlier region, and " in str(explanation)
        elif explanation.level == 0:
            assert "earlier region" not in str(explanation)


def test_fractional_weights_are_printed_as_weights(wine):
    X, y = wine
    weight = np.where(np.arange(len(y)) % 2, 10.5, 3.25)
    model = EOPClassifier(**FIXED).fit(X, y, sample_weight=weight)
    text = str(model.explain())
    assert " weight " in text
    assert "% of it " in text
    pieces = [piece for rule in model.explain()[:-1] for piece in rule.pieces]
    covered = model.apply(X)[:, 0] >= 0
    assert sum(piece.support for piece in pieces) == pytest.approx(weight[covered].sum())
    assert "weight" not in str(EOPClassifier(**FIXED).fit(X, y, weight * 4).explain())


@pytest.mark.parametrize("leftover", ["majority", "abstain"])
def test_stages_are_those_of_shorter_lists(wine, leftover):
    X, y = wine
    given = {"max_error": 0.2, "confidence": 0.9, "leftover": leftover, "random_state": 0}
    model = ATEOPClassifier(**given).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_levels_ > 1
    for n_levels, stage in enumerate(stages, start=1):
        short = ATEOPClassifier(**given, max_levels=n_levels).fit(X, y)
        assert (stage == short.predict(X)).all()
    scores = list(model.staged_score(X, y))
    assert scores[-1] == model.score(X, y)


def test_level_measures_and_stability(wine):
    X, y = wine
    model = EOPClassifier(**FIXED).fit(X, y)
    measures = model.level_measures(X, y)
    assert measures.support.sum() == pytest.approx(model.coverage_)
    assert measures.combined()["lift"] > 1
    for judge in (model.level_measures, lambda *rows: list(model.staged_score(*rows))):
        with pytest.raises(ValueError, match="inconsistent numbers of samples: .178, 5"):
            judge(X, y[:5])
    spread = model.stability(X, y, n_seeds=2)
    assert len(spread.accuracy) == 2
    assert spread.agreement == 1.0
    assert str(spread).startswith("first level: ")
    assert "(2 of 2)" in str(spread)


def test_a_model_without_levels_has_no_stages_and_no_measures():
    X, y = [[0.0]] * 20, [0, 1] * 10
    with pytest.warns(ConvergenceWarning, match="no region was found"):
        model = EOPClassifier(**FIXED).fit(X, y)
    assert list(model.staged_score(X, y)) == []
    assert model.level_measures(X, y).combined()["lift"] == 0


def test_weaker_penalty_of_linear_classifiers_fits_more_closely():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2))
    y = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)
    sizes = [
        np.abs(
            EOPClassifier("logistic", base_penalty=penalty, max_dim=2, random_state=0)
            .fit(X, y)
            .levels_[0]
            .classifier.coef
        ).max()
        for penalty in (0.01, 100.0)
    ]
    assert sizes[0] > 5 * sizes[1]


@pytest.mark.parametrize(("n_right", "chosen"), [(93, 0.001), (85, 0.1)])
def test_a_list_without_regions_is_only_chosen_if_none_is_more_accurate(n_right, chosen):
    y = np.repeat([0, 1], [90, 10])
    problem = RegionProblem(np.zeros((100, 1)), y, 2, Weights.of(np.ones(100)))
    # Within one standard error of 93 %, the most frequent class would be the simplest answer.
    wrong = np.random.RandomState(0).permutation(100)[n_right:]
    answer = y.copy()
    answer[wrong] = 1 - answer[wrong]

    class Stub:
        interrupt = SimpleNamespace(requested=False)

        def grow(self):
            pass

        def answers_by_penalty(self, penalties, rows):
            yield answer[rows], 2
            yield np.zeros(len(rows), dtype=int), 0

    found = choose_penalty(lambda *_: Stub(), problem, [0.001, 0.1], 0)
    assert found[0].complexity_penalty == chosen


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(3))
def test_every_class_with_two_percent_of_the_rows_is_answered(seed):
    random = np.random.default_rng(seed)
    y = random.choice(8, 600, p=[0.4, 0.3, 0.15, 0.05, 0.04, 0.03, 0.025, 0.005])
    X = random.normal(size=(600, 4)) + 0.7 * np.column_stack([y % 2, y // 2 % 2, y // 4, y == 3])
    model = EOPClassifier(random_state=0).fit(X, y)
    assert all(np.mean(y == c) < 0.02 for c in model.uncovered_classes_)
    assert model.score(X, y) > np.bincount(y).max() / len(y)


@pytest.mark.slow
def test_noise_gets_no_region():
    random = np.random.default_rng(0)
    X, y = random.random((200, 2)), (random.random(200) < 0.2).astype(int)
    with pytest.warns(UserWarning, match="no region was found .in cross-validation"):
        assert EOPClassifier(random_state=0).fit(X, y).n_inequalities_ == 0
