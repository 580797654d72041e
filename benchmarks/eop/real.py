"""Tables 4, 5 and 7: EOP beside random forest, sub-spacing, AdaBoost and CART on real data."""

from __future__ import annotations

from pathlib import Path

from benchmarks.eop import figures, published, sets, synthetic
from benchmarks.eop.methods import COLUMNS, METHODS, measure
from benchmarks.jobs import Job
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Row, Store, read_rows

FILE = "eop_real.csv"
SHOWN = ("random_forest", "subspacing", "adaboost", "cart", "n_eop", "r_eop")
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
        "that the average row is tested against; forest: nodes; sub-spacing and AdaBoost: members."
    )
    sheets = [
        _sheet("accuracy", rows, paper),
        _sheet("complexity", rows, paper),
        synthetic.measure_sheet("Table 7: telling levels", rows, paper, "RealMean"),
    ]
    return [Section("EOP on real data: tables 4, 5 and 7", text, sheets)]


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
