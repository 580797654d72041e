"""Levels: predictions, accuracy on new rows, invariances, warnings and errors."""

import signal
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from _support.extended import EXTENDED
from pellucid import ATEOPClassifier, EOPClassifier
from pellucid.datasets import make_eop_patterns, make_xor_triangles
from pellucid.regions.levels import project

MODELS = [
    EOPClassifier("stump", regions="box"),
    EOPClassifier("linear_svm", regions="nonparametric", leftover="abstain"),
    EOPClassifier(
        "stump", regions="nonparametric", leftover="neighbours", relax=0.2, max_error=0.05
    ),
    EOPClassifier("knn", regions="ellipse", n_bootstraps=3, relax=False, leftover="abstain"),
    EOPClassifier("logistic", regions="polyhedron", choose="error", n_candidates=2),
    EOPClassifier(DecisionTreeClassifier(max_depth=2, random_state=0), projections=4),
    ATEOPClassifier("linear_svm", max_error=0.2),
    ATEOPClassifier(regions="nonparametric", max_error=0.2, n_candidates=5),
]
NAMES = np.array(["no", "yes"])
each = pytest.mark.parametrize("model", MODELS, ids=lambda m: f"{type(m).__name__}-{m.regions}")
rarely = pytest.mark.skipif(not EXTENDED, reason="other variants are tested")
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def patterns():
    X, y = make_eop_patterns(450, 5, pattern_dims=(2, 2, 1), random_state=3)
    return X[:300], y[:300], X[300:], y[300:]


@pytest.fixture(scope="module")
def fitted(patterns):
    """A model fitted on the patterns with one thread, once for each way to answer leftover rows."""
    X, y, _, _ = patterns

    @cache
    def fit(model, leftover):
        model = clone(model).set_params(random_state=0, n_jobs=1, leftover=leftover)
        return model.fit(X, NAMES[y])

    return lambda model, leftover=None: fit(model, leftover or model.leftover)


@pytest.mark.slow
@quiet
@each
def test_first_level_that_contains_a_row_classifies_it(model, patterns, fitted):
    _, _, test, _ = patterns
    model = fitted(model)
    assert model.n_levels_ == len(model.levels_) > 0
    answers, where = model.predict(test), model.apply(test)
    for row, (level, region) in enumerate(where):
        for index, tested in enumerate(model.levels_):
            P = project(test, tested.features, np.array([row]))
            if tested.regions.contains(P)[0]:
                assert (level, region) == (index, tested.regions.which(P)[0])
                assert answers[row] == model.classes_[tested.classifier.predict(P)[0]]
                break
        else:
            assert level == region == -1
    assert ((where[:, 0] < 0) == model.abstained(test)).all()


@pytest.mark.slow
@quiet
@each
def test_abstained_rows_are_those_in_no_region(model, patterns, fitted):
    _, _, test, _ = patterns
    abstaining, answering = fitted(model, "abstain"), fitted(model, "majority")
    left = abstaining.abstained(test)
    assert (left == answering.abstained(test)).all()
    assert (abstaining.predict(test)[left] == "unknown").all()
    assert (abstaining.predict(test)[~left] == answering.predict(test)[~left]).all()
    assert len(set(answering.predict(test)[left])) <= 1
    shares = abstaining.predict_proba(test)
    assert np.allclose(shares.sum(axis=1), 1)
    assert (shares[left] == abstaining.leftover_shares_).all()
    assert (NAMES[shares.argmax(axis=1)] == answering.predict(test)).all()


@pytest.mark.slow
@quiet
@each
def test_result_does_not_depend_on_threads_or_storage(model, patterns, fitted):
    X, y, test, _ = patterns
    one = fitted(model)
    expected = one.predict_proba(test)
    same = clone(model).set_params(random_state=0, n_jobs=3)
    stored = clone(same).fit(sparse.csr_array(X), NAMES[y])
    others = [stored]
    if EXTENDED or model is MODELS[0]:
        others.append(same.fit(np.asfortranarray(X), NAMES[y]))
    for other in others:
        assert [level.features for level in other.levels_] == [lv.features for lv in one.levels_]
        assert (other.predict_proba(test) == expected).all()
        assert (other.apply(test) == one.apply(test)).all()
        assert other.complexity_ == one.complexity_
    assert (stored.apply(sparse.csc_array(test)) == one.apply(test)).all()


