"""The examples of the README and of the pages in docs/ print what the pages show."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pellucid.cli.app import app

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"```(\w*)\n(.*?)```", flags=re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    """Language and text of all code blocks of a page."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


PYTHON = [page for page in PAGES if any(language == "python" for language, _ in blocks(page))]
SESSIONS = [
    pytest.param(text, id=f"{page.stem}-{text.splitlines()[0]}")
    for page in PAGES
    for language, text in blocks(page)
    if language == "console"
]


@pytest.mark.slow
@pytest.mark.parametrize("page", PYTHON, ids=lambda page: page.stem)
def test_python_examples_print_their_output(page, capsys):
    found = blocks(page)
    names: dict = {}
    for (language, code), (_, output) in zip(found, found[1:]):
        if language == "python":
            exec(compile(code, page.name, "exec"), names)
            assert capsys.readouterr().out == output


@pytest.mark.slow
@pytest.mark.parametrize("session", SESSIONS)
def test_terminal_examples_print_their_output(session, monkeypatch):
    monkeypatch.chdir(ROOT / "docs" / "examples")
    command, _, expected = session.partition("\n")
    result = CliRunner().invoke(app, command.split()[2:])
    printed = [line.rstrip() for line in (result.stderr + result.stdout).splitlines()]
    assert printed == expected.splitlines()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_to_files_exist(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), target


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 100


def test_the_example_table_is_made_by_its_script():
    folder = ROOT / "docs" / "examples"
    code = compile((folder / "make_customers.py").read_text(), "make_customers.py", "exec")
    names = {"__name__": "example"}
    exec(code, names)
    made = names["make_customers"]().write_csv()
    assert made == (folder / "customers.csv").read_text()


@pytest.mark.slow
def test_the_table_of_the_readme_is_printed_by_its_script(capsys):
    script = ROOT / "docs" / "examples" / "compare_methods.py"
    exec(compile(script.read_text(), script.name, "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out in (ROOT / "README.md").read_text(encoding="utf-8")
