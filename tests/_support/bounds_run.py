"""Fit all estimators on small data of many kinds, with array bounds checked.

Run by ``tests/test_bounds.py`` in a process of its own, because Numba reads ``NUMBA_BOUNDSCHECK``
when loops are compiled. Prints the compiled loops that were not called.
"""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from unittest import mock

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher
from scipy import sparse

import pellucid
from pellucid import (
    BSIMM,
    EMN,
    IMM,
    EOPClassifier,
    ExGreedy,
    ExKMC,
    ExplainableKMeans,
    ExShallow,
    KMedoids,
    OptimalTree,
    RandomThresholds,
    RuleSet,
    SpEx,
)
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset
from pellucid._core.refine import tuning
from pellucid._core.refine.polish import polish_tree
from pellucid._core.refine.tuning import SweepLimits
from pellucid._utils.numeric_domain import MAX_VALUE, MIN_SPREAD
from pellucid.baselines import CARTExplainer, KDTreeExplainer
from pellucid.tree.kernels import route_sparse
from pellucid.xclusters.distances.pairwise import pairwise

STORES = (np.asarray, sparse.csc_array)

TREES = (
    lambda **o: IMM(**o),
    lambda **o: EMN(search="beam", **o),
    lambda **o: BSIMM(**o),
    lambda **o: ExGreedy(**o),
    lambda **o: ExShallow(**o),
    lambda **o: ExKMC(n_leaves=7, **o),
    lambda **o: SpEx(n_leaves=7, **o),
    lambda **o: RandomThresholds(n_draws=3, **o),
    lambda **o: CARTExplainer(n_leaves=7, **o),
    lambda **o: KDTreeExplainer(n_leaves=7, **o),
)


def tables(random: np.random.Generator):
    """Small data of ordinary and of extreme numbers."""
    n, d = 50, 3
    X = random.normal(size=(n, d))
    yield X
    yield random.integers(0, 3, size=(n, d)).astype(float)
    yield X / np.abs(X).max() * MAX_VALUE
    yield X / np.abs(X).max() * 9 * MIN_SPREAD
    yield X * 10.0 ** random.uniform(-300, 90, size=(n, d)) * (random.random((n, d)) < 0.6)
    yield X[random.integers(0, 6, n)]


def weights(random: np.random.Generator, n: int):
    """No weights, integers with zeros, and fractions over many orders of magnitude."""
    yield None
    yield random.integers(0, 4, n)
    yield np.where(random.random(n) < 0.2, 1e-300, 1e29 * random.random(n))


