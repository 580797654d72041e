"""`pellucid regions`: files to write, categories, and the limit of the error."""

from __future__ import annotations

import io
import json
import re
import sqlite3

import duckdb
import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from _support.extended import EXTENDED
from pellucid import explain_clusters
from pellucid.cli.app import app
from pellucid.cli.regions import _warn_about_errors


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def file(tmp_path):
    random = np.random.default_rng(0)
    n = 300
    island = random.choice(["Dream", "Biscoe", "Torgersen"], n)
    bill, mass = random.normal(45, 5, n).round(1), random.normal(4, 1, n).round(2)
    kind = np.where((island == "Dream") & (bill > 44), "c", np.where(mass > 4.2, "b", "a"))
    table = pl.DataFrame({"bill": bill, "mass": mass, "island": island, "kind": kind})
    table = table.with_columns(
        pl.when(pl.col("mass") < 2.3).then(None).otherwise("mass").name.keep()
    )
    table.write_csv(tmp_path / "animals.csv")
    return tmp_path / "animals.csv"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "missing"), [("box", "median"), ("polyhedron", "drop"), ("ellipse", "median")]
)
def test_rows_model_and_sql_agree(file, shape, missing):
    paths = {name: file.with_name(f"out.{name}") for name in ("csv", "json", "sql", "html")}
    plot = ("--plot", file.with_name("plot.png")) if shape == "ellipse" or EXTENDED else ()
    result = run(
        "regions", file, "--labels", "kind", "--shape", shape, "--missing", missing, "--output",
        paths["csv"], "--model", paths["json"], "--sql", paths["sql"], "--dialect", "sqlite",
        "--report", paths["html"], *plot,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "island is " in result.stdout
    assert "island is Dream >" not in result.stdout
    rows = pl.read_csv(paths["csv"])
    assert rows.columns[-2:] == ["cluster", "region"]
    first = file.read_text().splitlines()[1]
    assert paths["csv"].read_text().splitlines()[1].startswith(first)
    again = run("predict", paths["json"], file)
    assert again.exit_code == 0, again.stderr
    assert pl.read_csv(io.StringIO(again.stdout)).equals(rows)
    with sqlite3.connect(":memory:") as base:
        table = pl.read_csv(file)
        base.execute("CREATE TABLE t (bill REAL, mass REAL, island TEXT, kind TEXT)")
        base.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", table.rows())
        query = f"SELECT {paths['sql'].read_text()} FROM t ORDER BY rowid"
        found = [row[0] for row in base.execute(query)]
    assert found == rows["cluster"].to_list()
    is_missing = rows["mass"].is_null()
    assert rows.filter(is_missing)["cluster"].is_null().all() == (missing == "drop")
    known = rows.filter(~is_missing)
    assert (known["cluster"] == known["kind"]).mean() > 0.9


@pytest.mark.slow
def test_the_limit_of_the_error_is_kept(file):
    for limit in (0.0, 0.01, 0.05):
        result = run("regions", file, "-k", 4, "--max-error", limit, "--json")
        assert result.exit_code == 0, result.stderr
        found = json.loads(result.stdout)
        regions = [region for cluster in found for region in cluster["regions"]]
        assert all(1 - region["purity"] <= limit + 1e-9 for region in regions)
        assert "more than --max-error" not in result.stderr
        assert sum(cluster["assigned"] for cluster in found) == sum(c["rows"] for c in found)


def test_few_and_large_regions_in_one_picture_and_their_error_on_new_rows(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 4))
    kind = np.where(X @ [1, 1, 0, 0] + 0.5 * random.normal(size=400) > 0, "a", "b")
    table = pl.DataFrame(X, schema=list("wxyz")).with_columns(pl.Series("kind", kind))
    table.write_csv(tmp_path / "rows.csv")
    result = run(
        "regions", tmp_path / "rows.csv", "--labels", "kind", "--plot", tmp_path / "all.png"
    )
    assert result.exit_code == 0, result.stderr
    found = re.findall(r"^ +(\d+)\. .* \(([\d,]+) rows, ", result.stdout, re.MULTILINE)
    assert 2 <= len(found) <= 5
    assert all(int(rows) >= 8 for _, rows in found)
    assert [path.name for path in tmp_path.glob("*.png")] == ["all.png"]
    line = r"left out and tested  +([\d.]+)% of (\d+) rows in a region"
    error, n = re.search(line, result.stdout).groups()
    assert 0 < float(error) < 50
    assert 5 < int(n) <= 80


def test_a_region_above_the_limit_is_named():
    random = np.random.default_rng(1)
    X = random.normal(size=(400, 2))
    labels = (X[:, 0] + random.normal(size=400) > 0).astype(int)
    found = explain_clusters(X, labels, max_error=0.01, strict=False)
    with pytest.warns(
        UserWarning,
        match=r"region \d+ \(.*\) has .*% rows of other clusters, more "
        "than --max-error 0.01",
    ):
        _warn_about_errors(found, 0.01)


def test_the_output_is_plain_english(file):
    result = run("regions", file, "--labels", "kind")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("3 clusters, located by ")
    assert any("region contains " in line or "regions contain " in line for line in lines)
    assert (
        "regions are tried in order 1, 2, 3, ...; a row belongs to the first that" in result.stdout
    )


