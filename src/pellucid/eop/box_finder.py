"""The search for boxes: one interval per column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from pellucid.eop.finders import Rows, ShapeFinder
from pellucid.regions.shapes import Boxes
from pellucid.tree.rounding import choose_threshold

_BINS = 64
"""Bins per column of the grid on which boxes are searched."""

_SEEDS = 8
_SEED_NEIGHBORS = 20
"""Rows nearest to a seed whose bounding box is a start box."""


class BoxFinder(ShapeFinder):
    """Find boxes with a large surplus.

    With two columns, the search starts from the best box on a grid of 64 quantiles per column,
    which is found exactly. With more columns, it starts from the best grid box of each pair of
    columns and from boxes around random rows. The ends are then optimized, one column at a time,
    over all values. With one column, this optimization alone is exact.
    """

    def grow(self, rows: Rows, gains: np.ndarray, random: np.random.RandomState) -> Boxes | None:
        from pellucid.eop.kernels import improve_box

        columns, orders = _sorted_columns(rows.P)
        best, best_value = None, 0
        for lower, upper in self._starts(columns, rows, gains, random):
            value = improve_box(columns, orders, gains, lower, upper)
            if value > best_value:
                best, best_value = (lower, upper), value
        return None if best is None else _open_below(*best)

    def _starts(
        self,
        columns: np.ndarray,
        rows: Rows,
        gains: np.ndarray,
        random: np.random.RandomState,
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Start boxes, with lower ≤ x ≤ upper."""
        from pellucid.eop.kernels import best_grid_box

        dim = len(columns)
        low, high = columns.min(axis=1), columns.max(axis=1)
        if dim == 1:
            yield low, high
            return
        edges = [_edges(column) for column in columns]
        codes = np.stack([np.searchsorted(e, c) for e, c in zip(edges, columns)])
        for pair in map(list, combinations(range(dim), 2)):
            grid_box = best_grid_box(codes[pair], gains, max(len(edges[a]) for a in pair))
            bins, surplus = grid_box[:4].reshape(2, 2), grid_box[4]
            if not surplus:
                continue
            lower, upper = low.copy(), high.copy()
            for a, (first, last) in zip(pair, bins):
                lower[a] = edges[a][first - 1] if first else low[a]
                if first:
                    lower[a] = np.nextafter(lower[a], np.inf)
                upper[a] = edges[a][last]
            yield lower, upper
        if dim > 2:
            yield from self._seeds(rows, gains, random)

    def _seeds(
        self, rows: Rows, gains: np.ndarray, random: np.random.RandomState
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Boxes around random rows that are correctly classified and not yet covered."""
        candidates = np.flatnonzero(gains > 0)
        for seed in random.permutation(candidates)[:_SEEDS]:
            distance = (((rows.P - rows.P[seed]) / rows.scale) ** 2).sum(axis=1)
            neighbors = rows.P[np.argsort(distance, kind="stable")[:_SEED_NEIGHBORS]]
            yield neighbors.min(axis=0), neighbors.max(axis=0)

    def fit(self, region: Any, rows: Rows, gains: np.ndarray) -> Boxes:
        from pellucid.eop.kernels import improve_box

        inside = region.contains(rows.P)
        if not inside.any():
            return region
        lower, upper = rows.P[inside].min(axis=0), rows.P[inside].max(axis=0)
        columns, orders = _sorted_columns(rows.P)
        improve_box(columns, orders, gains, lower, upper)
        return _open_below(lower, upper)

    def median(self, regions: Sequence[Any]) -> Boxes:
        """Median of each end."""
        ends = [np.stack([getattr(r, side)[0] for r in regions]) for side in ("lower", "upper")]
        return Boxes(*(np.sort(e, axis=0)[len(e) // 2] for e in ends))

    def join(self, regions: Sequence[Any], dim: int) -> Boxes:
        return Boxes.join(regions, dim)

    def drop_facets(self, region: Any, rows: Rows, gains: np.ndarray, penalty: float) -> Boxes:
        return drop_ends(region, rows.P, gains, penalty)

    def finish(self, region: Any, rows: Rows) -> Boxes:
        return round_box(region, rows.P)


def drop_ends(box: Boxes, P: np.ndarray, gains: np.ndarray, penalty: float) -> Boxes:
    """Remove ends, one by one, while the sum of gains decreases by at most `penalty` each."""
    lower, upper = box.lower[0].copy(), box.upper[0].copy()
    ends = [(side, a) for a in range(box.dim) for side in (lower, upper)]
    holds = np.array([P[:, a] > end[a] if end is lower else P[:, a] <= end[a] for end, a in ends])
    finite = [i for i, (end, a) in enumerate(ends) if np.isfinite(end[a])]
    total = gains[holds.all(axis=0)].sum()
    while finite:
        without = [gains[holds[[j for j in finite if j != i]].all(axis=0)].sum() for i in finite]
        best = int(np.argmax(without))
        if without[best] + penalty < total:
            break
        total = without[best]
        end, a = ends[finite.pop(best)]
        end[a] = -np.inf if end is lower else np.inf
    return Boxes(lower, upper)


def round_box(box: Boxes, P: np.ndarray) -> Boxes:
    """Round the ends to the fewest digits that keep the same rows of `P` inside.

    An end becomes infinite if no row that satisfies the other columns lies beyond it.
    """
    lower, upper = box.lower[0].copy(), box.upper[0].copy()
    for a in range(box.dim):
        satisfied = (lower < P) & (upper >= P)
        satisfied[:, a] = True
        x = P[satisfied.all(axis=1), a]
        inside = x[(x > lower[a]) & (x <= upper[a])]
        if not len(inside):
            return box
        below, above = x[x <= lower[a]], x[x > upper[a]]
        first, last = float(inside.min()), float(inside.max())
        lower[a] = choose_threshold(float(below.max()), first, "round") if len(below) else -np.inf
        upper[a] = choose_threshold(last, float(above.min()), "round") if len(above) else np.inf
    return Boxes(lower, upper)


def _open_below(lower: np.ndarray, upper: np.ndarray) -> Boxes:
    """Convert ``lower <= x <= upper`` to ``lower < x <= upper``."""
    return Boxes(np.nextafter(lower, -np.inf), upper)


def _sorted_columns(P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns as contiguous arrays, and the order of the rows in each."""
    columns = np.ascontiguousarray(P.T)
    return columns, np.argsort(columns, axis=1)


def _edges(column: np.ndarray) -> np.ndarray:
    """Upper ends of bins with about the same number of distinct values."""
    values = np.unique(column)
    n_bins = min(_BINS, len(values))
    return values[np.arange(1, n_bins + 1) * len(values) // n_bins - 1]
