"""Private names of scikit-learn and of Numba are used in few modules only."""

import ast
from pathlib import Path

import pellucid

ROOT = Path(pellucid.__file__).parent
COMPAT = ROOT / "_utils" / "sklearn_compat.py"
PRIVATE_NAMES = {
    "_html_repr",
    "_repr_html_inner",
    "_transformer_to_input_indices",
    "_validate_params",
}


def private_uses(path: Path) -> list[str]:
    """Imports of private modules or names of scikit-learn, and uses of its private attributes."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sklearn":
            parts = [*node.module.split("."), *(alias.name for alias in node.names)]
            found += [node.module for part in parts if part.startswith("_")]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("sklearn")]
            found += [name for name in names if "._" in name]
        elif isinstance(node, ast.Attribute) and node.attr in PRIVATE_NAMES:
            found.append(node.attr)
    return found


def test_only_the_compatibility_module_uses_private_names():
    uses = {
        path.relative_to(ROOT).as_posix(): names
        for path in ROOT.rglob("*.py")
        if path != COMPAT and (names := private_uses(path))
    }
    assert uses == {}


def test_the_check_finds_private_names():
    assert private_uses(COMPAT)


def test_internal_names_of_numba_are_used_in_two_modules():
    uses = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("numba.")
    }
    assert uses == {"_utils/compilation.py", "_utils/loop_compiler.py"}
