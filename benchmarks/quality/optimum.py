"""How far IMM and BSIMM are from the best tree there is, on small data sets."""

from __future__ import annotations

import time
import warnings

from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from benchmarks import data
from benchmarks.jobs import Job
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, group, mean, read_rows
from pellucid import BSIMM, IMM, OptimalTree

FILE = "quality_optimum.csv"
DATA = ("iris", "wine", "ecoli", "breast_tissue", "breast_cancer_wdbc", "vowel")
TIME_LIMIT = 60.0


def jobs(settings: Settings) -> list[Job]:
    """A few seeds of k-means for each data set."""
    columns = ("k", "imm", "bsimm", "optimal", "lower_bound", "seconds")
    store = Store(settings.output / FILE, ("dataset", "seed"), columns)
    names = [name for name in DATA if name in data.names(settings.data)]
    if settings.quick:
        names = ["iris"]
    return [
        Job(store, {"dataset": name, "seed": seed}, _measure(name, seed, settings))
        for name in names
        for seed in range(settings.n_seeds(usual=3))
    ]


def _measure(name: str, seed: int, settings: Settings):
    def measure():
        X, k = data.load(name, settings.data)
        centers = KMeans(k, n_init=10, random_state=seed).fit(X).cluster_centers_
        found = {"k": k}
        for method, kind in (("imm", IMM), ("bsimm", BSIMM)):
            model = kind(reference=centers).fit(X)
            found[method] = int((model.labels_ != model.reference_labels_).sum())
        OptimalTree(reference=centers[:2]).fit(X[:100])
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            best = OptimalTree(reference=centers, time_limit=TIME_LIMIT).fit(X)
        return {
            **found,
            "optimal": best.objective_,
            "lower_bound": best.lower_bound_,
            "seconds": time.perf_counter() - start,
        }

    return measure


def sections(settings: Settings) -> list[Section]:
    """Mistakes, means over the seeds."""
    rows = read_rows(settings.output / FILE)
    lines = []
    for (name, k), found in group(rows, "dataset", "k").items():
        best, bound = mean(found, "optimal"), mean(found, "lower_bound")
        proven = "yes" if bound == best else f"no: at least {bound:.1f}"
        lines.append(
            [
                name,
                k,
                f"{mean(found, 'imm'):.1f}",
                f"{mean(found, 'bsimm'):.1f}",
                f"{best:.1f}",
                proven,
                f"{mean(found, 'seconds'):.2f}",
            ]
        )
    headings = ["data", "k", "IMM", "BSIMM", "OptimalTree", "proven", "seconds"]
    note = f"Mistakes, means over the seeds; the exact search had {TIME_LIMIT:.0f} seconds."
    sheet = Sheet("Greedy, beam and exact search", headings, lines, note)
    return [Section("How far from the best", "", [sheet])] if rows else []
