"""Random problems for the estimators whose model is a tree."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans

from pellucid import BeamSearch, ExGreedy, KMedoids
from pellucid._utils.estimators import is_background
from pellucid.baselines import CARTExplainer, KDTreeExplainer
from pellucid.methods import METHODS

from .numbers import (
    STORAGES,
    draw_table,
    draw_weights,
    is_in_domain,
    store,
    with_wide_indices,
)

TIED = 0.2
"""Share of the cases with few different values and random labels: many cuts are equally good."""

FLAGSHIP = 0.125
"""Share of the cases that are of `ExplainableKMeans` beside those of its turn, nearly all at its
default effort: more than a fifth of all fits.
"""

LARGE, MEDIUM = 0.002, 0.03
"""Share of cases with thousands of rows, for loops that work in blocks and on threads, and with
hundreds of rows, so that there are several values per bin of a column.
"""


def _search(rng, k):
    beam = "beam" if rng.random() < 0.1 else BeamSearch(3, 2)
    return {"search": [beam, "greedy", "greedy"][rng.integers(3)]}


def _leaves(rng, k):
    return {"n_leaves": None if rng.random() < 0.3 else int(rng.integers(k, 3 * k + 2))}


def _flagship(rng, k):
    drawn: dict[str, Any] = {}
    if rng.random() < 0.1:
        drawn["effort"] = str(rng.choice(["fast"] * 5 + ["best"]))
    if rng.random() < 0.3:
        drawn.update(_leaves(rng, k))
    if rng.random() < 0.2:
        drawn["max_depth"] = int(rng.integers(k.bit_length(), k + 2))
    if rng.random() < 0.2:
        drawn["max_conditions"] = int(rng.integers(k.bit_length(), k + 2))
    if rng.random() < 0.2:
        drawn["depth_penalty"] = float(rng.random())
    if rng.random() < 0.4:
        drawn["faithfulness"] = float(rng.choice([0, 0, 0.3, 50]))
    return drawn


DRAWS: dict[str, Any] = {
    "BSIMM": lambda rng, k: {"beam_width": int(rng.integers(1, 5))},
    "EMN": _search,
    "ExGreedy": _search,
    "ExKMC": lambda rng, k: {
        **_leaves(rng, k),
        "base": [None, "imm", ExGreedy()][rng.integers(3)],
    },
    "ExShallow": lambda rng, k: {
        **_search(rng, k),
        "depth_penalty": float(rng.choice([0, 0.03, 1])),
    },
    "ExShallowSearch": lambda rng, k: {
        "goal_cost": 1 + float(rng.random()),
        "max_fits": int(rng.integers(1, 6)),
    },
    "ExplainableKMeans": _flagship,
    "IMM": _search,
    "OptimalTree": lambda rng, k: {
        "criterion": str(rng.choice(["mistakes", "mistakes", "surrogate"]))
    },
    "RandomThresholds": lambda rng, k: {
        "n_draws": int(rng.integers(1, 4)),
        "method": str(rng.choice(["makarychev-shan", "gamlath"])),
    },
    "SpEx": _leaves,
}

ESTIMATORS: dict[str, Any] = {
    "CARTExplainer": (CARTExplainer, _leaves),
    "KDTreeExplainer": (KDTreeExplainer, _leaves),
    **{m.name: (m.estimator, DRAWS.get(m.name, lambda rng, k: {})) for m in METHODS},
}
"""Class of each estimator, and a function that draws its own parameters for k clusters."""

SEPARATING = ("BSIMM", "EMN", "ExGreedy", "ExShallow", "IMM", "OptimalTree", "RandomThresholds")
"""Estimators whose tree has one leaf per cluster, and whose cuts separate reference centers."""

SEEDED = (None, "unfitted")
"""Kinds of reference that depend on the order and the storage of the rows."""

CENTERS = ("centers", "rows", "near", "fitted")
"""Kinds of reference whose centers do not depend on the order of the rows."""


@dataclass
class TreeCase:
    """A problem for one estimator; `fit` solves it, and variants of it."""

    name: str
    model: Any
    description: str
    X: np.ndarray
    """The values as float64, dense."""
    given: Any
    """The values as `fit` gets them."""
    weight: Any = None
    y: Any = None
    reference: str | None = None
    """Kind of the reference."""
    may_refuse: list[str] = field(default_factory=list)
    """Why an error would be right; without any, `fit` must succeed."""
    must_refuse: bool = False
    n_fits: int = 0

    @property
    def objective(self) -> str:
        return getattr(self.model, "objective", "kmeans")

    @cached_property
    def weights(self) -> np.ndarray:
        """A weight per row, as float64; those that are too small to count are 0."""
        weight = 1.0 if self.weight is None else self.weight
        weight = np.broadcast_to(np.asarray(weight, dtype=np.float64), (len(self.X),))
        total = weight.sum()
        if total <= 2.0**32 and (weight == np.rint(weight)).all():
            return weight
        # Weights are rounded to multiples of a power of two, 2**-51 to 2**-50 of the total.
        unit = np.ldexp(1.0, int(np.frexp(math.fsum(weight))[1]) - 51)
        return np.where(weight <= unit / 2, 0.0, weight)

    def fit(self, **changes):
        """A fitted copy of the model; changes replace parameters, or X, y and weight."""
        self.n_fits += 1
        given, y = changes.pop("X", self.given), changes.pop("y", self.y)
        weight = changes.pop("weight", self.weight)
        # A clone would copy a fitted reference as an unfitted one.
        model = type(self.model)(**{**self.model.get_params(deep=False), **changes})
        return model.fit(given, y, sample_weight=weight)


def draw_tree_case(rng) -> TreeCase:
    """A random case."""
    name = str(rng.choice(sorted(ESTIMATORS)))
    if rng.random() < FLAGSHIP:
        name = "ExplainableKMeans"
    size = rng.random()
    n = int(rng.integers(1, int(rng.choice([1, 2, 3, 8, 20, 30])) + 1))
    d, k = int(rng.integers(1, 5)), int(rng.integers(1, 5 if name == "OptimalTree" else 7))
    if name not in ("OptimalTree", "ExShallowSearch") and size < LARGE + MEDIUM:
        n = int(rng.integers(4000, 12000) if size < LARGE else rng.integers(300, 900))
        d, k = min(d, 2), min(k, 4)
    if name == "ExplainableKMeans":  # few clusters more often than many, which take long
        k = min(k, int(rng.integers(1, 7)))
    if rng.random() < 0.1 and n <= 6:
        k = n
    is_tied = rng.random() < TIED
    if is_tied:
        n, d, k = int(rng.integers(6, 31)), min(d, 2), min(k, 4)
    kind = "integers" if is_tied else None
    description, given, X = draw_table(rng, n, d, rng.random() < 0.15, kind)
    reasons: list[str] = []

    estimator, draw = ESTIMATORS[name]
    parameters = {**draw(rng, k), **_shared(rng, estimator, n)}
    if parameters.get("objective") == "kmedians" and parameters.get("polish"):
        reasons.append("polish")
    if {"max_depth", "max_conditions"} & parameters.keys():
        reasons.append("limits of the tree")

    case = TreeCase(name, estimator(**parameters), description, X, given, may_refuse=reasons)
    if rng.random() < 0.6:
        kind, case.weight = draw_weights(rng, n, rng.random() < 0.12)
        case.description += f"; weights: {kind}"
    _draw_reference(rng, case, k, ["labels", "rows"] if is_tied else REFERENCES)
    if not is_in_domain(case.X, case.weights):
        case.must_refuse = True
    if case.must_refuse:
        reasons.append("outside of the domain")
    if name == "CARTExplainer" and np.abs(X).max() > np.finfo(np.float32).max:
        reasons.append("scikit-learn's trees work in float32")
    if not hasattr(case.model.reference, "fit") and rng.random() < 0.1:
        case.given = with_wide_indices(case.given)
    case.description += f"; reference: {case.reference}"
    return case


def _shared(rng, estimator, n):
    known = estimator._parameter_constraints
    drawn: dict[str, Any] = {
        "n_jobs": 1,
        "random_state": 0,
        "threshold_style": str(rng.choice(["round", "round", "midpoint", "data"])),
    }
    if "objective" in known and rng.random() < 0.35:
        drawn["objective"] = "kmedians"
    if "polish" in known and rng.random() < 0.25:
        drawn["polish"] = "deep" if rng.random() < 0.4 and n < 1000 else True
    if rng.random() < 0.1:
        drawn["noise"] = "drop"
    return drawn


REFERENCES = ("centers", "rows", "labels", "labels", "text", "fitted", "near", "rows", "near", None)
"""Kinds of reference, by how often they are drawn."""


def _draw_reference(rng, case: TreeCase, k: int, kinds=REFERENCES) -> None:
    """Set the reference of a case."""
    X, n = case.X, len(case.X)
    n_counted = int((case.weights > 0).sum())
    kind = kinds[rng.integers(len(kinds))]
    if kind is None and rng.random() < 0.5:
        kind = "unfitted"
    case.reference = kind
    if kind in SEEDED:
        # scikit-learn has its own limits for values and weights
        case.model.set_params(n_clusters=k)
        if kind == "unfitted":
            case.model.set_params(n_clusters=None, reference=KMeans(k, n_init=1, random_state=0))
        if k > n_counted:
            case.may_refuse.append("more clusters than rows")
        if kind == "unfitted" and np.abs(X).max() > 1e15:
            case.may_refuse.append("scikit-learn squares in float32")
    elif kind in ("labels", "text"):
        _draw_labels(rng, case, k)
    elif kind == "fitted":
        case.model.set_params(reference=_fitted(rng, case, min(k, n)))
        centers = getattr(case.model.reference, "cluster_centers_", None)
        if centers is not None and not np.isfinite(centers).all():
            case.may_refuse.append("scikit-learn squares in float32")
    else:
        centers = X[rng.integers(0, n, k)]
        if kind == "near":
            centers = centers * (1 + 0.1 * rng.normal(size=centers.shape))
        elif kind == "centers":
            spread = X[rng.integers(0, n, k)] - X[rng.integers(0, n, k)]
            centers = centers + 0.5 * np.where(np.isfinite(spread), spread, 0)
        limit = np.finfo(np.float64).max
        centers = np.clip(centers, -limit, limit)
        case.model.set_params(reference=centers)
        case.must_refuse |= bool(np.abs(centers).max() > 1e100)
    if kind is not None and rng.random() < 0.02 and case.y is None and kind != "unfitted":
        case.model.set_params(n_clusters=k + 1)
        case.must_refuse = True


def _draw_labels(rng, case: TreeCase, k: int) -> None:
    n = len(case.X)
    if rng.random() < 0.5:
        labels = rng.integers(0, k, n)
    else:  # intervals of one column, with some noise
        column = case.X[:, rng.integers(case.X.shape[1])]
        labels = (np.argsort(np.argsort(column)) * k // n + (rng.random(n) < 0.1)) % k
    if rng.random() < 0.2:
        labels = labels - 1
    case.y = (
        np.array([f"label {chr(98 + i)}" for i in labels]) if case.reference == "text" else labels
    )
    drops = is_background(case.model.noise) and case.reference == "labels"
    kept = case.y != -1 if drops else np.ones(n, dtype=bool)
    if set(case.y[kept]) != set(case.y[kept & (case.weights > 0)]) or not kept.any():
        case.may_refuse.append("a cluster without rows")


def _fitted(rng, case: TreeCase, k: int):
    """A fitted clusterer; centers where scikit-learn refuses the values."""
    if rng.random() < 0.5:
        reference = KMeans(k, n_init=1, random_state=0, max_iter=5)
    else:
        reference = KMedoids(k, n_jobs=1)
    try:
        return reference.fit(case.given)
    except (ValueError, TypeError):
        case.reference = "rows"
        return case.X[rng.integers(0, len(case.X), k)]


def other_storage(rng, case: TreeCase):
    """The values of a case in another storage, as float64, or as float32 where that is exact."""
    X, storage = case.X, str(rng.choice(STORAGES[:-2]))
    as_float32 = X.astype(np.float32, copy=True) if np.abs(X).max() < 3e38 else X
    if rng.random() < 0.5 and np.array_equal(as_float32, X):
        X = as_float32
    return f"{storage}, {X.dtype}", store(rng, X, storage)


def take_rows(given, rows: np.ndarray):
    """Some rows of a table in any storage."""
    if sparse.issparse(given):
        taken = given.tocsr()[rows]
        return taken.asformat(given.format)
    if isinstance(given, list):
        return [given[i] for i in rows]
    return given.iloc[rows] if hasattr(given, "iloc") else given[rows]
