"""Tables 2, 3 and 4 of the ExShallow paper."""

from __future__ import annotations

import csv
from functools import cache, lru_cache
from pathlib import Path
from statistics import median

from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer

from benchmarks import data, verdicts
from benchmarks.jobs import Job
from benchmarks.measures import MEASURES, measure_tree
from benchmarks.methods import TITLES, make, warm_up
from benchmarks.page import Section, Sheet
from benchmarks.papers import causes, significance, star
from benchmarks.papers.names import ABSENT, METHODS, NAMES, PUBLISHED
from benchmarks.settings import Refused, Settings
from benchmarks.store import Row, Store, group, mean, read_rows
from benchmarks.timing import best_of

FILE = "exshallow_tables.csv"
ALL_METHODS = (*METHODS, star.METHOD)

_SMALL = ("iris", "vowel")

_WORD_COUNTS = ("newsgroups20",)
"""Files of word counts. The paper's figures are those of TF-IDF values."""


def jobs(settings: Settings) -> list[Job]:
    """Each data set of the table that is here, each seed, each method."""
    _keep_published(settings)
    store = Store(
        settings.output / FILE,
        ("dataset", "seed", "method"),
        ("k", *MEASURES, "seconds", "kmeans_seconds"),
    )
    names = [name for name in data.names(settings.data, images=True) if name in NAMES]
    if settings.only:
        names = [name for name in names if name in settings.only]
    elif settings.quick:
        names = [name for name in names if name in _SMALL]
    seeds = range(settings.n_seeds(usual=30, quick=2))
    return [_job(store, n, s, m, settings.data) for n in names for s in seeds for m in ALL_METHODS]


def _job(store: Store, name: str, seed: int, method: str, folder: Path | None) -> Job:
    def measure():
        X, k = _load(name, folder)
        centers, kmeans_seconds = _reference(name, seed, folder)
        _warm_up_once(name, method, folder)
        model = make(method, centers)
        seconds = best_of(1, lambda: model.fit(X))
        figures = measure_tree(model)
        return {"k": k, **figures, "seconds": seconds, "kmeans_seconds": kmeans_seconds}

    return Job(store, {"dataset": name, "seed": seed, "method": method}, measure)


@lru_cache(maxsize=1)
def _load(name: str, folder: Path | None):
    X, k = data.load(name, folder)
    if name in _WORD_COUNTS:
        X = sparse.csr_array(TfidfTransformer().fit_transform(X))
    return X, k


@cache
def _warm_up_once(name: str, method: str, folder: Path | None) -> None:
    """In every process, also in one that goes on at a later seed."""
    warm_up(method, *_load(name, folder))


@lru_cache(maxsize=1)
def _reference(name: str, seed: int, folder: Path | None):
    X, k = _load(name, folder)
    kmeans = KMeans(n_clusters=k, n_init=10, random_state=seed)
    seconds = best_of(1, lambda: kmeans.fit(X))
    return kmeans.cluster_centers_, seconds


