"""Names, categories and labels stay text in every output, checked by running the outputs."""

import json
import re
import shutil
import sqlite3
import subprocess
import xml.etree.ElementTree as ET
from functools import cache

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

from _support import databases
from _support.export_cases import KIND, hostile_case
from _support.hostile import HOSTILE
from pellucid import from_json
from pellucid.cli.app import app
from pellucid.export import to_dot, to_html, to_mermaid, to_python, to_sql
from pellucid.export.sql_dialects import DIALECTS
from pellucid.tables.reading import read_source
from pellucid.tables.reading.source import neutralise, restore
from pellucid.tables.writing import write_table


@cache  # when the first test runs: at import, every process of the tests would fit it at once
def case():
    return hostile_case()


@cache
def case_of_servers():
    """The names that both servers allow: MariaDB refuses a blank at the end."""
    return hostile_case([name for name in HOSTILE if name == name.rstrip()])


def quoted(name, mark='"'):
    return mark + name.replace(mark, 2 * mark) + mark


@pytest.mark.slow
def test_duckdb_and_sqlite():
    explanation, table, expected = case()
    with duckdb.connect() as database:
        database.register("given", table)
        database.execute("CREATE TABLE rows_ AS SELECT * FROM given")
        query = to_sql(explanation, dialect="duckdb", table="rows_", column=HOSTILE[6])
        assert [row[-1] for row in database.execute(query).fetchall()] == expected
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE TABLE rows_ ({', '.join(map(quoted, table.columns))})")
    places = ", ".join("?" * table.shape[1])
    database.executemany(f"INSERT INTO rows_ VALUES ({places})", table.to_numpy().tolist())
    query = to_sql(explanation, dialect="sqlite", table="rows_", column=HOSTILE[6])
    assert [row[-1] for row in database.execute(query).fetchall()] == expected
    assert database.execute("SELECT count(*) FROM rows_").fetchone() == (len(table),)
    database.close()


@pytest.mark.slow
@pytest.mark.parametrize("start", [databases.postgres, databases.mariadb])
def test_servers(start):
    mark = '"' if start is databases.postgres else "`"
    explanation, table, expected = case_of_servers()
    kinds = ["DOUBLE PRECISION"] * (table.shape[1] - 1) + ["VARCHAR(200)"]
    columns = [(quoted(name, mark), kind) for name, kind in zip(table.columns, kinds)]
    with start() as server:
        server.load("rows_", columns, table.to_numpy().tolist())
        query = to_sql(explanation, dialect=server.dialect, table="rows_", column="the cluster")
        assert server.last_column(query) == expected


def test_every_dialect_quotes_so_that_only_names_and_literals_are_left():
    explanation, _, _ = case()
    for name, dialect in DIALECTS.items():
        text = to_sql(explanation, dialect=name, table="rows_")
        for word in sorted((*HOSTILE, KIND), key=len, reverse=True):
            for written in (dialect.identifier(word), dialect.literal(word)):
                text = text.replace(written, "?")
        assert not re.search(r"DROP|import|script|cmd", text), name


def test_python_is_compiled_and_run():
    explanation, table, expected = case()
    space = {}
    exec(compile(to_python(explanation), "exported", "exec"), space)
    rows = table.to_dict("records")
    assert [space["cluster_of"](row) for row in rows] == expected


def test_json_comes_back():
    explanation, table, expected = case()
    again = from_json(explanation.to_json())
    assert again.predict(table).tolist() == expected
    assert [rule.text for rule in again.rules_] == [rule.text for rule in explanation.rules_]


