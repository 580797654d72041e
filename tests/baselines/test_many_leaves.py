"""A fitted baseline with many leaves is as large as its tree, not as all of its smaller trees."""

from __future__ import annotations

import pickle

import numpy as np

from pellucid.baselines import KDTreeExplainer


def test_size_of_a_model_with_many_leaves():
    X = np.random.default_rng(0).normal(size=(1000, 2))

    def size(n_leaves):
        model = KDTreeExplainer(reference=X[:3], n_leaves=n_leaves).fit(X)
        assert [tree.n_leaves for tree in model.staged_trees()] == list(range(1, n_leaves + 1))
        return len(pickle.dumps(model))

    assert size(320) < 5 * size(80)
