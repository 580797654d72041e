"""SQL gives what predict gives, in the databases themselves."""

import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_wine

from _support.export_cases import (
    FORMATS,
    category_model,
    explanations,
    format_model,
    hostile_model,
    mixed_case,
)
from _support.extended import examples, seeds
from _support.hostile import HOSTILE
from pellucid import IMM, ExKMC, Explanation
from pellucid.export import to_sql
from pellucid.export.sql_dialects import DIALECTS
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import Indicator
from pellucid.tree import TreeBuilder


def in_duckdb(explanation, table, types=None):
    with duckdb.connect() as database:
        database.register("given_rows", table)
        casts = [f"CAST({name} AS {kind}) AS {name}" for name, kind in (types or {}).items()]
        replaced = f"REPLACE ({', '.join(casts)})" if casts else ""
        database.execute(f"CREATE TABLE rows_ AS SELECT * {replaced} FROM given_rows")
        query = to_sql(explanation, dialect="duckdb", table="rows_", column="the cluster")
        return [row[-1] for row in database.execute(query).fetchall()]


def in_sqlite(explanation, table, types=None):
    database = sqlite3.connect(":memory:")
    quoted = [DIALECTS["sqlite"].identifier(name) for name in table.columns]
    database.execute(f"CREATE TABLE rows_ ({', '.join(quoted)})")
    places = ", ".join("?" * len(quoted))
    values = [
        [None if v is None or v != v else v for v in row]
        for row in table.astype(object).to_numpy().tolist()
    ]
    database.executemany(f"INSERT INTO rows_ VALUES ({places})", values)
    query = to_sql(explanation, dialect="sqlite", table="rows_", column="the cluster")
    found = [row[-1] for row in database.execute(query).fetchall()]
    database.close()
    return found


both = pytest.mark.parametrize("run", [in_duckdb, in_sqlite])


