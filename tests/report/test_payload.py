"""What goes into a report: right counts, few rows, the same bytes."""

from __future__ import annotations

import dataclasses
import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs

from _support.extended import examples
from pellucid import IMM, ExKMC, Explanation, ExShallow
from pellucid.plotting.axis_ranges import N_BINS
from pellucid.plotting.profile import standardized_differences
from pellucid.report import report_html, write_report
from pellucid.report.columns import NumberColumn, Profile
from pellucid.report.page import PageOptions
from pellucid.report.writing import ReportOptions
from pellucid.tables.encoding import Indicator
from pellucid.tree import TreeBuilder


def payload(model, X, **options):
    html = report_html(model, X, **options)
    text = re.search(r'<script type="application/json" id="payload">(.*?)</script>', html, re.S)
    return json.loads(text.group(1))


@pytest.fixture(scope="module")
def iris():
    return load_iris(as_frame=True).data


@pytest.fixture(scope="module")
def model(iris):
    return ExShallow(4, random_state=0).fit(iris)


def test_the_same_model_gives_the_same_bytes(model, iris, tmp_path):
    one = write_report(tmp_path / "one.html", model, iris).read_bytes()
    assert one == model.report(tmp_path / "two.html", iris).read_bytes()


def test_clusters_with_numbers_are_described_by_named_columns(model, iris):
    def described(*arguments, **options):
        return [cluster["suggested"] for cluster in payload(*arguments, **options)["clusters"]]

    names = described(model, iris)
    assert len(set(names)) == 4
    assert all("petal" in name or "sepal" in name for name in names)
    assert described(model, iris, cluster_names={0: "small"})[1] is None
    numbers = iris.to_numpy()
    assert described(ExShallow(4, random_state=0).fit(numbers), numbers) == [None] * 4
    gold = ExShallow().fit(iris, np.array(["gold", "silver"])[(model.labels_ > 1).astype(int)])
    assert described(gold, iris) == [None] * 2


def test_counts_are_those_of_the_rows(model, iris):
    data = payload(model, iris)
    tree = data["trees"][data["own"]]
    assert [n["rows"] for n in tree["nodes"]] == model.tree_.n_node_samples.tolist()
    labels = model.predict(iris)
    for position, facts in enumerate(tree["clusters"]):
        here = iris[labels == position]
        assert facts["rows"] == len(here)
        for column, counts, means in zip(data["columns"], facts["counts"], facts["means"]):
            values = here[column["name"]].to_numpy()
            edges = [-np.inf, *column["edges"][1:-1], np.inf]
            counted = [((a <= values) & (values < b)).sum() for a, b in zip(edges, edges[1:])]
            assert counts == counted
            assert means[0] == pytest.approx(values.mean(), rel=1e-5)


def test_measures_are_those_of_the_model(model, iris):
    data = payload(model, iris)
    measures = data["trees"][data["own"]]["measures"]
    ratio = model.inertia_ / model.reference_inertia_
    assert measures["costRatio"] == pytest.approx(ratio, rel=1e-5)
    agreement = np.mean(model.labels_ == model.reference_labels_)
    assert measures["agreement"] == pytest.approx(agreement, rel=1e-5)
    assert data["reference"] == "k-means"


def test_other_rows_than_those_of_fit_are_counted(model, iris):
    data = payload(model, iris.iloc[:60])
    assert data["rows"] == 60 == data["trees"][0]["nodes"][0]["rows"]
    assert len(data["trees"]) == 1  # other trees are of the rows of fit


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 2)), min_size=2, max_size=40))
def test_differences_are_those_of_the_plots(rows):
    values = np.array([v for v, _ in rows]) / 4
    labels = np.array([c for _, c in rows])
    found = Profile(NumberColumn("x", values)).differences(labels, 3)
    wanted = standardized_differences(values[:, None], labels, [0, 1, 2])[:, 0]
    if values.std() > 0:
        np.testing.assert_allclose(found, wanted, atol=1e-9)
    else:
        assert np.nan_to_num(found).tolist() == [0, 0, 0]


@settings(max_examples=examples(30), deadline=None)
@given(
    st.lists(
        st.one_of(st.floats(-1e9, 1e9), st.just(np.nan), st.integers(0, 5)), min_size=1, max_size=30
    )
)
def test_every_number_is_in_one_bin(values):
    values = np.array(values, dtype=float)
    profile = Profile(NumberColumn("x", values))
    assert 1 <= profile.n_bins <= N_BINS
    assert (np.diff(profile.edges) > 0).all()
    counts = profile.counts(np.zeros(len(values), dtype=np.intp), 1)[0]
    assert sum(counts) == np.isfinite(values).sum()


def test_arrays_lists_and_sparse_matrices_are_read_alike(iris):
    X = iris.to_numpy().copy()
    model = IMM(3, random_state=0).fit(X)
    wanted = payload(model, X)
    assert [c["name"] for c in wanted["columns"] if c["asked"]] == ["x2", "x0"]
    assert payload(model, X.tolist()) == wanted
    assert payload(model, sparse.csr_array(X)) == wanted


def test_a_model_without_names_takes_those_of_the_table(iris):
    model = IMM(3, random_state=0).fit(iris.to_numpy())
    asked = [c["name"] for c in payload(model, iris)["columns"] if c["asked"]]
    assert asked == ["petal length (cm)", "sepal length (cm)"]


