"""The first answer on real tables: columns and rows used, k, cluster sizes, agreement, groups.

Every table is explained with the defaults and five random seeds. Where a table has known groups,
their column is excluded, and the clusters are compared with them. Stray values are put into every
numeric column to check that no column is lost because of them.

Defects are planted into the tables (`planted`): copies, sentinels, totals, dates, results and
others must not change the clusters, and no rule may use them.
"""

from __future__ import annotations

import csv
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import jobs
from benchmarks.jobs import Job
from benchmarks.page import Section, Sheet
from benchmarks.settings import Refused, Settings
from benchmarks.store import Row, Store, group, mean, read_rows
from benchmarks.tables import numbers
from benchmarks.tables.collection import RealTable, missing_packages, real_tables
from benchmarks.tables.planted import DESIGNS, base_of, measured

FILE = "tables.csv"
PLANTED_FILE = "tables_planted.csv"
BEFORE = "tables_before.csv"
"""The same measures of the version before the defaults were changed (0.1, commit 3d068ef)."""

KEY = ("table", "seed")
MEASURES = (
    "rows",
    "rows_dropped",
    "outliers",
    "columns",
    "columns_ignored",
    "lost_to_stray",
    "k",
    "smallest",
    "leaves",
    "agreement",
    "equal_agreement",
    "equal_cost",
    "other_agreement",
    "other_cost",
    "silhouette",
    "ari",
)
PLANTED_MEASURES = ("design", "k", "k_planted", "ari", "rules", "apart")
SAME = 0.95
"""Adjusted Rand index from which on two clusterings are the same."""

MAX_LOST = 0.01
"""Share of the rows by which the tree may keep fewer than those of other methods."""

AGREES = 0.9
"""Share of the rows in their own cluster from which on a tree explains the clusters."""

SMALLEST = 0.02
N_STRAY = 3


def measure(settings: Settings) -> None:
    """Every table and seed; with ``--only number`` the number of clusters only."""
    if settings.only == ("number",):
        return numbers.measure(settings)
    tables = {table.name: table for table in real_tables()}
    if missing := missing_packages():
        raise Refused(f"tables of {', '.join(missing)} are needed; pip install 'pellucid[tables]'")
    names = settings.choose(tables)
    if settings.quick and not settings.only:
        names = [name for name in names if name in ("iris", "wine")]
    store = Store(settings.output / FILE, KEY, MEASURES)
    seeds = range(settings.n_seeds(usual=5))
    todo = [
        Job(store, {"table": name, "seed": seed}, lambda t=tables[name], s=seed: first_answer(t, s))
        for name in names
        for seed in seeds
    ]
    jobs.work_through("tables", todo, fresh=settings.fresh)
    store = Store(settings.output / PLANTED_FILE, ("table",), PLANTED_MEASURES)
    todo = [Job(store, {"table": name}, lambda t=tables[name]: defects(t)) for name in names]
    jobs.work_through("planted defects", todo, fresh=settings.fresh)


def defects(table: RealTable) -> list[dict[str, Any]]:
    """How each planted defect changes the answer for a table; one empty row if it takes none."""
    from pellucid.tables.reading import read_source

    with tempfile.TemporaryDirectory() as folder:
        source = read_source(table.write(Path(folder)))
    base = base_of(source.table, table.excluded)
    if base is None:
        return [{}]
    answers = {design: measured(*base, design) for design in DESIGNS}
    return [{"design": name, **answer} for name, answer in answers.items() if answer is not None]


def first_answer(table: RealTable, seed: int) -> dict[str, Any]:
    """Measures of the explanation of a table with the defaults."""
    import pellucid
    from pellucid.tables.reading import read_source

    with tempfile.TemporaryDirectory() as folder:
        path = table.write(Path(folder))
        source = read_source(path)
        exclude = table.excluded or None
        found = pellucid.explain(source, exclude=exclude, random_state=seed, verbose=False)
        lost = _lost_to_stray(path, Path(folder), found) if seed == 0 else None
    prepared = found.fitted.prepared
    sizes = [rule.n_samples for rule in found.rules]
    return {
        "rows": source.table.height,
        "rows_dropped": prepared.n_incomplete,
        "outliers": len(found.outliers),
        "columns": len(prepared.roles.used),
        "columns_ignored": len(prepared.roles.ignored),
        "lost_to_stray": lost,
        "k": len(found.rules),
        "smallest": min(sizes) / len(prepared.rows),
        **_beside_others(found.fitted),
        "silhouette": found.measures["silhouette"],
        "ari": _ari(source.table[table.group], found.labels) if table.group else None,
    }


