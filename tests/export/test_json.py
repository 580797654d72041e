"""JSON: bit for bit there and back, and nothing taken on trust."""

import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_wine

import pellucid
from _support.export_cases import category_model, explanations, hostile_model
from pellucid import IMM, ExKMC, Explanation, from_json
from pellucid.export import from_dict, to_dict, to_json


@given(explanations())
@settings(max_examples=60, deadline=None)
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
        (lambda d: d.update(method=3), "method is a whole number, expected a string"),
        (lambda d: d.update(n_columns=0), "n_columns is 0, expected a whole number at least 1"),
        (lambda d: d.update(columns=["a"]), "n_columns is 2, expected 1, the number of columns"),
        (lambda d: d.update(columns=["a", 1]), r"columns\[1\] is a whole number, expected a str"),
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
        (lambda d: d["nodes"][0].update(feature=-1), r"from 0 to 1"),
        (lambda d: d["nodes"][0].update(threshold="5"), r"nodes\[0\].threshold is '5', expected a"),
        (lambda d: d["nodes"][0].update(threshold=10**400), "threshold is 1000"),
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
        ('{"version": 1, "version": 1}', "the key 'version' appears twice"),
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
        ([{"column": "a", "is": [1]}], r"features\[0\].is is \[1\], expected a string"),
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

    from pellucid.tables.encoding import Indicator

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
@settings(max_examples=200, deadline=None)
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
        ({"a": [1]}, r"fill.a is \[1\], expected a string, a number or a boolean"),
        ([], "fill is a list, expected an object"),
    ):
        with pytest.raises(ValueError, match=message):
            from_dict(broken(lambda d, f=fill: d.update(columns=["a", "b"], fill=f)))
    again = from_dict(broken(lambda d: d.update(columns=["a", "b"], fill={"a": 9.0})))
    assert again.predict([[None, 0.0], [0.0, 0.0]]).tolist() == [1, 0]
