"""A newcomer's afternoon: files as people have them, through every command."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3

import duckdb
import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from pellucid.cli.app import app

N_ROWS = 600
FAST = ("--effort", "fast")
"""Where any valid tree will do."""


def run(*arguments, stdin: bytes | None = None):
    return CliRunner().invoke(app, [str(a) for a in arguments], input=stdin)


def answer_of(result, chosen: int) -> str:
    """What is printed behind the scores of the numbers of clusters, of which one was chosen."""
    scores, legend, answer = result.stdout.partition("\nscore: decides about the number;")
    assert legend
    assert scores.split()[:3] == ["clusters", "score", "silhouette"]
    assert [line.split()[0] for line in scores.splitlines() if "(chosen)" in line] == [str(chosen)]
    return answer.partition("\n\n")[2]


def assert_fails(result, *lines: str, code: int = 1) -> None:
    assert result.stderr.splitlines() == list(lines)
    assert result.stdout == ""
    assert result.exit_code == code


def make_customers(n_rows: int = N_ROWS, seed: int = 0) -> pl.DataFrame:
    """Spenders of three kinds in two channels, with what real files have: gaps, codes, notes."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(3, size=n_rows)
    spend = np.array([[12_000, 900], [2_500, 8_000], [30_000, 2_000]])[kind]
    spend = spend * rng.lognormal(0, 0.15, size=(n_rows, 2))
    age = np.array([30, 45, 60])[kind] + rng.integers(-6, 7, n_rows)
    return pl.DataFrame(
        {
            "customer_id": np.arange(1000, 1000 + n_rows),
            "Fresh, €": spend[:, 0].round(2),
            'the "milk"': spend[:, 1].round(2),
            "age": [None if i % 97 == 5 else int(a) for i, a in enumerate(age)],
            "channel": np.array(["hotel", "shop", "hotel"])[kind],
            "member": kind == 2,
            "since": pl.Series(["2020-01-01"] * n_rows).str.to_date(),
            "remark": [f"note {i}" for i in range(n_rows)],
            "country": ["KR"] * n_rows,
        }
    )


@pytest.fixture(scope="module")
def customers():
    return make_customers()


@pytest.fixture
def folder(customers, tmp_path):
    customers.write_csv(tmp_path / "customers.csv")
    return tmp_path


DECISIONS = [
    'read as dates: since ("2020-01-01")',
    "ignored: customer_id, remark (looks like an ID); since, country (only one value); use them "
    "with --include",
    "treated as categories: channel, member (--exclude to ignore them)",
]


@pytest.mark.slow
def test_a_file_alone_gives_a_sensible_answer_and_prints_the_decisions(folder, customers):
    result = run("explain", folder / "customers.csv", *FAST)
    assert result.exit_code == 0, result.stderr
    printed = result.stderr.splitlines()
    assert printed[:3] == DECISIONS
    gaps = customers["age"].null_count()
    assert printed[3:5] == [
        f"dropped {gaps} of {N_ROWS} rows with missing numbers (age {gaps}); --missing median "
        "keeps them",
        "columns standardized before clustering; rules stay in the original units (--scale to "
        "change)",
    ]
    assert printed[-1].startswith("chose 3 clusters: silhouette score 0.8")
    answer = answer_of(result, chosen=3)
    assert answer.startswith(f"3 clusters of {N_ROWS - gaps} rows, explained by 2 splits\n")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_dates_are_used_as_days(folder, customers, suffix):
    days = pl.date_range(pl.date(2020, 1, 1), pl.date(2021, 8, 22), eager=True)
    varied = customers.with_columns(since=days)
    path = folder / f"dates.{suffix}"
    varied.write_csv(path) if suffix == "csv" else varied.write_parquet(path)
    result = run("explain", path, "-k", 2, "--columns", "since", *FAST)
    assert "used as dates: since (--exclude to ignore them)" in result.stderr
    assert "since ≤ 2020-" in result.stdout


