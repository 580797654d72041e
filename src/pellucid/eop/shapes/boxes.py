"""Boxes: an interval in each column."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from pellucid.eop.shapes.base import Rows, ShapeFinder
from pellucid.eop.shapes.regions import Regions
from pellucid.explanation.conditions import format_number
from pellucid.tree.rounding import choose_threshold

_BINS = 64
_SEEDS = 8
_SEED_ROWS = 20


class Boxes(Regions):
    """Boxes, ``lower < x <= upper`` in every column.

    Attributes
    ----------
    lower, upper : ndarray of shape (n_boxes, dim)
        Ends. An end beyond which there was no training row is infinite.
    """

    kind = "box"

    def __init__(self, lower: np.ndarray, upper: np.ndarray) -> None:
        self.lower, self.upper = np.atleast_2d(lower), np.atleast_2d(upper)
        self.dim = self.lower.shape[1]

    def __len__(self) -> int:
        return len(self.lower)

    def which(self, P: np.ndarray) -> np.ndarray:
        """See `Regions.which`."""
        found = np.full(len(P), -1, dtype=np.int64)
        for number in range(len(self) - 1, -1, -1):
            found[((self.lower[number] < P) & (self.upper[number] >= P)).all(axis=1)] = number
        return found

    def first(self, k: int) -> Boxes:
        """See `Regions.first`."""
        return Boxes(self.lower[:k], self.upper[:k])

    def describe(self, names: Sequence[str]) -> list[str]:
        """See `Regions.describe`."""
        return [describe_box(*ends, names) for ends in zip(self.lower, self.upper)]

    @property
    def costs(self) -> np.ndarray:
        """Columns that are looked at."""
        return (np.isfinite(self.lower) | np.isfinite(self.upper)).sum(axis=1).astype(float)


EVERYWHERE = "everywhere"
"""A box without ends in words."""


def describe_interval(low: float, high: float, name: str) -> str:
    """An interval in words; empty when it has no end."""
    if np.isinf(low):
        return "" if np.isinf(high) else f"{name} ≤ {format_number(high)}"
    if np.isinf(high):
        return f"{name} > {format_number(low)}"
    return f"{format_number(low)} < {name} ≤ {format_number(high)}"


def describe_box(lower: np.ndarray, upper: np.ndarray, names: Sequence[str]) -> str:
    """A box in words.

    Examples
    --------
    >>> from pellucid.eop.shapes.boxes import describe_box
    >>> describe_box([13.5, 0.4], [25.0, 1.3], ["x1", "x7"])
    '13.5 < x1 ≤ 25 and 0.4 < x7 ≤ 1.3'
    """
    parts = [describe_interval(*ends) for ends in zip(lower, upper, names)]
    return " and ".join(filter(None, parts)) or EVERYWHERE


class BoxFinder(ShapeFinder):
    """Boxes of the largest surplus.

    In one or two columns the best box on a grid of 64 quantiles a column is found exactly, in
    more columns it is grown from the best boxes of pairs of them and from rows drawn at random;
    then its ends move, one column at a time, to the best values there are.
    """

    def _grow(self, rows, gains, random):
        from pellucid.eop.kernels.boxes import improve_box

        columns, orders = _sorted_columns(rows.P)
        best, best_value = None, 0
        for lower, upper in self._starts(columns, rows, gains, random):
            value = improve_box(columns, orders, gains, lower, upper)
            if value > best_value:
                best, best_value = (lower, upper), value
        return None if best is None else _closed(*best, rows.P)

    def _starts(self, columns: np.ndarray, rows: Rows, gains: np.ndarray, random):
        """Boxes to begin with, as ends that belong to them."""
        from pellucid.eop.kernels.boxes import best_grid_box

        dim = len(columns)
        low, high = columns.min(axis=1), columns.max(axis=1)
        if dim == 1:
            yield low, high
            return
        edges = [_edges(column) for column in columns]
        codes = np.stack([np.searchsorted(e, c) for e, c in zip(edges, columns)])
        for pair in map(list, combinations(range(dim), 2)):
            found = best_grid_box(codes[pair], gains, max(len(edges[a]) for a in pair))
            if not found[4]:
                continue
            lower, upper = low.copy(), high.copy()
            for a, (first, last) in zip(pair, found[:4].reshape(2, 2)):
                lower[a] = edges[a][first - 1] if first else low[a]
                if first:
                    lower[a] = np.nextafter(lower[a], np.inf)
                upper[a] = edges[a][last]
            yield lower, upper
        if dim > 2:
            yield from self._seeds(rows, gains, random)

    def _seeds(self, rows: Rows, gains: np.ndarray, random):
        """Boxes around rows drawn at random that are right and not yet covered."""
        candidates = np.flatnonzero(gains > 0)
        for seed in random.permutation(candidates)[:_SEEDS]:
            distance = (((rows.P - rows.P[seed]) / rows.scale) ** 2).sum(axis=1)
            near = rows.P[np.argsort(distance, kind="stable")[:_SEED_ROWS]]
            yield near.min(axis=0), near.max(axis=0)

    def _fit(self, region, rows, gains):
        from pellucid.eop.kernels.boxes import improve_box

        inside = region.contains(rows.P)
        if not inside.any():
            return region
        lower, upper = rows.P[inside].min(axis=0), rows.P[inside].max(axis=0)
        columns, orders = _sorted_columns(rows.P)
        improve_box(columns, orders, gains, lower, upper)
        return _closed(lower, upper, rows.P)

    def _median_form(self, regions):
        """Ends in the middle of all."""
        ends = [np.stack([getattr(r, side)[0] for r in regions]) for side in ("lower", "upper")]
        return Boxes(*(np.sort(e, axis=0)[len(e) // 2] for e in ends))

    def _join(self, regions, dim):
        if not regions:
            return Boxes(np.empty((0, dim)), np.empty((0, dim)))
        return Boxes(
            *(np.concatenate([getattr(r, s) for r in regions]) for s in ("lower", "upper"))
        )

    def _finish(self, region, rows):
        return round_box(region, rows.P)


def round_box(box: Boxes, P: np.ndarray) -> Boxes:
    """The box with ends of the fewest digits that leave the same rows of `P` inside.

    An end that has no row beyond it, of those that the other columns let in, is dropped.
    """
    lower, upper = box.lower[0].copy(), box.upper[0].copy()
    for a in range(box.dim):
        is_in = (lower < P) & (upper >= P)
        is_in[:, a] = True
        x = P[is_in.all(axis=1), a]
        inside = x[(x > lower[a]) & (x <= upper[a])]
        if not len(inside):
            return box
        below, above = x[x <= lower[a]], x[x > upper[a]]
        first, last = float(inside.min()), float(inside.max())
        lower[a] = choose_threshold(float(below.max()), first, "round") if len(below) else -np.inf
        upper[a] = choose_threshold(last, float(above.min()), "round") if len(above) else np.inf
    return Boxes(lower, upper)


def _closed(lower: np.ndarray, upper: np.ndarray, P: np.ndarray) -> Boxes:
    """A box whose lower ends belong to it, as one whose lower ends do not."""
    return Boxes(np.nextafter(lower, -np.inf), upper)


def _sorted_columns(P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    columns = np.ascontiguousarray(P.T)
    return columns, np.argsort(columns, axis=1)


def _edges(column: np.ndarray) -> np.ndarray:
    """Upper ends of bins with about as many different values each."""
    values = np.unique(column)
    n_bins = min(_BINS, len(values))
    return values[np.arange(1, n_bins + 1) * len(values) // n_bins - 1]
