"""The number of clusters: planted numbers, draws of the rows, and known groups.

The scores of every number are measured once, for all rows and for draws of 95% of them, and stored.
The rule that chooses a number from its scores is applied when the page is written. Every other
table was used to choose its constants ("tuned"); the others show what they are worth.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks import jobs
from benchmarks.jobs import Job
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Row, Store, group, read_rows
from benchmarks.tables.collection import real_tables
from benchmarks.tables.generated import generated_tables

FILE = "tables_numbers.csv"
KEY = ("table", "draw")
MEASURES = ("planted", "rows", "scores")
FIELDS = ("k", "silhouette", "stability", "smallest", "agreement", "cost", "ari")

N_DRAWS = 5
SHARE = 0.95
"""Share of the rows in a draw; draw 0 has all of them."""

EVERY = 2
"""Every other table of the packages is used, since each is measured six times."""

MOST_ROWS = 4000
"""Rows of a table that are used."""

RECOVERED = 0.8
"""Adjusted Rand index of k-means with the planted number from which on the groups are those that
k-means finds at all.
"""

Table = tuple[pl.DataFrame, "np.ndarray | None"]


def measure(settings: Settings) -> None:
    """Scores of all numbers of clusters, for every table and draw."""
    tables: dict[str, tuple[Callable[[], Table], int | None]] = {
        table.name: (table.make, table.n_groups) for table in generated_tables()
    }
    tables |= {table.name: (lambda t=table: _read(t), None) for table in real_tables()[::EVERY]}
    if settings.data is not None:
        for path in sorted(settings.data.glob("*.npz")):
            if path.stem not in ("newsgroups20", "cifar10_jpeg", "covtype"):
                tables[path.stem] = (lambda p=path: _load(p), None)
    names = list(tables)[:: 20 if settings.quick else 1]
    store = Store(settings.output / FILE, KEY, MEASURES)
    todo = [
        Job(store, {"table": name, "draw": draw}, lambda n=name, d=draw: _measured(*tables[n], d))
        for draws in ([0], range(1, 1 + settings.n_seeds(usual=N_DRAWS)))
        for name in names
        for draw in draws
    ]
    jobs.work_through("numbers", todo, fresh=settings.fresh)


def _read(table: Any) -> Table:
    from pellucid.tables.reading import read_source

    with tempfile.TemporaryDirectory() as folder:
        found = read_source(table.write(Path(folder))).table
    groups = found[table.group].cast(pl.String).fill_null("").to_numpy() if table.group else None
    return found.drop(table.excluded), groups


def _load(path: Path) -> Table:
    with np.load(path, allow_pickle=True) as found:
        X, y = found["X"].astype(np.float64), found["y"].astype(str)
    return pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])]), y


def _measured(load: Callable[[], Table], planted: int | None, draw: int) -> dict[str, Any]:
    """The scores of a table or of a draw of its rows."""
    from pellucid._utils.notices import notices_to
    from pellucid.table_explainer.number_of_clusters import choose_number
    from pellucid.table_explainer.preparing import prepare_table
    from pellucid.tables.reading.files import source_of

    table, groups = load()
    rows = np.arange(table.height)
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).permutation(rows)[:MOST_ROWS])
    if draw:
        n_drawn = round(SHARE * len(rows))
        rows = np.sort(np.random.default_rng([draw, len(rows)]).permutation(rows)[:n_drawn])
    with notices_to(lambda text: None):
        prepared = prepare_table(source_of(table[rows]))
    number = choose_number(prepared.Z, columns=prepared.features)
    ari = {} if groups is None or draw else _ari(prepared.Z, groups[rows[prepared.rows]])
    scores = [
        "/".join(f"{v:.5g}" for v in (*_values(score), ari.get(score.k, float("nan"))))
        for score in number.scores
    ]
    return {"planted": planted, "rows": len(prepared.rows), "scores": " ".join(scores)}


def _values(score: Any) -> list[float]:
    return [getattr(score, name) for name in FIELDS[:-1]]


def _ari(Z: np.ndarray, groups: np.ndarray) -> dict[int, float]:
    """Adjusted Rand index between known groups and the clusters of k-means, by number."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score

    from pellucid.table_explainer.number_of_clusters import largest_number

    found = {}
    for k in range(2, largest_number(len(Z)) + 1):
        labels = KMeans(k, n_init=5, random_state=0).fit(Z).labels_
        found[k] = float(adjusted_rand_score(groups, labels))
    return found


