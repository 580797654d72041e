"""XClusters: results, prediction, searches, limits and inputs."""

import os
import pickle
import signal
import sys
import warnings
from functools import cache

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import (
    AffinityPropagation,
    AgglomerativeClustering,
    KMeans,
    SpectralClustering,
)
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import pellucid
from _support.extended import EXTENDED
from _support.sklearn_checks import expected_failures
from pellucid import ExKMC, XClusters, export_text
from pellucid.plotting import plot_tree
from pellucid.xclusters import pairwise

mpl.use("Agg")

rarely = pytest.mark.skipif(not EXTENDED, reason="other variants are tested")

FAST = {"k_range": (2, 6)}


def trends(seed=0, districts="ABCDEFGH", noise=0.3):
    """Spending by age, sex and district, with trends that depend on age and sex, and noise."""
    rng = np.random.default_rng(seed)
    sides = np.meshgrid([20, 30, 40, 50, 60], ["f", "m"], list(districts))
    age, sex, district = (part.ravel() for part in sides)
    days = np.linspace(0, 1, 12)
    planted = np.where(age < 35, 0, np.where(sex == "f", 1, 2))
    course = np.stack([2 * days, np.sin(6 * days), -2 * days])[planted]
    course = course + noise * rng.normal(size=(len(age), 1)) + 0.1 * rng.normal(size=course.shape)
    table = pd.DataFrame(course, columns=[f"day {i}" for i in range(12)])
    return table.assign(age=age, sex=sex, district=district), planted


@pytest.fixture(scope="module")
def model():
    table, _ = trends()
    return XClusters("day *", **FAST).fit(table)


@pytest.fixture(scope="module")
def noisy():
    """Models of trends with much noise, each fitted once."""
    table, _ = trends(noise=1.5)
    return table, cache(lambda **options: XClusters("day *", **options, **FAST).fit(table))


def alike(one, other):
    """The same clusters and tree; other evaluations may differ in ties, which go by row order."""
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert (one.best_k_, one.best_alpha_) == (other.best_k_, other.best_alpha_)
    assert one.tree_ == other.tree_


def same(one, other):
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.evaluations_, other.evaluations_)
    assert one.tree_ == other.tree_


@parametrize_with_checks(
    [XClusters(k_range=(2, 4), alpha_step=0.5)], expected_failed_checks=expected_failures
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_planted_clusters_are_found_and_explained(model):
    table, planted = trends()
    assert model.best_k_ == 3
    pairs = set(zip(model.labels_, planted))
    assert len(pairs) == 3
    np.testing.assert_array_equal(model.predict(table), model.labels_)
    text = str(model.explain())
    assert "age ≤ 30" in text
    assert "age > 30 and sex is" in text
    assert model.accuracy_ == 1.0
    assert model.n_nodes_ == model.tree_.node_count == 5


def test_fitted_attributes_are_consistent(model):
    table, _ = trends()
    tried = model.evaluations_
    best = tried[np.argmin(tried["objective"])]
    assert (best["k"], best["alpha"]) == (model.best_k_, model.best_alpha_)
    assert best["objective"] == model.objective_ == tried["objective"].min()
    assert best["distortion"] == model.distortion_
    assert best["n_nodes"] == model.n_nodes_
    assert len(np.unique(tried[["k", "alpha"]])) == len(tried)
    assert (tried["k"][0], tried["alpha"][0]) == (2, 1.0)
    assert (tried["k"][1], tried["alpha"][1]) == (6, 0.0)
    assert model.lower_bound_ <= model.objective_
    assert model.converged_
    sizes = np.bincount(model.labels_)
    assert (np.diff(sizes) <= 0).all()
    days = table.filter(like="day").to_numpy()
    a = np.linalg.norm(days[:, None] - days[None], axis=2)
    distortion = 0.0
    for cluster, medoid in enumerate(model.medoid_indices_):
        members = np.flatnonzero(model.labels_ == cluster)
        assert medoid in members
        distortion += (a[medoid, members] ** 2).sum()
        assert (a[medoid, members] ** 2).sum() == pytest.approx(
            (a[np.ix_(members, members)] ** 2).sum(axis=1).min()
        )
    assert distortion == pytest.approx(model.distortion_)
    first = model.bounds_[0]
    assert tuple(first)[:4] == (2, 0.0, 6, 1.0)
    fates = {"split by k", "split by alpha", "reduced", "pruned", "finished"}
    assert set(model.bounds_["fate"]) <= fates


@pytest.mark.slow
def test_clusters_of_one_row_are_avoided_unless_asked_for():
    random = np.random.default_rng(0)
    values = np.repeat([0.0, 5.0, 10.0], 10) + random.normal(0, 0.2, 30)
    values[0] = 100.0
    explanation = np.column_stack([np.repeat([0, 1, 2], 10), np.arange(30)])
    given = {"k_range": (3, 5), "trade_off": 0.1}
    for size, smallest in ((1, 1), (2, 2), (4, 4)):
        model = XClusters(min_cluster_size=size, **given).fit(
            values[:, None], explanation=explanation
        )
        found = np.bincount(model.labels_).min()
        assert found == 1 if smallest == 1 else found >= smallest
    # If all clusterings have such a cluster, the best one is chosen.
    few = XClusters(k_range=(3, 3)).fit(np.eye(3), explanation=np.arange(3)[:, None])
    assert np.bincount(few.labels_).tolist() == [1, 1, 1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=rarely)])
