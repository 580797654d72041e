"""CUBT against exact, slow versions of its three steps."""

from fractions import Fraction
from itertools import combinations
from math import dist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs

from _support.extended import examples
from _support.fitting import fit_exactly
from _support.strategies import tiny_data
from pellucid.baselines import CUBT


def deviance(X, weight):
    """Sum of squares about the mean, in fractions."""
    if not len(X):
        return Fraction(0)
    rows = [[Fraction(x) for x in row] for row in X]
    weight = [Fraction(w) for w in weight]
    total = Fraction(0)
    for column in zip(*rows):
        mean = sum(w * x for w, x in zip(weight, column)) / sum(weight)
        total += sum(w * (x - mean) ** 2 for w, x in zip(weight, column))
    return total


def brute_cut(X, weight, min_size):
    """Gain, column and value of the best cut, or None."""
    found = []
    for j in range(X.shape[1]):
        for value in np.unique(X[:, j])[:-1]:
            left = X[:, j] <= value
            if min(weight[left].sum(), weight[~left].sum()) >= min_size:
                parts = [deviance(X[side], weight[side]) for side in (left, ~left)]
                found.append((sum(parts) - deviance(X, weight), j, value))
    best = min(found, default=(0,))
    return (-best[0], *best[1:]) if best[0] < 0 else None


def brute_leaves(data, min_size, min_deviance):
    """Leaves of the maximal tree."""
    least, leaves = min_deviance * deviance(data.X, data.weight), []
    waiting = [np.arange(len(data.X))]
    while waiting:
        rows = waiting.pop()
        cut = brute_cut(data.X[rows], data.weight[rows], min_size)
        if cut is None or cut[0] < least:
            leaves.append(rows)
        else:
            left = data.X[rows, cut[1]] <= cut[2]
            waiting += [rows[left], rows[~left]]
    return leaves


def brute_dissimilarity(a, b, share):
    """From lists of rows, each repeated as often as it counts."""

    def one_way(rows, others):
        nearest = sorted(min(dist(x, y) for y in others) for x in rows)
        wanted, total = share * len(rows), 0.0
        for i, distance in enumerate(nearest):
            total += distance * min(1.0, max(0.0, wanted - i))
        return total / wanted

    return max(one_way(a, b), one_way(b, a))


def groups_of(labels):
    return {tuple(np.flatnonzero(labels == label)) for label in np.unique(labels)}


@given(tiny_data(), st.integers(1, 4), st.sampled_from([0, 0.01, 0.25]))
@settings(max_examples=examples(100), deadline=None)
def test_the_maximal_tree_is_that_of_brute_force(data, min_size, min_deviance):
    model = CUBT(n_leaves=99, min_size=min_size, min_deviance=min_deviance)
    model = fit_exactly(model, data)
    expected = brute_leaves(data, min_size, Fraction(min_deviance))
    assert groups_of(model.apply(data.X)) == {tuple(sorted(rows)) for rows in expected}
    assert model.max_n_leaves_ == len(expected)


@given(tiny_data(max_rows=10), st.sampled_from([0.2, 0.5, 1.0]), st.floats(0.1, 6))
@settings(max_examples=examples(60), deadline=None)
def test_siblings_stay_only_if_they_are_dissimilar(data, share, min_distance):
    options = {"min_size": 1, "min_deviance": 0.0, "nearest_share": share}
    model = fit_exactly(CUBT(n_leaves=99, min_distance=min_distance, **options), data)
    tree, leaf = model.tree_, model.apply(data.X)
    copies = data.weight.astype(int)
    for node in np.flatnonzero(~tree.is_leaf):
        children = tree.children_left[node], tree.children_right[node]
        if tree.is_leaf[list(children)].all():
            sides = [np.repeat(data.X[leaf == c], copies[leaf == c], axis=0) for c in children]
            assert brute_dissimilarity(*sides, share) > min_distance - 1e-9


def test_the_least_dissimilar_siblings_are_pruned_first():
    X = np.array([0.0, 1, 2, 10, 14, 40, 41])[:, None]
    model = CUBT(n_leaves=4, min_size=1, min_deviance=0, nearest_share=1.0, reference=X[:4])
    # Dissimilarities: 1 for {40} and {41}, 1 for {1} and {2}, then 2 for {0} and {1, 2}, then 4.
    model.fit(X)
    assert groups_of(model.apply(X)) == {(0, 1, 2), (3,), (4,), (5, 6)}
    assert model.set_params(n_leaves=3, reference=X[:3]).fit(X).n_leaves_ == 3
    assert groups_of(model.apply(X)) == {(0, 1, 2), (3, 4), (5, 6)}


@pytest.mark.parametrize("join", ["deviance", "dissimilarity"])
def test_groups_are_joined_as_by_brute_force(join):
    X, _ = make_blobs(60, 2, centers=5, cluster_std=2, random_state=3)
    options = {"n_leaves": 7, "min_size": 3, "nearest_share": 0.5, "join": join}
    model = CUBT(3, random_state=0, **options).fit(X)
    leaf = model.apply(X)
    groups = [np.flatnonzero(leaf == node) for node in np.unique(leaf)]

    def squares(rows):
        return deviance(X[rows], np.ones(len(rows)))

    def measure(pair):
        a, b = (groups[i] for i in pair)
        if join == "dissimilarity":
            return brute_dissimilarity(X[a], X[b], 0.5)
        return float(squares(np.concatenate([a, b])) - squares(a) - squares(b))

    while len(groups) > 3:
        a, b = min(combinations(range(len(groups)), 2), key=measure)
        groups[a] = np.concatenate([groups[a], groups.pop(b)])
    assert groups_of(model.labels_) == {tuple(sorted(group)) for group in groups}


def test_clusters_have_the_names_of_the_nearest_reference_clusters():
    X, y = make_blobs(90, 3, centers=3, cluster_std=0.1, random_state=0)
    names = np.array(["low", "middle", "high"])[y]
    model = CUBT().fit(X, names)
    np.testing.assert_array_equal(model.labels_, names)
    assert model.mistakes_ == 0
    reference = KMeans(3, n_init=1, random_state=0).fit(X[::-1])
    np.testing.assert_array_equal(CUBT(reference=reference).fit(X).labels_, reference.predict(X))


def test_the_reference_does_not_influence_the_clusters():
    X = load_iris().data
    found = {
        frozenset(groups_of(CUBT(3, n_leaves=6, reference=X[seed : seed + 3]).fit(X).labels_))
        for seed in range(0, 150, 30)
    }
    assert len(found) == 1


def test_too_few_leaves_are_a_warning_that_names_the_parameters():
    X = np.arange(12.0)[:, None]
    with pytest.warns(match="1 leaves for 3 clusters; lower min_size"):
        model = CUBT(min_size=7, reference=X[:3]).fit(X)
    assert model.n_leaves_ == 1
