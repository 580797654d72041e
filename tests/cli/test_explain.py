"""``pellucid explain``: what it prints and writes is the model, and errors are one line."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_blobs
from typer.testing import CliRunner

import pellucid
from pellucid import (
    IMM,
    ExKMC,
    ExplainableKMeans,
    metrics,
)
from pellucid._utils.files import replacing
from pellucid.cli.app import app
from pellucid.cli.output import show_line, show_table
from pellucid.methods import BY_WORD

NAMES = ["age", "income", "tenure", "visits"]
IGNORED = "ignored: code (looks like an ID); use it with --include"
AS_GIVEN = ("--scale", "none")
"""Options with which the clustered data are those of the file, as in the models of the tests."""
FAST = ("--effort", "fast")
"""Where any valid tree will do."""


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    X, _ = make_blobs(200, len(NAMES), centers=5, cluster_std=3.0, random_state=0)
    return pl.DataFrame(X.round(3), schema=NAMES)


@pytest.fixture
def data(table, tmp_path):
    """A folder with the table, beside a column of text, in every format."""
    full = table.with_columns(code=pl.Series([f"c{i}" for i in range(table.height)]))
    full.write_csv(tmp_path / "data.csv")
    full.write_csv(tmp_path / "data.tsv", separator="\t")
    full.write_parquet(tmp_path / "data.parquet")
    return tmp_path


def run(*arguments, width: int | None = None):
    env = {"COLUMNS": str(width) if width else None, "FORCE_COLOR": None}
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env=env)


def explain(*arguments):
    return run("explain", *arguments)


def flat(text: str) -> str:
    return " ".join(text.split())


def assert_fails(result, *lines: str, code: int = 1) -> None:
    assert result.stderr.splitlines() == list(lines)
    assert result.stdout == ""
    assert result.exit_code == code


def printed_rules(stdout: str) -> dict[str, tuple[str, ...]]:
    """By cluster: rule, rows, share and purity as printed; one line per cluster."""
    cells = [
        [cell.strip() for cell in line.split("   ") if cell.strip()] for line in stdout.splitlines()
    ]
    return {row[0]: tuple(row[1:5]) for row in cells if len(row) == 6 and row[0] != "cluster"}


@pytest.fixture(scope="module")
def model_of_four(table):
    return ExplainableKMeans(4, effort="fast", random_state=0).fit(table)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["data.csv", "data.tsv", "data.parquet"])
def test_the_rules_printed_are_those_of_the_model(data, model_of_four, name):
    result = explain(data / name, "-k", 4, *AS_GIVEN, *FAST)
    model = model_of_four
    assert result.exit_code == 0
    assert result.stdout.startswith("4 clusters of 200 rows, explained by 3 splits\n")
    assert result.stderr == f"{IGNORED}\n"
    assert printed_rules(result.stdout) == {
        str(rule.cluster): (
            rule.text,
            str(rule.n_samples),
            f"{100 * rule.share:.1f}%",
            f"{100 * rule.purity:.1f}%",
        )
        for rule in model.rules_
    }


def test_the_measures_printed_are_those_of_the_model(data, table):
    result = explain(data / "data.csv", "-k", 4, "--method", "imm", "--seed", 3, *AS_GIVEN)
    model = IMM(4, random_state=3).fit(table)
    tree = model.tree_
    agreement = metrics.reference_agreement(model.labels_, model.reference_labels_)
    used = len(set(tree.feature[~tree.is_leaf].tolist()))
    ratio = model.inertia_ / model.reference_inertia_
    printed = flat(result.stdout)
    for measure in (
        f"cost (spread within clusters), compared with k-means {100 * (ratio - 1):+.1f}%",
        f"rows whose rule gives the cluster of k-means {100 * agreement:.1f}%",
        f"conditions per row, on average {metrics.weighted_average_explanation_size(tree):.2f}",
        f"longest path in the tree {tree.max_depth} questions",
        f"columns used {used} of 4",
    ):
        assert measure in printed


@pytest.mark.slow
@pytest.mark.parametrize("method", BY_WORD)
def test_the_file_written_is_the_input_with_the_labels(data, table, method):
    output = data / "labels.csv"
    known = BY_WORD[method].options
    parameters = {"n_leaves": 9} if "leaves" in known else {}
    if "effort" in known:
        parameters["effort"] = "fast"
    model = BY_WORD[method].estimator(6, random_state=1, **parameters)
    leaves = ["--leaves", 9] if "leaves" in known else []
    fast = FAST if "effort" in known else ()
    arguments = ["-k", 6, "--method", method, *leaves, "--seed", 1, *AS_GIVEN, "--output", output]
    result = explain(data / "data.parquet", *arguments, *fast)
    assert result.exit_code == 0, result.stderr
    assert result.stderr.endswith(f"wrote the rows with their cluster to {output}\n")
    written = pl.read_csv(output)
    assert written["cluster"].to_list() == model.fit(table).labels_.tolist()
    texts = {rule.leaf: rule.text for rule in model._leaf_rules}
    leaves_of_rows = model.apply(table).tolist()
    assert written["rule"].to_list() == [texts[leaf] for leaf in leaves_of_rows]
    assert written.drop("cluster", "rule").equals(pl.read_parquet(data / "data.parquet"))


def test_fields_of_a_text_file_are_written_as_they_were(tmp_path):
    rows = ['007,1.50,"x, y",NA', "008,2.00,,3", "009,90.00,z,4"]
    (tmp_path / "data.csv").write_text("\n".join(["zip,price,note,gap", *rows]) + "\n")
    output = tmp_path / "labels.csv"
    result = explain(tmp_path / "data.csv", "-k", 2, "--columns", "price", "--output", output)
    assert result.exit_code == 0, result.stderr
    header, *written = output.read_text().splitlines()
    assert header == "zip,price,note,gap,cluster,rule"
    assert [line.rsplit(",", 2)[0] for line in written] == rows


def test_every_leaf_of_an_expanded_tree_is_printed(data, table):
    result = explain(data / "data.csv", "-k", 3, "--method", "exkmc", "--leaves", 7, *AS_GIVEN)
    model = ExKMC(3, n_leaves=7, random_state=0).fit(table)
    rules = [rule for cluster in model.rules_ for rule in cluster.rules]
    assert len(rules) == 7
    for rule in rules:
        assert rule.text in result.stdout


@pytest.fixture(scope="module")
def long_names(tmp_path_factory):
    """A file whose rules are wider than any terminal, and its model."""
    X, _ = make_blobs(300, 4, centers=8, random_state=2)
    table = pl.DataFrame(X, schema=[f"a_rather_long_name_for_feature_{i}" for i in range(4)])
    file = tmp_path_factory.mktemp("long_names") / "data.parquet"
    table.write_parquet(file)
    return file, ExplainableKMeans(8, effort="fast", random_state=0).fit(table)


class Terminal(io.StringIO):
    """A terminal, for which lines are as wide as COLUMNS says."""

    def isatty(self) -> bool:
        return True


def shown_in_terminal(monkeypatch, width: int, *arguments) -> str:
    """What the command prints to a terminal of this width, without colors."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", Terminal())
    app([str(argument) for argument in arguments], standalone_mode=False)
    return re.sub(r"\x1b\[[0-9;]*m", "", sys.stdout.getvalue())


