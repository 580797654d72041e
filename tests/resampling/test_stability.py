"""`stability` against a plain loop over copied rows; its options, input and text."""

from __future__ import annotations

import json
import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import pellucid
from pellucid import IMM, ExKMC, ExplainableKMeans, ExShallow, SpEx, stability
from pellucid.methods import METHODS
from pellucid.metrics import reference_agreement
from pellucid.resampling.draws import _returning_cuts, adjusted_rand_index

FRAME = load_wine(as_frame=True).data
X = FRAME.to_numpy() / FRAME.to_numpy().std(axis=0)
FEW = X[::3]
PARAMETERS = {"ExplainableKMeans": {"effort": "fast"}, "RandomThresholds": {"n_draws": 5}}


def draws_of(n_rows: int, n_draws: int) -> list[np.ndarray]:
    """Rows of each bootstrap of seed 0, each as often as it was drawn."""
    seeds = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=n_draws)
    return [np.random.RandomState(seed).randint(n_rows, size=n_rows) for seed in seeds]


def is_same_cut(tree, node: int, rows: np.ndarray, numbers: np.ndarray, other) -> bool:
    """Whether a tree asks the question of a node again, row by row."""
    values = numbers[rows, tree.feature[node]]
    left = values <= tree.threshold[node]
    smaller = min(left.sum(), (~left).sum())
    for split in np.flatnonzero(other.feature == tree.feature[node]):
        changed = ((values <= other.threshold[split]) != left).sum()
        if changed <= 0.05 * len(rows) and changed <= smaller / 2:
            return True
    return False


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_weights_give_what_copies_of_rows_give(method):
    X = FEW
    model = method.estimator(3, random_state=0, **PARAMETERS.get(method.name, {})).fit(X)
    found = stability(model, X, n_bootstraps=4)
    same, aris, trees = [], [], []
    for drawn in draws_of(len(X), 4):
        refit = method.estimator(**{**model.get_params(), "reference": model.reference_centers_})
        trees.append(refit.fit(X[drawn]).tree_)
        assigned = trees[-1].predict(X)
        same.append(assigned == model.labels_)
        aris.append(adjusted_rand_score(model.labels_, assigned))
    np.testing.assert_array_equal(found.rows, np.mean(same, axis=0))
    np.testing.assert_allclose(found.ari, aris, rtol=1e-12)
    assert found.agreement == pytest.approx(np.mean(same), abs=1e-12)
    for cluster in found.clusters:
        own = model.labels_ == cluster.cluster
        assert cluster.rows == own.sum()
        assert cluster.stability == pytest.approx(np.mean(np.array(same)[:, own]))
    used = [{f"x{f}" for f in tree.feature[~tree.is_leaf]} for tree in trees]
    for column in found.columns:
        assert column.used == sum(column.column in names for names in used)
        assert column.first == sum(f"x{tree.feature[0]}" == column.column for tree in trees)
    tree, rows = model.tree_, dict(model.tree_.rows_by_node(X))
    assert [q.node for q in found.questions] == np.flatnonzero(~tree.is_leaf).tolist()
    for question in found.questions:
        node = question.node
        expected = [is_same_cut(tree, node, rows[node], X, other) for other in trees]
        assert question.returns == sum(expected)
        assert question.column_used == sum(question.column in names for names in used)


def test_a_fraction_of_the_rows_is_drawn_once_each():
    model = IMM(3, random_state=0).fit(X)
    found = stability(model, X, n_bootstraps=3, fraction=0.5, random_state=7)
    seeds = np.random.RandomState(7).randint(np.iinfo(np.int32).max, size=3)
    parts = [np.random.RandomState(seed).permutation(len(X))[:89] for seed in seeds]
    refits = [IMM(reference=model.reference_centers_).fit(X[part]) for part in parts]
    expected = [np.mean(refit.predict(X) == model.labels_) for refit in refits]
    assert found.agreement == pytest.approx(np.mean(expected))
    assert found.fraction == 0.5


def test_clusters_of_a_reference_that_is_fitted_again_are_matched():
    model = ExShallow(3, random_state=0).fit(X)
    found = stability(model, X, n_bootstraps=5, reference="refit")
    agreements, aris = [], []
    for drawn in draws_of(len(X), 5):
        rows, counts = np.unique(drawn, return_counts=True)
        labels = ExShallow(3, random_state=0).fit(X[rows], sample_weight=counts).predict(X)
        agreements.append(reference_agreement(labels, model.labels_))
        aris.append(adjusted_rand_score(labels, model.labels_))
    assert found.agreement == pytest.approx(np.mean(agreements))
    np.testing.assert_allclose(found.ari, aris, rtol=1e-12)


