"""KMedoids: scikit-learn's estimator checks, metrics and input types."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from _support.extended import seeds
from _support.sklearn_checks import expected_failures
from pellucid import KMedoids
from pellucid.xclusters import k_medoids, pairwise

ESTIMATORS = [
    KMedoids(),
    KMedoids(init="k-medoids++", metric="manhattan"),
    KMedoids(metric="precomputed"),
    KMedoids(metric="gower"),
    KMedoids(metric="dtw", window=2),
]


@pytest.mark.slow
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(200, 4, centers=5, cluster_std=1.5, random_state=0)[0]


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "dtw", "gower", "jaccard"])
def test_equals_k_medoids_on_the_distance_matrix(blobs, metric):
    X = blobs.round(1)
    model = KMedoids(4, metric=metric).fit(X)
    found = k_medoids(pairwise(X, metric), 4)
    np.testing.assert_array_equal(model.medoid_indices_, found.indices)
    np.testing.assert_array_equal(model.labels_, found.labels)
    assert (model.inertia_, model.n_iter_) == (found.loss, found.n_iter)
    np.testing.assert_array_equal(model.cluster_centers_, X[found.indices])
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_precomputed_distances_give_the_same(blobs):
    D = pairwise(blobs, "euclidean")
    model, other = KMedoids(5).fit(blobs), KMedoids(5, metric="precomputed").fit(D)
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_array_equal(other.predict(D[:20]), model.labels_[:20])
    assert not hasattr(other, "cluster_centers_")


def test_integer_weights_equal_repeated_rows(blobs):
    weight = np.arange(200) % 3
    rows = np.repeat(np.arange(200), weight)
    model, repeated = KMedoids(4).fit(blobs, sample_weight=weight), KMedoids(4).fit(blobs[rows])
    np.testing.assert_array_equal(model.cluster_centers_, repeated.cluster_centers_)
    assert model.inertia_ == pytest.approx(repeated.inertia_)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_column_names_are_kept(blobs, kind):
    table = kind(dict(zip("abcd", blobs.T)))
    model = KMedoids(3).fit(table)
    assert model.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_array_equal(model.predict(table), KMedoids(3).fit(blobs).labels_)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table[["b", "a", "c", "d"]])


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_mixed_tables(kind):
    columns = {
        "town": ["x", "x", "y", "y", "y", None],
        "age": [20, 22, 61, 63, 60, 64],
        "member": [True, True, False, False, True, False],
    }
    model = KMedoids(2, metric="gower").fit(kind(columns))
    assert model.labels_.tolist() in ([0, 0, 1, 1, 1, 1], [1, 1, 0, 0, 0, 0])
    assert model.feature_names_in_.tolist() == ["town", "age", "member"]
    assert set(model.cluster_centers_[:, 0]) == {"x", "y"}
    # A single row has no range; the range of the fitted rows is used.
    new = kind({"town": ["z"], "age": [58], "member": [False]})
    assert model.predict(new)[0] == model.labels_[3]


def test_columns_keep_their_type():
    model = KMedoids(2, metric="gower").fit(pd.DataFrame({"age": [1, 2, 9, 8]}))
    with pytest.raises(ValueError, match="column 'age' of X is categorical, but numeric in the"):
        model.predict(pd.DataFrame({"age": ["old"]}))
    # Numbers that were categories in `fit` stay categories: 1 is as far from 9 as from 2.
    codes = pd.DataFrame({"code": [1, 1, 9, 9, 2]})
    model = KMedoids(2, metric="gower").fit(codes.astype("category"))
    assert model.inertia_ == 1.0
    np.testing.assert_array_equal(model.predict(codes[:4]), model.labels_[:4])


def test_precomputed_distances_are_checked():
    D = np.array([[0.0, 1.0], [np.nan, 0.0]])
    with pytest.raises(ValueError, match=r"distances\[1, 0\] is nan. Distances must be finite"):
        KMedoids(1, metric="precomputed").fit(D)
    with pytest.raises(ValueError, match=r"shape \(1, 2\); expected a square matrix"):
        KMedoids(1, metric="precomputed").fit(D[:1])
    model = KMedoids(1, metric="precomputed").fit(1 - np.eye(2))
    with pytest.raises(ValueError, match=r"X\[0, 1\] is -1; distances must be finite"):
        model.predict([[0.0, -1.0]])


def test_categories():
    X = [["a", "x"], ["a", "x"], ["a", "y"], ["b", "z"], ["b", "z"]]
    model = KMedoids(2, metric="jaccard").fit(X)
    assert model.labels_.tolist() in ([0, 0, 0, 1, 1], [1, 1, 1, 0, 0])
    assert model.predict([["b", "w"], ["w", "x"]]).tolist() == [model.labels_[3], model.labels_[0]]


def test_series_of_different_lengths():
    up, down = [0.0, 1.0, 2.0, 3.0], [3.0, 2.0, 1.0, 0.0]
    series = [up, [0.0, 0.0, *up], up[1:], down, [*down, 0.0], [3.0, *down]]
    model = KMedoids(2, metric="dtw").fit(series)
    assert model.labels_.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    assert model.predict([[3.5, 3.0, 0.0]])[0] == model.labels_[3]
    assert len(model.cluster_centers_) == 2
    with pytest.raises(ValueError, match="series 1 of X has 6 steps, series 0 has 4: 'euclidean'"):
        KMedoids(2).fit(series)


def test_callable_metric(blobs):
    model = KMedoids(3, metric=lambda a, b: np.abs(a - b).max()).fit(blobs[:40])
    D = np.abs(blobs[:40, None] - blobs[:40]).max(axis=2)
    np.testing.assert_array_equal(model.labels_, k_medoids(D, 3).labels)
    np.testing.assert_array_equal(model.predict(blobs[:40]), model.labels_)


@pytest.mark.parametrize("convert", [sparse.csr_array, sparse.csc_array])
def test_sparse_rows(blobs, convert):
    X = np.where(np.abs(blobs) < 2, 0.0, blobs)
    model, dense = KMedoids(4).fit(convert(X)), KMedoids(4).fit(X)
    np.testing.assert_array_equal(model.labels_, dense.labels_)
    np.testing.assert_array_equal(model.cluster_centers_, dense.cluster_centers_)
    np.testing.assert_array_equal(model.predict(convert(X)), dense.predict(X))
    with pytest.raises(TypeError, match="metric='dtw' requires dense data"):
        KMedoids(4, metric="dtw").fit(convert(X))


def test_labels_do_not_depend_on_threads_and_precision(blobs):
    X = blobs.astype(np.float32)
    expected = KMedoids(5, n_jobs=1).fit(X.astype(float))
    for n_jobs in (1, 2, 4):
        model = KMedoids(5, n_jobs=n_jobs).fit(X)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        assert model.inertia_ == expected.inertia_


def test_iris_clusters_match_species():
    X, y = load_iris(return_X_y=True)
    assert adjusted_rand_score(y, KMedoids(3).fit_predict(X)) > 0.7


def test_fewer_distinct_rows_than_clusters():
    with pytest.warns(ConvergenceWarning, match="only 2 of 3 clusters have rows"):
        model = KMedoids(3).fit([[0.0], [0.0], [1.0], [1.0]])
    assert model.inertia_ == 0
    np.testing.assert_array_equal(model.predict([[0.0], [1.0]]), model.labels_[[0, 2]])


def test_refit_replaces_the_first_fit(blobs):
    model = KMedoids(3, metric="gower").fit(blobs)
    model.set_params(metric="precomputed").fit(pairwise(blobs[:50], "euclidean"))
    assert model.predict(pairwise(blobs[:50], "euclidean")).shape == (50,)
    assert clone(model).metric == "precomputed"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 7}, "n_samples=6 should be >= n_clusters=7"),
        ({"metric": "hemming"}, "The 'metric' parameter of KMedoids must be"),
        ({"init": "pam"}, "The 'init' parameter of KMedoids must be"),
        ({"init": [0, 9]}, r"init\[1\] is 9, but row indices range from 0 to 5"),
        ({"window": 2}, "window=2 is only used by metric='dtw'"),
    ],
)
def test_value_errors(parameters, message):
    with pytest.raises(ValueError, match=message):
        KMedoids(**{"n_clusters": 2, **parameters}).fit(np.arange(12.0).reshape(6, 2))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("seed", seeds(4))
def test_sparse_rows_are_clustered_as_dense_ones(metric, seed):
    """Differences are taken before they are squared, so that close rows keep their distance."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 3, size=(60, 5)) * 10.0 ** random.integers(-9, 9, size=(60, 5))
    X = X[random.integers(0, 40, 60)] * (random.random((60, 5)) < 0.7)
    models = [KMedoids(4, metric=metric).fit(store(X)) for store in (np.array, sparse.csr_array)]
    assert models[1].inertia_ == pytest.approx(models[0].inertia_, rel=1e-12)
    for model in models:
        for rows in (X, sparse.csc_array(X), X[:3]):
            np.testing.assert_array_equal(model.predict(rows), model.labels_[: rows.shape[0]])


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("euclidean", r"Input X contains 1e\+200 in column 0"),
        ("gower", r"X contains 1e\+200 in column 0"),
    ],
)
def test_large_numbers_are_refused(metric, message):
    X = np.array([[0.0, 1e200, 1.0], [1e200, 0.0, 2.0], [1.0, 2.0, 0.0]])
    with pytest.raises(ValueError, match=message):
        KMedoids(2, metric=metric).fit(X)


