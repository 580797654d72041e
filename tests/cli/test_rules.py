"""`pellucid rules`: what it prints, and files that agree with each other."""

from __future__ import annotations

import io
import json

import duckdb
import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from pellucid.cli.app import app


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def file(tmp_path):
    random = np.random.default_rng(0)
    n = 300
    island = random.choice(["Dream", "Biscoe", "Torgersen"], n)
    bill, mass = random.normal(45, 5, n).round(1), random.normal(4, 1, n).round(2)
    kind = np.where((island == "Dream") & (bill > 44), 2, np.where(mass > 4.2, 1, 0))
    kind[random.random(n) < 0.03] = -1
    table = pl.DataFrame({"bill": bill, "mass": mass, "island": island, "kind": kind})
    table.write_csv(tmp_path / "animals.csv")
    return tmp_path / "animals.csv"


def test_rows_model_and_sql_agree(file):
    paths = {name: file.with_name(f"out.{name}") for name in ("csv", "json", "sql", "png")}
    result = run(
        "rules", file, "--labels", "kind", "--output", paths["csv"], "--model", paths["json"],
        "--sql", paths["sql"], "--dialect", "duckdb", "--plot", paths["png"],
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "rules for 3 of 3 clusters" in result.stdout
    assert "bill > 44 and island is Dream" in result.stdout.replace("\n", " ")
    assert "which no rule describes" in result.stdout
    rows = pl.read_csv(paths["csv"])
    assert rows.columns[-2:] == ["cluster", "rule"]
    assert (rows.filter(pl.col("cluster").is_null())["rule"] == "unexplained").all()
    again = run("predict", paths["json"], file)
    predicted = pl.read_csv(io.StringIO(again.stdout))
    assert predicted["cluster"].to_list() == rows["cluster"].to_list()
    animals = pl.read_csv(file)  # noqa: F841  # used by the query
    found = duckdb.sql(f"SELECT {paths['sql'].read_text()} AS cluster FROM animals").pl()
    assert found["cluster"].to_list() == rows["cluster"].to_list()
    assert paths["png"].read_bytes().startswith(b"\x89PNG")


def test_json_has_all_measures(file):
    options = ("--labels", "kind", "--held-out", 0.3, "--min-precision", 0.9, "--json", "-q")
    found = json.loads(run("rules", file, *options).stdout)
    for rule in found["rules"]:
        assert rule["precision_with_noise"] >= 0.9
        assert rule["conditions"] <= 3
    assert 0 < found["held_out_precision"] <= 1
    assert found["without_rule"] == []
    text = run("rules", file, "--labels", "kind", "--json", "-q").stdout
    assert "NaN" not in text
    assert json.loads(text)["held_out_precision"] is None


def test_names_and_impossible_requests(file, tmp_path):
    names = tmp_path / "names.csv"
    names.write_text("cluster,name\n2,dreamers\n")
    report = tmp_path / "rules.html"
    result = run("rules", file, "--labels", "kind", "--names", names, "--report", report)
    assert "cluster dreamers" in report.read_text(encoding="utf-8")
    assert "cluster dreamers: " in result.stdout
    result = run("rules", file, "--labels", "kind", "--every-cluster", "--n-rules", 2)
    assert result.exit_code == 1
    assert "use n_rules=3 or more" in " ".join(result.stderr.split())


def test_compare_kinds(file, tmp_path):
    result = run("compare", file, "--labels", "kind", "--kinds", "--plot", tmp_path / "kinds.png")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[-4:]] == ["tree", "regions", "rules", "*"]
    assert (tmp_path / "kinds.png").exists()
    found = json.loads(run("compare", file, "--labels", "kind", "--kinds", "--json", "-q").stdout)
    assert [each["name"] for each in found] == ["tree", "regions", "rules"]
    assert found[2]["precision"] > 0.8