@pytest.mark.slow
@quiet
@each
def test_level_attributes_are_consistent(model, patterns, fitted):
    X, _, _, _ = patterns
    model = fitted(model)
    reached = np.arange(len(X))
    held = np.isin(np.arange(len(X)), model.calibration_rows_)
    assert held.mean() == pytest.approx(model._calibration, abs=0.01)
    for level in model.levels_:
        assert (level.reached == reached).all()
        assert np.isin(level.covered, reached).all()
        assert level.coverage == pytest.approx(len(level.covered) / len(X))
        assert level.n_samples == len(level.covered)
        wrong = 1 - np.einsum("rii->", level.counts) / level.counts.sum()
        share = held[level.covered].mean()
        together = (1 - share) * level.error
        together += share * level.held_out_error if share else 0.0
        assert wrong == pytest.approx(together)
        reached = np.setdiff1d(reached, level.covered)
        if level.regions.kind != "nonparametric":
            assert (level.regions.contains(X[np.ix_(level.covered, level.features)])).all()
    assert model.coverage_ == pytest.approx(1 - len(reached) / len(X))
    assert model.leftover_share_ == pytest.approx(len(reached) / len(X))
    used = [step for step in model.history_ if step.is_used]
    assert [step.features for step in used] == [level.features for level in model.levels_]
    assert all(step.after is lv.regions for step, lv in zip(used, model.levels_))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("max_error", "regions"),
    [
        (0.1, "nonparametric"),
        (0.2, "box"),
        pytest.param(0.1, "box", marks=rarely),
        pytest.param(0.2, "nonparametric", marks=rarely),
    ],
)
def test_error_on_new_rows_is_at_most_max_error(regions, max_error):
    n, wrong, total = 1500, 0, 0
    for seed in range(3):
        X, y = make_eop_patterns(6000, 6, pattern_dims=(2, 2, 2, 1), random_state=seed)
        model = ATEOPClassifier(
            "linear_svm", regions=regions, max_error=max_error, n_candidates=8, random_state=seed
        ).fit(X[:n], y[:n])
        answered = ~model.abstained(X[n:])
        wrong += (model.predict(X[n:]) != y[n:])[answered].sum()
        total += answered.sum()
        for level in model.levels_:
            assert level.held_out_error <= max_error
    assert total > n
    assert wrong / total <= max_error


@pytest.mark.parametrize("base", ["stump", "linear_svm", "logistic"])
def test_squares_and_triangles_need_few_levels(base):
    X, y = make_xor_triangles(random_state=0)
    model = EOPClassifier(base, random_state=0).fit(X, y)
    assert model.n_levels_ <= 3
    X, y = make_xor_triangles(random_state=1)
    assert model.score(X, y) > 0.98


def test_regions_are_found_for_an_xor_pattern():
    random = np.random.RandomState(0)
    X = random.normal(size=(2000, 12))
    y = X[:, 3] * X[:, 7] > 0
    model = EOPClassifier("stump", random_state=0).fit(X, y)
    assert model.levels_[0].features == (3, 7)
    assert model.score(X, y) > 0.9
    assert model.predict(X).dtype == bool


@pytest.mark.slow
@quiet
def test_integer_weight_equals_repeated_rows_without_calibration(patterns):
    X, y, test, _ = patterns
    X, y = X[:150], y[:150]
    times = np.random.RandomState(0).randint(0, 4, len(X))
    for base, regions in (("stump", "box"), ("stump", "nonparametric"), ("knn", "nonparametric")):
        model = EOPClassifier(base, regions=regions, calibration=0, random_state=0)
        weighted = clone(model).fit(X, y, sample_weight=times)
        repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        assert (weighted.apply(test) == repeated.apply(test)).all()
        assert np.allclose(weighted.predict_proba(test), repeated.predict_proba(test))
        assert all((times[level.reached] > 0).all() for level in weighted.levels_)


def test_fractional_weights_and_their_multiples_agree(patterns):
    X, y, test, _ = patterns
    weight = np.random.RandomState(1).uniform(0.1, 3, len(X))
    model = EOPClassifier("stump", random_state=0)
    a = clone(model).fit(X, y, sample_weight=weight)
    b = clone(model).fit(X, y, sample_weight=4 * weight)
    assert [level.features for level in a.levels_] == [level.features for level in b.levels_]
    assert (a.predict(test) == b.predict(test)).all()
    assert a.n_levels_ > 0