def test_at_most_a_third_of_the_grid_is_evaluated(seed):
    random = np.random.default_rng(seed)
    explanation = np.column_stack([random.integers(0, 4, 60), random.normal(size=60).round(1)])
    walks = 0.6 * random.normal(size=(60, 8)).cumsum(axis=1)
    series = walks + 0.3 * np.outer(explanation[:, 0], np.arange(8))
    model = XClusters().fit(series, explanation=explanation)
    grid = XClusters(search="grid").fit(series, explanation=explanation)
    assert len(model.evaluations_) <= len(grid.evaluations_) / 3
    assert model.objective_ <= grid.objective_ + model.tolerance
    exact = XClusters(refine=False).fit(series, explanation=explanation)
    assert exact.converged_


def test_the_explained_share_compares_with_one_cluster():
    series = np.repeat([[0.0, 0.0], [3.0, 4.0]], 5, axis=0)
    model = XClusters(k_range=(2, 2)).fit(series, explanation=np.repeat([0, 1], 5)[:, None])
    assert model.explained_share_ == 1
    noise = np.random.default_rng(0).normal(size=(40, 3))
    model = XClusters(k_range=(2, 2)).fit(noise, explanation=np.repeat([0, 1], 20)[:, None])
    assert 0 <= model.explained_share_ < 0.3


def test_grid_search_is_hardly_better(model):
    table, _ = trends()
    grid = XClusters("day *", search="grid", **FAST).fit(table)
    assert len(grid.evaluations_) == 5 * 21
    assert len(model.evaluations_) <= len(grid.evaluations_) / 3
    assert model.objective_ <= grid.objective_ + 0.05
    assert np.isnan(grid.lower_bound_)
    assert len(grid.bounds_) == 0
    # A pair has the same objective in every search.
    objective = {(row["k"], row["alpha"]): row["objective"] for row in grid.evaluations_}
    both = [row for row in model.evaluations_ if (row["k"], row["alpha"]) in objective]
    assert len(both) > 5
    for row in both:
        assert objective[row["k"], row["alpha"]] == row["objective"]


@pytest.mark.slow
def test_two_step_uses_the_elbow_and_alpha_zero(model):
    pytest.importorskip("kneed")
    table, _ = trends(noise=1.0)
    steps = XClusters("day *", search="two-step", **FAST).fit(table)
    assert steps.best_alpha_ == 0.0
    assert set(steps.evaluations_["k"]) == {2, 3, 4, 5, 6}
    assert set(steps.evaluations_["alpha"]) == {0.0, 1.0}
    assert XClusters("day *", **FAST).fit(table).objective_ < steps.objective_


def test_bayesian_search_respects_max_evaluations():
    pytest.importorskip("bayes_opt")
    table, _ = trends()
    found = XClusters("day *", search="bayes", max_evaluations=9, **FAST).fit(table)
    assert len(found.evaluations_) <= 9
    assert found.objective_ == found.evaluations_["objective"].min()


