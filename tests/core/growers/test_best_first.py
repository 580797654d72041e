"""Best-first growth: small leaves are searched side by side, and the trees stay the same."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from _support import oracles
from _support.fitting import fit_exactly as fit
from pellucid import ExKMC
from pellucid._core.criteria.surrogate_cost import SurrogateCost


@pytest.mark.parametrize("seed", range(3))
def test_the_leaf_of_the_largest_gain_is_split_next(seed):
    rng = np.random.default_rng(seed)
    X, centers = rng.integers(0, 9, size=(30, 2)) / 2, rng.integers(0, 9, size=(5, 2)) / 2
    data = oracles.Data(X, centers, oracles.nearest(X, centers), np.ones(30))
    expected, curve = oracles.grow_exkmc(data, 5)
    model = fit(ExKMC(base=None, n_leaves=5), data)
    assert model.surrogate_costs_.tolist() == curve
    assert oracles.as_nested(model.tree_) == expected


@pytest.mark.parametrize("as_sparse", [False, True])
def test_searching_ahead_changes_nothing(as_sparse):
    X, _ = make_blobs(12_000, 8, centers=10, cluster_std=4, random_state=0)
    data = sparse.csr_array(np.where(np.abs(X) < 4, 0.0, X)) if as_sparse else X
    one, four = (ExKMC(reference=X[:10], n_jobs=n).fit(data) for n in (1, 4))
    assert one.tree_ == four.tree_
    np.testing.assert_array_equal(one.surrogate_costs_, four.surrogate_costs_)


@pytest.mark.parametrize(("n_rows", "n_leaves"), [(12_000, 13), (2_000, 13), (12_000, 40)])
def test_no_more_leaves_are_searched_than_threads_could(n_rows, n_leaves, monkeypatch):
    X, _ = make_blobs(n_rows, 8, centers=10, cluster_std=4, random_state=0)
    searched, search = [], SurrogateCost.best_splits

    def count(self, node, n=1):
        searched.append(node)
        return search(self, node, n)

    monkeypatch.setattr(SurrogateCost, "best_splits", count)
    numbers = []
    for n_jobs in (1, 4):
        searched.clear()
        ExKMC(reference=X[:10], n_leaves=n_leaves, n_jobs=n_jobs).fit(X)
        assert len({id(node) for node in searched}) == len(searched)
        numbers.append(len(searched))
    one, four = numbers
    assert four == one if n_rows < 4096 else one <= four <= one + n_leaves - 10
