"""The examples of the README print what the README says."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pellucid.cli.app import app

README = Path(__file__).parent.parent / "README.md"


@pytest.fixture
def blocks():
    return re.findall(r"```(\w*)\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_python_examples_give_their_output(blocks, capsys):
    examples = [at for at, (language, _) in enumerate(blocks) if language == "python"]
    assert len(examples) >= 2
    for at in examples:
        exec(compile(blocks[at][1], "README.md", "exec"), {})
        assert capsys.readouterr().out == blocks[at + 1][1]


def test_the_session_at_the_terminal_gives_its_output(blocks, monkeypatch):
    monkeypatch.chdir(README.parent / "docs" / "examples")
    sessions = [text for language, text in blocks if language == "console"]
    assert len(sessions) >= 2
    for session in sessions:
        command, _, expected = session.partition("\n")
        result = CliRunner().invoke(app, command.split()[2:])
        printed = [line.rstrip() for line in (result.stderr + result.stdout).splitlines()]
        assert printed == expected.splitlines()


def test_the_customers_are_those_that_the_script_makes():
    folder = README.parent / "docs" / "examples"
    code = compile((folder / "make_customers.py").read_text(), "make_customers.py", "exec")
    names = {"__name__": "example"}
    exec(code, names)
    made = names["make_customers"]().write_csv()
    assert made == (folder / "customers.csv").read_text()
