"""What goes in: every container and oddity gives the same tree, or an error that helps."""

import pickle
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from _support.extended import EXTENDED, examples
from _support.strategies import tiny_data
from pellucid import EMN, IMM, ExGreedy, ExKMC, ExShallow, RandomThresholds, SpEx
from pellucid.tables.validation import rows_without_copy
from pellucid.tree.predictor import canonical_csc

pytestmark = pytest.mark.slow


def seeded_thresholds(n_clusters=None, *, random_state=0, **parameters):
    """RandomThresholds that draws the same trees every time."""
    return RandomThresholds(n_clusters, random_state=random_state, **parameters)


METHODS = [IMM, ExGreedy, ExShallow, ExKMC, seeded_thresholds, SpEx, EMN]
each_method = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(scope="module")
def blobs():
    X, _ = make_blobs(400, 5, centers=6, cluster_std=3.0, random_state=3)
    return X.astype(np.float32).astype(np.float64)


@each_method
def test_storage_does_not_matter(method, blobs):
    X = np.where(np.abs(blobs) < 4, 0.0, blobs)
    # One method finds the clusters itself, which all do by the same code.
    given = {"n_clusters": 6} if method is IMM else {"reference": X[:6]}
    expected = method(**given, random_state=0).fit(X)
    read_only = X.copy()
    read_only.setflags(write=False)
    strided = np.repeat(X, 2, axis=0)[::2]
    same = [X.astype(np.float32), np.asfortranarray(X), read_only, strided, X.tolist()]
    for matrix in (sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.csc_array):
        same.append(matrix(X))
    same.append(sparse.csr_array(X.astype(np.float32)))
    for other in same:
        model = method(**given, random_state=0).fit(other)
        assert model.tree_ == expected.tree_
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        np.testing.assert_array_equal(model.predict(other), expected.labels_)
        assert model.inertia_ == pytest.approx(expected.inertia_, rel=1e-12)


@each_method
def test_sparse_entries_stored_twice_are_summed_and_the_input_is_left_alone(method, blobs):
    twice = sparse.csr_array(np.hstack([blobs, blobs]))
    twice.indices %= 5
    twice = sparse.csr_array((twice.data / 2, twice.indices, twice.indptr), shape=blobs.shape)
    stored = twice.nnz
    assert method(6, random_state=0).fit(twice).tree_ == method(6, random_state=0).fit(blobs).tree_
    assert twice.nnz == stored


@each_method
def test_whole_numbers_and_booleans(method):
    X = np.arange(24).reshape(12, 2) % 7
    expected = method(3, random_state=0).fit(X.astype(float)).tree_
    assert method(3, random_state=0).fit(X).tree_ == expected
    assert method(2, random_state=0).fit(X > 3).tree_.threshold[0] == 0.0


@each_method
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pd", "pl", "pa"])
def test_tables_keep_their_names(method, frame, blobs):
    names = ["age", "income", "visits", "spend", "tenure"]
    table = frame(dict(zip(names, blobs.T)))
    model = method(6, random_state=0).fit(table)
    assert model.feature_names_in_.tolist() == names
    assert model.tree_ == method(6, random_state=0).fit(blobs).tree_
    used = {names[f] for f in model.tree_.feature if f >= 0}
    text = str(model.explain())
    assert all(name in text for name in used)
    np.testing.assert_array_equal(model.predict(table), model.labels_)
    assert "because" in str(model.explain(table)[0])


def test_a_column_that_is_not_numeric_is_named():
    table = pl.DataFrame({"age": [1, 2, 3], "region": ["N", "S", "N"]})
    message = "column 'region' is not numeric .* drop it, or encode it first.*OneHotEncoder"
    with pytest.raises(ValueError, match=message):
        IMM(2).fit(table)
    with pytest.raises(ValueError, match="column 'region' is not numeric"):
        IMM(2).fit(table.to_pandas())
    with pytest.raises(TypeError, match=r"lazy frame; call its collect\(\)"):
        IMM(2).fit(table.lazy())
    twice = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    with pytest.raises(ValueError, match="column 'a' appears more than once"):
        IMM(2).fit(twice)


