"""Type checkers see the strings that options accept, and the public names of every package."""

import ast
import importlib
import inspect
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

import pellucid
import pellucid.baselines
from pellucid._utils.estimators import FrameKind, SQLDialect
from pellucid._utils.sklearn_compat import StrOptions
from pellucid.export.frame import KINDS
from pellucid.export.sql_dialects import DIALECTS

ROOT = Path(pellucid.__file__).parent
ESTIMATORS = [
    thing
    for package in (pellucid, pellucid.baselines)
    for name in package.__all__
    if inspect.isclass(thing := getattr(package, name)) and hasattr(thing, "_parameter_constraints")
]
LAZY = list(ROOT.rglob("__init__.pyi"))


def strings_of(hint: Any) -> set[str]:
    """The strings of all literals of a type."""
    if get_origin(hint) is Literal:
        return set(get_args(hint))
    return set().union(*map(strings_of, get_args(hint)))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_string_options_are_literals(estimator):
    hints = get_type_hints(estimator.__init__)
    found, expected = {}, {}
    for name in inspect.signature(estimator).parameters:
        for constraint in estimator._parameter_constraints[name]:
            if isinstance(constraint, StrOptions) and hints[name] is not Any:
                found[name], expected[name] = strings_of(hints[name]), constraint.options
    assert found == expected
    only_strings = {
        name
        for name, constraints in estimator._parameter_constraints.items()
        if all(isinstance(constraint, StrOptions) for constraint in constraints)
    }
    assert only_strings <= set(expected)


def test_options_of_exports():
    assert set(get_args(SQLDialect)) == set(DIALECTS)
    assert set(get_args(FrameKind)) == set(KINDS)


@pytest.mark.parametrize("path", LAZY, ids=lambda path: path.parent.name)
def test_packages_have_the_names_that_type_checkers_read(path):
    package = ".".join(["pellucid", *path.parent.relative_to(ROOT).parts])
    module = importlib.import_module(package)
    names = set()
    for node in ast.parse(path.read_text()).body:
        for alias in node.names:
            assert alias.asname == alias.name  # otherwise, it would be private to the stub
            home = importlib.import_module(node.module)
            assert getattr(module, alias.name) is getattr(home, alias.name)
            names.add(alias.name)
    assert names == set(module.__all__) == set(dir(module))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_fit_keeps_the_type(estimator):
    assert estimator.fit.__annotations__["return"] == "Self"
