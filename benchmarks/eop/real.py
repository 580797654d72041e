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

N_CLASSES_DIFFER = {"breast_tissue": 6, "vowel": 11}
"""Data sets whose classes the paper must have merged: its figures are those of two classes."""


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
        "Breast tissue (6 classes) and vowel (11) have all their classes here. The paper's figures "
        "for them, 31 nodes for 95 % of the vowels, can only be those of two classes, but it does "
        "not say which. N-EOP: levels, each counted as often as it has columns; R-EOP: boxes that "
        "the average row is tested against; forest: nodes; sub-spacing and AdaBoost: members."
    )
    sheets = [
        _sheet("accuracy", rows, paper),
        _sheet("complexity", rows, paper),
        synthetic.measure_sheet(
            "Table 7: telling levels", rows, paper, "RealMean", sets.PAPER_NAMES
        ),
    ]
    return [Section("EOP on real data: tables 4, 5 and 7", text, sheets)]


def ordered(folder: Path) -> list[Row]:
    """The rows of the file, by data set in the order of the paper."""
    places = list(sets.PAPER_NAMES)
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
        table = "5" if name == "spambase" else "4"
        theirs = sets.PAPER_NAMES[name]
        shown = [
            figures.cell(columns[method][i], paper.get((table, theirs, method, what)), digits)
            for method in SHOWN
        ]
        lines.append([sets.TITLES[name], *shown])
    headings = ["data", *(METHODS[method].title for method in SHOWN)]
    return Sheet(f"Tables 4 and 5: {what}", headings, lines)
