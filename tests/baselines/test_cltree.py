"""CLTree against a slow version that looks at one column and one cut at a time."""

from itertools import product
from math import inf, log2

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs

from _support.extended import EXTENDED, seeds
from pellucid.baselines import CLTree

USUAL = {(2, 0, 0.8), (2, 0.15, 0.3), (5, 0, 0), (5, 0.15, 0.8)}
"""Limits that are tested in every run."""

rarely = pytest.mark.skipif(not EXTENDED, reason="other limits are tested")


class Slow:
    """A part of a column: (value, weight) pairs, its ends, its virtual points."""

    def __init__(self, rows, low, high, n):
        self.rows, self.low, self.high, self.n = sorted(rows), low, high, n
        self.y = sum(w for _, w in self.rows)
        self.density = self.y / n if n > 0 else (inf if self.y else 0.0)

    def entropy(self):
        total = self.y + self.n
        return -sum(p * log2(p / total) for p in (self.y, self.n) if p > 0)

    def divide(self, cut):
        at, with_equal = cut
        share = (at - self.low) / (self.high - self.low)
        left = [r for r in self.rows if r[0] < at or (with_equal and r[0] == at)]
        right = [r for r in self.rows if r not in left]
        return (
            Slow(left, self.low, at, self.n * share),
            Slow(right, at, self.high, self.n * (1 - share)),
        )

    def best_cut(self):
        if self.high <= self.low:
            return None
        best, chosen = 1e-12 * (self.y + self.n), None
        for value in sorted({v for v, _ in self.rows}):
            for with_equal in (False, True):
                parts = self.divide((value, with_equal))
                gain = self.entropy() - parts[0].entropy() - parts[1].entropy()
                if gain > best + 1e-12:
                    best, chosen = gain, (value, with_equal)
        return chosen


def slow_look_ahead(part):
    """Density and virtual points of the sparse region, and the cut; None without any."""
    first = part.best_cut()
    if first is None:
        return None
    sides = part.divide(first)
    sparse = min(sides, key=lambda side: side.density)
    second = sparse.best_cut()
    if second is None:
        return sparse.density, -sparse.n, first
    near, far = sparse.divide(second)[:: 1 if sparse is sides[1] else -1]
    if near.density > far.density:
        return far.density, -far.n, second
    third = near.best_cut()
    if third is None:
        return near.density, -near.n, second
    rest = min(near.divide(third), key=lambda side: side.density)
    return rest.density, -rest.n, third


def slow_tree(X, weight, rows, box, n, min_split):
    """Nested (Y, N, left, right) or (Y, N, rows)."""
    y = weight[rows].sum()
    n = max(n, y)
    found = []
    if y >= min_split:
        for j, (low, high) in enumerate(box):
            cut = slow_look_ahead(Slow([(X[i, j], weight[i]) for i in rows], low, high, n))
            if cut is not None:
                found.append((*cut[:2], j, cut[2]))
    if not found:
        return y, n, tuple(rows)
    _, _, j, (at, with_equal) = min(found, key=lambda f: f[:3])
    low, high = box[j]
    left = [i for i in rows if X[i, j] < at or (with_equal and X[i, j] == at)]
    right = [i for i in rows if i not in left]
    share = (at - low) / (high - low)
    sides = (
        (left, [*box[:j], (low, at), *box[j + 1 :]], n * share),
        (right, [*box[:j], (at, high), *box[j + 1 :]], n * (1 - share)),
    )
    return y, n, *(slow_tree(X, weight, *side, min_split) for side in sides)


def rows_of(tree):
    return tree[2] if len(tree) == 3 else rows_of(tree[2]) + rows_of(tree[3])