def test_more_classes_than_two(patterns):
    X, _, _, _ = patterns
    y = np.array(["a", "b", "c", "d"], dtype=object)[(X[:, 0] > 0.5) * 2 + (X[:, 1] > 0.5)]
    for base in ("stump", "linear_svm", "knn"):
        model = EOPClassifier(base, random_state=0).fit(X, y)
        assert model.score(X, y) > 0.9
        assert set(model.predict(X)) == set("abcd")


@pytest.mark.parametrize("choose", ["error", "coverage"])
def test_complexity_penalty_reduces_the_number_of_columns(choose, patterns):
    X, y, _, _ = patterns
    model = EOPClassifier(
        "stump", complexity_penalty=1.0, choose=choose, n_candidates=4, random_state=0
    )
    model.fit(X, y)
    assert all(len(level.features) == 1 for level in model.levels_)


def test_max_levels_and_max_dim(patterns):
    X, y, _, _ = patterns
    model = EOPClassifier("stump", max_levels=1, max_dim=3, projections=30, random_state=0).fit(
        X, y
    )
    assert model.n_levels_ == 1
    assert len(model.levels_[0].features) <= 3


@pytest.mark.slow
def test_rows_in_no_region_are_classified_by_the_closest_level(patterns):
    X, y, test, _ = patterns
    names = np.array(["no", "yes"])
    model = EOPClassifier(
        "linear_svm",
        regions="nonparametric",
        leftover="neighbours",
        relax=False,
        max_error=0.05,
        random_state=0,
    )
    with pytest.warns(
        ConvergenceWarning, match="uncovered rows get the class of the closest level's"
    ):
        model.fit(X, names[y])
    left = np.flatnonzero(model.abstained(test))
    assert len(left) > 30
    assert (model.apply(test)[left] == -1).all()
    answers, shares = model.predict(test), model.predict_proba(test)
    explanations = model.explain(test)
    for row in left.tolist():
        scores = [lv.regions.score(test[[row]][:, lv.features])[0] for lv in model.levels_]
        best = model.levels_[int(np.argmax(scores))]
        answer = names[best.classifier.predict(test[[row]][:, best.features])[0]]
        assert answers[row] == explanations[row].answer == answer
        assert explanations[row].abstained
        assert f"the closest level is level {np.argmax(scores) + 1}" in explanations[row].text
        assert explanations[row].names == tuple(f"x{f}" for f in best.features)
    assert (names[shares.argmax(axis=1)] == answers).all()
    assert np.allclose(shares.sum(axis=1), 1)
    majority = clone(model).set_params(leftover="majority")
    with pytest.warns(ConvergenceWarning):
        majority.fit(X, names[y])
    inside = np.setdiff1d(np.arange(len(test)), left)
    assert (majority.predict(test)[inside] == answers[inside]).all()


@pytest.mark.slow
def test_accuracy_stated_for_rows_in_no_region_holds_for_new_rows():
    """Uncovered training rows are scored leave-one-out; otherwise the accuracy would be 1."""
    X, y = make_eop_patterns(6000, 6, pattern_dims=(2, 2, 2), width=(0.1, 0.2), random_state=1)
    X, test, y, truth = X[:1000], X[1000:], y[:1000], y[1000:]
    model = EOPClassifier(
        "linear_svm", regions="nonparametric", leftover="neighbours", relax=0.2, random_state=0
    ).fit(X, y)
    left = model.abstained(test)
    accuracy = (model.predict(test) == truth)[left].mean()
    uncovered = model.explain()[-1]
    assert uncovered.by_neighbours
    assert uncovered.share == model.leftover_share_ > 0.1
    assert uncovered.purity == pytest.approx(accuracy, abs=0.05)
    assert f"{100 * uncovered.purity:.1f}% of such rows correct" in str(uncovered)


def test_leftover_neighbours_without_regions_is_the_most_frequent_class():
    random = np.random.RandomState(0)
    X, y = random.normal(size=(200, 3)), np.append(random.randint(0, 2, 190), [1] * 10)
    model = EOPClassifier(
        "stump",
        regions="nonparametric",
        leftover="neighbours",
        relax=False,
        max_error=0.0,
        random_state=0,
    )
    with pytest.warns(ConvergenceWarning, match="no region was found .* most frequent class"):
        model.fit(X, y)
    assert (model.predict(X) == np.bincount(y).argmax()).all()
    assert not model.explain()[-1].by_neighbours


def test_leftover_neighbours_requires_nonparametric_regions(patterns):
    X, y, _, _ = patterns
    with pytest.raises(ValueError, match=r'requires regions="nonparametric"; got regions=\'box\''):
        EOPClassifier("stump", leftover="neighbours").fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("regions", ["box", "nonparametric"])
