"""The methods of the EOP tables, each with its parameters chosen by cross-validation."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, RandomForestClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from benchmarks.eop.boosting import BoostedPlanes
from benchmarks.eop.choice import Trial, folds, most_accurate, simplest
from benchmarks.eop.ensembles import Feating, MultiBoosting
from benchmarks.eop.lists import EOP
from benchmarks.eop.sets import Split
from pellucid.metrics import cart_complexity, level_measures

MEASURES = ("bayes_factor", "lift", "j_score", "nmi")
COLUMNS = (
    *("accuracy", "complexity", "size", "effort", "levels", "coverage"),
    *MEASURES,
    *("chosen", "seconds"),
)

MOST_MEMBERS = 150
_PRUNING = (0.04, 0.02, 0.013, 0.008, 0.005, 0.003, 0.002, 0.001, 0.0005, 0.0)


class Method(NamedTuple):
    """A way to a classifier.

    Attributes
    ----------
    title : str
    fit : callable
        Takes rows, classes and whether to be quick; returns a fitted model and what was chosen.
    judge : callable
        Takes the model, test rows and their classes; returns figures by name.
    """

    title: str
    fit: Callable[[np.ndarray, np.ndarray, bool], tuple[Any, str]]
    judge: Callable[[Any, np.ndarray, np.ndarray], dict[str, float]]


def measure(name: str, split: Split, quick: bool) -> dict[str, Any]:
    """Fit a method on the training part and judge it on the rest."""
    method = METHODS[name]
    start = time.perf_counter()
    model, chosen = method.fit(split.X, split.y, quick)
    seconds = time.perf_counter() - start
    figures = method.judge(model, split.X_test, split.y_test)
    return {key: float(value) for key, value in figures.items()} | {
        "chosen": chosen,
        "seconds": seconds,
    }


def _fit_cart(X, y, quick):
    right, nodes = np.zeros(len(_PRUNING)), np.zeros(len(_PRUNING))
    for train, test in folds(y):
        for i, alpha in enumerate(_PRUNING):
            tree = _tree(alpha).fit(X[train], y[train])
            right[i] += np.sum(tree.predict(X[test]) == y[test])
            nodes[i] += cart_complexity(tree)
    trials = [Trial(*found) for found in zip(_PRUNING, right, nodes)]
    tree = _tree(simplest(trials, len(y))).fit(X, y)
    return tree, f"alpha {tree.ccp_alpha:g}"


def _tree(alpha: float) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(ccp_alpha=alpha, random_state=0)


def _judge_cart(tree, X, y):
    """The leaves are the levels, the tree is their classifier; effort: the questions asked."""
    leaves, level = np.unique(tree.apply(X), return_inverse=True)
    right = np.repeat((tree.predict(X) == y)[:, None], len(leaves), axis=1)
    nodes = cart_complexity(tree)
    return {
        "accuracy": np.mean(tree.predict(X) == y),
        "complexity": nodes,
        "size": nodes,
        "effort": tree.decision_path(X).sum() / len(X) - 1,
        "levels": tree.get_depth(),
        "coverage": 1.0,
        **level_measures(level, right).combined(),
    }


def _judge_leaves(tree, X, y):
    """The same, but each leaf is a classifier of its own: all rows are of its class."""
    leaves, level = np.unique(tree.apply(X), return_inverse=True)
    label = tree.classes_[tree.tree_.value[leaves, 0].argmax(axis=1)]
    measures = level_measures(level, y[:, None] == label).combined()
    return {**_judge_cart(tree, X, y), **measures}


def _boosts(make: Callable[[int], Any]) -> Callable:
    """As many members as are best by cross-validation; then all rows are used."""

    def fit(X, y, quick):
        most = 20 if quick else MOST_MEMBERS
        right = np.zeros(most)
        for train, test in folds(y):
            staged = make(most).fit(X[train], y[train]).staged_predict(X[test])
            found = [np.sum(answer == y[test]) for answer in staged]
            # Boosting that has ended earlier stays as it is.
            right += np.pad(found, (0, most - len(found)), mode="edge")
        n_members = most_accurate([Trial(n, r, n) for n, r in enumerate(right, start=1)])
        return make(n_members).fit(X, y), f"{n_members} members"

    return fit


def _judge_boosting(model, X, y):
    *_, answer = model.staged_predict(X)
    n = len(model.members_)
    return {"accuracy": np.mean(answer == y), "complexity": n, "size": 2 * n, "effort": 2 * n}


def _boosted_machines(n_members: int) -> AdaBoostClassifier:
    """Linear SVMs on all columns, as the words "AdaBoost with SVMs" are most plainly read."""
    return AdaBoostClassifier(LinearSVC(random_state=0), n_estimators=n_members, random_state=0)


def _judge_machines(model, X, y):
    n = len(model.estimators_)
    effort = n * X.shape[1]
    return {
        "accuracy": model.score(X, y),
        "complexity": n,
        "size": effort,
        "effort": effort,
    }


def _judge_members(model, X, y):
    """Nodes of all trees for a forest, members for others, as the paper counts them."""
    nodes = sum(cart_complexity(tree) for tree in model.estimators_)
    is_forest = isinstance(model, RandomForestClassifier)
    return {
        "accuracy": np.mean(model.predict(X) == y),
        "complexity": nodes if is_forest else len(model.estimators_),
        "size": nodes,
    }


def _fit_forest(X, y, quick):
    return RandomForestClassifier(20 if quick else 100, random_state=0).fit(X, y), ""


def _fit_subspacing(X, y, quick):
    """Trees on random halves of the columns and on all rows: Ho's random subspaces."""
    model = BaggingClassifier(_tree(0.0), 30, max_features=0.5, bootstrap=False, random_state=0)
    return model.fit(X, y), ""