def test_refinement_never_worsens_the_result():
    table, _ = trends(1, noise=1.0)
    options = {"tolerance": 0.2, **FAST}
    alone = XClusters("day *", refine=False, **options).fit(table)
    refined = XClusters("day *", **options).fit(table)
    n = len(alone.evaluations_)
    assert (refined.evaluations_[:n] == alone.evaluations_).all()
    assert len(refined.evaluations_) > n
    assert refined.objective_ <= alone.objective_


def test_the_plain_algorithm_of_the_paper():
    table, _ = trends(districts="ABCD", noise=1.0)
    options = {"refine": False, "tolerance": 0.0, **FAST}
    plain = XClusters("day *", reduce=False, **options).fit(table)
    reduced = XClusters("day *", **options).fit(table)
    assert "reduced" not in plain.bounds_["fate"]
    assert "reduced" in reduced.bounds_["fate"]
    assert plain.lower_bound_ <= plain.objective_


def test_fits_are_repeatable_with_any_number_of_threads(model):
    table, _ = trends()
    same(model, XClusters("day *", n_jobs=1, **FAST).fit(table))
    same(model, clone(model).set_params(random_state=0).fit(table))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(table), model.labels_)


def test_planted_clusters_are_found_in_any_order_of_the_rows():
    table, planted = trends()
    order = np.random.default_rng(1).permutation(len(table))
    shuffled = XClusters("day *", **FAST).fit(table.iloc[order])
    assert len(set(zip(shuffled.labels_, planted[order]))) == shuffled.best_k_ == 3


def test_assign_uses_the_nearest_medoid(model):
    table, _ = trends()
    days = table.filter(like="day")
    a = np.linalg.norm(
        days.to_numpy()[:, None] - days.to_numpy()[model.medoid_indices_][None], axis=2
    )
    np.testing.assert_array_equal(model.assign(days), a.argmin(axis=1))
    np.testing.assert_array_equal(model.assign(table), a.argmin(axis=1))
    np.testing.assert_array_equal(
        model.assign(table)[model.medoid_indices_], np.arange(model.best_k_)
    )


def test_rows_are_explained_as_text(model):
    table, _ = trends()
    rows = table[["sex", "age", "district"]].iloc[:3]
    for i, one in enumerate(model.explain(rows)):
        assert one.cluster == model.predict(rows)[i]
        assert "age" in str(one)
        assert model.apply(rows)[i] == one.leaf
    assert "sex is" in export_text(model)
    drawn = [text.get_text().replace("\n", " ") for text in plot_tree(model).texts]
    assert "age ≤ 30" in drawn
    assert any(text.startswith("sex is") for text in drawn)
    mpl.pyplot.close("all")
    names = [f"?{i}" for i in range(len(model.tree_columns_))]
    assert "?" in export_text(model, feature_names=names)


def test_default_rules_are_short(noisy):
    _, fit = noisy
    short, exact = fit(), fit(tree_accuracy=1.0)
    assert short.tree_accuracy == 0.9 <= short.accuracy_ < exact.accuracy_
    assert len(str(short.explain())) < len(str(exact.explain())) / 2
    assert {rule.cluster for rule in short.rules_ if rule.text} == set(range(short.best_k_))


def test_lower_tree_accuracy_gives_smaller_trees(noisy):
    table, fit = noisy
    exact, loose = fit(tree_accuracy=1.0), fit(tree_accuracy=0.8, tree_measure="accuracy")
    at_least = loose.evaluations_["accuracy"]
    assert (at_least >= 0.8).all()
    assert loose.n_nodes_ <= exact.n_nodes_
    correct = loose.predict(table) == loose.labels_
    assert correct.mean() == pytest.approx(loose.accuracy_)
    purity = sum(rule.share * rule.purity for rule in loose.rules_ if rule.share)
    assert purity == pytest.approx(correct.mean())