def test_an_estimator_as_reference_is_fitted_again_on_the_columns_by_name():
    model = SpEx(reference=AgglomerativeClustering(3)).fit(FRAME)
    fixed = stability(model, FRAME, n_bootstraps=5)
    again = stability(model, FRAME, n_bootstraps=5, reference="refit")
    assert 0.5 < again.agreement < fixed.agreement <= 1
    fitted = IMM(reference=KMeans(3, n_init=3, random_state=0).fit(FRAME)).fit(FRAME)
    assert stability(fitted, FRAME, n_bootstraps=3, reference="refit").agreement > 0.5


def test_names_arrays_sparse_data_and_threads_give_the_same():
    model = ExplainableKMeans(3, effort="fast", random_state=0).fit(X)
    found = stability(model, X, n_bootstraps=3, n_jobs=1)
    for rows in (sparse.csr_array(X), sparse.csc_matrix(X)):
        again = stability(ExplainableKMeans(**model.get_params()).fit(rows), rows, n_bootstraps=3)
        assert again.to_dict() == found.to_dict()
    assert stability(model, X, n_bootstraps=3, n_jobs=3).to_dict() == found.to_dict()
    frame = pl.DataFrame(X, schema=list(FRAME.columns))
    named = stability(ExplainableKMeans(**model.get_params()).fit(frame), frame, n_bootstraps=3)
    assert [q.returns for q in named.questions] == [q.returns for q in found.questions]
    assert named.questions[0].question.startswith(named.questions[0].column + " ≤ ")
    assert named.questions[0].column in FRAME.columns
    assert stability(model, X, n_bootstraps=3, random_state=1).to_dict() != found.to_dict()


def test_given_labels_stay_what_they_are():
    names = np.array(["a", "b", "c"])[load_wine().target]
    model = SpEx().fit(X, names)
    found = stability(model, X, n_bootstraps=5)
    labels = [
        SpEx().fit(X[drawn], names[drawn]).predict(X) == model.labels_
        for drawn in draws_of(len(X), 5)
    ]
    np.testing.assert_array_equal(found.rows, np.mean(labels, axis=0))
    assert [cluster.cluster for cluster in found.clusters] == ["a", "b", "c"]
    with pytest.raises(ValueError, match="labels or centers of this model were given"):
        stability(model, X, reference="refit")


def test_rows_without_a_cluster_are_not_drawn():
    labels = load_wine().target.copy()
    labels[::9] = -1
    model = SpEx(noise="drop").fit(X, labels)
    found = stability(model, X, n_bootstraps=4)
    known = np.flatnonzero(labels >= 0)
    trees = [SpEx().fit(X[known[d]], labels[known[d]]) for d in draws_of(len(known), 4)]
    expected = np.mean([tree.predict(X) == model.labels_ for tree in trees], axis=0)
    np.testing.assert_array_equal(found.rows, expected)


def test_a_cluster_that_is_not_drawn_is_missing_in_that_draw():
    labels = np.r_[0, 0, np.ones(20, int), np.full(20, 2)]
    rows = np.c_[np.r_[50.0, 51.0, np.arange(20), 100 + np.arange(20)]]
    found = stability(SpEx().fit(rows, labels), rows, n_bootstraps=30)
    small = found.clusters[0]
    n_with = sum(bool((drawn < 2).any()) for drawn in draws_of(42, 30))
    assert small.stability <= n_with / 30 < 1


def test_sample_weights_multiply_the_draws():
    weight = np.arange(len(X)) % 3
    model = IMM(3, random_state=0).fit(X, sample_weight=weight)
    found = stability(model, X, n_bootstraps=3, sample_weight=weight)
    known = np.flatnonzero(weight)
    same = []
    for drawn in draws_of(len(known), 3):
        rows, counts = np.unique(known[drawn], return_counts=True)
        copies = np.repeat(rows, counts * weight[rows])
        refit = IMM(reference=model.reference_centers_).fit(X[copies])
        same.append(refit.predict(X) == model.labels_)
    np.testing.assert_array_equal(found.rows, np.mean(same, axis=0))
    assert found.agreement == pytest.approx(np.average(found.rows, weights=weight))


