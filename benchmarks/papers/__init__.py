"""The tables and figures of the papers, ours beside theirs.

Each part is a module with ``jobs(settings)``, what is to be measured, and ``sections(folder)``,
what came out.
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks import data, jobs
from benchmarks.page import Section
from benchmarks.papers import (
    beam_causes,
    causes,
    contents,
    curve_causes,
    curves,
    more_leaves,
    penalty,
    shallow_tree,
    starts,
    tables,
    trade_off,
    two_trees,
)
from benchmarks.settings import Settings

PARTS = {
    "tables": tables,
    "causes": causes,
    "beam_causes": beam_causes,
    "penalty": penalty,
    "two_trees": two_trees,
    "trade_off": trade_off,
    "curves": curves,
    "curve_causes": curve_causes,
    "shallow_tree": shallow_tree,
    "starts": starts,
    "more_leaves": more_leaves,
}


def measure(settings: Settings) -> None:
    """Do what has not been done yet, part by part."""
    there = data.names(settings.data, images=True)
    chosen = settings.choose([*PARTS, *there, *curves.SYNTHETIC])
    parts = [name for name in chosen if name in PARTS] if settings.only else []
    settings = replace(settings, only=tuple(name for name in settings.only if name not in PARTS))
    for name in parts or PARTS:
        jobs.work_through(f"papers: {name}", PARTS[name].jobs(settings), fresh=settings.fresh)


def sections(settings: Settings) -> list[Section]:
    """What the page says about the papers."""
    found = [section for part in PARTS.values() for section in part.sections(settings.output)]
    found += contents.sections() if any(section.items for section in found) else []
    return [section for section in found if section.items]