def test_max_error_is_not_relaxed_beyond_relax(patterns, regions):
    X, y, _, _ = patterns
    model = EOPClassifier("stump", regions=regions, max_error=0.05, random_state=0)

    def allowed(relax):
        fitted = clone(model).set_params(relax=relax).fit(X, y)
        return [level.max_error for level in fitted.levels_]

    unlimited = allowed(True)
    assert max(unlimited) > 0.1
    assert allowed(1.0) == unlimited
    for relax in (0.06, 0.1) if EXTENDED else (0.1,):
        limited = allowed(relax)
        assert max(limited) <= relax
        assert limited == [error for error in unlimited if error <= relax]


# Warnings and errors.


def test_too_strict_max_error_warns_with_the_coverage():
    random = np.random.RandomState(0)
    X = random.uniform(size=(400, 2))
    y = np.where(X[:, 0] < 0.4, 0, random.randint(0, 2, 400))
    strict = EOPClassifier("stump", max_error=0.02, relax=False, random_state=0)
    text = (
        r"max_error=0.02: 1 levels cover (3|4)\d\.\d% of the training rows; uncovered rows get the"
    )
    with pytest.warns(ConvergenceWarning, match=text):
        model = strict.fit(X, y)
    assert 0.3 < model.coverage_ < 0.5
    relaxed = clone(strict).set_params(relax=True).fit(X, y)
    assert relaxed.coverage_ >= model.coverage_


def test_no_region_warns():
    random = np.random.RandomState(0)
    X, y = random.normal(size=(200, 3)), random.randint(0, 2, 200)
    model = ATEOPClassifier(max_error=0.01, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"no region was found .* get no answer"):
        model.fit(X, y)
    assert (model.predict(X) == -1).all()
    assert model.abstained(X).all()
    assert (model.complexity_, model.coverage_) == (0, 0)
    assert str(model.explain()) == "in no region: no answer (100.0% of the rows)"
    assert "because it is in no region" in str(model.explain(X[:1]))


