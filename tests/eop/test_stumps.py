"""Stumps against brute force."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from _support.extended import examples
from pellucid._core.data.arrays import Weights
from pellucid.eop.base_classifiers import StumpBase
from pellucid.eop.problem import RegionProblem


def problem_of(X, y, weight):
    X, y = np.array(X, dtype=float), np.array(y)
    return RegionProblem(X, y, int(y.max()) + 1, Weights.of(np.array(weight, dtype=float)))


def least_error(column, y, weight):
    """Over all thresholds, each side predicting its heaviest class."""
    best = np.inf
    for threshold in [*np.unique(column), np.inf]:
        wrong = 0
        for side in (column <= threshold, column > threshold):
            by_class = [weight[side & (y == c)].sum() for c in range(y.max() + 1)]
            wrong += weight[side].sum() - max(by_class)
        best = min(best, wrong)
    return best


rows = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 3), st.integers(0, 2), st.integers(1, 3)),
    min_size=1,
    max_size=25,
)


@given(rows)
@settings(max_examples=examples(80), deadline=None)
def test_stump_has_the_smallest_error(rows):
    a, b, y, weight = np.array(rows).T
    problem = problem_of(np.column_stack([a, b]), y, weight)
    base = StumpBase(problem)
    all_rows = np.arange(len(y))
    base.prepare(all_rows, np.array([0, 1]))
    errors = [least_error(column.astype(float), y, weight) for column in (a, b)]
    for features in ((0,), (1,), (0, 1)):
        fitted = base.fit(all_rows, features)
        expected = min(errors[f] for f in features)
        assert weight[fitted.answers != y].sum() == expected
        together = base.answers(all_rows, np.array([features]))[0]
        assert (together == fitted.answers).all()
        assert (fitted.classifier.predict(problem.X[:, features]) == fitted.answers).all()


def test_threshold_is_rounded_and_ties_go_to_the_first_column():
    X = [[1.13, 5.0], [1.98, 5.1], [3.37, 7.0], [9.0, 8.0]]
    stump = StumpBase(problem_of(X, [0, 0, 1, 1], [1] * 4)).fit(np.arange(4), (0, 1)).classifier
    assert (stump.position, stump.threshold) == (0, 3.0)
    assert stump.reason(1, ["a", "b"], np.array(["x", "y"])) == "where a > 3"


def test_without_a_useful_threshold_the_most_frequent_class_is_predicted():
    base = StumpBase(problem_of([[1.0], [2.0], [3.0]], [0, 1, 1], [1, 5, 5]))
    fitted = base.fit(np.arange(3), (0,))
    assert fitted.answers.tolist() in ([1, 1, 1], [0, 1, 1])
    only = StumpBase(problem_of([[1.0], [1.0], [1.0]], [0, 1, 1], [1, 1, 1]))
    assert only.fit(np.arange(3), (0,)).classifier.threshold == np.inf
