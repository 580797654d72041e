"""JSON: bit for bit there and back, and nothing taken on trust."""

import copy
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_wine

import pellucid
from _support.export_cases import category_model, explanations, format_model, hostile_model
from _support.extended import examples
from pellucid import IMM, ExKMC, Explanation, from_json
from pellucid.export import from_dict, to_dict, to_json
from pellucid.tables.encoding import Indicator


@given(explanations())
@settings(max_examples=examples(60), deadline=None)
def test_every_bit_comes_back(explanation):
    text = to_json(explanation)
    again = from_json(text)
    assert again == explanation
    assert again.tree_.threshold.tobytes() == explanation.tree_.threshold.tobytes()
    assert again.cluster_names_.dtype == explanation.cluster_names_.dtype
    assert to_json(again) == text
    assert from_json(text.encode()) == again == from_dict(json.loads(text))


@pytest.mark.parametrize("labels", [None, ["a", "b"], [7, -3], [2.0, 5.0], [True, False]])
def test_a_model_predicts_and_explains_as_before(labels):
    X, y = load_wine(return_X_y=True, as_frame=True)
    given = None if labels is None else np.array(labels)[y.to_numpy() % 2]
    model = ExKMC(3, n_leaves=7, random_state=0).fit(X, given)
    again = from_json(model.to_json())
    assert again.tree_ == model.tree_
    for rows in (X, X.to_numpy(), X.to_numpy().tolist(), X.to_numpy(np.float32)):
        np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
        np.testing.assert_array_equal(again.apply(rows), model.apply(rows))
    assert again.predict(X).dtype == model.predict(X).dtype
    assert str(again.explain()) == str(model.explain())
    assert tuple(again.explain(X)) == tuple(model.explain(X))
    assert pellucid.export_text(again) == pellucid.export_text(model)
    assert again.rules_[0] == model.rules_[0]


def test_data_without_names_stay_without():
    X = load_digits().data
    model = IMM(10, random_state=0).fit(X)
    document = model.to_dict()
    assert document["columns"] is None
    assert document["n_columns"] == 64
    again = from_json(model.to_json())
    assert not hasattr(again, "feature_names_in_")
    np.testing.assert_array_equal(again.predict(X), model.labels_)


def test_categories_come_back_and_are_read_from_the_table():
    explanation, table, expected = category_model()
    again = from_json(explanation.to_json(indent=2))
    assert again == explanation
    np.testing.assert_array_equal(again.predict(table), expected)
    shuffled = table[["zip", "member", "district", "age"]]
    np.testing.assert_array_equal(again.predict(shuffled), expected)
    np.testing.assert_array_equal(again.predict(table.to_numpy(object)), expected)


def test_texts_of_categories_come_back():
    explanation, _, _ = category_model()
    document = explanation.to_dict()
    assert document["categories"]["zip"] == [0, 1, 2, 3]
    assert document["categories"]["district"][-1] is None
    again = from_dict(document)
    assert [rule.text for rule in again.rules_] == [rule.text for rule in explanation.rules_]
    # Files of earlier versions have no list of categories; two of them know each other.
    del document["categories"]
    for feature in document["features"]:
        if isinstance(feature, dict) and feature["column"] == "member":
            feature["otherwise"] = str(not feature["is"])
    old = from_dict(document)
    assert old.tree_ == explanation.tree_
    assert old.tree_columns_ == explanation.tree_columns_
    (member,) = [n for n in old.tree_columns_ if n == Indicator("member", True)]
    assert member.negation == "member is false"
    assert not any(n.categories for n in old.tree_columns_ if getattr(n, "column", "") == "zip")


