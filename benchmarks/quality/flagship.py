"""ExplainableKMeans beside the best of the published methods, from the same centers."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

from benchmarks import data
from benchmarks.golden import centers_file, read_peers
from benchmarks.jobs import Job
from benchmarks.measures import MEASURES, measure_tree
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Row, Store, group, mean, read_rows
from pellucid import ExplainableKMeans

FILE = "quality_flagship.csv"
SIZES = {"k": 1, "2k": 2}
PEERS = {
    "k": ("imm", "kmc", "exgreedy", "exshallow", "cart 1k", "kauri 1k"),
    "2k": ("imm+exkmc 2k", "cart 2k", "kauri 2k"),
}
_WORTH = 1.02
"""Where the best peer is costlier than this, there is something to gain."""

_LEAST_EXCESS = 1e-6
"""Smaller excess costs count as this one in the geometric mean."""


def jobs(settings: Settings) -> list[Job]:
    """Every data set that has peers, size and seed."""
    columns = (*MEASURES, "seconds", "kmeans_seconds", "best_peer", "peer_npc")
    store = Store(settings.output / FILE, ("dataset", "size", "seed"), columns)
    peers = read_peers(settings.golden)
    names = [n for n in data.names(settings.data) if centers_file(n, settings.golden)]
    if settings.quick:
        names = [name for name in names if name in ("iris", "wine")]
    return [
        _job(store, name, size, seed, settings, peers)
        for name in names
        for size in SIZES
        for seed in range(min(settings.n_seeds(usual=5), _n_centers(name, settings)))
    ]


def _n_centers(name: str, settings: Settings) -> int:
    """Seeds that there are reference centers for."""
    return len(np.load(centers_file(name, settings.golden))["centers"])


def _job(store: Store, name: str, size: str, seed: int, settings: Settings, peers) -> Job:
    def measure():
        X, _ = data.load(name, settings.data)
        centers = np.load(centers_file(name, settings.golden))["centers"][seed]
        start = time.perf_counter()
        KMeans(len(centers), n_init=10, random_state=seed).fit(X)
        kmeans_seconds = time.perf_counter() - start
        model = ExplainableKMeans(reference=centers, n_leaves=SIZES[size] * len(centers))
        _warm_up(X, centers)
        start = time.perf_counter()
        model.fit(X)
        seconds = time.perf_counter() - start
        best, cost = _best_peer(peers, name, size, seed)
        return {
            **measure_tree(model),
            "seconds": seconds,
            "kmeans_seconds": kmeans_seconds,
            "best_peer": best,
            "peer_npc": cost,
        }

    return Job(store, {"dataset": name, "size": size, "seed": seed}, measure)


def _warm_up(X, centers) -> None:
    """Compile what is needed, on a few rows."""
    few = X[:: max(1, X.shape[0] // 500)]
    for n_leaves in (None, 6):
        ExplainableKMeans(reference=centers[:3], n_leaves=n_leaves).fit(few)


def _best_peer(peers: list[Row], name: str, size: str, seed: int) -> tuple[str, float]:
    """The method that is cheapest on the mean over the seeds, and its cost for this one."""
    here = [row for row in peers if row["dataset"] == name and row["method"] in PEERS[size]]
    costs = {method[0]: mean(rows, "npc") for method, rows in group(here, "method").items()}
    best = min(costs, key=costs.get)
    mine = [r for r in here if r["method"] == best and r["seed"] == str(seed)]
    return best, float(mine[0]["npc"]) if mine else costs[best]  # some peers have one seed only


def sections(settings: Settings) -> list[Section]:
    """Means over the seeds, and the geometric mean over the data sets."""
    rows = read_rows(Path(settings.output) / FILE)
    sheets = [_sheet(size, [row for row in rows if row["size"] == size]) for size in SIZES]
    text = (
        '`ExplainableKMeans(effort="balanced")` and the cheapest of the published methods (IMM, '
        "KMC, ExGreedy, ExShallow, CART and Kauri; at 2k leaves IMM + ExKMC, CART and Kauri), from "
        "the same reference centers. Costs are NPC, the cost relative to that of the reference, "
        "and the excess cost NPC − 1; means over the seeds. Times are those of this machine, after "
        "compilation, beside `KMeans(n_init=10)` in the same process."
    )
    return [Section("The cheapest trees", text, sheets)] if rows else []


def _sheet(size: str, rows: list[Row]) -> Sheet:
    lines, ratios = [], []
    for (name, peer), found in group(rows, "dataset", "best_peer").items():
        ours, theirs = mean(found, "npc") - 1, mean(found, "peer_npc") - 1
        seconds, kmeans = mean(found, "seconds"), mean(found, "kmeans_seconds")
        is_worth = theirs > _WORTH - 1
        if is_worth:
            ratios.append(max(ours, _LEAST_EXCESS) / theirs)
        verdict = "no costlier" if ours <= theirs + 1e-4 else "costlier"
        on_time = "yes" if seconds <= 3 * kmeans + 2 else "no"
        lines.append(
            [
                name,
                f"{1 + ours:.4f}",
                f"{ours:.4f}",
                f"{1 + theirs:.4f} ({peer})",
                f"{theirs:.4f}",
                f"{100 * (ours / theirs - 1):+.0f} %" if is_worth else "–",
                verdict,
                f"{seconds:.2f}",
                f"{kmeans:.2f}",
                on_time,
            ]
        )
    mean_ratio = float(np.exp(np.mean(np.log(ratios)))) if ratios else float("nan")
    note = (
        f"Geometric mean of the excess cost over the {len(ratios)} data sets where the NPC of the "
        f"best peer is above {_WORTH}: {100 * (mean_ratio - 1):+.1f} %."
    )
    headings = ["data", "ours: NPC", "excess", "best peer: NPC", "excess", "difference of excess"]
    headings += ["verdict", "seconds", "k-means", "within 3 × + 2 s"]
    return Sheet(f"At {size} leaves", headings, lines, note)