@each_method
def test_missing_and_infinite_values_are_located(method, blobs):
    X = blobs.copy()
    X[7, 2] = np.nan
    with pytest.raises(ValueError, match="contains NaN: column 2, first at row 7"):
        method(3).fit(X)
    with pytest.raises(ValueError, match="contains NaN: column 'c2', first at row 7"):
        method(3).fit(pl.DataFrame(X, schema=[f"c{i}" for i in range(5)]))
    with pytest.raises(ValueError, match="contains NaN: column 2, first at row 7"):
        method(3).fit(sparse.csr_array(X))
    null = pd.DataFrame({"a": pd.array([1, 2, None], dtype="Int64"), "b": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="contains NaN: column 'a', first at row 2"):
        method(2).fit(null)
    X[7, 2] = -np.inf
    with pytest.raises(ValueError, match=r"infinity \(inf\): column 2, first at row 7"):
        method(3).fit(X)
    assert not hasattr(method(3), "tree_")


@pytest.fixture(scope="module")
def many_rows():
    """Rows, labels and a fitted reference."""
    X, labels = make_blobs(20_001, 5, centers=3, random_state=0)
    return X, labels, KMeans(3, n_init=1, random_state=0).fit(X)


@pytest.mark.parametrize("form", [np.array, np.asfortranarray, np.float32, sparse.csr_array])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf] if EXTENDED else [np.nan, -np.inf])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("row", [3, 20_000])
def test_values_that_are_not_finite_are_located_whatever_the_reference(
    form, bad, n_jobs, row, many_rows
):
    """Also where the search for the nearest centers is to find them."""
    X, labels, fitted = many_rows
    X, centers = X.copy(), X[[0, 1, 2]]
    X[row, 4] = bad
    references = [(centers, None), (centers[:1], None), (fitted, None), (KMeans(3, n_init=1), None)]
    for reference, y in [*references, (None, labels)]:
        for objective in ("kmeans", "kmedians"):
            model = IMM(reference=reference, objective=objective, n_jobs=n_jobs)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                with pytest.raises(ValueError, match=f"column 4, first at row {row}"):
                    model.fit(form(X), y)


@given(tiny_data(), st.sampled_from(METHODS))
@settings(max_examples=examples(100), deadline=None)
def test_a_weight_is_a_number_of_copies(data, method):
    """Zero weight is absence; costs of an empty problem are not asked for."""
    model = method(reference=data.centers)
    weight = data.weight.copy()
    weight[1:] -= 1
    copies = np.repeat(np.arange(len(weight)), weight.astype(int))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        weighted = method(reference=data.centers).fit(data.X, sample_weight=weight)
        repeated = model.fit(data.X[copies])
    np.testing.assert_array_equal(weighted.tree_.feature, repeated.tree_.feature)
    np.testing.assert_array_equal(weighted.tree_.threshold, repeated.tree_.threshold)
    np.testing.assert_array_equal(weighted.tree_.cluster, repeated.tree_.cluster)
    np.testing.assert_array_equal(
        weighted.tree_.weighted_n_node_samples, repeated.tree_.n_node_samples
    )
    np.testing.assert_array_equal(weighted.labels_[copies], repeated.labels_)


@each_method
def test_fractional_weights_scale_freely(method, blobs):
    weight = np.random.default_rng(0).uniform(0.1, 3.0, len(blobs))
    centers = blobs[:5]
    one = method(reference=centers).fit(blobs, sample_weight=weight)
    many = method(reference=centers).fit(blobs, sample_weight=weight * 1024)
    np.testing.assert_array_equal(one.tree_.feature, many.tree_.feature)
    np.testing.assert_array_equal(one.tree_.threshold, many.tree_.threshold)


@given(tiny_data(), st.sampled_from(METHODS), st.sampled_from([-9, 6, 44, 45, 46, 47, 48, 49]))
@settings(max_examples=examples(100), deadline=None)
def test_fractional_weights_of_few_rows_scale_freely(data, method, power):
    """Also where the unit of weight is 1, and where sides have fewer rows than centers."""
    weight = data.weight + (1 + np.arange(len(data.weight))) / 3 + 0.1  # fractions at any power
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits = [
            method(reference=data.centers).fit(data.X, sample_weight=np.ldexp(weight, p))
            for p in (0, power)
        ]
    for name in ("feature", "threshold", "cluster"):
        np.testing.assert_array_equal(*(getattr(fit.tree_, name) for fit in fits))