@pytest.mark.parametrize(
    "tree", [DecisionTreeClassifier(max_depth=2, random_state=0), ExKMC(n_leaves=8, base=None)]
)
def test_custom_trees(tree):
    table, _ = trends(noise=1.0)
    found = XClusters("day *", tree=tree, tree_accuracy=0.01, **FAST).fit(table)
    assert found.n_leaves_ <= 8
    assert found.accuracy_ <= 1
    assert found.get_params()["tree"] is tree


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "search"),
    [
        ("f1", "branch-and-bound"),
        ("accuracy", "grid"),
        pytest.param("accuracy", "branch-and-bound", marks=rarely),
        pytest.param("f1", "grid", marks=rarely),
    ],
)
def test_accuracy_is_required_of_custom_trees(search, measure):
    table, _ = trends(noise=1.0)
    shallow = DecisionTreeClassifier(max_depth=3, random_state=0)
    options = {"tree": shallow, "tree_measure": measure, "search": search, **FAST}
    free = XClusters("day *", tree_accuracy=0.01, **options).fit(table)
    assert free.accuracy_ < 0.8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = XClusters("day *", tree_accuracy=0.8, **options).fit(table)
    tried = found.evaluations_
    is_feasible = tried["accuracy"] >= 0.8
    assert 0 < is_feasible.sum() < len(tried)
    assert found.accuracy_ >= 0.8
    assert found.objective_ == tried["objective"][is_feasible].min() > tried["objective"].min()


@pytest.mark.slow
def test_the_most_accurate_custom_tree_is_selected_if_none_is_accurate_enough():
    table, _ = trends(noise=1.0)
    shallow = DecisionTreeClassifier(max_depth=1)
    model = XClusters("day *", tree=shallow, tree_accuracy=0.99, **FAST)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(table)
    best = model.evaluations_["accuracy"].max()
    assert model.accuracy_ == best < 0.99
    text = str(caught[0].message)
    assert f"below tree_accuracy=0.99; the best of {len(model.evaluations_)} evaluated" in text
    assert f"pairs reaches {best:.3f}" in text


def test_custom_clusterers():
    table, planted = trends()
    clusterer = AgglomerativeClustering(metric="precomputed", linkage="average")
    found = XClusters("day *", clusterer=clusterer, **FAST).fit(table)
    assert len(set(zip(found.labels_, planted))) == 3
    with pytest.raises(ValueError, match="has no parameter n_clusters"):
        XClusters("day *", clusterer=DecisionTreeClassifier(), **FAST).fit(table)


@pytest.mark.parametrize(
    ("clusterer", "error", "message"),
    [
        (AgglomerativeClustering(), ValueError, "set metric='precomputed' and linkage='av"),
        (
            AgglomerativeClustering(metric="precomputed"),
            ValueError,
            "because linkage is 'ward', but the search has distances only; set linkage='average'",
        ),
        (AffinityPropagation(affinity="precomputed"), ValueError, "has no parameter n_clusters"),
        (ExKMC(), ValueError, "clusters features, but the search has distances only"),
        (SpectralClustering(), ValueError, "because affinity is 'rbf'; set affinity='precomputed'"),
        (KMeans(), ValueError, "clusters features, but the search has distances only"),
        (KMeans, TypeError, r"clusterer is the class KMeans; pass an instance: clusterer=KMeans"),
        (make_pipeline(KMeans()), TypeError, "clusterer is a pipeline, but the search has"),
    ],
)
def test_clusterers_that_do_not_use_distances_are_refused(clusterer, error, message):
    table, _ = trends(districts="AB")
    with pytest.raises(error, match=message):
        XClusters("day *", clusterer=clusterer, **FAST).fit(table)


def test_distances_are_converted_to_affinities():
    table, planted = trends(noise=0.05)
    clusterer = SpectralClustering(affinity="precomputed", random_state=0)
    found = XClusters("day *", clusterer=clusterer, k_range=(3, 3), max_evaluations=4).fit(table)
    assert len(set(zip(found.labels_, planted))) == 3


class Plain:
    """A clusterer without get_params and labels_, which stores its input."""

    inputs = []

    def __init__(self, **options):
        vars(self).update(n_clusters=None, **options)

    def fit(self, X):
        raise NotImplementedError

    def fit_predict(self, X):
        self.inputs.append(X)
        model = AgglomerativeClustering(self.n_clusters, metric="precomputed", linkage="average")
        return model.fit_predict(X if X[0, 0] == 0 else 1 - X)


