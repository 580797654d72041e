"""Figure 10: at which level the rows of each injected pattern are answered."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.eop import sets
from benchmarks.eop.lists import HELD_OUT, n_rows
from benchmarks.jobs import Job
from benchmarks.page import Picture, Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Row, Store, group, read_rows

FILE = "eop_patterns.csv"
PICTURE = "eop_patterns.png"
DATA = 2
"""Number of the generated set that is drawn."""

N_COLUMNS = 10
"""Columns of the generated sets."""

MIN_SUPPORT = 0.03
"""Share of all training rows that a region must cover."""

SHOWN = 8
"""Levels with a column of their own."""


def jobs(settings: Settings) -> list[Job]:
    """Every generated set."""
    store = Store(
        settings.output / FILE,
        ("dataset",),
        ("pattern", "features", "label", "level", "level_features", "rows"),
    )
    numbers = (DATA,) if settings.quick else range(sets.N_GENERATED)
    return [
        Job(
            store,
            {"dataset": sets.generated_name(number)},
            lambda number=number: _measure(number, settings.quick),
        )
        for number in numbers
    ]


def _measure(number: int, quick: bool) -> list[dict]:
    """For each pattern (-1: the background) and level (-1: none), how many rows are answered."""
    from pellucid import EOPClassifier

    X, y, pattern, patterns = sets.generate(number, quick)
    model = EOPClassifier(
        "stump",
        max_error=0.1,
        min_support=n_rows(MIN_SUPPORT, len(y)),
        calibration=HELD_OUT,
        random_state=0,
        n_jobs=2,
    ).fit(X, y)
    level = model.apply(X)[:, 0]
    found = []
    for one in range(-1, len(patterns)):
        known = patterns[one] if one >= 0 else None
        for at in [*range(len(model.levels_)), -1]:
            columns = model.levels_[at].features if at >= 0 else ()
            found.append(
                {
                    "pattern": one,
                    "features": _text(known.features) if known else "",
                    "label": known.label if known else "",
                    "level": at,
                    "level_features": _text(columns),
                    "rows": int(np.sum((pattern == one) & (level == at))),
                }
            )
    return found


def _text(columns) -> str:
    return " ".join(map(str, columns))


def sections(settings: Settings) -> list[Section]:
    """The table as a picture and as figures."""
    name = sets.generated_name(DATA)
    rows = [row for row in read_rows(settings.output / FILE) if row["dataset"] == name]
    if not rows:
        return []
    names, columns, table = _table(rows)
    _draw(names, columns, table, settings.output / PICTURE)
    caption = (
        "Rows of each injected pattern, by the level that answers them: the darker, the larger the "
        f"share of the pattern ({name}). Below each level the columns that it looks at."
    )
    lines = [[name, *map(str, line.tolist())] for name, line in zip(names, table)]
    headings = ["pattern", *(column.replace("\n", ": ") for column in columns)]
    sheet = Sheet("Figure 10", headings, lines)
    return [Section("Injected patterns: figure 10", "", [Picture(PICTURE, caption), sheet])]


def early_share(rows: list[Row], n_levels: int) -> float:
    """Share of the rows of the patterns that one of the first levels answers."""
    of_patterns = [row for row in rows if int(row["pattern"]) >= 0]
    early = [row for row in of_patterns if 0 <= int(row["level"]) < n_levels]
    return _sum(early) / _sum(of_patterns)


def n_projections_found(rows: list[Row], n_levels: int) -> tuple[int, int, float]:
    """How many of the first levels look at columns of one pattern only.

    Returns
    -------
    n_found, n_levels : int
        Over all sets.
    chance : float
        What share of the pairs of columns are columns of one pattern.
    """
    n_found, n_seen, chances = 0, 0, []
    for found in group(rows, "dataset").values():
        columns = {frozenset(r["features"].split()) for r in found if int(r["pattern"]) >= 0}
        levels = {int(row["level"]): set(row["level_features"].split()) for row in found}
        first = [levels[at] for at in sorted(levels) if 0 <= at < n_levels]
        n_found += sum(any(seen <= known for known in columns) for seen in first)
        n_seen += len(first)
        pairs = [set(pair) for pair in combinations(map(str, range(N_COLUMNS)), 2)]
        chances.append(np.mean([any(pair <= known for known in columns) for pair in pairs]))
    return n_found, n_seen, float(np.mean(chances))


def _table(rows: list[Row]) -> tuple[list[str], list[str], np.ndarray]:
    levels = {int(row["level"]): row["level_features"] for row in rows}
    n_levels = max(levels) + 1
    columns = [f"level {at + 1}\n{_columns(levels[at])}" for at in range(min(n_levels, SHOWN))]
    columns += ["later\nlevels"] * (n_levels > SHOWN) + ["no\nlevel"]
    names, lines = [], []
    ordered = sorted(group(rows, "pattern").items(), key=lambda item: int(item[0][0]) % 1000)
    for (number,), found in ordered:
        is_pattern = int(number) >= 0
        label = f" → {found[0]['label']}" if is_pattern else ""
        names.append(f"{_columns(found[0]['features'])}{label}" if is_pattern else "background")
        counts = {int(row["level"]): int(row["rows"]) for row in found}
        line = [counts[at] for at in range(min(n_levels, SHOWN))]
        line += [sum(counts[at] for at in range(SHOWN, n_levels))] * (n_levels > SHOWN)
        lines.append([*line, counts[-1]])
    return names, columns, np.array(lines)


def _columns(text: str) -> str:
    return ", ".join(f"x{number}" for number in text.split())


def _sum(rows: list[Row]) -> int:
    return sum(int(row["rows"]) for row in rows)


def _draw(names: list[str], columns: list[str], table: np.ndarray, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    figure, axes = plt.subplots(figsize=(1.0 + 0.75 * len(columns), 0.8 + 0.36 * len(names)))
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (i, j), count in np.ndenumerate(table):
        color = "white" if shares[i, j] > 0.5 else "black"
        axes.text(j, i, str(count), ha="center", va="center", fontsize=8, color=color)
    axes.set_xticks(range(len(columns)), columns, fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)
