"""Categories as 0/1 columns that keep their words, in rules, texts and pictures."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest

from pellucid import export_text
from pellucid.explanation.conditions import Condition
from pellucid.explanation.rules import ClusterRule, Rule, leaf_rules, simplify
from pellucid.metrics import weighted_average_explanation_size
from pellucid.plotting import plot_tree
from pellucid.tables.encoding import Encoding, Indicator
from pellucid.tree import TreeBuilder

mpl.use("Agg")

DISTRICTS = [Indicator("district", name) for name in ("Gangnam", "Jongno", "Mapo")]
NAMES = [*DISTRICTS, "age"]


def is_(feature):
    return Condition(feature, 0.5, False, DISTRICTS[feature])


def is_not(feature):
    return Condition(feature, 0.5, True, DISTRICTS[feature])


def text(*conditions):
    return Rule(0, 0, simplify(conditions), 1, 1.0, 1.0).text


def test_categories_in_words():
    age = Condition(3, 40.0, True, "age")
    assert text(is_(0)) == "district is Gangnam"
    assert text(is_not(0)) == "district is not Gangnam"
    assert text(is_not(0), age, is_not(2)) == "district is none of Gangnam, Mapo and age ≤ 40"
    assert text(is_not(0), is_not(1), is_(2), age) == "district is Mapo and age ≤ 40"
    assert simplify([is_not(0), is_(2)]) == (is_(2),)


def test_leaves_that_differ_in_one_category_are_told_together():
    age, young = Condition(3, 40.0, False, "age"), Condition(3, 40.0, True, "age")
    sex = Condition(4, 0.5, False, Indicator("sex", "m"))
    leaves = [(is_(0), age), (young, is_not(1)), (is_(2), age), (is_(1), sex), (is_(1), age, sex)]
    rules = [Rule(i, 0, conditions, 10 - i, 0.1, 1.0) for i, conditions in enumerate(leaves)]
    whole = ClusterRule(0, tuple(rules), 40, 0.5, 1.0)
    assert [(part.text, part.n_samples) for part in whole.alternatives] == [
        ("district is Gangnam or Mapo and age > 40", 18),
        ("age ≤ 40 and district is not Jongno", 9),
        ("district is Jongno and sex is m", 7),
        ("district is Jongno and age > 40 and sex is m", 6),
    ]
    assert whole.alternatives[0].share == 0.2
    assert whole.text.count(" or (") == 3
    alone = ClusterRule(0, tuple(rules[i] for i in (0, 2)), 18, 0.2, 1.0)
    assert alone.text == "district is Gangnam or Mapo and age > 40"
    # A leaf may be alike to others in two ways; the larger company counts.
    pairs = [(is_(0), sex), (is_(1), sex), (is_(2), sex), (is_(0), Condition(5, 0.5, False, MORE))]
    rules = [Rule(i, 0, conditions, 1, 0.25, 1.0) for i, conditions in enumerate(pairs)]
    assert ClusterRule(0, tuple(rules), 4, 1.0, 1.0).text == (
        "(district is Gangnam, Jongno or Mapo and sex is m) or (district is Gangnam and sex is f)"
    )


MORE = Indicator("sex", "f")


def test_a_category_says_nothing_of_other_columns():
    sex = Condition(4, 0.5, True, Indicator("sex", "m"))
    assert text(is_(0), sex) == "district is Gangnam and sex is not m"


def test_of_two_categories_the_other_one_is_named():
    encoding = Encoding.fit(pd.DataFrame({"sex": ["f", "m"], "zip": ["a", None]}))
    female, male, known, _ = encoding.names
    assert female.negation == str(male) == "sex is m"
    assert male.negation == "sex is f"
    assert known.negation == "zip is missing"
    neither = [Condition(i, 0.5, True, name) for i, name in enumerate((female, male))]
    assert text(*neither) == "sex is none of f, m"
    assert text(Condition(0, 0.5, True, female), Condition(1, 0.5, False, male)) == "sex is m"
    assert female == Indicator("sex", "f")


def tree():
    """Gangnam: 2; else young: 0; else Mapo: 1; else 0."""
    builder = TreeBuilder(4)
    other, gangnam = builder.split(0, feature=0, threshold=0.5)
    young, old = builder.split(other, feature=3, threshold=40.0)
    rest, mapo = builder.split(old, feature=2, threshold=0.5)
    for node, cluster in ((gangnam, 2), (young, 0), (rest, 0), (mapo, 1)):
        builder.set_cluster(node, cluster)
        builder.set_counts(node, 2, 2.0)
    for node, count in ((0, 8), (other, 6), (old, 4)):
        builder.set_counts(node, count, float(count))
    return builder.build()


def test_rules_text_and_size_of_a_tree():
    assert [rule.text for rule in leaf_rules(tree(), feature_names=NAMES)] == [
        "district is not Gangnam and age ≤ 40",
        "district is none of Gangnam, Mapo and age > 40",
        "age > 40 and district is Mapo",
        "district is Gangnam",
    ]
    assert export_text(tree(), feature_names=NAMES) == (
        "|--- district is not Gangnam\n"
        "|   |--- age <= 40\n"
        "|   |   |--- cluster 0 (2 rows)\n"
        "|   |--- age >  40\n"
        "|   |   |--- district is not Mapo\n"
        "|   |   |   |--- cluster 0 (2 rows)\n"
        "|   |   |--- district is Mapo\n"
        "|   |   |   |--- cluster 1 (2 rows)\n"
        "|--- district is Gangnam\n"
        "|   |--- cluster 2 (2 rows)"
    )
    assert weighted_average_explanation_size(tree(), feature_names=NAMES) == (2 + 3 + 2 + 1) / 4
    assert weighted_average_explanation_size(tree()) == (2 + 3 + 3 + 1) / 4


def test_the_answers_of_a_plot_fit_the_splits():
    ax = plot_tree(tree(), feature_names=NAMES)
    drawn = {item.get_gid(): item.get_text().replace("\n", " ") for item in ax.texts}
    assert drawn["split-0"] == "district is Gangnam"
    assert drawn["split-1"] == "age ≤ 40"
    assert drawn["answer-1"] == "no"
    assert drawn["answer-6"] == "yes"
    assert (drawn["answer-2"], drawn["answer-3"]) == ("yes", "no")
    mpl.pyplot.close("all")


TABLE = {
    "age": [20, 35, 50, 65],
    "district": ["Mapo", None, "Gangnam", "Mapo"],
    "zip": [999, 123, 123, 999],
    "online": [True, False, True, True],
}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda t: pl.DataFrame(t).to_arrow()])
def test_tables_become_numbers_with_descriptions(make):
    encoding = Encoding.fit(make(TABLE), categorical=["zip"])
    assert [str(name) for name in encoding.names] == [
        "age",
        "district is Gangnam",
        "district is Mapo",
        "district is missing",
        "zip = 123",
        "zip = 999",
        "online is false",
        "online is true",
    ]
    assert encoding.is_categorical == [False, True, True, True]
    matrix = encoding.transform(make(TABLE))
    np.testing.assert_array_equal(matrix[:, 0], TABLE["age"])
    np.testing.assert_array_equal(matrix[:, 1:4], [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(matrix[:, 5], [1, 0, 0, 1])
    np.testing.assert_array_equal(matrix[:, 7], TABLE["online"])


def test_new_rows_by_name_and_with_new_categories():
    encoding = Encoding.fit(pd.DataFrame(TABLE)[["age", "district"]])
    new = pl.DataFrame({"district": ["Jongno"], "more": ["?"], "age": [5.0]})
    np.testing.assert_array_equal(encoding.transform(new), [[5, 0, 0, 0]])
    with pytest.raises(ValueError, match="X has no column 'district', which was in fit"):
        encoding.transform(new.drop("district"))
    with pytest.raises(ValueError, match="column 'age' was numeric in fit; now it contains 'old'"):
        encoding.transform(pd.DataFrame({"age": ["old"], "district": ["Mapo"]}))
    with pytest.raises(ValueError, match="X has 3 columns, but fit had 2: 'age', 'district'"):
        encoding.transform(np.zeros((1, 3)))


def test_pandas_kinds_of_columns():
    table = pd.DataFrame(
        {
            "sex": pd.Categorical(["m", "f", None], categories=["m", "f", "x"]),
            "when": pd.to_datetime(["2020-01-02", None, "2020-01-01"]),
            "count": pd.array([1, 2, 3], dtype="Int64"),
            "name": pd.array(["a", None, "b"], dtype="string"),
        }
    )
    encoding = Encoding.fit(table)
    assert [str(name) for name in encoding.names] == [
        "sex is f",
        "sex is m",
        "sex is missing",
        "when is 2020-01-01 00:00:00",
        "when is 2020-01-02 00:00:00",
        "when is missing",
        "count",
        "name is a",
        "name is b",
        "name is missing",
    ]
    expected = [
        [0, 1, 0, 0, 1, 0, 1, 1, 0, 0],
        [1, 0, 0, 0, 0, 1, 2, 0, 0, 1],
        [0, 0, 1, 1, 0, 0, 3, 0, 1, 0],
    ]
    np.testing.assert_array_equal(encoding.transform(table), expected)


def test_arrays_of_words_and_numbers():
    rows = np.array([["a", 1.5], ["b", 2]], dtype=object)
    encoding = Encoding.fit(rows)
    assert encoding.names == [Indicator("x0", "a"), Indicator("x0", "b"), "x1"]
    np.testing.assert_array_equal(encoding.transform(rows), [[1, 0, 1.5], [0, 1, 2]])
    np.testing.assert_array_equal(encoding.transform(rows.tolist()), encoding.transform(rows))
    words = np.array([["1", "x"], ["2", "x"]])
    assert Encoding.fit(words).is_categorical == [True, True]
    numbers = np.arange(6.0).reshape(3, 2)
    assert Encoding.fit(numbers, categorical=[1]).is_categorical == [False, True]
    assert Encoding.fit(numbers).transform(numbers).tolist() == numbers.tolist()


def test_what_cannot_be_encoded_is_named():
    with pytest.raises(ValueError, match="column 'age' contains NaN, first at row 1"):
        Encoding.fit(table := pd.DataFrame({"age": [1.0, np.nan]})).transform(table)
    with pytest.raises(ValueError, match="column 'age' contains NaN, first at row 1"):
        Encoding.fit(table := pl.DataFrame({"age": [1, None]})).transform(table)
    with pytest.raises(ValueError, match=r"got an array of shape \(3,\)"):
        Encoding.fit(["a", "b", "c"])
    with pytest.raises(ValueError, match="categorical contains 'zap', which is not a column"):
        Encoding.fit(pd.DataFrame(TABLE), categorical=["zap"])
    with pytest.raises(ValueError, match="categorical contains column 4; there are 4"):
        Encoding.fit(pd.DataFrame(TABLE), categorical=[4])