def test_formats_and_reading_come_back():
    plain, table = format_model()
    assert not {"categories", "reading"} & set(plain.to_dict())
    reading = {"separator": ";", "missing": ["-", "n/a"], "nested": {"x": [1, 2.5, None, True]}}
    explanation = Explanation(
        plain.tree_, names=plain.tree_columns_, formats=plain.formats_, reading=reading
    )
    text = explanation.to_json()
    again = from_json(text)
    assert again == explanation
    assert again.to_json() == text
    assert again.formats_ == explanation.formats_
    assert again.reading_ == reading
    assert [rule.text for rule in again.rules_] == [rule.text for rule in explanation.rules_]
    np.testing.assert_array_equal(again.predict(table), explanation.predict(table))
    assert json.loads(text)["formats"]["cyl"] == {"kind": "integer", "values": [4, 6, 8]}
    assert Explanation(plain.tree_, reading={}).to_dict()["reading"] == {}
    for bad, message in (
        ({"x": np.arange(3)}, "reading contains something other than strings"),
        ({"x": float("nan")}, "reading contains something other than strings"),
        ({"x": "y" * 100_000}, "reading has 100,009 characters, expected at most 100,000"),
        (["x"], "reading is a list, expected an object"),
    ):
        with pytest.raises(ValueError, match=message):
            Explanation(plain.tree_, reading=bad).to_json()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"formats": []}, "formats is a list, expected an object"),
        ({"formats": None}, "formats is null, expected an object"),
        ({"formats": {"z": {"kind": "date"}}}, "formats.z is not one of columns"),
        ({"formats": {"cyl": {}}}, "formats.cyl.kind is missing"),
        ({"formats": {"cyl": "date"}}, "formats.cyl is a string, expected an object"),
        ({"formats": {"cyl": {"kind": "month"}}}, "formats.cyl.kind is 'month', expected one of"),
        ({"formats": {"cyl": {"kind": ["date"]}}}, "formats.cyl.kind is "),
        ({"formats": {"cyl": {"kind": "date", "unit": "$"}}}, "formats.cyl.unit is unknown"),
        (
            {"formats": {"cyl": {"kind": "number", "prefix": 1}}},
            "formats.cyl.prefix is 1, expected a string",
        ),
        ({"formats": {"cyl": {"kind": "integer", "values": "4"}}}, "values is a string"),
        (
            {"formats": {"cyl": {"kind": "integer", "values": [4, 4]}}},
            r"values\[1\] is 4",
        ),
        ({"formats": {"cyl": {"kind": "integer", "values": [4.5]}}}, r"values\[0\] is 4.5"),
        ({"formats": {"cyl": {"kind": "integer", "values": ["4", 5]}}}, r"values\[0\] is '4'"),
        ({"categories": {"cyl": ["a"]}}, "categories without features"),
        ({"categories": []}, "categories is a list"),
        ({"reading": None}, "reading is null, expected an object"),
        ({"reading": {"x": "y" * 200_000}}, "reading has 200,009 characters"),
    ],
)
def test_optional_keys_are_checked(change, message):
    document = {**format_model()[0].to_dict(), **change}
    with pytest.raises(ValueError, match=f"not an explanation: .*{message}"):
        from_dict(document)


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        ({"z": ["a"]}, "categories.z is not one of columns"),
        ({"zip": [0, 1]}, r"categories.zip is \[0, 1\], expected all categories in features"),
        ({"age": [1]}, "categories.age is .* expected all categories in features"),
        ({"zip": [0, 1, 2, 3, [4]]}, r"categories.zip\[4\] is a list, expected a string"),
        ({"zip": [0, 1, 2, 3, 3]}, r"categories.zip\[4\] repeats 3"),
        ({"zip": 4}, "categories.zip is a whole number, expected a list"),
    ],
)
def test_lists_of_categories_are_checked(categories, message):
    document = {**category_model()[0].to_dict(), "categories": categories}
    with pytest.raises(ValueError, match=f"not an explanation: {message}"):
        from_dict(document)


def test_hostile_names_come_back(tmp_path):
    model, X = hostile_model()
    path = tmp_path / "model.json"
    path.write_text(model.to_json(), encoding="utf-8")
    again = from_json(path)
    np.testing.assert_array_equal(again.predict(X), model.labels_)
    assert again.feature_names_in_.tolist() == X.columns.tolist()


def test_half_a_letter_in_a_name_is_escaped():
    explanation = Explanation(IMM(2).fit([[0.0], [1.0]]).tree_, names=["\ud800"])
    assert from_json(explanation.to_json().encode()) == explanation


DOCUMENT = to_dict(IMM(2, random_state=0).fit([[0.0, 1.0], [1.0, 2.0], [9.0, 3.0]]))


