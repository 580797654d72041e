"""Leaves are named after the clusters whose rows they have, and the search ends on any data."""

import warnings
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_digits, make_moons
from sklearn.mixture import GaussianMixture

import pellucid
from _support.extended import EXTENDED
from pellucid import BSIMM, EMN, IMM, ExGreedy, ExKMC, ExplainableKMeans, ExShallow, SpEx
from pellucid.metrics import reference_agreement
from pellucid.metrics.trees import match_clusters

ONE_LEAF = {
    "constant rows": ({"n_clusters": 2}, [[1.0]] * 5, None),
    "equal centers": ({"reference": [[1.0], [1.0]]}, [[1.0], [0.0]], None),
    "constant rows with labels": ({}, [[1.0]] * 6, [0, 0, 0, 1, 1, 1]),
}
"""Problems in which no threshold separates two centers, so that start trees have one leaf."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_leaves", [None, 3])
@pytest.mark.parametrize("effort", ["fast", "balanced", "best"])
@pytest.mark.parametrize("case", ONE_LEAF)
def test_a_search_from_a_single_leaf_ends(case, effort, n_leaves):
    parameters, X, y = ONE_LEAF[case]
    # Only the cost counts: with equal centers, all rows belong to the first cluster.
    parameters = {"faithfulness": 0, "effort": effort, "n_leaves": n_leaves, **parameters}
    model = ExplainableKMeans(**parameters).fit(X, y)
    assert model.inertia_ == 0
    assert model.n_leaves_ == len(np.unique(X))


def test_more_leaves_are_never_costlier_than_the_tree_with_fewer():
    X = [[-0.67, 0.11], [0.23, -0.71], [0.74, 1.07], [-1.17, -0.35], [1, -0.46], [-1.48, -0.32]]
    labels = [1, 1, 1, 0, 0, 0]
    model = ExplainableKMeans(n_leaves=6, random_state=0).fit(X, labels)
    assert model.mistakes_ <= ExShallow().fit(X, labels).mistakes_
    centers = np.array([np.mean(X[:3], axis=0), np.mean(X[3:], axis=0)])
    model = ExplainableKMeans(n_leaves=6, reference=centers, faithfulness=0).fit(X)
    assert model.inertia_ <= ExShallow(reference=centers).fit(X).inertia_


def test_weights_times_a_power_of_two_give_the_same_tree():
    X = [[2, 3], [3, 0], [0, 0], [-1, -3], [3, 1], [-1, 0], [0, -3], [-2, 1], [0, 2], [-2, 2]]
    labels = [2, 3, 2, 3, 1, 2, 0, 2, 1, 2]
    weight = np.array([1e-9, 3, 1.5, 1, 1 / 3, 4, 10 / 3, 1 / 3, 3, 1e-9])
    model, other = (
        ExplainableKMeans(n_leaves=13, max_conditions=5).fit(
            X, labels, sample_weight=factor * weight
        )
        for factor in (1, 2.0**25)
    )
    assert model.tree_.feature.tolist() == other.tree_.feature.tolist()
    assert model.labels_.tolist() == other.labels_.tolist()


def test_reference_centers_far_from_the_rows():
    X, reference = [[1e15 + 5], [1e15 + 7], [1e15 + 2]], [[9.5e14], [1.12e15], [1.16e15], [9.7e14]]
    model = ExplainableKMeans(reference=reference, faithfulness=0, random_state=0).fit(X)
    assert model.inertia_ <= ExGreedy(reference=reference).fit(X).inertia_


@pytest.mark.parametrize("kind", [IMM, ExplainableKMeans])
def test_noise_that_is_left_out_has_no_cost(kind):
    X, labels = np.array([[0.0], [1.0], [5.0], [6.0], [50.0]]), np.array([0, 0, 1, 1, -1])
    model, without = kind(noise="drop").fit(X, labels), kind().fit(X[:4], labels[:4])
    assert model.inertia_ == without.inertia_ == model.reference_inertia_ == 1
    assert model.cluster_centers_.tolist() == [[0.5], [5.5]]
    assert model.labels_.tolist() == [0, 0, 1, 1, 1]
    scanned = kind(noise="drop").fit(pellucid.scan(frame_of(X, labels).lazy(), labels="y"))
    assert scanned.inertia_ == model.inertia_


def frame_of(X, labels):
    names = [f"x{i}" for i in range(X.shape[1])]
    return pl.DataFrame(X, schema=names).with_columns(y=pl.Series(labels))


def agreement(model):
    return np.mean(model.labels_ == model.reference_labels_)


@pytest.mark.parametrize("polish", [True, "deep"])
@pytest.mark.parametrize("kind", [SpEx, IMM])
def test_polish_does_not_exchange_the_names_of_labels(kind, polish):
    X, _ = make_moons(1500, noise=0.06, random_state=0)
    mixture = GaussianMixture(2, covariance_type="diag", random_state=0)
    labels = np.array(["gold", "silver"])[mixture.fit_predict(X)]
    model = kind(polish=polish).fit(X, labels)
    assert agreement(model) > 0.8
    assert min(rule.purity for rule in model.rules_) > 0.8


@pytest.mark.slow
def test_names_are_matched_without_a_local_search():
    model = ExplainableKMeans(10, effort="fast", faithfulness=0, random_state=0)
    with pytest.warns(UserWarning, match="less than half of the rows"):
        model.fit(load_digits().data)
    assert agreement(model) == reference_agreement(model.labels_, model.reference_labels_)
    assert model.mistakes_ == np.sum(model.labels_ != model.reference_labels_)


MODELS = [
    BSIMM(beam_width=3, polish=True),
    EMN(polish=True),
    ExGreedy(polish="deep"),
    ExKMC(n_leaves=6, polish=True),
    ExShallow(polish=True),
    ExplainableKMeans(effort="fast"),
    ExplainableKMeans(),
    ExplainableKMeans(n_leaves=6),
    IMM(polish=True),
    SpEx(polish="deep"),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("has_labels", [False, True])
def test_no_other_assignment_of_names_has_more_agreeing_rows(model, has_labels):
    for seed in range(3 if EXTENDED else 1):
        random = np.random.default_rng(seed)
        X, weight = random.normal(size=(40, 3)).round(1), random.integers(1, 5, 40)
        y = random.integers(0, 4, 40) if has_labels else None
        n_clusters = None if has_labels else 4
        model.set_params(n_clusters=n_clusters, random_state=seed).fit(X, y, sample_weight=weight)
        found, wanted = model.labels_, model.reference_labels_
        best = max(
            weight[np.array(names)[found] == wanted].sum() for names in permutations(range(4))
        )
        assert weight[found == wanted].sum() == best
        assert model.mistakes_ == weight.sum() - best


@pytest.mark.filterwarnings("ignore")
def test_names_on_a_scan_are_those_of_all_rows(monkeypatch):
    from pellucid.cluster import _explainable_kmeans

    monkeypatch.setattr(_explainable_kmeans, "SCAN_SAMPLE_ROWS", 30)  # as if rows were many
    random = np.random.default_rng(0)
    X, y = random.normal(size=(2000, 3)), random.integers(0, 5, 2000)
    scan = pellucid.scan(frame_of(X, y).lazy(), labels="y", memory="1kB")
    model = ExplainableKMeans(effort="fast").fit(scan)
    found = model.predict(X)
    assert model.mistakes_ == np.sum(found != y)
    assert np.mean(found == y) == reference_agreement(found, y)


def test_names_stay_unless_others_are_better():
    assert match_clusters(np.array([[2, 3], [2, 3]])).tolist() == [0, 1]
    assert match_clusters(np.array([[2, 3], [3, 3]])).tolist() == [1, 0]


def test_a_rule_for_rows_of_other_clusters_is_a_warning_that_names_the_cluster():
    X = np.arange(10.0)[:, None]
    labels = np.array(["a", "a", "a", "a", "c", "b", "a", "c", "b", "c"])
    with pytest.warns(UserWarning, match=r"half of the rows .* cluster b \(33.3%\)\. Use more"):
        IMM().fit(X, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        IMM().fit(X, labels == "a")