def _beside_others(fitted: Any) -> dict[str, float]:
    """Leaves and agreement of the tree; agreement and cost with a leaf per cluster, beside others.

    The others are those of IMM, ExGreedy and ExShallow from the same centers; the one that agrees
    best counts.
    """
    from pellucid import IMM, ExGreedy, ExShallow

    model, Z = fitted.model, fitted.prepared.Z
    equal = model
    if fitted.has_more_leaves:
        equal = type(model)(**{**model.get_params(deep=False), "n_leaves": None}).fit(Z)
    others = [
        kind(reference=model.reference_centers_).fit(Z) for kind in (IMM, ExGreedy, ExShallow)
    ]
    values = [
        (float(np.mean(m.labels_ == m.reference_labels_)), -m.inertia_ / m.reference_inertia_)
        for m in (equal, *others)
    ]
    (agreement, cost), (other_agreement, other_cost) = values[0], max(values[1:])
    return {
        "leaves": model.n_leaves_,
        "agreement": fitted.agreement(),
        "equal_agreement": agreement,
        "equal_cost": -cost,
        "other_agreement": other_agreement,
        "other_cost": -other_cost,
    }


def _ari(groups: Any, labels: np.ndarray) -> float:
    from sklearn.metrics import adjusted_rand_score

    known = np.array([group is not None for group in groups.to_list()])
    known &= np.array([label is not None for label in labels.tolist()])
    return float(
        adjusted_rand_score(groups.to_numpy()[known].astype(str), labels[known].astype(str))
    )


def _lost_to_stray(path: Path, folder: Path, found: Any) -> int | None:
    """Number of numeric columns that are lost if some of their values are replaced by "-"."""
    import pellucid

    if path.suffix != ".csv":
        return None
    with open(path, newline="", encoding="utf-8", errors="replace") as file:
        head, *lines = csv.reader(file)
    if len(lines) < 10 * N_STRAY:
        return None
    numbers = {n for n in found.fitted.prepared.roles.numbers if n in head}
    positions = [i for i, name in enumerate(head) if name in numbers]
    draw = random.Random(0)
    for position in positions:
        for line in draw.sample(range(len(lines)), N_STRAY):
            lines[line][position] = "-"
    dirty = folder / "stray.csv"
    with open(dirty, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *lines])
    again = pellucid.explain(dirty, k=2, outliers="keep", verbose=False)
    roles = again.fitted.prepared.roles
    with_gaps = [name for name, reason in roles.ignored.items() if reason == "gaps"]
    return len(numbers - {*roles.used, *with_gaps})


def sections(settings: Settings) -> list[Section]:
    """One line per table, and the requirements over all tables."""
    rows = read_rows(settings.output / FILE)
    if not rows:
        return numbers.sections(settings)
    before = group(read_rows(settings.output / BEFORE), "table")
    lines = []
    for (name,), found in group(rows, "table").items():
        lines.append(_line(name, found, before.get((name,), [])))
    headings = [
        "table",
        "rows (dropped, outliers)",
        "columns (ignored)",
        "k by seed",
        "leaves",
        "smallest cluster",
        "agreement",
        "ARI",
        "k before",
        "smallest before",
        "ARI before",
    ]
    note = (
        "ARI: adjusted Rand index between the clusters of the rules and the known groups. Before: "
        "the version before the defaults were changed."
    )
    table = Sheet("First answer on real tables, with the defaults", headings, lines, note)
    planted = read_rows(settings.output / PLANTED_FILE)
    sheets = [_planted(planted)] if planted else []
    first = Section("Real tables", "", [_summary(rows, before), *sheets, table])
    return [first, *numbers.sections(settings)]


def _planted(rows: list[Row]) -> Sheet:
    """One line per design, and one for all."""
    known = [row for row in rows if row["design"]]
    lines = []
    for name, found in [*group(known, "design").items(), (("all",), known)]:
        same = sum(float(row["ari"]) >= SAME for row in found)
        apart = sum(row["apart"] == "1" for row in found)
        lines.append(
            [
                name[0],
                str(len(found)),
                f"{same / len(found):.1%}",
                str(sum(int(row["rules"]) for row in found)),
                f"{apart / len(found):.1%}",
            ]
        )
    headings = ["planted", "tables", "same clusters", "columns in rules", "added rows set apart"]
    note = (
        f"Same clusters: an adjusted Rand index of at least {SAME} between the clusters with and "
        "without the defect, in the rows of the table."
    )
    return Sheet("Planted defects", headings, lines, note)


