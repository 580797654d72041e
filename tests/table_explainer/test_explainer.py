"""`pellucid.explain` on data frames, arrays and files."""

from __future__ import annotations

import json
import re
from datetime import date, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

import pellucid
from _support.tables import blobs, run_sql
from pellucid.cli.app import app
from pellucid.export import from_json


def customers(n_rows: int = 300) -> pl.DataFrame:
    """A table with most kinds of columns."""
    rng = np.random.default_rng(0)
    group = np.arange(n_rows) % 3
    return pl.DataFrame(
        {
            "customer_id": rng.integers(100, 180, n_rows),
            "income": np.array([20.0, 60.0, 90.0])[group] + rng.normal(0, 3, n_rows).round(2),
            "age": np.array([60, 40, 25])[group] + rng.integers(-4, 5, n_rows),
            "member": (group == 1).astype(int),
            "channel": np.array(["shop", "web", "phone"])[group],
            "signup": [
                date(2019 + int(g), 1, 1) + timedelta(days=i % 200) for i, g in enumerate(group)
            ],
            "zip": [f"{7 * i % 997:05d}" for i in range(n_rows)],
            "country": ["KR"] * n_rows,
        }
    ).with_columns(age=pl.when(pl.int_range(n_rows) % 50 == 7).then(None).otherwise(pl.col("age")))


def explain_fast(table, **options):
    """An explanation where any valid tree will do."""
    return pellucid.explain(table, effort="fast", verbose=False, **options)


def test_the_same_rules_for_every_kind_of_table():
    table = blobs()
    expected = str(explain_fast(table, k=3))
    for other in (
        table.to_pandas(),
        table.to_arrow(),
        table.to_pandas().set_index("size").reset_index(),
    ):
        assert str(explain_fast(other, k=3)) == expected
    array = explain_fast(table.to_numpy(), k=3)
    names = array.fitted.prepared.roles.used
    renamed = str(array)
    for name, original in zip(names, table.columns):
        renamed = renamed.replace(name, original)
    assert renamed == expected


def test_mixed_tables_of_pandas_and_pyarrow():
    table = customers()
    expected = explain_fast(table, k=3)
    pandas = table.to_pandas()
    for other in (pandas, pandas.convert_dtypes(), table.to_arrow()):
        found = explain_fast(other, k=3)
        assert str(found) == str(expected)
        assert found.labels.tolist() == expected.labels.tolist()
        assert found.predict(other).tolist() == expected.labels.tolist()


def test_a_file_gives_the_rules_of_its_table(tmp_path):
    table = customers()
    table.write_csv(tmp_path / "data.csv")
    table.write_parquet(tmp_path / "data.parquet")
    expected = str(explain_fast(table, k=3))
    for name in ("data.csv", "data.parquet"):
        assert str(explain_fast(tmp_path / name, k=3)) == expected


def test_the_input_is_not_modified():
    frame = customers().to_pandas()
    before = frame.copy(deep=True)
    found = explain_fast(frame, missing="median", k=3)
    found.predict(frame)
    pd.testing.assert_frame_equal(frame, before)
    array = blobs().to_numpy().copy()
    kept = array.copy()
    explain_fast(array, k=3)
    np.testing.assert_array_equal(array, kept)


@pytest.mark.slow
def test_the_decisions_are_printed_unless_verbose_is_off(capsys):
    found = pellucid.explain(customers(), k="2-4", effort="fast")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == found.decisions + [f"warning: {w}" for w in found.warnings]
    assert found.decisions[:2] == [
        "kept as text, because the digits are codes: zip",
        "ignored: customer_id, zip (looks like an ID); country (only one value); use them with "
        "include=",
    ]
    again = explain_fast(customers(), k="2-4")
    assert capsys.readouterr().err == ""
    assert again.decisions == found.decisions


def as_python(line: str) -> str:
    """A line of the command line with options in the spelling of Python."""
    values = r"median|drop|keep|\d+-\d+"
    line = re.sub(rf"--?([a-z]+) ({values})\b", r'\1="\2"', line)
    return re.sub(r"(?<![\w-])--?([a-z]+)\b", r"\1=", line)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"k": "3-5"}, {"missing": "median", "k": "2"}])