@pytest.mark.parametrize("width", [64, 80, 120, 400])
def test_long_rules_are_wrapped_and_never_cut(long_names, monkeypatch, width):
    file, model = long_names
    arguments = ("explain", file, "-k", 8, *AS_GIVEN, *FAST)
    lines = shown_in_terminal(monkeypatch, width, *arguments).splitlines()
    assert max(map(len, lines)) <= width
    header = next(line for line in lines if "rule" in line)
    start, stop = header.index("rule"), header.index("rows")
    cells: list[str] = []
    for line in lines[lines.index(header) + 2 :]:
        if not line.strip():
            break
        if line[:start].strip():
            cells.append("")
        cells[-1] += line[start:stop]
    assert ["".join(cell.split()) for cell in cells] == [
        rule.text.replace(" ", "") for rule in model.rules_
    ]


def test_without_room_for_a_table_rules_are_printed_below_each_other(long_names, monkeypatch):
    file, model = long_names
    arguments = ("explain", file, "-k", 8, *AS_GIVEN, *FAST)
    assert flat(str(model.rules_)) in flat(shown_in_terminal(monkeypatch, 50, *arguments))


@pytest.mark.parametrize("width", [50, 80])
def test_suggested_names_are_below_a_narrow_table(data, monkeypatch, width):
    found = pellucid.explain(data / "data.csv", k=3, effort="fast", verbose=False)
    text = shown_in_terminal(monkeypatch, width, "explain", data / "data.csv", "-k", 3, *FAST)
    lines = [line.strip() for line in text.splitlines()]
    first = lines.index("suggested names") + 1
    shown = [f"■ {i}  {name}" for i, name in enumerate(found.suggested_names)]
    assert lines[first : first + 3] == shown


