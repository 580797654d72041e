"""The proven bounds hold, on random and on adversarial data, and say what they compare."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.preprocessing import scale

from pellucid import IMM, ExGreedy, ExKMC, ExplainableKMeans, OptimalTree, RandomThresholds


def codewords(k, d, seed):
    """The lower bound of the paper: random centers in {-1, 1}^d, a row per coordinate set to 0."""
    centers = np.random.default_rng(seed).choice([-1.0, 1.0], (k, d))
    X = np.repeat(centers, d, axis=0)
    X[np.arange(k * d), np.tile(np.arange(d), k)] = 0.0
    return X, np.repeat(np.arange(k), d)


def chains(k, seed):
    """Centers on a line of growing gaps, with a far row per cluster: deep trees."""
    random = np.random.default_rng(seed)
    centers = np.cumsum(2.0 ** np.arange(k))[:, None] * np.array([[1.0, -0.5]])
    X = np.repeat(centers, 8, axis=0) + random.standard_cauchy((8 * k, 2))
    return X, np.repeat(np.arange(k), 8)


def problems():
    for seed, k in itertools.product(range(3), (2, 3, 6)):
        yield codewords(k, 30, seed)
        yield chains(k, seed)
        yield make_blobs(120, 4, centers=k, cluster_std=4.0, random_state=seed)


@pytest.mark.parametrize("objective", ["kmeans", "kmedians"])
def test_imm_and_exkmc_keep_their_bounds(objective):
    for X, labels in problems():
        for model in (IMM(objective=objective), ExKMC(objective=objective)):
            found = model.fit(X, labels).guarantee_
            assert found.ratio == pytest.approx(model.inertia_ / model.reference_inertia_)
            assert found.ratio <= found.bound


@pytest.mark.parametrize("seed", range(4))
def test_no_cut_of_imm_makes_more_mistakes_than_the_proof_allows(seed):
    # Lemma of the proof for k-medians: mistakes at a node, times the sum of the ranges of its
    # centers, are at most twice the cost of its rows that are still with their own center.
    for X, labels in (codewords(6, 20, seed), chains(6, seed)):
        model = IMM(objective="kmedians").fit(X, labels)
        tree, centers = model.tree_, model.reference_centers_
        own = np.abs(X - centers[labels]).sum(axis=1)
        checked = 0
        nodes = [(0, np.arange(len(X)), np.arange(len(centers)))]
        while nodes:
            node, rows, inside = nodes.pop()
            if tree.is_leaf[node]:
                continue
            rows = rows[np.isin(labels[rows], inside)]
            feature, threshold = tree.feature[node], tree.threshold[node]
            left, own_left = X[rows, feature] <= threshold, centers[inside, feature] <= threshold
            mistakes = (left != (centers[labels[rows], feature] <= threshold)).sum()
            assert mistakes * np.ptp(centers[inside], axis=0).sum() <= 2 * own[rows].sum() + 1e-9
            checked += mistakes > 0
            nodes.append((int(tree.children_left[node]), rows[left], inside[own_left]))
            nodes.append((int(tree.children_right[node]), rows[~left], inside[~own_left]))
        assert checked


def test_the_bound_has_the_constants_of_the_paper():
    X = load_iris().data
    model = IMM(3, random_state=0).fit(X)
    assert model.guarantee_.bound == 8 * model.tree_.max_depth * 3 + 2
    medians = IMM(3, objective="kmedians", random_state=0).fit(X)
    assert medians.guarantee_.bound == 2 * medians.tree_.max_depth + 1
    grown = ExKMC(3, n_leaves=9, random_state=0).fit(X)
    assert grown.guarantee_.bound == model.guarantee_.bound  # the depth is that of IMM's tree
    assert IMM(3, polish=True, random_state=0).fit(X).guarantee_.bound == 8 * 2 * 3 + 2


def test_random_thresholds_of_medians_cost_less_on_average():
    for X, labels in (codewords(5, 20, 0), chains(5, 1)):
        model = RandomThresholds(objective="kmedians", method="gamlath", n_draws=300)
        model.set_params(random_state=0).fit(X, labels)
        found = model.guarantee_
        assert found.bound == pytest.approx(1 + 1 + 1 / 2 + 1 / 3 + 1 / 4)
        ratios = model.draw_costs_ / model.reference_inertia_
        error = ratios.std() / np.sqrt(len(ratios))
        assert ratios.mean() - 3 * error <= found.bound


def test_the_certificate_of_the_optimal_tree():
    X = scale(load_iris().data)
    model = OptimalTree(4, random_state=0).fit(X)
    found = model.guarantee_
    assert (found.bound, found.ratio) == (1.0, 1.0)
    assert "least mistakes" in str(found)


def test_methods_without_a_proof_say_so():
    X = load_iris().data
    for model in (ExGreedy(3), ExKMC(3, base=None), IMM(3, search="beam"), RandomThresholds(3)):
        assert model.set_params(random_state=0).fit(X).guarantee_ is None
    assert ExplainableKMeans(3, effort="fast", random_state=0).fit(X).guarantee_ is None
