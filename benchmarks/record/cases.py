"""The fits that are recorded, each under a readable key."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import AgglomerativeClustering
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import pellucid
from benchmarks.record import contents, data
from benchmarks.record.design import Design
from pellucid.baselines import CARTExplainer, KDTreeExplainer

try:
    from pellucid import KMedoids
except ImportError:  # its former place
    from pellucid.cluster import KMedoids


@dataclass(frozen=True)
class Case:
    """One fit.

    Attributes
    ----------
    key : str
        The estimator, its parameters that are not the default, and the data.
    fit : callable
        Fits and returns what is recorded, as a dict of str to str.
    """

    key: str
    fit: Callable[[], contents.Contents]

    def record(self) -> contents.Contents:
        """What is recorded of the fit; of a fit that fails, the name of the exception."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return self.fit()
            except Exception as error:
                return {"error": type(error).__name__}


FACTORS = {
    "data": data.SMALL,
    "storage": data.STORAGES,
    "weights": data.WEIGHTS,
    "objective": ("kmeans", "kmedians"),
    "reference": data.REFERENCES,
    "style": ("round", "midpoint", "data"),
    "polish": (False, True, "deep"),
    "n_jobs": (1, 2),
}
"""Options of every tree estimator."""

_DEFAULTS = {
    "weights": "none",
    "objective": "kmeans",
    "style": "round",
    "polish": False,
    "n_jobs": 1,
}
_QUICK = ("iris", "wine", "ties", "duplicates", "grid", "scales", "constant", "text")
_TINY = ("iris", "wine", "duplicates", "constant")
_OVERLAPPING = ("cancer", "digits", "outliers", "text", "blobs")
_FEW_CLUSTERS = ("iris", "wine", "ties", "scales", "constant")
_ONLY_KMEANS = {"objective": ("kmeans",)}
_NEVER_POLISHED = {"objective": ("kmeans",), "polish": (False,)}


@dataclass(frozen=True)
class Method:
    """A tree estimator with some of its parameters.

    Attributes
    ----------
    name : str
    make : callable
        Makes the estimator; takes the number of clusters and the parameters of all methods.
    factors : mapping
        Options where they are not those in `FACTORS`.
    n_fits : int
        How many combinations of options are fitted at least.
    """

    name: str
    make: Callable[..., Any]
    factors: Mapping[str, tuple] = field(default_factory=dict)
    n_fits: int = 14


def _method(
    kind: type, factors: Mapping | None = None, text: str | None = None, **parameters: Any
) -> Method:
    """A method by its class; parameters may be relative to the number of clusters, as "2k"."""
    shown = ", ".join(f"{name}={value}" for name, value in parameters.items())
    shown = shown if text is None else text
    name = f"{kind.__name__}({shown})" if shown else kind.__name__

    def make(n_clusters: int, **common: Any) -> Any:
        own = {key: _evaluate(value, n_clusters) for key, value in parameters.items()}
        return kind(**own, **common)

    return Method(name, make, factors or {})


def _cheapest(factors: Mapping, **parameters: Any) -> Method:
    """ExplainableKMeans for which only the cost counts."""
    shown = ", ".join(f"{name}={value}" for name, value in parameters.items())
    return _method(pellucid.ExplainableKMeans, factors, text=shown, faithfulness=0, **parameters)


def _evaluate(value: Any, n_clusters: int) -> Any:
    sizes = {"k": n_clusters, "2k": 2 * n_clusters, "3k": 3 * n_clusters, "k+1": n_clusters + 1}
    return sizes.get(value, value) if isinstance(value, str) else value


def beam_search(width: int, n_candidates: int) -> Any:
    """A beam search, from wherever the package exports it."""
    kind = getattr(pellucid, "BeamSearch", None)
    if kind is None:
        from pellucid.growth import BeamSearch as kind
    return kind(width, n_candidates)


def _optimal_tree(criterion: str) -> Method:
    names = pellucid.OptimalTree().get_params()
    name = "criterion" if "criterion" in names else "objective"
    factors = {"data": _FEW_CLUSTERS, **_ONLY_KMEANS}
    return _method(pellucid.OptimalTree, factors, criterion, **{name: criterion})


