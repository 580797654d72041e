"""The examples of the README print what the README says."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pellucid.cli.app import app

README = Path(__file__).parent.parent / "README.md"


BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
EXAMPLES = [
    (code, output)
    for (language, code), (_, output) in zip(BLOCKS, BLOCKS[1:])
    if language == "python"
]


@pytest.mark.parametrize(("code", "output"), EXAMPLES)
def test_python_examples_give_their_output(code, output, capsys):
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == output


def test_the_session_at_the_terminal_gives_its_output(monkeypatch):
    monkeypatch.chdir(README.parent / "docs" / "examples")
    sessions = [text for language, text in BLOCKS if language == "console"]
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
