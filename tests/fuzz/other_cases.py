"""Random problems for k-medoids, XClusters and the classifiers by regions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from pellucid import ATEOPClassifier, EOPClassifier, KMedoids, XClusters, from_json
from pellucid._utils.imports import is_missing

from .export_oracles import run_sqlite
from .numbers import draw_table, draw_weights
from .tree_cases import take_rows
from .tree_oracles import require, route


@dataclass
class OtherCase:
    """A problem for one estimator that is not a tree of a reference."""

    name: str
    model: Any
    description: str
    X: np.ndarray
    given: Any
    y: Any = None
    weight: Any = None
    may_refuse: list[str] = field(default_factory=list)
    must_refuse: bool = False
    n_fits: int = 0

    @property
    def weights(self) -> np.ndarray:
        weight = 1.0 if self.weight is None else self.weight
        return np.broadcast_to(np.asarray(weight, dtype=np.float64), (len(self.X),))

    def fit(self, **changes):
        self.n_fits += 1
        given, weight = changes.pop("X", self.given), changes.pop("weight", self.weight)
        model = clone(self.model).set_params(**changes)
        return model.fit(given, self.y, sample_weight=weight)

    def check(self, model, rng) -> None:
        """The oracle of the estimator."""
        _CHECKS[self.name](self, model, rng)


def draw_other_case(rng) -> OtherCase:
    """A random case."""
    name = str(
        rng.choice(["KMedoids", "KMedoids", "EOPClassifier", "ATEOPClassifier", "XClusters"])
    )
    n, d = int(rng.integers(1, 40)), int(rng.integers(1, 4))
    extreme = rng.random() < 0.2
    description, given, X = draw_table(rng, n, d, extreme)
    case = OtherCase(name, None, description, X, given)
    if extreme:
        case.may_refuse.append("extreme values")
    if rng.random() < 0.6:
        extreme = rng.random() < 0.25
        kind, case.weight = draw_weights(rng, n, extreme)
        case.description += f"; weights: {kind}"
        case.may_refuse += ["extreme weights"] * extreme
        case.must_refuse = not (case.weights > 0).any()
    _MODELS[name](rng, case)
    if case.must_refuse:
        case.may_refuse.append("no weight")
    return case


def _kmedoids(rng, case):
    k = int(rng.integers(1, 6))
    metric = str(rng.choice(["euclidean", "manhattan", "cosine"]))
    init = str(rng.choice(["build", "k-medoids++"]))
    case.model = KMedoids(k, metric=metric, init=init, random_state=0, n_jobs=1)
    if k > (case.weights > 0).sum():
        case.may_refuse.append("more clusters than rows")
    if metric == "cosine":
        case.may_refuse.append("rows of zeros")


def _check_kmedoids(case, model, rng):
    n, weight = len(case.X), case.weights
    medoids, labels = model.medoid_indices_, model.labels_
    require(((medoids >= 0) & (medoids < n)).all(), "a medoid is no row")
    require(len(set(medoids.tolist())) == model.n_clusters, "a row is a medoid twice")
    require(np.isfinite(model.inertia_) and model.inertia_ >= 0, f"inertia_ is {model.inertia_}")
    require(np.array_equal(model.predict(case.given), labels), "predict differs from labels_")
    distances = model.transform(case.given) if hasattr(model, "transform") else None
    if distances is None and model.metric != "cosine":
        power = 2 if model.metric == "euclidean" else 1
        apart = np.abs(case.X[:, None] - case.X[medoids])
        scale = apart.max(initial=0) or 1.0
        distances = scale * ((apart / scale) ** power).sum(axis=2) ** (1 / power)
    if distances is not None and np.isfinite(distances).all():
        own = distances[np.arange(n), labels]
        slack = 1e-6 * max(np.abs(case.X).max(), 1e-100)
        require((own <= distances.min(axis=1) * (1 + 1e-9) + slack).all(), "a nearer medoid")
        expected = math.fsum(own * weight)
        close = abs(model.inertia_ - expected) <= 1e-6 * expected + slack * math.fsum(weight)
        require(close, f"inertia_ is {model.inertia_}, not {expected}")
    other = case.fit(n_jobs=2)
    require(np.array_equal(other.medoid_indices_, medoids), "the medoids depend on n_jobs")
    order = rng.permutation(n)
    shuffled = case.fit(X=take_rows(case.given, order), weight=weight[order])
    same = np.array_equal(shuffled.labels_, labels[order])
    require(same, "the labels depend on the order of the rows")


def _regions(rng, case):
    n = len(case.X)
    case.y = rng.integers(0, int(rng.integers(1, 4)), n)
    if rng.random() < 0.5:
        case.y = (case.X[:, 0] > np.median(case.X[:, 0])).astype(int)
    if rng.random() < 0.3:
        case.y = np.array([f"class {label}" for label in case.y])
    base = str(rng.choice(["stump", "stump", "logistic", "knn", "linear_svm"]))
    parameters = {"max_dim": int(rng.integers(1, 3)), "n_jobs": 1, "random_state": 0}
    cls = EOPClassifier if case.name == "EOPClassifier" else ATEOPClassifier
    case.model = cls(base, **parameters)
    case.description += f"; {base}"
    case.may_refuse.append("few rows or classes")


def _check_regions(case, model, rng):
    found = model.predict(case.given)
    known = {*model.classes_.tolist(), model.abstain_label_}
    require(set(found.tolist()) <= known, "an answer is no class")
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(case.given)
        require(np.isfinite(shares).all() and (shares >= 0).all(), "a probability is wrong")
    other = case.fit(n_jobs=2)
    require(np.array_equal(other.predict(case.given), found), "the answers depend on n_jobs")
    if model.base != "stump":
        return
    exports = {"SQLite": run_sqlite(model.to_sql(dialect="sqlite"), case.X)}
    if not is_missing("fastjsonschema"):
        exports["the model read from JSON"] = from_json(model.to_json()).predict(case.X)
    for name, answers in exports.items():
        # Both give None where the model has no answer.
        named = [model.abstain_label_ if answer is None else answer for answer in answers]
        require(named == found.tolist(), f"{name} answers otherwise")


def _xclusters(rng, case):
    import polars as pl

    d = case.X.shape[1]
    names = [f"x{j}" for j in range(d)]
    case.given = pl.DataFrame(dict(zip(names, case.X.T)))
    case.description = case.description.rsplit(",", 1)[0] + ", polars"
    accuracy = names[: max(1, d // 2)]
    case.model = XClusters(
        accuracy,
        names[d // 2 :],
        k_range=(2, 3),
        alpha_step=0.25,
        tree_accuracy=float(rng.choice([1.0, 0.8])),
        max_evaluations=6,
        n_jobs=1,
        random_state=0,
    )
    if (case.weights > 0).sum() < 4:
        case.may_refuse.append("few rows")


def _check_xclusters(case, model, rng):
    numbers = model.encoding_.transform(case.given) if model.encoding_ is not None else case.X
    values = [model.objective_, model.distortion_, model.accuracy_]
    require(np.isfinite(values).all(), f"objective_, distortion_, accuracy_ are {values}")
    require(0 <= model.accuracy_ <= 1 + 1e-12, f"accuracy_ is {model.accuracy_}")
    require(len(model.labels_) == len(case.X), "labels_ has another length")
    expected = model.cluster_names_[model.tree_.cluster[route(model.tree_, numbers)]]
    require(np.array_equal(model.predict(case.given), expected), "predict differs from the splits")
    other = case.fit(n_jobs=2)
    require(np.array_equal(other.labels_, model.labels_), "the labels depend on n_jobs")


_MODELS = {
    "ATEOPClassifier": _regions,
    "EOPClassifier": _regions,
    "KMedoids": _kmedoids,
    "XClusters": _xclusters,
}
_CHECKS = {
    "ATEOPClassifier": _check_regions,
    "EOPClassifier": _check_regions,
    "KMedoids": _check_kmedoids,
    "XClusters": _check_xclusters,
}