@pytest.mark.parametrize(("options", "diagonal"), [({}, 0), ({"kernel": "precomputed"}, 1)])
def test_own_clusterers_get_distances_or_affinities(options, diagonal):
    table, planted = trends(noise=0.05)
    found = XClusters("day *", clusterer=Plain(**options), k_range=(3, 3), max_evaluations=4)
    assert len(set(zip(found.fit(table).labels_, planted))) == 3
    assert (Plain.inputs.pop().diagonal() == diagonal).all()


def test_weights_of_the_f1_alone():
    """As in the paper: the clusters do not depend on the weights."""
    table, _ = trends(noise=1.0)
    weight = np.random.default_rng(0).integers(0, 5, len(table)).astype(float)
    options = {"tree_accuracy": 0.9, "search": "two-step", **FAST}
    plain = XClusters("day *", **options).fit(table)
    found = XClusters("day *", weights="f1", **options).fit(table, sample_weight=weight)
    np.testing.assert_array_equal(found.labels_, plain.labels_)
    assert found.distortion_ == plain.distortion_
    expected = f1_score(
        found.labels_, found.predict(table), average="weighted", sample_weight=weight
    )
    assert found.accuracy_ == pytest.approx(expected)
    assert found.accuracy_ != plain.accuracy_


class Interrupted(ClusterMixin, BaseEstimator):
    """Clusters by rank, and raises SIGINT at the n-th clustering."""

    calls = 0

    def __init__(self, n_clusters=2, at=5):
        self.n_clusters, self.at = n_clusters, at

    def fit(self, X, y=None):
        type(self).calls += 1
        if type(self).calls == self.at:
            os.kill(os.getpid(), signal.SIGINT)
        rank = np.argsort(np.argsort(X[0], kind="stable"), kind="stable")
        self.labels_ = rank * self.n_clusters // len(X)
        return self


@pytest.mark.parametrize("search", ["branch-and-bound", "grid"])
@pytest.mark.parametrize("at", [1, 5])
def test_interrupt_keeps_the_best_pair_so_far(search, at):
    table, _ = trends()
    Interrupted.calls = 0
    model = XClusters("day *", search=search, clusterer=Interrupted(at=at), **FAST)
    with pytest.warns(ConvergenceWarning, match=r"interrupted after \d+ evaluations; the clusters"):
        model.fit(table)
    assert len(model.evaluations_) == max(at, 2)
    assert model.objective_ == model.evaluations_["objective"].min()
    assert not model.converged_
    assert model.predict(table).shape == (len(table),)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_max_evaluations():
    table, _ = trends(noise=1.0)
    few = XClusters("day *", max_evaluations=6, **FAST).fit(table)
    assert len(few.evaluations_) == 6
    assert not few.converged_
    assert few.lower_bound_ <= few.objective_


def test_progress_prints_evaluations_best_and_bound(capsys):
    table, _ = trends()
    model = XClusters("day *", verbose=1, **FAST).fit(table)
    lines = [line for line in capsys.readouterr().err.splitlines() if "evaluations" in line]
    assert len(lines) == len(model.evaluations_) - 2
    assert lines[-1].startswith(f"XClusters: {len(model.evaluations_)} evaluations, best ")
    assert f"{model.objective_:.4f} at k = {model.best_k_}, α = " in lines[-1]
    assert ", bound 0." in lines[-1]


def test_integer_weights_equal_repeated_rows():
    table, _ = trends(districts="ABCD", noise=1.0)
    weight = np.random.default_rng(0).integers(0, 4, len(table))
    weighted = XClusters("day *", **FAST).fit(table, sample_weight=weight)
    copies = np.repeat(np.arange(len(table)), weight)
    repeated = XClusters("day *", **FAST).fit(table.iloc[copies])
    np.testing.assert_array_equal(weighted.labels_[copies], repeated.labels_)
    assert weighted.objective_ == pytest.approx(repeated.objective_)
    assert (weight[weighted.medoid_indices_] > 0).all()
    absent = table[weight == 0]
    np.testing.assert_array_equal(weighted.labels_[weight == 0], weighted.predict(absent))