def read_scores(row: Row) -> list[dict[str, float]]:
    """The scores of a row of the file."""
    scores = [dict(zip(FIELDS, map(float, text.split("/")))) for text in row["scores"].split()]
    return [{**score, "k": int(score["k"])} for score in scores]


def _chosen(row: Row) -> dict[str, float] | None:
    """The scores of the number that is chosen."""
    from pellucid.table_explainer.number_of_clusters import NumberScore, choose_from

    known = {score["k"]: score for score in read_scores(row)}
    scores = [NumberScore(**{k: v for k, v in s.items() if k != "ari"}) for s in known.values()]
    return known.get(choose_from(scores, int(row["rows"]), 10).k)


def sections(settings: Settings) -> list[Section]:
    """The requirements, on the tables that were used to choose the rule and on the others."""
    rows = read_rows(settings.output / FILE)
    if not rows:
        return []
    by_table = {name: found for (name,), found in group(rows, "table").items()}
    chosen = {name: [c for row in found if (c := _chosen(row))] for name, found in by_table.items()}
    names = [name for name in by_table if chosen[name]]
    halves = {"tuned": sorted(names)[::2], "other tables": sorted(names)[1::2], "all": names}
    measured = [_requirements(by_table, chosen, half) for half in halves.values()]
    lines = [[*line, *(m[i][1] for m in measured[1:])] for i, line in enumerate(measured[0])]
    lines = [[what, *values, bound] for (what, *values), bound in zip(lines, _BOUNDS)]
    summary = Sheet("All tables", ["what", *halves, "required"], lines, "")
    details = [
        [
            name,
            by_table[name][0]["planted"] or "",
            " ".join(str(c["k"]) for c in chosen[name]),
            f"{chosen[name][0]['silhouette']:.2f}",
            f"{chosen[name][0]['agreement']:.1%}",
            "" if np.isnan(ari := chosen[name][0]["ari"]) else f"{ari:.2f}",
        ]
        for name in names
    ]
    headings = ["table", "planted", "k: all rows, five draws", "silhouette", "agreement", "ARI"]
    note = (
        "ARI: adjusted Rand index between the clusters of k-means and the known groups. Agreement: "
        "that of a tree with a leaf per cluster and effort fast, on the sample."
    )
    table = Sheet("Chosen number of clusters", headings, details, note)
    return [Section("Number of clusters", "", [summary, table])]


_BOUNDS = ("80 %", "95 %", "", "", "85 %", "at most 40 %", "at least 0.36", "")


def _requirements(
    by_table: dict[str, list[Row]], chosen: dict[str, list[dict]], names: list[str]
) -> list[tuple[str, str]]:
    planted = {n: int(by_table[n][0]["planted"]) for n in names if by_table[n][0]["planted"]}
    found = {
        name: k
        for name, k in planted.items()
        if any(s["k"] == k and s["ari"] >= RECOVERED for s in read_scores(by_table[name][0]))
    }
    far = {n: abs(chosen[n][0]["k"] - k) for n, k in planted.items()}
    real = [n for n in names if n not in planted]
    known = [chosen[n][0]["ari"] for n in real if not np.isnan(chosen[n][0]["ari"])]
    agree = [chosen[n][0]["agreement"] >= 0.9 for n in names]
    drawn = [chosen[n][1:] for n in names if len(chosen[n]) > N_DRAWS]
    same = [len({c["k"] for c in each}) == 1 for each in drawn]
    return [
        ("planted k, if k-means with k finds the groups", _share([far[n] == 0 for n in found])),
        ("the same, within one", _share([far[n] <= 1 for n in found])),
        ("planted k, of all generated tables", _share([d == 0 for d in far.values()])),
        ("the same, within one", _share([d <= 1 for d in far.values()])),
        ("k the same for five draws of 95 % of the rows", _share(same)),
        ("k = 3, of real tables", _share([chosen[n][0]["k"] == 3 for n in real])),
        ("mean ARI to known groups", f"{np.mean(known):.3f} of {len(known)}" if known else ""),
        ("agreement of a tree with a leaf per cluster at least 90 %", _share(agree)),
    ]


def _share(values: list[bool]) -> str:
    return f"{np.mean(values):.1%} of {len(values)}" if values else ""
