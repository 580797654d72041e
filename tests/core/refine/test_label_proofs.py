"""Proven least mistakes of small trees, compared with all trees."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from pellucid import ExplainableKMeans
from pellucid._core.refine.label_search import ExactSearch


def _leaf(labels, weight):
    totals = np.bincount(labels, weights=weight)
    return totals.sum() - totals.max() if len(totals) else 0


def least_mistakes(X, labels, weight, depth, n_leaves):
    """The least weight of mistakes of all trees, by recursion over all cuts."""
    best = _leaf(labels, weight)
    if depth == 0 or n_leaves < 2:
        return best
    for j in range(X.shape[1]):
        for value in np.unique(X[:, j])[:-1]:
            left = X[:, j] <= value
            for n in {1, n_leaves // 2, n_leaves - 1}:
                sides = ((left, n), (~left, n_leaves - n))
                total = sum(
                    least_mistakes(X[s], labels[s], weight[s], depth - 1, m) for s, m in sides
                )
                best = min(best, total)
    return best


def _mistakes(tree, rank, own, rows):
    if tree is None:
        return _leaf(own[rows, 0], own[rows, 1])
    left = rank[rows, tree[0]] <= tree[1]
    return sum(_mistakes(t, rank, own, rows[s]) for t, s in zip(tree[2:], (left, ~left)))


@pytest.mark.parametrize(
    ("depth", "n_leaves", "n_rows"),
    [(1, 2, 30), (2, 3, 24), (2, 4, 24), (3, 4, 16), (4, 4, 16), (3, 8, 12)],
)
@pytest.mark.parametrize("seed", range(4))
def test_least_mistakes(depth, n_leaves, n_rows, seed):
    random = np.random.default_rng(seed)
    rank = random.integers(6, size=(n_rows, 2 + seed % 2)).astype(np.uint16)
    own = np.column_stack([random.integers(3, size=n_rows), random.integers(1, 4, size=n_rows)])
    expected = int(least_mistakes(rank, own[:, 0], own[:, 1], depth, n_leaves))
    search = ExactSearch(rank, own, 3)
    found = search.prove(depth, n_leaves, 2**62, 1e18)
    assert found.bound == expected
    assert _mistakes(found.tree, rank, own, np.arange(n_rows)) == expected
    for limit in (expected, expected - 1):
        assert search.prove(depth, n_leaves, limit, 1e18) == (limit, None)
    if depth > 1 and expected > 0:
        assert search.prove(depth, n_leaves, expected, -1) == (0, None)


@pytest.mark.parametrize("seed", range(3))
def test_depth_three_by_the_proofs_of_depth_two(seed):
    random = np.random.default_rng(seed)
    rank = random.integers(12, size=(70, 3)).astype(np.uint16)
    labels = (rank[:, 0] > 5) + (rank[:, 1] > 7) + random.integers(2, size=70)
    own = np.column_stack([labels, random.integers(1, 3, size=70)])

    def least(rows, depth):
        if not rows.any():
            return 0
        return ExactSearch(rank[rows], own[rows], 4).prove(depth, 2**depth, 2**62, 1e18).bound

    cuts = [rank[:, j] <= at for j in range(3) for at in range(11)]
    expected = min(least(left, 2) + least(~left, 2) for left in cuts)
    search = ExactSearch(rank, own, 4)
    assert search.prove(3, 8, 2**62, 1e18).bound == expected
    assert search.prove(3, 8, expected + 5, 1e18).bound == expected
    early = search.prove(3, 8, 2**62, 1e5)  # not enough work for a proof
    assert early.bound == 0
    assert _mistakes(early.tree, rank, own, np.arange(70)) >= expected


@pytest.mark.parametrize(
    ("parameters", "is_proven"),
    [({"max_depth": 2}, True), ({}, True), ({"n_leaves": 4}, True), ({"n_leaves": 9}, False)],
)
def test_certificate(parameters, is_proven):
    X, labels = load_iris(return_X_y=True)
    model = ExplainableKMeans(**parameters).fit(X, labels)
    assert model.disagreement_lower_bound_ <= model.mistakes_
    assert (model.disagreement_lower_bound_ == model.mistakes_ > 0) == is_proven
    own = [(model.predict(X[labels == y]) == y).mean() for y in range(3)]
    assert model.cluster_agreement_.tolist() == own


@pytest.mark.parametrize("unit", [1, 0.3])
def test_warning_of_labels_that_no_tree_follows(unit):
    X = np.arange(60.0)[:, None]
    labels, weight = np.arange(60) % 4, np.full(60, unit)
    with pytest.warns(UserWarning, match=r"more than 2\d\.\d% of the rows their label \(proven\)"):
        model = ExplainableKMeans(max_depth=1).fit(X, labels, sample_weight=weight)
    share = 1 - model.disagreement_lower_bound_ / weight.sum()
    assert share == pytest.approx((model.predict(X) == labels).mean())


def test_held_out_agreement():
    X, labels = load_iris(return_X_y=True)
    assert 0.9 < ExplainableKMeans(effort="fast").held_out_agreement(X, labels) < 0.98
    names = np.array(["a", "b", None], dtype=object)[labels]
    assert ExplainableKMeans(effort="fast").held_out_agreement(X, names) == 1
