"""Data larger than memory: the same tree on every engine, and the time of a fit."""

from __future__ import annotations

from benchmarks.page import Section
from benchmarks.scale import speed, trees
from benchmarks.settings import Settings


def measure(settings: Settings) -> None:
    """Run the cases that have not been run."""
    trees.measure(settings)
    speed.measure(settings)


def sections(settings: Settings) -> list[Section]:
    """Trees that are the same, times and memory."""
    sheets = [*trees.sheets(settings), *speed.sheets(settings)]
    return [Section("Data larger than memory", "", sheets)] * bool(sheets)