def methods() -> list[Method]:
    """All tree estimators; a new one goes to the end, so that the other fits stay the same."""
    p, quick = pellucid, {"data": _QUICK}
    few_leaves = {**quick, **_NEVER_POLISHED}
    tiny = {"data": _TINY, **_NEVER_POLISHED}
    default = {"data": _OVERLAPPING, "reference": ("default",), **_NEVER_POLISHED}
    narrow = beam_search(5, 3)
    return [
        _method(p.IMM),
        _method(p.EMN),
        _method(p.BSIMM, beam_width=5, n_candidates=4),
        _method(p.BSIMM, quick),
        _method(p.ExGreedy),
        _method(p.ExGreedy, quick, search="beam"),
        _method(p.ExGreedy, text="search=BeamSearch(5, 3)", search=narrow),
        _method(p.ExShallow),
        _method(p.ExShallow, depth_penalty=0.0),
        _method(p.ExShallow, depth_penalty=0.3),
        _method(p.ExShallow, depth_penalty=2.0),
        _method(p.ExShallow, quick, depth_penalty=0.1, search="beam"),
        _method(p.ExShallowSearch, goal_cost=1.2, max_fits=20),
        _method(p.ExShallowSearch, goal_size=2.0, max_fits=20),
        _method(
            p.ExShallowSearch,
            quick,
            "goals of ExKMC",
            goal_cost=p.ExKMC(base=None),
            goal_size=p.ExKMC(base=None),
        ),
        _method(p.ExKMC),
        _method(p.ExKMC, n_leaves="k"),
        _method(p.ExKMC, n_leaves="3k"),
        _method(p.ExKMC, base=None, n_leaves="k"),
        _method(p.ExKMC, base=None, n_leaves="2k"),
        _method(p.ExKMC, text="base=ExShallow", base=p.ExShallow()),
        _method(p.ExKMC, text="base=EMN, n_leaves=k+1", base=p.EMN(), n_leaves="k+1"),
        _method(p.SpEx),
        _method(p.SpEx, n_leaves="2k"),
        _method(p.RandomThresholds),
        _method(p.RandomThresholds, method="gamlath", n_draws=25),
        _optimal_tree("mistakes"),
        _optimal_tree("surrogate"),
        _cheapest(_NEVER_POLISHED, effort="fast"),
        _cheapest(_NEVER_POLISHED, effort="fast", n_leaves="2k"),
        _cheapest(few_leaves, effort="balanced"),
        _cheapest(few_leaves, effort="balanced", n_leaves="k+1"),
        replace(_cheapest(tiny, effort="best", n_references=2), n_fits=8),
        _cheapest(few_leaves, depth_penalty=0.1),
        _cheapest(few_leaves, effort="fast", max_conditions=4),
        replace(_cheapest(default, effort="fast", n_references=4), n_fits=8),
        _method(p.ExplainableKMeans, few_leaves, faithfulness=2.0),
        _method(p.ExplainableKMeans, few_leaves, effort="fast", faithfulness=0.5, n_leaves="k+1"),
        _method(CARTExplainer),
        _method(CARTExplainer, n_leaves="2k"),
        _method(KDTreeExplainer),
        _method(KDTreeExplainer, n_leaves="2k"),
    ]


def tree_options(design: Design | None = None) -> Iterator[tuple[Method, dict]]:
    """The fits on small data: for each method, a sample of all combinations of options."""
    design = design or Design(_can_be_fitted)
    for method in methods():
        factors = {"method": (method.name,), **FACTORS, **method.factors}
        for options in design.draw(method.name, factors, method.n_fits):
            yield method, options


def _can_be_fitted(options: dict) -> bool:
    return options["objective"] == "kmeans" or not options["polish"]


def _key(name: str, options: Mapping) -> str:
    first = [options[option] for option in ("data", "storage") if option in options]
    others = [
        value if option == "objective" else f"{option}={value}"
        for option, value in options.items()
        if option not in ("method", "data", "storage") and _DEFAULTS.get(option) != value
    ]
    return "/".join([name, *first, *others])


def fit_tree(method: Method, options: Mapping) -> tuple[Any, Any]:
    """A fitted tree estimator, and the `X` that it was fitted on."""
    name, kind = options["data"], options["reference"]
    common = {
        "threshold_style": options["style"],
        "n_jobs": options["n_jobs"],
        "random_state": 0,
    }
    # What is left out has one value only, and some estimators do not have the parameter.
    common |= {o: options[o] for o in ("objective", "polish") if options[o] != _DEFAULTS[o]}
    if kind.startswith("noise"):
        common["noise"] = kind.removeprefix("noise-")
    reference, y = data.reference(name, kind), None
    if isinstance(reference, np.ndarray) and reference.ndim == 1 and not labels_as_reference():
        reference, y = None, reference
    X = data.stored(name, options["storage"])
    n_clusters = data.load(name).n_clusters + (kind == "noise-group")
    model = method.make(n_clusters, reference=reference, **common)
    if kind == "default":
        model.set_params(n_clusters=n_clusters)
    return model.fit(X, y, sample_weight=data.sample_weight(name, options["weights"])), X