def test_graphviz_draws_the_texts():
    if shutil.which("dot") is None:
        pytest.skip("Graphviz is not installed: DOT is not drawn")
    explanation, _, _ = case()
    done = subprocess.run(
        ["dot", "-Tsvg"], input=to_dot(explanation), capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    root = ET.fromstring(done.stdout)
    space = "{http://www.w3.org/2000/svg}"
    drawn = {" ".join("".join(t.itertext()).split()) for t in root.iter(f"{space}text")}
    nodes = [g for g in root.iter(f"{space}g") if g.get("class") == "node"]
    assert len(nodes) == explanation.tree_.node_count
    for label in explanation.predict(case()[1]):
        plain = "".join(c if c.isprintable() else " " for c in f"cluster {label}")
        assert " ".join(plain.split()) in drawn


def test_mermaid_has_only_its_own_syntax():
    explanation, _, _ = case()
    node = r'n\d+[\[(]"[\w .,:%()≤≥≠>=+/#;-]*(<br>[\w .,:%()]*)?"[\])]'
    edge = r"n\d+ -- (yes|no) --> n\d+"
    style = r"style n\d+ fill:#\w{6},stroke:none,color:#\w{6}"
    for line in to_mermaid(explanation).splitlines()[1:]:
        assert re.fullmatch(f"    ({node}|{edge}|{style})", line), line


def test_notebook_html_has_only_its_own_elements():
    found = set(re.findall(r"<\s*/?\s*([a-zA-Z]+)", to_html(case()[0])))
    assert found <= {
        "div", "style", "table", "thead", "tbody", "tr", "th", "td", "span", "strong", "details",
        "summary", "pre",
    }  # fmt: skip


@pytest.mark.slow
def test_terminal_output_has_no_control_characters(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {n: rng.normal(size=90) for n in ("\x1b[31mred\x1b]0;t\x07", "[bold]b[/]")}
    )
    table.iloc[:45] += 9
    table["=cmd|x"] = np.where(table.iloc[:, 0] > 4, "\x1b[2Jwiped", "[red]plain[/]")
    path = tmp_path / "\x1b[7mrows.csv"
    table.to_csv(path, index=False)
    quick = ["explain", str(path), "-k", "2", "--effort", "fast"]
    compared = ["compare", str(path), "-k", "2", "--methods", "imm,emn"]
    for arguments in (quick, compared, ["explain", path, "--columns", "zz"]):
        result = CliRunner().invoke(app, [str(each) for each in arguments], color=True)
        text = result.stdout + result.stderr
        assert "\x1b[31mred" not in text
        assert "\x1b]0" not in text
        assert "\x1b[2J" not in text
        assert "\x1b[7m" not in text
        assert "\x07" not in text
    result = CliRunner().invoke(app, [*quick, "--exclude", "=*", "--columns", "[b*"])
    assert "[bold]b[/]" in result.stdout + result.stderr
    as_json = CliRunner().invoke(app, [*quick, "--json"])
    assert json.loads(as_json.stdout)


def test_formulas_are_text_in_csv_and_come_back(tmp_path):
    texts = [*HOSTILE, "-5", "+49 30", "--", "'=1", "''@x", "-", "- x", "=", "plain", "-1.5e3"]
    texts = [text.strip() or "x" for text in texts]
    table = pl.DataFrame({"=a": texts, "n": [-i - 0.5 for i in range(len(texts))], "@b": texts})
    for name in ("rows.csv", "rows.tsv"):
        write_table(tmp_path / name, table)
        separator = "\t" if name.endswith("tsv") else ","
        raw = pl.read_csv(tmp_path / name, separator=separator, infer_schema_length=0)
        assert raw.columns == ["'=a", "n", "'@b"]
        for text, field in zip(texts, raw["'=a"]):
            is_formula = text[0] in "=+-@\t\r" and text not in ("-5", "--", "-", "+49 30", "-1.5e3")
            assert field == (f"'{text}" if is_formula or text[:2] in ("'=", "''") else text)
        assert raw["n"][0] == "-0.5"
        again = read_source(tmp_path / name).table
        assert again["=a"].to_list() == texts
        assert again["@b"].to_list() == texts
    write_table(tmp_path / "kept.csv", table, keep_formulas=True)
    kept = pl.read_csv(tmp_path / "kept.csv", infer_schema_length=0)
    assert kept["=a"].to_list() == texts
    assert restore(neutralise(table)).equals(table)


def test_rules_that_start_with_a_negative_number_are_no_formulas():
    texts = ["-7.7 < age ≤ 6.8 and size (cm) > 2", "-$5 < x ≤ $9", "-7.7 < cmd|' /C x'!A0 ≤ 2"]
    found = neutralise(pl.DataFrame({"rule": texts}))["rule"].to_list()
    assert found == [*texts[:2], f"'{texts[2]}"]


def test_excel_cells_are_strings(tmp_path):
    import zipfile

    table = pl.DataFrame({"=a": HOSTILE, "n": list(range(len(HOSTILE)))})
    write_table(tmp_path / "rows.xlsx", table)
    sheet = zipfile.ZipFile(tmp_path / "rows.xlsx").read("xl/worksheets/sheet1.xml").decode()
    assert "<f>" not in sheet
    assert "<hyperlink" not in sheet
    assert sheet.count('t="s"') == len(HOSTILE) + 2


def test_the_commands_write_formulas_as_text_and_read_them_again(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"=x": rng.normal(size=80).round(2), "y": rng.normal(size=80).round(2)})
    table["@kind"] = np.where(np.arange(80) < 40, "=1+1", "-x")
    table.iloc[:40, 0] += 50
    path, model, out = (tmp_path / n for n in ("rows.csv", "model.json", "out.csv"))
    table.to_csv(path, index=False)
    arguments = ["explain", path, "-k", "2", "--model", model, "--output", out]
    arguments += ["--effort", "fast"]
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == 0, result.stderr
    header = out.read_text().splitlines()[0]
    assert header == "'=x,y,'@kind,cluster,rule"
    assert "'=1+1" in out.read_text()
    clusters = read_source(out).table["cluster"]
    read_source(out).table.drop("cluster", "rule").write_csv(tmp_path / "again.csv")
    result = CliRunner().invoke(app, ["predict", str(model), str(tmp_path / "again.csv")])
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == header
    assert len(lines) == 81
    kept = CliRunner().invoke(
        app, ["predict", str(model), str(tmp_path / "again.csv"), "--keep-formulas"]
    )
    assert kept.stdout.splitlines()[0] == "=x,y,@kind,cluster,rule"
    assert clusters.n_unique() == 2
