"""Input of XClusters: feature selection and error messages."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import ConvergenceWarning

from pellucid import XClusters
from pellucid.xclusters.features import choose_features

NAMES = ["day 1", "day 2", "age", "sex", "d[1]"]
NUMERIC = [True, True, True, False, True]


@pytest.mark.parametrize(
    ("accuracy", "explanation", "indices"),
    [
        ("day *", None, ([0, 1], [2, 3, 4])),
        (["day 2", "day 1"], ["sex"], ([0, 1], [3])),
        (None, ["a?e", "sex"], ([0, 1, 4], [2, 3])),
        (["d*"], ["sex", 2, "day 1"], ([0, 1, 4], [0, 2, 3])),
        (None, None, ([0, 1, 2, 4], [3])),
        ("d[1]", "sex", ([4], [3])),
        (0, np.array([3]), ([0], [3])),
    ],
)
def test_columns_by_name_pattern_and_index(accuracy, explanation, indices):
    assert choose_features(NAMES, NUMERIC, accuracy, explanation) == indices


def test_columns_of_one_type_are_both_kinds_of_features():
    assert choose_features(["a", "b"], [True, True]) == ([0, 1], [0, 1])
    assert choose_features(["a", "b"], [False, False]) == ([0, 1], [0, 1])


@pytest.mark.parametrize(
    ("accuracy", "explanation", "message"),
    [
        ("dya 1", None, "accuracy_features: no column .* 'dya 1'; did you mean 'day 1'"),
        (None, ["zip*"], r"explanation_features: no column .*'zip\*'; columns: 'day 1'"),
        (7, None, "accuracy_features contains column 7, but there are 5 columns"),
        ("*", None, "no column is left for the explanation features, because all 5 columns"),
        (None, "*", "no column is left for the accuracy features"),
    ],
)
def test_missing_columns_are_named(accuracy, explanation, message):
    with pytest.raises(ValueError, match=message):
        choose_features(NAMES, NUMERIC, accuracy, explanation)


def table(n=12):
    rng = np.random.default_rng(0)
    days = {f"day {i}": rng.normal(size=n) for i in range(4)}
    return pd.DataFrame({**days, "zip": np.arange(n) % 3, "sex": ["f", "m"] * (n // 2)})


def model(**options):
    return XClusters("day *", **{"k_range": (2, 3), "tree_accuracy": 1.0, **options})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_numbers_may_be_categories():
    found = model(categorical=["zip"]).fit(table())
    words = {str(column) for column in found.tree_columns_}
    assert words == {"zip = 0", "zip = 1", "zip = 2", "sex is f", "sex is m"}
    assert "zip" in {str(column) for column in model().fit(table()).tree_columns_}
    by_index = model(categorical=[4]).fit(table())
    assert by_index.tree_columns_ == found.tree_columns_
    with pytest.raises(
        ValueError, match="categorical contains 'day 0', which is not an explanation"
    ):
        model(categorical=["day 0"]).fit(table())
    with pytest.raises(
        ValueError, match="categorical contains 1, which is not an explanation feature"
    ):
        model(categorical=[1]).fit(table())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_two_tables_with_choices_on_both():
    frame = table()
    found = XClusters("day [01]", "sex", k_range=(2, 3), accuracy_distance="manhattan")
    found.fit(frame, explanation=frame)
    assert found.accuracy_features_ == ["day 0", "day 1"]
    assert found.explanation_features_ == ["sex"]
    assert found.predict(frame[["sex"]]).shape == found.assign(frame).shape == (12,)
    arrays = XClusters([0, 1], [5], k_range=(2, 3), accuracy_distance="manhattan")
    arrays.fit(frame.to_numpy())
    assert arrays.tree_columns_[0].column == "x5"
    np.testing.assert_array_equal(arrays.predict(frame.to_numpy()), found.predict(frame))
    np.testing.assert_array_equal(arrays.assign(frame.to_numpy()), found.assign(frame))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_lists_of_numbers_and_words():
    frame = table()
    rows = frame.to_numpy().tolist()
    found = XClusters(k_range=(2, 3), accuracy_distance="euclidean").fit(rows)
    assert found.accuracy_features_ == ["x0", "x1", "x2", "x3", "x4"]
    assert found.explanation_features_ == ["x5"]
    assert found.predict(rows).shape == (12,)
    explanation = [[row[5]] for row in rows]
    apart = XClusters(k_range=(2, 3), accuracy_distance="euclidean")
    apart.fit([row[:5] for row in rows], explanation=explanation)
    np.testing.assert_array_equal(apart.labels_, found.labels_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_constant_columns():
    frame = table().assign(**{"day 1": 1.0, "country": "Korea"})
    found = model().fit(frame)
    assert "Korea" not in str(found.explain())
    flat = frame.assign(**{f"day {i}": 1.0 for i in range(4)})
    assert model().fit(flat).distortion_ == 0.0


def test_rows_that_no_tree_can_separate():
    frame = table().assign(zip=1, sex="f")
    with pytest.warns(ConvergenceWarning) as caught:
        found = model().fit(frame)
    (warning,) = caught
    largest = np.bincount(found.labels_).max() / 12
    assert f"no tree can separate these {found.best_k_} clusters: all members of different" in str(
        warning.message
    )
    assert f"the best reachable accuracy is {largest:.3f}" in str(warning.message)
    assert found.n_nodes_ == 1
    # At α = 0 some rows of different clusters have the same explanation features.
    with pytest.warns(ConvergenceWarning, match="some members of different clusters have the same"):
        model(search="two-step").fit(table())


def test_an_accurate_tree_is_preferred_to_a_small_objective():
    found = model().fit(table())
    cheaper = found.evaluations_["objective"] < found.objective_
    assert cheaper.any()
    assert (found.evaluations_["accuracy"][cheaper] < 1).all()
    assert found.accuracy_ == 1
    assert found.predict(table()).tolist() == found.labels_.tolist()
    some = model(tree_accuracy=0.8, tree_measure="accuracy").fit(table())
    assert 0.8 <= some.accuracy_ < 1
    assert some.objective_ < found.objective_


def test_a_required_accuracy_that_no_tree_reaches_is_named():
    frame = table().assign(zip=1, sex="f")
    with pytest.warns(ConvergenceWarning, match="clusters with tree_accuracy=0.9: all"):
        model(tree_accuracy=0.9).fit(frame)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"k_range": (3, 13)},
            r"k_range=\(3, 13\) exceeds .*= 12; use for example k_range=\(3, 12\)",
        ),
        ({"k_range": (5, 2)}, r"k_range=\(5, 2\); give the smallest and the largest number"),
        ({"k_range": (0, 2)}, "give the smallest and the largest number"),
        ({"k_range": (2.5, 4)}, "give the smallest and the largest number"),
        ({"accuracy_distance": "hemming"}, "unknown metric='hemming'; did you"),
        ({"accuracy_distance": "precomputed"}, "X is the distance matrix; pass the expl"),
        (
            {"explanation_distance": "precomputed"},
            "requires fit\\(..., explanation_distances=...\\)",
        ),
        ({"window": 3}, "window=3 is only used by the distance 'dtw'"),
        ({"tree_accuracy": 0}, "'tree_accuracy' parameter of XClusters must be"),
        ({"search": "random"}, "'search' parameter of XClusters must be"),
    ],
)
def test_invalid_parameters(change, message):
    with pytest.raises(ValueError, match=message):
        model(**change).fit(table())


def test_one_row_is_not_enough():
    with pytest.raises(ValueError, match="only 1 sample"):
        model().fit(table().iloc[:1])
    with pytest.raises(ValueError, match="only 1 sample"):
        model().fit(table(), sample_weight=np.eye(12)[3])


def test_invalid_accuracy_features_are_named():
    frame = table()
    frame.loc[7, "day 2"] = np.nan
    with pytest.raises(ValueError, match="contain NaN: column 'day 2', first at row 7"):
        model().fit(frame)
    with pytest.raises(ValueError, match="column 'sex' is an accuracy feature, but contains 'f'"):
        model().set_params(accuracy_features=["day *", "sex"]).fit(table())
    with pytest.raises(ValueError, match="column 'zip' contains NaN, first at row 2"):
        model().fit(table().assign(zip=[0, 1, np.nan] * 4))
    explanation = table()[["zip", "sex"]]
    series = [np.arange(3.0 + i % 2) for i in range(12)]
    options = {"k_range": (2, 3)}
    with pytest.raises(ValueError, match="series 1 of X has 4 steps, series 0 has 3: .*dtw"):
        XClusters(**options).fit(series, explanation=explanation)
    with pytest.raises(ValueError, match="rows of X have different lengths, .*explanation=..."):
        XClusters(**options).fit(series)
    with pytest.raises(ValueError, match="X has 11 rows, but explanation has 12"):
        XClusters(**options).fit(series[1:], explanation=explanation)


def test_invalid_matrices():
    explanation = table()[["zip", "sex"]]
    ready = XClusters(k_range=(2, 3), accuracy_distance="precomputed")
    good = np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0)))
    skew, negative = good.copy(), good.copy()
    skew[2, 5] = 9.0
    negative[1, 3] = negative[3, 1] = -1.0
    with pytest.raises(ValueError, match=r"X is not symmetric: \[2, 5\] is 9"):
        ready.fit(skew, explanation=explanation)
    with pytest.raises(ValueError, match=r"X\[1, 3\] is -1"):
        ready.fit(negative, explanation=explanation)
    with pytest.raises(ValueError, match="shape .*square matrix"):
        ready.fit(good[:, :4], explanation=explanation)
    both = XClusters(
        k_range=(2, 3), accuracy_distance="precomputed", explanation_distance="precomputed"
    )
    with pytest.raises(ValueError, match="explanation_distances is 5 × 5, but the data have 12"):
        both.fit(good, explanation=explanation, explanation_distances=good[:5, :5])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_new_rows_are_checked():
    found = model().fit(table())
    with pytest.raises(ValueError, match="X has no column 'sex', which was in fit"):
        found.predict(table()[["zip"]])
    with pytest.raises(ValueError, match="X has no column 'day 3', which was in fit"):
        found.assign(table().drop(columns="day 3"))
    with pytest.raises(ValueError, match="features"):
        found.predict(np.zeros((2, 2)))
    unknown = found.predict(pd.DataFrame({"zip": [1], "sex": ["x"]}))
    assert unknown[0] in range(found.best_k_)


def dated(kind):
    """Series that rise after March 2020, with dates of a type."""
    opened = pd.date_range("2019-11-15", periods=12, freq="MS")
    rises = (opened >= "2020-04-01").astype(float)
    noise = np.random.default_rng(0).normal(0, 0.01, (12, 4))
    frame = pd.DataFrame(np.outer(rises, np.arange(4.0)) + noise)
    frame.columns = [f"day {i}" for i in range(4)]
    if kind == "date":
        return frame.assign(opened=opened.date)
    if kind == "datetime":
        return frame.assign(opened=opened + pd.Timedelta(hours=6))
    return pl.from_pandas(frame.assign(opened=opened)).with_columns(pl.col("opened").cast(pl.Date))


@pytest.mark.parametrize("kind", ["date", "datetime", "polars"])
def test_dates_are_ordered(kind):
    frame = dated(kind)
    found = XClusters("day *", k_range=(2, 3)).fit(frame)
    assert found.best_k_ == 2
    assert found.tree_columns_ == ["opened"]
    assert found.n_nodes_ == 3
    assert found.predict(frame).tolist() == found.labels_.tolist()
    text = str(found.explain())
    assert "opened ≤ 2020-03-" in text
    assert "opened > 2020-03-" in text
    later = pd.DataFrame({"opened": [pd.Timestamp("2025-01-01"), pd.Timestamp("1999-01-01")]})
    assert found.predict(later).tolist() == [found.labels_[11], found.labels_[0]]
    assert "2020-03-" in str(found.explain(later))
    assert "2020-03-" in found.to_sql()


def test_dates_can_be_categories():
    found = XClusters("day *", k_range=(2, 3), categorical=["opened"]).fit(dated("date"))
    assert len(found.tree_columns_) == 12
    frame = dated("date")
    frame.loc[4, "opened"] = None
    with pytest.raises(ValueError, match="column 'opened' contains NaN, first at row 4"):
        XClusters("day *", k_range=(2, 3)).fit(frame)


def test_the_rule_of_a_row_with_a_new_category_is_true_for_it():
    table = pd.DataFrame({"plan": ["basic", "plus", "pro"] * 20, "spend": [1.0, 8.0, 8.0] * 20})
    found = XClusters("spend", "plan", k_range=(2, 3), accuracy_distance="euclidean").fit(table)
    new = pd.DataFrame({"plan": ["trial"], "spend": [1.0]})
    (row,) = found.explain(new)
    assert row.rule.text == "plan is not basic"
    assert row.notes == ("plan: 'trial' was not in the training data",)