def _keep_published(settings: Settings) -> None:
    """Put the paper's figures beside ours, so that the page can be made from one folder."""
    if settings.targets is None:
        return
    names = ("table2", "star_table3", "table4_seconds")
    files = [settings.targets / f"exshallow_{name}.csv" for name in names]
    if not files[0].exists():
        raise Refused(f"--targets: the folder has no {files[0].name}; see benchmarks/README.md")
    scores, stars, times = ({row["dataset"]: row for row in read_rows(file)} for file in files)
    files_of = {paper: name for name, paper in NAMES.items()}
    rows = []
    for paper, row in scores.items():
        seconds = times.get(paper, {})
        for method in ALL_METHODS:
            is_star = method == star.METHOD
            source, column = (stars.get(paper, {}), "star") if is_star else (row, method)
            figures = {m: source.get(f"{m}_{column}") for m in MEASURES}
            time = seconds.get(method.replace("*", "_star"))
            together = {"seconds": time, "kmeans_seconds": seconds.get("kmeans")}
            rows.append({"dataset": files_of[paper], "method": method, **figures, **together})
    settings.output.mkdir(parents=True, exist_ok=True)
    with open(settings.output / PUBLISHED, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def sections(folder: Path) -> list[Section]:
    """A sheet for each measure of table 2, one each for table 3, the gaps and table 4."""
    places = list(NAMES)
    rows = sorted(read_rows(folder / FILE), key=lambda row: places.index(row["dataset"]))
    if not rows:
        return []
    published = {(r["dataset"], r["method"]): r for r in read_rows(folder / PUBLISHED)}
    peers = group(read_rows(folder / "golden.csv"), "dataset", "method")
    found = [
        verdicts.Cell.of(name, method, measure, of_method, published, peers)
        for (name, method), of_method in group(rows, "dataset", "method").items()
        for measure in MEASURES
    ]

    cells = causes.with_reasons(star.with_reasons(found), folder)
    sheets = [_measure_sheet(measure, cells) for measure in MEASURES]
    sheets += significance.sheets(rows, NAMES)
    sheets += filter(None, [star.sheet(cells, rows, NAMES)])
    gaps = [cell for cell in cells if cell.verdict in ("better", "worse")]
    if gaps:
        lines = [
            [*_where(cell), f"{cell.ours:.3f}", f"{cell.paper:.2f}", cell.verdict, cell.why]
            for cell in gaps
        ]
        headings = ["data", "method", "measure", "ours", "paper", "verdict", "why"]
        sheets.append(Sheet("Where tables 2 and 3 differ", headings, lines))
    text = (
        "Laber, Murtinho, Oliveira: *Shallow decision trees for explainable k-means clustering*. "
        "Mean over the seeds of `KMeans(n_init=10)`: ours (the paper's). Word counts of 20 "
        f"Newsgroups are transformed by `TfidfTransformer`. {verdicts.LEGEND} Cifar10 is a copy in "
        "JPEG, whose pixels are not those of the original; Mice has the 552 complete rows. Of the "
        f"paper's 16 data sets, {', '.join(ABSENT)} are absent: they come with no package "
        "and could not be had."
    )
    return [Section("ExShallow, tables 2, 3 and 4", text, [*sheets, _time_sheet(rows, published)])]


def _where(cell: verdicts.Cell) -> list[str]:
    return [NAMES[cell.dataset], TITLES[cell.method], cell.measure.upper()]


def _measure_sheet(measure: str, cells: list[verdicts.Cell]) -> Sheet:
    lines: dict[str, list[str]] = {}
    for cell in cells:
        if cell.measure == measure and cell.method in METHODS:
            lines.setdefault(cell.dataset, [NAMES[cell.dataset], str(cell.n_seeds)])
            lines[cell.dataset].append(cell.text)
    headings = ["data", "seeds", *(TITLES[method] for method in METHODS)]
    width = len(headings)
    rows = [line + ["–"] * (width - len(line)) for line in lines.values()]
    rows.append(["*median*", "", *(_median(measure, method, cells) for method in METHODS)])
    return Sheet(f"Table 2: {measure.upper()}", headings, rows)


def _median(measure: str, method: str, cells: list[verdicts.Cell]) -> str:
    """Median over the data sets that are here: ours (the paper's for the same sets)."""
    found = [c for c in cells if (c.measure, c.method) == (measure, method) and c.paper is not None]
    if not found:
        return "–"
    return f"{median(c.ours for c in found):.3f} ({median(c.paper for c in found):.2f})"


def _time_sheet(rows: list[Row], published: dict) -> Sheet:
    lines = []
    for (name,), of_set in group(rows, "dataset").items():
        by_method = group(of_set, "method")
        paper = published.get((name, METHODS[0]), {}).get("kmeans_seconds")
        line = [NAMES[name], _seconds(mean(of_set, "kmeans_seconds"), paper)]
        for method in ALL_METHODS:
            found = by_method.get((method,), [])
            ours = mean(found, "kmeans_seconds") + mean(found, "seconds")
            line.append(_seconds(ours, published.get((name, method), {}).get("seconds")))
        lines.append(line)
    headings = ["data", "k-means", *(TITLES[method] for method in ALL_METHODS)]
    note = (
        "Seconds, those of k-means included: ours (the paper's, on its own machine; for "
        f"information). Those of {TITLES[star.METHOD]} include its goal, KMC. Much of it was "
        "measured beside other work on the machine: only the order of magnitude means anything. "
        "Where a seed was disturbed so much that even that is lost (Covtype, from the twelfth "
        "on), its seconds are left out."
    )
    return Sheet("Table 4: seconds", headings, lines, note)


def _seconds(ours: float, paper: str | None) -> str:
    if ours != ours:
        return "–"
    return f"{ours:.2f}" + (f" ({float(paper):.2f})" if paper else "")
