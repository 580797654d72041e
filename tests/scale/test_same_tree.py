"""The tree of a scan is that of the same rows in memory, bit for bit."""

from __future__ import annotations

import os
from functools import partial

import numpy as np
import polars as pl
import pytest

import pellucid
from _support.extended import EXTENDED
from _support.fitting import assert_same_tree
from pellucid import BSIMM, EMN, IMM, BeamSearch, ExGreedy, ExKMC, ExShallow, SpEx
from pellucid.scale import cache
from pellucid.scale.cache import write_array

ESTIMATORS = {
    "IMM": IMM,
    "EMN": EMN,
    "ExGreedy": ExGreedy,
    "ExShallow": ExShallow,
    "ExKMC": ExKMC,
    "SpEx": SpEx,
    "BSIMM": partial(BSIMM, beam_width=6, n_candidates=4),
}


def make_rows(random):
    """Rows with ties, skew or different magnitudes, and centers near or at some of them."""
    n, d = int(random.integers(5, 3000)), int(random.integers(1, 6))
    k = min(int(random.integers(2, 9)), n)
    X = random.normal(size=(n, d)) * random.choice([1, 10.0, 1e-3], size=d) + random.normal(size=d)
    kind = random.integers(4)
    if kind == 0:
        X = np.round(X, int(random.integers(0, 2)))
    elif kind == 1:
        X = random.gamma(0.3, size=(n, d))
    elif kind == 2:
        X = X.astype(np.float32)
    centers = X[random.choice(n, k, replace=False)].astype(np.float64)
    if random.random() < 0.5:
        centers = centers + 0.1 * random.normal(size=centers.shape)
    return X, centers


def make_weights(random, n):
    kind = random.integers(4)
    if kind == 0:
        return None
    if kind == 1:
        weights = random.integers(0, 4, size=n).astype(float)
    elif kind == 2:
        weights = random.random(n)
    else:
        weights = np.exp(3 * random.normal(size=n))
    weights[0] = 1.0
    return weights


def make_parts(random, X, weights):
    """The rows in any order, in up to 64 parts, some of them empty."""
    n = len(X)
    cuts = np.sort(random.integers(0, n + 1, size=int(random.integers(0, 64))))
    parts = []
    for rows in np.split(random.permutation(n), cuts):
        columns = {f"x{j}": X[rows, j] for j in range(X.shape[1])}
        if weights is not None:
            columns["w"] = weights[rows]
        parts.append(columns)
    return parts


def cases(n_seeds, n_beam_seeds):
    """Names of estimators and seeds, fewer for beam search, which takes longer."""
    return [
        (name, seed)
        for name in ESTIMATORS
        for seed in range(n_beam_seeds if name == "BSIMM" else n_seeds)
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the tree has")
@pytest.mark.parametrize(("name", "seed"), cases(*((12, 6) if EXTENDED else (4, 2))))
def test_partitions_do_not_matter(name, seed):
    polars = pytest.importorskip("polars")
    random = np.random.default_rng([seed, list(ESTIMATORS).index(name)])
    X, centers = make_rows(random)
    weights = make_weights(random, len(X))
    parts = [polars.DataFrame(part) for part in make_parts(random, X, weights)]
    style = random.choice(["round", "midpoint", "data"])
    model = ESTIMATORS[name](reference=centers, threshold_style=style)
    weight = None if weights is None else "w"
    data = pellucid.scan(lambda: parts, weight=weight, memory=int(random.choice([1e4, 1e9])))
    on_scan = ESTIMATORS[name](reference=centers, threshold_style=style).fit(data)
    model.fit(X, sample_weight=weights)
    assert_same_tree(on_scan, model)
    assert on_scan.mistakes_ == model.mistakes_
    np.testing.assert_allclose(on_scan.inertia_, model.inertia_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        on_scan.reference_inertia_, model.reference_inertia_, rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(
        on_scan.cluster_centers_, model.cluster_centers_, rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(on_scan.feature_importances_, model.feature_importances_, atol=1e-9)
    assert str(on_scan.explain()) == str(model.explain())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the tree has")
@pytest.mark.parametrize("estimator", [BSIMM, partial(EMN, search=BeamSearch(5, 3))])
def test_wide_beams(estimator):
    random = np.random.default_rng(3)
    X = np.round(random.normal(size=(400, 3)), 1)
    centers = X[:7] + 0.01
    parts = make_parts(random, X, None)
    on_scan = estimator(reference=centers).fit(pellucid.scan(lambda: map(polars_frame, parts)))
    assert_same_tree(on_scan, estimator(reference=centers).fit(X))


def polars_frame(columns):
    return pytest.importorskip("polars").DataFrame(columns)


@pytest.mark.slow
def test_memory_limits_what_is_kept(monkeypatch):
    random, n_written = np.random.default_rng(0), []

    def write(descriptor, array, offset):
        n_written.append(array.nbytes)
        return write_array(descriptor, array, offset)

    monkeypatch.setattr(cache, "write_array", write)
    X, total = random.normal(size=(4000, 3)), []
    model = IMM(reference=X[:5]).fit(X)
    for memory in (1e3, 2e4, 1e9):
        n_written.clear()
        data = pellucid.scan(lambda: np.split(X, 8), memory=int(memory))
        assert_same_tree(IMM(reference=X[:5]).fit(data), model)
        total.append(sum(n_written))
    assert total[0] > total[1] > total[2] == X.nbytes  # in the end, only the values are written


@pytest.mark.filterwarnings("ignore")
def test_systems_without_positioned_reads_and_writes(monkeypatch):
    """MacOS has no ``os.preadv``, and Windows no ``os.pwrite`` either."""
    random = np.random.default_rng(5)
    X = random.normal(size=(3000, 4))
    monkeypatch.delattr(os, "preadv")
    monkeypatch.delattr(os, "pwrite")
    data = pellucid.scan(lambda: np.array_split(X, 4), memory=10_000)
    for estimator in (IMM, ExShallow):
        on_scan = estimator(reference=X[:5], n_jobs=2).fit(data)
        assert_same_tree(on_scan, estimator(reference=X[:5]).fit(X))


def test_edges_without_rows_between_them():
    """The best cut of a node is at edges that only rows of other nodes separate."""
    rows = [
        [1.6, 1.5, 0.1], [1.7, 1.1, -1.1], [-0.2, 1.6, 0.2], [1, -0.8, -0.8], [0.3, 0, 0.4],
        [1.2, 1, -0.5], [0.4, -0.3, -0.6], [-0.1, 0.4, 1.1], [-1.1, 0.8, -0.7], [1, -0.3, 1.5],
        [1.2, 1.9, -0.8], [-1.7, 0.7, -0.4], [2.1, -0.6, 0.4], [-0.2, -0.3, -0.1], [0.4, 0.4, -0.5],
    ]  # fmt: skip
    X = np.array(rows)
    centers = X[[10, 11, 14, 10, 11, 10]]
    expected = ExShallow(reference=centers).fit(X)
    batches = pl.DataFrame(X, schema=["a", "b", "c"]).lazy()
    found = ExShallow(reference=centers).fit(pellucid.scan(batches))
    assert found.tree_ == expected.tree_
