"""The search for boxes: one interval per column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from pellucid.eop.finders import Rows, ShapeFinder
from pellucid.regions.shapes import Boxes
from pellucid.tree.rounding import ThresholdStyle, choose_threshold

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
        best, best_value = None, 0
        values, ranks = _ranked(rows.P)
        for lower, upper in self._starts(values, ranks, rows, gains, random):
            value = _improve(values, ranks, gains, rows.facet, lower, upper)
            if value > best_value:
                best, best_value = _in_values(values, lower, upper), value
        return best

    def _starts(
        self,
        values: list[np.ndarray],
        ranks: np.ndarray,
        rows: Rows,
        gains: np.ndarray,
        random: np.random.RandomState,
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """First and last ranks of start boxes."""
        from pellucid.eop.box_kernels import best_grid_box

        dim, sizes = len(values), np.array([len(column) for column in values])
        if dim == 1:
            yield np.zeros(1, dtype=np.int64), sizes - 1
            return
        # The last rank of each of at most `_BINS` bins with about the same number of values.
        n_bins = np.minimum(_BINS, sizes)
        edges = [np.arange(1, n + 1) * size // n - 1 for n, size in zip(n_bins, sizes)]
        codes = [np.searchsorted(e, r).astype(np.uint8) for e, r in zip(edges, ranks)]
        for pair in map(list, combinations(range(dim), 2)):
            box, shape = np.zeros(4, dtype=np.int64), tuple(n_bins[pair].tolist())
            if not best_grid_box(
                codes[pair[0]], codes[pair[1]], gains, shape, rows.facet, False, 0, box
            ):
                continue
            lower, upper = np.zeros(dim, dtype=np.int64), sizes - 1
            for a, (first, last) in zip(pair, box.reshape(2, 2)):
                lower[a] = edges[a][first - 1] + 1 if first else 0
                upper[a] = edges[a][last]
            yield lower, upper
        if dim > 2:
            for low, high in self._seeds(rows, gains, random):
                first, last = (
                    np.array([np.searchsorted(v, x) for v, x in zip(values, ends)])
                    for ends in (low, high)
                )
                yield first, last

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
        inside = region.contains(rows.P)
        if not inside.any():
            return region
        values, ranks = _ranked(rows.P)
        lower, upper = (end(ranks[:, inside], axis=1).astype(np.int64) for end in (np.min, np.max))
        _improve(values, ranks, gains, rows.facet, lower, upper)
        return _in_values(values, lower, upper)

    def median(self, regions: Sequence[Any]) -> Boxes:
        """Median of each end."""
        ends = [np.stack([getattr(r, side)[0] for r in regions]) for side in ("lower", "upper")]
        return Boxes(*(np.sort(e, axis=0)[len(e) // 2] for e in ends))

    def join(self, regions: Sequence[Any], dim: int) -> Boxes:
        return Boxes.join(regions, dim)

    def finish(self, region: Any, rows: Rows) -> Boxes:
        return round_box(region, rows.P)


def round_box(box: Boxes, P: np.ndarray, style: ThresholdStyle = "round") -> Boxes:
    """Choose ends, by default with the fewest digits, that keep the same rows of `P` inside.

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
        lower[a] = choose_threshold(float(below.max()), first, style) if len(below) else -np.inf
        upper[a] = choose_threshold(last, float(above.min()), style) if len(above) else np.inf
    return Boxes(lower, upper)


def _ranked(P: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """The distinct values of each column, and the rank of each row in each."""
    columns = [np.unique(column, return_inverse=True) for column in P.T]
    ranks = np.array([rank.ravel() for _, rank in columns], dtype=np.int32)
    return [values for values, _ in columns], ranks


def _improve(
    values: list[np.ndarray],
    ranks: np.ndarray,
    gains: np.ndarray,
    facet: int,
    lower: np.ndarray,
    upper: np.ndarray,
) -> int:
    """The value of a box of ranks, of which the ends are optimized in place."""
    from pellucid.eop.box_kernels import improve_box

    sizes = np.array([len(column) for column in values])
    return improve_box(ranks, sizes, gains, facet, lower, upper)


def _in_values(values: list[np.ndarray], lower: np.ndarray, upper: np.ndarray) -> Boxes:
    """The box ``lower < x <= upper`` of a box of ranks."""
    low, high = (np.array([v[i] for v, i in zip(values, ends)]) for ends in (lower, upper))
    return Boxes(np.nextafter(low, -np.inf), high)
