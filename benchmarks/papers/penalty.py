"""Figures 4 and 5 of the ExShallow paper: explanation size and cost against the depth penalty."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from statistics import stdev

from scipy.stats import spearmanr, t
from sklearn.cluster import KMeans

from benchmarks import data
from benchmarks.jobs import Job
from benchmarks.measures import measure_tree
from benchmarks.page import Picture, Section, Sheet
from benchmarks.papers.names import NAMES
from benchmarks.plots import Line, Panel, draw
from benchmarks.settings import Settings
from benchmarks.store import Row, Store, group, mean, read_rows
from pellucid import ExShallow

FILE = "exshallow_penalty.csv"
PICTURE = "exshallow_figures_4_5.png"
PENALTIES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
DEFAULT = 0.03
CLEAR = 0.5
"""Rank correlation from which we say that a figure goes with λ."""

LARGE = ("covtype", "newsgroups20")
"""Left out: their k-means takes longer than all the rest."""


def jobs(settings: Settings) -> list[Job]:
    """Ten seeds of k-means for each data set, all penalties at once."""
    store = Store(settings.output / FILE, ("dataset", "seed"), ("penalty", "npc", "waes"))
    names = [n for n in data.names(settings.data) if n in NAMES and n not in LARGE]
    if settings.only:
        names = [name for name in names if name in settings.only]
    elif settings.quick:
        names = [name for name in names if name == "iris"]
    seeds = range(settings.n_seeds(usual=10, quick=2))
    return [_job(store, name, seed, settings.data) for name in names for seed in seeds]


def _job(store: Store, name: str, seed: int, folder: Path | None) -> Job:
    def measure():
        X, centers = _reference(name, seed, folder)
        found = []
        for penalty in PENALTIES:
            figures = measure_tree(ExShallow(reference=centers, depth_penalty=penalty).fit(X))
            found.append({"penalty": penalty, "npc": figures["npc"], "waes": figures["waes"]})
        return found

    return Job(store, {"dataset": name, "seed": seed}, measure)


@lru_cache(maxsize=1)
def _reference(name: str, seed: int, folder: Path | None):
    X, k = data.load(name, folder)
    return X, KMeans(n_clusters=k, n_init=10, random_state=seed).fit(X).cluster_centers_


def sections(folder: Path) -> list[Section]:
    """Means over all data sets and seeds, with intervals of 95 %, and the paper's sentences."""
    rows = read_rows(folder / FILE)
    if not rows:
        return []
    sizes, costs = by_penalty(rows)
    lines = [
        [f"{penalty:g}", _interval(sizes[penalty]), _interval(costs[penalty])]
        for penalty in sorted(sizes)
    ]
    panels = []
    for title, found in (("Figure 4: WAES, λ = 0 is 1", sizes), ("Figure 5: NPC", costs)):
        x = sorted(found)
        line = Line("ExShallow", x, [_mean(found[p]) for p in x], [_half(found[p]) for p in x])
        panels.append(Panel(title, [line], "λ"))
    draw(panels, folder / PICTURE, n_columns=2, y_label="mean over data sets")
    drop = 1 - _mean(sizes[DEFAULT])
    dearer = _mean(costs[DEFAULT]) / _mean(costs[0.0]) - 1
    claims = [
        _claim(
            "on average, WAES falls as λ rises", rank_correlation(sizes) <= -CLEAR, _ends(sizes)
        ),
        _claim("in general, cost rises with λ", rank_correlation(costs) >= CLEAR, _ends(costs)),
        _claim(
            "a small λ (0.03) shortens explanations a lot, without a higher mean cost",
            drop > 0.1 and dearer <= 0,
            f"WAES {-drop:+.1%}, cost {dearer:+.2%}",
        ),
    ]
    seeds = {
        NAMES[name]: len({row["seed"] for row in found})
        for (name,), found in group(rows, "dataset").items()
    }
    counts = ", ".join(f"{name} {n}" for name, n in seeds.items())
    text = (
        f"Means over {len(seeds)} data sets, each counted alike, and the seeds of k-means "
        f"({counts}). The paper has 16 data sets and ten seeds each. Its text has no figures, only "
        "the sentences below."
    )
    headings = ["λ", "WAES over that of λ = 0", "NPC"]
    items = [
        Picture(PICTURE, "Figures 4 and 5: explanation size and cost against the depth penalty"),
        Sheet(
            "Against the depth penalty", headings, lines, "Mean over the data sets ± 95 % interval."
        ),
        Sheet(
            "What the paper says of figures 4 and 5", ["claim", "here", "verdict"], claims, _NOTE
        ),
    ]
    return [Section("ExShallow, figures 4 and 5", text, items)]


_NOTE = (
    f"The first two hold if the rank correlation is at least {CLEAR} in size; this does not say "
    "that the cost rises at every step."
)


def by_penalty(rows: list[Row]) -> tuple[dict[float, list[float]], dict[float, list[float]]]:
    """WAES over that without a penalty, and NPC, by penalty: a mean over seeds per data set."""
    sizes: dict[float, list[float]] = {}
    costs: dict[float, list[float]] = {}
    for found in group(rows, "dataset").values():
        by_value = {float(p): of_value for (p,), of_value in group(found, "penalty").items()}
        plain = mean(by_value[0.0], "waes")
        for penalty, of_value in by_value.items():
            sizes.setdefault(penalty, []).append(mean(of_value, "waes") / plain)
            costs.setdefault(penalty, []).append(mean(of_value, "npc"))
    return sizes, costs


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _half(values: list[float]) -> float:
    """Half the width of the interval of 95 % of the mean."""
    n = len(values)
    return float(t.ppf(0.975, n - 1) * stdev(values) / n**0.5) if n > 1 else float("nan")


def _interval(values: list[float]) -> str:
    return f"{_mean(values):.3f} ± {_half(values):.3f}"


def rank_correlation(found: dict[float, list[float]]) -> float:
    """Rank correlation of λ and the mean over the data sets."""
    x = sorted(found)
    return float(spearmanr(x, [_mean(found[p]) for p in x]).statistic)


def _ends(found: dict[float, list[float]]) -> str:
    first, last = min(found), max(found)
    least = min(found, key=lambda penalty: _mean(found[penalty]))
    return (
        f"{_mean(found[first]):.3f} at λ = {first:g}, {_mean(found[last]):.3f} at λ = {last:g}, "
        f"lowest at λ = {least:g}; rank correlation with λ {rank_correlation(found):+.2f}"
    )


def _claim(text: str, holds: bool, figures: str) -> list[str]:
    return [text, figures, "holds" if holds else "misses"]
