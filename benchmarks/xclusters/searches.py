"""Tables 2 and 3 of the paper: what each search finds, and what that takes."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from time import process_time

import numpy as np
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from benchmarks.jobs import Job
from benchmarks.page import Picture, Sheet
from benchmarks.settings import Refused, Settings
from benchmarks.store import Row, Store, group, mean, read_rows
from benchmarks.xclusters import drawings, sets
from pellucid import XClusters

FILE = "xclusters_searches.csv"
KEY = ("dataset", "search", "tolerance", "seed")
VALUES = ("k", "alpha", "objective", "d", "n", "n_nodes", "evaluations", "seconds", "planted")
TOLERANCES = (0.01, 0.05, 0.1, 0.2)
DEFAULT = 0.05
PLANE = "xclusters_plane.csv"
METHODS = {"two-step": "2-Step", "grid": "GS", "bayes": "BO", "branch-and-bound": "XClusters"}
"""The searches, and what the paper calls them."""

OURS = "branch-and-bound"
TABLE_2, TABLE_3 = "xclusters_table2.csv", "xclusters_table3_epsilon.csv"
K_RANGE = (3, 11)
N_PAIRS = 40
"""Pairs that Bayesian optimisation tries, 10 of them at random; the paper tuned both numbers."""


def jobs(settings: Settings, name: str) -> list[Job]:
    """Every search on a data set, ours with every tolerance, the random one with several seeds."""
    store = Store(settings.output / FILE, KEY, VALUES)
    keys = [(search, DEFAULT, 0) for search in ("two-step", "grid")]
    keys += [("bayes", DEFAULT, seed) for seed in range(settings.n_seeds(usual=5))]
    keys += [(OURS, tolerance, 0) for tolerance in TOLERANCES]
    return [
        Job(store, dict(zip(KEY, (name, *key))), _measure(settings, name, *key)) for key in keys
    ]


def fit(data: sets.TrendSet, search: str, tolerance: float, seed: int) -> XClusters:
    """A fitted model.

    Bayesian optimisation solves many small systems of equations, which many threads slow down.
    """
    model = XClusters(
        k_range=K_RANGE,
        tolerance=tolerance,
        accuracy_distance="precomputed",
        explanation_distance="jaccard",
        tree_accuracy=1.0,
        search=search,
        max_evaluations=N_PAIRS if search == "bayes" else None,
        random_state=seed,
    )
    with threadpool_limits(1, "blas"):
        return model.fit(data.distances, explanation=data.explanation)


@lru_cache(maxsize=1)
def fit_grid(name: str, folder: Path | None) -> tuple[XClusters, float]:
    """The grid's model, which both the tables and the figures need, and its seconds."""
    return _time(sets.load(name, folder), "grid", DEFAULT, 0)


@lru_cache(maxsize=1)
def _warm_up() -> None:
    """What is compiled or imported on first use is no part of any search."""
    points = np.arange(30.0)
    distances = np.abs(points[:, None] - points)
    model = XClusters(k_range=K_RANGE, accuracy_distance="precomputed", search="two-step")
    model.fit(distances, explanation=points[:, None])


def _time(data: sets.TrendSet, *how) -> tuple[XClusters, float]:
    _warm_up()
    start = process_time()
    model = fit(data, *how)
    return model, process_time() - start


def _measure(settings: Settings, name: str, search: str, tolerance: float, seed: int):
    def measure():
        data = sets.load(name, settings.data)
        if search == "grid":
            model, seconds = fit_grid(name, settings.data)
        else:
            model, seconds = _time(data, search, tolerance, seed)
        if search == OURS and tolerance == DEFAULT and name != sets.PLAIN:
            draw(model, data, settings.output, name)
        tried = model.evaluations_
        pair = (tried["k"] == model.best_k_) & (tried["alpha"] == model.best_alpha_)
        best = tried[pair][0]
        planted = None
        if data.planted is not None:
            planted = float(adjusted_rand_score(data.planted, model.labels_))
        return {
            "k": model.best_k_,
            "alpha": model.best_alpha_,
            "objective": model.objective_,
            "d": float(best["normalised_distortion"]),
            "n": float(best["normalised_nodes"]),
            "n_nodes": model.n_nodes_,
            "evaluations": len(model.evaluations_),
            "seconds": seconds,
            "planted": planted,
        }

    return measure


def tables(settings: Settings) -> list[Sheet]:
    """Tables 2 and 3, ours beside the paper's."""
    rows = read_rows(settings.output / FILE)
    if not rows:
        return []
    return [_table_2(rows, settings), _table_3(rows, settings)]


def by_key(rows: list[Row], name: str, search: str, tolerance: float = DEFAULT) -> list[Row]:
    """The rows of one search on one data set, one for each seed."""
    wanted = {"dataset": name, "search": search, "tolerance": f"{tolerance:g}"}
    return [row for row in rows if wanted.items() <= row.items()]


