"""EOP beside the methods and the figures of its paper.

Each part is a module with ``jobs(settings)``, what is to be measured, and ``sections(settings)``,
what came out.
"""

from __future__ import annotations

from benchmarks import jobs
from benchmarks.eop import (
    against_cart,
    ateop,
    claims,
    levels,
    patterns,
    published,
    real,
    speed,
    synthetic,
    three_features,
    xor,
)
from benchmarks.page import Section
from benchmarks.settings import Settings

PARTS = {
    "synthetic": synthetic,
    "real": real,
    "levels": levels,
    "cart": against_cart,
    "ateop": ateop,
    "patterns": patterns,
    "three_features": three_features,
    "xor": xor,
    "speed": speed,
}


def measure(settings: Settings) -> None:
    """Do what has not been done yet, part by part."""
    published.keep(settings)
    for name in settings.choose(PARTS):
        jobs.work_through(f"eop {name}", PARTS[name].jobs(settings), fresh=settings.fresh)


def sections(settings: Settings) -> list[Section]:
    """What the page says about EOP, the claims first."""
    found = [section for part in PARTS.values() for section in part.sections(settings)]
    return [*claims.sections(settings), *found] if found else []
