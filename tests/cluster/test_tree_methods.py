"""Methods and attributes that every estimator with a tree has."""

import inspect

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

import pellucid
import pellucid.baselines
import pellucid.cluster
from _support.tree_estimators import REFERENCE_TREES, fresh
from pellucid import EMN, IMM, BeamSearch, ExKMC, ExplainableKMeans, XClusters
from pellucid.baselines import CLTree

IRIS = load_iris(as_frame=True).data
X = IRIS.to_numpy()
LABELS = KMeans(4, n_init=3, random_state=0).fit(X).labels_
TREES = [
    *REFERENCE_TREES,
    CLTree(),
    XClusters(accuracy_distance="euclidean", k_range=(2, 4), max_evaluations=6),
]

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
each_tree = pytest.mark.parametrize("estimator", TREES, ids=repr)
each_reference_tree = pytest.mark.parametrize("estimator", REFERENCE_TREES, ids=repr)


def test_every_tree_estimator_is_covered():
    modules = (pellucid, pellucid.cluster, pellucid.baselines)
    public = {
        found
        for module in modules
        for found in (getattr(module, name) for name in module.__all__)
        if inspect.isclass(found) and hasattr(found, "decision_path") and hasattr(found, "fit")
    }
    assert public == {type(estimator) for estimator in TREES}


@pytest.mark.slow
@each_tree
def test_importances_are_shares_of_the_features_that_are_split(estimator):
    model = fresh(estimator).fit(X)
    importances, tree = model.feature_importances_, model.tree_
    assert importances.shape == (tree.n_features,)
    assert importances.sum() == pytest.approx(1.0)
    used = np.unique(tree.feature[~tree.is_leaf])
    assert (importances >= 0).all()
    assert set(np.flatnonzero(importances)) <= set(used.tolist())


@each_reference_tree
@pytest.mark.parametrize("kind", ["none", "integers", "fractions"])
def test_mistakes_are_rows_in_another_cluster_than_in_the_reference(estimator, kind):
    random = np.random.default_rng(0)
    weight = {
        "none": None,
        "integers": random.integers(0, 4, len(X)),
        "fractions": random.integers(1, 9, len(X)) / 8,
    }[kind]
    model = fresh(estimator).fit(X, LABELS, sample_weight=weight)
    counts = np.ones(len(X)) if weight is None else weight
    assert model.mistakes_ == counts[model.labels_ != model.reference_labels_].sum()
    assert isinstance(model.mistakes_, float if kind == "fractions" else int)


@each_reference_tree
def test_importances_are_the_reduction_of_the_sum_of_squares(estimator):
    weight = np.random.default_rng(0).integers(0, 4, len(X)).astype(float)
    model = fresh(estimator).fit(X, LABELS, sample_weight=weight)
    passes = model.tree_.decision_path(X).toarray().astype(bool)

    def sum_of_squares(node):
        rows = passes[:, node] & (weight > 0)
        if not rows.any():
            return 0.0
        mean = np.average(X[rows], axis=0, weights=weight[rows])
        return weight[rows] @ ((X[rows] - mean) ** 2).sum(axis=1)

    expected = np.zeros(X.shape[1])
    tree = model.tree_
    for node in np.flatnonzero(~tree.is_leaf):
        children = tree.children_left[node], tree.children_right[node]
        gain = sum_of_squares(node) - sum(map(sum_of_squares, children))
        expected[tree.feature[node]] += gain
    np.testing.assert_allclose(model.feature_importances_, expected / expected.sum(), atol=1e-9)


def test_importances_of_a_tree_for_classes_are_those_of_scikit_learn():
    table = pd.DataFrame({"value": X[:, 2], "petal": X[:, 3], "sepal": X[:, 0]})
    classifier = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0)
    model = XClusters(
        accuracy_features=["value"],
        explanation_features=["petal", "sepal"],
        accuracy_distance="euclidean",
        k_range=(3, 4),
        tree=classifier,
    ).fit(table)
    classifier.fit(table[["petal", "sepal"]], model.labels_)
    np.testing.assert_allclose(model.feature_importances_, classifier.feature_importances_)


@each_reference_tree
def test_a_single_leaf_has_no_importances(estimator):
    parameters = {"n_leaves": None} if "n_leaves" in estimator.get_params() else {}
    if isinstance(estimator, ExKMC):
        parameters["n_leaves"] = 1
    model = fresh(estimator, **parameters).fit(X, np.zeros(len(X), dtype=int))
    assert model.get_n_leaves() == 1
    assert model.get_depth() == 0
    assert model.feature_importances_.tolist() == [0.0] * 4


@pytest.mark.slow
@each_reference_tree
def test_importances_depend_on_neither_threads_nor_storage(estimator):
    expected = fresh(estimator, n_jobs=1).fit(X, LABELS).feature_importances_
    for data, n_jobs in ((X, 2), (sparse.csr_array(X), 2), (np.asfortranarray(X), None)):
        model = fresh(estimator, n_jobs=n_jobs).fit(data, LABELS)
        np.testing.assert_allclose(model.feature_importances_, expected, rtol=1e-12)


@pytest.mark.slow
@each_tree
def test_depth_leaves_and_decision_paths_are_those_of_the_tree(estimator):
    model = fresh(estimator).fit(X)
    tree = model.tree_
    assert model.get_depth() == tree.max_depth
    assert model.get_n_leaves() == tree.n_leaves == model.n_leaves_
    path = model.decision_path(X)
    assert sparse.issparse(path)
    assert path.format == "csr"
    assert path.shape == (len(X), tree.node_count)
    leaf = model.apply(X)
    np.testing.assert_array_equal(path.sum(axis=1), tree.depth[leaf] + 1)
    dense = path.toarray()
    assert (dense[:, 0] == 1).all()
    assert (dense[np.arange(len(X)), leaf] == 1).all()
    last = path.indices[path.indptr[1:] - 1]
    np.testing.assert_array_equal(last, leaf)


