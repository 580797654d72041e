"""Tables 4, 5 and 7, figure 6: EOP beside ensembles and CART on real data."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.eop import figures, published, sets, synthetic
from benchmarks.eop.methods import COLUMNS, METHODS, measure
from benchmarks.jobs import Job
from benchmarks.page import Picture, Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Row, Store, group, read_rows

FILE = "eop_real.csv"
SHOWN = (
    *("random_forest", "multiboosting", "subspacing", "feating", "adaboost"),
    *("cart", "n_eop", "r_eop"),
)
FIGURE_6 = "eop_figure6.png"
ON_REAL = (*SHOWN, "cart_leaves")
_COUNTS = {"n_eop": "size"}
"""Where the paper's complexity is not the column of that name."""


def jobs(settings: Settings) -> list[Job]:
    """Each data set that is there, each split, each method."""
    store = Store(settings.output / FILE, ("dataset", "seed", "method"), COLUMNS)
    names = sets.real_names(settings.data)
    if settings.quick:
        names = names[:1]
    return [
        _job(store, name, seed, method, settings)
        for name in names
        for seed in range(settings.n_seeds(usual=3))
        for method in ON_REAL
    ]


def _job(store: Store, name: str, seed: int, method: str, settings: Settings) -> Job:
    key = {"dataset": name, "seed": seed, "method": method}
    folder, quick = settings.data, settings.quick
    return Job(store, key, lambda: measure(method, sets.split_real(name, seed, folder), quick))


def sections(settings: Settings) -> list[Section]:
    """Tables 4 and 5 in one, and table 7."""
    rows = ordered(settings.output)
    if not rows:
        return []
    paper = published.recall(settings.output)
    text = (
        "Means over random splits, two thirds for learning: ours (the paper's, from one split). "
        "The paper's figures for the 6 tissues and the 11 vowels look like those of two classes, "
        "which it does not name: here both sets are shown with all classes, and with two that "
        "suggest themselves. It has 1,696 rows of breast tissue, 16 times the 106 that there are; "
        "if rows are repeated, those to test on have been learned from, which would explain its "
        "accuracies of 1. N-EOP: levels, each counted as often as it has columns; R-EOP: boxes "
        "that the average row is tested against; forest: nodes; other ensembles: members. "
        "MultiBoosting (Webb 2000): 60 "
        "trees in 8 committees. Feating (Ting et al. 2011): a split and two trees per column. The "
        "paper does not state its parameters of either. The regions of a level of N-EOP and R-EOP "
        "cover at least 3 % of the training rows, which is a third of one of the 11 vowels."
    )
    text += _fewer_splits(rows)
    sheets = [
        _sheet("accuracy", rows, paper),
        _sheet("complexity", rows, paper),
        synthetic.measure_sheet("Table 7: telling levels", rows, paper, "RealMean"),
    ]
    _draw_figure_6(rows, settings.output / FIGURE_6)
    caption = "Figure 6: accuracy and complexity (logarithmic) of all methods on the real sets"
    items = [*sheets[:2], Picture(FIGURE_6, caption), *sheets[2:]]
    return [Section("EOP on real data: tables 4, 5 and 7, figure 6", text, items)]


def _fewer_splits(rows: list[Row]) -> str:
    """A sentence about figures that are means over fewer splits than the others."""
    counts = {key: len(found) for key, found in group(rows, "dataset", "method").items()}
    few = [
        f"{METHODS[method].title} on {sets.REAL[name].title} ({n})"
        for (name, method), n in counts.items()
        if n < max(counts.values())
    ]
    return f" Means over fewer than {max(counts.values())} splits: {'; '.join(few)}." if few else ""


def _draw_figure_6(rows: list[Row], path: Path) -> None:
    """Bars by data set and method: accuracy on top, complexity below."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from benchmarks.plots import shrink
    from pellucid.plotting.style import cluster_color

    titles = [sets.REAL[name].title for name in dict.fromkeys(row["dataset"] for row in rows)]
    figure, axes = plt.subplots(2, 1, figsize=(8.4, 6.0), sharex=True)
    for number, method in enumerate(SHOWN):
        place = np.arange(len(titles)) + (number - len(SHOWN) / 2 + 0.5) * 0.1
        shown = figures.column(rows, method, "accuracy"), complexity(rows, method)
        for ax, values in zip(axes, shown):
            ax.bar(place, values, 0.1, color=cluster_color(number), label=METHODS[method].title)
    axes[0].set_ylabel("accuracy")
    axes[0].set_ylim(0.3, 1.0)
    axes[0].legend(frameon=False, fontsize=7, ncols=4, loc="lower left", bbox_to_anchor=(0, 1))
    axes[1].set_yscale("log")
    axes[1].set_ylabel("complexity")
    axes[1].set_xticks(range(len(titles)), [t.replace(", ", "\n") for t in titles], fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)
    shrink(path)


def ordered(folder: Path) -> list[Row]:
    """The rows of the file, by data set in the order of the paper."""
    places = list(sets.REAL)
    return sorted(read_rows(folder / FILE), key=lambda row: places.index(row["dataset"]))


def complexity(rows: list[Row], method: str):
    """As the paper counts it, by data set."""
    return figures.column(rows, method, _COUNTS.get(method, "complexity"))


def _sheet(what: str, rows: list[Row], paper) -> Sheet:
    digits = 3 if what == "accuracy" else 1
    columns = {
        method: figures.column(rows, method, what)
        if what == "accuracy"
        else complexity(rows, method)
        for method in SHOWN
    }
    lines = []
    for i, name in enumerate(dict.fromkeys(row["dataset"] for row in rows)):
        known = sets.REAL[name]
        theirs = {m: paper.get((known.table, known.paper, m, what)) for m in SHOWN}
        shown = [figures.cell(columns[m][i], theirs[m], digits) for m in SHOWN]
        lines.append([known.title, *shown])
    headings = ["data", *(METHODS[method].title for method in SHOWN)]
    return Sheet(f"Tables 4 and 5: {what}", headings, lines)
