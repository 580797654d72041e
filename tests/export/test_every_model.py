"""Every estimator with a tree exports, XClusters with its categories too."""

import inspect
import warnings

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import pellucid
from pellucid import IMM, EOPClassifier, Explanation, XClusters, explain_clusters, export, from_json
from pellucid.baselines import CUBT, CARTExplainer, CLTree, KDTreeExplainer
from pellucid.explanation.mixins import (
    EstimatorExportMixin,
    ExportMixin,
    RegionExportMixin,
    RuleSetMixin,
)
from pellucid.explanation.region_list import RegionList

TREES = [
    thing
    for name in pellucid.__all__
    if inspect.isclass(thing := getattr(pellucid, name)) and issubclass(thing, EstimatorExportMixin)
]


def in_duckdb(model, table):
    with duckdb.connect() as database:
        database.register("given_rows", table)
        query = model.to_sql(dialect="duckdb", table="given_rows")
        return [row[-1] for row in database.execute(query).fetchall()]


def in_python(model, table):
    space = {}
    exec(model.to_python(), space)
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    return [space["cluster_of"](row) for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*TREES, CARTExplainer, CLTree, CUBT, KDTreeExplainer])
def test_all_say_the_same(kind):
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [6.0, 1.0], [3.0, 7.0]])
    X = centers[np.arange(90) % 3] + rng.normal(size=(90, 2))
    table = pd.DataFrame(X.round(2), columns=["a b", "c"])
    if kind is XClusters:
        model = XClusters("c", "a b", k_range=(2, 4), accuracy_distance="euclidean")
    else:
        model = kind(3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(table)
    expected = model.predict(table).tolist()
    assert from_json(model.to_json()).predict(table).tolist() == expected
    assert in_duckdb(model, table) == in_python(model, table) == expected
    classifier = model.to_sklearn(table)
    assert classifier.predict(table[classifier.feature_names_in_]).tolist() == expected
    assert model._repr_html_().startswith('<div class="pellucid">')


def test_categories_of_xclusters():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "district": rng.choice(["Gangnam", "Mapo", "it's"], 120),
            "age": rng.integers(20, 80, 120),
            "visits": rng.normal(size=120),
        }
    )
    table["visits"] += 10 * (table["district"] == "Gangnam") + 30 * (table["age"] > 50)
    model = XClusters("visits", ["district", "age"], k_range=(4, 6), accuracy_distance="euclidean")
    model.fit(table)
    expected = model.predict(table)
    explanation = Explanation.of(model)
    assert explanation.feature_names_in_.tolist() == table.columns.tolist()
    np.testing.assert_array_equal(explanation.predict(table), expected)
    np.testing.assert_array_equal(explanation.predict(table.to_numpy(object)), expected)
    assert in_duckdb(model, table) == in_python(model, table) == expected.tolist()
    assert "\"district\" = 'Gangnam'" in model.to_sql()
    assert "district is Gangnam" in model.to_html()


def methods_of(mixin):
    return [name for name in export.__all__ if name.startswith("to_") and hasattr(mixin, name)]


def test_functions_are_methods():
    every = [name for name in export.__all__ if name.startswith("to_")]
    assert methods_of(ExportMixin) == [name for name in every if name != "to_sql_columns"]
    assert methods_of(RegionExportMixin) == [
        "to_dict",
        "to_dmn",
        "to_frame",
        "to_json",
        "to_python",
        "to_sql",
    ]
    assert methods_of(RuleSetMixin) == [*methods_of(RegionExportMixin), "to_sql_columns"]
    for mixin in (ExportMixin, RegionExportMixin, RuleSetMixin):
        for name in methods_of(mixin):
            assert getattr(mixin, name) is getattr(export, name)
    model = IMM(2, random_state=0).fit([[0.0], [1.0], [9.0]])
    taken = inspect.signature(model.to_sql).parameters
    assert list(taken) == ["dialect", "table", "column", "feature_names"]
    assert model.to_sql.__doc__ == export.to_sql.__doc__


def test_functions_take_what_explain_returns():
    table = pd.DataFrame({"size": [*range(20), *range(100, 120)], "kind": ["a", "b"] * 20})
    found = pellucid.explain(table, k=2, effort="fast", verbose=False)
    assert export.to_sql(found) == found.to_sql() == found.explanation.to_sql()
    assert export.to_mermaid(found) == found.explanation.to_mermaid()
    assert in_python(found, table) == found.predict(table).tolist()
    texts = [text.get_text() for text in pellucid.plot_tree(found).texts]
    assert texts == [text.get_text() for text in found.plot().texts]


def test_a_model_without_a_tree_is_an_error():
    X, y = [[0.0]] * 20 + [[9.0]] * 20, ["a"] * 20 + ["b"] * 20
    with pytest.raises(TypeError, match="RuleSet has no tree"):
        export.to_html(pellucid.RuleSet().fit(X, y))
    with pytest.raises(NotFittedError):
        export.to_html(IMM())


def test_functions_take_regions():
    X, y = [[0.0]] * 20 + [[9.0]] * 20, ["a"] * 20 + ["b"] * 20
    model = EOPClassifier("stump", random_state=0, calibration=0, min_support=0).fit(X, y)
    for regions in (model, RegionList.of(model), explain_clusters(X, y)):
        for name in methods_of(RegionExportMixin):
            options = {"kind": "dict"} if name == "to_frame" else {}
            found = getattr(export, name)(regions, **options)
            np.testing.assert_equal(found, getattr(regions, name)(**options))
        with pytest.raises(TypeError, match="feature_names is for trees"):
            export.to_sql(regions, feature_names=["x"])
    assert export.to_sql(model) != export.to_sql(IMM().fit(X, y))


def test_a_label_of_regions_that_utf8_lacks():
    X, y = [[0.0]] * 20 + [[9.0]] * 20, ["a"] * 20 + ["b"] * 20
    model = EOPClassifier("stump", random_state=0, calibration=0, min_support=0).fit(X, y)
    regions = RegionList.of(model).rename_clusters({"a": "\ud800"})
    assert from_json(regions.to_json().encode()).to_dict() == regions.to_dict()
