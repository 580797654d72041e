"""Polishing beside the local search: from the same trees, in about the same processor time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
from sklearn.cluster import KMeans

from benchmarks import data
from benchmarks.jobs import Job
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, read_rows
from pellucid import ExKMC
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset
from pellucid._core.refine.local_search import TreeLimits, search_from
from pellucid._core.refine.local_search_data import searchable
from pellucid._core.refine.polish import polish_tree
from pellucid._core.refine.tuning import EFFORTS
from pellucid.tree import ThresholdTree

FILE, HEADING = "quality_searches.csv", "Polish and local search"
SETS = ("iris", "ecoli", "vowel", "digits", "waveform", "pendigits", "avila", "covtype")
PAIRS = {"polish": "search as long", "deep polish": "search as long as deep"}
WAYS = [*(way for pair in PAIRS.items() for way in pair), "balanced search", "then polished"]
NOTE = (
    "Excess cost (NPC − 1) and processor seconds, from the tree of ExKMC. Every n-th row of data "
    "with more than 100,000. Their local search uses a sample; the cost is that of all these rows."
)


def jobs(settings: Settings) -> list[Job]:
    """Each data set with k and with 2k leaves."""
    columns = ("start", *WAYS, *(f"{way} s" for way in WAYS))
    store = Store(settings.output / FILE, ("dataset", "leaves"), columns)
    there = set(SETS[:1] if settings.quick else SETS) & set(data.names(settings.data))
    sets = [name for name in SETS if name in there]
    return [_job(store, name, times, settings.data) for name in sets for times in (1, 2)]


def _job(store: Store, name: str, times: int, folder: Path | None) -> Job:
    def measure() -> dict[str, float]:
        X, k = data.load(name, folder)
        X = np.ascontiguousarray(X[:: max(X.shape[0] // 50_000, 1)])
        kmeans = KMeans(k, n_init=10, random_state=0).fit(X)
        rows = Dataset(X, Weights.of(np.ones(X.shape[0])))
        problem = Problem(rows, kmeans.cluster_centers_, kmeans.labels_)
        start = ExKMC(n_leaves=times * k, reference=kmeans.cluster_centers_).fit(X).tree_
        found = {"start": polish_tree(start, problem, rounds=0).cost / kmeans.inertia_ - 1}

        def run(way: str, improve: Callable[[], ThresholdTree | None]) -> ThresholdTree:
            for _ in range(2):  # the first run may compile
                begin = process_time()
                tree = improve() or start
                found[f"{way} s"] = process_time() - begin
                if found[f"{way} s"] > 3:
                    break
            found[way] = polish_tree(tree, problem, rounds=0).cost / kmeans.inertia_ - 1
            return tree

        def search(seconds: float = 0) -> ThresholdTree | None:
            sample, budget = searchable(problem), EFFORTS["balanced"]
            usual = budget.work_with_more_leaves if times > 1 else budget.search_work
            work = 1e9 * seconds or usual.of(float(sample.n_samples) * sample.n_features * k)
            return search_from([start], sample, work, "round", TreeLimits(times * k))

        for way, same in PAIRS.items():
            run(way, lambda way=way: polish_tree(start, problem, deep=way == "deep polish").tree)
            run(same, lambda way=way: search(found[f"{way} s"]))
        tree = run("balanced search", search)
        run("then polished", lambda: polish_tree(tree, problem).tree)
        return found

    return Job(store, {"dataset": name, "leaves": f"{times}k"}, measure)


def sections(settings: Settings) -> list[Section]:
    """Excess cost and processor seconds of each way."""
    lines = [
        [row["dataset"], row["leaves"], f"{float(row['start']):.4f}"]
        + [f"{float(row[way]):.4f} ({float(row[f'{way} s']):.2g} s)" for way in WAYS]
        for row in read_rows(settings.output / FILE)
    ]
    sheet = Sheet(HEADING, ["data", "leaves", "start", *WAYS], lines, NOTE)
    return [Section("Two local searches", "", [sheet] if lines else [])]
