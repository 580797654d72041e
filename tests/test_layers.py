"""Imports run in one direction: from estimators and outputs down to the engine and the tree."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import pellucid

ROOT = Path(pellucid.__file__).parent

LAYERS = (
    ("_version",),
    ("_utils", "methods"),
    ("tree", "_core.kernels"),
    ("tables", "datasets"),
    ("regions",),
    ("explanation", "_core.data"),
    ("_core.criteria",),
    ("_core.growers", "_core.batches"),
    ("_core.refine", "_core.exact"),
    ("metrics", "reference"),
    ("scale",),
    ("cluster", "eop", "xclusters", "rules"),
    ("baselines",),
    ("plotting",),
    ("export",),
    ("report", "resampling"),
    ("table_explainer", "spark", "first_use"),
    ("",),  # pellucid/__init__.py: the public names
    ("cli",),
)
"""Packages from the lowest layer to the highest. A package imports itself and lower layers."""

FACADES = ("pellucid", "pellucid.explanation.mixins")
"""Modules that offer functions of higher layers, imported when they are used."""

RANK = {package: rank for rank, layer in enumerate(LAYERS) for package in layer}


@cache
def modules(package: str = "pellucid") -> dict[str, Path]:
    """All modules of the package, or of another one beside the tests, by name."""
    found, root = {}, ROOT if package == "pellucid" else Path(__file__).parents[1] / package
    for path in sorted(root.rglob("*.py")):
        parts = (package, *path.relative_to(root).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def parse(path: Path) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(path.read_text())


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements below a node; expressions hold no imports and no classes."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from statements(child)


@cache
def imports(name: str) -> tuple[str, ...]:
    """Modules of the package that a module imports, at once or in a function."""
    return tuple(found_imports(name))


def found_imports(name: str) -> Iterator[str]:
    known = modules(name.split(".")[0])
    for node in statements(parse(known[name])):
        targets = []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            targets = [f"{node.module}.{alias.name}" for alias in node.names]
            targets = [target if target in known else node.module for target in targets]
        elif isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        for target in targets:
            if target in known and target != name:
                yield target


def package_of(module: str) -> str:
    """The package in `LAYERS` to which a module belongs."""
    parts = module.split(".")[1:]
    return ".".join(parts[:2]) if parts[:1] == ["_core"] else (parts[0] if parts else "")


def test_every_package_has_a_layer():
    packages = {package_of(name) for name in modules()} - {"_core", "__main__"}
    assert packages == set(RANK)


def test_imports_run_downwards():
    upward = [
        f"{name} -> {target}"
        for name in modules()
        if name not in (*FACADES, "pellucid.__main__")
        for target in imports(name)
        if (mine := package_of(name)) != (other := package_of(target))
        and (other not in RANK or RANK[other] >= RANK[mine])
    ]
    assert not upward, "\n".join(upward)


@pytest.mark.parametrize("package", ["pellucid", "benchmarks"])
def test_no_import_cycles(package):
    graph = {name: set(imports(name)) for name in modules(package) if name not in FACADES}
    assert find_cycle(graph) is None


def test_a_cycle_is_found():
    assert find_cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == ["a", "b", "c", "a"]


def test_no_two_classes_share_a_name():
    names = Counter(
        node.name
        for path in modules().values()
        for node in statements(parse(path))
        if isinstance(node, ast.ClassDef)
    )
    twice = [name for name, count in names.items() if count > 1]
    assert not twice, twice


def find_cycle(graph: dict[str, set[str]]) -> list[str] | None:
    """A cycle of a directed graph, or None."""
    done: set[str] = set()

    def visit(node: str, path: list[str]) -> list[str] | None:
        if node in path:
            return [*path[path.index(node) :], node]
        if node in done:
            return None
        for target in sorted(graph.get(node, ())):
            if (cycle := visit(target, [*path, node])) is not None:
                return cycle
        done.add(node)
        return None

    for node in sorted(graph):
        if (cycle := visit(node, [])) is not None:
            return cycle
    return None


@pytest.mark.parametrize("package", sorted(RANK))
def test_layer_names_exist(package):
    path = ROOT.joinpath(*filter(None, package.split(".")))
    assert path.is_dir() or path.with_suffix(".py").is_file()