def test_lines_are_wrapped_between_words_at_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("TERM", "xterm")
    text = "dropped 9 of 400 rows with missing numbers; --missing median keeps them"
    monkeypatch.setattr(sys, "stdout", Terminal())
    show_line(text)
    lines = sys.stdout.getvalue().splitlines()
    assert max(map(len, lines)) <= 30
    assert " ".join(line.strip() for line in lines) == text
    monkeypatch.setattr(sys, "stdout", Terminal())
    show_line(f"a head\n    {text}")
    assert all(line.startswith("    ") for line in sys.stdout.getvalue().splitlines()[1:])
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    show_line(text)
    assert sys.stdout.getvalue() == f"{text}\n"


@pytest.mark.parametrize("width", range(40, 121, 10))
def test_tables_show_whole_cells_at_any_width(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", Terminal())
    heads = ("method", "cost compared with k-means", "agreement", "leaves", "options")
    rows = [
        ("ExplainableKMeans", "+6.0%", "97.4%", "3", "--method exshallow --depth-penalty 0.03"),
        ("IMM", "+10.8%", "100.0%", "12", "--faithfulness 0.5"),
    ]
    show_table(heads, rows)
    text = re.sub(r"\x1b\[[\d;]*m", "", sys.stdout.getvalue())
    assert max(map(len, text.splitlines())) <= width
    words = text.split()
    assert all(word in words for row in rows for cell in row for word in cell.split())


def test_a_pipe_is_wide_enough_for_most_rules(data, table):
    stdout = run(
        "explain", data / "data.csv", "-k", 8, "--leaves", 8, *AS_GIVEN, *FAST, width=40
    ).stdout
    model = ExplainableKMeans(8, effort="fast", random_state=0).fit(table)
    assert all(rule.text in stdout for rule in model.rules_)


@pytest.mark.slow
def test_the_number_of_clusters_is_found_and_justified(tmp_path):
    X, _ = make_blobs(100, 2, centers=4, cluster_std=0.5, random_state=1)
    pl.DataFrame(X, schema=["a", "b"]).write_csv(tmp_path / "data.csv")
    for arguments in ([], ["-k", "auto"]):
        result = explain(tmp_path / "data.csv", *FAST, *arguments)
        scores, legend, answer = result.stdout.partition("\nscore: decides about")
        assert legend
        first_words = [line.split() for line in scores.splitlines() if line.strip()][2:]
        assert [words[0] for words in first_words] == [str(k) for k in range(2, 8)]
        assert [words[0] for words in first_words if words[1] == "(chosen)"] == ["4"]
        assert answer.partition("\n\n")[2].startswith("4 clusters of 100 rows, ")
        scaled, chosen = result.stderr.splitlines()
        assert scaled.startswith("columns standardized before clustering; rules stay in the orig")
        assert chosen.startswith("chose 4 clusters: silhouette score 0.8")
        assert chosen.endswith(" (-k to change)")


@pytest.mark.slow
def test_a_range_prints_a_table_of_all_numbers(tmp_path):
    X, _ = make_blobs(300, 2, centers=4, cluster_std=0.5, random_state=1)
    pl.DataFrame(X, schema=["a", "b"]).write_csv(tmp_path / "data.csv")
    result = explain(tmp_path / "data.csv", "-k", "3-5", *FAST)
    assert result.exit_code == 0, result.stderr
    header, _, *rows = [line.split() for line in result.stdout.splitlines() if line.strip()][:5]
    names = ["clusters", "score", "silhouette", "stability", "smallest", "agreement", "cost"]
    assert header == names
    assert [row[0] for row in rows] == ["3", "4", "5"]
    assert rows[1][1] == "(chosen)"
    assert all(row[-2].endswith("%") and float(row[-2][:-1]) > 50 for row in rows)
    assert all(row[-1].startswith("+") and float(row[-1][1:-1]) < 5 for row in rows)
    scores = {row[0]: float(row[-6]) for row in rows}
    assert max(scores, key=scores.get) == "4"
    assert "agreement and cost: of a tree" in result.stdout


def test_names_of_a_file_reach_all_outputs(data):
    (data / "names.csv").write_text("cluster,name\n0,first\n2,it's third\n")
    paths = {name: data / f"out.{name}" for name in ("csv", "sql", "json", "html")}
    result = explain(
        data / "data.csv", "-k", 3, "--names", data / "names.csv", "--output", paths["csv"],
        "--sql", paths["sql"], "--model", paths["json"], "--report", paths["html"], *FAST,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert set(pl.read_csv(paths["csv"])["cluster"]) == {"first", "1", "it's third"}
    assert "THEN 'it''s third'" in paths["sql"].read_text()
    for text in (result.stdout, paths["json"].read_text(), paths["html"].read_text()):
        assert "first" in text
        assert "third" in text
    (data / "names.csv").write_text("cluster,name\n7,seventh\n")
    wrong = explain(data / "data.csv", "-k", 3, "--names", data / "names.csv", "--quiet", *FAST)
    assert wrong.stderr.splitlines()[-1] == (
        f"error: --names: line 2 of {data / 'names.csv'} names the cluster '7'; the clusters are "
        "0, 1, 2"
    )


def test_profile_columns_are_printed_by_cluster(data):
    result = explain(data / "data.csv", "-k", 3, "--profile", "visits", *FAST)
    assert result.exit_code == 0, result.stderr
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("visits")]
    assert len(line.split()) == 4
    assert re.search(r"columns used [123] of 3\b", flat(result.stdout))


def test_one_cluster_needs_no_split(data):
    result = explain(data / "data.csv", "-k", 1)
    assert result.stdout.startswith("1 cluster of 200 rows, explained by 0 splits\n")
    assert "always" in result.stdout


def test_columns_are_chosen_by_name(data, table):
    (data / "odd.csv").write_text('"a, b",c\n1,9\n2,8\n7,1\n')
    assert "columns used 1 of 1" in flat(
        explain(data / "odd.csv", "-k", 2, "--columns", '"a, b"').stdout
    )
    result = explain(data / "data.csv", "-k", 4, "--columns", "visits, age", *AS_GIVEN, *FAST)
    model = ExplainableKMeans(4, effort="fast", random_state=0)
    model.fit(table.select("visits", "age"))
    assert result.stderr == ""
    for rule in model.rules_:
        assert rule.text in result.stdout


def test_booleans_are_categories_and_texts_late_in_a_column_count(tmp_path):
    lines = ["flag,value,mixed", *(f"{i % 2 == 0},{i % 50},t{i}".lower() for i in range(300))]
    lines += ["true,x,7"]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    result = explain(tmp_path / "data.csv", "-k", 2)
    assert result.stderr.splitlines()[:3] == [
        'value: 1 value is not a number ("x"); treated as missing',
        "ignored: mixed (looks like an ID); use it with --include",
        "treated as categories: flag (--exclude to ignore them)",
    ]
    assert "columns used 1 of 2" in flat(result.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["png", "svg", "pdf", "dot"])
def test_the_tree_is_drawn(data, suffix):
    picture = data / f"tree.{suffix}"
    result = explain(data / "data.csv", "-k", 3, *FAST, "--tree", picture)
    assert result.exit_code == 0, result.stderr
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "dot": b"digraph"}[suffix]
    assert picture.read_bytes().startswith(start)


