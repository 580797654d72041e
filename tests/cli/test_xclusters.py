"""`pellucid xclusters`: long and wide tables, identifiers, weights and the accuracy of the tree."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from pellucid.cli.app import app

YEARS = range(1990, 2002)
LONG = ("--time", "year", "--value", "lifeExp")
FEW = ("-k", "3-5")
"""Fewer numbers of clusters than the default, for tests of other options."""


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def clusters(*arguments) -> dict:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def long() -> pl.DataFrame:
    """Countries of four continents; the trend depends on the continent."""
    random = np.random.default_rng(0)
    rows = []
    for i in range(24):
        continent = ("Africa", "Asia", "Europe", "Oceania")[i % 4]
        slope, start = {"Africa": (0.0, 45), "Asia": (1.5, 50)}.get(continent, (0.4, 72))
        for t, year in enumerate(YEARS):
            value = start + slope * t + random.normal(0, 0.2)
            rows.append((f"country {i:02d}", continent, i + 1, year, 10.0 * (i + 1), value))
    schema = ["country", "continent", "iso_num", "year", "pop", "lifeExp"]
    return pl.DataFrame(rows, schema=schema, orient="row")


@pytest.fixture
def files(long, tmp_path):
    long.write_csv(tmp_path / "long.csv")
    wide = long.pivot(on="year", index=["country", "continent"], values="lifeExp")
    wide.write_csv(tmp_path / "wide.csv")
    wide.rename({str(y): f"y{y}" for y in YEARS}).write_csv(tmp_path / "prefix.csv")
    return tmp_path


@pytest.mark.slow
def test_names_of_entities_are_not_used_by_the_rules(files):
    long = ("xclusters", files / "long.csv", *LONG, *FEW)
    result = run(*long, "--entity", "country,continent,iso_num")
    assert result.exit_code == 0, result.stderr
    assert (
        "not used by the rules: country, iso_num have a different value for each entity (use --id "
        "to choose)" in result.stderr
    )
    assert "country" not in result.stdout
    assert "continent is Africa" in result.stdout
    for options in (
        ("--id", "country,iso_num", "--entity", "continent"),
        ("--id", "country", "--entity", "country,continent"),
        ("--id", "country"),
    ):
        found = clusters(*long, *options)
        assert all("country" not in each["rule"] for each in found["clusters"])
        assert found["accuracy"] == 1
        assert sum(each["entities"] for each in found["clusters"]) == 24
    result = run(*long, "--id", "country")
    assert "explained by continent, pop (use --entity to choose)" in result.stderr


def test_a_name_is_used_if_there_is_nothing_else(files):
    result = run("xclusters", files / "long.csv", "--entity", "country", *LONG, "-k", "3")
    assert result.exit_code == 0, result.stderr
    assert "country has a different value for each entity, so the rules list names" in result.stderr
    result = run("xclusters", files / "long.csv", "--id", "country", "--entity", "country", *LONG)
    assert result.stderr.splitlines() == [
        "error: no column is left to explain the clusters",
        "hint: name columns that describe an entity in --entity",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wide", "prefix"])
def test_a_wide_table_is_the_same_as_a_long_one(files, name):
    entity = ("--entity", "country,continent")
    wanted = clusters("xclusters", files / "long.csv", *entity, *LONG, *FEW)
    result = run("xclusters", files / f"{name}.csv", *FEW)
    start = "y" if name == "prefix" else ""
    assert (
        f"wide table: 12 columns, {start}1990 to {start}2001, are taken as times (use --times, or "
        "--time and --value, to change)" in result.stderr
    )
    assert "24 entities with a series of 12 times" in result.stderr
    for times in ((), ("--times", f"{start}*"), ("--times", f"{start}1990:{start}2001")):
        if times == ("--times", "*"):
            continue
        found = clusters("xclusters", files / f"{name}.csv", "--id", "country", *times, *FEW)
        assert found == wanted


@pytest.mark.slow
def test_a_wide_table_writes_the_files_of_a_long_one(files):
    written = {}
    for name, options in (
        ("long", ("--entity", "country,continent", *LONG, *FEW)),
        ("wide", ("--id", "country", "--times", "1990:2001", *FEW)),
    ):
        paths = {s: files / f"{name}.out.{s}" for s in ("csv", "png", "svg", "json", "html")}
        result = run(
            "xclusters", files / f"{name}.csv", *options, "--output", paths["csv"], "--trends",
            paths["png"], "--tree", paths["svg"], "--model", paths["json"], "--report",
            paths["html"],
        )  # fmt: skip
        assert result.exit_code == 0, result.stderr
        assert all(path.stat().st_size for path in paths.values())
        written[name] = pl.read_csv(paths["csv"]).sort("country")
        assert written[name].columns == ["country", "continent", "cluster"]
    assert written["long"].equals(written["wide"])


def test_columns_of_several_series_are_refused(tmp_path):
    names = [f"{what}_{year}" for what in ("pop", "gdp") for year in (1990, 1991, 1992)]
    pl.DataFrame({"who": ["a", "b", "c"]} | {n: [1.0, 2.0, 3.0] for n in names}).write_csv(
        tmp_path / "two.csv"
    )
    result = run("xclusters", tmp_path / "two.csv")
    assert result.stderr.splitlines() == [
        "error: the columns of the times form several series, such as 'pop_*' and 'gdp_*'",
        "hint: choose one by --times 'pop_*'",
    ]
    chosen = run("xclusters", tmp_path / "two.csv", "--times", "pop_*", "--entity", "who")
    assert chosen.exit_code == 0, chosen.stderr


def test_a_table_without_times_asks_for_them(tmp_path):
    pl.DataFrame({"a": [1, 2, 3], "b": [1, 2, 3]}).write_csv(tmp_path / "x.csv")
    result = run("xclusters", tmp_path / "x.csv")
    assert result.stderr.splitlines() == [
        "error: the times of the series are not known: no column names are years or dates",
        "hint: give --entity, --time and --value for a long table, or --times for a wide table",
    ]
    result = run("xclusters", tmp_path / "x.csv", "--times", "z*")
    assert result.stderr.splitlines() == [
        "error: no column has the name, pattern or range 'z*'",
        "hint: the columns are 'a', 'b'",
    ]


@pytest.mark.slow
def test_entities_count_the_same_unless_a_weight_is_given(files, long):
    options = ("xclusters", files / "long.csv", "--entity", "country,continent", *LONG, *FEW)
    equal = clusters(*options)
    assert equal["weight"] == "none"
    for each in equal["clusters"]:
        assert each["share"] == pytest.approx(each["entities"] / 24)
    printed = run(*options).stdout
    assert re.search(r"entities +share", printed)
    assert "entities classified correctly" in printed
    assert "rows" not in printed
    for weight, column in (("value", "lifeExp"), ("pop", "pop"), ("lifeExp", "lifeExp")):
        found = clusters(*options, "--weight", weight)
        assert found["weight"] == column
        total = long[column].sum()
        africa = next(each for each in found["clusters"] if "is Africa" in each["rule"])
        wanted = long.filter(pl.col("continent") == "Africa")[column].sum() / total
        assert africa["share"] == pytest.approx(wanted)
        shown = run(*options, "--weight", weight).stdout
        assert f"share and purity: weighted, as shares of the total {column}" in shown
    assert run(*options, "--weight", "continent").stderr.endswith(
        "error: --weight: column 'continent' is not numeric\n"
    )


def test_the_accuracy_of_the_tree_is_a_limit(tmp_path):
    random = np.random.default_rng(0)
    rows = [
        (f"c{i}", "ab"[i % 2], t, (i % 3) * 10 + random.normal())
        for i in range(30)
        for t in range(5)
    ]
    schema = ["who", "group", "time", "value"]
    pl.DataFrame(rows, schema=schema, orient="row").write_csv(tmp_path / "mixed.csv")
    options = (
        "xclusters", tmp_path / "mixed.csv", "--entity", "who,group", "--time", "time",
        "--value", "value", "-k",
    )  # fmt: skip
    exact = clusters(*options, "2-4")
    assert exact["accuracy"] == 1
    loose = clusters(*options, "2-4", "--tree-accuracy", 0.3)
    assert loose["accuracy"] >= 0.3
    assert loose["objective"] < exact["objective"]
    # Two groups cannot explain three clusters.
    result = run(*options, "3", "--tree-accuracy", 0.9)
    assert result.exit_code == 0
    assert (
        "warning: no tree can separate these 3 clusters with --tree-accuracy 0.9" in result.stderr
    )
    assert "or reduce --tree-accuracy" in result.stderr


@pytest.mark.parametrize(
    ("n", "said"),
    [(3, "only 3 entities: 2 clusters are tried"), (6, "only 6 entities: 2 to 5 clusters are")],
)
def test_few_entities_get_few_clusters(long, tmp_path, n, said):
    countries = long["country"].unique().sort()[:n]
    long.filter(pl.col("country").is_in(countries.implode())).write_csv(tmp_path / "few.csv")
    options = ("xclusters", tmp_path / "few.csv", "--entity", "country,continent", *LONG)
    result = run(*options)
    assert result.exit_code == 0, result.stderr
    assert f"{said} tried (use -k to change)".replace("tried tried", "tried") in result.stderr
    result = run(*options, "-k", "3-11")
    assert result.stderr.endswith(f"hint: use -k {min(3, n - 1)}-{n - 1}\n")


def test_dates_with_the_name_of_the_month_are_read(tmp_path):
    days = ["Jan 1 2000", "Feb 1 2000", "Mar 1 2000", "Apr 1 2000"]
    table = pl.DataFrame(
        {
            "symbol": [s for s in "ABCD" for _ in days],
            "sector": [s for s in "ttuu" for _ in days],
            "date": days * 4,
            "price": np.repeat([1.0, 1.0, 9.0, 9.0], 4) + np.arange(16) / 100,
        }
    )
    table.write_csv(tmp_path / "stocks.csv")
    result = run(
        "xclusters", tmp_path / "stocks.csv", "--entity", "symbol,sector", "--time", "date",
        "--value", "price",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "sector is t" in result.stdout


@pytest.mark.parametrize(
    ("package", "options", "alternative"),
    [
        ("kneed", ("--search", "two-step"), "--search branch-and-bound"),
        ("bayes_opt", ("--search", "bayes"), "--search branch-and-bound"),
    ],
)
def test_a_missing_package_is_one_line_with_an_alternative(
    files, monkeypatch, package, options, alternative
):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    arguments = ("xclusters", files / "long.csv", "--entity", "country,continent", *LONG, *FEW)
    result = run(*arguments, *options)
    name = {"bayes_opt": "bayesian-optimization"}.get(package, package)
    assert result.stderr.splitlines() == [
        f"error: {' '.join(options)} requires the package {name}",
        f"hint: pip install 'pellucid[xclusters]', or use {alternative}, which works without it",
    ]
    assert run(*arguments).exit_code == 0


def test_gaps_name_the_options_of_the_command_line(files, long):
    holes = long.filter((pl.col("country") != "country 03") | (pl.col("year") != 1995))
    holes.write_csv(files / "holes.csv")
    options = ("xclusters", files / "holes.csv", "--entity", "country,continent", *LONG, *FEW)
    assert "use --interpolate to fill gaps, or --fill-value 0" in run(*options).stderr
    assert run(*options, "--interpolate").exit_code == 0
    late = long.filter((pl.col("country") != "country 03") | (pl.col("year") > 1995))
    late.write_csv(files / "holes.csv")
    assert "use --coverage common for the common times" in run(*options).stderr
    result = run(*options, "--coverage", "common")
    assert "24 entities with a series of 6 times" in result.stderr


def test_series_that_hardly_differ_are_said_to(tmp_path):
    random = np.random.default_rng(0)
    group = np.repeat(["a", "b", "c"], 12)
    walks = random.normal(size=(36, 15)).cumsum(axis=1)  # nothing to do with the group
    names = [str(2000 + i) for i in range(15)]
    table = pl.DataFrame(walks, schema=names).with_columns(pl.Series("group", group))
    options = ("xclusters", tmp_path / "walks.csv", "-k", "2-3", "--tree-accuracy", "1")
    sentence = "the series of the clusters hardly differ"
    table.write_csv(tmp_path / "walks.csv")
    result = run(*options)
    assert result.exit_code == 0, result.stderr
    assert sentence in " ".join(result.stdout.split())
    apart = table.with_columns(pl.col(names) + 100 * pl.col("group").rank("dense"))
    apart.write_csv(tmp_path / "walks.csv")
    result = run(*options)
    assert sentence not in " ".join(result.stdout.split())
    assert re.search(
        r"differences between the series that are explained +(9\d|100)\.", result.stdout
    )
    assert clusters(*options)["explained_share"] > 0.9


def test_the_clusters_beside_the_rules_are_counted_at_the_terminal_as_in_the_picture(
    long, tmp_path
):
    odd = pl.col("country").is_in(["country 00", "country 04"])
    moved = long.with_columns(pl.when(odd).then(pl.col("lifeExp") + 40).otherwise("lifeExp"))
    moved.drop("iso_num", "pop").write_csv(tmp_path / "long.csv")
    result = run(
        "xclusters", tmp_path / "long.csv", *LONG, "--id", "country", "-k", "4", "--trends",
        tmp_path / "trends.svg", "--tree-accuracy", "0.8",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    picture = (tmp_path / "trends.svg").read_text()
    titles = re.findall(r"cluster \d: (\d+) of 24 rows(?:; its rules select (\d+))?", picture)
    rules = [int(selected or members) for members, selected in titles]
    assert sum(rules) == sum(int(members) for members, _ in titles) == 24
    shown = re.findall(r"^ \d .*? (\d+) +\d+\.\d%", result.stdout, re.MULTILINE)
    assert list(map(int, shown)) == rules