@pytest.mark.parametrize("method", [ExGreedy, ExShallow])
def test_equal_fractional_weights_are_no_weights(method):
    random = np.random.default_rng(5)
    X = random.normal(size=(24, 2)).round(1)
    for first in range(0, 18, 1 if EXTENDED else 3):
        centers = X[first : first + 6] * 1.5
        plain = method(reference=centers).fit(X)
        for weight in (0.5, 1 / 3, 2.0**-20):
            weighted = method(reference=centers).fit(X, sample_weight=np.full(len(X), weight))
            np.testing.assert_array_equal(plain.tree_.feature, weighted.tree_.feature)
            np.testing.assert_array_equal(plain.tree_.threshold, weighted.tree_.threshold)


def test_bad_weights_are_named(blobs):
    weight = np.ones(len(blobs))
    weight[3] = -1
    with pytest.raises(ValueError, match=r"sample_weight\[3\] is -1.0"):
        IMM(2).fit(blobs, sample_weight=weight)
    with pytest.raises(ValueError, match="one weight per row"):
        IMM(2).fit(blobs, sample_weight=[1.0])
    with pytest.raises(ValueError, match="all sample weights are zero"):
        IMM(2).fit(blobs, sample_weight=np.zeros(len(blobs)))


@each_method
def test_one_cluster_one_row_and_as_many_clusters_as_rows(method):
    model = method(1, random_state=0).fit([[1.0, 2.0], [3.0, 4.0]])
    assert model.n_leaves_ == 1
    assert model.rules_[0].text == "always"
    one_row = method(1, random_state=0).fit([[1.0, 2.0]])
    assert one_row.labels_.tolist() == [0]
    assert one_row.inertia_ == 0
    X = np.array([[0.0], [1.0], [2.0], [4.0]])
    model = method(4, random_state=0).fit(X)
    assert sorted(model.labels_.tolist()) == [0, 1, 2, 3]
    assert model.inertia_ == 0
    with pytest.raises(ValueError, match="n_clusters=5 is more than n_samples=4"):
        method(5).fit(X)


@each_method
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_fewer_distinct_points_than_clusters(method):
    X = np.array([[0.0, 1.0], [0.0, 1.0], [5.0, 1.0], [5.0, 1.0]])
    with pytest.warns(ConvergenceWarning, match="the tree has 2 leaves for 3 clusters"):
        model = method(3, random_state=0).fit(X)
    assert model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3]
    assert model.inertia_ == 0


@each_method
def test_duplicate_centers_and_constant_columns(method):
    X = np.column_stack([np.ones(30), np.repeat([0.0, 10.0, 20.0], 10)])
    centers = np.array([[1.0, 0.0], [1.0, 10.0], [1.0, 10.0], [1.0, 20.0]])
    with pytest.warns(ConvergenceWarning, match="3 leaves for 4 clusters"):
        model = method(reference=centers).fit(X)
    assert np.unique(model.labels_).tolist() == [0, 1, 3]
    assert set(model.tree_.feature) == {-1, 1}
    assert model.rules_[2].text == "not explained"
    np.testing.assert_array_equal(model.cluster_centers_[2], centers[2])


def test_values_too_wide_to_square_are_an_error():
    with pytest.raises(ValueError, match="1e\\+200 in column 1"):
        ExGreedy(reference=[[0.0, 0.0], [1.0, 1.0]]).fit([[0.0, -1e200], [1.0, 1e200]])


@each_method
def test_far_from_the_origin_nothing_is_lost(method, blobs):
    """Distances are differences of coordinates, not of squared norms."""
    X = np.rint(blobs * 8)
    here = method(reference=X[:6], threshold_style="data").fit(X)
    far = method(reference=X[:6] + 2.0**40, threshold_style="data").fit(X + 2.0**40)
    np.testing.assert_array_equal(here.tree_.feature, far.tree_.feature)
    np.testing.assert_array_equal(here.labels_, far.labels_)