def slow_prune(tree, least, min_rd):
    """The leaves' rows, and whether the tree is one leaf."""
    if len(tree) == 3:
        return [tree[2]], True
    parts = [
        ([rows_of(side)], True) if side[0] < least else slow_prune(side, least, min_rd)
        for side in tree[2:]
    ]
    if parts[0][1] and parts[1][1]:
        sides = tree[2:]
        sparser = min(side[0] / side[1] if side[1] else 0.0 for side in sides)
        if any(s[0] == 0 for s in sides) or sparser > min_rd or all(s[0] < least for s in sides):
            return [rows_of(tree)], True
    return [leaf for leaves, _ in parts for leaf in leaves if leaf], False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("min_split", "min_y", "min_rd"),
    [
        pytest.param(*limits, marks=() if limits in USUAL else rarely)
        for limits in product([2, 5], [0, 0.15], [0, 0.3, 0.8])
    ],
)
def test_the_leaves_are_those_of_the_slow_version(min_split, min_y, min_rd):
    for seed in range(8 if EXTENDED else 3):  # one, two and three columns
        random = np.random.default_rng(seed)
        X = np.round(random.normal(size=(20, 1 + seed % 3)), 2)
        check(X, random.integers(1, 4, size=20).astype(float), min_split, min_y, min_rd)


def check(X, weight, min_split, min_y, min_rd):
    n, centers = weight.sum(), X[:4]
    box = list(zip(X.min(axis=0).tolist(), X.max(axis=0).tolist()))
    tree = slow_tree(X, weight, list(range(len(X))), box, n, min_split)
    expected, _ = slow_prune(tree, min_y * n, min_rd)
    model = CLTree(min_split=min_split, min_y=min_y, min_rd=min_rd, reference=centers)
    model.fit(X, sample_weight=weight)
    leaf = model.apply(X)
    found = {tuple(np.flatnonzero(leaf == node)) for node in np.unique(leaf)}
    assert found == {tuple(sorted(rows)) for rows in expected}
    for node in model.tree_.leaves:
        costs = [
            weight[leaf == node] @ ((X[leaf == node] - center) ** 2).sum(axis=1)
            for center in centers
        ]
        assert model.tree_.cluster[node] == np.argmin(costs)


def test_separate_blobs_are_dense_regions():
    X, y = make_blobs(300, 2, centers=[[0, 0], [10, 0], [0, 10]], cluster_std=0.5, random_state=0)
    model = CLTree(min_y=0.1).fit(X, y)
    dense = np.flatnonzero(model.is_dense_)
    assert len(dense) == 3
    assert (model.tree_.n_node_samples[dense] > 90).all()
    assert model.mistakes_ == 0
    assert (model.relative_density_ <= 1).all()
    sparse = np.setdiff1d(model.tree_.leaves, dense)
    assert (model.tree_.n_node_samples[sparse] < 30).all()


@pytest.mark.parametrize(
    ("name", "values"), [("min_y", [0, 0.1, 1.0]), ("min_split", [5, 20, 151])]
)
def test_larger_limits_give_smaller_trees(name, values):
    X = load_iris().data
    sizes = [CLTree(3, random_state=0, **{name: v}).fit(X).n_leaves_ for v in values]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1] == 1


def first_split(X):
    model = CLTree(min_split=2, min_y=0, min_rd=1, reference=X[:2]).fit(X)
    return model.tree_.feature[0], model.tree_.threshold[0]


def test_of_equally_sparse_regions_the_one_with_more_virtual_points_is_cut():
    # Both columns have an empty region; that of the first is the larger share of its range.
    X = np.array([[0, 0], [1, 1], [2, 3], [12, 5], [13, 8], [14, 10]], dtype=float)
    feature, threshold = first_split(X)
    assert feature == 0
    assert 2 <= threshold < 12
    assert first_split(X[:, ::-1])[0] == 1


def test_of_equal_columns_the_first_is_cut():
    column = np.array([0, 1, 2, 12, 13, 14], dtype=float)
    assert first_split(np.stack([column, column], axis=1))[0] == 0
    assert first_split(np.stack([column, -column], axis=1))[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("n_values", [2, 3, 5])
def test_ties_go_where_the_slow_version_puts_them(n_values):
    for seed in seeds(12):
        random = np.random.default_rng(seed)
        X = random.integers(0, n_values, size=(16, 2)).astype(float)
        X = np.concatenate([X, X[:, ::-1]], axis=1)  # every column twice
        weight = random.integers(1, 3, size=16).astype(float)
        check(X, weight, min_split=2, min_y=0, min_rd=0.3)