@pytest.mark.slow
def test_rules_are_in_the_units_and_words_of_the_file(folder):
    result = run("explain", folder / "customers.csv", "-k", 3, "--json", *FAST)
    found = json.loads(result.stdout)
    texts = " ".join(cluster["rule"] for cluster in found["clusters"])
    bounds = [float(word) for word in texts.replace("(", " ").split() if word.isdigit()]
    assert all(bound > 20 for bound in bounds)  # years of age or euros, not standard deviations
    assert found["rows"] == sum(cluster["rows"] for cluster in found["clusters"])
    assert found["decisions"]
    options = ("-k", 2, "--columns", "channel", "-q", *FAST)
    only = run("explain", folder / "customers.csv", *options).stdout
    assert "channel is " in only


def test_categories_can_be_forced_on_numbers(tmp_path):
    codes = np.repeat([1, 2, 3], 40)
    table = pl.DataFrame({"floors": codes, "value": np.tile(np.arange(40.0), 3)})
    table.write_csv(tmp_path / "data.csv")
    plain = run("explain", tmp_path / "data.csv", "-k", 3, *FAST)
    line = (
        "treated as numbers although they have few values: floors (--categorical if they are codes)"
    )
    assert line in plain.stderr
    options = ("-k", 3, "--categorical", "floors", "--exclude", "value", *FAST)
    forced = run("explain", tmp_path / "data.csv", *options)
    assert "floors = 1" in forced.stdout
    assert "treated as numbers" not in forced.stderr


