"""Rules of dates, units, small integers and categories: the text agrees with predict."""

import re
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from _support.export_cases import format_model, mixed_case
from _support.extended import examples, seeds
from pellucid import IMM, Explanation, explain_pipeline, export_text
from pellucid.explanation.restate import ColumnSource, TreeRestatement
from pellucid.explanation.rules import cluster_rules, leaf_rules
from pellucid.plotting import plot_tree
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import CategorySet, Encoding, Indicator
from pellucid.tree import TreeBuilder

CONTINENTS = ("Africa", "Americas", "Asia", "Europe", "Oceania")


def excluded(*values, categories=CONTINENTS, column="continent"):
    return CategorySet(column, frozenset(values), True, categories).text


def allowed(*values, categories=CONTINENTS, column="continent"):
    return CategorySet(column, frozenset(values), False, categories).text


def test_categories_are_listed_from_the_shorter_side():
    assert allowed("Asia") == "continent is Asia"
    assert allowed("Oceania", "Europe") == "continent is Europe or Oceania"
    assert excluded("Europe", "Americas", "Africa", "Oceania") == "continent is Asia"
    assert excluded("Asia", "Americas", "Africa") == "continent is Europe or Oceania"
    assert excluded("Asia", "Africa") == "continent is Americas, Europe or Oceania"
    assert excluded("Asia") == "continent is not Asia"
    six = (*CONTINENTS, "Antarctica")
    assert excluded("Asia", "Africa", categories=six) == "continent is none of Africa, Asia"
    assert excluded(*CONTINENTS) == f"continent is none of {', '.join(CONTINENTS)}"
    assert excluded("Asia", categories=()) == "continent is not Asia"
    assert excluded("Asia", "Africa", categories=()) == "continent is none of Africa, Asia"


def test_missing_is_named_where_it_is_allowed():
    sex = ("female", "male", None)
    assert excluded("female", categories=sex, column="sex") == "sex is male or missing"
    assert excluded("female", "male", categories=sex, column="sex") == "sex is missing"
    assert excluded(None, categories=sex, column="sex") == "sex is female or male"
    many = (*CONTINENTS, None)
    assert excluded("Asia", categories=many) == "continent is missing or not Asia"
    assert excluded("Asia", "Africa", categories=(*many, "Arctic")) == (
        "continent is missing or none of Africa, Asia"
    )
    assert excluded(3, categories=(1, 2, 3, 4, None), column="am") == "am is missing or ≠ 3"
    assert allowed(1, None, categories=(1, 2, None), column="am") == "am = 1 or missing"


def test_numbers_and_booleans_as_categories():
    assert allowed(4, 6, categories=(4, 6, 8), column="cyl") == "cyl = 4 or 6"
    assert allowed(4, 6, 8, categories=(4, 6, 8, 9), column="cyl") == "cyl = 4, 6 or 8"
    assert excluded(3, categories=(1, 2, 3, 4), column="am") == "am ≠ 3"
    assert excluded(1, 2, categories=(1, 2, 3, 4, 5, 6), column="am") == "am is none of 1, 2"
    flag = Indicator("member", True, (False, True))
    assert (str(flag), flag.negation) == ("member is true", "member is false")
    assert Indicator("am", 1, (0, 1)).negation == "am = 0"
    assert Indicator("am", 1, (1, None)).negation == "am is missing"
    assert Indicator("cyl", 4, (4, 6, 8)).negation == "cyl ≠ 4"
    assert Indicator("c", "yes", ("no", "yes")).negation == "c is no"


@st.composite
def category_trees(draw):
    """A tree of two columns of categories and a number, with its descriptions."""
    values = st.lists(
        st.sampled_from(["a", "b", "c", "d", "e", None]), min_size=2, max_size=6, unique=True
    )
    table = [draw(values), draw(values)]
    length = max(map(len, table))
    frame = {f"c{i}": (v * length)[:length] for i, v in enumerate(table)}
    names = [*Encoding.fit(pl.DataFrame(frame)).names, "n"]
    builder = TreeBuilder(len(names))
    for _ in range(draw(st.integers(1, 8))):
        feature = draw(st.integers(0, len(names) - 1))
        builder.split(draw(st.sampled_from(builder.leaves)), feature=feature, threshold=0.5)
    for node in range(len(builder.nodes)):
        builder.set_cluster(node, draw(st.integers(0, 2)))
    return builder.build(), names


