"""Figure 10: at which level the rows of each injected pattern are answered."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.eop import sets
from benchmarks.jobs import Job
from benchmarks.page import Picture, Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Row, Store, group, read_rows

FILE = "eop_patterns.csv"
PICTURE = "eop_patterns.png"
DATA = 2
"""Number of the generated set."""

SHOWN = 8
"""Levels with a column of their own."""


def jobs(settings: Settings) -> list[Job]:
    """One set."""
    store = Store(
        settings.output / FILE,
        ("dataset",),
        ("pattern", "features", "label", "level", "level_features", "rows"),
    )
    key = {"dataset": sets.generated_name(DATA)}
    return [Job(store, key, lambda: _measure(settings.quick))]


def _measure(quick: bool) -> list[dict]:
    """For each pattern (-1: the background) and level (-1: none), how many rows are answered."""
    from pellucid import EOPClassifier

    X, y, pattern, patterns = sets.generate(DATA, quick)
    model = EOPClassifier(max_error=0.1, random_state=0, n_jobs=2).fit(X, y)
    level = model.apply(X)[:, 0]
    found = []
    for number in range(-1, len(patterns)):
        known = patterns[number] if number >= 0 else None
        for at in [*range(len(model.levels_)), -1]:
            columns = model.levels_[at].features if at >= 0 else ()
            found.append(
                {
                    "pattern": number,
                    "features": _text(known.features) if known else "",
                    "label": known.label if known else "",
                    "level": at,
                    "level_features": _text(columns),
                    "rows": int(np.sum((pattern == number) & (level == at))),
                }
            )
    return found


def _text(columns) -> str:
    return " ".join(map(str, columns))


def sections(settings: Settings) -> list[Section]:
    """The table as a picture and as figures."""
    rows = read_rows(settings.output / FILE)
    if not rows:
        return []
    names, columns, table = _table(rows)
    _draw(names, columns, table, settings.output / PICTURE)
    caption = (
        "Rows of each injected pattern, by the level that answers them: the darker, the larger the "
        "share of the pattern. Below each level the columns that it looks at."
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


def n_projections_found(rows: list[Row], n_levels: int) -> tuple[int, int]:
    """How many of the first levels look at columns of one pattern only, and how many there are."""
    patterns = {frozenset(row["features"].split()) for row in rows if int(row["pattern"]) >= 0}
    levels = {int(row["level"]): set(row["level_features"].split()) for row in rows}
    first = [levels[at] for at in sorted(levels) if 0 <= at < n_levels]
    return sum(any(seen <= columns for columns in patterns) for seen in first), len(first)


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
