"""Trees for given labels, compared with all trees of depth two and with scikit-learn's CART."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from pellucid import ExplainableKMeans
from pellucid._core.refine import label_search
from pellucid.metrics import weighted_average_explanation_size
from pellucid.tree.measures import conditions_per_leaf


def _random_case(seed, n=24, n_columns=3, k=3):
    random = np.random.default_rng(seed)
    X = random.integers(6, size=(n, n_columns)).astype(float)
    return X, random.integers(k, size=n), random.integers(1, 4, size=n)


def _least_mistakes(labels, weight):
    totals = np.bincount(labels, weights=weight)
    return totals.sum() - totals.max() if len(totals) else 0


def _best_stump(X, labels, weight):
    best = _least_mistakes(labels, weight)
    for j, value in _cuts(X):
        left = X[:, j] <= value
        sides = [_least_mistakes(labels[side], weight[side]) for side in (left, ~left)]
        best = min(best, sum(sides))
    return best


def _cuts(X):
    return [(j, value) for j in range(X.shape[1]) for value in np.unique(X[:, j])]


def best_of_depth_two(X, labels, weight):
    """The least weight of mistakes of all trees of depth two."""
    best = _best_stump(X, labels, weight)
    for j, value in _cuts(X):
        left = X[:, j] <= value
        best = min(best, sum(_best_stump(X[s], labels[s], weight[s]) for s in (left, ~left)))
    return best


@pytest.mark.parametrize("seed", range(12))
def test_least_mistakes_of_depth_two(seed):
    X, labels, weight = _random_case(seed)
    model = ExplainableKMeans(n_leaves=4, max_depth=2).fit(X, labels, sample_weight=weight)
    assert model.mistakes_ == best_of_depth_two(X, labels, weight)
    assert model.mistakes_ == weight[model.predict(X) != labels].sum()


@pytest.mark.parametrize("n_leaves", [2, 3, 5, 9])
def test_not_more_mistakes_than_cart(n_leaves):
    X, _ = make_blobs(400, n_features=5, centers=5, cluster_std=3, random_state=n_leaves)
    labels = np.random.default_rng(n_leaves).permutation(5)[(X[:, 0] > X[:, 1]) + 2 * (X[:, 2] > 0)]
    cart = DecisionTreeClassifier(max_leaf_nodes=n_leaves, random_state=0).fit(X, labels)
    model = ExplainableKMeans(n_leaves=n_leaves).fit(X, labels)
    assert model.n_leaves_ <= n_leaves
    mistakes = (cart.predict(X) != labels).sum()
    assert model.mistakes_ < mistakes if n_leaves > 3 else model.mistakes_ <= mistakes


def test_the_labels_decide_and_not_the_cost():
    X = np.random.default_rng(0).normal(size=(200, 2)) * [1, 100]
    labels = np.where(X[:, 0] > 0.3, "right", "left")  # the other column has all the cost
    model = ExplainableKMeans().fit(X, labels)
    assert model.mistakes_ == 0
    assert (model.predict(X) == labels).all()
    assert [rule.cluster for rule in model.rules_] == ["left", "right"]


def test_equal_mistakes_go_to_fewer_conditions():
    X, _ = load_iris(return_X_y=True)
    labels = (X[:, 2] > 2.5).astype(int) + (X[:, 2] > 5)
    model = ExplainableKMeans(n_leaves=6).fit(X, labels)
    assert model.mistakes_ == 0
    assert model.n_leaves_ == 3
    assert weighted_average_explanation_size(model.tree_) < 1.8


def _variants(X, labels, weight):
    order = np.random.default_rng(1).permutation(len(X))
    again = np.repeat(np.arange(len(X)), weight)
    return {
        "order": (X[order], labels[order], weight[order]),
        "repeated": (X[again], labels[again], None),
        "sparse": (sparse.csr_array(X), labels, weight),
        "float32": (X.astype(np.float32), labels, weight),
    }


@pytest.mark.parametrize("max_rows", [2**15, 60])
def test_same_tree_for_any_storage(max_rows, monkeypatch):
    monkeypatch.setattr(label_search, "MAX_ROWS", max_rows)  # a sample of few rows
    X, _ = load_wine(return_X_y=True)
    X = X.astype(np.float32).astype(np.float64)
    random = np.random.default_rng(3)
    labels, weight = random.integers(3, size=len(X)), random.integers(1, 4, size=len(X))
    expected = ExplainableKMeans(n_leaves=5, n_jobs=1).fit(X, labels, sample_weight=weight)
    for name, (other, given, weights) in _variants(X, labels, weight).items():
        model = ExplainableKMeans(n_leaves=5, n_jobs=2).fit(other, given, sample_weight=weights)
        assert np.array_equal(model.tree_.feature, expected.tree_.feature), name
        assert np.array_equal(model.tree_.threshold, expected.tree_.threshold, equal_nan=True), name
        assert model.mistakes_ == expected.mistakes_, name


def test_sample_is_improved_on_all_rows(monkeypatch):
    monkeypatch.setattr(label_search, "MAX_ROWS", 50)  # a sample of few rows
    X, _ = make_blobs(600, n_features=4, centers=4, cluster_std=3, random_state=0)
    labels = (X[:, 0] > 0).astype(int) + (X[:, 1] > 2)
    cart = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X, labels)
    monkeypatch.setattr(label_search, "MAX_RANKS", 100)  # columns with more values than ranks
    monkeypatch.setattr(label_search, "MAX_SUMS", 1)  # all nodes share their sums
    model = ExplainableKMeans(n_leaves=4).fit(X, labels)
    assert model.mistakes_ <= (cart.predict(X) != labels).sum()


def test_limits():
    X, labels, weight = _random_case(5, n=200, n_columns=5, k=4)
    for depth, conditions in product([2, 3, None], [1, 2, None]):
        model = ExplainableKMeans(n_leaves=8, max_depth=depth, max_conditions=conditions)
        model.fit(X, labels, sample_weight=weight)
        assert depth is None or model.tree_.max_depth <= depth
        assert conditions is None or conditions_per_leaf(model.tree_).max() <= conditions


def test_more_leaves_where_a_cluster_would_have_none():
    random = np.random.default_rng(0)
    X = random.uniform(size=(600, 2))
    labels = (X[:, 0] > 0.5).astype(int)
    labels[(np.abs(X[:, 0] - 0.25) < 0.06) & (np.abs(X[:, 1] - 0.5) < 0.12)] = 2
    assert ExplainableKMeans(n_leaves=3).fit(X, labels).rules_[2].n_samples == 0
    model = ExplainableKMeans().fit(X, labels)
    assert model.n_leaves_ <= 6
    assert all(rule.n_samples for rule in model.rules_)
    assert model.mistakes_ == 0


def test_single_precision_cuts_of_cart():
    values = 1 + np.arange(64) * 2.0**-30  # equal in single precision, in groups
    X, labels = values[:, None], (np.arange(64) > 40).astype(int)
    assert ExplainableKMeans().fit(X, labels).mistakes_ == 0
    for threshold in (0.1, 1 / 3, -2.5, 1e-30):
        largest = label_search._largest_double(threshold)
        above = np.nextafter(largest, np.inf)
        assert float(np.float32(largest)) <= threshold < float(np.float32(above))


def test_noise_is_background():
    X = np.arange(40.0)[:, None]
    labels = np.where(X[:, 0] < 15, 3, np.where(X[:, 0] < 30, 7, -1))
    model = ExplainableKMeans().fit(X, labels)
    assert [(r.cluster, r.n_samples, r.n_noise) for r in model.rules_] == [(3, 15, 0), (7, 15, 10)]
    assert model.rules_[1].precision == 15 / 25
    assert "with 10 of noise 60.0%" in str(model.rules_)
    missing = np.where(labels < 0, np.nan, labels)
    words = np.array([None if y < 0 else f"c{y}" for y in labels], dtype=object)
    for given in (missing, words):
        assert ExplainableKMeans().fit(X, given).tree_ == model.tree_
    assert ExplainableKMeans().fit(X, words).reference_labels_[-1] == "-1"
    names = ExplainableKMeans(noise="cluster").fit(X, words).cluster_names_
    assert names.tolist() == ["c3", "c7", "noise"]
    assert ExplainableKMeans(noise="cluster").fit(X, missing).cluster_names_.tolist() == [-1, 3, 7]
    with pytest.raises(ValueError, match='every label of y is noise .* noise="cluster"'):
        ExplainableKMeans().fit(X, np.full(40, -1))


def test_a_cluster_without_a_rule_is_named_with_the_reason():
    X = np.arange(12.0)[:, None]
    labels = np.array([0, 0, 0, 2, 0, 0, 1, 1, 1, 1, 1, 1])
    with pytest.warns(ConvergenceWarning, match="not explained: cluster 2. In no leaf of the best"):
        model = ExplainableKMeans(n_leaves=2).fit(X, labels)
    assert model.rules_[2].text == "not explained"
    with pytest.warns(ConvergenceWarning, match=r"Use more leaves \(n_leaves\) or fewer clusters"):
        ExplainableKMeans(n_leaves=2).fit(X, labels)
    with pytest.warns(ConvergenceWarning, match="a larger max_conditions, or fewer clusters"):
        ExplainableKMeans(n_leaves=2, max_conditions=1).fit(X, labels)


def test_mistakes_of_overlapping_clusters():
    made = (make_blobs(600, 20, centers=8, cluster_std=5, random_state=s) for s in range(3))
    assert sum(ExplainableKMeans(n_leaves=16).fit(*data).mistakes_ for data in made) <= 182
