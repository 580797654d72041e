"""The page: everything that lies in a result folder, with the machine it was measured on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from rich.console import Console

from benchmarks import (
    big,
    eop,
    fuzz,
    golden,
    machine,
    papers,
    quality,
    scale,
    size,
    speed,
    tables,
    xclusters,
)
from benchmarks.page import Section
from benchmarks.settings import Refused, Settings

PAGE = "RESULTS.md"
PARTS = (speed, quality, papers, xclusters, eop, golden, tables, big, scale, fuzz)
"""The benchmarks in the order of the page."""
_INTRODUCTION = (
    "Made by `python -m benchmarks report` from the CSV files in `{folder}/`; what is measured and "
    "how is said in the README of the benchmarks."
)


def write_page(settings: Settings, made: Mapping[ModuleType, list[Section]]) -> Path:
    """Write the page beside the result folder; returns its path.

    Parameters
    ----------
    settings : Settings
    made : mapping
        Sections that have been made, so that their pictures are not drawn again, by benchmark.
    """
    found = []
    for part in PARTS:
        found += made[part] if part in made else part.sections(settings)
    if not found:
        raise Refused("nothing has been measured yet in that folder; run speed or papers first")
    found += size.sections()
    folder = settings.output.name
    parts = ["# Results", _INTRODUCTION.format(folder=folder), _machines(settings.output)]
    parts += [section.markdown(folder) for section in found]
    page = settings.output.parent / PAGE
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return page


def show(sections: list[Section]) -> None:
    """Print the sheets of some sections."""
    console = Console()
    if not console.is_terminal:  # lines of a file are not wrapped
        console = Console(width=150)
    for section in sections:
        section.show(console)


def _machines(folder: Path) -> str:
    lines = []
    for known in machine.recall(folder):
        shown = dict(known)
        hardware = f"{shown.pop('processor')}, {shown.pop('cores')} cores, {shown.pop('memory')}"
        versions = ", ".join(
            f"{name} {version}" for name, version in shown.items() if name != "system"
        )
        lines.append(f"- {hardware}, {shown['system']}; {versions}")
    return "Measured on:\n\n" + "\n".join(lines)