def test_wrong_files(file):
    result = run("regions", file, "-k", 2, "--shape", "nonparametric", "--sql", "x.sql")
    assert result.stderr.splitlines() == [
        "error: --sql: nonparametric regions cannot be exported, because they consist of the "
        "training rows",
        "hint: use --shape box, polyhedron or ellipse",
    ]
    assert result.exit_code == 2
    broken = file.with_name("broken.json")
    broken.write_text('{"format": "pellucid.regions", "version": 1}')
    result = run("predict", broken, file)
    assert result.stderr.splitlines()[0].endswith(
        "is not a model: not an explanation: made_by is missing"
    )
    other = file.with_name("other.csv")
    other.write_text("a\n1\n")
    model = file.with_name("m.json")
    assert run("regions", file, "--labels", "kind", "--model", model).exit_code == 0
    result = run("predict", model, other)
    assert "which the model uses" in result.stderr


def test_an_axis_of_a_category_has_its_words(file):
    import matplotlib

    matplotlib.use("Agg")
    from pellucid.plotting import plot_level

    table = pl.read_csv(file).drop_nulls()
    names = ["bill", "mass", "island"]
    found = explain_clusters(table.select(names).to_pandas(), table["kind"].to_numpy())
    from pellucid.tables.encoding import Encoding

    X = Encoding.fit(table.select(names)).transform(table.select(names))
    words = set()
    for level in range(found.model.n_levels_):
        ax = plot_level(found.model, X, table["kind"].to_numpy(), level=level)
        for axis in (ax.xaxis, ax.yaxis):
            if axis.get_label_text() == "island":
                words.add(tuple(label.get_text() for label in axis.get_ticklabels()))
    assert words == {("not Dream", "Dream")}


@pytest.fixture
def noisy_file(tmp_path):
    """Three clusters and rows with the label -1 between them."""
    random = np.random.default_rng(0)
    labels = np.repeat([-1, 0, 1, 2], [80, 40, 50, 60])
    table = pl.DataFrame(
        {
            "income": random.normal(labels * 30.0, 4).round(1),
            "age": random.normal(40 - 5 * labels, 3).round(1),
            "segment": labels,
        }
    ).with_columns(income=pl.when(pl.col("segment") < 0).then(45.0).otherwise("income"))
    table.write_csv(tmp_path / "noisy.csv")
    return tmp_path / "noisy.csv"


def test_shares_name_the_rows_that_they_count(noisy_file):
    report = noisy_file.with_name("r.html")
    result = run("regions", noisy_file, "--labels", "segment", "--report", report)
    assert result.exit_code == 0, result.stderr
    text = " ".join(result.stdout.split())
    assert "80 of 230 rows have the label -1 (noise) and are counted in no size" in text
    found = re.search(r"rows in a region [\d.]+% \((\d+) of 150 rows with a cluster\)", text)
    assert found
    assert int(found[1]) > 100
    assert re.search(r"assigned to their own cluster [\d.]+% \(\d+ of 150 rows with a", text)
    page = report.read_text(encoding="utf-8")
    assert "80 of 230 rows have the label -1 (noise)" in page
    assert '"rowsRead":230,"rowsUsed":150,"dropped":[{"reason":"noise","rows":80}]' in page


@pytest.mark.parametrize("command", ["regions", "rules"])
def test_suggested_names_reach_all_files(noisy_file, command):
    paths = {name: noisy_file.with_name(f"out.{name}") for name in ("sql", "json", "csv")}
    result = run(
        command, noisy_file, "--labels", "segment", "--names", "suggested", "--sql", paths["sql"],
        "--model", paths["json"], "--output", paths["csv"],
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    for path in paths.values():
        assert "high income" in path.read_text(encoding="utf-8")


def test_suggested_names_belong_to_their_clusters(noisy_file):
    result = run("regions", noisy_file, "--labels", "segment", "--names", "suggested", "--json")
    assert result.exit_code == 0, result.stderr
    sizes = {cluster["cluster"]: cluster["rows"] for cluster in json.loads(result.stdout)}
    assert list(sizes.values()) == [40, 50, 60]
    low, _, high = sizes
    assert "low income" in low
    assert "high income" in high


def test_filled_dates_are_dates_in_text_and_sql(tmp_path):
    random = np.random.default_rng(0)
    days = np.datetime64("2022-06-01") + random.integers(0, 500, 300)
    is_late = (days > np.datetime64("2023-01-08")) & (random.random(300) < 0.98)
    day = pl.Series(days).set(pl.Series(random.random(300) < 0.2), None)
    table = pl.DataFrame(
        {"when": day, "x": random.normal(size=300), "seg": np.where(is_late, "late", "early")}
    )
    table.write_csv(tmp_path / "t.csv")
    result = run(
        "regions", tmp_path / "t.csv", "--labels", "seg", "--missing", "median",
        "--include", "when", "--sql", tmp_path / "r.sql", "--dialect", "duckdb",
        "--output", tmp_path / "o.csv",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert re.search(r"when [≤>] 202\d-\d\d-\d\d", result.stdout)
    rows = pl.read_csv(tmp_path / "o.csv", try_parse_dates=True)
    assert rows["region"].str.contains(r"when .* 202\d-\d\d-\d\d").any()
    query = f"SELECT {(tmp_path / 'r.sql').read_text()} FROM rows"
    assert [row[0] for row in duckdb.sql(query).fetchall()] == rows["cluster"].to_list()
