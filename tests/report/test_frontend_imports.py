"""The TypeScript modules of the report import each other without cycles."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "frontend" / "src"

# `import x from "./x"`, `import type { X } from "./x"`, `import "./x"` and `export ... from "./x"`,
# on one line or on several. The names before `from` contain neither quotes nor semicolons.
_IMPORT = re.compile(r"""^(?:import|export)\b(?:[^;'"]*?\bfrom)?\s*["'](\.[^"']*)["']""", re.M)


def import_graph(folder: Path) -> dict[str, list[str]]:
    """Relative path of each module, with the modules that it imports; type imports count."""
    modules = sorted(folder.rglob("*.ts"))
    graph = {}
    for module in modules:
        targets = []
        for target in _IMPORT.findall(module.read_text(encoding="utf-8")):
            path = (module.parent / f"{target.removesuffix('.ts')}.ts").resolve()
            folder_index = (module.parent / target / "index.ts").resolve()
            path = folder_index if folder_index.is_file() else path
            assert path.is_file(), f"{module.name} imports {target}, which does not exist"
            targets.append(path.relative_to(folder.resolve()).as_posix())
        graph[module.relative_to(folder).as_posix()] = targets
    return graph


def find_cycle(graph: dict[str, list[str]]) -> list[str] | None:
    """One cycle as a list of modules whose first and last are equal; None if there is none."""
    finished: set[str] = set()

    def visit(module: str, path: list[str]) -> list[str] | None:
        if module in path:
            return [*path[path.index(module) :], module]
        if module in finished:
            return None
        for target in graph[module]:
            if cycle := visit(target, [*path, module]):
                return cycle
        finished.add(module)
        return None

    for module in graph:
        if cycle := visit(module, []):
            return cycle
    return None


def test_there_is_no_import_cycle():
    graph = import_graph(SOURCES)
    assert graph["main.ts"], "no imports were found in main.ts"
    cycle = find_cycle(graph)
    assert cycle is None, f"import cycle in frontend/src: {' -> '.join(cycle or [])}"


def test_every_module_is_part_of_the_page():
    graph = import_graph(SOURCES)
    reached, stack = set(), ["main.ts", "texts/in-python.ts"]
    while stack:
        module = stack.pop()
        if module not in reached:
            reached.add(module)
            stack += graph[module]
    assert reached == set(graph)


@pytest.mark.parametrize(
    "line",
    [
        'import { b } from "./b";',
        'import type { B } from "./b";',
        'import { b, type B } from "./b";',
        'import {\n  a,\n  b,\n} from "./b";',
        'import * as b from "./b";',
        'import "./b";',
        'export { b } from "./b";',
    ],
)
def test_a_cycle_is_found(line, tmp_path):
    (tmp_path / "a.ts").write_text(f"// A comment.\n{line}\n", encoding="utf-8")
    (tmp_path / "b.ts").write_text('import type { C } from "./c";\n', encoding="utf-8")
    (tmp_path / "c.ts").write_text('import { a } from "./a";\n', encoding="utf-8")
    assert find_cycle(import_graph(tmp_path)) == ["a.ts", "b.ts", "c.ts", "a.ts"]
    (tmp_path / "c.ts").write_text("export const text = 'import';\n", encoding="utf-8")
    assert find_cycle(import_graph(tmp_path)) is None