def holds(text, row):
    """Whether a text of a rule holds for a row."""
    if text in ("always", "not explained"):
        return text == "always"
    return all(holds_one(part, row) for part in text.split(" and "))


def holds_one(part, row):
    if match := re.fullmatch(r"n (≤|>) 0.5", part):
        return (row["n"] <= 0.5) == (match[1] == "≤")
    if part == "0.5 < n ≤ 0.5":  # a leaf that no row can reach
        return False
    column, words = re.fullmatch(r"(c\d) is (.*)", part).groups()
    value = "missing" if row[column] is None else row[column]
    if match := re.fullmatch(r"(?:missing or )?(?:none of|not) (.*)", words):
        return value not in match[1].split(", ")
    return value in re.split(", | or ", words)


@given(category_trees())
@settings(max_examples=examples(60), deadline=None)
def test_texts_agree_with_predict_on_known_categories(case):
    tree, names = case
    explanation = Explanation(tree, names=names, clusters=range(3))
    known = {n.column: n.categories for n in names if isinstance(n, Indicator)}
    rows = [{"c0": a, "c1": b, "n": n} for a in known["c0"] for b in known["c1"] for n in (0, 1)]
    table = pl.DataFrame(rows, schema={"c0": pl.String, "c1": pl.String, "n": pl.Float64})
    predicted, leaf = explanation.predict(table), explanation.apply(table)
    for row, cluster, node in zip(rows, predicted.tolist(), leaf.tolist()):
        for rule in explanation.rules_:
            found = [holds(part.text, row) for part in rule.alternatives]
            assert sum(found) == (rule.cluster == cluster), (rule.text, row)
        for rule in explanation._leaf_rules:
            if rule.leaf == node:
                assert holds(rule.text, row)


@pytest.mark.parametrize("seed", seeds(10))
def test_texts_of_random_trees_agree_with_predict(seed):
    explanation, table = mixed_case(seed)
    for row, cluster in zip(table.to_dict("records"), explanation.predict(table).tolist()):
        for rule in explanation.rules_:
            found = [holds_mixed(part.text, row) for part in rule.alternatives]
            assert sum(found) == (rule.cluster == cluster), (rule.text, row)


def holds_mixed(text, row):
    """Whether a text holds for a row, read without the help of the package."""
    for part in [] if text == "always" else text.split(" and "):
        if match := re.fullmatch(r"continent is (missing or )?(none of |not )?(.*)", part):
            value = row["continent"] if isinstance(row["continent"], str) else "missing"
            listed = re.split(", | or ", match[3])
            if (value in listed) == bool(match[2]):
                return False
        elif match := re.fullmatch(r"am (=|≠|is none of) (.*)", part):
            listed = re.split(", | or ", match[2])
            if (str(row["am"]) in listed) != (match[1] == "="):
                return False
        else:
            values = {"cyl": row["cyl"], "signup": row["signup"].isoformat()}
            part = re.sub(r"(\d{4}-\d\d-\d\d)", r"'\1'", part).replace(" = ", " == ")
            if not eval(part.replace("≤", "<=").replace("≥", ">="), values):
                return False
    return True


def test_leaves_that_differ_in_the_categories_of_one_column_are_merged():
    names = [Indicator("c", value, ("A", "B", "C", "D")) for value in "ABCD"]
    builder = TreeBuilder(4)
    rest, _ = builder.split(0, feature=0, threshold=0.5)
    rest, second = builder.split(rest, feature=1, threshold=0.5)
    builder.set_cluster(second, 1)
    rules = cluster_rules(leaf_rules(builder.build(), feature_names=names), [0, 1])
    assert [rule.text for rule in rules] == ["c is not B", "c is B"]
    # All categories together are no condition.
    builder = TreeBuilder(4)
    builder.split(0, feature=0, threshold=0.5)
    (rule,) = cluster_rules(leaf_rules(builder.build(), feature_names=names), [0])
    assert rule.text == "always"


def test_a_pipeline_knows_all_categories_even_a_dropped_one():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    table = pd.DataFrame({"c": list("ABC") * 10})
    encoder = OneHotEncoder(drop="first", sparse_output=False)
    pipeline = make_pipeline(encoder, IMM()).fit(table, (table["c"] == "B").to_numpy())
    texts = {r.cluster: r.text for r in explain_pipeline(pipeline, table).rules_}
    assert texts == {False: "c is A or C", True: "c is B"}