@cache
def labels_as_reference() -> bool:
    """Whether labels can be passed as `reference`; otherwise they are passed as `y`."""
    try:
        pellucid.IMM(reference=[0, 1]).fit([[0.0], [1.0]])
    except (TypeError, ValueError):
        return False
    return True


def _tree_case(method: Method, options: Mapping) -> Case:
    return Case(
        _key(method.name, options),
        lambda: contents.of_tree_estimator(*fit_tree(method, options)),
    )


def _small_cases() -> Iterator[Case]:
    for method, options in tree_options():
        yield _tree_case(method, options)


def _large_cases() -> Iterator[Case]:
    """Fits on many rows, in which threads, histograms and their refinement are used."""
    p = pellucid
    usual = [
        _method(p.IMM),
        _method(p.EMN),
        _method(p.BSIMM, beam_width=3, n_candidates=3),
        _method(p.ExShallow),
        _method(p.ExKMC),
    ]
    sets = {
        "columns-50": {"storage": "C64"},
        "rows-40000": {"storage": "F32", "weights": "fractional"},
        "rows-150000": {"storage": "C64", "weights": "integer", "reference": "labels"},
        "rows-270000": {"storage": "C32"},
        "text-70000": {"storage": "CSR64"},
    }
    plain = {"reference": "centers", **_DEFAULTS}
    for name, special in sets.items():
        for method in usual:
            for n_jobs in (1, 2):
                yield _tree_case(method, {**plain, **special, "data": name, "n_jobs": n_jobs})
    more = [
        (_method(p.IMM), {"objective": "kmedians", "reference": "default"}),
        (_method(p.ExShallow), {"objective": "kmedians"}),
        (_method(p.ExKMC, base=None, n_leaves="2k"), {"storage": "CSR32"}),
        (_method(p.ExKMC, base=None, n_leaves="2k"), {"data": "columns-50"}),
        (_method(p.IMM), {"data": "columns-50", "polish": True}),
        (_method(p.ExGreedy), {"polish": True, "style": "data"}),
        (_method(p.SpEx), {"reference": "labels"}),
        (_method(p.RandomThresholds), {}),
        (_cheapest({}, effort="fast"), {}),
        (_method(CARTExplainer, n_leaves="2k"), {}),
        (_method(KDTreeExplainer, n_leaves="2k"), {}),
    ]
    for method, special in more:
        for n_jobs in (1, 2):
            options = {**plain, "storage": "C64", "data": "rows-40000", **special}
            yield _tree_case(method, {**options, "n_jobs": n_jobs})
    for method in usual:
        yield _tree_case(method, {**plain, "storage": "F64", "data": "clusters-300"})


def _path_cases() -> Iterator[Case]:
    factors = {
        "data": data.SMALL,
        "storage": data.STORAGES,
        "weights": data.WEIGHTS,
        "style": ("round", "midpoint", "data"),
        "n_jobs": (1, 2),
    }
    for options in Design().draw("path", factors, n_least=14):
        yield Case(_key("ExShallow.path", options), partial(_fit_path, options))


def _fit_path(options: Mapping) -> contents.Contents:
    name = options["data"]
    model = pellucid.ExShallow(
        reference=data.reference(name, "centers"),
        threshold_style=options["style"],
        n_jobs=options["n_jobs"],
    )
    weight = data.sample_weight(name, options["weights"])
    X = data.stored(name, options["storage"])
    return contents.of_path(model.path(X, sample_weight=weight, max_fits=30))


def _medoid_cases() -> Iterator[Case]:
    factors = {
        "data": _QUICK,
        "storage": data.STORAGES,
        "weights": data.WEIGHTS,
        "metric": ("euclidean", "manhattan", "cosine"),
        "init": ("build", "k-medoids++"),
        "n_jobs": (1, 2),
    }
    for options in Design().draw("KMedoids", factors, n_least=18):
        yield Case(_key("KMedoids", options), partial(_fit_medoids, options))


def _fit_medoids(options: Mapping) -> contents.Contents:
    name = options["data"]
    X = data.stored(name, options["storage"])
    own = {option: options[option] for option in ("metric", "init", "n_jobs")}
    model = KMedoids(data.load(name).n_clusters, random_state=0, **own)
    model.fit(X, sample_weight=data.sample_weight(name, options["weights"]))
    return contents.of_medoids(model, X)


