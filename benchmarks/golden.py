"""Cost and size of our trees beside those of the published packages, from the same centers.

With ``--golden DIR`` the reference centers and the peers' figures are read from that folder;
where it has none, our own figures stand alone, from ``KMeans(n_init=10)`` with seeds 0 to 4
(only 0 for large data).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

from benchmarks import data, jobs
from benchmarks.jobs import Job
from benchmarks.measures import MEASURES, measure_tree
from benchmarks.methods import TITLES, make
from benchmarks.page import Section, Sheet
from benchmarks.settings import Refused, Settings
from benchmarks.store import Row, Store, group, mean, read_rows

FILE = "golden.csv"
SHOWN = ("npc", "waes", "wad")
METHODS = tuple(method for method in TITLES if method != "exshallow*")
"""Those that grow one tree; a search depends on its goal."""


def measure(settings: Settings) -> None:
    """Every data set, method and seed."""
    names = settings.choose(data.names(settings.data))
    if settings.quick and not settings.only:
        names = [name for name in names if name in ("iris", "wine")]
    peers = group(read_peers(settings.golden), "dataset", "method", "seed")
    columns = (*MEASURES, *(f"peer_{measure}" for measure in MEASURES))
    store = Store(settings.output / FILE, ("dataset", "method", "seed", "centers"), columns)
    todo = []
    for name in names:
        for seed in _seeds(name, settings, peers):
            todo += [_job(store, name, method, seed, settings, peers) for method in METHODS]
    jobs.work_through("golden", todo, fresh=settings.fresh)


def read_peers(folder: Path | None) -> list[Row]:
    """The published packages' figures, one row a data set, method and seed."""
    if folder is None:
        return []
    if not (folder / "peers.csv").exists():
        raise Refused("--golden: the folder has no peers.csv; see benchmarks/README.md")
    return read_rows(folder / "peers.csv")


def _seeds(name: str, settings: Settings, peers: dict) -> list[int]:
    """Those of the peers; without peers as many as are quick."""
    known = sorted(
        {int(seed) for dataset, method, seed in peers if dataset == name and method in METHODS}
    )
    if not known:
        X, _ = data.load(name, settings.data)
        known = list(range(5 if X.shape[0] < 10_000 else 1))
    return known[: settings.n_seeds(usual=len(known))]


def _job(store: Store, name: str, method: str, seed: int, settings: Settings, peers: dict) -> Job:
    theirs = peers.get((name, method, str(seed)))
    source = "golden" if centers_file(name, settings.golden) else "own"

    def measure():
        X, _ = data.load(name, settings.data)
        model = make(method, _centers(name, seed, settings.data, settings.golden)).fit(X)
        beside = {f"peer_{m}": float(theirs[0][m]) for m in MEASURES} if theirs else {}
        return {**measure_tree(model), **beside}

    key = {"dataset": name, "method": method, "seed": seed, "centers": source}
    return Job(store, key, measure)


def centers_file(name: str, folder: Path | None) -> Path | None:
    file = folder / f"{name}_centers.npz" if folder else None
    return file if file and file.exists() else None


@lru_cache(maxsize=1)
def _centers(name: str, seed: int, data_folder: Path | None, folder: Path | None) -> np.ndarray:
    if file := centers_file(name, folder):
        return np.load(file)["centers"][seed]
    X, k = data.load(name, data_folder)
    return KMeans(k, n_init=10, random_state=seed).fit(X).cluster_centers_


def sections(settings: Settings) -> list[Section]:
    """Means over seeds, ours (theirs), with a verdict."""
    rows = read_rows(settings.output / FILE)
    lines = []
    for (name, method, _), found in group(rows, "dataset", "method", "centers").items():
        lines.append([name, TITLES[method], str(len(found)), *_compare(found)])
    headings = ["data", "method", "seeds", "NPC", "WAES", "WAD", "verdict"]
    note = (
        "Mean over seeds: ours (published package). The verdict is about cost (NPC) and "
        "explanation size (WAES)."
    )
    sheet = Sheet("Cost and size of the trees", headings, lines, note)
    text = "From the same reference centers as the published packages had."
    return [Section("Trees beside those of the published packages", text, [sheet])] if rows else []


def _compare(rows: list[Row]) -> list[str]:
    ours = {m: mean(rows, m) for m in SHOWN}
    theirs = {m: mean(rows, f"peer_{m}") for m in SHOWN}
    if np.isnan(theirs["npc"]):
        return [*(f"{value:.4f}" for value in ours.values()), "no peer"]
    cells = [f"{ours[m]:.4f} ({theirs[m]:.4f})" for m in SHOWN]
    worse = [m.upper() for m in SHOWN[:2] if ours[m] > 1.02 * theirs[m]]
    return [*cells, f"worse in {', '.join(worse)}" if worse else "within 2 % or better"]
