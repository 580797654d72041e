"""What a longer local search of ExplainableKMeans gains: an estimate of what is still possible."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import geometric_mean
from unittest.mock import patch

from sklearn.cluster import KMeans

from benchmarks import data
from benchmarks.jobs import Job
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Row, Store, group, mean, read_rows
from pellucid import ExplainableKMeans
from pellucid._core.refine.tuning import EFFORTS, SearchWork

FILE = "quality_long_search.csv"
SETS = ("anuran", "avila", "digits", "ecoli", "pendigits", "vowel", "waveform")
"""Data sets with an excess cost above 0.01; letter is left out, where a search takes minutes."""

SEARCHES = {"balanced": ("balanced", 1), "best": ("best", 1), "best, 10 × the work": ("best", 10)}
"""Effort, and by how much the work of its local search is multiplied."""


def jobs(settings: Settings) -> list[Job]:
    """Each data set, two k-means clusterings each; nothing in a quick run."""
    store = Store(settings.output / FILE, ("dataset", "seed"), tuple(SEARCHES))
    there = data.names(settings.data)
    names = [] if settings.quick else [name for name in SETS if name in there]
    seeds = range(settings.n_seeds(usual=2))
    return [_job(store, name, seed, settings.data) for seed in seeds for name in names]


def _job(store: Store, name: str, seed: int, folder: Path | None) -> Job:
    def measure() -> dict[str, float]:
        X, k = data.load(name, folder)
        centers = KMeans(k, n_init=10, random_state=seed).fit(X).cluster_centers_
        found = {}
        for title, (effort, factor) in SEARCHES.items():
            with work_times(effort, factor):
                model = ExplainableKMeans(reference=centers, effort=effort, faithfulness=0).fit(X)
            found[title] = model.inertia_ / model.reference_inertia_ - 1
        return found

    return Job(store, {"dataset": name, "seed": seed}, measure)


@contextmanager
def work_times(effort: str, factor: float) -> Iterator[None]:
    """Multiply the work of the local search with one leaf per cluster."""
    budget = EFFORTS[effort]
    work = SearchWork(*(factor * part for part in budget.search_work or ()))
    with patch.dict(EFFORTS, {effort: replace(budget, search_work=work)}):
        yield


def sections(settings: Settings) -> list[Section]:
    """Excess costs by data set, and their change in the geometric mean."""
    rows = read_rows(settings.output / FILE)
    if not rows:
        return []
    found = {name: of_set for (name,), of_set in group(rows, "dataset").items()}
    lines = [
        [name, *(f"{mean(of_set, title):.4f}" for title in SEARCHES), str(len(of_set))]
        for name, of_set in found.items()
    ]
    changes = [_change(found, title) for title in SEARCHES]
    lines.append(["geometric mean beside balanced", *(f"{c:+.1%}" for c in changes), ""])
    note = (
        "Excess cost (NPC − 1) at k leaves, means over the k-means clusterings. A search that "
        "cannot find a better tree with many times the work is near the least cost, or stuck."
    )
    sheet = Sheet("Longer searches", ["data", *SEARCHES, "clusterings"], lines, note)
    return [Section("Longer local search", "", [sheet])]


def _change(found: dict[str, list[Row]], title: str) -> float:
    ratios = (mean(rows, title) / mean(rows, "balanced") for rows in found.values())
    return geometric_mean(ratios) - 1