@each_method
def test_threads_and_repetition_do_not_matter(method):
    X, _ = make_blobs(4000, 20, centers=5, cluster_std=4, random_state=0)
    given = {"n_clusters": 5} if method is IMM else {"reference": X[:5]}
    first = method(**given, random_state=1, n_jobs=1).fit(X)
    for n_jobs in (1, 2, 3, -1, None) if EXTENDED else (1, 3, None):
        assert method(**given, random_state=1, n_jobs=n_jobs).fit(X).tree_ == first.tree_


@each_method
def test_a_fitted_model_survives_pickling(method, blobs):
    model = method(4, random_state=0).fit(blobs)
    again = pickle.loads(pickle.dumps(model))
    assert again.tree_ == model.tree_
    assert str(again.explain(blobs[:3])) == str(model.explain(blobs[:3]))


@each_method
@pytest.mark.parametrize("style", ["midpoint", "data"])
def test_every_threshold_style_gives_the_same_partition(method, style):
    differs = []
    for X in (load_iris().data, load_wine().data):
        rounded = method(4, random_state=0).fit(X)
        other = method(4, random_state=0, threshold_style=style).fit(X)
        np.testing.assert_array_equal(rounded.apply(X), other.apply(X))
        np.testing.assert_array_equal(rounded.labels_, other.labels_)
        differs.append(rounded.tree_ != other.tree_)
    assert any(differs)


@given(tiny_data(), st.sampled_from(METHODS))
@settings(max_examples=examples(100), deadline=None)
def test_every_threshold_style_gives_the_same_leaves_on_ties_and_duplicates(data, method):
    leaves = []
    for style in ("round", "midpoint", "data"):
        model = method(reference=data.centers, threshold_style=style)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            leaves.append(model.fit(data.X).apply(data.X).tolist())
    assert leaves[0] == leaves[1] == leaves[2]


def test_score_is_minus_the_cost(blobs):
    model = ExShallow(6, random_state=0).fit(blobs)
    assert model.score(blobs) == pytest.approx(-model.inertia_)
    assert model.score(blobs, sample_weight=np.full(len(blobs), 2.0)) == pytest.approx(
        -2 * model.inertia_
    )


# --- references ----------------------------------------------------------------------------


def test_references_of_every_kind_agree(blobs):
    kmeans = KMeans(5, n_init=3, random_state=0).fit(blobs)
    fitted = ExShallow(reference=kmeans).fit(blobs)
    centers = ExShallow(reference=kmeans.cluster_centers_).fit(blobs)
    unfitted = ExShallow(reference=KMeans(5, n_init=3, random_state=0)).fit(blobs)
    assert fitted.tree_ == centers.tree_ == unfitted.tree_
    np.testing.assert_array_equal(fitted.reference_labels_, kmeans.labels_)
    assert fitted.reference_inertia_ == pytest.approx(kmeans.inertia_)
    labels = ExShallow().fit(blobs, kmeans.labels_)
    np.testing.assert_allclose(labels.reference_centers_, kmeans.cluster_centers_)
    with pytest.raises(ValueError, match="n_clusters=3, but the reference has 5 clusters"):
        ExShallow(3, reference=kmeans).fit(blobs)


def test_an_estimator_that_was_given_is_not_changed(blobs):
    kmeans = KMeans(3, n_init=1, random_state=0)
    IMM(reference=kmeans).fit(blobs)
    assert not hasattr(kmeans, "cluster_centers_")


def test_labels_made_on_other_features_are_explained_on_these(blobs):
    scores = PCA(2, random_state=0).fit_transform(blobs)
    kmeans = KMeans(4, n_init=3, random_state=0).fit(scores)
    model = IMM(reference=kmeans).fit(blobs)  # its centers have another width: its labels serve
    np.testing.assert_array_equal(model.reference_labels_, kmeans.labels_)
    means = [blobs[kmeans.labels_ == c].mean(axis=0) for c in range(4)]
    np.testing.assert_allclose(model.reference_centers_, means)
    pipeline = make_pipeline(StandardScaler(), KMeans(4, n_init=3, random_state=0))
    assert IMM(reference=pipeline).fit(blobs).n_leaves_ == 4
    hierarchy = AgglomerativeClustering(4)
    np.testing.assert_array_equal(
        IMM(reference=hierarchy).fit(blobs).reference_labels_, hierarchy.fit_predict(blobs)
    )