def _table_2(rows: list[Row], settings: Settings) -> Sheet:
    paper = _targets(settings, TABLE_2, "dataset", "method")
    lines = []
    for (name,), _ in group(rows, "dataset").items():
        for search, title in METHODS.items():
            found = by_key(rows, name, search)
            if not found:
                continue
            target = paper.get((sets.PAPER.get(name, ""), title), {})
            figures = [
                _beside(mean(found, ours), target.get(theirs))
                for ours, theirs in (("objective", "objective"), ("d", "D"), ("n", "N"))
            ]
            lines.append(
                [
                    sets.TITLES[name],
                    title,
                    *figures,
                    f"{mean(found, 'n_nodes'):.0f}",
                    _pair(found),
                    f"{mean(found, 'evaluations'):.0f}",
                    _beside(mean(found, "seconds"), target.get("runtime_s"), 2),
                    f"{mean(found, 'planted'):.2f}" if found[0]["planted"] else "–",
                ]
            )
    headings = ["data", "search", "D + λN", "D", "N", "nodes", "k, α", "evaluations", "seconds"]
    note = (
        f"Ours (the paper's), ε = {DEFAULT}; 2-Step is α = 0 with k by the elbow, GS a grid of α "
        "in steps of 0.05, BO Bayesian optimisation, mean over seeds. The paper's figures are of "
        "other data (card) or of more months (Seoul), and its seconds of another machine: they "
        "tell the order of the searches. Seconds are of processor time. *Planted*: agreement "
        "(adjusted Rand) with the planted trends." + _good_pairs(rows, settings)
    )
    return Sheet("Table 2: the searches compared", [*headings, "planted"], lines, note)


def _good_pairs(rows: list[Row], settings: Settings) -> str:
    """How many pairs of the grid on Seoul are better than Bayesian optimisation, and where."""
    found = by_key(rows, "seoul", "bayes")
    grid = [row for row in read_rows(settings.output / PLANE) if row["dataset"] == "seoul"]
    if not found or not grid:
        return ""
    reached = mean(found, "objective")
    better = [row for row in grid if float(row["d"]) + float(row["n"]) < reached]
    numbers = sorted({int(row["k"]) for row in better})
    return (
        f" On Seoul, BO is no better than 2-Step, other than in the paper: {len(better)} of the "
        f"{len(grid)} pairs of the grid are better than its mean, at {len(numbers)} values of k "
        f"({', '.join(map(str, numbers))}). We suppose that the model of BO, which is smooth in k "
        "and α, does not see pairs that stand alone."
    )


def _table_3(rows: list[Row], settings: Settings) -> Sheet:
    paper = _targets(settings, TABLE_3, "dataset", "epsilon_b")
    paper = {(name, float(tolerance)): row for (name, tolerance), row in paper.items()}
    lines = []
    for (name,), _ in group(rows, "dataset").items():
        grid = by_key(rows, name, "grid")
        for tolerance in TOLERANCES:
            found = by_key(rows, name, OURS, tolerance)
            if not found:
                continue
            target = paper.get((sets.PAPER.get(name, ""), tolerance), {})
            lines.append(
                [
                    sets.TITLES[name],
                    f"{tolerance:g}",
                    _beside(mean(found, "objective"), target.get("objective")),
                    f"{mean(found, 'objective') - mean(grid, 'objective'):+.3f}",
                    _pair(found),
                    f"{mean(found, 'evaluations'):.0f} of {mean(grid, 'evaluations'):.0f}",
                    _beside(mean(found, "seconds"), target.get("runtime_s"), 2),
                ]
            )
    headings = ["data", "ε", "D + λN", "above the grid's best", "k, α", "evaluations", "seconds"]
    note = "XClusters by tolerance, ours (the paper's), beside the grid's best and its evaluations."
    return Sheet("Table 3: tolerance", headings, lines, note)


def _pair(rows: list[Row]) -> str:
    if len(rows) > 1:
        return "–"
    return f"{rows[0]['k']}, {float(rows[0]['alpha']):.3g}"


def _beside(ours: float, paper: str | None, digits: int = 3) -> str:
    return f"{ours:.{digits}f} ({float(paper):.{digits}f})" if paper else f"{ours:.{digits}f}"


def _targets(settings: Settings, file: str, *key: str) -> dict[tuple[str, ...], Row]:
    if settings.targets is None:
        return {}
    if not (settings.targets / file).exists():
        raise Refused(f"--targets: there is no {file} in {settings.targets}")
    return {tuple(row[c] for c in key): row for row in read_rows(settings.targets / file)}


def draw(model: XClusters, data: sets.TrendSet, folder: Path, name: str) -> None:
    """Pictures of what our search found, and of how it got there."""
    from pellucid.plotting import plot_search, plot_trends

    figure = plot_trends(model, data.series, times=data.times, label=data.label, max_lines=80)
    drawings.save_small(figure, folder / f"xclusters_trends_{name}.png")
    drawings.save_small(plot_search(model).figure, folder / f"xclusters_search_{name}.png")


def drawn(settings: Settings, name: str) -> list[Picture]:
    """The pictures that there are."""
    captions = {
        "trends": "Clusters of {}, ε = 0.05: trends with the medoid in bold, and who they are",
        "search": "Pairs that the search tried on {}, in order, and blocks that it left aside",
    }
    return [
        Picture(f"xclusters_{kind}_{name}.png", caption.format(sets.TITLES[name]))
        for kind, caption in captions.items()
        if (settings.output / f"xclusters_{kind}_{name}.png").exists()
    ]
