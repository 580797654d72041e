"""Pipelines told in the units and categories of their data."""

from itertools import product

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

from _support.extended import EXTENDED, examples
from pellucid import (
    IMM,
    ExKMC,
    ExplainableKMeans,
    ExShallow,
    explain_pipeline,
    export_text,
    from_json,
)
from pellucid.tables.encoding import Indicator

WINE = load_wine(as_frame=True).data
LABELS = np.arange(len(WINE)) % 4

MAPS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    MinMaxScaler(),
    MinMaxScaler((-3, 5), clip=True),
    MaxAbsScaler(),
    RobustScaler(),
    PowerTransformer(),
    PowerTransformer(method="box-cox"),
    QuantileTransformer(n_quantiles=40),
    FunctionTransformer(np.log),
    FunctionTransformer(np.sqrt),
    FunctionTransformer(np.negative),
    FunctionTransformer(),
    make_pipeline(FunctionTransformer(np.log1p), StandardScaler(), MinMaxScaler()),
    make_pipeline(RobustScaler(), FunctionTransformer(np.negative), StandardScaler()),
    VarianceThreshold(0.3),
    FeatureUnion([("a", StandardScaler()), ("b", "passthrough"), ("c", VarianceThreshold(1.0))]),
    "passthrough",
]


def fitted(*steps, X=WINE, y=LABELS, n_leaves=15, **options):
    model = ExKMC(n_leaves=n_leaves, **options)
    return Pipeline([(f"s{i}", s) for i, s in enumerate([*steps, model])]).fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("step", MAPS, ids=repr)
@pytest.mark.parametrize("style", ["round", "data"])
def test_training_rows_keep_their_clusters(step, style):
    pipeline = fitted(step, threshold_style=style)
    explanation = explain_pipeline(pipeline, WINE)
    np.testing.assert_array_equal(explanation.predict(WINE), pipeline[-1].labels_)
    assert explanation.feature_names_in_.tolist() == WINE.columns.tolist()
    assert sorted(r.n_samples for r in explanation._leaf_rules) == sorted(
        r.n_samples for r in pipeline[-1]._leaf_rules
    )
    for old, new in zip(pipeline[-1].rules_, explanation.rules_):
        assert (old.n_samples, old.purity) == (new.n_samples, pytest.approx(new.purity))
    counts = np.unique(explanation.apply(WINE), return_counts=True)
    assert dict(zip(*counts)) == {r.leaf: r.n_samples for r in explanation._leaf_rules}


@pytest.mark.slow
@pytest.mark.parametrize("step", MAPS, ids=repr)
def test_without_data_thresholds_are_exact_images(step):
    pipeline = fitted(step)
    explanation = explain_pipeline(pipeline)
    np.testing.assert_array_equal(explanation.predict(WINE), pipeline[-1].labels_)
    tree = explanation.tree_
    rows = np.repeat(WINE.to_numpy()[::20], 3 * tree.node_count, axis=0)
    places = np.arange(len(rows)) % (3 * tree.node_count)
    for node in np.flatnonzero(~tree.is_leaf):
        at = tree.threshold[node]
        for i, value in enumerate((at, np.nextafter(at, np.inf), np.nextafter(at, -np.inf))):
            rows[places == 3 * node + i, tree.feature[node]] = value
    rows = pd.DataFrame(rows, columns=WINE.columns)
    rows = rows[(rows > 0).all(axis=1)]
    np.testing.assert_array_equal(explanation.predict(rows), pipeline.predict(rows))


@given(
    st.lists(st.floats(-1e9, 1e9), min_size=4, max_size=40, unique=True),
    st.sampled_from(MAPS[:6] + MAPS[11:13]),
)
@settings(max_examples=examples(25), deadline=None)
def test_any_column(values, step):
    X = np.array(values)[:, None]
    pipeline = fitted(step, X=X, y=np.arange(len(X)) % 3, n_leaves=8)
    expected = pipeline.predict(X)
    np.testing.assert_array_equal(explain_pipeline(pipeline, X).predict(X), expected)
    np.testing.assert_array_equal(explain_pipeline(pipeline).predict(X), expected)