@pytest.mark.slow
def test_larger_trade_off_gives_smaller_trees(noisy):
    _, fit = noisy
    assert fit().trade_off == 1.0
    found = [fit(trade_off=0.1), fit(), fit(trade_off=10.0)]
    nodes = [one.n_nodes_ for one in found]
    assert nodes == sorted(nodes, reverse=True)
    distortions = [one.distortion_ for one in found]
    assert distortions == sorted(distortions)


def test_defaults_need_no_optional_package(monkeypatch):
    for package in ("kneed", "bayes_opt"):
        monkeypatch.setitem(sys.modules, package, None)
    table, planted = trends(districts="ABCD", noise=0.1)
    found = XClusters("day *").fit(table)
    assert found.accuracy_distance == "euclidean"
    assert len(set(zip(found.labels_, planted))) == found.best_k_
    with pytest.raises(ImportError, match=r"pip install 'pellucid\[xclusters\]', or use branch"):
        XClusters("day *", search="bayes").fit(table)


def test_dtw_with_a_window_and_with_different_lengths():
    table, planted = trends(districts="ABCD", noise=0.1)
    options = {"accuracy_distance": "dtw", "k_range": (2, 4), "alpha_step": 0.25}
    found = XClusters("day *", **options).fit(table)
    assert len(set(zip(found.labels_, planted))) == 3
    days = table.filter(like="day").to_numpy()
    clone(found).set_params(window=2).fit(table)
    series = [row[: 12 - i % 3] for i, row in enumerate(days)]
    explanation = table[["age", "sex", "district"]]
    ragged = XClusters(**options).fit(series, explanation=explanation)
    assert len(set(zip(ragged.labels_, planted))) == 3
    np.testing.assert_array_equal(
        ragged.assign(series)[ragged.medoid_indices_], np.arange(ragged.best_k_)
    )


@pytest.mark.slow
def test_precomputed_matrices():
    table, _ = trends()
    days, explanation = table.filter(like="day"), table[["age", "sex", "district"]]
    whole = XClusters(**FAST).fit(days, explanation=explanation)
    a = pairwise(days, "euclidean")
    given = clone(whole).set_params(accuracy_distance="precomputed").fit(a, explanation=explanation)
    alike(whole, given)
    np.testing.assert_array_equal(given.assign(a[:7]), whole.assign(days[:7]))
    np.testing.assert_array_equal(given.predict(explanation), whole.predict(explanation))
    e = pairwise(explanation, "gower")
    both = clone(given).set_params(explanation_distance="precomputed")
    alike(whole, both.fit(a, explanation=explanation, explanation_distances=e))
    frame = clone(given).fit(pd.DataFrame(a), explanation=explanation)
    alike(whole, frame)
    np.testing.assert_array_equal(frame.assign(pd.DataFrame(a[:7])), whole.assign(days[:7]))
    single = clone(given).fit(a.astype(np.float32), explanation=explanation)
    assert single.best_k_ == given.best_k_


@pytest.mark.parametrize("metric", ["jaccard", "gower", "euclidean", "manhattan", "cosine"])
def test_explanation_distances_by_name(metric):
    table, _ = trends()
    found = XClusters("day *", ["sex", "district"], explanation_distance=metric, **FAST).fit(table)
    assert found.explanation_features_ == ["sex", "district"]
    assert len(found.tree_columns_) == 10


def test_distances_by_function():
    table, _ = trends()
    distances = {
        "accuracy_distance": lambda x, y: float(np.abs(x - y).max()),
        "explanation_distance": lambda x, y: float((x != y).mean()),
    }
    found = XClusters("day *", k_range=(2, 4), alpha_step=0.5, **distances).fit(table)
    assert found.assign(table.iloc[:3]).shape == (3,)


def test_all_table_types_give_the_same_result(model):
    table, _ = trends()
    other = pl.from_pandas(table)
    same(model, clone(model).fit(other))
    np.testing.assert_array_equal(model.predict(other), model.labels_)
    np.testing.assert_array_equal(model.assign(other.to_arrow()), model.assign(table))


@pytest.mark.parametrize("method", ["apply", "assign", "explain", "predict"])
def test_unfitted_estimator_raises_not_fitted_error(method):
    table, _ = trends()
    with pytest.raises(NotFittedError):
        getattr(XClusters(), method)(table)


def test_public_names():
    assert pellucid.XClusters is pellucid.xclusters.XClusters is XClusters