def test_every_text_uses_the_formats():
    explanation, table = format_model()
    parts = ("signup ≤ 2021-03-15", "cyl = 6", "$15000", "seen > 2021-06-01 12:00", "year ≤ 1950")
    rules = " ".join(rule.text for rule in explanation.rules_)
    for part in parts:
        assert part in rules
    rows = explanation.explain(table)
    assert {row.rule.text for row in rows} <= {rule.text for rule in explanation._leaf_rules}
    for step, _ in rows[0].path:
        assert str(step) in explanation.to_frame(kind="dict")["condition"]
    assert "signup &lt;= 2021-03-15" in explanation.to_html()
    assert "signup ≤ 2021-03-15" in explanation.to_html()
    assert "signup <= 2021-03-15" in export_text(explanation)
    assert "signup >  2021-03-15" in export_text(explanation)
    assert "cyl >= 6" in export_text(explanation)
    assert "signup ≤ 2021-03-15" in explanation.to_dot()
    assert "signup ≤ 2021-03-15" in explanation.to_mermaid()
    drawn = [t.get_text().replace("\n", " ") for t in plot_tree(explanation).texts]
    assert "signup ≤ 2021-03-15" in drawn
    assert "cyl = 4" in drawn


def test_dates_of_any_table_are_read():
    explanation, table = format_model()
    expected = explanation.predict(table)
    assert len(set(expected)) > 4
    frame = pl.from_pandas(table)
    assert frame.schema["signup"] == pl.Date
    texts = table.assign(
        signup=[d.strftime("%d.%m.%Y") for d in table["signup"]], seen=table["seen"].astype(str)
    )
    days = table.assign(
        signup=[(d - date(1970, 1, 1)).days for d in table["signup"]],
        seen=(table["seen"] - pd.Timestamp(0)) / pd.Timedelta(days=1),
    )
    for rows in (
        frame,
        pa.Table.from_pandas(table),
        table.assign(signup=pd.to_datetime(table["signup"])),
        texts,
        days,
        days.to_numpy(),
        table.to_numpy(object),
        table.to_numpy(object).tolist(),
    ):
        np.testing.assert_array_equal(explanation.predict(rows), expected)
    with pytest.raises(ValueError, match="column 'signup' holds dates, but 'soon' is not a date"):
        explanation.predict(texts.assign(signup="soon"))
    with pytest.raises(ValueError, match="column 'signup' contains NaN, first at row 1"):
        explanation.predict(table.assign(signup=[*table["signup"][:1], None, *table["signup"][2:]]))


def test_missing_dates_are_filled():
    explanation, table = format_model()
    again = Explanation(
        explanation.tree_,
        names=explanation.tree_columns_,
        fill={"signup": 18000.0},
        formats=explanation.formats_,
    )
    table = table.astype({"signup": object})
    table.loc[3, "signup"] = None
    there = table.copy()
    there.loc[3, "signup"] = date(2019, 4, 14)
    assert again.predict(table)[3] == again.predict(there)[3]
    assert "missing values are replaced: signup by 2019-04-14" in again.to_html()


def test_formats_belong_to_columns():
    tree = TreeBuilder(1).build()
    with pytest.raises(ValueError, match="formats contains 'b', which is not a column; the .* 'a'"):
        Explanation(tree, names=["a"], formats={"b": ColumnFormat()})
    with pytest.raises(TypeError, match="the format of column 'a' is a str, not a ColumnFormat"):
        Explanation(tree, names=["a"], formats={"a": "date"})
    reading = {"separator": ";"}
    explanation = Explanation(
        tree, names=["a"], formats={"a": ColumnFormat("year")}, reading=reading
    )
    assert explanation.reading_ is reading
    assert Explanation.of(explanation) is explanation
    assert explanation != Explanation(tree, names=["a"], reading=reading)
    assert Explanation.of(explanation, feature_names=["b"]).formats_ == {}


def test_thresholds_are_chosen_by_the_format():
    days = ColumnFormat("date")
    signup = np.array([days.days(d) for d in ("2020-11-05", "2020-12-20", "2021-02-10")])
    cylinders = np.array([4.0, 8.0, 8.0])
    Z = np.column_stack([signup / 100, cylinders])
    for feature, low in ((0, signup[1] / 100), (1, 4.0)):
        builder = TreeBuilder(2)
        builder.split(0, feature=feature, threshold=low)
        builder.set_cluster(2, 1)
        restatement = TreeRestatement(builder.build(), [ColumnSource(0), ColumnSource(1)])
        restatement.find_gaps(Z, [signup, cylinders])
        names = ["signup", "cyl"]
        formats = {"signup": days, "cyl": ColumnFormat("integer", values=(4, 6, 8))}
        tree, _ = restatement.build(names, names, "round", formats)
        assert (
            Explanation(tree, names=names, formats=formats).rules_[0].text
            == (("signup ≤ 2021-01-01", "cyl = 4")[feature])
        )
        plain, _ = restatement.build(names, names, "round")
        assert plain.threshold[0] == (18640.0, 6.0)[feature]