@pytest.mark.parametrize("columns", ["*", "age"])
def test_model_sql_and_rows_say_the_same(folder, customers, columns):
    paths = {name: folder / f"out.{name}" for name in ("json", "sql", "csv")}
    others = '"Fresh, €","the ""milk""",channel,member'
    excluded = others if columns == "age" else "country"
    result = run(
        "explain", folder / "customers.csv", "-k", 5, "--model", paths["json"], "--sql",
        paths["sql"], "--output", paths["csv"], "--dialect", "duckdb", "--exclude", excluded, *FAST,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    rows = pl.read_csv(paths["csv"])
    assert rows.drop("cluster", "rule").equals(pl.read_csv(folder / "customers.csv"))
    has_no_age = pl.col("age").is_null()
    if columns == "age":
        assert rows.filter(has_no_age)["cluster"].null_count() == customers["age"].null_count()
    # A row without a number that its rule does not use has a cluster everywhere.
    assert rows.filter(~has_no_age)["cluster"].null_count() == 0
    again = run("predict", paths["json"], folder / "customers.csv")
    assert again.exit_code == 0, again.stderr
    predicted = pl.read_csv(io.StringIO(again.stdout))
    assert predicted.equals(rows)
    query = f"SELECT {paths['sql'].read_text()} AS cluster FROM read_csv('{folder}/customers.csv')"
    in_database = [row[0] for row in duckdb.sql(query).fetchall()]
    assert in_database == predicted["cluster"].to_list()


def test_what_was_filled_in_is_filled_in_again(folder, customers):
    model, rows = folder / "model.json", folder / "rows.csv"
    options = ("-k", 4, "--columns", "age", "--missing", "median", *FAST)
    run("explain", folder / "customers.csv", *options, "--model", model, "--output", rows)
    again = run("predict", model, folder / "customers.csv", "-q")
    assert again.exit_code == 0, again.stderr
    assert again.stdout == rows.read_text()
    assert pl.read_csv(rows)["cluster"].null_count() == 0


def test_sql_for_sqlite(folder, customers):
    sql = folder / "out.sql"
    options = ("-k", 4, "--exclude", "channel,member", "--sql", sql, "--dialect", "sqlite", *FAST)
    result = run("explain", folder / "customers.csv", *options, "--output", folder / "rows.csv")
    assert result.exit_code == 0, result.stderr
    table = customers.select("Fresh, €", 'the "milk"', "age")
    with sqlite3.connect(":memory:") as base:
        base.execute('CREATE TABLE t ("Fresh, €" REAL, "the ""milk""" REAL, "age" REAL)')
        base.executemany("INSERT INTO t VALUES (?, ?, ?)", table.rows())
        found = [row[0] for row in base.execute(f"SELECT {sql.read_text()} FROM t ORDER BY rowid")]
    written = pl.read_csv(folder / "rows.csv")["cluster"]
    known = written.is_not_null().to_list()
    assert [c for c, k in zip(found, known) if k] == written.drop_nulls().to_list()


def test_a_clustering_that_exists_is_explained(folder, customers):
    groups = customers.with_columns(segment=pl.col("channel").replace({"hotel": "B2B"}))
    groups.write_csv(folder / "groups.csv")
    result = run("explain", folder / "groups.csv", "--labels", "segment", "--exclude", "member")
    assert result.exit_code == 0, result.stderr
    assert "compared with the given clusters" in result.stdout
    assert "B2B" in result.stdout
    assert "explained by 1 split" in result.stdout
    assert_fails(
        run("explain", folder / "groups.csv", "--labels", "segment", "-k", 3),
        "error: -k cannot be used with --labels: the labels define the clusters",
        code=2,
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", ["compare", "path"])
def test_comparisons_print_a_table_and_draw_it(folder, command):
    picture = folder / "picture.png"
    make_customers(120).write_csv(folder / "customers.csv")
    columns = 'age,"the ""milk"""'
    arguments = (command, folder / "customers.csv", "-k", 4, "--columns", columns)
    result = run(*arguments, "--plot", picture)
    assert result.exit_code == 0, result.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "cost compared with k-means" in result.stdout
    rows = json.loads(run(*arguments, "--json", "-q").stdout)
    if command == "compare":
        costs = [row["cost_ratio"] for row in rows]
        assert {row["method"] for row in rows} >= {"IMM", "ExShallow", "ExplainableKMeans", "SpEx"}
        assert costs == sorted(costs)
    else:
        assert len(rows) > 1
        assert [row["waes"] for row in rows] == sorted(row["waes"] for row in rows)


def test_warm_up_says_what_was_compiled_and_where_it_is(monkeypatch):
    from pellucid import first_use

    found = [first_use.WarmUp(94, 31.4, "/cache"), first_use.WarmUp(0, 2.0, None)]
    monkeypatch.setattr(first_use, "warm_up", lambda: found.pop(0))
    first, second = run("warm-up").stdout, run("warm-up").stdout
    assert [line.split()[-1] for line in first.splitlines()] == ["94", "31", "/cache"]
    assert "no folder can be written" in second


def test_info_names_versions_and_threads():
    result = run("info")
    assert result.exit_code == 0
    for word in ("pellucid", "python", "threads", "compiled code", "numpy", "scikit-learn"):
        assert word in result.stdout


TWO = "a,b\n" + "".join(f"{i},{i * i % 7}\n" for i in range(12))
COMMA = "a;b\n" + "".join(f"{i},25;{i * i % 7}\n" for i in range(12))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("bom.csv", b"\xef\xbb\xbf" + TWO.encode(), []),
        ("utf16.csv", TWO.encode("utf-16"), []),
        ("semicolon.csv", TWO.replace(",", ";").encode(), ["fields are separated by ';'"]),
        ("tab.txt", TWO.replace(",", "\t").encode(), ["fields are separated by tabs"]),
        ("tabs.tsv", TWO.replace(",", "\t").encode(), []),
        ("packed.csv.gz", gzip.compress(TWO.encode()), []),
        (
            "comma.csv",
            COMMA.encode(),
            ["fields are separated by ';'", "numbers have a decimal comma (--decimal to change)"],
        ),
        (
            "double.csv",
            TWO.replace("a,b", "a,a").encode(),
            ["columns with the same name are renamed: a (2)"],
        ),
        ("lines.jsonl", b'{"a": 1, "b": 2.5}\n{"a": 3, "b": 4}\n{"a": 9, "b": 1}\n' * 4, []),
        ("windows.csv", TWO.replace("\n", "\r\n").encode(), []),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_tables_as_programs_write_them(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    result = run("explain", tmp_path / name, "-k", 2, "--scale", "none", *FAST)
    assert result.exit_code == 0, result.stderr
    notices = [line for line in result.stderr.splitlines() if "looks like an ID" not in line]
    assert notices == said


def test_standard_input_of_every_format(customers):
    table = customers.select("age", "channel").drop_nulls()
    packed = io.BytesIO()
    table.write_parquet(packed)
    texts = [table.write_csv().encode(), packed.getvalue(), table.write_ndjson().encode()]
    answers = {run("explain", "-", "-k", 3, "-q", *FAST, stdin=text).stdout for text in texts}
    assert len(answers) == 1
    assert answers.pop().startswith("3 clusters")


BAD_INPUT = {
    "empty file": (
        ("bad.csv", ""),
        [],
        "error: {file} is empty",
        "hint: a table needs a header line and rows",
    ),
    "header only": (("bad.csv", "a,b\n"), [], "error: {file} has column names but no rows"),
    "long line": (
        ("bad.csv", "a,b\n1,2\n3,4,5\n6,7\n"),
        [],
        "error: {file}: line 3 has 3 fields, the header has 2",
        "hint: correct the line; --sep sets the separator, --skip the number of lines above the "
        "header",
    ),
    "texts only": (
        ("bad.csv", "a,b\n" + "".join(f"t{i},u{i}\n" for i in range(50))),
        [],
        "error: there is no column to cluster by: a, b (looks like an ID)",
        "hint: choose columns with --include, or text columns with --categorical",
    ),
    "k above rows": (
        ("bad.csv", "a\n1.5\n2.5\n"),
        ["-k", 5, "--scale", "none"],
        "error: -k 5 is more than the 2 rows",
        "hint: choose fewer clusters",
    ),
    "unknown dialect": (
        ("bad.csv", "a\n1.5\n2.5\n"),
        ["--dialect", "cobol"],
        "error: --dialect: unknown dialect 'cobol'",
        "hint: use one of standard, bigquery, duckdb, mssql, mysql, postgres, snowflake, spark, "
        "sqlite",
    ),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_gets_one_error_line_and_a_hint(tmp_path, case):
    (name, content), options, *lines = BAD_INPUT[case]
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert_fails(run("explain", file, *options), *(line.format(file=file) for line in lines))
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            ["-k", "some"],
            "error: -k is 'some'; it must be a positive integer, a range such as 3-8, or auto",
        ),
        (["--columns", "a", "--exclude", "a"], "error: 'a' is in --columns and in --exclude"),
    ],
)
def test_wrong_values_of_options_exit_with_code_2(tmp_path, options, line):
    (tmp_path / "few.csv").write_text("a\n1.5\n2.5\n")
    assert_fails(run("explain", tmp_path / "few.csv", *options), line, code=2)


def test_a_broken_archive_is_named(tmp_path):
    file = tmp_path / "packed.csv.gz"
    file.write_bytes(b"not packed at all")
    failed = run("explain", file)
    assert failed.exit_code == 1
    assert failed.stderr.startswith(f"error: {file} cannot be decompressed: ")


def test_predict_names_a_file_that_is_no_model_and_a_missing_column(tmp_path):
    few, other, model = (tmp_path / name for name in ("few.csv", "other.csv", "model.json"))
    few.write_text("a\n1.5\n2.5\n")
    other.write_text("b\n1\n")
    assert_fails(
        run("predict", few, few),
        f"error: {few} is not a model: not JSON: Expecting value at line 1, column 1",
        "hint: create one with pellucid explain FILE --model MODEL",
    )
    run("explain", few, "-k", 2, "--model", model)
    assert_fails(
        run("predict", model, other),
        f"error: {other} has no column 'a', which {model} uses",
        "hint: its columns are 'b'",
    )


def test_one_column_is_enough(tmp_path):
    (tmp_path / "one.csv").write_text(
        "size\n" + "\n".join(["1.5", "2", "2.5", "90", "91", "92"]) + "\n"
    )
    result = run("explain", tmp_path / "one.csv")
    assert answer_of(result, chosen=2).startswith("2 clusters of 6 rows, explained by 1 split\n")


@pytest.mark.slow
def test_many_rows(tmp_path):
    n_rows = 110_000
    rng = np.random.default_rng(0)
    kind = rng.integers(3, size=n_rows)
    X = rng.normal(size=(n_rows, 3)).astype(np.float32) + 9 * kind[:, None]
    table = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(
        where=pl.Series(np.array(["north", "south", "west"])[kind])
    )
    table.write_csv(tmp_path / "many.csv", float_precision=2)
    result = run("explain", tmp_path / "many.csv", "-k", 3, *FAST)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("3 clusters of 110,000 rows, explained by 2 splits")
    assert "100.0%" in result.stdout


def test_quiet_means_results_only(folder):
    assert run("explain", folder / "customers.csv", "-k", 3, "--quiet", *FAST).stderr == ""


@pytest.mark.slow
def test_regions_say_where_clusters_live(folder):
    picture = folder / "regions.png"
    options = ("-k", 3, "--exclude", "channel,member", "--plot", picture)
    result = run("regions", folder / "customers.csv", *options)
    assert result.exit_code == 0, result.stderr
    assert "cluster 0 (" in result.stdout
    assert (folder / "regions.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads(run("regions", folder / "customers.csv", "-k", 3, "--json", "-q").stdout)
    assert [cluster["cluster"] for cluster in found] == [0, 1, 2]
    assert all(0 <= cluster["coverage"] <= 1 for cluster in found)


@pytest.mark.slow
def test_series_are_clustered_so_that_a_tree_explains_them(tmp_path):
    days = np.arange(20)
    rows = [
        (district, age, f"2020-01-{day + 1:02d}", (day if age < 40 else -day) + 30 + noise)
        for noise, district in enumerate(("north", "south", "west"))
        for age in (20, 30, 40, 50, 60)
        for day in days
    ]
    table = pl.DataFrame(rows, schema=["district", "age", "date", "people"], orient="row")
    table.write_csv(tmp_path / "long.csv")
    long = ("xclusters", tmp_path / "long.csv", "--entity", "district,age", "--time", "date")
    paths = {name: tmp_path / f"out.{name}" for name in ("csv", "png", "svg", "json")}
    result = run(
        *long, "--value", "people", "-k", "2-4", "--distance", "euclidean", "--output",
        paths["csv"], "--trends", paths["png"], "--tree", paths["svg"], "--model", paths["json"],
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "15 entities with a series of 20 times" in result.stderr
    assert "age ≤ " in result.stdout
    assert all(path.stat().st_size for path in paths.values())
    labels = pl.read_csv(paths["csv"])
    again = run("predict", paths["json"], paths["csv"].rename(tmp_path / "entities.csv"))
    assert again.stderr.startswith(
        f"error: {tmp_path / 'entities.csv'} already has a column 'cluster'"
    )
    labels.drop("cluster").write_csv(tmp_path / "entities.csv")
    predicted = run("predict", paths["json"], tmp_path / "entities.csv")
    assert pl.read_csv(io.StringIO(predicted.stdout))["cluster"].equals(labels["cluster"])
    assert_fails(
        run(*long, "--value", "district", "--quiet"),
        "error: --value: column 'district' is not numeric",
    )
    assert_fails(
        run(*long, "--value", "people", "-k", "many"),
        "error: -k is 'many'; it must be a number or a range that starts at 2 or more, such as "
        "3-11",
        code=2,
    )


def test_a_number_or_a_word_that_comes_late_is_seen(tmp_path):
    lines = ["a,b,c", *(f"{i},{i},{i % 7}" for i in range(3000)), "1.5,word,3"]
    (tmp_path / "late.csv").write_text("\n".join(lines) + "\n")
    result = run("explain", tmp_path / "late.csv", "-k", 2, *FAST)
    assert result.exit_code == 0, result.stderr
    assert 'b: 1 value is not a number ("word"); treated as missing' in result.stderr
    assert result.stdout.startswith("2 clusters of 3,001 rows")