def test_a_range_of_subnormal_numbers_is_no_range():
    X = np.array([[0.0, 1.0], [5e-324, 2.0], [1e-323, 9.0]])
    model = KMedoids(2, metric="gower").fit(X)
    assert model.labels_[0] == model.labels_[1]
    assert np.isfinite(model.inertia_)


@pytest.mark.parametrize("weight", [2.0, 0.25])
def test_one_weight_for_all_rows(weight):
    X = np.arange(6.0)[:, None]
    one, all_rows = KMedoids(2).fit(X, sample_weight=weight), np.full(6, weight)
    assert one.inertia_ == KMedoids(2).fit(X, sample_weight=all_rows).inertia_


@pytest.mark.parametrize("init", ["build", "k-medoids++"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("seed", seeds(4))
def test_ties_depend_on_values_only(init, metric, seed):
    """Few values give many ties; order, storage and copies instead of weights change nothing."""
    rng = np.random.default_rng(seed)
    X, weight = rng.integers(1, 3, size=(24, 4)).astype(float), rng.integers(0, 4, 24)
    model = KMedoids(3, metric=metric, init=init, random_state=0)
    labels = model.fit(X, sample_weight=weight).predict(X)
    for rows in (rng.permutation(24), rng.permutation(np.repeat(np.arange(24), weight))):
        given = weight[rows] if len(rows) == 24 and len(set(rows)) == 24 else None
        for store in (np.asarray, sparse.csr_array, np.float32):
            other = KMedoids(3, metric=metric, init=init, random_state=0)
            other.fit(store(X[rows]), sample_weight=given)
            np.testing.assert_array_equal(other.labels_, labels[rows])
            assert other.inertia_ == pytest.approx(model.inertia_)


def test_ties_of_categories_and_series_depend_on_values_only():
    rng = np.random.default_rng(0)
    words = rng.choice(["a", "b", "c"], size=(20, 3)).astype(object)
    series = [[float(v) for v in rng.integers(0, 2, rng.integers(2, 5))] for _ in range(20)]
    order = rng.permutation(20)
    for metric, rows, again in (
        ("jaccard", words, words[order]),
        (lambda a, b: float(abs(len(a) - len(b))), series, [series[i] for i in order]),
    ):
        labels = KMedoids(3, metric=metric).fit(rows).labels_
        np.testing.assert_array_equal(KMedoids(3, metric=metric).fit(again).labels_, labels[order])