@pytest.mark.slow
@both
@pytest.mark.parametrize("style", ["round", "data", "midpoint"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_real_data_with_nulls(run, style, dtype):
    X = load_breast_cancer(as_frame=True).data.astype(dtype)
    model = ExKMC(4, n_leaves=15, threshold_style=style, random_state=0).fit(X)
    asked = np.unique(model.tree_.feature[~model.tree_.is_leaf])
    assert len(asked) > 3
    holes = np.random.default_rng(0).random(X.shape) < 0.05
    table = X.mask(holes)
    found = run(model, table)
    expected = [cluster_or_none(model.tree_, row) for row in table.to_numpy(dtype=np.float64)]
    assert found == expected
    is_whole = ~holes[:, asked].any(axis=1)
    is_known = np.array([cluster is not None for cluster in expected])
    assert is_known[is_whole].all()
    assert is_whole.sum() < is_known.sum() < len(X)
    assert np.array(expected)[is_known].tolist() == model.labels_[is_known].tolist()


def cluster_or_none(tree, row):
    """The cluster of a row; None if a number on its path is missing."""
    node = 0
    while tree.children_left[node] >= 0:
        value = row[tree.feature[node]]
        if np.isnan(value):
            return None
        is_left = value <= tree.threshold[node]
        node = (tree.children_left if is_left else tree.children_right)[node]
    return int(tree.cluster[node])


@both
def test_hostile_names_and_labels(run):
    model, X = hostile_model()
    assert run(model, X) == model.labels_.tolist()
    X.iloc[7, :] = None
    assert run(model, X)[7] is None


@both
def test_categories(run):
    explanation, table, expected = category_model()
    asked = {getattr(name, "column", name) for name in explanation.input_columns.encoding.names}
    assert asked == {"age", "district", "zip", "member"}
    assert run(explanation, table) == expected.tolist()
    new = table.head(3).assign(district=["Mars", None, "Gangnam"])
    assert run(explanation, new) == explanation.predict(new).tolist()


@both
def test_dates_units_and_small_integers(run):
    explanation, table = format_model()
    expected = explanation.predict(table).tolist()
    assert len(set(expected)) == 7
    # Dates are text in SQLite, with or without seconds and their fractions.
    for spelling in ("%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f"):
        rows = table
        if run is in_sqlite:
            rows = table.assign(
                signup=table["signup"].astype(str), seen=table["seen"].dt.strftime(spelling)
            )
        assert run(explanation, rows) == expected
    # Clusters 3 and 4 are on both sides of a threshold of `seen`; the others do not use it.
    incomplete = rows.astype({"seen": object})
    incomplete["seen"] = None
    types = {"seen": "TIMESTAMP"} if run is in_duckdb else {}
    found = run(explanation, incomplete, types)
    assert found == [None if cluster in (3, 4) else cluster for cluster in expected]
    incomplete = rows.astype({"signup": object})
    incomplete.loc[4, "signup"] = None
    found = run(explanation, incomplete, {"signup": "DATE"} if run is in_duckdb else {})
    assert found == [*expected[:4], None, *expected[5:]]


@both
@pytest.mark.parametrize("seed", seeds(8))
def test_random_trees_of_categories_dates_and_integers(run, seed):
    explanation, table = mixed_case(seed)
    rows = table.assign(signup=table["signup"].astype(str)) if run is in_sqlite else table
    expected = explanation.predict(table).tolist()
    assert run(explanation, rows) == expected
    # New categories and new integers go the same way in SQL.
    new = rows.assign(continent="Mars", am=7, cyl=5)
    assert run(explanation, new) == explanation.predict(new).tolist()
    space = {}
    exec(explanation.to_python(), space)
    plain = table.astype(object).where(table.notna(), None).to_dict("records")
    assert [space["cluster_of"](row) for row in plain] == expected


@both
def test_missing_dates_are_replaced(run):
    explanation, table = format_model()
    fill = {"signup": 18000.0, "seen": 18779.75}
    filled = Explanation(explanation.tree_, names=list(FORMATS), formats=FORMATS, fill=fill)
    rows = table.astype({"signup": object, "seen": object})
    if run is in_sqlite:
        rows = rows.assign(signup=table["signup"].astype(str), seen=table["seen"].astype(str))
    expected = filled.predict(table.assign(signup=18000.0, seen=18779.75))
    types = {"signup": "DATE", "seen": "TIMESTAMP"} if run is in_duckdb else {}
    empty = rows.assign(signup=None, seen=None)
    assert run(filled, empty, types) == expected.tolist()


@given(st.dates(), st.lists(st.dates(), min_size=1, max_size=20))
@settings(max_examples=examples(30), deadline=None)
def test_any_date(threshold, dates):
    """Dates on both sides of a threshold, in both databases."""
    written = ColumnFormat("date")
    builder = TreeBuilder(1)
    builder.split(0, feature=0, threshold=written.days(threshold))
    builder.set_cluster(2, 1)
    table = pd.DataFrame({"day": [threshold, *dates]})
    explanation = Explanation(builder.build(), names=["day"], formats={"day": written})
    expected = explanation.predict(table).tolist()
    with duckdb.connect() as database:
        database.execute("CREATE TABLE t (day DATE)")
        database.executemany("INSERT INTO t VALUES (?)", table.to_numpy().tolist())
        query = explanation.to_sql(dialect="duckdb", table="t")
        assert [row[-1] for row in database.execute(query).fetchall()] == expected
    texts = table.assign(day=[day.isoformat() for day in table["day"]])
    assert in_sqlite(explanation, texts) == expected


@pytest.mark.parametrize(
    ("dialect", "day", "moment"),
    [
        ("standard", "DATE '2021-03-15'", "TIMESTAMP '2021-03-15 14:30:00'"),
        ("duckdb", "DATE '2021-03-15'", "TIMESTAMP '2021-03-15 14:30:00'"),
        ("postgres", "DATE '2021-03-15'", "TIMESTAMP '2021-03-15 14:30:00'"),
        ("snowflake", "DATE '2021-03-15'", "TIMESTAMP '2021-03-15 14:30:00'"),
        ("spark", "DATE '2021-03-15'", "TIMESTAMP '2021-03-15 14:30:00'"),
        ("mysql", "DATE '2021-03-15'", "TIMESTAMP '2021-03-15 14:30:00'"),
        ("bigquery", "DATE '2021-03-15'", "'2021-03-15 14:30:00'"),
        (
            "mssql",
            "CAST(N'2021-03-15' AS date)",
            "CAST(N'2021-03-15 14:30:00' AS datetime2)",
        ),
        ("sqlite", "'2021-03-15'", "'2021-03-15 14:30:00.000000'"),
    ],
)
def test_date_literals_of_every_dialect(dialect, day, moment):
    writer, days = DIALECTS[dialect], ColumnFormat("datetime").days("2021-03-15 14:30")
    assert writer.date_literal(18701.0, with_time=False) == day
    assert writer.date_literal(days, with_time=True) == moment
    assert writer.date_literal(days, with_time=False) == moment
    with pytest.raises(ValueError, match="is not a date that SQL can represent"):
        writer.date_literal(1e9, with_time=False)


def test_thresholds_of_integer_columns_are_integers():
    builder = TreeBuilder(1)
    builder.split(0, feature=0, threshold=500_000_000.0)
    tree = builder.build()
    expression = Explanation(tree, names=["pop"]).to_sql()
    assert '"pop" <= 500000000.0e0 ' in expression
    formats = {"pop": ColumnFormat("integer")}
    expression = Explanation(tree, names=["pop"], formats=formats).to_sql()
    assert '"pop" <= 500000000 ' in expression


def test_dates_have_no_test_for_numbers():
    explanation, _ = format_model()
    for dialect in DIALECTS:
        lines = explanation.to_sql(dialect=dialect).split("\n")
        assert not [line for line in lines if "signup" in line and "THEN NULL" in line]


@both
@given(explanations(plain=True), st.data())
@settings(max_examples=examples(20), deadline=None)
def test_any_tree_on_its_own_thresholds(run, explanation, data):
    """Rows that sit on thresholds and right beside them."""
    tree = explanation.tree_
    at = np.append(tree.threshold[~tree.is_leaf], 0.0)
    near = np.concatenate([at, np.nextafter(at, np.inf), np.nextafter(at, -np.inf), at + 1])
    row = st.tuples(*[st.sampled_from(near.tolist())] * tree.n_features)
    rows = data.draw(st.lists(row, min_size=1, max_size=30))
    table = pd.DataFrame(rows, columns=explanation.tree_columns_)
    assert run(explanation, table) == explanation.predict(table).tolist()


@both
def test_infinities_have_no_cluster(run):
    model = IMM(2, random_state=0).fit(pd.DataFrame({"a": [0.0, 1.0, 9.0]}))
    table = pd.DataFrame({"a": [np.inf, -np.inf, 5.0, np.nan]})
    assert run(model, table) == [None, None, 0, None]


def test_nan_has_no_cluster_in_duckdb():
    model = IMM(2, random_state=0).fit(pd.DataFrame({"a": [0.0, 1.0, 9.0]}))
    query = f"SELECT {model.to_sql(dialect='duckdb')} FROM (SELECT 'NaN'::DOUBLE AS a)"
    assert duckdb.sql(query).fetchall() == [(None,)]


@pytest.mark.parametrize("kind", ["TINYINT", "BIGINT", "FLOAT", "DECIMAL(9, 3)", "UINTEGER"])
def test_columns_of_every_kind_of_number(kind):
    builder = TreeBuilder(1)
    builder.split(0, feature=0, threshold=5.1)
    builder.set_cluster(2, 1)
    expression = to_sql(builder.build(), dialect="duckdb")
    query = f"SELECT {expression} FROM (SELECT unnest([0, 5, 6, 99])::{kind} AS x0)"
    assert duckdb.sql(query).fetchall() == [(0,), (0,), (1,), (1,)]


def test_a_single_leaf():
    for run in (in_duckdb, in_sqlite):
        assert run(TreeBuilder(1).build(), pd.DataFrame({"x0": [1.0, None]})) == [0, 0]


def test_a_column_that_is_not_there_is_an_error_and_no_string():
    model = IMM(2, random_state=0).fit(pd.DataFrame({"a": [0.0, 1.0, 9.0]}))
    for run, error in ((in_sqlite, sqlite3.OperationalError), (in_duckdb, duckdb.Error)):
        with pytest.raises(error):
            run(model, pd.DataFrame({"b": [1.0]}))


def test_a_query_names_table_and_column():
    wine = load_wine(as_frame=True).data
    query = IMM(3, random_state=0).fit(wine).to_sql(table=("main", 'my "wine"'), column="a b")
    assert query.startswith('SELECT *,\nCASE\n    WHEN "proline" <= ')
    assert query.endswith('END AS "a b"\nFROM "main"."my ""wine"""')


@pytest.mark.parametrize(
    ("dialect", "name", "text", "number"),
    [
        ("standard", '"a""`]\\"', "'it''s \\'", "5.1e0"),
        ("duckdb", '"a""`]\\"', "'it''s \\'", "5.1e0"),
        ("postgres", '"a""`]\\"', "'it''s \\'", "5.1"),
        ("sqlite", '`a"``]\\`', "'it''s \\'", "5.1"),
        ("mysql", '`a"``]\\`', "'it\\'s \\\\'", "5.1e0"),
        ("spark", '`a"``]\\`', "'it\\'s \\\\'", "5.1e0"),
        ("bigquery", '`a"\\`]\\\\`', "'it\\'s \\\\'", "5.1"),
        ("snowflake", '"a""`]\\"', "'it\\'s \\\\'", "5.1e0"),
        ("mssql", '[a"`]]\\]', "N'it''s \\'", "5.1e0"),
    ],
)
def test_quotes_of_every_dialect(dialect, name, text, number):
    writer = DIALECTS[dialect]
    assert writer.identifier('a"`]\\') == name
    assert writer.literal("it's \\") == text
    assert writer.literal(5.1) == number
    assert writer.literal(-3.0) == writer.literal(-3) == "-3"
    assert writer.literal(1e300) == "1e+300"
    assert writer.literal(True) == ("1" if dialect == "mssql" else "TRUE")


def category_tests(values, fill=None):
    """The tests of a tree whose splits exclude categories of a column, from left to right."""
    builder, node = TreeBuilder(len(values)), 0
    for feature in range(len(values)):
        node, held = builder.split(node, feature=feature, threshold=0.5)
        builder.set_cluster(held, 1)
    builder.set_cluster(node, 0)
    names = [Indicator("d", value) for value in values]
    text = to_sql(Explanation(builder.build(), names=names, fill=fill))
    return [part.partition(" THEN")[0] for part in text.split("WHEN ")[1:]]


def test_excluded_categories():
    assert category_tests(["a"]) == ['("d" <> \'a\' OR "d" IS NULL)', "\"d\" = 'a'"]
    assert category_tests([None]) == ['"d" IS NOT NULL', '"d" IS NULL']
    assert category_tests(["a", 3])[0] == '("d" NOT IN (\'a\', 3) OR "d" IS NULL)'
    assert category_tests(["a", None])[0] == "\"d\" <> 'a'"
    filled = category_tests(["a"], fill={"d": "b"})
    assert filled[0] == "COALESCE(\"d\", 'b') <> 'a'"


def test_what_cannot_be_written_is_refused():
    model, _ = hostile_model()
    with pytest.raises(ValueError, match="dialect is 'oracle'; those known are standard, bigq"):
        model.to_sql(dialect="oracle")
    for bad, message in (
        ("nul\0", "contains a NUL character, which SQL cannot represent"),
        ("\ud800", "ud800' contains a lone surrogate, which is not valid text"),
    ):
        with pytest.raises(ValueError, match=message):
            model.to_sql(feature_names=[f"{i}{bad}" for i in range(len(HOSTILE))])


@pytest.mark.slow
def test_parsers_of_all_dialects_read_the_query():
    sqlglot = pytest.importorskip("sqlglot")
    explanation = category_model()[0]
    for dialect in DIALECTS:
        read = {"standard": None, "mssql": "tsql"}.get(dialect, dialect)
        parsed = sqlglot.parse_one(explanation.to_sql(dialect=dialect, table="rows"), read=read)
        columns = {each.name for each in parsed.find_all(sqlglot.exp.Column)}
        assert columns == {"age", "district", "zip", "member"}
        assert [each.name for each in parsed.find_all(sqlglot.exp.Table)] == ["rows"]