def test_a_cut_without_rows_on_one_side_does_not_return():
    # 3 % of the rows are below the cut of the model; a cut below all of them is another question.
    rows = np.r_[np.zeros(3), np.linspace(10, 11, 97)][:, None]
    tree, units = IMM(2, random_state=0).fit(rows).tree_, np.ones(100, dtype=np.int64)
    draws = [np.array(cuts) for cuts in ([-1.0, 10.5], [10.5, 7.0], [10.02], [10.0])]
    assert _returning_cuts(rows[:, 0], units, tree.threshold[0], draws) == [7.0, 10.0]


def test_the_rand_index_is_that_of_scikit_learn():
    random = np.random.RandomState(0)
    for k in (1, 2, 5):
        a, b = random.randint(k, size=(2, 60))
        table = np.bincount(a * k + b, minlength=k * k).reshape(k, k)
        assert adjusted_rand_index(table) == pytest.approx(adjusted_rand_score(a, b))


def test_text_json_and_frames_say_the_same():
    frame = load_iris(as_frame=True).data
    model = ExKMC(3, n_leaves=4, random_state=0).fit(frame)
    found = stability(model, frame, n_bootstraps=10)
    first, text = found.questions[0], str(found)
    assert f"the first question ({first.question}) returns in {first.returns} of 10 draws" in text
    assert f"{100 * found.agreement:.1f}% of the rows stay in their cluster" in text
    assert first.question in found._repr_html_().replace("&lt;", "<")
    read = json.loads(found.to_json())
    assert read["questions"][0]["returns"] == first.returns
    assert read["mean_ari"] == found.mean_ari == np.mean(found.ari)
    questions = found.to_frame(kind="pandas")
    assert isinstance(questions, pd.DataFrame)
    assert questions["returns"].tolist() == [q.returns for q in found.questions]
    assert found.to_frame("clusters", kind="polars")["rows"].sum() == 150
    assert found.to_frame("columns", kind="dict")["used"].max() == 10
    assert len(found.to_frame("rows", kind="dict")["stability"]) == 150
    with pytest.raises(ValueError, match="questions, columns, clusters, rows"):
        found.to_frame("trees")
    assert first.lowest <= first.highest


def test_a_single_leaf_has_no_question():
    found = stability(IMM(1, random_state=0).fit(X), X, n_bootstraps=2)
    assert found.questions == ()
    assert found.agreement == found.mean_ari == 1
    assert "first question" not in str(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bootstraps": 0}, "n_bootstraps is 0"),
        ({"fraction": 1.5}, "fraction is 1.5"),
        ({"reference": "new"}, 'it can be "fixed" or "refit"'),
    ],
)
def test_wrong_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        stability(IMM(2, random_state=0).fit(X), X, **options)


def test_what_cannot_be_fitted_again_is_refused(tmp_path):
    model = IMM(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match="X has 20 rows, but the model was fitted on 178"):
        stability(model, X[:20])
    for other in (pellucid.EOPClassifier(), pellucid.Explanation.of(model), model.tree_):
        with pytest.raises(TypeError, match="is for fitted trees of pellucid.cluster"):
            stability(other, X)
    centers = IMM(reference=model.reference_centers_).fit(X)
    with pytest.raises(ValueError, match='Use reference="fixed"'):
        stability(centers, X, reference="refit")
    pl.DataFrame(X).write_parquet(tmp_path / "rows.parquet")
    scan = pellucid.scan(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="needs all rows in memory"):
        stability(IMM(2, random_state=0).fit(scan), X)


def test_draws_are_reported(capsys):
    stability(IMM(2, random_state=0).fit(X), X, n_bootstraps=2, verbose=1)
    assert capsys.readouterr().err.splitlines() == [
        "stability: draws: 1 of 2",
        "stability: draws: 2 of 2",
    ]


def test_an_interrupt_gives_the_draws_until_then():
    model = IMM(3, random_state=0).fit(X)
    stability(model, X, n_bootstraps=1)

    def interrupt() -> None:
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.warns(ConvergenceWarning, match="interrupted: .* of 100000 draws"):
        found = stability(model, X, n_bootstraps=100_000)
    assert 0 < found.n_draws < 100_000
    assert len(found.ari) == found.n_draws
