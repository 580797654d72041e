"""Cost and size of our trees beside those of the published packages, from the same centers.

With ``--golden DIR`` the reference centers and the peers' figures are read from that folder;
where it has none, our own figures stand alone, from ``KMeans(n_init=10)`` with seeds 0 to 4
(only 0 for large data).
"""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.cluster import KMeans

from benchmarks import data
from pellucid import IMM, ExGreedy, ExKMC, ExShallow
from pellucid.metrics import (
    normalized_partition_cost,
    weighted_average_depth,
    weighted_average_explanation_size,
)

METHODS = {
    "imm": lambda centers: IMM(reference=centers),
    "exgreedy": lambda centers: ExGreedy(reference=centers),
    "exshallow": lambda centers: ExShallow(reference=centers),
    "kmc": lambda centers: ExKMC(reference=centers, base=None, n_leaves=len(centers)),
    "imm+exkmc 2k": lambda centers: ExKMC(reference=centers),
}
MEASURES = ("npc", "waes", "wad")


def run(arguments) -> None:
    """Print the table."""
    console = Console(width=130)
    peers = _read_peers(arguments.golden)
    wanted = arguments.only.split(",") if arguments.only else data.names(arguments.data)
    table = Table(title="mean over seeds: ours (published packages)")
    for heading in ("data", "method", "seeds", "NPC", "WAES", "WAD", "verdict"):
        table.add_column(heading)
    for name in wanted:
        X, k = data.load(name, arguments.data)
        centers = _reference_centers(name, X, k, arguments.golden)
        for method, make in METHODS.items():
            theirs = peers.get((name, method))
            seeds = sorted(theirs) if theirs else range(len(centers))
            ours = np.mean([_measure(make(centers[seed]), X) for seed in seeds], axis=0)
            table.add_row(name, method, str(len(seeds)), *_compare(ours, theirs))
        console.print(f"{name}: done")
    console.print(table)


def _measure(model, X) -> tuple[float, float, float]:
    model.fit(X)
    return (
        normalized_partition_cost(X, model.labels_, model.reference_labels_),
        weighted_average_explanation_size(model.tree_),
        weighted_average_depth(model.tree_),
    )


def _compare(ours: np.ndarray, theirs: dict | None) -> list[str]:
    if not theirs:
        return [*(f"{value:.4f}" for value in ours), "no peer"]
    peer = np.mean(list(theirs.values()), axis=0)
    cells = [f"{value:.4f} ({other:.4f})" for value, other in zip(ours, peer)]
    worse = [m for m, value, other in zip(MEASURES[:2], ours, peer) if value > 1.02 * other]
    return [*cells, f"worse in {', '.join(worse)}" if worse else "within 2 % or better"]


def _read_peers(folder: Path | None) -> dict:
    found: dict = defaultdict(dict)
    if folder:
        with open(folder / "peers.csv", newline="") as file:
            for row in csv.DictReader(file):
                if row["method"] not in METHODS:
                    continue
                figures = tuple(float(row[measure]) for measure in MEASURES)
                found[row["dataset"], row["method"]][int(row["seed"])] = figures
    return found


def _reference_centers(name: str, X, k: int, folder: Path | None):
    if folder and (file := folder / f"{name}_centers.npz").exists():
        return np.load(file)["centers"]
    n_seeds = 5 if X.shape[0] < 10_000 else 1
    fits = [KMeans(k, n_init=10, random_state=seed).fit(X) for seed in range(n_seeds)]
    return [fitted.cluster_centers_ for fitted in fits]
