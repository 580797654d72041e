"""Clusters that can be explained: the tables and figures of the XClusters paper, and its claims.

Each part is a module with ``jobs(settings)``, what is to be measured, and ``sections(settings)``,
what came out.
"""

from __future__ import annotations

from benchmarks import jobs
from benchmarks.page import Section
from benchmarks.settings import Settings
from benchmarks.xclusters import (
    appendix,
    claims,
    distances,
    medoids,
    plane,
    searches,
    sets,
    small_trees,
    thirds,
)


def measure(settings: Settings) -> None:
    """Do what has not been done yet, data set by data set, and k-medoids by itself."""
    for name in sets.chosen(settings):
        if name == sets.MEDOIDS:
            medoids.measure(settings)
            continue
        by_panels = {part.NAME: part for part in (thirds, distances)}
        if name in by_panels:
            found = by_panels[name].jobs(settings)
            jobs.work_through(f"xclusters {name}", found, fresh=settings.fresh)
            continue
        parts = (searches, plane, small_trees, appendix)
        found = [job for part in parts for job in part.jobs(settings, name)]
        jobs.work_through(f"xclusters {name}", found, fresh=settings.fresh)


def sections(settings: Settings) -> list[Section]:
    """What the page says about XClusters."""
    text = (
        "Hwang, Whang: *XClusters: Explainability-first clustering*. D is the distortion of the "
        "trends (dynamic time warping), N the number of nodes of the tree that explains "
        "the clusters exactly, both as shares of their largest values; λ = 1, k from 3 to 11. "
        "Distances are computed beforehand and not part of the seconds, as in the "
        "paper. *Seoul* is the floating population of the paper's DS4C data by district, age "
        "and sex, two of its five months, 7-day mean; *card* stands in for the paper's "
        "Credit Card data "
        "(`pellucid.datasets.make_card_trends`)."
    )
    parts = (
        *(searches.tables, claims.sheets, thirds.sheets, distances.sheets, plane.pictures),
        *(appendix.sheets, small_trees.sheets, medoids.sheets),
    )
    items = [item for part in parts for item in part(settings)]
    return [Section("XClusters", text, items)] if items else []