def broken(change):
    document = copy.deepcopy(DOCUMENT)
    change(document)
    return document


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("nodes"), "nodes is missing"),
        (lambda d: d.update(format="x"), "format is 'x', expected 'pellucid.explanation'"),
        (lambda d: d.pop("format"), "format is missing, expected"),
        (lambda d: d.update(version=2), "written by a later pellucid: version is 2"),
        (lambda d: d.update(version=True), "version is True, expected a whole number"),
        (lambda d: d.update(code="import os"), "code is unknown"),
        (lambda d: d.update(method=3), "method is 3, expected a string"),
        (lambda d: d.update(n_columns=0), "n_columns is 0, expected a whole number at least 1"),
        (lambda d: d.update(columns=["a"]), "n_columns is 2, expected 1, the number of columns"),
        (lambda d: d.update(columns=["a", 1]), r"columns\[1\] is 1, expected a string"),
        (lambda d: d.update(columns=["a", "a"]), r"columns\[1\] repeats 'a'"),
        (lambda d: d.update(features=["a"]), r"features\[0\] is 'a', expected one of columns"),
        (lambda d: d.update(clusters=[]), "clusters is empty"),
        (lambda d: d.update(clusters=[0, "1"]), r"clusters\[1\] is '1', expected a whole number"),
        (lambda d: d.update(clusters=[0, 0]), r"clusters\[1\] repeats 0"),
        (lambda d: d.update(clusters=[0, 2**63]), r"clusters\[1\] is 9223372036854775808, exp"),
        (lambda d: d.update(clusters=[0, None]), r"clusters\[1\] is missing, expected a string,"),
        (lambda d: d.update(nodes=[]), "nodes is empty"),
        (lambda d: d["nodes"][0].pop("left"), r"nodes\[0\].left is missing"),
        (lambda d: d["nodes"][0].update(feature=2), r"nodes\[0\].feature is 2, expected a whole n"),
        (
            lambda d: d["nodes"][0].update(feature=-1),
            r"feature is -1, expected a whole number at least 0",
        ),
        (lambda d: d["nodes"][0].update(threshold="5"), r"nodes\[0\].threshold is '5', expected a"),
        (
            lambda d: d["nodes"][0].update(threshold=10**400),
            "threshold is a whole number of about 401 digits",
        ),
        (lambda d: d["nodes"][0].update(left=2, right=1), "nodes come in preorder, each once"),
        (lambda d: d["nodes"][0].update(right=1), "nodes come in preorder, each once"),
        (lambda d: d["nodes"][0].update(left=0), r"nodes\[0\].left is 0, expected a whole number"),
        (lambda d: d["nodes"].append(d["nodes"][1]), r"nodes\[3\] is not a child of any node"),
        (lambda d: d["nodes"][1].update(cluster=2), r"nodes\[1\].cluster is 2"),
        (lambda d: d["nodes"][1].update(purity=1.5), r"nodes\[1\].purity is 1.5"),
        (lambda d: d["nodes"][1].update(rows=-1), r"nodes\[1\].rows is -1"),
        (lambda d: d["nodes"][1].update(weight=True), r"nodes\[1\].weight is True"),
        (lambda d: d["nodes"].__setitem__(1, []), r"nodes\[1\] is a list, expected an object"),
        (lambda d: d["nodes"][1].update(threshold=1), r"nodes\[1\].threshold is unknown"),
    ],
)
def test_what_is_wrong_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        from_dict(broken(change))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON: Expecting value at line 1, column 1"),
        ("[]", "the document is a list, expected an object"),
        ('{"format": NaN}', "not JSON: NaN is not a number"),
        ('{"version": 1, "version": 1}', "an explanation: version appears twice"),
        ("[" * 100_000, "nested too deeply"),
        (b"\xff\xfe\xff", "not JSON"),
    ],
)
def test_what_is_no_document_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        from_json(text)


def test_categories_of_a_document_are_checked():
    columns = ["a", "b"]
    for features, message in (
        ([{"column": "a"}], r"features\[0\].is is missing"),
        ([{"column": "c", "is": 1}], r"features\[0\] is 'c', expected one of columns"),
        ([{"column": "a", "is": [1]}], r"features\[0\].is is a list, expected a string"),
        ([{"column": "a", "is": 1, "otherwise": 2}], r"features\[0\].otherwise is"),
        ([{"column": "a", "is": 1, "else": "2"}], r"features\[0\].else is unknown"),
        ([{"column": "a", "is": 1}, {"column": "a", "is": 1}], r"features\[1\] repeats"),
    ):
        with pytest.raises(ValueError, match=message):
            from_dict(broken(lambda d, f=features: d.update(columns=columns, features=f)))
    features = [{"column": "a", "is": 1}, "b"]
    with pytest.raises(ValueError, match=r"nodes\[0\].threshold is 5.0, expected 0 to below 1"):
        from_dict(broken(lambda d: d.update(columns=columns, features=features)))


