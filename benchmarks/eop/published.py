"""The figures of the EOP paper, kept beside ours so that the page can be made from one folder."""

from __future__ import annotations

import csv
from pathlib import Path

from benchmarks.settings import Refused, Settings
from benchmarks.store import read_rows

FILE = "eop_published.csv"
COLUMNS = ("table", "dataset", "method", "measure", "value")
_PAIRS = {
    1: ("vs_boosting", {"boosting": "boosting", "eop": "eop_svm"}),
    2: ("nonparametric_vs_cart", {"cart": "cart", "eop": "n_eop"}),
    3: ("parametric_vs_cart", {"cart": "cart", "eop": "r_eop"}),
}
_MEASURES = {"bf": "bayes_factor", "lift": "lift", "j": "j_score", "nmi": "nmi"}

Figures = dict[tuple[str, str, str, str], float]


def keep(settings: Settings) -> None:
    """Copy the paper's figures into the result folder, in one form for all tables."""
    if settings.targets is None:
        return
    rows = [*_pairs(settings.targets), *_many(settings.targets), *_measures(settings.targets)]
    settings.output.mkdir(parents=True, exist_ok=True)
    with open(settings.output / FILE, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


def recall(folder: Path) -> Figures:
    """The paper's figures by table, data set, method and measure."""
    return {
        (row["table"], row["dataset"], row["method"], row["measure"]): float(row["value"])
        for row in read_rows(folder / FILE)
    }


def _pairs(folder: Path):
    for table, (name, methods) in _PAIRS.items():
        for row in _read(folder, f"eop_table{table}_{name}.csv"):
            for theirs, ours in methods.items():
                for measure in ("accuracy", "complexity"):
                    yield table, row["dataset"], ours, measure, row[f"{theirs}_{measure}"]


def _many(folder: Path):
    for table, name in ((4, "eop_table4_uci.csv"), (5, "eop_table5_real.csv")):
        for row in _read(folder, name):
            for method, value in row.items():
                if method not in ("dataset", "measure"):
                    yield table, row["dataset"], method, row["measure"], value


def _measures(folder: Path):
    for row in _read(folder, "eop_table6_7_metrics.csv"):
        for theirs, ours in (("cart", "cart"), ("eop", "n_eop")):
            for short, measure in _MEASURES.items():
                yield "6-7", row["dataset"], ours, measure, row[f"{theirs}_{short}"]


def _read(folder: Path, name: str):
    rows = read_rows(folder / name)
    if not rows:
        raise Refused(f"--targets: the folder has no {name}; see benchmarks/README.md")
    return rows
