"""Columns that are functions of others, which would count twice, or unrelated to all others.

Two numbers are copies if one is nearly a linear or a monotone function of the other: wage and its
logarithm, sleep and 24 - sleep. A number is also a copy if it is the sum, the difference or the
mean of others. Two categories are copies if each value of one goes with one value of the other.
The first column of the table stays; of a sum, the parts stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy.stats import rankdata

from pellucid._utils.texts import Message
from pellucid.table_explainer import tuning
from pellucid.table_explainer.meanings import words_of
from pellucid.table_explainer.outliers import sampled_rows
from pellucid.tables.column_formats import format_number

_TOTALS = {"total", "tot", "sum", "all", "overall", "gesamt", "summe", "mean", "average", "avg"}


def find_copies(
    numbers: pl.DataFrame,
    categories: pl.DataFrame,
    *,
    dates: Sequence[str] = (),
    requested: Sequence[str] = (),
) -> dict[str, Message]:
    """The columns that repeat others, and what each of them is. Columns that were `requested` and
    `dates` stay; only a linear function of a date is a copy of it.
    """
    found: dict[str, Message] = {}
    rows = sampled_rows(numbers.height, tuning.COPY_ROWS)
    if len(rows) >= tuning.FEWEST_ROWS:
        data = {column.name: column.to_numpy()[rows] for column in numbers}
        found = _functions(data, set(dates), {*dates, *requested})
        left = [name for name in data if name not in found and name not in dates]
        found |= _sums({name: data[name] for name in left}, set(requested))
    if categories.height >= tuning.FEWEST_ROWS:
        found |= _same_categories(categories)
    return found


def find_unrelated(table: pl.DataFrame, categories: Sequence[str]) -> list[str]:
    """The columns that have almost nothing to do with any other one; some numbers are left.

    Such a column only adds distance between the rows of a cluster. Columns are compared by Cramér's
    V, 0 for independent ones, numbers by eighths of the rows. What chance adds to V² is deducted.
    """
    rows = sampled_rows(table.height, tuning.RELATED_ROWS[1])
    if len(rows) < tuning.RELATED_ROWS[0] or not 2 < table.width <= tuning.MOST_SUM_COLUMNS:
        return []
    groups = [_groups(column, column.name in categories) for column in table[rows]]
    sizes = np.array([each.shape[1] for each in groups])
    member, start = np.hstack(groups), np.cumsum(sizes) - sizes
    expected = np.outer(member.sum(axis=0), member.sum(axis=0)) / len(rows)
    squares = (member.T @ member - expected) ** 2 / expected
    chi = np.add.reduceat(np.add.reduceat(squares, start, axis=0), start, axis=1)
    related = (chi - np.outer(sizes - 1, sizes - 1)) / len(rows)
    related /= np.maximum(np.minimum.outer(sizes, sizes) - 1, 1)
    np.fill_diagonal(related, 0)
    is_far = related.max(axis=0) < tuning.UNRELATED**2
    left = {name for name, far in zip(table.columns, is_far) if not far}
    is_enough = related.max() >= tuning.RELATED**2 and left - set(categories)
    return [name for name in table.columns if is_enough and name not in left]


def _groups(column: pl.Series, is_category: bool) -> np.ndarray:
    """One indicator per category, or per eighth of the rows by a number."""
    ranks = column.rank("dense").fill_null(0).to_numpy()
    group = ranks if is_category else (8 * (rankdata(ranks) - 0.5)) // len(ranks)
    return (group[:, None] == np.unique(group)).astype(np.float64)


def _functions(data: dict[str, np.ndarray], dates: set[str], first: set[str]) -> dict[str, Message]:
    """Linear and monotone functions of one column."""
    lower = {name.lower() for name in data}
    names = sorted(data, key=lambda name: (name not in first, _is_transformed(name, lower)))
    names = [name for name in names if data[name].std() > 0]
    if len(names) < 2:
        return {}
    linear = _correlations([data[name] for name in names])
    ranks = _correlations([rankdata(data[name]) for name in names])
    found: dict[str, Message] = {}
    near: list[str] = []
    for is_exact in (True, False):
        kept: list[int] = []
        for j, name in enumerate(names):
            if name in found:
                continue
            for i in kept if name not in first else ():
                if _is_copy(linear[i, j], ranks[i, j], names[i] in dates, is_exact=is_exact):
                    x, y = data[names[i]], data[name]
                    if not _is_function(x, y):
                        continue
                    is_linear = abs(linear[i, j]) >= tuning.LINEAR_COPY
                    is_named = is_linear or _is_transformed(name, lower)
                    if not is_named and _are_trends(x, y) and not _is_smooth(x, y):
                        continue
                    found[name] = _relation(names[i], x, y, linear[i, j])
                    near += [] if is_exact else [name]
                    break
            else:
                kept.append(j)
    if len(near) > max(1, tuning.MOST_NEAR_COPIES * len(names)):
        return {name: why for name, why in found.items() if name not in near}
    return found


def _is_transformed(name: str, others: set[str]) -> bool:
    """Whether a name is that of a function of another column, such as logwage or age_sq."""
    name = name.lower()
    before = re.sub(r"^(?:log|ln|l|sqrt|sq|norm|scaled|z|std)(?:\d+)?[ _.]?", "", name)
    after = re.sub(r"[ _.]?(?:log|ln|sq|squared|\^?2|norm|scaled|std|z)$", "", name)
    return {before, after} - {name} <= others and (before, after) != (name, name)


def _is_copy(linear: float, ranks: float, is_date: bool, *, is_exact: bool) -> bool:
    linear, ranks = abs(linear), abs(ranks)
    if is_date:
        return linear > tuning.SAME_AS_DATE
    # Clusters that are far apart, and single large numbers, have correlations of almost 1, too.
    least = tuning.EXACT_COPY if is_exact else tuning.LINEAR_COPY
    is_linear = linear >= least and ranks >= tuning.LINEAR_COPY_RANKS
    return is_linear or ranks >= (tuning.EXACT_COPY if is_exact else tuning.MONOTONE_COPY)


def _is_function(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether two columns also go together where neither has its most frequent value: columns that
    are almost always zero have equal ranks if they are zero in the same rows.
    """
    left = (x != _mode(x)) | (y != _mode(y))
    if left.sum() > len(x) / 2:
        return True
    x, y = x[left], y[left]
    if len(x) < 2 or x.std() == 0 or y.std() == 0:
        return False
    largest = max(_correlation(x, y), _correlation(rankdata(x), rankdata(y)))
    return largest >= tuning.LINEAR_COPY_RANKS