@each_method
def test_labels_keep_their_names(method, blobs):
    kmeans = KMeans(3, n_init=3, random_state=0).fit(blobs)
    names = np.array(["bronze", "gold", "silver"])[kmeans.labels_]
    model = method().fit(blobs, names)
    assert model.cluster_names_.tolist() == ["bronze", "gold", "silver"]
    assert set(model.predict(blobs)) <= {"bronze", "gold", "silver"}
    assert "cluster gold: " in str(model.explain())
    gaps = np.array([2, 5, 40])[kmeans.labels_]
    numbered = method().fit(blobs, gaps)
    assert set(numbered.labels_.tolist()) == {2, 5, 40}
    assert numbered.tree_ == model.tree_
    assert method().fit(blobs, gaps.astype(float)).labels_.dtype.kind == "i"
    assert method().fit(blobs, pl.Series(names)).tree_ == model.tree_
    assert method().fit(blobs, list(names)).tree_ == model.tree_


def test_noise_is_a_group_or_left_out():
    X, _ = make_blobs(200, 2, centers=[[0, 0], [10, 10]], cluster_std=0.5, random_state=0)
    X = np.vstack([X, [[5.0, 5.0], [5.2, 4.8], [4.9, 5.3]]])
    labels = DBSCAN(eps=1.0, min_samples=5).fit(X).labels_
    assert set(labels.tolist()) == {-1, 0, 1}
    grouped = IMM(reference=DBSCAN(eps=1.0, min_samples=5)).fit(X)
    assert set(grouped.labels_.tolist()) == {-1, 0, 1}
    np.testing.assert_array_equal(grouped.labels_, labels)
    dropped = IMM(noise="drop").fit(X, labels)
    assert set(dropped.labels_.tolist()) == {0, 1}
    np.testing.assert_array_equal(dropped.reference_labels_, labels)
    assert dropped.tree_.n_node_samples[0] == 200
    assert [rule.purity for rule in dropped.rules_] == [1.0, 1.0]
    with pytest.raises(ValueError, match="every label of y is noise"):
        IMM(noise="drop").fit(X, np.full(len(X), -1))


def test_wrong_references_say_what_is_expected(blobs):
    cases = [
        (np.zeros((3, 4)), "reference centers have 4 columns, but X has 5"),
        (np.zeros((400, 1)), "columns, but X has 5; pass labels to fit as y"),
        (np.zeros(400, int), r"a 1-D array of length 400; pass labels.* fit\(X, y\)"),
        (["a", "b"], r"a 1-D array of length 2; pass labels.* fit\(X, y\)"),
        (np.full((2, 5), np.nan), "center 0 is not a finite number in column 0"),
        (np.zeros((2, 2, 2)), "must be an estimator or an array of centers"),
        (AgglomerativeClustering(2).fit(blobs[:50]), "neither centers .* nor labels"),
    ]
    for reference, message in cases:
        with pytest.raises(ValueError, match=message):
            IMM(reference=reference).fit(blobs)
    with pytest.raises(ValueError, match="'reference' parameter of IMM must be"):
        IMM(reference="kmeans").fit(blobs)


def test_wrong_labels_say_what_is_expected(blobs):
    cases = [
        (np.zeros(7, int), "y has 7 labels, but X has 400 rows; pass one label per row"),
        (np.zeros((400, 2)), r"y has shape \(400, 2\); it must hold one label per row"),
        (np.linspace(0, 1, 400), r"y must hold labels \(integers or strings\), not fractions"),
        (np.r_[np.nan, np.zeros(399)], "y contains NaN or infinity, first at row 0"),
        (["a"] * 399 + [None], "y has no label at row 399"),
    ]
    for y, message in cases:
        with pytest.raises(ValueError, match=message):
            IMM().fit(blobs, y)
    with pytest.raises(ValueError, match="two clusterings to explain were given"):
        IMM(reference=KMeans(2)).fit(blobs, np.arange(400) % 2)