def test_the_command_line_takes_the_same_decisions(tmp_path, options):
    customers(90).write_csv(tmp_path / "data.csv")
    options = {**options, "effort": "fast"}
    found = pellucid.explain(tmp_path / "data.csv", verbose=False, **options)
    arguments = [
        text
        for name, value in options.items()
        for text in (f"-{name}" if len(name) == 1 else f"--{name}", value)
    ]
    result = CliRunner().invoke(app, ["explain", str(tmp_path / "data.csv"), "--json", *arguments])
    assert result.exit_code == 0, result.stderr
    printed = json.loads(result.stdout)
    assert [as_python(line) for line in printed["decisions"]] == found.decisions
    assert [as_python(line) for line in printed["warnings"]] == found.warnings
    assert [c["rule"] for c in printed["clusters"]] == [rule.text for rule in found.rules]
    assert [c["suggested_name"] for c in printed["clusters"]] == found.suggested_names


def test_rules_use_dates_years_and_categories():
    rng = np.random.default_rng(0)
    group = np.arange(200) % 2
    table = pl.DataFrame(
        {
            "built": [
                date(2000 + 15 * int(g), 1, 1) + timedelta(days=int(rng.integers(0, 900)))
                for g in group
            ],
        }
    )
    assert re.search(r"built ≤ 20\d\d-\d\d-\d\d", str(explain_fast(table, k=2, include="built")))
    years = pl.DataFrame({"year": 1950 + 40 * group + rng.integers(0, 9, 200)})
    text = str(explain_fast(years, k=2, include="year"))
    assert re.search(r"year (≤|<|>|≥) 19\d\d", text)
    kinds = pl.DataFrame({"deck": np.array(["1st", "2nd", "3rd"])[np.arange(210) % 3]})
    text = str(pellucid.explain(kinds, k=3, effort="fast", verbose=False))
    assert all(f"deck is {kind}" in text for kind in ("1st", "2nd", "3rd"))
    assert "not" not in text
    assert "none of" not in text


def test_a_stray_value_does_not_lose_a_column(tmp_path):
    table = blobs(100)
    lines = table.write_csv().splitlines()
    lines[5] = "-,81.5"
    lines[9] = "3750g,81.5"
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    found = pellucid.explain(tmp_path / "data.csv", k=3, effort="fast", verbose=False)
    assert found.fitted.prepared.roles.numbers == ["size", "weight"]
    assert len(found.fitted.prepared.rows) == 98


def test_zip_codes_keep_their_zeros(tmp_path):
    table = blobs(100).with_columns(zip=pl.Series([f"{i % 7 * 101:05d}" for i in range(100)]))
    table.write_csv(tmp_path / "data.csv")
    found = pellucid.explain(
        tmp_path / "data.csv", k=2, columns="zip", effort="fast", verbose=False
    )
    assert found.fitted.prepared.roles.categories == ["zip"]
    assert re.search(r"zip is (not )?00", str(found.rules))


def test_given_labels():
    table = blobs(90).with_columns(group=pl.Series(["a", "b", "c"] * 30))
    found = pellucid.explain(table, labels="group", effort="fast", verbose=False)
    assert [rule.cluster for rule in found.rules] == ["a", "b", "c"]
    assert found.labels.tolist() == ["a", "b", "c"] * 30
    assert found.decisions[0].startswith("tree by ExplainableKMeans, which keeps the labels")
    assert run_sql(found.to_sql(dialect="duckdb"), table) == ["a", "b", "c"] * 30


