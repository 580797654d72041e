"""Size and structure of the engine: lines, files, upward imports, class names."""

from __future__ import annotations

from pathlib import Path

import pellucid
from benchmarks.page import Section, Sheet, holds

ENGINE = ("criteria", "growers", "refine", "exact", "data", "kernels")
MAX_LINES, MAX_FILES = 11_000, 60


def sections() -> list[Section]:
    """Lines and files of the engine, counted now."""
    core = Path(pellucid.__file__).parent / "_core"
    lines, total_lines, total_files = [], 0, 0
    for folder in ENGINE:
        files = sorted((core / folder).glob("*.py"))
        n_lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
        lines.append([folder, f"{n_lines:,}", str(len(files))])
        total_lines, total_files = total_lines + n_lines, total_files + len(files)
    lines.append(
        [
            "all",
            f"{total_lines:,} (≤ {MAX_LINES:,}: {holds(total_lines, MAX_LINES)})",
            f"{total_files} (≤ {MAX_FILES}: {holds(total_files, MAX_FILES)})",
        ]
    )
    note = (
        "`tests/test_layers.py` fails on an upward import, an import cycle, or two classes of the "
        "same name."
    )
    return [Section("Engine", "", [Sheet("Size", ["folder", "lines", "files"], lines, note)])]