@each_tree
@pytest.mark.parametrize("call", ["get_depth", "get_n_leaves", "decision_path", "apply"])
def test_methods_need_a_fitted_estimator(estimator, call):
    arguments = () if call.startswith("get") else (X,)
    with pytest.raises(NotFittedError):
        getattr(fresh(estimator), call)(*arguments)


@each_reference_tree
def test_transform_gives_the_distances_to_the_centers(estimator):
    model = fresh(estimator).fit(X, LABELS)
    metric = "manhattan" if model.get_params().get("objective") == "kmedians" else "euclidean"
    expected = pairwise_distances(X, model.cluster_centers_, metric=metric)
    found = model.transform(X)
    assert found.shape == (len(X), len(model.cluster_names_))
    np.testing.assert_allclose(found, expected, atol=1e-7)
    np.testing.assert_allclose(model.transform(sparse.csc_array(X)), expected, atol=1e-6)
    np.testing.assert_allclose(fresh(estimator).fit_transform(X, LABELS), expected, atol=1e-7)
    assert model.transform(X.astype(np.float32)).dtype == np.float32


def test_transform_agrees_with_kmeans():
    kmeans = KMeans(4, n_init=3, random_state=0).fit(X)
    model = ExKMC(reference=kmeans, n_leaves=40).fit(X)
    assert model.inertia_ == pytest.approx(kmeans.inertia_)
    np.testing.assert_allclose(model.transform(X), kmeans.transform(X), atol=1e-3)


def test_distances_are_exact_far_from_the_origin():
    far = X + 2.0**30
    model = IMM().fit(far, LABELS)
    expected = np.sqrt(((far[:, None] - model.cluster_centers_) ** 2).sum(axis=2))
    np.testing.assert_allclose(model.transform(far), expected, rtol=1e-12)


@each_reference_tree
def test_transform_has_names_and_data_frames(estimator):
    model = fresh(estimator).set_output(transform="pandas").fit(IRIS, LABELS)
    prefix = type(estimator).__name__.lower()
    names = [f"{prefix}{i}" for i in range(len(model.cluster_names_))]
    assert model.get_feature_names_out().tolist() == names
    table = model.transform(IRIS)
    assert isinstance(table, pd.DataFrame)
    assert table.columns.tolist() == names
    assert table.index.equals(IRIS.index)


@each_reference_tree
@pytest.mark.parametrize("kind", ["integers", "strings", "noise"])
def test_labels_are_explained_as_an_estimator_with_these_labels(estimator, kind):
    labels = {
        "integers": LABELS * 10,
        "strings": np.array(["a", "b", "c", "d"])[LABELS],
        "noise": np.where(np.arange(len(X)) % 20 == 0, -1, LABELS),
    }[kind]
    options = {"noise": "drop"} if kind == "noise" else {}
    clustering = AgglomerativeClustering()
    clustering.labels_ = labels
    model = fresh(estimator, **options).fit(X, labels)
    other = fresh(estimator, **options)
    other.reference = clustering
    other.fit(X)
    if isinstance(model, ExplainableKMeans):  # it follows labels that are given, at any cost
        assert model.mistakes_ <= other.mistakes_
        return
    assert model.tree_ == other.tree_
    assert model.inertia_ == other.inertia_
    np.testing.assert_array_equal(model.labels_, other.labels_)
    assert str(model.explain()) == str(other.explain())


@each_reference_tree
def test_rows_with_labels_can_be_cross_validated(estimator):
    scores = cross_val_score(fresh(estimator), X, LABELS, cv=3)
    assert len(scores) == 3
    assert np.isfinite(scores).all()


@each_reference_tree
def test_parameters_stand_in_one_order(estimator):
    common = [
        "reference",
        "objective",
        "noise",
        "threshold_style",
        "polish",
        "n_jobs",
        "random_state",
        "verbose",
    ]
    parameters = list(inspect.signature(type(estimator)).parameters.values())
    names = [parameter.name for parameter in parameters]
    assert names[0] == "n_clusters"
    assert all(p.kind is p.KEYWORD_ONLY for p in parameters[1:])
    shared = [name for name in names if name in common]
    assert shared == [name for name in common if name in names]
    assert names[-len(shared) :] == shared
    documented = type(estimator).__doc__
    assert all(f"\n{name} : " in documented for name in names)
    assert not any(field in documented for field in ("{n_clusters}", "{common}", "{attributes}"))


@pytest.mark.parametrize("method", [IMM, EMN])
def test_beam_search_of_mistakes_is_never_worse(method):
    digits = X[:, [0, 2, 1, 3]]
    greedy = method(reference=digits[:6]).fit(digits)
    beam = method(reference=digits[:6], search=BeamSearch(5, 4)).fit(digits)
    assert beam.n_leaves_ == greedy.n_leaves_
    if method is IMM:
        mistakes = [(m.labels_ != m.reference_labels_).sum() for m in (beam, greedy)]
        assert mistakes[0] <= mistakes[1]
        same = pellucid.BSIMM(reference=digits[:6], beam_width=5, n_candidates=4).fit(digits)
        assert same.tree_ == beam.tree_


def test_warnings_of_fits_name_the_remedy():
    rows = np.array([[0.0], [0.0], [1.0]])
    with pytest.warns(ConvergenceWarning, match="Use fewer clusters"):
        IMM(reference=[[0.0], [0.0], [1.0]]).fit(rows)