def test_single_precision():
    X = WINE.astype(np.float32)
    pipeline = fitted(StandardScaler(), X=X)
    np.testing.assert_array_equal(explain_pipeline(pipeline, X).predict(X), pipeline.predict(X))


def test_thresholds_are_round_in_the_units_of_the_data():
    pipeline = make_pipeline(StandardScaler(), ExShallow(3, random_state=0)).fit(WINE)
    text = export_text(explain_pipeline(pipeline, WINE))
    assert max(len(part) for part in text.replace("\n", " ").split() if part[0].isdigit()) <= 5
    assert "proline" in text


def mixed(n_rows=400, holes=True):
    """A table with words, numbers that are categories, skewed amounts and missing values."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "region": rng.choice(["North", "South", "o'East", "West"], n_rows),
            "amount": np.exp(rng.normal(5, 2, n_rows)),
            "age": rng.integers(18, 90, n_rows).astype(float),
            "zip": rng.choice([1010, 2020, 3030], n_rows),
            "member": rng.choice([True, False], n_rows),
            "note": "x",
        }
    )
    if holes:
        table.loc[rng.random(n_rows) < 0.1, "age"] = np.nan
        table.loc[rng.random(n_rows) < 0.1, "region"] = None
    group = 1 * (table["region"] == "North") + 2 * (table["zip"] == 2020)
    group += 4 * table["member"] + 8 * (table["age"].fillna(40) > 50)
    return table, group.to_numpy()


def mixed_pipeline(**encoder):
    words = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="unknown"),
        OneHotEncoder(sparse_output=False, **encoder),
    )
    columns = ColumnTransformer(
        [
            ("codes", OneHotEncoder(sparse_output=False, **encoder), ["zip", "member"]),
            ("age", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), ["age"]),
            ("amount", FunctionTransformer(np.log), ["amount"]),
            ("words", words, ["region"]),
        ]
    )
    model = ExKMC(n_leaves=40)
    return Pipeline([("columns", columns), ("scale", StandardScaler()), ("model", model)])


ENCODERS = [{}, {"drop": "first"}, {"drop": "if_binary"}]
OUTPUTS = ["default", "pandas", "polars"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoder", "output"),
    product(ENCODERS, OUTPUTS) if EXTENDED else zip(ENCODERS, OUTPUTS),
    ids=str,
)
def test_numbers_and_categories_side_by_side(output, encoder):
    table, group = mixed()
    pipeline = mixed_pipeline(**encoder)
    pipeline[:-1].set_output(transform=output)
    pipeline.fit(table, group)
    explanation = explain_pipeline(pipeline, table)
    expected = pipeline.predict(table)
    np.testing.assert_array_equal(explanation.predict(table), expected)
    np.testing.assert_array_equal(explain_pipeline(pipeline).predict(table), expected)
    assert explanation.feature_names_in_.tolist() == table.columns.tolist()
    assert explanation.fill_["age"] == table["age"].median()
    text = str(explanation.explain())
    assert "region is" in text
    assert "age > " in text
    assert from_json(explanation.to_json()) == explanation
    plain = table.astype(object).where(table.notna(), None)
    np.testing.assert_array_equal(explanation.predict(pl.from_pandas(table)), expected)
    space = {}
    exec(explanation.to_python(), space)
    assert [space["cluster_of"](row) for row in plain.to_dict("records")] == expected.tolist()
    with duckdb.connect() as database:
        database.register("given_rows", table)
        query = explanation.to_sql(dialect="duckdb", table="given_rows")
        assert [row[-1] for row in database.execute(query).fetchall()] == expected.tolist()
    assert "missing values are replaced: " in explanation.to_html()


@pytest.mark.slow
def test_the_same_in_onnx():
    onnxruntime = pytest.importorskip("onnxruntime")

    table, group = mixed()
    table = table.assign(region=table["region"].fillna("unknown"))
    pipeline = mixed_pipeline().fit(table, group)
    for dtype in ("float64", "float32"):
        model = explain_pipeline(pipeline, table).to_onnx(table, dtype=dtype)
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        kinds = {"region": object, "zip": np.int64, "member": np.int64}
        feeds = {
            i.name: table[[i.name]].to_numpy(kinds.get(i.name, dtype)) for i in model.graph.input
        }
        assert "age" in feeds
        found = session.run(None, feeds)[0]
        np.testing.assert_array_equal(found, pipeline.predict(table))
    half = make_column_transformer(
        (StandardScaler(), ["amount"]), (OneHotEncoder(sparse_output=False), ["region"])
    )
    pipeline = fitted(half, X=table, y=(table["amount"] > 100).to_numpy(), n_leaves=2)
    model = explain_pipeline(pipeline, table).to_onnx()
    assert [i.name for i in model.graph.input] == ["amount"]
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    found = session.run(None, {"amount": table[["amount"]].to_numpy()})[0]
    np.testing.assert_array_equal(found, pipeline.predict(table))
    numbers = table[["age", "amount"]]
    steps = make_pipeline(SimpleImputer(), StandardScaler())
    pipeline = fitted(steps, X=numbers, y=group, n_leaves=20)
    model = explain_pipeline(pipeline, numbers).to_onnx()
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    found = session.run(None, {"X": numbers.to_numpy()})[0]
    np.testing.assert_array_equal(found, pipeline.predict(numbers))


def test_columns_chosen_by_kind_with_the_rest_passed_on_and_sparse():
    table, group = mixed(holes=False)
    table = table.drop(columns="note")
    columns = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_exclude="number")),
        (MinMaxScaler(), ["amount"]),
        remainder="passthrough",
        sparse_threshold=1.0,
    )
    pipeline = fitted(columns, X=table, y=group, n_leaves=30)
    assert sparse.issparse(pipeline[0].transform(table))
    explanation = explain_pipeline(pipeline, table)
    np.testing.assert_array_equal(explanation.predict(table), pipeline.predict(table))
    assert Indicator("region", "North") in explanation.tree_columns_
    assert not any(
        isinstance(name, Indicator) for name in explanation.tree_columns_ if "zip" in str(name)
    )


def test_arrays_without_names_and_sparse_data():
    X = np.where(WINE.to_numpy() < 2, 0.0, WINE.to_numpy())
    for rows in (X, sparse.csr_array(X)):
        pipeline = fitted(MaxAbsScaler(), X=rows)
        explanation = explain_pipeline(pipeline, rows)
        np.testing.assert_array_equal(explanation.predict(X), pipeline.predict(rows))
        assert explanation.tree_columns_[3] == "x3"


def test_rare_and_unknown_categories():
    table, _ = mixed(holes=False)
    table.loc[:3, "region"] = ["a", "b", "c", "d"]
    encoder = OneHotEncoder(min_frequency=10, handle_unknown="infrequent_if_exist")
    reference = 1 * (table["region"] == "North") + 2 * (table["region"] == "West")
    chosen = table[["region"]]
    pipeline = fitted(encoder, X=chosen, y=reference.to_numpy(), n_leaves=3)
    explanation = explain_pipeline(pipeline, chosen)
    np.testing.assert_array_equal(explanation.predict(chosen), pipeline.predict(chosen))
    new = pd.DataFrame({"region": ["Mars", None, "North"]})
    np.testing.assert_array_equal(explanation.predict(new)[[0, 2]], pipeline.predict(new)[[0, 2]])
    rare = np.isin(table["region"], ["a", "b", "c", "d"]).astype(int)
    pipeline = fitted(encoder, X=chosen, y=rare, n_leaves=2)
    with pytest.raises(
        ValueError, match="OneHotEncoder groups infrequent categories in one column"
    ):
        explain_pipeline(pipeline)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([StandardScaler(), PCA(3)], "PCA cannot be undone column by column"),
        ([FunctionTransformer(np.abs)], "FunctionTransformer cannot be undone"),
        ([KBinsDiscretizer(3, strategy="uniform")], "KBinsDiscretizer cannot"),
        ([StandardScaler(), SimpleImputer()], "comes after a scaler or an encoder: put it first"),
        ([SimpleImputer(missing_values=0.0)], r"SimpleImputer\(missing_values=0.0\) replaces v"),
        ([Binarizer(threshold=10), OneHotEncoder()], "OneHotEncoder comes after a transformer th"),
    ],
)
def test_what_mixes_columns_is_refused(steps, message):
    pipeline = fitted(*steps)
    with pytest.raises(ValueError, match=message) as error:
        explain_pipeline(pipeline)
    assert str(error.value).endswith("pass them: explain_pipeline(pipeline, X)")


def cost_in(space, labels):
    """Sum of squares about the means of the clusters."""
    parts = [space[labels == cluster] for cluster in np.unique(labels)]
    return sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts)


def test_clusters_behind_pca_by_the_columns_of_the_data():
    """Thresholds on the columns, costs of the components; any clustering, any number of leaves."""
    fast = ExplainableKMeans(effort="fast")
    for last in (KMeans(3, n_init=10, random_state=0), IMM(3, random_state=0)):
        pipeline = make_pipeline(make_pipeline(StandardScaler(), PCA(5)), last).fit(WINE)
        explanation = explain_pipeline(pipeline, WINE, tree=fast)
        assert explanation.tree_columns_ == list(WINE.columns)
        assert explanation.tree_.n_leaves == 3
        clusters, space = pipeline.predict(WINE), pipeline[:-1].transform(WINE)
        found = explanation.predict(WINE)
        cart = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(WINE, clusters)
        assert cost_in(space, found) <= cost_in(space, cart.apply(WINE)) * (1 + 1e-9)
        assert (found == clusters).mean() > 0.9
        np.testing.assert_array_equal(from_json(explanation.to_json()).predict(WINE), found)
    six = explain_pipeline(pipeline, WINE, tree=ExplainableKMeans(n_leaves=6, effort="fast"))
    assert six.tree_.n_leaves == 6
    assert cost_in(space, six.predict(WINE)) < cost_in(space, found)


def test_what_comes_before_the_step_that_mixes_columns_is_restated():
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {"size": random.lognormal(size=200), "kind": np.array(["a", "b"])[np.arange(200) % 2]}
    )
    table.loc[::9, "size"] = np.nan
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["size"]),
        (OneHotEncoder(sparse_output=False), ["kind"]),
    )
    pipeline = make_pipeline(columns, PCA(2), KMeans(4, n_init=3, random_state=0)).fit(table)
    explanation = explain_pipeline(pipeline, table)
    text = str(explanation.rules_)
    assert "kind is a" in text
    assert "size ≤" in text
    assert explanation.fill_ == {"size": pytest.approx(table["size"].mean())}
    assert (explanation.predict(table) == pipeline.predict(table)).mean() > 0.95


def test_noise_of_a_clustering_is_background():
    pipeline = make_pipeline(StandardScaler(), PCA(2), HDBSCAN(min_cluster_size=10, copy=True))
    pipeline.fit(WINE)
    explanation = explain_pipeline(pipeline, WINE)
    assert -1 not in explanation.cluster_names_.tolist()
    with pytest.raises(ValueError, match="X has 100 rows, but HDBSCAN has labels of 178"):
        explain_pipeline(pipeline, WINE[:100])


def test_what_no_tree_can_be_fitted_to():
    kmeans = KMeans(3, n_init=1, random_state=0)
    pipeline = make_pipeline(StandardScaler(), PCA(2), kmeans).fit(WINE)
    with pytest.raises(ValueError, match="KMeans has no threshold tree; pass the data"):
        explain_pipeline(pipeline)
    with pytest.raises(TypeError, match="tree must be an ExplainableKMeans, not IMM"):
        explain_pipeline(pipeline, WINE, tree=IMM())
    words = [f"{'red' if i % 2 else 'blue'} {i}" for i in range(30)]
    pipeline = make_pipeline(CountVectorizer(), TruncatedSVD(2, random_state=0), kmeans).fit(words)
    with pytest.raises(ValueError, match="CountVectorizer does not start from the columns of a t"):
        explain_pipeline(pipeline, words)


def test_what_is_mixed_does_not_matter_where_it_is_not_asked_about():
    columns = ColumnTransformer(
        [("mixed", PCA(2), ["ash", "hue"]), ("scaled", StandardScaler(), ["proline"])]
    )
    X = WINE.assign(ash=1.0, hue=1.0)
    pipeline = fitted(columns, X=X)
    explanation = explain_pipeline(pipeline, X)
    np.testing.assert_array_equal(explanation.predict(X), pipeline.predict(X))


def test_one_column_used_twice():
    columns = ColumnTransformer(
        [("a", StandardScaler(), ["proline", "hue"]), ("b", FunctionTransformer(np.log), ["hue"])]
    )
    pipeline = fitted(columns)
    explanation = explain_pipeline(pipeline, WINE)
    assert explanation.tree_columns_ == ["proline", "hue"]
    np.testing.assert_array_equal(explanation.predict(WINE), pipeline.predict(WINE))
    fills = ColumnTransformer(
        [("a", SimpleImputer(strategy="mean"), ["hue"]), ("b", SimpleImputer(), ["hue", "ash"])]
    )
    fills.set_params(b__strategy="constant", b__fill_value=3.0)
    pipeline = fitted(fills)
    if len(np.unique(pipeline[-1].tree_.feature)) == 4:
        with pytest.raises(ValueError, match="missing values of column 'hue' are replaced by"):
            explain_pipeline(pipeline)


def test_only_pipelines_that_end_in_a_tree():
    with pytest.raises(TypeError, match="takes a fitted Pipeline, not ExKMC; for an estimator"):
        explain_pipeline(ExKMC(3))
    with pytest.raises(TypeError, match="the last step of the pipeline is PCA, which has no thr"):
        explain_pipeline(make_pipeline(StandardScaler(), PCA(2)).fit(WINE))
    with pytest.raises(Exception, match="not fitted"):
        explain_pipeline(make_pipeline(StandardScaler(), ExKMC(3)))


@pytest.mark.slow
@pytest.mark.parametrize("with_table", [True, False])
def test_an_imputer_that_leaves_none_makes_it_a_category(with_table):
    random = np.random.default_rng(0)
    words = pd.Series(random.choice(["a", "b", None], 300), dtype=object)
    numbers = words.map({"a": 0.0, "b": 4.0}).fillna(9.0).astype(float) + random.normal(size=300)
    table = pd.DataFrame({"word": words, "number": numbers})
    imputer = SimpleImputer(strategy="constant", fill_value="unknown")
    encode = make_column_transformer(
        (make_pipeline(imputer, OneHotEncoder()), ["word"]), (StandardScaler(), ["number"])
    )
    pipeline = make_pipeline(encode, ExplainableKMeans(3, effort="fast", random_state=0)).fit(table)
    explanation = explain_pipeline(pipeline, table if with_table else None)
    assert np.array_equal(explanation.predict(table), pipeline.predict(table))


def test_two_kinds_of_missing_values_behind_an_imputer_are_refused():
    words = pd.Series(["a"] * 50 + ["b"] * 50 + [None] * 50 + [np.nan] * 50, dtype=object)
    imputer = SimpleImputer(strategy="constant", fill_value="unknown")
    pipeline = make_pipeline(
        make_column_transformer((make_pipeline(imputer, OneHotEncoder()), ["word"])),
        ExplainableKMeans(4, effort="fast", random_state=0),
    ).fit(pd.DataFrame({"word": words}))
    with pytest.raises(ValueError, match="use one of them for missing values"):
        explain_pipeline(pipeline)
