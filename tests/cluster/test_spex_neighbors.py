"""SpEx on the nearest-neighbour graph against the definition, edge by edge."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_moons

from _support.spex_oracle import sides
from pellucid import ExKMC, SpEx, scan, stability
from pellucid.report import report_html


def edges_of(X: np.ndarray, n_neighbors: int) -> set[tuple[int, int]]:
    """Pairs of rows of which one is among the nearest of the other; no two distances are equal."""
    distance = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    nearest = distance.argsort(axis=1)[:, 1 : n_neighbors + 1]
    return {(min(i, j), max(i, j)) for i, near in enumerate(nearest.tolist()) for j in near}


def cut_ratio(edges: set[tuple[int, int]], rows: np.ndarray) -> Fraction:
    inside = set(rows.tolist())
    n_ends = [(i in inside) + (j in inside) for i, j in edges]
    degree = sum(n_ends)
    return Fraction(n_ends.count(1), degree) if degree else Fraction(0)


def grow(X: np.ndarray, edges: set[tuple[int, int]], n_leaves: int) -> list[np.ndarray]:
    """The rows of each leaf, by trying every cut of every leaf."""
    leaves = [np.arange(len(X))]
    order = [0]
    while len(leaves) < n_leaves:
        found = []
        for number, rows in zip(order, leaves):
            cuts = [
                (sum(cut_ratio(edges, side) for side in sides(X, rows, j, low)), j, low)
                for j in range(X.shape[1])
                for low in sorted(set(X[rows, j]))[:-1]
            ]
            if cuts:
                value, feature, low = min(cuts)
                found.append((value - cut_ratio(edges, rows), number, feature, low))
        _, number, feature, low = min(found)
        place = order.index(number)
        leaves[place : place + 1] = sides(X, leaves[place], feature, low)
        order[place : place + 1] = [max(order) + 1, max(order) + 2]
    return leaves


@pytest.mark.parametrize("seed", range(6))
def test_the_tree_is_that_of_the_definition(seed):
    random = np.random.default_rng(seed)
    X, k = random.normal(size=(30, 3)).round(1 + seed), int(random.integers(2, 6))
    X[:, 0] = X[:, 0].round(1)  # several rows have the same value in a column
    X[:, 2] = random.permutation(30) * 1.0 + random.random(30)
    n_neighbors = int(random.integers(1, 6))
    model = SpEx(k, graph="neighbors", n_neighbors=n_neighbors).fit(X)
    leaves = grow(X, edges_of(X, n_neighbors), k)
    assert {tuple(np.flatnonzero(model.labels_ == c)) for c in range(k)} == {
        tuple(rows) for rows in leaves
    }
    assert model.n_leaves_ == k


def test_the_clusters_are_the_leaves():
    X, _ = make_moons(200, noise=0.05, random_state=0)
    model = SpEx(5, graph="neighbors").fit(X)
    assert model.tree_.cluster[model.tree_.is_leaf].tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(model.reference_labels_, model.labels_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.mistakes_ == 0
    assert model.inertia_ == model.reference_inertia_
    assert all(rule.purity == 1 for rule in model.rules_)
    assert '"reference":"its own clusters"' in report_html(model, X)


def test_nothing_depends_on_order_storage_or_copies():
    X = load_iris().data  # with equal rows and equal distances
    model = SpEx(4, graph="neighbors").fit(X)
    shuffled = np.random.default_rng(0).permutation(len(X))
    for other in (X[shuffled], sparse.csr_array(X), sparse.csc_matrix(X), np.asfortranarray(X)):
        assert SpEx(4, graph="neighbors").fit(other).tree_ == model.tree_
    exact = X.astype(np.float32)
    wide = SpEx(4, graph="neighbors").fit(exact.astype(np.float64))
    np.testing.assert_array_equal(SpEx(4, graph="neighbors").fit(exact).labels_, wide.labels_)
    weight = np.arange(len(X)) % 4
    weighted = SpEx(4, graph="neighbors").fit(X, sample_weight=weight)
    copied = SpEx(4, graph="neighbors").fit(np.repeat(X, weight, axis=0))
    for name in ("feature", "threshold", "cluster", "weighted_n_node_samples"):
        np.testing.assert_array_equal(
            getattr(weighted.tree_, name), getattr(copied.tree_, name), err_msg=name
        )


def test_few_rows():
    assert SpEx(3, graph="neighbors").fit([[1.0]]).n_leaves_ == 1
    assert SpEx(3, graph="neighbors").fit([[1.0], [1.0], [2.0]]).n_leaves_ == 2


def test_it_can_be_a_base_and_be_drawn_again():
    X = load_iris().data
    expanded = ExKMC(3, n_leaves=5, base=SpEx(3, graph="neighbors"), random_state=0).fit(X)
    assert expanded.n_leaves_ == 5
    model = SpEx(3, graph="neighbors").fit(X)
    with pytest.raises(ValueError, match='has no reference; use reference="refit"'):
        stability(model, X)
    found = stability(model, X, n_bootstraps=3, reference="refit")
    assert 0.4 < found.agreement <= 1


def test_what_it_cannot_use_is_named(tmp_path):
    X, labels = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="leave y out"):
        SpEx(3, graph="neighbors").fit(X, labels)
    with pytest.raises(ValueError, match="leave reference, n_leaves, polish out"):
        SpEx(3, graph="neighbors", reference=X[:3], n_leaves=4, polish=True).fit(X)
    with pytest.raises(ValueError, match="needs whole sample weights"):
        SpEx(3, graph="neighbors").fit(X, sample_weight=np.full(len(X), 0.5))
    pl.DataFrame(X).write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="needs all rows in memory"):
        SpEx(3, graph="neighbors").fit(scan(tmp_path / "rows.parquet"))
