"""Rows that are far from all others, and totals of other rows.

k-means would give such rows a cluster of their own, because each contributes much to the cost.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

import numpy as np
import polars as pl
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from pellucid.table_explainer import tuning

_SEED = 0


def smallest_size(n_rows: int) -> int:
    """Number of rows that a cluster needs."""
    return max(2, int(np.ceil(tuning.SMALLEST_CLUSTER * n_rows)))


def sampled_rows(n_rows: int, size: int) -> np.ndarray:
    """Positions of at most `size` rows, drawn at random, in order."""
    if n_rows <= size:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(_SEED).choice(n_rows, size, replace=False))


_TOTAL = re.compile(
    r".*\b(?:sub)?(?:totals?|sum)\b.*|.*(?:summe|gesamt|insgesamt).*|all(?: \w+)?|overall"
    r"|averages?|mean|durchschnitt|mittelwert"
)


def find_totals(table: pl.DataFrame) -> np.ndarray:
    """Rows that are totals of others. A row that is called a total has a number that is the sum or
    the mean of the other rows, or of those since the last total. Of any other one, at least two and
    half of the numbers are sums of all other rows.
    """
    numbers = [column.cast(pl.Float64) for column in table if column.dtype.is_numeric()]
    if table.height < tuning.FEWEST_ROWS or not numbers:
        return np.empty(0, dtype=np.intp)
    values = np.nan_to_num([column.fill_null(np.nan).to_numpy() for column in numbers])
    # The sum of very few numbers can be equal by chance.
    values = values[(values != 0).sum(axis=1) > tuning.FEWEST_VALUES]
    labelled = np.zeros(table.height, dtype=bool)
    for column in table:
        if column.dtype == pl.String:
            different = column.unique().drop_nulls().to_list()
            totals = [text for text in different if _TOTAL.fullmatch(text.strip().lower())]
            labelled |= column.is_in(totals).fill_null(False).to_numpy()
    few = max(1, tuning.MOST_OUTLIERS * table.height)
    rows = [_labelled_totals(values, np.flatnonzero(labelled))] if labelled.sum() <= few else []
    found = np.unique(np.concatenate([*rows, np.flatnonzero(_are_sums(values))])).astype(np.intp)
    return found if len(found) <= few else np.empty(0, dtype=np.intp)


def _labelled_totals(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The labelled rows with a number that is the sum or the mean of those of other rows."""
    parts = np.delete(values, rows, axis=1)
    last, found = -1, []
    for row in rows.tolist():
        candidates = [parts.sum(axis=1), parts.mean(axis=1), values[:, last + 1 : row].sum(axis=1)]
        value, last = values[:, row], row
        close = [np.abs(value - each) <= tuning.TOTAL_ERROR * np.abs(each) for each in candidates]
        if (np.any(close, axis=0) & (value != 0)).any():
            found.append(row)
    return np.array(found, dtype=np.intp)


def _are_sums(values: np.ndarray) -> np.ndarray:
    """Rows whose numbers are the sums of those of all other rows."""
    others = values.sum(axis=1, keepdims=True) - values
    scale = np.abs(values).sum(axis=1, keepdims=True)
    n_sums = ((np.abs(values - others) <= 1e-6 * scale) & (values != 0)).sum(axis=0)
    return (n_sums >= 2) & (2 * n_sums >= len(values))


def find_extremes(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Positions of rows with a number far beyond all others in its column. The distance is compared
    with the range of all others, which does not depend on a scale.
    """
    n_rows = len(columns[0]) if columns else 0
    most = max(1, int(tuning.MOST_EXTREMES * n_rows))
    if n_rows < tuning.ROWS_PER_CLUSTER:
        return np.empty(0, dtype=np.intp)
    found = [np.empty(0, dtype=np.intp)]
    for column in columns:
        for values in (column, -column):
            top = np.unique(values[np.argpartition(values, -most - 1)[-most - 1 :]])
            for first, last in zip(top[:-1], top[1:]):
                is_beyond = values > first
                width = first - values.min()
                if is_beyond.sum() <= most and last - first > tuning.FAR_EXTREME * width > 0:
                    is_few = len(np.unique(values[~is_beyond])) <= tuning.FEWEST_VALUES
                    if not is_few or last - first > tuning.FAR_FROM_FEW * width:
                        found.append(np.flatnonzero(is_beyond))
                    break
    return np.unique(np.concatenate(found))


def find_outliers(Z: np.ndarray, n_set_apart: float = 0.0) -> np.ndarray:
    """Positions of rows that k-means with two, three or four clusters gives a cluster of less than
    2% of the rows. The search is repeated without them. `Z` has numbers only: a rare combination of
    categories is no outlier. `n_set_apart` rows are set apart already.
    """
    n_rows = len(Z)
    if n_rows < tuning.ROWS_PER_CLUSTER or not Z.shape[1]:
        return np.empty(0, dtype=np.intp)
    most = max(2, n_rows // tuning.ROWS_PER_CLUSTER)
    numbers = [k for k in tuning.OUTLIER_CLUSTERS if k <= most]
    positions, weight = _sample(Z)
    limit = max(1.0, tuning.MOST_OUTLIERS * n_rows)
    found: list[np.ndarray] = []
    while len(positions) > max(tuning.OUTLIER_CLUSTERS):
        # The sample is small: more than one thread would only add overhead.
        with threadpool_limits(1):
            is_small = _in_small_cluster(Z[positions], weight, smallest_size(n_rows), numbers)
        n_set_apart += weight[is_small].sum()
        if not is_small.any() or n_set_apart > limit:
            break
        found.append(positions[is_small])
        positions, weight = positions[~is_small], weight[~is_small]
    return np.sort(np.concatenate(found)) if found else np.empty(0, dtype=np.intp)


def _sample(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the rows that are used, and their weights."""
    n_rows, size = len(Z), tuning.OUTLIER_SAMPLE
    if n_rows <= size:
        return np.arange(n_rows), np.ones(n_rows)
    distance = ((Z - Z.mean(axis=0)) ** 2).sum(axis=1)
    order = np.argsort(-distance, kind="stable")
    n_far = size // 2
    far, others = order[:n_far], order[n_far:]
    drawn = np.random.default_rng(_SEED).choice(others, size - n_far, replace=False)
    positions = np.sort(np.concatenate([far, drawn]))
    return positions, np.where(np.isin(positions, far), 1.0, len(others) / len(drawn))


def _in_small_cluster(
    Z: np.ndarray, weight: np.ndarray, smallest: int, numbers: Sequence[int]
) -> np.ndarray:
    for k in numbers:
        kmeans = KMeans(k, n_init=tuning.OUTLIER_STARTS, random_state=_SEED)
        # There may be fewer different rows than clusters.
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            labels = kmeans.fit(Z, sample_weight=weight).labels_
        sizes = np.bincount(labels, weights=weight, minlength=k)
        is_small = (sizes > 0) & (sizes < smallest)
        if is_small.any():
            return is_small[labels]
    return np.zeros(len(Z), dtype=bool)