def test_noise_is_left_out_and_counted_in_each_rule():
    table = blobs(90).with_columns(group=pl.Series([0, 1, -1] * 30))
    found = pellucid.explain(table, labels="group", effort="fast", verbose=False)
    assert [rule.cluster for rule in found.rules] == [0, 1]
    assert sum(rule.n_noise for rule in found.rules) == 30
    assert "left out 30 rows with the label -1" in " ".join(found.decisions)
    assert found.measures["agreement"] == 1
    caught = next(rule for rule in found.rules if rule.n_noise)
    assert caught.precision == caught.n_samples / (caught.n_samples + caught.n_noise)
    assert f"with {caught.n_noise} of noise {100 * caught.precision:.1f}%" in str(found)
    assert from_json(found.to_json()) == found.explanation
    as_cluster = pellucid.explain(
        table, labels="group", noise="cluster", effort="fast", verbose=False
    )
    assert [rule.cluster for rule in as_cluster.rules] == [-1, 0, 1]
    with pytest.raises(ValueError, match="every label is -1"):
        pellucid.explain(table.with_columns(group=-1), labels="group", effort="fast", verbose=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 3, "labels": "size"}, "k= cannot be used with labels=: the labels define the clus"),
        ({"k": 5, "leaves": 4}, "leaves=4 is less than the 5 clusters of k=; every cluster needs"),
        ({"method": "magic"}, "method= is 'magic'; use one of explainable, exshallow"),
        ({"method": "imm", "max_depth": 3}, 'max_depth= requires method="explainable"; imm does'),
        ({"columns": "sizes"}, "columns=: there is no column 'sizes'; .*did you mean 'size'"),
        ({"scale": "big"}, "scale= is 'big'; use one of auto, standard, robust, log, rank, none"),
        ({"names": "good"}, "names is 'good'"),
    ],
)
def test_errors_name_the_parameter_and_the_remedy(options, message):
    with pytest.raises(ValueError, match=message):
        pellucid.explain(
            blobs(60), verbose=False, **{"k": 2, **options} if "names" in options else options
        )


def test_saved_models_give_the_same_clusters():
    table = customers()
    found = explain_fast(table, k=4)
    again = pellucid.from_json(found.to_json())
    complete = table.drop_nulls()
    assert again.predict(complete).tolist() == found.predict(complete).tolist()


def test_texts_and_plots():
    found = explain_fast(blobs(), k=3)
    assert repr(found).startswith("<TableExplanation: 3 clusters>\ncluster 0: ")
    assert "<table" in found._repr_html_()
    assert found.plot() is not None
    assert found.number_scores == ()


def test_the_report_of_dates(tmp_path):
    days = pl.Series([date(2020, 1, 1) + timedelta(days=7 * i) for i in range(60)])
    found = pellucid.explain(
        pl.DataFrame({"since": days}), k=2, include="since", effort="fast", verbose=False
    )
    assert "since ≤ 2020-" in found.report(tmp_path / "report.html").read_text()


def test_described_codes_are_categories_in_the_report_too(tmp_path):
    rng = np.random.default_rng(0)
    codes = {"Region": rng.integers(1, 6, 240), "churn": rng.integers(0, 2, 240)}
    found = explain_fast(blobs().with_columns(**codes, target=np.arange(240) % 7 / 2), k=3)
    assert found.profile.keys() == {"Region", "churn", "target"}
    html = found.report(tmp_path / "report.html").read_text(encoding="utf-8")
    columns = json.loads(re.search(r'id="payload">(.*?)</script>', html, re.S).group(1))["columns"]
    shown = {column["name"]: column for column in columns}
    assert shown["target"]["kind"] == "number"
    for name in codes:
        assert shown[name]["kind"] == "category"
        assert {text.split()[0] for text in found.profile[name]} <= {*shown[name]["values"]}


@pytest.mark.slow
def test_the_report_has_decisions_and_warnings(tmp_path):
    rng = np.random.default_rng(0)
    table = pl.DataFrame(rng.random((200, 5)), schema=list("abcde")).with_columns(
        id=pl.Series(np.arange(200) * 3)
    )
    found = explain_fast(table, k=3)
    page = found.report(tmp_path / "report.html", title="My table").read_text()
    assert "My table" in page
    assert "ignored: id (looks like an ID)" in page
    assert found.warnings
    assert "the clusters overlap" in page