def _region_cases() -> Iterator[Case]:
    factors = {
        "data": ("iris", "wine", "cancer", "ties", "scales"),
        "storage": data.STORAGES,
        "weights": data.WEIGHTS,
        "base": ("stump", "linear_svm", "logistic", "knn", "bayes"),
        "regions": ("box", "nonparametric", "polyhedron", "ellipse"),
        "max_error": (0.1, 0.2),
        "max_dim": (1, 2),
        "projections": ("all", 20),
        "n_bootstraps": (0, 3),
        "n_jobs": (1, 2),
    }
    own = {
        "EOPClassifier": {
            "choose": ("both", "error", "coverage"),
            "leftover": ("majority", "abstain", "neighbours"),
        },
        "ATEOPClassifier": {"confidence": (0.0, 0.9), "leftover": ("abstain", "majority")},
        "explain_clusters": {"noise": ("drop", "group")},
    }
    n_least = {"EOPClassifier": 30, "ATEOPClassifier": 16, "explain_clusters": 16}
    design = Design(_is_quick)
    for name, special in own.items():
        for options in design.draw(name, {**factors, **special}, n_least[name]):
            yield Case(_key(name, options), partial(_fit_regions, name, options))


def _is_quick(options: dict) -> bool:
    """Whether regions can be found, and in little time."""
    many_pairs = options["data"] == "cancer" and options["max_dim"] > 1
    if many_pairs and options["base"] in ("bayes", "knn"):
        return False
    return options.get("leftover") != "neighbours" or options["regions"] == "nonparametric"


def _fit_regions(name: str, options: Mapping) -> contents.Contents:
    X = data.stored(options["data"], options["storage"])
    weight = data.sample_weight(options["data"], options["weights"])
    own = {o: v for o, v in options.items() if o not in ("data", "storage", "weights")}
    if own["base"] == "bayes":
        own["base"] = GaussianNB()
    if name == "explain_clusters":
        found = data.noisy_labels(options["data"])
        regions = pellucid.explain_clusters(X, found, sample_weight=weight, **own)
        return contents.of_cluster_regions(regions, X)
    model = getattr(pellucid, name)(random_state=0, **own)
    model.fit(X, data.load(options["data"]).y, sample_weight=weight)
    return contents.of_regions(model, X)


def _xclusters_cases() -> Iterator[Case]:
    factors = {
        "data": ("trends",),
        "accuracy_distance": ("euclidean", "manhattan", "cosine", "dtw"),
        "explanation_distance": ("gower", "euclidean", "manhattan"),
        "search": ("branch-and-bound", "grid", "two-step"),
        "init": ("ends", "build", "neighbour"),
        "tree": (None, "cart", "ExKMC"),
        "clusterer": ("kmedoids", "average"),
        "tree_accuracy": (1.0, 0.9),
        "weights": data.WEIGHTS,
        "n_jobs": (1, 2),
    }
    for options in Design().draw("XClusters", factors, n_least=16):
        yield Case(_key("XClusters", options), partial(_fit_xclusters, options))


@cache
def _trends() -> pd.DataFrame:
    """Short series, and the age, sex and district of whom they are about."""
    rng = np.random.default_rng(0)
    sides = np.meshgrid([20, 30, 40, 50], ["f", "m"], list("ABCDEF"))
    age, sex, district = (part.ravel() for part in sides)
    slope = np.where(age < 35, 1.0, np.where(sex == "f", 0.2, -1.0))
    days = slope[:, None] * np.arange(8) + 5 + 0.3 * rng.normal(size=(len(age), 8))
    table = pd.DataFrame(days, columns=[f"day {i}" for i in range(8)])
    return table.assign(age=age, sex=sex, district=district)


def _fit_xclusters(options: Mapping) -> contents.Contents:
    table = _trends()
    own = {o: v for o, v in options.items() if o not in ("data", "weights")}
    trees = {"cart": DecisionTreeClassifier(max_leaf_nodes=8, random_state=0)}
    own["tree"] = trees.get(own["tree"], pellucid.ExKMC() if own["tree"] else None)
    if own["clusterer"] == "average":
        own["clusterer"] = AgglomerativeClustering(metric="precomputed", linkage="average")
    rng = np.random.default_rng(1)
    weights = {
        "none": None,
        "integer": rng.integers(4, size=len(table)),
        "fractional": rng.random(len(table)),
    }
    model = pellucid.XClusters("day *", k_range=(2, 5), alpha_step=0.25, random_state=0, **own)
    model.fit(table, sample_weight=weights[options["weights"]])
    return contents.of_tree_estimator(model, table)


def all_cases(only: str = "") -> list[Case]:
    """All fits whose keys contain a text, in a fixed order."""
    groups = (
        _small_cases,
        _path_cases,
        _medoid_cases,
        _region_cases,
        _xclusters_cases,
        _large_cases,
    )
    return [case for group in groups for case in group() if only in case.key]
