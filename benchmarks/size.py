"""Size of the package: lines, lines of code and files, by folder."""

from __future__ import annotations

import ast
import io
import tokenize
from functools import cache
from pathlib import Path

import pellucid
from benchmarks.page import Section, Sheet, holds

MAX_LINES, MAX_CODE, MAX_FILES = 56_000, 34_500, 290
_NO_CODE = (
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
)


@cache
def sections() -> list[Section]:
    """Lines and files of the package, counted at the first call."""
    root = Path(pellucid.__file__).parent
    counts: dict[str, list[int]] = {}
    for file in sorted(root.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        parts = file.relative_to(root).parts[:-1]
        sums = counts.setdefault(
            "/".join(parts[:2] if parts[:1] == ("_core",) else parts[:1]), [0] * 3
        )
        for i, n in enumerate((text.count("\n"), count_code(text), 1)):
            sums[i] += n
    lines = [[folder or "(top)", *(f"{n:,}" for n in sums)] for folder, sums in counts.items()]
    totals = [sum(sums[i] for sums in counts.values()) for i in range(3)]
    bounds = zip(totals, (MAX_LINES, MAX_CODE, MAX_FILES))
    lines.append(["all", *(f"{n:,} (≤ {most:,}: {holds(n, most)})" for n, most in bounds)])
    note = (
        "Code is what is left without blank lines, comments and docstrings. `tests/test_layers.py` "
        "fails on an upward import, an import cycle, or two classes of the same name."
    )
    headings = ["folder", "lines", "code", "files"]
    return [Section("Package", "", [Sheet("Size", headings, lines, note)])]


def count_code(text: str) -> int:
    """Lines with code: neither blank nor part of comments and strings that stand alone."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)
