"""Data larger than memory: the same tree on every engine, and the time and passes of a fit."""

from __future__ import annotations

from benchmarks.page import Section
from benchmarks.scale import passes, speed, trees
from benchmarks.settings import Settings


def measure(settings: Settings) -> None:
    """Run the cases that have not been run."""
    chosen = settings.choose([passes.PART, trees.PART, *speed.CASES])
    if chosen != [passes.PART]:
        trees.measure(settings)
    if passes.PART in chosen:
        passes.measure(settings)
    speed.measure(settings, [case for case in speed.CASES if case in chosen])


def sections(settings: Settings) -> list[Section]:
    """Trees that are the same, times and memory."""
    sheets = [
        *trees.sheets(settings),
        *speed.sheets(settings),
        *passes.sheets(settings),
    ]
    return [Section("Data larger than memory", "", sheets)] * bool(sheets)
