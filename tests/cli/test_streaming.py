"""``pellucid explain`` of files that do not fit into the memory that it may use."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_blobs
from typer.testing import CliRunner

from pellucid import ExShallow, scan
from pellucid._utils.progress import listening
from pellucid.cli.app import app
from pellucid.scale import KMeans
from pellucid.table_explainer import explain as explain_module
from pellucid.table_explainer import tuning
from pellucid.table_explainer.arguments import ExplainOptions
from pellucid.tables.reading.large_files import memory_needed, open_large
from pellucid.tables.reading.source import ReadingOptions

NAMES = ["age", "income", "tenure", "visits"]
TINY = ("--memory", "10kB")
FIXED = ("-k", "4", "--method", "exshallow", "--outliers", "keep")


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    X, y = make_blobs(2000, 4, centers=4, cluster_std=2.0, random_state=0)
    X[:, 1] = np.exp(X[:, 1] / 3)
    frame = pl.DataFrame(X.round(3), schema=NAMES)
    city = np.array(["Rome", "Oslo", "Kyiv", "Lima"])[y]
    return frame.with_columns(
        n=pl.int_range(2000) % 3, vip=pl.int_range(2000) % 7 == 0, city=pl.Series(city)
    )


@pytest.fixture
def data(table, tmp_path):
    table.write_parquet(tmp_path / "data.parquet")
    table.write_csv(tmp_path / "data.csv")
    return tmp_path


def explain(*arguments):
    return CliRunner().invoke(app, ["explain", *map(str, arguments)], env={"FORCE_COLOR": None})


def assert_same(file, *options):
    """Whether all results are those of data in memory; returns the notices."""
    models, folder = [], file.parent
    runs = []
    for name, limit in (("memory", "10GB"), ("stream", "10kB")):
        model = folder / f"{name}.json"
        runs.append(explain(file, *FIXED, *options, "--memory", limit, "--model", model))
        assert runs[-1].exit_code == 0, runs[-1].output
        models.append(json.loads(model.read_text()))
    assert "is read in batches" not in runs[0].stderr
    assert "is read in batches" in runs[1].stderr
    assert runs[1].stdout == runs[0].stdout
    for model in models:
        model.get("reading", {}).clear()
    assert models[0] == models[1]
    return runs[1].stderr


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_results_are_those_of_memory(suffix, data):
    assert_same(data / f"data.{suffix}", "--exclude", "city")


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["drop", "median"])
def test_gaps_and_other_spellings(missing, table, tmp_path):
    columns = []
    for j, name in enumerate(NAMES):
        text = table[name].cast(pl.String).str.replace(".", ",", literal=True).to_list()
        for row in range(50 * j, 1500, 400):
            text[row] = ("", "NA", " n/a", "?")[j]
        columns.append(text)
    lines = ["made by hand", ";".join(NAMES), *(";".join(row) for row in zip(*columns))]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(lines) + "\n")
    assert_same(path, "--missing", missing)
    found = explain(path, *FIXED, *TINY, "--missing", "error")
    assert found.exit_code == 1
    assert "missing" in found.stderr
    assert "age" in found.stderr


def test_labels(data):
    stderr = assert_same(data / "data.csv", "--labels", "city", "-k", "auto")
    assert "left out" not in stderr


@pytest.mark.slow
def test_a_sample_decides_and_all_rows_are_counted(data, monkeypatch):
    duckdb = pytest.importorskip("duckdb")
    # 2,000 rows are more than a sample holds.
    monkeypatch.setattr(tuning, "SAMPLE_ROWS", 300)
    monkeypatch.setattr(tuning, "FEWEST_SAMPLE_ROWS", 300)
    path, sql, page = data / "data.parquet", data / "rules.sql", data / "report.html"
    files = ("--report", page, "--sql", sql, "--dialect", "duckdb")
    found = explain(path, "-k", "3-4", "--effort", "fast", *TINY, "--json", *files)
    assert found.exit_code == 0, found.output
    assert "a sample of 286 of 2,000 rows" in found.stderr
    assert "only columns of numbers are read in batches: city" in found.stderr
    result = json.loads(found.stdout)
    assert result["rows"] == 2000
    query = f"SELECT {sql.read_text()} AS c, count(*) FROM '{path}' GROUP BY c ORDER BY c"
    expected = [(c["cluster"], c["rows"]) for c in result["clusters"]]
    assert duckdb.sql(query).fetchall() == expected
    assert "a sample of 286 of 2,000 rows" in page.read_text()


@pytest.mark.slow
def test_centers_of_a_sample_are_moved_to_the_means_of_all_rows(data, monkeypatch):
    monkeypatch.setattr(tuning, "SAMPLE_ROWS", 100)
    monkeypatch.setattr(tuning, "FEWEST_SAMPLE_ROWS", 100)
    table = open_large(data / "data.parquet", ReadingOptions())
    options = ExplainOptions(k=4, method="exshallow", columns=NAMES)
    costs = []
    for n_passes in (5, 0):
        monkeypatch.setattr(explain_module, "KMeans", partial(KMeans, max_iter=n_passes))
        model = explain_module.explain_large(table, 10_000, options).fitted.model
        costs.append(model.reference_inertia_)
    assert costs[0] < costs[1]


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["--categorical", "n"], "--categorical"),
        (["--profile", "city"], "--profile"),
        (["--objective", "kmedians"], "--objective"),
        (["--polish", "yes"], "--polish"),
        (["--output", "rows.csv"], "--output"),
        (["--stability"], "--stability"),
    ],
)
def test_options_that_need_all_rows(arguments, name, data, monkeypatch):
    monkeypatch.chdir(data)
    found = explain("data.csv", *TINY, *arguments)
    assert found.exit_code == 2
    assert f"{name} needs all rows in memory" in found.stderr
    assert "raise --memory" in found.stderr


def test_columns_that_hold_no_numbers(data):
    found = explain(data / "data.parquet", *TINY, "--columns", "age,city")
    assert found.exit_code == 1
    assert "column 'city' is not one of plain numbers" in found.stderr


def test_files_that_cannot_be_read(tmp_path):
    path = tmp_path / "latin.csv"
    rows = "".join(f"{i},{i % 7}\n" for i in range(3000))
    path.write_bytes("größe,x\n".encode("latin-1") + rows.encode())
    found = explain(path, *TINY)
    assert found.exit_code == 1
    assert "UTF-8 only" in found.stderr
    assert "iconv" in found.stderr
    (tmp_path / "broken.parquet").write_bytes(b"PAR1" + bytes(20_000))
    found = explain(tmp_path / "broken.parquet", *TINY)
    assert found.exit_code == 1
    assert "broken.parquet cannot be read" in found.stderr
    found = explain(path, "--memory", "much")
    assert "memory='much' is not an amount of memory" in found.stderr


def test_passes_are_reported():
    X = np.random.default_rng(0).normal(size=(40_000, 2))
    texts = []
    with listening(lambda progress, text: texts.append(text)):
        ExShallow(reference=X[:4], n_jobs=1).fit(scan(lambda: [X], memory=10**6))
    assert "pass 1" in texts
    shown = [text for text in texts if text.startswith("pass 2: ")]
    assert shown[-1] == "pass 2: 100%"
    assert len(shown) > 1


def test_default_limit_is_half_of_the_memory(data, monkeypatch):
    monkeypatch.setattr("pellucid.cli.explain.available_memory", lambda: 20_000)
    assert "is read in batches" in explain(data / "data.csv", *FIXED).stderr
    assert memory_needed(data / "data.parquet") == 4 * 8 * 2000 * 7
    assert memory_needed(data / "nothing.xlsx") is None