def test_clusters_are_renamed_everywhere():
    explanation, table = format_model()
    names = {0: "new", 1: "old customers"}
    renamed = explanation.rename_clusters(names)
    before, after = explanation.predict(table), renamed.predict(table)
    assert after.tolist() == [names.get(c, str(c)) for c in before.tolist()]
    assert renamed.formats_ == explanation.formats_
    for text in (renamed.to_sql(), renamed.to_json(), renamed.to_html(), str(renamed.rules_)):
        assert "old customers" in text
    assert [r.text for r in renamed.rules_] == [r.text for r in explanation.rules_]
    assert explanation.rename_clusters({"0": 10, 1: 0}).cluster_names_[:2].tolist() == [10, 0]
    assert explanation.rename_clusters({}) == explanation
    with pytest.raises(ValueError, match="there is no cluster 99 to rename; the clusters are 0, 1"):
        explanation.rename_clusters({99: "x"})
    with pytest.raises(ValueError, match="two clusters would have the name 'x'"):
        explanation.rename_clusters({0: "x", 1: "x"})
    with pytest.raises(ValueError, match="two clusters would have the name '1'"):
        explanation.rename_clusters({0: "1"})
    plain = Explanation(TreeBuilder(1).build()).rename_clusters({0: "all"})
    assert plain.predict([[1.0]]).tolist() == ["all"]
    assert not hasattr(plain, "feature_names_in_")


def test_values_that_were_not_in_the_training_data_are_counted():
    table = pd.DataFrame(
        {"continent": ["Asia", "Europe", "Africa"] * 4, "cyl": [4, 6, 8] * 4, "n": range(12)}
    )
    encoding = Encoding.fit(table)
    names = encoding.names
    builder = TreeBuilder(len(names))
    rest, _ = builder.split(0, feature=names.index(Indicator("continent", "Asia")), threshold=0.5)
    builder.split(rest, feature=names.index("cyl"), threshold=5.0)
    formats = {"cyl": ColumnFormat("integer", values=(4, 6, 8))}
    explanation = Explanation(builder.build(), names=names, formats=formats)
    assert explanation.count_unseen(table) == {}
    new = pd.DataFrame(
        {
            "continent": ["Asia", "Mars", None, "Mars", "Venus"],
            "cyl": [5, 4, 6, 8, np.nan],
        }
    )
    expected = {"continent": {"Mars": 2, None: 1, "Venus": 1}, "cyl": {5: 1, None: 1}}
    assert explanation.count_unseen(new) == expected
    assert list(explanation.count_unseen(new)["continent"]) == ["Mars", None, "Venus"]
    assert explanation.count_unseen(pl.from_pandas(new)) == expected
    # A value that replaces missing ones is a value of the training data.
    filled = Explanation(builder.build(), names=names, formats=formats, fill={"cyl": 4.0})
    assert filled.count_unseen(new)["cyl"] == {5: 1}
    assert Explanation(TreeBuilder(1).build()).count_unseen([[1.0]]) == {}


def test_whole_labels_are_printed_without_a_fraction():
    X, y = [[0.0], [1.0], [9.0]], np.array([1.0, 1.0, 2.0])
    model = IMM().fit(X, y)
    explanation = Explanation.of(model)
    assert str(explanation.rules_).startswith("cluster 1: x0 ≤ 5\n    2 rows (66.7%")
    assert str(explanation.explain(X)[2]) == "row 2: cluster 2 because x0 > 5"
    for text in (export_text(model), explanation.to_dot(), explanation.to_mermaid()):
        assert "cluster 1" in text
        assert "cluster 1.0" not in text
    assert ">1</span>" in explanation.to_html()
    assert "cluster 1" in [t.get_text() for t in plot_tree(model).texts]
    assert str(Explanation(model.tree_, clusters=[0.5, 2.0]).rules_).startswith("cluster 0.5:")
