"""Linear classifiers: minimum of the objective, and agreement with scikit-learn."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from pellucid._core.data.arrays import Weights
from pellucid.eop.base_classifiers import LinearBase
from pellucid.eop.problem import RegionProblem


def make(n_classes, seed=0, n=200, weighted=True):
    random = np.random.RandomState(seed)
    X = random.normal(loc=[0, 100, -5], scale=[1, 30, 0.01], size=(n, 3))
    noise = random.normal(size=n)
    y = np.digitize(X[:, 0] + (X[:, 1] - 100) / 30 + noise, np.arange(1, n_classes) - 0.5)
    weight = random.randint(1, 4, n).astype(float) if weighted else np.ones(n)
    return RegionProblem(X, y, n_classes, Weights.of(weight))


def objective(w, Z, sign, weight, loss):
    margin = sign * (Z @ w[:-1] + w[-1])
    each = np.log1p(np.exp(-margin)) if loss == "logistic" else np.maximum(0, 1 - margin) ** 2
    return 0.5 * w[:-1] @ w[:-1] + weight @ each


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("features", [(1,), (0, 1), (0, 1, 2)])
def test_solution_minimizes_the_objective(loss, n_classes, features):
    problem = make(n_classes)
    rows = np.arange(150)
    base = LinearBase(problem, loss)
    columns, local, coef = base._solve(rows, np.array([features]))
    assert local.tolist() == [list(range(len(features)))]
    weight, random = problem.weight(rows), np.random.RandomState(0)
    for c in range(n_classes):
        sign = np.where(problem.y[rows] == c, 1.0, -1.0)
        least = objective(coef[0, c], columns.T, sign, weight, loss)
        for size in (1e-1, 1e-3):
            for step in random.normal(scale=size, size=(20, len(features) + 1)):
                assert objective(coef[0, c] + step, columns.T, sign, weight, loss) >= least - 1e-7


def test_logistic_regression_equals_scikit_learn():
    problem = make(2)
    rows = np.arange(200)
    columns, _, coef = LinearBase(problem, "logistic")._solve(rows, np.array([(0, 1)]))
    theirs = LogisticRegression(tol=1e-10, max_iter=1000)
    theirs.fit(columns.T, problem.y, sample_weight=problem.weight(rows))
    assert np.allclose(coef[0, 1, :2], theirs.coef_[0], atol=1e-5)
    assert np.allclose(coef[0, 1, 2], theirs.intercept_[0], atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_one_projection_predicts_as_in_a_batch(n_classes):
    problem = make(n_classes)
    rows = np.arange(0, 200, 2)
    base = LinearBase(problem, "squared_hinge")
    subsets = np.array([(0, 1), (0, 2), (1, 2)])
    together = base.answers(rows, subsets)
    for features, answers in zip(subsets, together):
        fitted = base.fit(rows, tuple(features))
        assert (fitted.answers == answers).mean() > 0.99
        assert (fitted.classifier.predict(problem.X[rows][:, features]) == fitted.answers).all()


def test_classes_without_rows_are_never_predicted():
    problem = make(4)
    rows = np.flatnonzero(problem.y < 2)
    answers = LinearBase(problem, "squared_hinge").fit(rows, (0, 1)).answers
    assert set(answers) <= {0, 1}
    alone = np.flatnonzero(problem.y == 3)
    assert (LinearBase(problem, "logistic").fit(alone, (0, 1)).answers == 3).all()


def test_decision_boundary_as_text():
    problem = make(2, weighted=False)
    classifier = LinearBase(problem, "logistic").fit(np.arange(200), (0, 1)).classifier
    names, classes = ["a", "b"], np.array(["low", "high"])
    assert classifier.reason(1, names, classes).startswith("where a + 0.0")
    text = classifier.reason(0, names, classes)
    assert text.startswith("where - a - 0.0")
    assert "≥" in text