def _line(name: str, found: list[Row], before: list[Row]) -> list[str]:
    first = found[0]
    return [
        name,
        f"{int(first['rows']):,} ({first['rows_dropped']}, {first['outliers']})",
        f"{first['columns']} ({first['columns_ignored']})",
        _numbers(found),
        first["leaves"],
        f"{min(float(r['smallest']) for r in found):.1%}",
        f"{mean(found, 'agreement'):.1%}",
        _ari_text(found),
        _numbers(before),
        f"{min(float(r['smallest']) for r in before):.1%}" if before else "",
        _ari_text(before),
    ]


def _numbers(rows: list[Row]) -> str:
    numbers = [row["k"] for row in rows]
    return numbers[0] if len(set(numbers)) == 1 else " ".join(numbers)


def _ari_text(rows: list[Row]) -> str:
    known = [row for row in rows if row["ari"]]
    return f"{mean(known, 'ari'):.2f}" if known else ""


def _summary(rows: list[Row], before: dict) -> Sheet:
    by_table = group(rows, "table")
    n_tables = len(by_table)
    several = [found for found in by_table.values() if len(found) > 1]
    stable = [found for found in several if len({r["k"] for r in found}) == 1]
    two = [name for name, found in by_table.items() if found[0]["k"] == "2"]
    small = [name for name, found in by_table.items() if any(_is_small(row) for row in found)]
    lost = sum(int(row["lost_to_stray"]) for row in rows if row["lost_to_stray"])
    with_groups = [name for name, found in by_table.items() if found[0]["ari"]]
    new = np.mean([mean(by_table[name], "ari") for name in with_groups])
    known = [name for name in with_groups if name in before]
    old = np.mean([mean(before[name], "ari") for name in known]) if known else float("nan")
    kept = [row for row in rows if row.get("other_agreement")]
    as_many = [
        r for r in kept if _number(r, "equal_agreement") >= _number(r, "other_agreement") - MAX_LOST
    ]
    no_costlier = [
        r for r in kept if _number(r, "equal_cost") <= _number(r, "other_cost") * (1 + 1e-9)
    ]
    agree = [name for name, found in by_table.items() if _number(found[0], "agreement") >= AGREES]
    more = [name for name, found in by_table.items() if int(found[0]["leaves"]) > _k(found)]
    most = max((int(found[0]["leaves"]) - _k(found) for found in by_table.values()), default=0)
    lines = [
        [
            f"tables of which the tree keeps at least {AGREES:.0%} of the rows",
            f"{len(agree)} of {n_tables} ({len(agree) / n_tables:.1%})",
            "85 %",
        ],
        [
            "tables with more leaves than clusters (largest difference)",
            f"{len(more)} of {n_tables} ({most})",
            "",
        ],
        [
            "trees with a leaf per cluster that keep as many rows as the best of IMM, ExGreedy and "
            "ExShallow, up to 1 %",
            _of(as_many, kept),
            "95 %",
        ],
        ["such trees that are no costlier than that one", _of(no_costlier, kept), "all"],
        ["numeric columns lost to a stray value", str(lost), "0"],
        ["tables with the same k for all of several seeds", _of(stable, several), "90 %"],
        ["tables with a cluster below 2 % of the rows", str(len(small)), "0"],
        ["tables with k = 2", f"{len(two)} of {n_tables}", "at most a third"],
        [
            f"mean ARI to known groups, {len(with_groups)} tables",
            f"{new:.3f}",
            f"at least {old:.3f} (before)",
        ],
    ]
    return Sheet("All tables", ["what", "measured", "required"], lines, "")


def _k(found: list[Row]) -> int:
    return int(found[0]["k"])


def _of(some: Sequence[Any], rows: Sequence[Any]) -> str:
    return f"{len(some)} of {len(rows)}"


def _number(row: Row, name: str) -> float:
    return float(row[name])


def _is_small(row: Row) -> bool:
    rows = int(row["rows"]) - int(row["rows_dropped"]) - int(row["outliers"])
    return float(row["smallest"]) < SMALLEST and rows >= 50
