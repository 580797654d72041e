"""Seconds of each method as a ratio to k-means: blobs of three sizes, and real data."""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median

from benchmarks import peers
from benchmarks.jobs import Job
from benchmarks.methods import TITLES, make, warm_up
from benchmarks.page import Section, Sheet, holds
from benchmarks.settings import Settings
from benchmarks.speed import cases
from benchmarks.store import Row, Store, group, read_rows
from benchmarks.timing import LEAST_SECONDS, best_of

FILE = "speed_table.csv"
METHODS = ("imm", "imm+exkmc 2k", "exshallow")
ON_REAL_DATA = (*METHODS, "exgreedy")
BOUNDS = dict(
    zip(
        (case.name for case in cases.TABLE),
        (
            {"imm": 0.15, "imm+exkmc 2k": 0.35, "exshallow": 0.40},
            {"imm": 0.30, "imm+exkmc 2k": 0.50, "exshallow": 0.65},
            {"imm": 0.20, "imm+exkmc 2k": 0.35, "exshallow": 0.45},
        ),
    )
)
"""Upper bounds of the ratios."""

_LONG = 20.0
"""Seconds from which on a peer is measured once, and not as the best of some."""


def jobs(settings: Settings) -> list[Job]:
    """Each case, each method and each peer that is here, in each run."""
    store = Store(
        settings.output / FILE, ("case", "method", "run"), ("kind", "seconds", "kmeans_seconds")
    )
    repeats = 1 if settings.quick else 3
    blobs = cases.QUICK if settings.quick else cases.TABLE
    real = [] if settings.quick else cases.real(settings.data)
    found = []
    # Case by case: what was measured before leaves its traces in the memory of the process.
    for case in (*blobs, *real):
        for run in range(settings.n_seeds(usual=3)):
            ours = ON_REAL_DATA if case.file else METHODS
            found += [_job(store, case, method, run, repeats) for method in ours]
            n_samples = case.n_samples or float("inf")
            others = peers.names(n_samples, is_sparse=case.is_sparse) if run == 0 else []
            found += [_peer_job(store, case, name, repeats) for name in others]
    return found


def _job(store: Store, case: cases.Case, method: str, run: int, repeats: int) -> Job:
    def measure():
        X, k = cases.load(case)
        kmeans, kmeans_seconds = cases.fit_kmeans(case, run, repeats)
        warm_up(method, X, k)
        seconds = best_of(repeats, lambda: make(method, kmeans.cluster_centers_).fit(X))
        kind = "real" if case.file else "blobs"
        return {"kind": kind, "seconds": seconds, "kmeans_seconds": kmeans_seconds}

    return Job(store, {"case": case.name, "method": method, "run": run}, measure)


def _peer_job(store: Store, case: cases.Case, name: str, repeats: int) -> Job:
    def measure():
        X, _ = cases.load(case)
        kmeans, kmeans_seconds = cases.fit_kmeans(case, 0, repeats)
        try:
            seconds = best_of(1, lambda: peers.fit(name, X, kmeans))
            if repeats > 1 and seconds < _LONG:
                seconds = min(seconds, best_of(repeats - 1, lambda: peers.fit(name, X, kmeans)))
        except Exception as error:  # whatever is wrong with a peer must not end our run
            print(f"{name} failed on {case.name}: {error}", file=sys.stderr)
            seconds = None
        return {"kind": "peer", "seconds": seconds, "kmeans_seconds": kmeans_seconds}

    return Job(store, {"case": case.name, "method": name, "run": 0}, measure)


def sections(folder: Path) -> list[Section]:
    """Blobs with their bounds, real data with their sums, peers."""
    rows = read_rows(folder / FILE)
    of_kind = {kind[0]: found for kind, found in group(rows, "kind").items()}
    sheets = []
    if "blobs" in of_kind:
        sheets.append(_blobs_sheet(of_kind["blobs"]))
    if "real" in of_kind:
        sheets.append(_real_sheet(of_kind["real"]))
    if "peer" in of_kind:
        sheets.append(_peer_sheet(of_kind["peer"]))
    text = (
        "Seconds of a fit, after compilation and with the centers given, as a ratio to "
        "`KMeans(n_clusters=k, n_init=1, random_state=0).fit` in the same process; each the best "
        f"of three, or of as many as take {LEAST_SECONDS:g} s (of one with `--quick`, and for a "
        f"peer that takes more than {_LONG:g} s). Where there are several runs: their median, and "
        "in how many of them the ratio asked for is kept."
    )
    return [Section("Speed", text, sheets)]


def ratio(row: Row) -> float:
    """Seconds of a fit over those of k-means."""
    return float(row["seconds"]) / float(row["kmeans_seconds"])


def _blobs_sheet(rows: list[Row]) -> Sheet:
    lines = []
    for (case,), of_case in group(rows, "case").items():
        by_method = group(of_case, "method")
        cells = [_cell(by_method.get((m,), []), BOUNDS.get(case, {}).get(m)) for m in METHODS]
        kmeans = median(float(row["kmeans_seconds"]) for row in of_case)
        lines.append([case, f"{kmeans:.2f} s", *cells])
    headings = ["data", "k-means", *(TITLES[method] for method in METHODS)]
    note = "Blobs from `make_blobs(cluster_std=4, random_state=0)`."
    return Sheet("Generated data", headings, lines, note)


def _cell(rows: list[Row], bound: float | None) -> str:
    if not rows:
        return "–"
    ratios = [ratio(row) for row in rows]
    if bound is None:
        return f"{median(ratios):.2f}"
    kept = sum(holds(value, bound) == "holds" for value in ratios)
    return f"{median(ratios):.2f} (≤ {bound:g} in {kept} of {len(ratios)})"


def _real_sheet(rows: list[Row]) -> Sheet:
    lines = []
    for (case,), of_case in group(rows, "case").items():
        by_method = group(of_case, "method")
        cells = [_cell(by_method.get((method,), []), 1.0) for method in ON_REAL_DATA]
        sums = [
            sum(ratio(row) for row in of_run)
            for of_run in group(of_case, "run").values()
            if len(of_run) == len(ON_REAL_DATA)
        ]
        kmeans = median(float(row["kmeans_seconds"]) for row in of_case)
        together = f"{median(sums):.2f} (≤ 1: {holds(median(sums), 1.0)})" if sums else "–"
        lines.append([case, f"{kmeans:.2f} s", *cells, together])
    headings = ["data", "k-means", *(TITLES[method] for method in ON_REAL_DATA), "all together"]
    return Sheet("Real data", headings, lines)


def _peer_sheet(rows: list[Row]) -> Sheet:
    names = list(dict.fromkeys(row["method"] for row in rows))
    lines = []
    for (case,), of_case in group(rows, "case").items():
        found = {row["method"]: row for row in of_case}
        cells = []
        for name in names:
            row = found.get(name)
            cells.append(
                "–" if row is None else f"{ratio(row):.2f}" if row["seconds"] else "failed"
            )
        lines.append([case, *cells])
    return Sheet("Peers in the same run", ["data", *names], lines, peers.unmeasured(set(names)))
