"""Clusters of rows: labels, predict and SQL agree, also for missing values."""

from __future__ import annotations

import sqlite3
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pellucid
from _support.extended import EXTENDED, examples, seeds
from _support.tables import blobs, decisions, run_sql, source
from pellucid._utils.notices import InputError
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.input_columns import find_leaves
from pellucid.table_explainer.prediction import assign_rows, report_assignment
from pellucid.tree import TreeBuilder


def clusters_of(found, table):
    """Cluster of each row by assignment, predict and SQL; None where there is none."""
    assigned = assign_rows(found.explanation, source(table))
    names = found.explanation.cluster_names_
    by_leaf = [
        None if leaf < 0 else names[found.explanation.tree_.cluster[leaf]].item()
        for leaf in assigned.leaf.tolist()
    ]
    predicted = [None if label == -1 else label for label in found.predict(table).tolist()]
    return by_leaf, predicted, run_sql(found.to_sql(dialect="duckdb"), table)


def with_random_gaps(table: pl.DataFrame, seed: int, share: float = 0.1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return table.with_columns(
        pl.when(pl.Series(rng.random(table.height) < share))
        .then(None)
        .otherwise(pl.col(name))
        .alias(name)
        for name in table.columns
    )


def wide(n_rows: int = 200, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(rng.normal(size=(n_rows, 4)), schema=list("abcd"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3 if EXTENDED else 1))
def test_rows_with_gaps_have_the_cluster_of_all_completions(seed):
    table = wide(seed=seed)
    found = pellucid.explain(table, k=5, outliers="keep", effort="fast", verbose=False)
    tree = found.explanation.tree_
    incomplete = with_random_gaps(table, seed)
    labels = assign_rows(found.explanation, source(incomplete))
    n_answered = 0
    for row, leaf in zip(incomplete.to_numpy(), labels.leaf.tolist()):
        reached = reachable(tree, row)
        assert leaf == (reached.pop() if len(reached) == 1 else -1)
        n_answered += leaf >= 0 and bool(np.isnan(row).any())
    assert n_answered > 5


def reachable(tree, row) -> set[int]:
    """The leaves of all completions of a row."""
    missing = np.flatnonzero(np.isnan(row))
    rows = [row]
    for j in missing:
        at = np.append(tree.threshold[tree.feature == j], 0.0)
        values = np.concatenate([at - 1e-9, at + 1e-9])
        rows = [
            np.where(np.arange(len(row)) == j, value, each) for each in rows for value in values
        ]
    return set(tree.apply(np.array(rows)).tolist())


@pytest.mark.slow
@pytest.mark.parametrize("method", ["explainable", "exkmc", "spex"])
def test_sql_answers_the_same_rows(method):
    table = with_random_gaps(wide(), 1)
    options = {"effort": "fast"} if method == "explainable" else {"leaves": 9}
    found = pellucid.explain(table, k=4, method=method, missing="drop", verbose=False, **options)
    assigned, predicted, in_database = clusters_of(found, table)
    assert assigned == predicted == in_database
    assert None in assigned
    assert found.labels.tolist() == [-1 if label is None else label for label in assigned]
    expression = found.to_sql(dialect="sqlite")
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE t (a REAL, b REAL, c REAL, d REAL)")
        database.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", table.rows())
        rows = database.execute(f"SELECT {expression} FROM t ORDER BY rowid").fetchall()
    assert [row[0] for row in rows] == assigned


@pytest.mark.parametrize("seed", seeds(6))
def test_random_trees(seed):
    """Any tree, also with the same cluster in several leaves."""
    rng = np.random.default_rng(seed)
    builder = TreeBuilder(4)
    for _ in range(8):
        leaf = int(rng.choice(builder.leaves))
        builder.split(leaf, feature=int(rng.integers(4)), threshold=round(float(rng.normal()), 1))
    for node in range(len(builder.nodes)):
        builder.set_cluster(node, int(rng.integers(3)))
    explanation = Explanation(builder.build(), names=list("abcd"), clusters=range(3))
    table = with_random_gaps(wide(seed=seed).with_columns(pl.all().round(1)), seed, 0.2)
    leaf = assign_rows(explanation, source(table)).leaf
    expected = [None if n < 0 else int(explanation.tree_.cluster[n]) for n in leaf.tolist()]
    assert run_sql(explanation.to_sql(dialect="duckdb"), table) == expected
    complete = table.drop_nulls()
    assert explanation.predict(complete).tolist() == [
        cluster for cluster, row in zip(expected, table.rows()) if None not in row
    ]


@pytest.mark.slow
def test_filled_gaps_are_filled_again():
    table = with_random_gaps(wide(100), 2, 0.15)
    found = pellucid.explain(table, k=4, missing="median", effort="fast", verbose=False)
    assigned, predicted, in_database = clusters_of(found, table)
    assert assigned == predicted == in_database
    assert None not in assigned


@pytest.mark.slow
def test_infinite_and_missing_numbers_are_alike():
    found = pellucid.explain(blobs(), k=3, effort="fast", verbose=False)
    (column,) = set(found.explanation.input_columns.encoding.names)
    for value in (None, float("nan"), float("inf"), float("-inf")):
        table = blobs(3).with_columns(pl.lit(value, dtype=pl.Float64).alias(column))
        assert found.predict(table).tolist() == [-1] * 3


def test_a_leaf_is_found_without_the_columns_of_other_paths():
    builder = TreeBuilder(2)
    left, right = builder.split(0, feature=0, threshold=1.0)
    builder.split(right, feature=1, threshold=5.0)
    tree = builder.build()
    features = {0: np.array([0.0, 2.0, np.nan, 2.0]), 1: np.array([np.nan, np.nan, 9.0, 9.0])}
    leaf, missing = find_leaves(tree, features, 4)
    assert missing.tolist() == [-1, 1, 0, -1]
    assert leaf[0] == left
    assert leaf[1] == leaf[2] == -1
    assert leaf[3] > right


def test_dates():
    days = [date(2020, 1, 1) + timedelta(days=i % 300 + 500 * (i % 2)) for i in range(200)]
    table = pl.DataFrame({"signup": days, "noise": np.random.default_rng(0).random(200)})
    found = pellucid.explain(table, k=2, columns="signup", effort="fast", verbose=False)
    assert "signup ≤ 20" in str(found.rules)
    assigned, predicted, in_database = clusters_of(found, table)
    assert assigned == predicted == in_database
    assert assigned[0] != assigned[1]
    times = table.with_columns(pl.col("signup").cast(pl.Datetime("ms")) + pl.duration(hours=7))
    assigned, predicted, in_database = clusters_of(found, times)
    assert assigned == predicted == in_database


def test_dates_in_a_file_keep_the_order_of_day_and_month(tmp_path):
    days = [date(2020, 1, 1) + timedelta(days=i % 300 + 500 * (i % 2)) for i in range(200)]
    text = "\n".join(["signup", *(day.strftime("%d.%m.%Y") for day in days)])
    (tmp_path / "data.csv").write_text(text + "\n")
    found = pellucid.explain(
        tmp_path / "data.csv", k=2, include="signup", effort="fast", verbose=False
    )
    expected = found.labels.tolist()
    # All days of the new file could be months.
    few = [i for i, day in enumerate(days) if day.day <= 12]
    text = "\n".join(["signup", *(days[i].strftime("%d.%m.%Y") for i in few)])
    (tmp_path / "new.csv").write_text(text + "\n")
    assert found.predict(tmp_path / "new.csv").tolist() == [expected[i] for i in few]


def test_categories():
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {
            "kind": rng.choice(["a", "b", "c"], 200),
            "flag": rng.integers(0, 2, 200),
            "member": rng.random(200) < 0.5,
        }
    )
    found = pellucid.explain(table, k=6, effort="fast", verbose=False)
    assigned, predicted, in_database = clusters_of(found, table)
    assert assigned == predicted == in_database


def test_unseen_categories_are_counted():
    table = pl.DataFrame({"kind": ["a", "b", "c"] * 40})
    found = pellucid.explain(table, k=3, effort="fast", verbose=False)
    new = pl.DataFrame({"kind": ["a", "x", "y", "y", None]})
    assigned = assign_rows(found.explanation, source(new))
    _, lines = decisions(report_assignment, found.explanation, assigned)
    assert lines == [
        "4 rows with a value of kind that was not in the training data ('y', 'x', missing); they "
        "are treated as none of the known values"
    ]


def test_unseen_integers_are_compared_as_numbers():
    table = pl.DataFrame({"cyl": [4, 6, 8] * 40})
    found = pellucid.explain(table, k=3, effort="fast", verbose=False)
    new = pl.DataFrame({"cyl": [4, 5, None]})
    assigned = assign_rows(found.explanation, source(new))
    _, lines = decisions(report_assignment, found.explanation, assigned)
    assert lines == [
        "1 row without a cluster, because a value that the rules need is missing (cyl 1)",
        "1 row with a value of cyl that was not in the training data ('5'); it is compared by size",
    ]


def test_missing_values_are_counted_by_column(capsys):
    found = pellucid.explain(blobs(), k=3, columns="size", effort="fast", verbose=False)
    new = pl.DataFrame({"size": [50.0, None, None, 70.0]})
    assert found.predict(new).tolist()[1:3] == [-1, -1]
    assert capsys.readouterr().err == (
        "2 rows without a cluster, because a value that the rules need is missing (size 2)\n"
    )


def test_a_missing_column_is_an_error():
    found = pellucid.explain(blobs(), k=3, columns="size", effort="fast", verbose=False)
    with pytest.raises(InputError, match="has no column 'size', which the model uses; its columns"):
        found.predict(pl.DataFrame({"weight": [1.0]}))


def test_the_explanation_itself_gives_no_cluster_to_missing_numbers():
    found = pellucid.explain(blobs(), k=3, columns="size", effort="fast", verbose=False)
    table = pl.DataFrame({"size": [None]}, schema={"size": pl.Float64})
    assert found.explanation.predict(table).tolist() == [-1]
    assert found.explanation.apply(table).tolist() == [-1]
    assert str(found.explanation.explain(table)) == "row 0: no cluster because size is missing"


@st.composite
def tables(draw):
    """A random table of numbers, integers, dates, categories and flags, with gaps."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = draw(st.integers(30, 60))
    makers = {
        "number": lambda: rng.normal(100, 30, n).round(1),
        "skewed": lambda: rng.lognormal(2, 1, n).round(2),
        "count": lambda: rng.integers(0, 5, n),
        "day": lambda: [date(2020, 1, 1) + timedelta(days=int(i)) for i in rng.integers(0, 900, n)],
        "word": lambda: rng.choice(["x", "y y", "it's"], n),
        "flag": lambda: rng.integers(0, 2, n),
        "truth": lambda: rng.random(n) < 0.5,
    }
    kinds = draw(st.lists(st.sampled_from(sorted(makers)), min_size=2, max_size=5, unique=True))
    table = pl.DataFrame({kind: makers[kind]() for kind in kinds})
    share = draw(st.sampled_from([0.0, 0.05, 0.25]))
    return with_random_gaps(table, 0, share) if share else table


@given(tables(), st.integers(2, 5), st.sampled_from(["auto", "drop", "median"]))
@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
def test_labels_predict_and_sql_agree(table, k, missing):
    try:
        found = pellucid.explain(table, k=k, missing=missing, effort="fast", verbose=False)
    except InputError:
        # Too few complete or different rows.
        return
    assigned, predicted, in_database = clusters_of(found, table)
    assert assigned == predicted == in_database
    rows = found.fitted.prepared.rows
    assert [assigned[row] for row in rows] == found.model.labels_.tolist()
