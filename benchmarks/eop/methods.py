"""The methods of the EOP tables, each with its parameters chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from benchmarks.eop.boosting import BoostedPlanes
from pellucid.metrics import cart_complexity, eop_complexity, level_measures

MEASURES = ("bayes_factor", "lift", "j_score", "nmi")
COLUMNS = ("accuracy", "complexity", "decisions", "levels", "coverage", *MEASURES, "chosen")

N_FOLDS = 3
_MEMBERS = 200
_PRUNING = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.008, 0.013, 0.02, 0.04)
_ERRORS = (0.05, 0.1, 0.15, 0.2)
_PENALTIES = (0.0, 0.02)


@dataclass(frozen=True)
class Method:
    """A way to a classifier.

    Attributes
    ----------
    title : str
    fit : callable
        Takes rows, classes and whether to be quick; returns a fitted model and what was chosen.
    judge : callable
        Takes the model, test rows and their classes; returns the figures of a `Job`.
    """

    title: str
    fit: Callable[[np.ndarray, np.ndarray, bool], tuple[Any, str]]
    judge: Callable[[Any, np.ndarray, np.ndarray], dict[str, float]] = field(repr=False)


def choose(candidates: Sequence[Any], X: np.ndarray, y: np.ndarray) -> Any:
    """The candidate that is right about most held-out rows, the first among equals.

    Candidates are in order of complexity, the simplest first.
    """
    right = np.zeros(len(candidates))
    if len(candidates) > 1:
        for train, test in StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y):
            for i, candidate in enumerate(candidates):
                model = _copy(candidate).fit(X[train], y[train])
                right[i] += np.sum(model.predict(X[test]) == y[test])
    return _copy(candidates[int(right.argmax())]).fit(X, y)


def _copy(model: Any) -> Any:
    from sklearn.base import clone

    return clone(model)


def _fit_cart(X, y, quick):
    trees = [DecisionTreeClassifier(ccp_alpha=alpha, random_state=0) for alpha in _PRUNING[::-1]]
    tree = choose(trees[-3:] if quick else trees, X, y)
    return tree, f"alpha {tree.ccp_alpha:g}"


def _judge_cart(tree, X, y):
    leaves, level = np.unique(tree.apply(X), return_inverse=True)
    label = tree.classes_[tree.tree_.value[leaves, 0].argmax(axis=1)]
    measures = level_measures(level, y[:, None] == label).combined()
    nodes = cart_complexity(tree)
    return {
        "accuracy": np.mean(tree.predict(X) == y),
        "complexity": nodes,
        "decisions": nodes,
        "levels": tree.get_depth(),
        "coverage": 1.0,
        **measures,
    }


def _fit_boosting(X, y, quick):
    """The number of members is that which is best on a third held out, then all rows are used."""
    most = 20 if quick else _MEMBERS
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    train, test = next(folds.split(X, y))
    trial = BoostedPlanes(most).fit(X[train], y[train])
    right = [np.mean(answer == y[test]) for answer in trial.staged_predict(X[test])]
    n_members = 1 + int(np.argmax(right))
    return BoostedPlanes(n_members).fit(X, y), f"{n_members} members"


def _judge_boosting(model, X, y):
    *_, answer = model.staged_predict(X)
    n = len(model.members_)
    return {"accuracy": np.mean(answer == y), "complexity": n, "decisions": 2 * n}


def _judge_members(model, X, y):
    """Nodes of all trees for a forest, members for others, as the paper counts them."""
    trees = model.estimators_
    if isinstance(model, RandomForestClassifier):
        size = sum(cart_complexity(tree) for tree in trees)
    else:
        size = len(trees)
    return {"accuracy": np.mean(model.predict(X) == y), "complexity": size}


def _fit_forest(X, y, quick):
    return RandomForestClassifier(20 if quick else 100, random_state=0).fit(X, y), ""


def _fit_subspacing(X, y, quick):
    """Trees on random halves of the columns, all rows: Ho's random subspaces."""
    tree = DecisionTreeClassifier(random_state=0)
    model = BaggingClassifier(tree, 30, max_features=0.5, bootstrap=False, random_state=0)
    return model.fit(X, y), ""


def _fit_adaboost(X, y, quick):
    return AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y), ""


def _fit_eop(regions: str, base: str):
    def fit(X, y, quick):
        from pellucid import EOPClassifier

        models = [
            EOPClassifier(
                base,
                regions=regions,
                max_error=error,
                complexity_penalty=penalty,
                random_state=0,
                n_jobs=2,
            )
            for error in ((0.1,) if quick else _ERRORS[::-1])
            for penalty in ((0.0,) if quick else _PENALTIES[::-1])
        ]
        model = choose(models, X, y)
        return model, f"ε {model.max_error:g}, η {model.complexity_penalty:g}"

    return fit


def judge_eop(model, X, y):
    """Figures of a fitted decision list on test rows."""
    level, region = model.apply(X).T
    levels = model.levels_
    dims = [len(one.features) for one in levels]
    if model.regions == "nonparametric":
        tests = [one.regions.n_neighbors for one in levels]
        complexity = eop_complexity(level, tests, classification=1)
        decisions = sum(dims)
    else:
        tests = [len(one.regions) for one in levels]
        complexity = eop_complexity(level, tests, region=region)
        decisions = int(np.dot(tests, dims))
    right = np.column_stack(
        [model.classes_[one.classifier.predict(X[:, one.features])] == y for one in levels]
    )
    return {
        "accuracy": np.mean(model.predict(X) == y),
        "complexity": complexity,
        "decisions": decisions,
        "levels": len(levels),
        "coverage": np.mean(level >= 0),
        **level_measures(level, right).combined(),
    }


METHODS = {
    "boosting": Method("AdaBoost, linear SVMs", _fit_boosting, _judge_boosting),
    "eop_svm": Method("N-EOP, linear SVMs", _fit_eop("nonparametric", "linear_svm"), judge_eop),
    "cart": Method("CART", _fit_cart, _judge_cart),
    "n_eop": Method("N-EOP", _fit_eop("nonparametric", "stump"), judge_eop),
    "r_eop": Method("R-EOP", _fit_eop("box", "stump"), judge_eop),
    "random_forest": Method("Random forest", _fit_forest, _judge_members),
    "subspacing": Method("Sub-spacing", _fit_subspacing, _judge_members),
    "adaboost": Method("AdaBoost, stumps", _fit_adaboost, _judge_members),
}
"""In the order of the tables; the names of table 4 and 5 are the columns of the paper's files."""


def measure(name: str, split, quick: bool) -> dict[str, Any]:
    """Fit a method on the training part and judge it on the rest."""
    method = METHODS[name]
    model, chosen = method.fit(split.X, split.y, quick)
    figures = method.judge(model, split.X_test, split.y_test)
    return {"chosen": chosen, **{key: float(value) for key, value in figures.items()}}
