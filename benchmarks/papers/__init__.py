"""The tables and figures of the papers, ours beside theirs.

Each part is a module with ``jobs(settings)``, what is to be measured, and ``sections(folder)``,
what came out.
"""

from __future__ import annotations

from benchmarks import data, jobs
from benchmarks.page import Section
from benchmarks.papers import causes, curves, penalty, starts, tables
from benchmarks.settings import Settings

PARTS = {
    "ExShallow tables": tables,
    "ExShallow causes": causes,
    "ExShallow figures 4 and 5": penalty,
    "ExKMC figure 2": curves,
    "ExKMC figures 5 and 9 to 11": starts,
}


def measure(settings: Settings) -> None:
    """Do what has not been done yet, part by part."""
    settings.choose([*data.names(settings.data), *curves.SYNTHETIC])
    for name, part in PARTS.items():
        jobs.work_through(f"papers: {name}", part.jobs(settings), fresh=settings.fresh)


def sections(settings: Settings) -> list[Section]:
    """What the page says about the papers."""
    found = [section for part in PARTS.values() for section in part.sections(settings.output)]
    return [section for section in found if section.items]
