"""A criterion is one formula: it works on every storage of the rows and with every grower."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import pellucid
from _support.fitting import assert_same_tree
from pellucid._core.criteria.sums import SumCriterion, SumFormula
from pellucid._core.growers import BeamSearch, grow
from pellucid._core.growers.best_first import grow_best_first
from pellucid.cluster._base import BaseThresholdTree


class Gini(SumFormula):
    """Gini impurity of the clusters, weighted by the rows of each side."""

    def objective(self, left, right):
        return impurity(left) + impurity(right)

    def cost(self, totals):
        return float(impurity(totals[None])[0])


def impurity(sums):
    weight = sums.sum(axis=1)
    squares = (sums.astype(float) ** 2).sum(axis=1)
    return weight - np.divide(squares, weight, out=np.zeros(len(sums)), where=weight > 0)


class GiniTree(BaseThresholdTree):
    """A tree of at most six leaves, or as many as greedy and beam search find."""

    grower = "best-first"

    def _grow(self, problem, progress):
        criterion, style = problem.criterion(SumCriterion, Gini()), self.threshold_style
        if self.grower == "best-first":
            return grow_best_first(criterion, style, progress, 6)
        return grow(criterion, self.grower, style, progress)

    def _check_scan_parameters(self):
        """It streams."""


GROWERS = ["best-first", "greedy", BeamSearch(3, 2)]


@pytest.fixture(params=GROWERS, ids=["best-first", "greedy", "beam"])
def fit(request):
    """A function that fits the tree with one of the growers."""

    def fit(X, weight=None):
        model = GiniTree(reference=centers)
        model.grower = request.param
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(X, sample_weight=weight)

    return fit


random = np.random.default_rng(0)
X = np.round(random.normal(size=(240, 3)) + 2 * random.integers(3, size=(240, 1)), 1)
X *= random.random(X.shape) < 0.8
centers = X[:4]
weight = random.integers(1, 4, 240).astype(float)


def oracle(rows):
    """The least impurity of a split, by trying all of them."""
    labels = ((X[rows, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    counts = np.eye(4, dtype=np.int64)[labels]
    return min(
        impurity(counts[is_left].sum(axis=0)[None])[0]
        + impurity(counts[~is_left].sum(axis=0)[None])[0]
        for column in X[rows].T
        for threshold in np.unique(column)[:-1]
        for is_left in [column <= threshold]
    )


def test_the_first_split_is_that_of_brute_force():
    tree = GiniTree(reference=centers).fit(X).tree_
    is_left = X[:, tree.feature[0]] <= tree.threshold[0]
    labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    counts = [np.bincount(labels[side], minlength=4)[None] for side in (is_left, ~is_left)]
    assert sum(float(impurity(side)[0]) for side in counts) == pytest.approx(
        oracle(np.arange(240)), rel=1e-12
    )


def test_every_storage_in_memory(fit):
    expected = fit(X)
    assert_same_tree(fit(sparse.csr_array(X)), expected)
    assert_same_tree(fit(np.asfortranarray(X)), expected)
    narrow = X.astype(np.float32)
    assert_same_tree(fit(narrow), fit(narrow.astype(np.float64)))


def test_weights_are_copies_of_rows(fit):
    copies = np.repeat(X, weight.astype(int), axis=0)
    model, repeated = fit(X, weight), fit(copies)
    for name in ("feature", "threshold", "cluster", "weighted_n_node_samples"):
        np.testing.assert_array_equal(getattr(model.tree_, name), getattr(repeated.tree_, name))


@pytest.mark.parametrize("n_parts", [1, 3])
def test_batches(fit, n_parts):
    parts = np.array_split(np.column_stack([X, weight]), n_parts)
    on_scan = fit(pellucid.scan(lambda: parts, ["x0", "x1", "x2"], weight="x3"))
    assert_same_tree(on_scan, fit(X, weight))


def test_dask(fit):
    array = pytest.importorskip("dask.array")
    assert_same_tree(fit(pellucid.scan(array.from_array(X, chunks=(100, 3)))), fit(X))