@each_method
def test_labels_decide_the_number_of_clusters(method, blobs):
    labels = KMeans(3, n_init=3, random_state=0).fit(blobs).labels_
    expected = method().fit(blobs, labels)
    assert len(expected.cluster_names_) == 3
    assert method(7).fit(blobs, labels).tree_ == expected.tree_
    np.testing.assert_array_equal(method().fit_predict(blobs, labels), expected.labels_)


def test_parameters_are_checked(blobs):
    for model in (
        IMM(0),
        IMM(2, threshold_style="pretty"),
        ExShallow(2, depth_penalty=-1),
        ExKMC(2, base="cart"),
        ExKMC(2, n_leaves=0),
        IMM(2, noise="ignore"),
    ):
        with pytest.raises(ValueError, match="parameter of .* must be"):
            model.fit(blobs)
    with pytest.raises(ValueError, match="n_jobs=0 asks for no thread"):
        IMM(2, n_jobs=0).fit(blobs)


def test_verbose_reports_each_cut(blobs, capsys):
    ExKMC(3, n_leaves=5, random_state=0, verbose=1).fit(blobs)
    assert capsys.readouterr().err.splitlines()[-1] == "ExKMC: splits: 4 of 4"
    IMM(3, random_state=0).fit(blobs)
    assert capsys.readouterr().err == ""


def test_columns_of_any_numeric_type_give_the_same_tree():
    numbers = np.random.default_rng(0).integers(0, 9, 40)
    other = np.random.default_rng(1).normal(size=40)
    expected = IMM(3, random_state=0).fit(np.column_stack([numbers, other])).labels_
    columns = [
        pd.array(numbers, dtype="Int64"),
        pd.Series(numbers).astype("int64[pyarrow]"),
        numbers.astype(object),
        [Decimal(int(value)) for value in numbers],
        pd.arrays.SparseArray(numbers.astype(float)),
    ]
    for column in columns:
        found = IMM(3, random_state=0).fit(pd.DataFrame({"a": column, "b": other}))
        np.testing.assert_array_equal(found.labels_, expected)


@pytest.mark.parametrize(
    ("column", "remedy"),
    [
        (pd.Categorical(["a", "b", "a"]), "encode it first"),
        (pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"]), "the days since"),
        (pd.to_timedelta([1, 2, 3], unit="D"), "the days since"),
        (np.array(["1", 2, 3], dtype=object), "encode it first"),
        (np.array([[], 2, 3], dtype=object), "encode it first"),
    ],
    ids=["category", "date", "duration", "text", "list"],
)
def test_other_columns_are_named_with_a_remedy(column, remedy):
    message = f"column 'b' is not numeric .*{remedy}.* pellucid.explain"
    with pytest.raises(ValueError, match=message):
        IMM(2).fit(pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": column}))


def test_sample_weight_is_routed_and_transform_has_the_output_that_is_set():
    X, weight = np.arange(12.0).reshape(6, 2) ** 2, np.arange(1, 7)
    with sklearn.config_context(enable_metadata_routing=True):
        steps = StandardScaler().set_fit_request(sample_weight=False), IMM(2, random_state=0)
        steps[1].set_fit_request(sample_weight=True)
        pipeline = make_pipeline(*steps).fit(X, sample_weight=weight)
    assert pipeline[-1].tree_.weighted_n_node_samples[0] == weight.sum()
    found = pipeline[-1].set_output(transform="pandas").transform(X)
    assert found.columns.tolist() == ["imm0", "imm1"]


def test_rows_of_csr_input_are_not_copied(blobs):
    rows = sparse.csr_matrix(np.where(np.abs(blobs) < 4, 0.0, blobs))
    shared = rows_without_copy(rows, canonical_csc(rows))
    assert np.shares_memory(shared.data, rows.data)
    assert np.shares_memory(shared.indices, rows.indices)
    unsorted = sparse.csr_array(rows[:, ::-1])
    locked = rows.copy()
    locked.data.setflags(write=False)
    for other in (rows.tocsc(), unsorted, locked, rows.toarray(), rows.astype(np.int64)):
        assert rows_without_copy(other, canonical_csc(rows)) is None