def test_categories_are_counted_and_filled():
    builder = TreeBuilder(n_features=3)
    left, right = builder.split(0, feature=1, threshold=0.5)
    builder.set_cluster(left, 0)
    low, high = builder.split(right, feature=0, threshold=5.0)
    builder.set_cluster(low, 1), builder.set_cluster(high, 2)
    names = ["size", Indicator("town", "Aa"), Indicator("town", None)]
    told = Explanation(builder.build(), names=names, clusters=["x", "y", "z"], fill={"size": 9.0})
    table = pd.DataFrame({"size": [1.0, None, 3.0, 8.0], "town": ["Aa", "Aa", None, "Bb"]})
    data = payload(told, table)
    nodes = data["trees"][0]["nodes"]
    town = next(i for i, c in enumerate(data["columns"]) if c["name"] == "town")
    column = data["columns"][town]
    assert column["values"][nodes[0]["value"]] == "Aa"
    assert sorted(column["values"]) == ["Aa", "Bb", "missing"]
    assert [node["rows"] for node in nodes] == [4, 2, 2, 1, 1]
    assert next(c for c in data["columns"] if c["name"] == "size")["fill"] == 9.0
    assert data["trees"][0]["measures"]["agreement"] is None


@pytest.mark.slow
def test_many_rows_make_a_small_file():
    random = np.random.default_rng(0)
    X = random.normal(size=(30_000, 12)) + 9 * random.integers(0, 5, size=(30_000, 1))
    html = report_html(ExShallow(5, random_state=0).fit(X), X)
    data = json.loads(re.search(r'id="payload">(.*?)</script>', html, re.S).group(1))
    assert data["points"]["rows"] == 2000
    # The data set itself would take more than 2.5 MB.
    assert len(html) < 700_000


@pytest.mark.slow
def test_many_leaves_and_long_names_keep_the_file_small():
    random = np.random.default_rng(0)
    names = [f"{i}{'a long name ' * 80}" for i in range(10)]
    X = pd.DataFrame(random.normal(size=(1200, 10)), columns=names)
    # The search for other trees finds none whose agreement is high enough for the page.
    html = report_html(ExKMC(30, n_leaves=60, random_state=0).fit(X), X, trade_off=None)
    assert len(html) < 2_000_000


def test_two_hundred_columns_are_cut_down_to_those_that_tell(iris):
    random = np.random.default_rng(0)
    X = np.column_stack([random.normal(size=(150, 196)), iris])
    data = payload(IMM(3, random_state=0).fit(X), X)
    assert len(data["columns"]) == 16
    assert data["columnsInData"] == 200
    assert {"x196", "x198", "x199"} <= {c["name"] for c in data["columns"]}


def test_rows_can_be_kept_out_of_the_file(model, iris):
    data = payload(model, iris, max_points=0, n_typical=0)
    assert data["points"]["rows"] == 0
    assert all(c["typical"] == [] for tree in data["trees"] for c in tree["clusters"])


def test_end_tags_in_names_end_nothing(iris):
    named = iris.set_axis(["</script>", "<!--", "]]>", "&lt;"], axis=1)
    model = IMM(3, random_state=0).fit(named)
    html = report_html(model, named, title="</title><script>")
    assert html.count("</script>") == 2
    assert html.count("<script") == 2
    assert html.count("<!--") == 0
    assert [c["name"] for c in payload(model, named)["columns"] if c["asked"]] == [
        "]]>",
        "</script>",
    ]


def test_texts_that_are_no_unicode_do_not_stop_it(model, iris, tmp_path):
    path = write_report(tmp_path / "r.html", model, iris, title="half a \ud800 character")
    assert "half a ? character" in path.read_text(encoding="utf-8")


def test_clusters_that_no_row_reaches_are_said_to_be_empty(iris):
    model = ExKMC(4, n_leaves=6, random_state=0).fit(iris)
    only = iris[model.predict(iris) == 0]
    data = payload(model, only)
    assert [c["rows"] for c in data["trees"][0]["clusters"]] == [len(only), 0, 0, 0]


@pytest.mark.slow
def test_forty_clusters_of_fifty_columns_stay_below_a_megabyte():
    X, _ = make_blobs(240, centers=40, n_features=50, random_state=0)
    table = pd.DataFrame(X.round(2)).add_prefix("column ")
    text = report_html(IMM(40, random_state=0).fit(table), table)
    assert len(text.encode()) < 1_000_000


def test_columns_whose_names_are_numbers(model, iris):
    numbered = iris.set_axis(range(2020, 2024), axis=1)
    fitted = ExShallow(4, random_state=0).fit(numbered)
    data = payload(fitted, numbered)
    assert sorted(column["name"] for column in data["columns"]) == ["2020", "2021", "2022", "2023"]
    own = data["trees"][data["own"]]
    assert [n["rows"] for n in own["nodes"]] == model.tree_.n_node_samples.tolist()
    explanation = Explanation.of(fitted, feature_names=["2020", "2021", "2022", "2023"])
    assert (explanation.predict(numbered) == model.predict(iris)).all()


def test_the_typed_options_are_those_of_the_page():
    taken = [field.name for field in dataclasses.fields(PageOptions)]
    assert list(ReportOptions.__annotations__) == taken
