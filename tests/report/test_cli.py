"""``pellucid explain --report``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from pellucid.cli.app import app
from pellucid.export import from_json
from pellucid.report import read_cluster_names

CUSTOMERS = Path(__file__).parents[2] / "docs" / "examples" / "customers.csv"


def run(*arguments):
    arguments = ["explain", CUSTOMERS, "--effort", "fast", *arguments]
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="module")
def data(folder):
    result = run("-k", 5, "--report", folder / "r.html", "--model", folder / "m.json")
    assert result.exit_code == 0
    assert f"wrote the report to {folder / 'r.html'}" in result.stderr
    text = (folder / "r.html").read_text(encoding="utf-8")
    assert str(CUSTOMERS.parent) not in text
    return json.loads(re.search(r'id="payload">(.*?)</script>', text, re.S).group(1))


@pytest.mark.slow
def test_the_report_is_in_the_units_of_the_file(data, folder):
    explanation = from_json((folder / "m.json").read_text(encoding="utf-8"))
    own = data["trees"][data["own"]]
    assert [way["text"] for ways in own["rules"] for way in ways] == [
        rule.text for rule in explanation.rules_
    ]
    rows = pl.read_csv(CUSTOMERS).drop_nulls("age")
    counts = rows.select(explanation.feature_names_in_.tolist())
    found = explanation.predict(counts).tolist()
    assert [c["rows"] for c in own["clusters"]] == [found.count(c) for c in range(5)]
    assert (data["title"], data["reference"]) == ("customers.csv", "k-means")


@pytest.mark.slow
def test_the_other_trees_are_in_these_units_too(data):
    assert len(data["trees"]) > 1
    for tree in data["trees"]:
        for node in tree["nodes"]:
            if "threshold" in node:
                column = data["columns"][node["column"]]
                assert column["low"] <= node["threshold"] <= column["high"]
        assert all(
            node["rows"] == sum(tree["nodes"][node[side]]["rows"] for side in ("left", "right"))
            for node in tree["nodes"]
            if "left" in node
        )


def test_a_page_must_be_named_as_one(tmp_path):
    result = run("--report", tmp_path / "r.pdf")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        f"error: --report: {tmp_path / 'r.pdf'} must end in .html, because the report is HTML",
        "hint: use r.html",
    ]


@pytest.mark.slow
def test_a_report_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    def fail(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    old = tmp_path / "r.html"
    old.write_text("old")
    result = run("-k", 3, "--report", old)
    assert result.exit_code == 1
    assert "No space left on device" in result.stderr.splitlines()[-1]
    assert "cluster" in result.stdout
    assert old.read_text() == "old"
    assert list(tmp_path.iterdir()) == [old]


def test_regions_have_a_report(tmp_path):
    path = tmp_path / "r.html"
    result = CliRunner().invoke(app, ["regions", str(CUSTOMERS), "-k", "4", "--report", str(path)])
    assert result.exit_code == 0
    text = path.read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="payload">(.*?)</script>', text, re.S).group(1))
    assert (data["kind"], len(data["clusters"]), data["rows"]) == ("regions", 4, 391)


def test_series_have_a_report(tmp_path):
    days = [f"2024-01-{day:02}" for day in range(1, 11)]
    rows = [
        {"shop": f"s{shop}", "town": "ABC"[shop % 3], "day": day, "sold": shop % 3 * i + shop / 50}
        for shop in range(24)
        for i, day in enumerate(days)
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "sold.csv")
    path = tmp_path / "r.html"
    asked = [
        "--entity",
        "shop,town",
        "--time",
        "day",
        "--value",
        "sold",
        "-k",
        "2-4",
        "--distance",
        "euclidean",
    ]
    result = CliRunner().invoke(
        app, ["xclusters", str(tmp_path / "sold.csv"), *asked, "--report", str(path)]
    )
    assert result.exit_code == 0, result.stderr
    text = path.read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="payload">(.*?)</script>', text, re.S).group(1))
    assert data["rows"] == 24
    assert (data["trends"]["first"], data["trends"]["last"]) == ("2024-01-01", "2024-01-10")
    assert all(len(course["medoid"]) == 10 for course in data["trends"]["clusters"])


@pytest.mark.slow
def test_names_of_a_report_reach_the_next_run(data, folder):
    text = (folder / "r.html").read_text(encoding="utf-8")
    assert text.count('"label":"2","name":null') == 1
    named = folder / "named.html"
    named.write_text(text.replace('"label":"2","name":null', '"label":"2","name":"savers"'))
    result = run("-k", 5, "--names", named, "--sql", folder / "s.sql", "--language", "de")
    assert result.exit_code == 0
    sql = (folder / "s.sql").read_text(encoding="utf-8")
    assert "'savers'" in sql
    assert "THEN '3'" in sql or "THEN 3" in sql
    other = run("-k", 4, "--names", named)
    assert other.exit_code != 0
    assert "has 5 clusters, but there are 4" in other.output


def test_names_reach_all_files_of_regions(tmp_path):
    def regions(*options):
        asked = ["regions", str(CUSTOMERS), "-k", "3", "--quiet", *map(str, options)]
        result = CliRunner().invoke(app, asked)
        assert result.exit_code == 0, result.stderr
        return result.stdout

    table, first, second = tmp_path / "n.csv", tmp_path / "1.html", tmp_path / "2.html"
    table.write_text("cluster,name\n0,new customers\n2,large orders\n")
    printed = regions("--names", table, "--report", first)
    assert "cluster new customers (" in printed
    assert "cluster 1 (" in printed
    # The names of a report are read back.
    model, sql, output = (tmp_path / name for name in ("m.json", "s.sql", "o.csv"))
    files = ["--model", model, "--sql", sql, "--output", output, "--report", second]
    assert regions("--names", first, *files) == printed
    assert read_cluster_names(second) == {"0": "new customers", "1": None, "2": "large orders"}
    assert "THEN 'large orders'" in sql.read_text()
    assert set(json.loads(model.read_text())["clusters"]) == {"new customers", "1", "large orders"}
    found = pl.read_csv(output, infer_schema=False)["cluster"].drop_nulls()
    assert set(found) == {"new customers", "1", "large orders"}
    suggested = json.loads(regions("--names", "suggested", "--json"))
    assert not {cluster["cluster"] for cluster in suggested} & {"0", "1", "2"}
