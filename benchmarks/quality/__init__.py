"""How good the trees are: beside the published methods', the paper's, and the best there can be.

Each part is a module with ``jobs(settings)``, what is to be measured, and ``sections(settings)``,
what came out.
"""

from __future__ import annotations

from benchmarks import jobs
from benchmarks.page import Section
from benchmarks.quality import (
    beam,
    flagship,
    frontier,
    labels,
    least_cost,
    long_search,
    optimum,
    randomness,
    rules,
    searches,
    sizes,
    spaces,
    stability,
)
from benchmarks.settings import Settings

PARTS = {
    "flagship": flagship,
    "sizes": sizes,
    "beam": beam,
    "frontier": frontier,
    "optimum": optimum,
    "least_cost": least_cost,
    "long_search": long_search,
    "searches": searches,
    "randomness": randomness,
    "stability": stability,
    "labels": labels,
    "spaces": spaces,
    "rules": rules,
}


def measure(settings: Settings) -> None:
    """Do what has not been done yet, part by part."""
    for name in settings.choose(PARTS):
        jobs.work_through(f"quality {name}", PARTS[name].jobs(settings), fresh=settings.fresh)


def sections(settings: Settings) -> list[Section]:
    """What the page says about quality."""
    found = [section for part in PARTS.values() for section in part.sections(settings)]
    return [section for section in found if section.items]
