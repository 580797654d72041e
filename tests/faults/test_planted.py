"""Every planted fault still changes its file, which stays valid Python."""

import ast
from pathlib import Path

import pytest

import pellucid

from .planted import FAULTS

PACKAGE = Path(pellucid.__file__).parent


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_fault_applies_and_its_tests_exist(fault):
    source = (PACKAGE / fault.file).read_text(encoding="utf-8")
    changed = fault.apply(source)
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))
    for test in fault.tests:
        file, _, name = test.partition("::")
        text = (Path(__file__).parents[2] / file).read_text(encoding="utf-8")
        assert not name or f"def {name}(" in text


def test_names_are_distinct():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 25
