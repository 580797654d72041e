"""Defects that are planted into tables: the clusters must not change, and no rule may use them.

Every design adds columns, rows or values to a table. The table is explained with and without them,
with the defaults.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

FEWEST_ROWS, MOST_ROWS, FEWEST_NUMBERS = 100, 3000, 3
"""Tables into which defects are planted."""


@dataclass
class Planted:
    """A table with a defect: columns that no rule may use, and the added rows."""

    table: pl.DataFrame
    columns: list[str] = field(default_factory=list)
    n_added: int = 0


Base = tuple[pl.DataFrame, list[str], np.ndarray]
"""A table, its clustered numbers, and the clusters of its rows."""


def copies(base: Base, draw: np.random.Generator) -> Planted:
    """A column in another unit, the logarithm of one, and a rounded difference."""
    table, numbers, _ = base
    first, second, third = (table[name].cast(pl.Float64) for name in draw.permutation(numbers)[:3])
    low = second.min() or 0.0
    added = [
        (first * 2.54 + 1).alias("in other units"),
        (second - low + 1).log().alias("its logarithm"),
        (100 - third).alias("the rest"),
    ]
    return Planted(table.with_columns(added), [column.name for column in added])


def sums(base: Base, draw: np.random.Generator) -> Planted:
    """The sum of two columns of about the same spread, and their mean."""
    table, numbers, _ = base
    spread = {name: float(table[name].cast(pl.Float64).std() or 0) for name in numbers}
    ordered = sorted(numbers, key=spread.__getitem__)
    start = int(draw.integers(len(ordered) - 1))
    one, two = (table[name].cast(pl.Float64) for name in ordered[start : start + 2])
    added = [(one + two).alias("a and b together"), ((one + two) / 2).alias("a and b on average")]
    return Planted(table.with_columns(added), [column.name for column in added])


def sentinels(base: Base, draw: np.random.Generator) -> Planted:
    """-999 and 99999 in 2% of the values of two columns."""
    table, numbers, _ = base
    chosen = draw.permutation(numbers)[:2]
    changed = []
    for name, value in zip(chosen, (-999, 99999)):
        rows = np.sort(draw.choice(table.height, max(3, table.height // 50), replace=False))
        changed.append(table[name].cast(pl.Float64).scatter(rows, float(value)))
    return Planted(table.with_columns(changed))


def totals(base: Base, draw: np.random.Generator) -> Planted:
    """A last row with the label Total and the sums of all numbers."""
    table, _, _ = base
    named = table.with_columns(place=pl.Series([f"place {i}" for i in range(table.height)]))
    last = [named[name].sum() if named[name].dtype.is_numeric() else None for name in named.columns]
    row = pl.DataFrame([last], schema=named.schema, orient="row", strict=False)
    row = row.with_columns(place=pl.lit("Total"))
    return Planted(pl.concat([named, row]), ["place"], 1)


def dates(base: Base, draw: np.random.Generator) -> Planted:
    """A date in three years, and its month, weekday and hour."""
    table, _, _ = base
    days = pl.Series("order date", draw.integers(18000, 19000, table.height)).cast(pl.Date)
    added = [
        days,
        days.dt.month().alias("order month"),
        days.dt.weekday().alias("weekday"),
        pl.Series("hour", draw.integers(0, 24, table.height)),
    ]
    return Planted(table.with_columns(added), [column.name for column in added])


def results(base: Base, draw: np.random.Generator) -> Planted:
    """Results that the clusters nearly determine: churn, and a class by number."""
    table, _, labels = base
    other = draw.integers(0, labels.max() + 1, table.height)
    known = np.where(draw.random(table.height) < 0.05, other, labels)
    added = [
        pl.Series("churn", np.where(known == 0, "yes", "no")),
        pl.Series("target", known),
    ]
    return Planted(table.with_columns(added), [column.name for column in added])


def groups(base: Base, draw: np.random.Generator) -> Planted:
    """The clusters themselves as numbers, under a name without a meaning."""
    table, _, labels = base
    return Planted(table.with_columns(pl.Series("x14", labels)), ["x14"])


def codes(base: Base, draw: np.random.Generator) -> Planted:
    """IDs and codes under several names."""
    table, _, _ = base
    n = table.height
    added = [
        pl.Series("customer_id", draw.integers(100, 100 + n // 3, n)),
        pl.Series("unitid", draw.permutation(n) * 7 + 100_654),
        pl.Series("site", draw.integers(1, 8, n)),
        pl.Series("zip", draw.integers(10_000, 99_999, n)),
        pl.Series("housetype", draw.integers(1, 42, n)),
    ]
    return Planted(table.with_columns(added), [column.name for column in added])


def outliers(base: Base, draw: np.random.Generator) -> Planted:
    """Rows with a number a hundred times as large as the largest one."""
    table, numbers, _ = base
    name = str(draw.choice(numbers))
    row = table[[int(draw.integers(table.height))]]
    top = 100 * (table[name].cast(pl.Float64).abs().max() or 1.0)
    row = row.with_columns(pl.Series(name, [top]).cast(table[name].dtype))
    return Planted(pl.concat([table, row]), [], 1)


def spellings(base: Base, draw: np.random.Generator) -> Planted | None:
    """Other spellings of the categories of a text column in a tenth of the rows."""
    table, _, _ = base
    texts = [c for c in table if c.dtype == pl.String and 2 <= c.drop_nulls().n_unique() <= 10]
    if not texts:
        return None
    column = texts[int(draw.integers(len(texts)))]
    changed = draw.random(table.height) < 0.1
    values = [
        value if value is None or not other else f"{value.swapcase()} "
        for value, other in zip(column.to_list(), changed)
    ]
    return Planted(table.with_columns(pl.Series(column.name, values)))


DESIGNS: dict[str, Callable[[Base, np.random.Generator], Planted | None]] = {
    each.__name__: each
    for each in (
        *(copies, sums, sentinels, totals, dates),
        *(results, groups, codes, outliers, spellings),
    )
}


def explained(table: pl.DataFrame) -> Any:
    """The explanation of a table that was written to a file."""
    import pellucid

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        table.write_csv(path)
        return pellucid.explain(path, effort="fast", verbose=False)


def base_of(table: pl.DataFrame, excluded: list[str]) -> tuple[Base, Any] | None:
    """A table with its clusters, if defects can be planted into it."""
    table = table.drop(excluded)
    if not FEWEST_ROWS <= table.height <= MOST_ROWS:
        return None
    found = explained(table)
    prepared = found.fitted.prepared
    numbers = [
        name
        for name in prepared.roles.numbers
        if table[name].dtype.is_numeric() and table[name].null_count() == 0
    ]
    if len(numbers) < FEWEST_NUMBERS:
        return None
    labels = np.asarray(found.labels)
    labels = np.where(labels < 0, 0, labels)
    return (table, numbers, labels), found


def measured(base: Base, found: Any, design: str, seed: int = 0) -> dict[str, Any] | None:
    """How a defect changes the answer: clusters, their number, and rules on what was added."""
    from sklearn.metrics import adjusted_rand_score

    planted = DESIGNS[design](base, np.random.default_rng(seed))
    if planted is None:
        return None
    again = explained(planted.table)
    n = base[0].height
    before, after = np.asarray(found.labels), np.asarray(again.labels)[:n]
    known = (before >= 0) & (after >= 0)
    used = {
        getattr(c.name, "column", c.name)
        for r in again.rules
        for p in r.rules
        for c in p.conditions
    }
    apart = set(range(n, n + planted.n_added)) <= set(again.outliers.tolist())
    return {
        "k": len(found.rules),
        "k_planted": len(again.rules),
        "ari": round(float(adjusted_rand_score(before[known], after[known])), 4),
        "rules": len(used & set(planted.columns)),
        "apart": int(apart),
    }