@pytest.mark.parametrize(
    ("n", "max_error", "text"),
    [
        (40, 0.05, "90 held-out rows in a level, but there are 20"),
        (600, 0.0, "no number of rows can confirm an error of 0: set confidence=0"),
    ],
)
def test_too_few_held_out_rows_are_named_in_the_warning(n, max_error, text):
    X = np.repeat([0.0, 1.0], n // 2)[:, None]
    y = X[:, 0] > 0.5
    model = ATEOPClassifier(max_error=max_error, random_state=0)
    with pytest.warns(ConvergenceWarning, match=text):
        model.fit(X, y)
    if n > 100:
        assert (clone(model).set_params(confidence=0).fit(X, y).predict(X) == y).all()


@pytest.mark.parametrize(
    ("n", "k", "is_reliable"), [(45, 0, True), (44, 0, False), (77, 1, True), (76, 1, False)]
)
def test_confidence_bound_is_exact(n, k, is_reliable):
    """Compared with the binomial probability of at most k errors in n rows at ε = 0.05."""
    from math import comb

    from pellucid.eop._ateop import ATEOPLearner
    from pellucid.eop.problem import ProjectionView, Settings

    chance = sum(comb(n, i) * 0.05**i * 0.95 ** (n - i) for i in range(k + 1))
    assert (chance <= 0.1) == is_reliable
    ones, right = np.ones(n, np.int64), np.arange(n) >= k
    P = np.zeros((n, 1))
    view = ProjectionView(P[:0], right[:0], ones[:0], P, right, ones, np.ones(1), 1.0)
    learner = object.__new__(ATEOPLearner)
    learner.settings = Settings(0.05, 0, 1, 0, 1, False, "both", confidence=0.9)
    assert learner._is_reliable(view, np.ones(n, bool)) == is_reliable


def test_constant_columns_only():
    with pytest.warns(ConvergenceWarning, match="all columns are constant"):
        model = EOPClassifier("stump", calibration=0).fit(np.ones((6, 2)), [0, 1, 1, 1, 0, 1])
    assert (model.predict(np.ones((2, 2))) == 1).all()


def test_one_column_and_duplicated_columns():
    X = np.linspace(0, 1, 100)[:, None]
    y = X[:, 0] > 0.3
    alone = EOPClassifier("stump", random_state=0).fit(X, y)
    assert alone.levels_[0].features == (0,)
    twice = EOPClassifier("stump", random_state=0).fit(np.hstack([X, X, np.zeros_like(X)]), y)
    assert [level.features for level in twice.levels_] == [lv.features for lv in alone.levels_]


def test_class_without_held_out_rows_is_named():
    X = np.arange(41.0)[:, None]
    y = np.array(["a"] * 40 + ["rare"])
    with pytest.warns(
        UserWarning, match="class 'rare' has too few rows for a calibration split; its"
    ):
        EOPClassifier("stump", random_state=0).fit(X, y)


class FailingClassifier(ClassifierMixin, BaseEstimator):
    """Raises an error unless there are two classes and large values."""

    def fit(self, X, y, sample_weight=None):
        if X.max() < 10 or len(set(y)) < 2:
            raise ValueError("no")
        self.classes_ = np.unique(y)
        self.mean_ = [X[y == c].mean() for c in self.classes_]
        return self

    def predict(self, X):
        nearest = np.abs(X.mean(axis=1)[:, None] - self.mean_).argmin(axis=1)
        return self.classes_[nearest]


def test_projections_that_cannot_be_fitted_are_skipped_and_counted():
    random = np.random.RandomState(0)
    X = random.uniform(size=(200, 3)) * [100, 1, 1]
    y = X[:, 0] > 50
    model = EOPClassifier(FailingClassifier(), random_state=0, max_levels=1).fit(X, y)
    assert model.levels_[0].features == (0,)
    assert model.n_skipped_projections_ == 3
    with pytest.warns(ConvergenceWarning, match="could not be fitted on any projection"):
        EOPClassifier(FailingClassifier(), random_state=0).fit(X[:, 1:], y)


def test_weights_require_a_base_that_supports_them(patterns):
    X, y, _, _ = patterns
    model = EOPClassifier(KNeighborsClassifier(), projections=3, max_levels=1, random_state=0)
    with pytest.raises(
        ValueError, match=r"KNeighborsClassifier\(\) does not support sample_weight.*'knn'"
    ):
        model.fit(X, y, sample_weight=np.arange(1, len(X) + 1))
    model.fit(X, y, sample_weight=np.ones(len(X)))


@pytest.mark.slow
def test_sklearn_classifiers_are_scored_out_of_sample():
    X, y = make_xor_triangles(random_state=0)
    flipped = np.random.RandomState(99).rand(len(y)) < 0.15
    for base in (DecisionTreeClassifier(random_state=0), QuadraticDiscriminantAnalysis()):
        model = EOPClassifier(base, max_error=0.2, random_state=0).fit(X, y ^ flipped)
        assert 0.08 < model.levels_[0].error < 0.2
        assert model.score(X, y) > 0.8


def test_nan_raises_an_error_with_its_position(patterns):
    X, y, _, _ = patterns
    bad = X.copy()
    bad[7, 2] = np.nan
    with pytest.raises(ValueError, match="NaN: column 2, first at row 7"):
        EOPClassifier("stump").fit(bad, y)
    model = EOPClassifier("stump", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="NaN: column 2, first at row 7"):
        model.predict(bad)


def test_classes_may_include_minus_one():
    X = np.linspace(0, 1, 60)[:, None]
    y = np.where(X[:, 0] > 0.5, 1, -1)
    model = ATEOPClassifier(random_state=0, max_error=0.3).fit(X, y)
    assert model.abstain_label_ == -2
    assert set(model.predict(X)) <= {-2, -1, 1}


def test_interrupt_keeps_the_levels_found_so_far(patterns):
    X, y, _, _ = patterns
    interrupted = []

    class InterruptingClassifier(FailingClassifier):
        def fit(self, X, y, sample_weight=None):
            if len(y) < 250 and not interrupted:
                interrupted.append(True)
                signal.raise_signal(signal.SIGINT)
            return super().fit(X + 10, y)

    model = EOPClassifier(InterruptingClassifier(), n_jobs=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match="interrupted: .* levels cover"):
        model.fit(X, y)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_progress_is_printed(patterns, capsys):
    X, y, _, _ = patterns
    EOPClassifier("stump", random_state=0, verbose=1, max_levels=2).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("EOPClassifier: level 1: columns ")


def test_one_class_is_predicted_everywhere():
    X = np.random.RandomState(0).normal(size=(50, 2))
    model = EOPClassifier("stump", random_state=0).fit(X, ["only"] * 50)
    assert (model.predict(X) == "only").all()
    assert model.coverage_ == 1
