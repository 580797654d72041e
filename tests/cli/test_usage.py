"""Wrong usage is answered before numpy, polars, scikit-learn or numba are imported."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from pellucid.cli.app import app

COMMANDS = (
    "explain",
    "predict",
    "compare",
    "path",
    "regions",
    "rules",
    "xclusters",
    "demo",
    "info",
    "warm-up",
)

SERIES = ("--entity", "a", "--time", "b", "--value", "c")

WRONG = [
    (["explain", "-k", "five", "x.csv"], "-k is 'five'; it must be a positive integer, a range "),
    (["explain", "x.csv", "--colums", "a"], "no such option: --colums"),
    (["explain", "none.csv"], "none.csv: No such file or directory"),
    (["explain", "x.csv", "-k", "3", "--labels", "a"], "-k cannot be used with --labels"),
    (["explain", "x.csv", "-k", "3", "--leaves", "2"], "--leaves 2 is less than the 3 clusters"),
    (["explain", "x.csv", "--method", "imm", "--max-depth", "2"], "--max-depth requires --method"),
    (["explain", "x.csv", "--missing", "x"], "--missing: unknown value 'x'"),
    (["explain", "x.csv", "--language", "fr"], "--language: unknown value 'fr'"),
    (["explain", "x.csv", "--dialect", "cobol"], "--dialect: unknown dialect 'cobol'"),
    (["explain", "x.csv", "--sep", "ab"], "--sep is 'ab'; it must be one character"),
    (["explain", "x.csv", "--decimal", ";"], "--decimal is ';'; it must be '.' or ','"),
    (["explain", "x.csv", "--encoding", "none"], "--encoding: unknown encoding 'none'"),
    (["explain", "x.csv", "--tree", "tree.doc"], "--tree: '.doc' is not an image format"),
    (["explain", "x.csv", "--report", "page.txt"], "--report: page.txt must end in .html"),
    (["explain", "x.csv", "--sql", "a", "--model", "a"], "--sql and --model are the same file"),
    (["explain", "x.csv", "--output", "x.csv"], "--output: x.csv is the input"),
    (["predict", "none.json", "x.csv"], "none.json: No such file or directory"),
    (["predict", "m.json", "x.csv", "--output", "x.csv"], "--output: x.csv is the input"),
    (["compare", "x.csv", "-k", "0"], "-k is '0'; it must be a positive integer, a range such"),
    (["compare", "x.csv", "--plot", "a.doc"], "--plot: '.doc' is not an image format"),
    (["path", "x.csv", "-k", "2", "--labels", "a"], "-k cannot be used with --labels"),
    (["regions", "x.csv", "--output", "a.doc"], "a.doc: tables cannot be written as '.doc'"),
    (["explain", "x.csv", "--output", "a.doc"], "a.doc: tables cannot be written as '.doc'"),
    (["xclusters", "x.csv", *SERIES, "--output", "a.doc"], "a.doc: tables cannot be written as"),
    (["regions", "x.csv", "--shape", "blob"], "--shape: unknown value 'blob'"),
    (["regions", "x.csv", "-k", "2", "--labels", "a"], "-k cannot be used with --labels"),
    (["regions", "x.csv", "--max-error", "2"], "invalid value for '--max-error'"),
    (["xclusters", "x.csv", *SERIES, "-k", "1"], "-k is '1'; it must be a number or a range"),
    (["xclusters", "x.csv", *SERIES, "--times", "d"], "--times is for wide tables, --time and"),
    (["xclusters", "x.csv", "--time", "b"], "--time requires --value"),
    (["xclusters", "x.csv", "--time", "b", "--value", "c"], "a long table requires --entity or"),
    (["xclusters", "x.csv", *SERIES, "--distance", "far"], "--distance: unknown value 'far'"),
    (["xclusters", "x.csv", *SERIES, "--frequency", "eon"], "--frequency: unknown value 'eon'"),
    (["xclusters", "x.csv", *SERIES, "--trends", "a.doc"], "--trends: '.doc' is not an image"),
    (["demo", "--output", "x.csv"], "--output: x.csv is not a folder"),
]

# One process for all cases: after a module is imported, it stays in sys.modules.
PROGRAM = """
import json, sys
from typer.testing import CliRunner
from pellucid.cli.app import app

heavy = ("numpy", "polars", "sklearn", "numba", "scipy", "pandas", "matplotlib")
found = []
for arguments in json.loads(sys.argv[1]):
    result = CliRunner().invoke(app, arguments)
    imported = [name for name in heavy if name in sys.modules]
    found.append((result.exit_code, result.stderr, imported))
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("usage")
    (folder / "x.csv").write_text("a,b,c\n1,2,3\n")
    (folder / "m.json").write_text("{}")
    cases = json.dumps([arguments for arguments, _ in WRONG])
    command = [sys.executable, "-c", PROGRAM, cases]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(WRONG)), ids=lambda i: " ".join(WRONG[i][0]))
def test_wrong_usage_imports_nothing_heavy(answers, case):
    code, text, imported = answers[case]
    assert text.startswith(f"error: {WRONG[case][1]}")
    assert code in (1, 2)
    assert imported == []


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_h_is_help_and_flags_have_no_type(command):
    runner = CliRunner(env={"COLUMNS": "200"})
    arguments = [] if command is None else [command]
    short, long = (runner.invoke(app, [*arguments, name]) for name in ("-h", "--help"))
    assert short.exit_code == 0
    assert short.stdout == long.stdout
    assert re.search(r"--help +-h +Show this message", short.stdout)
    assert "bool" not in short.stdout.lower()


def test_python_m_runs_the_command_line():
    command = [sys.executable, "-m", "pellucid", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("pellucid ")
