"""Possible causes of the gaps to table 2 of the BSIMM paper: other data, starts and beams."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from sklearn.cluster import KMeans
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from benchmarks import data
from benchmarks.jobs import Job
from benchmarks.measures import measure_tree
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Row, Store, group, mean, read_rows
from benchmarks.verdicts import is_near
from pellucid import BSIMM, IMM

FILE = "bsimm_causes.csv"
PUBLISHED = "bsimm_published.csv"
TARGETS = "bsimm_table2.csv"
DATASETS = {"avila": "Avila", "anuran": "Anuran", "ecoli": "Ecoli"}
"""Data sets whose cost differs by more than 0.02."""

FIGURES = ("npc", "nmi")
VARIANTS = {
    "as in the table": {},
    "columns from 0 to 1": {"prepare": MinMaxScaler},
    "columns of variance 1": {"prepare": StandardScaler},
    "one start of k-means": {"n_init": 1},
}
"""What is changed: the data (`prepare`) or the parameters of k-means."""

METHODS = {
    "imm": lambda centers: IMM(reference=centers),
    "bsimm": lambda centers: BSIMM(reference=centers),
    "bsimm, C = 100": lambda centers: BSIMM(reference=centers, n_candidates=100),
    "bsimm, B = 200": lambda centers: BSIMM(reference=centers, beam_width=200),
}
"""The paper has B = 40 and C = 10, our defaults."""


def jobs(settings: Settings) -> list[Job]:
    """Each variant of each data set, five seeds, all methods at once."""
    _keep_published(settings)
    keys = ("dataset", "variant", "seed", "method")
    store = Store(settings.output / FILE, keys, (*FIGURES, "mistakes"))
    names = [name for name in DATASETS if name in data.names(settings.data)]
    if settings.only:
        names = [name for name in names if name in settings.only]
    if settings.quick:
        names = []
    return [
        _job(store, name, variant, seed, settings.data)
        for name in names
        for variant in VARIANTS
        for seed in range(settings.n_seeds(usual=5))
    ]


def _job(store: Store, name: str, variant: str, seed: int, folder: Path | None) -> Job:
    def measure():
        X, centers = _reference(name, variant, seed, folder)
        found = []
        for method, make in METHODS.items():
            model = make(centers).fit(X)
            figures = measure_tree(model)
            found.append({"method": method, **{m: figures[m] for m in FIGURES}})
            found[-1]["mistakes"] = float(model.mistakes_)
        return found

    return Job(store, {"dataset": name, "variant": variant, "seed": seed}, measure)


@lru_cache(maxsize=1)
def _reference(name: str, variant: str, seed: int, folder: Path | None):
    X, k = data.load(name, folder)
    options = {"n_init": 10, **VARIANTS[variant]}
    scaler = options.pop("prepare", None)
    if scaler is not None:
        X = scaler().fit_transform(X)
    return X, KMeans(n_clusters=k, random_state=seed, **options).fit(X).cluster_centers_


def _keep_published(settings: Settings) -> None:
    """Put the paper's figures beside ours, so that the page can be made from one folder."""
    if settings.targets is None or not (settings.targets / TARGETS).exists():
        return
    columns = [f"{m}_{method}" for method in ("imm", "bsimm") for m in FIGURES]
    store = Store(settings.output / PUBLISHED, ("dataset",), tuple(columns))
    titles = {title: name for name, title in DATASETS.items()}
    for row in read_rows(settings.targets / TARGETS):
        name = titles.get(row["dataset"])
        if name is not None and {"dataset": name} not in store:
            store.add([{"dataset": name, **{column: row[column] for column in columns}}])


def agreeing(rows: list[Row], paper: Row) -> list[str]:
    """Variants of a data set with which all figures of IMM and BSIMM agree with the paper."""
    return [
        variant
        for (variant,), found in group(rows, "variant").items()
        if all(
            is_near(mean(of_method, figure), float(paper[f"{figure}_{method}"]))
            for (method,), of_method in group(found, "method").items()
            if method in ("imm", "bsimm")
            for figure in FIGURES
        )
    ]


def reason(name: str, folder: Path) -> str | None:
    """What the tested causes say of a data set; None if nothing was tested."""
    rows = [row for row in read_rows(folder / FILE) if row["dataset"] == name]
    paper = {row["dataset"]: row for row in read_rows(folder / PUBLISHED)}.get(name)
    if not rows or paper is None:
        return None
    found = agreeing(rows, paper)
    if found:
        return f"with {found[0]}, all four figures agree with the paper within 2 %"
    tested = ", ".join(
        variant for (variant,) in group(rows, "variant") if variant != "as in the table"
    )
    return f"tested and excluded: {tested}, larger B and C"


def sections(folder: Path) -> list[Section]:
    """NPC and NMI of all variants beside the paper's."""
    rows = read_rows(folder / FILE)
    published = {row["dataset"]: row for row in read_rows(folder / PUBLISHED)}
    lines = []
    for (name,), of_set in group(rows, "dataset").items():
        for (variant,), found in group(of_set, "variant").items():
            by_method = {m: of_method for (m,), of_method in group(found, "method").items()}
            cells = [
                " / ".join(f"{mean(by_method[m], figure):.3f}" for figure in FIGURES)
                for m in METHODS
            ]
            n_seeds = len({row["seed"] for row in found})
            lines.append([DATASETS[name], variant, *cells, str(n_seeds)])
        if name in published:
            paper = published[name]
            cells = [
                " / ".join(f"{float(paper[f'{figure}_{m}']):.3f}" for figure in FIGURES)
                for m in ("imm", "bsimm")
            ]
            lines.append([DATASETS[name], "*the paper*", *cells, "", "", "10"])
    if not lines:
        return []
    headings = ["data", "variant", "IMM", "BSIMM", "BSIMM, C = 100", "BSIMM, B = 200", "seeds"]
    note = "NPC / NMI, means over the seeds. BSIMM has B = 40 and C = 10, as in the paper."
    text = "Where the cost of BSIMM differs by more than 0.02 from table 2 of its paper."
    sheet = Sheet("Other data, other starts, other beams", headings, lines, note)
    return [Section("BSIMM: tested causes", text, [sheet])]
