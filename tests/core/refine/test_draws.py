"""Draws of the rows, and the choice of the tree that returns most often on them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from pellucid import ExplainableKMeans
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset
from pellucid._core.refine import portfolio
from pellucid._core.refine.portfolio import MAX_LOSS, draw_problem

X = np.round(make_blobs(160, 3, centers=4, cluster_std=3.0, random_state=2)[0], 1)
CENTERS = KMeans(4, n_init=1, random_state=0).fit(X).cluster_centers_


def _drawn(X, weight, number=3):
    data = Dataset(np.ascontiguousarray(X), Weights.of(weight))
    problem = Problem(data, CENTERS, data.nearest(CENTERS))
    return draw_problem(problem, number)


def test_a_draw_is_like_a_bootstrap():
    totals = [_drawn(X, np.ones(len(X)), n).weights.values.sum() for n in range(200)]
    assert abs(np.mean(totals) - len(X)) < 3 * np.sqrt(len(X) / 200)
    left_out = [len(X) - _drawn(X, np.ones(len(X)), n).n_samples for n in range(200)]
    assert abs(np.mean(left_out) / len(X) - np.exp(-1)) < 0.02


def test_order_and_copies_do_not_change_a_draw():
    order, copies = np.random.default_rng(0).permutation(len(X)), np.arange(len(X)) % 3 + 1
    weighted = _drawn(X, copies.astype(float))
    repeated = _drawn(np.repeat(X, copies, axis=0)[::-1], np.ones(copies.sum()))
    shuffled = _drawn(X[order], copies[order].astype(float))
    expected = weighted.X.T @ weighted.weights.values
    for other in (repeated, shuffled):
        assert np.allclose(other.X.T @ other.weights.values, expected, rtol=1e-12)
        assert other.weights.values.sum() == weighted.weights.values.sum()


@pytest.mark.slow
def test_the_tree_is_almost_the_best_and_does_not_depend_on_storage(monkeypatch):
    monkeypatch.setattr(portfolio, "N_DRAWS", 8)
    parameters = {"reference": CENTERS, "effort": "fast", "faithfulness": 0.3}
    best = ExplainableKMeans(**parameters).fit(X)
    found = [
        ExplainableKMeans(**parameters, stability=True, n_jobs=n).fit(form(X))
        for n, form in ((1, np.asarray), (2, sparse.csr_array), (1, lambda X: X[::-1].copy()))
    ]
    assert all(model.tree_ == found[0].tree_ for model in found)

    def objective(model):
        share = (model.labels_ != model.reference_labels_).mean()
        return model.inertia_ / model.reference_inertia_ + 0.3 * share

    assert objective(found[0]) <= (1 + MAX_LOSS) * objective(best)
