"""The example of the README prints what the README says."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


@pytest.fixture
def blocks():
    return re.findall(r"```(\w*)\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_python_example_gives_its_output(blocks, capsys):
    languages = [language for language, _ in blocks]
    at = languages.index("python")
    exec(compile(blocks[at][1], "README.md", "exec"), {})
    assert capsys.readouterr().out == blocks[at + 1][1]