def test_a_category_that_is_no_plain_value_cannot_be_written():
    from datetime import date

    tree = IMM(2).fit([[0.0], [1.0]]).tree_
    explanation = Explanation(tree, names=[Indicator("day", date(2024, 1, 2))])
    with pytest.raises(TypeError, match="a category of column 'day' is datetime.date"):
        explanation.to_json()


def places(value, path=()):
    """Every place in a document, as the keys that lead there."""
    yield path
    if isinstance(value, (dict, list)):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*path, key))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=5), part),
    max_leaves=5,
)
RICH = to_dict(category_model(60)[0])


@given(st.sampled_from(list(places(RICH))[1:]), ANYTHING, st.booleans())
@settings(max_examples=examples(200), deadline=None)
def test_anything_anywhere_is_read_or_refused_with_its_place(path, value, removes):
    document = copy.deepcopy(RICH)
    document["fill"] = {"age": 3.0}
    part = document
    for key in path[:-1]:
        part = part[key]
    if removes:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    message = ""
    try:
        explanation = from_dict(document)
    except ValueError as error:
        message = str(error)
    if message:
        assert message.startswith(("not an explanation: ", "written by a later pellucid"))
    else:
        assert from_dict(explanation.to_dict()) == explanation


def test_what_fills_a_column_is_checked():
    for fill, message in (
        ({"c": 1.0}, "fill.c is not one of columns"),
        ({"a": "x"}, "fill.a is 'x', expected a finite number"),
        ({"a": [1]}, r"fill.a is a list, expected a string, a number or a boolean"),
        ([], "fill is a list, expected an object"),
    ):
        with pytest.raises(ValueError, match=message):
            from_dict(broken(lambda d, f=fill: d.update(columns=["a", "b"], fill=f)))
    again = from_dict(broken(lambda d: d.update(columns=["a", "b"], fill={"a": 9.0})))
    assert again.predict([[None, 0.0], [0.0, 0.0]]).tolist() == [1, 0]


WRITTEN_BY_0_1_0 = (
    '{"format": "pellucid.explanation", "version": 1, "made_by": "pellucid 0.1.0", "method": '
    '"IMM", "n_columns": 5, "columns": ["sepal length (cm)", "sepal width (cm)", "petal '
    'length (cm)", "petal width (cm)", "kind"], "features": [{"column": "kind", "is": '
    '"long"}, {"column": "kind", "is": "short"}, "sepal length (cm)", "sepal width (cm)", '
    '"petal length (cm)", "petal width (cm)"], "fill": null, "clusters": [0, 1, 2], "nodes": '
    '[{"feature": 4, "threshold": 2.0, "left": 1, "right": 2, "rows": 150, "weight": 150.0}, '
    '{"cluster": 2, "purity": 0.98, "rows": 50, "weight": 50.0}, {"feature": 0, "threshold": '
    '0.5, "left": 3, "right": 4, "rows": 100, "weight": 100.0}, {"cluster": 0, "purity": 1.0,'
    ' "rows": 30, "weight": 30.0}, {"cluster": 1, "purity": 0.9428571428571428, "rows": 70, '
    '"weight": 70.0}]}'
)


def test_models_of_version_0_1_0_are_read():
    explanation = from_json(WRITTEN_BY_0_1_0)
    assert [rule.text for rule in explanation.rules_] == [
        "petal length (cm) > 2 and kind is not long",
        "petal length (cm) > 2 and kind is long",
        "petal length (cm) ≤ 2",
    ]
    lengths = {f"{part} (cm)": [5.0] * 3 for part in ("sepal length", "sepal width", "petal width")}
    rows = pd.DataFrame(
        lengths | {"petal length (cm)": [1.0, 3.0, 3.0], "kind": ["long", "long", "x"]}
    )
    assert explanation.predict(rows).tolist() == [2, 1, 0]


@pytest.mark.parametrize("large", [2**63, 2**64 - 1, int(1e200)])
def test_categories_that_are_large_numbers_come_back(large):
    table = pd.DataFrame({"size": [1.0, 1.1, 5.0, 5.1] * 5, "zip": [float(large), 7.0] * 10})
    found = pellucid.explain(table, k=2, effort="fast", outliers="keep")
    again = from_json(found.to_json())
    assert again.predict(table).tolist() == found.predict(table).tolist()
