"""How long it takes and how much memory, beside k-means in the same process.

Each part is a module with ``jobs(settings)``, what is to be measured, and ``sections(folder)``,
what came out.
"""

from __future__ import annotations

from benchmarks import jobs
from benchmarks.page import Section
from benchmarks.settings import Settings
from benchmarks.speed import (
    batches,
    command,
    compilation,
    limits,
    memory,
    published,
    routing,
    scaling,
    table,
    threads,
)

PARTS = {
    "table": table,
    "scaling": scaling,
    "limits": limits,
    "memory": memory,
    "threads": threads,
    "batches": batches,
    "predict": routing,
    "compilation": compilation,
    "published": published,
    "command": command,
}


def measure(settings: Settings) -> None:
    """Do what has not been done yet, part by part."""
    for name in settings.choose(PARTS):
        jobs.work_through(f"speed {name}", PARTS[name].jobs(settings), fresh=settings.fresh)


def sections(settings: Settings) -> list[Section]:
    """What the page says about speed."""
    found = [section for part in PARTS.values() for section in part.sections(settings.output)]
    return [section for section in found if section.items]