def _fit_adaboost(X, y, quick):
    return AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y), ""


def _fit_multiboosting(X, y, quick):
    return MultiBoosting(10 if quick else 60).fit(X, y), ""


def _fit_feating(X, y, quick):
    return Feating().fit(X, y), ""


def _judge_voters(model, X, y):
    """Members, as the paper seems to count these ensembles."""
    return {
        "accuracy": np.mean(model.predict(X) == y),
        "complexity": len(model.members_),
        "size": model.n_nodes,
    }


_NEIGHBOURS, _BOXES = EOP("stump", "nonparametric"), EOP("stump", "box")
_ACCURATE = {"wants_accuracy": True, "errors": (0.04, 0.05, 0.07), "penalties": (0.0,)}
"""With smaller ε, N-EOP would ask more neighbours than boosting has members."""

_PLANES = EOP(
    *("linear_svm", "nonparametric"),
    **_ACCURATE,
    min_support=0.02,
    leftover="neighbours",
    relax=0.2,
)
_PLANES_MAJORITY = EOP("linear_svm", "nonparametric", **_ACCURATE, min_support=0.01)

METHODS = {
    "boosting": Method("AdaBoost with linear SVMs", _boosts(BoostedPlanes), _judge_boosting),
    "boosting_svc": Method(
        "AdaBoost with linear SVMs on all columns", _boosts(_boosted_machines), _judge_machines
    ),
    "eop_svm": Method("N-EOP with linear SVMs", _PLANES.fit, _PLANES.judge),
    "eop_svm_majority": Method(
        "N-EOP with linear SVMs, the rest by majority",
        _PLANES_MAJORITY.fit,
        _PLANES_MAJORITY.judge,
    ),
    "cart": Method("CART", _fit_cart, _judge_cart),
    "cart_leaves": Method("CART, each leaf for itself", _fit_cart, _judge_leaves),
    "n_eop": Method("N-EOP", _NEIGHBOURS.fit, _NEIGHBOURS.judge),
    "r_eop": Method("R-EOP", _BOXES.fit, _BOXES.judge),
    "random_forest": Method("random forest", _fit_forest, _judge_members),
    "subspacing": Method("sub-spacing", _fit_subspacing, _judge_members),
    "adaboost": Method("AdaBoost", _fit_adaboost, _judge_members),
    "multiboosting": Method("MultiBoosting", _fit_multiboosting, _judge_voters),
    "feating": Method("Feating", _fit_feating, _judge_voters),
}
"""By name; those of tables 4 and 5 are the columns of the paper's files."""