def _are_trends(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether two columns grow from row to row, like all numbers of an economy."""
    row = np.arange(len(x), dtype=float)
    return min(_correlation(row, rankdata(each)) for each in (x, y)) >= tuning.TREND


def _is_smooth(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether y is a function of x also between the values of x. Numbers that only grow from row to
    row have equal ranks, but y is not on the line between its neighbours.
    """
    different, rows = np.unique(x, return_index=True)
    if len(different) <= len(x) / 2:
        pairs = np.unique(np.column_stack([x, y]), axis=0)
        return len(pairs) == len(different) == len(np.unique(y))
    known = y[rows]
    width, height = different[2:] - different[:-2], known[2:] - known[:-2]
    line = known[:-2] + height * (different[1:-1] - different[:-2]) / width
    return bool((np.abs(known[1:-1] - line) < tuning.SMOOTH * np.abs(height)).mean() > 0.5)


def _mode(values: np.ndarray) -> float:
    different, counts = np.unique(values, return_counts=True)
    return float(different[counts.argmax()])


def _correlations(columns: list[np.ndarray]) -> np.ndarray:
    Z = np.array([(column - column.mean()) / column.std() for column in columns])
    return Z @ Z.T / Z.shape[1]


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    return abs(float(_correlations([x, y])[0, 1]))


def _relation(name: str, x: np.ndarray, y: np.ndarray, correlation: float) -> Message:
    """What y is in terms of the column `name`."""
    is_exact = abs(correlation) >= tuning.EXACT_COPY
    ranks = _correlation(rankdata(x), rankdata(y))
    if not is_exact and ranks > abs(correlation):
        is_exact = ranks >= tuning.EXACT_COPY
        return Message("monotoneCopy" if is_exact else "nearlyMonotone", column=name)
    slope = float(correlation * y.std() / x.std())
    offset = float(y.mean() - slope * x.mean())
    has_offset = abs(offset) >= 0.01 * y.std()
    factor = _short(abs(slope))
    term = name if factor == "1" else f"{factor} × {name}"
    sign = ("− " if slope < 0 else "+ ") if has_offset else ("−" if slope < 0 else "")
    formula = f"{_short(offset)} {sign}{term}" if has_offset else f"{sign}{term}"
    return Message("linearCopy" if is_exact else "nearlyLinear", formula=formula)


def _short(value: float) -> str:
    nearest = round(value)
    if nearest and abs(value - nearest) < 0.002 * abs(nearest):
        return format_number(nearest)
    return f"{value:.3g}".replace("-", "−")


def _sums(
    data: dict[str, np.ndarray], first: set[str], parts: frozenset[str] = frozenset()
) -> dict[str, Message]:
    """Columns that are sums, differences or means of those before them in the table. Totals by
    their name come last, unless they are `parts` of others.
    """
    totals = {name for name in data if _TOTALS.intersection(words_of(name))} - parts
    names = sorted(data, key=lambda name: (name not in first, name in totals))
    names = [name for name in names if data[name].std() > 0][: tuning.MOST_SUM_COLUMNS]
    found: dict[str, Message] = {}
    kept: list[str] = []
    basis = np.empty((0, len(next(iter(data.values()), []))))
    for name in names:
        y = data[name] - data[name].mean()
        rest = y - (y @ basis.T) @ basis
        rest -= (rest @ basis.T) @ basis
        share = float(rest @ rest) / float(y @ y)
        message = None
        if share < tuning.SUM_RESIDUAL and len(kept) > 1 and name not in first:
            message = _sum_of(data, kept, name)
        if message is not None:
            if name in totals and "−" in message:
                return _sums(data, first, parts | {name})
            found[name] = message
            continue
        kept.append(name)
        if share > 1e-12:
            basis = np.vstack([basis, rest / np.sqrt(rest @ rest)])
    return found


def _sum_of(data: dict[str, np.ndarray], kept: list[str], name: str) -> Message | None:
    """The sum, difference or mean of columns that a column is, if its weights are as simple."""
    X = np.column_stack([data[other] for other in kept])
    y = data[name]
    scale = X.std(axis=0)
    weights = np.linalg.lstsq((X - X.mean(axis=0)) / scale, y - y.mean(), rcond=1e-10)[0]
    used = np.flatnonzero(np.abs(weights) > 0.01 * y.std())
    if not 2 <= len(used) <= tuning.MOST_PARTS:
        return None
    weights = weights[used] / scale[used]
    size = float(np.abs(weights).mean())
    is_mean = abs(size * len(used) - 1) < 0.02
    if np.abs(np.abs(weights) - size).max() > 0.02 * size or not (is_mean or abs(size - 1) < 0.02):
        return None
    signs = np.sign(weights)
    rest = y - (X[:, used] * (signs * (1 / len(used) if is_mean else 1))).sum(axis=1)
    if abs(rest.mean()) > 0.02 * y.std() or rest.std() > np.sqrt(tuning.SUM_RESIDUAL) * 2 * y.std():
        return None
    parts = [kept[i] for i in used]
    if is_mean:
        return Message("meanOf", columns=parts) if (signs > 0).all() else None
    order = sorted(range(len(parts)), key=lambda i: -signs[i])
    terms = [f"{'+' if signs[i] > 0 else '−'} {parts[i]}" for i in order]
    return Message("linearCopy", formula=" ".join(terms).removeprefix("+ "))


def _same_categories(table: pl.DataFrame) -> dict[str, Message]:
    """Categories that go with those of an earlier column one by one."""
    kept: dict[str, int] = {}
    found: dict[str, Message] = {}
    for name in table.columns:
        counts = table[name].unique_counts().to_list()
        if len(counts) < 2 or min(counts) < 2:
            continue
        n = len(counts)
        same = [o for o, m in kept.items() if m == n == table[[o, name]].n_unique()]
        if same:
            found[name] = Message("sameGroups", column=same[0])
        else:
            kept[name] = n
    return found
