"""The examples of the README print what the README says."""

import re
from pathlib import Path

import pytest

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
