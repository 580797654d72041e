"""The Python function gives what predict gives."""

import csv
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

from _support.export_cases import category_model, explanations, format_model, hostile_model
from _support.extended import examples
from pellucid import IMM, ExKMC
from pellucid.export import to_python
from pellucid.tree import TreeBuilder


def function(model, name="cluster_of", **options):
    space = {}
    exec(compile(to_python(model, name=name, **options), "export", "exec"), space)
    return space[name]


@pytest.mark.slow
@pytest.mark.parametrize("style", ["round", "data", "midpoint"])
def test_real_data(style):
    X = load_breast_cancer(as_frame=True).data
    model = ExKMC(4, n_leaves=20, threshold_style=style, random_state=0).fit(X)
    predict = function(model)
    assert [predict(row) for row in X.to_dict("records")] == model.labels_.tolist()


def test_hostile_names_and_labels():
    model, X = hostile_model()
    predict = function(model)
    assert [predict(row) for row in X.to_dict("records")] == model.labels_.tolist()
    assert [predict(row) for _, row in X.iterrows()] == model.labels_.tolist()


def test_categories():
    explanation, table, expected = category_model()
    predict = function(explanation)
    rows = table.drop(columns="unused").to_dict("records")
    assert [predict(row) for row in rows] == expected.tolist()
    for row in rows:
        row["district"] = np.nan if row["district"] is None else row["district"]
    assert [predict(row) for row in rows] == expected.tolist()
    assert "row['district'] == 'Gangnam'" in to_python(explanation).replace("!=", "==")


def test_dates_of_every_type():
    explanation, table = format_model()
    expected, predict = explanation.predict(table).tolist(), function(explanation)
    rows = table.to_dict("records")
    for row in rows[::5]:
        row["signup"] = row["signup"].strftime("%d.%m.%Y")
    for row in rows[1::5]:
        row["signup"] = f" {row['signup'].isoformat()} "
    for row in rows[2::5]:
        row["seen"] = row["seen"].isoformat(" ")
    for row in rows[3::5]:
        row["seen"] = f"{row['seen'].isoformat()}Z"
    for row in rows[4::5]:
        row["seen"] = row["seen"].tz_localize("UTC").tz_convert("Asia/Seoul")
        row["signup"] = row["signup"].toordinal() - 719163
    assert [predict(row) for row in rows] == expected
    for bad in (None, float("nan"), pd.NaT):
        with pytest.raises(ValueError, match=f"column 'signup' holds {bad!r}, not a date"):
            predict({**rows[0], "signup": bad})
    with pytest.raises(ValueError, match="soon"):
        predict({**rows[0], "signup": "soon"})


@given(explanations(), st.data())
@settings(max_examples=examples(40), deadline=None)
def test_any_tree_on_its_own_thresholds(explanation, data):
    predict = function(explanation)
    tree, encoding = explanation.tree_, explanation.input_columns.encoding
    at = np.append(tree.threshold[~tree.is_leaf], 0.0)
    near = np.concatenate([at, np.nextafter(at, np.inf), np.nextafter(at, -np.inf), at / 2])
    near = st.sampled_from(near[np.isfinite(near)].tolist())
    values = dict.fromkeys(encoding.input_names, near)
    for name in encoding.names:
        if not isinstance(name, str):
            values[name.column] = st.sampled_from([name.value, "another"])
    rows = data.draw(st.lists(st.fixed_dictionaries(values), min_size=1, max_size=20))
    if not values:
        return
    table = pd.DataFrame(rows, dtype=object)
    for name, is_category in zip(encoding.input_names, encoding.is_categorical):
        if not is_category:
            table[name] = table[name].astype(float)
    assert [predict(row) for row in rows] == explanation.predict(table).tolist()


def test_rows_of_a_file_are_text():
    X = load_breast_cancer(as_frame=True).data
    model = IMM(3, random_state=0).fit(X)
    rows = csv.DictReader(io.StringIO(X.to_csv(index=False)))
    predict = function(model)
    assert [predict(row) for row in rows] == model.labels_.tolist()


@pytest.mark.parametrize("value", [None, np.nan, np.inf, "-inf", "nan"])
def test_a_missing_number_is_refused(value):
    predict = function(IMM(2, random_state=0).fit(pd.DataFrame({"a b": [0.0, 1.0, 9.0]})))
    with pytest.raises(ValueError, match=r"column 'a b' holds .*, not a finite number"):
        predict({"a b": value})
    with pytest.raises(KeyError, match="a b"):
        predict({})


def chain(depth, to_the_left):
    builder, node = TreeBuilder(1), 0
    for i in range(depth):
        threshold = float(-i if to_the_left else i)
        left, right = builder.split(node, feature=0, threshold=threshold)
        node = left if to_the_left else right
        builder.set_cluster(right if to_the_left else left, i)
    builder.set_cluster(node, depth)
    return builder.build()


@pytest.mark.parametrize("to_the_left", [True, False])
def test_a_deep_tree_is_not_too_deep_for_python(to_the_left):
    tree = chain(300, to_the_left)
    predict = function(tree)
    rows = np.arange(-310.5, 310.5)
    assert [predict({"x0": x}) for x in rows] == tree.predict(rows[:, None]).tolist()


def test_the_name_of_the_function():
    tree = chain(1, True)
    assert function(tree, name="größe")({"x0": 3}) == 0
    for name in ("a b", "class", "f(): import os\ndef g", "", "float"):
        with pytest.raises(ValueError, match="is not a valid function name"):
            to_python(tree, name=name)