def fit_trees(random: np.random.Generator) -> None:
    """Fit every tree estimator, in turn with other storages, references and objectives."""
    turn = 0
    for X in tables(random):
        for weight in weights(random, len(X)):
            for make in TREES:
                turn += 1
                data = STORES[turn // 2 % 2](X)
                kmedians = turn % 3 == 0
                options = {"n_jobs": 1 + turn % 2, "random_state": 0}
                options |= {"objective": "kmedians"} if kmedians else {"polish": turn % 4 == 3}
                y = random.integers(0, 4, len(X)) if turn % 2 else None
                if y is None:
                    options["reference"] = X[random.choice(len(X), 4, replace=False)]
                model = make(**options)
                if not (isinstance(model, CARTExplainer) and np.abs(X).max() > 1e38):
                    check(model.fit(data, y, sample_weight=weight), data)


def check(model, data) -> None:
    """Results are finite and predicted again."""
    assert np.isfinite(model.inertia_)
    assert (model.predict(data) == model.labels_).all()


def fit_others(random: np.random.Generator) -> None:
    """The estimators with loops of their own, and larger data."""
    X = random.normal(size=(60, 3))
    wide = np.tile(X, (1, 100))  # columns with equal cuts are searched together
    for store in STORES:
        check(OptimalTree(4, random_state=0).fit(store(X)), store(X))
        for weight in weights(random, len(X)):
            check(ExGreedy(reference=wide[:4]).fit(store(wide), sample_weight=weight), store(wide))
        check(OptimalTree(4, criterion="surrogate", polish=True, random_state=0).fit(store(X)), X)
        check(ExplainableKMeans(4, n_leaves=6, random_state=0).fit(store(X)), store(X))
        labels = (X[:, 0] > 0) + (X[:, 1] > 0)
        for limits in ({"n_leaves": 3}, {"max_depth": 2}, {"max_depth": 3}):
            ExplainableKMeans(**limits).fit(store(X), labels)
        ExplainableKMeans(max_depth=1).fit(store(X), labels > 0)
        check(IMM(4, polish="deep", random_state=0).fit(store(X)), store(X))
        for metric in ("euclidean", "manhattan", "cosine"):
            model = KMedoids(4, metric=metric, init="k-medoids++", random_state=0).fit(store(X))
            check(model, store(X))
        IMM(4, objective="kmedians", random_state=0).fit(store(X))
    many = random.normal(size=(5000, 4)).round(1)
    for make in TREES[:7]:
        check(make(reference=many[:5], random_state=0, n_jobs=2).fit(many), many)
    columns = np.tile(many, (1, 10))  # more than the loop for few columns takes
    check(IMM(reference=columns[:5], n_jobs=2).fit(columns), columns)
    many_zeros = random.normal(size=(600, 3)) * (random.random((600, 3)) < 0.3)
    with mock.patch.object(tuning, "SMALL", 0):  # few rows are polished as many are
        check(ExKMC(4, n_leaves=6, polish="deep").fit(sparse.csc_array(many_zeros)), many_zeros)
    wide = np.tile(np.where(X > 0.5, X, 0.0), (1, 20))
    start, own = IMM(reference=wide[:3]).fit(wide).tree_, np.arange(len(X)) % 3
    for store in STORES:  # so much work that only the widest columns are split
        problem = Problem(Dataset(store(wide), Weights.of(np.ones(len(X)))), wide[:3], own)
        with mock.patch.object(tuning, "SMALL", 0), mock.patch.object(tuning, "MAX_DENSE", 0):
            polish_tree(start, problem, deep=True, limits=SweepLimits(work=1))
    model, rows = IMM(reference=many[:5]).fit(many), sparse.csr_array(many)
    while not route_sparse.signatures:  # compiled once enough rows have been predicted
        assert (model.predict(rows) == model.labels_).all()
    check(ExplainableKMeans(4, random_state=0).fit(X[:30]), X[:30])
    few = many[:200]
    check(OptimalTree(reference=few[:6]).fit(few), few)
    KMedoids(8, metric="precomputed").fit(np.abs(few[:, 0, None] - few[:, 0]))
    series = [X[:n, 0] for n in (1, 2, 7, 60)]
    for window in (None, 0, 3):
        assert np.isfinite(pairwise(series, "dtw", window=window)).all()


def fit_regions(random: np.random.Generator) -> None:
    """Classifiers by regions, on ordinary and extreme numbers with weights."""
    for turn, X in enumerate(tables(random)):
        y, weight = random.integers(0, 3, len(X)), random.integers(1, 4, len(X))
        base = ("stump", "linear_svm", "constant")[turn % 3]
        model = EOPClassifier(base, n_jobs=1 + turn % 2, random_state=0)
        model.fit(X, y, sample_weight=weight if turn % 3 else None).predict(X)
        by_value = np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.7]))
        RuleSet().fit(X, by_value, sample_weight=weight if turn % 3 else None).predict(X)


def fit_scans(random: np.random.Generator) -> None:
    """Trees from batches of rows."""
    many = random.normal(size=(3000, 2))
    for turn, X in enumerate([*tables(random), many, many, many]):
        batches = pellucid.scan(lambda X=X: iter([X[:20], X[20:]]))
        make = (TREES[0], TREES[3], TREES[5])[turn % 3]
        model = make(reference=X[random.choice(len(X), 4, replace=False)], n_jobs=1)
        assert np.isfinite(model.fit(batches).inertia_)


def uncalled() -> list[str]:
    """Compiled loops that Python code calls, but has not called in this process."""
    names = []
    for module in pkgutil.walk_packages(pellucid.__path__, "pellucid."):
        if not module.name.endswith("__main__"):
            for name, value in vars(importlib.import_module(module.name)).items():
                if not isinstance(value, Dispatcher) or value.__module__ != module.name:
                    continue
                options = value.targetoptions
                is_inner = options.get("inline") or options.get("no_cpython_wrapper")
                if not value.signatures and not is_inner:
                    names.append(f"{module.name}.{name}")
    return names


if __name__ == "__main__":
    assert numba.config.BOUNDSCHECK
    warnings.simplefilter("ignore")
    generator = np.random.default_rng(0)
    fit_trees(generator)
    fit_others(generator)
    fit_regions(generator)
    fit_scans(generator)
    print("\n".join(uncalled()))