def test_a_missing_column_is_an_error_that_helps(data):
    assert_fails(
        explain(data / "data.csv", "--columns", "age,incme"),
        "error: --columns: there is no column 'incme'; the columns are 'age', 'income', 'tenure', "
        "'visits', 'code'",
        "hint: did you mean 'income'?",
    )


def test_a_column_of_many_texts_cannot_be_asked_for(data):
    assert_fails(
        explain(data / "data.csv", "--columns", "age,code"),
        "error: column 'code' cannot be used: text with many different values",
        "hint: remove it from --columns, or add it to --categorical",
    )


def test_a_column_cannot_be_asked_for_twice_or_not_at_all(data):
    twice = explain(data / "data.csv", "--columns", "age,income,age")
    assert_fails(twice, "error: --columns names 'age' more than once", code=2)
    none = explain(data / "data.csv", "--columns", " ,")
    assert_fails(none, "error: --columns names no column", code=2)


@pytest.mark.slow
def test_missing_values_are_dropped_filled_in_or_refused(tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n1,2\n3,4\n9,NA\n9,9\n2,\n")
    dropped = explain(tmp_path / "data.csv", "-k", 2, "--missing", "drop")
    assert dropped.stdout.startswith("2 clusters of 3 rows")
    line = "dropped 2 of 5 rows with missing numbers (b 2); --missing median keeps them"
    assert line in dropped.stderr
    filled = explain(tmp_path / "data.csv", "-k", 2, "--missing", "median")
    assert filled.stdout.startswith("2 clusters of 5 rows")
    line = "replaced missing numbers by the median in 2 of 5 rows: b 2 (--missing drop drops the"
    assert line in filled.stderr
    # By default, a column with many gaps is ignored rather than many rows.
    ignored = explain(tmp_path / "data.csv", "-k", 2)
    assert ignored.stdout.startswith("2 clusters of 5 rows")
    assert (
        "ignored: b (40% of its values are missing); use it with --missing median" in ignored.stderr
    )
    assert_fails(
        explain(tmp_path / "data.csv", "-k", 2, "--missing", "error", "--quiet"),
        "error: 2 values missing (b 2); the first in row 3, column 'b'",
        "hint: --missing drop drops such rows, --missing median fills in the median",
    )


def test_leaves_are_for_exkmc_only_and_not_fewer_than_clusters(data):
    assert_fails(
        explain(data / "data.csv", "--method", "exshallow", "--leaves", 9),
        "error: --leaves requires --method explainable, exkmc or spex; exshallow makes one leaf "
        "per cluster",
        code=2,
    )
    assert_fails(
        explain(data / "data.csv", "-k", 5, "--method", "exkmc", "--leaves", 4),
        "error: --leaves 4 is less than the 5 clusters of -k",
        "hint: every cluster needs at least one leaf",
        code=2,
    )


def test_files_that_cannot_be_read(data):
    missing, odd, empty = (data / n for n in ("no.csv", "x.xlsx", "e.csv"))
    assert_fails(explain(missing), f"error: {missing}: No such file or directory")
    assert_fails(
        explain(data / "dat.csv"),
        f"error: {data / 'dat.csv'}: No such file or directory",
        f"hint: did you mean {data / 'data.csv'}?",
    )
    odd.write_text("")
    assert_fails(
        explain(odd),
        f"error: {odd} is empty",
        "hint: a table needs a header line and rows",
    )
    empty.write_text("")
    assert_fails(
        explain(empty),
        f"error: {empty} is empty",
        "hint: a table needs a header line and rows",
    )


@pytest.fixture
def no_work(monkeypatch):
    """Fail the test if anything is read or fitted."""

    def fail(*args, **kwargs):
        raise AssertionError("work was done")

    monkeypatch.setattr("pellucid.cli.explain.read_source", fail)


@pytest.mark.parametrize("option", ["--output", "--tree"])
@pytest.mark.usefixtures("no_work")
def test_a_target_that_cannot_be_written_stops_before_any_work(data, option):
    def fails_with(target, *lines):
        assert_fails(explain(data / "data.csv", option, target), *lines)

    before = sorted(data.iterdir())
    fails_with(
        data / "no" / "x.png",
        f"error: {option}: the folder {data / 'no'} does not exist",
        "hint: create it first, or choose another folder",
    )
    file = data / "data.tsv"
    fails_with(file / "x.png", f"error: {option}: {file} is not a folder")
    fails_with(data, f"error: {option}: {data} is a folder", "hint: give the name of a file in it")
    fails_with(os.devnull, f"error: {option}: {os.devnull} is not a regular file")
    source = data / "data.csv"
    fails_with(source, f"error: {option}: {source} is the input; it would be overwritten")
    assert sorted(data.iterdir()) == before


@pytest.mark.usefixtures("no_work")
def test_a_folder_without_permission_stops_before_any_work(data, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert_fails(
        explain(data / "data.csv", "--output", data / "labels.csv"),
        f"error: --output: no permission to write in the folder {data}",
    )


@pytest.mark.usefixtures("no_work")
def test_names_of_files_that_promise_another_format(data):
    assert_fails(
        explain(data / "data.csv", "--output", data / "labels.doc"),
        f"error: {data / 'labels.doc'}: tables cannot be written as '.doc'",
        "hint: use .csv, .tsv, .xlsx, .parquet, .feather, .jsonl, or .csv.gz",
    )
    assert_fails(
        explain(data / "data.csv", "--tree", data / "tree.gif"),
        "error: --tree: '.gif' is not an image format",
        "hint: use one of .png, .svg, .pdf, .dot, .gv",
    )


def test_an_input_with_a_cluster_column_is_not_overwritten(tmp_path):
    (tmp_path / "data.csv").write_text("a,cluster\n1,2\n3,4\n")
    assert_fails(
        explain(tmp_path / "data.csv", "-k", 2, "--output", tmp_path / "labels.csv"),
        f"error: {tmp_path / 'data.csv'} already has a column 'cluster', which the output would "
        "add",
        "hint: rename it",
    )


def test_columns_that_no_csv_file_can_hold_are_found_before_the_fit(tmp_path):
    file, output = tmp_path / "data.parquet", tmp_path / "labels.csv"
    pl.DataFrame({"a": [1.0, 2.0], "b": [[1], [2]]}).write_parquet(file)
    assert_fails(
        explain(file, "-k", 2, "--output", output),
        "error: column 'b' (its type is List(Int64)) cannot be written to labels.csv",
        "hint: use labels.parquet, or drop the column",
    )


@pytest.mark.parametrize("option", ["--output", "--tree"])
def test_a_failed_write_leaves_nothing_and_loses_no_result(data, monkeypatch, option):
    def write_half(self, file, *args, **kwargs):
        file.write(b"half") if hasattr(file, "write") else file.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", write_half)
    monkeypatch.setattr(pl.DataFrame, "write_csv", write_half)
    target = data / ("old.csv" if option == "--output" else "old.png")
    target.write_text("precious")
    before = sorted(data.iterdir())
    result = explain(data / "data.csv", "-k", 3, *FAST, option, target)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == f"error: {target}: No space left on device"
    assert result.stdout.startswith("3 clusters of 200 rows")
    assert sorted(data.iterdir()) == before
    assert target.read_text() == "precious"


def test_a_replaced_file_keeps_its_mode_and_its_links(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to(real)
    with replacing(link) as unfinished:
        unfinished.write_text("new")
        assert real.read_text() == "old"
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_warnings_are_one_line_each(tmp_path):
    values = np.random.default_rng(0).random((300, 6)).round(3)
    pl.DataFrame(values, schema=list("abcdef")).write_csv(tmp_path / "data.csv")
    result = explain(tmp_path / "data.csv", "-k", 3, "--scale", "none", *FAST)
    assert result.exit_code == 0
    lines = result.stderr.splitlines()
    assert all(line.startswith("warning: ") for line in lines)
    assert any("the clusters overlap (silhouette score 0.1" in line for line in lines)


def test_there_are_at_most_as_many_clusters_as_different_rows(tmp_path):
    (tmp_path / "data.csv").write_text("a\n1.5\n1.5\n2\n2\n")
    result = explain(tmp_path / "data.csv", "-k", 3, "--scale", "none")
    assert result.stderr.splitlines() == [
        "made 2 clusters instead of 3, because only 2 rows are different",
        "warning: the table has only 4 rows; clusters of so few rows may be due to chance",
    ]
    assert result.stdout.startswith("2 clusters of 4 rows, explained by 1 split\n")


def test_names_cannot_play_tricks_on_the_terminal(tmp_path):
    file = tmp_path / "data.parquet"
    pl.DataFrame({"[red]x\x1b[31m": [1.0, 2.0, 9.0]}).write_parquet(file)
    result = explain(file, "-k", 2)
    assert "[red]x\\x1b[31m ≤ " in result.stdout
    assert "\x1b" not in result.stdout


def test_interrupted_work_ends_with_130_and_one_word(data, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("pellucid.cli.explain.read_source", interrupt)
    assert_fails(explain(data / "data.csv"), "interrupted", code=130)


def test_packed_text_is_read_from_standard_input_too(data):
    packed = gzip.compress((data / "data.csv").read_bytes())
    result = CliRunner().invoke(app, ["explain", "-", "-k", "4", *FAST], input=packed)
    assert result.stdout == explain(data / "data.csv", "-k", 4, *FAST).stdout
    broken = CliRunner().invoke(app, ["explain", "-"], input=packed[:100])
    assert broken.stderr.startswith("error: standard input cannot be decompressed: ")


def test_files_cannot_be_written_to_standard_output(data):
    assert_fails(
        explain(data / "data.csv", "--sql", "-"),
        "error: --sql: standard output is used for the results",
        "hint: give a file name",
    )


@pytest.mark.parametrize(
    ("arguments", "error", "command"),
    [
        (["explain"], "missing argument 'FILE'", "pellucid explain"),
        (["explain", "x.csv", "--colums", "a"], "no such option:? '?--colums", "pellucid explain"),
        (["explian", "x.csv"], "no such command 'explian'", "pellucid"),
        (
            ["explain", "x.csv", "--leaves", "x"],
            "invalid value for '--leaves'",
            "pellucid explain",
        ),
    ],
)
def test_wrong_usage_is_one_line_and_a_hint(arguments, error, command):
    result = CliRunner().invoke(app, arguments, prog_name="pellucid")
    first, hint = result.stderr.splitlines()
    assert re.match(f"error: {error}", first)
    assert hint == f"hint: see {command} --help"
    assert result.stdout == ""
    assert result.exit_code == 2


def test_no_command_shows_the_help():
    result = CliRunner().invoke(app, [], prog_name="pellucid")
    assert "Exit codes: 0 success" in result.output
    assert "error:" not in result.output
    assert result.exit_code == 2


def test_a_bug_is_one_line_too_and_debug_shows_where(data, monkeypatch):
    def break_down(*args, **kwargs):
        raise KeyError("oops")

    monkeypatch.setattr("pellucid.cli.explain.read_source", break_down)
    assert_fails(
        explain(data / "data.csv"),
        "error: KeyError: 'oops'",
        "hint: run again with --debug to see the traceback",
    )
    for arguments in (
        ["--debug", "explain", data / "data.csv"],
        ["explain", data / "data.csv", "--debug"],
    ):
        result = run(*arguments)
        assert result.exit_code == 1
        assert result.stderr.startswith("Traceback (most recent call last):")
        assert result.stderr.endswith("error: KeyError: 'oops'\n")


def test_usage_errors_exit_with_two(data):
    assert explain(data / "data.csv", "-k", 0).exit_code == 2
    assert explain(data / "data.csv", "--method", "magic").exit_code == 2
    assert explain().exit_code == 2


def test_the_version_is_shown():
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"pellucid {pellucid.__version__}\n")


def test_help_needs_none_of_what_the_commands_need():
    code = (
        "import sys, pellucid; before = set(sys.modules); import pellucid.cli.app\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "sys.exit(bool(new & {'polars', 'matplotlib', 'sklearn', 'numba'}))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
def test_the_real_program_uses_exit_codes_and_both_streams(data, table):
    def program(*arguments):
        command = [sys.executable, "-c", "from pellucid.cli.app import main; main()", *arguments]
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
        environment.pop("FORCE_COLOR", None)
        return subprocess.run(
            command, capture_output=True, encoding="utf-8", cwd=data, env=environment, check=False
        )

    good = program(
        "explain", "data.csv", "-k", "3", *AS_GIVEN, "--method", "imm", "--output", "labels.csv"
    )
    assert (good.returncode, good.stderr.splitlines()) == (
        0,
        [IGNORED, "wrote the rows with their cluster to labels.csv"],
    )
    for rule in IMM(3, random_state=0).fit(table).rules_:
        assert rule.text in good.stdout
    assert np.isin(pl.read_csv(data / "labels.csv")["cluster"], [0, 1, 2]).all()
    bad = program("explain", "nowhere.csv")
    assert (bad.returncode, bad.stdout, bad.stderr) == (
        1,
        "",
        "error: nowhere.csv: No such file or directory\n",
    )


def test_stability_is_printed_and_in_the_json(data):
    arguments = (data / "data.csv", "-k", 5, "--method", "imm", "--seed", 3)
    printed = explain(*arguments, "--stability", 4)
    assert printed.exit_code == 0
    assert "4 bootstraps of the rows, each with a tree for the same reference" in printed.stdout
    found = json.loads(explain(*arguments, "--json", "--quiet", "--stability", 4).stdout)
    assert found["stability"]["draws"] == len(found["stability"]["ari"]) == 4
    question = found["stability"]["questions"][0]
    split = found["model"]["nodes"][question["node"]]
    assert question["column"] in NAMES
    assert f"the first question ({question['question']}) returns in" in printed.stdout
    assert str(split["threshold"])[:4] in question["question"]
    again = pellucid.explain(data / "data.csv", k=5, method="imm", random_state=3, verbose=False)
    again = again.with_stability(n_bootstraps=4, random_state=3)
    assert again.stability.to_dict() == found["stability"]
    assert again.stability.sentences()[1] in str(again)
    assert json.loads(explain(*arguments, "--json", "--quiet").stdout)["stability"] is None


def test_stability_needs_no_number(data):
    found = explain("--stability", data / "data.csv", "-k", 2, "--method", "imm", "--quiet")
    assert "100 bootstraps of the rows" in found.stdout


def test_stability_follows_other_names_and_categories(table):
    table = table.with_columns(kind=pl.when(pl.col("age") > 0).then(pl.lit("a")).otherwise(None))
    found = pellucid.explain(table, k=3, method="imm", verbose=False)
    found = found.with_stability(n_bootstraps=3).rename({0: "first"})
    assert [
        c.cluster for c in found.stability.clusters
    ] == found.explanation.cluster_names_.tolist()
    tree = found.explanation.tree_
    nodes = [question.node for question in found.stability.questions]
    assert nodes == np.flatnonzero(~tree.is_leaf).tolist()
