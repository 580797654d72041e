"""The trees along the slider."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris

from _support.extended import examples
from pellucid import IMM, ExKMC, ExShallow
from pellucid.metrics import normalized_partition_cost
from pellucid.report import alternatives, report_html
from pellucid.report.alternatives import pruned_trees
from pellucid.report.columns import short
from pellucid.tree import TreeBuilder


def payload(model, X, **options):
    html = report_html(model, X, **options)
    return json.loads(re.search(r'id="payload">(.*?)</script>', html, re.S).group(1))


@pytest.fixture(scope="module")
def iris():
    return load_iris(as_frame=True).data


@pytest.fixture(scope="module")
def model(iris):
    return IMM(4, random_state=0).fit(iris)


@pytest.fixture(scope="module")
def data(model, iris):
    return payload(model, iris)


@pytest.mark.slow
def test_trees_go_from_short_rules_to_a_close_copy(data):
    sizes = [tree["measures"]["conditions"] for tree in data["trees"]]
    assert sizes == sorted(sizes)
    others = [tree for i, tree in enumerate(data["trees"]) if i != data["own"]]
    costs = [tree["measures"]["costRatio"] for tree in others]
    assert costs == sorted(costs, reverse=True)
    leaves = {tree["measures"]["leaves"] for tree in others}
    assert min(leaves) == 4 < max(leaves)


@pytest.mark.slow
def test_shorter_trees_are_those_of_exshallow(data, model, iris):
    path = ExShallow().path(iris, model.reference_labels_)
    known = {short(point.npc) for point in path}
    shorter = [t for t in data["trees"] if t["kind"] == "shorter"]
    assert shorter
    assert {tree["measures"]["costRatio"] for tree in shorter} <= known


def test_longer_trees_expand_the_models_own(data, model):
    root = (model.tree_.feature[0], model.tree_.threshold[0])
    longer = [t for t in data["trees"] if t["kind"] == "longer"]
    assert longer
    for tree in longer:
        first = tree["nodes"][0]
        assert (data["columns"][first["column"]]["name"], first["threshold"]) == (
            model.feature_names_in_[root[0]],
            root[1],
        )
        assert tree["measures"]["leaves"] - model.n_leaves_ == tree["amount"]


def test_exkmc_shows_how_it_grew(iris):
    model = ExKMC(3, n_leaves=6, random_state=0).fit(iris)
    data = payload(model, iris)
    grown = [t for t in data["trees"] if t["kind"] == "stage"]
    assert grown
    assert "stage" in data["steps"]["kinds"]
    for tree in grown:
        stage = next(t for t in model.staged_trees() if t.n_leaves == tree["measures"]["leaves"])
        assert [n["rows"] for n in tree["nodes"]] == [
            int(n) for n in stage.decision_path(iris.to_numpy()).sum(axis=0)
        ]


def test_only_what_is_asked_for_is_shown(model, iris, data):
    alone = payload(model, iris, trade_off=None)
    own = data["trees"][data["own"]]
    assert [tree["rules"] for tree in alone["trees"]] == [own["rules"]]
    assert (alone["own"], alone["steps"]["kinds"]) == (0, [])
    path = ExShallow().path(iris, model.reference_labels_)
    given_ones = payload(model, iris, trade_off=path)
    costs = {t["measures"]["costRatio"] for t in given_ones["trees"] if t["kind"]}
    assert costs <= {short(p.npc) for p in path}
    assert given_ones["steps"] == {"kinds": ["given"], "sample": None}
    with pytest.raises(TypeError, match="trade_off is 3; it must be 'auto', None"):
        report_html(model, iris, trade_off=3)


@pytest.mark.slow
@pytest.mark.parametrize("is_sparse", [False, True])
def test_of_many_rows_a_sample_is_looked_at_and_all_are_measured(monkeypatch, is_sparse):
    random = np.random.default_rng(0)
    X = random.normal(size=(900, 4)) + 3 * random.integers(0, 4, size=(900, 1))
    model = IMM(4, random_state=0).fit(X)
    monkeypatch.setattr(alternatives, "MANY_VALUES", 0)  # these values are many
    rows = sparse.csc_array(X) if is_sparse else X
    found = alternatives.other_trees(model, rows, model.reference_labels_)
    assert found.n_searched == 500
    assert len(found.trees) > 1
    for one in found.trees:
        wanted = normalized_partition_cost(X, one.tree.predict(X), model.reference_labels_)
        assert one.cost_ratio == pytest.approx(wanted)


def test_rows_of_no_cluster_are_left_out(iris):
    labels = IMM(3, random_state=0).fit(iris).labels_.copy()
    labels[::10] = -1
    model = IMM(noise="drop").fit(iris, labels)
    data = payload(model, iris)
    assert len(data["trees"]) > 1
    assert all(len(tree["rules"]) == 3 for tree in data["trees"])


@st.composite
def grown_trees(draw):
    builder = TreeBuilder(n_features=2)
    for _ in range(draw(st.integers(1, 7))):
        leaf = draw(st.sampled_from(builder.leaves))
        builder.split(leaf, feature=draw(st.integers(0, 1)), threshold=draw(st.integers(0, 8)) / 8)
    for leaf in builder.leaves:
        builder.set_cluster(leaf, draw(st.integers(0, 2)))
    return builder.build()


@settings(max_examples=examples(60), deadline=None)
@given(grown_trees(), st.integers(0, 99))
def test_pruned_trees_are_nested_and_lose_as_little_as_they_can(tree, seed):
    random = np.random.default_rng(seed)
    X, wanted = random.uniform(size=(80, 2)), random.integers(-1, 3, size=80)
    leaf = tree.apply(X)
    known = wanted >= 0

    def right(one):
        return int((one.predict(X) == wanted)[known].sum())

    before, told = tree, set(tree.cluster[tree.is_leaf].tolist())
    for other in pruned_trees(tree, leaf, wanted).trees:
        assert other.tree.n_leaves < before.n_leaves
        assert told <= set(other.tree.cluster[other.tree.is_leaf].tolist())
        # The best that leaving out one question can do, tried one by one.
        best = max(
            (right(one) - right(before)) / (before.n_leaves - one.n_leaves)
            for one in all_cut_back(before, X, wanted)
        )
        gained = (right(other.tree) - right(before)) / (before.n_leaves - other.tree.n_leaves)
        assert gained == pytest.approx(best)
        before = other.tree


def all_cut_back(tree, X, wanted):
    """The tree with one question and all below it left out, for every question."""
    reached = tree.decision_path(X).toarray().astype(bool)
    for top in np.flatnonzero(~tree.is_leaf).tolist():
        builder, stack = TreeBuilder(tree.n_features), [(0, 0)]
        while stack:
            old, new = stack.pop()
            if old == top:
                there = wanted[reached[:, old] & (wanted >= 0)]
                builder.set_cluster(new, int(np.bincount(there, minlength=3).argmax()))
            elif tree.is_leaf[old]:
                builder.set_cluster(new, int(tree.cluster[old]))
            else:
                children = builder.split(
                    new, feature=int(tree.feature[old]), threshold=float(tree.threshold[old])
                )
                stack += zip((tree.children_left[old], tree.children_right[old]), children)
        yield builder.build()


def test_a_table_of_names_for_a_model_without_any_warns_of_nothing(iris, recwarn):
    payload(IMM(3, random_state=0).fit(iris.to_numpy()), pd.DataFrame(iris))
    assert [w for w in recwarn if "feature names" in str(w.message)] == []
