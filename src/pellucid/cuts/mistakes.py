"""Mistakes: rows that a cut separates from their own center (IMM)."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pellucid.cuts.amounts import AmountsAlone
from pellucid.cuts.criterion import Cell, CenterCutCriterion
from pellucid.cuts.search import LEAST_ROWS, Cut, edge_cuts, open_bins, search_columns
from pellucid.cuts.separated import (
    Objective,
    Owned,
    SeparatedScan,
    scan_counts,
    scan_separated,
)

_SMALL = 2**22
"""Bytes of counts that are kept without asking how large the data are."""


class Mistakes(CenterCutCriterion):
    """Fewest rows separated from their own center; those that are count no longer below.

    The children of a cell share its centers out between them, and with a center all its rows but
    those cut off. So the counts of a child are its part of the parent's, less the rows cut off:
    all of the data are counted only once.
    """

    in_any_order = True

    def best_center_cuts(self, cell: Cell, features: np.ndarray, n: int) -> list[Cut]:
        """Cuts with the fewest mistakes."""
        scan = self._scan(cell)

        def refine(feature: int, limit: float) -> np.ndarray:
            return self._look_into(cell, scan, feature, limit)

        n_gaps = len(cell.centers) - 1
        return search_columns(
            self.problem, features, self._size(cell), scan, refine, np.inf, n_gaps, n
        )

    def _look_into(self, cell: Cell, scan: SeparatedScan, feature: int, limit: float) -> np.ndarray:
        """Fewest mistakes and threshold in each gap of a column, if they are few enough."""
        from pellucid.kernels.separated import sweep_weights

        problem, bins, one = self.problem, self.problem.bins, self.problem.weights.one
        found, levels, wanted = scan.look(feature, limit)
        cuts = edge_cuts(found, bins.edges[feature])
        places, codes, values = open_bins(problem, feature, cell.active, wanted)
        inside = cell.active.take(places)
        weight = problem.weights.units_of(inside)
        loses = codes > bins.center_code[feature].take(problem.labels.take(inside))
        change = np.where(loses, -weight, weight)
        cuts[:, 0] *= one  # a power of two, so that nothing is lost
        where = (scan.position[feature], bins.edges[feature], levels[0])
        sweep_weights(values, codes, change, *where, cuts)
        cuts[:, 0] /= one
        return cuts

    def _size(self, cell: Cell) -> int:
        """Numbers that a scan looks at for each feature."""
        is_counted = len(cell.memo.get("counts", ())) > 0
        return (
            self.problem.bins.edges.shape[1] * len(cell.centers) if is_counted else len(cell.active)
        )

    def _scan(self, cell: Cell) -> SeparatedScan:
        """How to scan columns: from counts where they are kept, or else from the data."""
        problem, places, counts = self.problem, self._places(cell), self._counts(cell)
        if len(counts):
            sums = counts[0].sum(axis=1)[:, None].repeat(2, axis=1)
            return scan_counts(problem, counts, sums, places, self._objective(sums))
        rows = cell.active
        weight, own = problem.weights.units_of(rows), self._local_labels(cell, rows)
        # Weights are whole and their total is below 2**52, so that sums of floats are exact.
        mine = np.bincount(own, weights=weight, minlength=len(cell.centers)).astype(np.int64)
        sums = mine[:, None].repeat(2, axis=1)
        owned = Owned(rows, own, weight, weight, sums, 0)
        return scan_separated(problem, owned, places, self._objective(sums))

    def _objective(self, sums: np.ndarray) -> Objective:
        """The number of mistakes; depth has no price."""
        terms = (self.problem.weights.one, 0.0, float(sums[:, 0].sum()), 0.0)
        # Of sparse columns there are mostly many, and little else has to be compiled.
        kind = Objective if self.problem.bins.is_sparse else AmountsAlone
        return kind(terms, self._no_killers)

    @cached_property
    def _no_killers(self) -> np.ndarray:
        return np.zeros((2, self.problem.n_features))

    def share_out(self, cell: Cell, left: np.ndarray, centers_left: np.ndarray):
        """Rows cut off from their own center become passive on the side where they are."""
        from pellucid.kernels.rows import share_owned

        center_left = np.zeros(self.problem.n_clusters, dtype=bool)
        center_left[centers_left] = True
        labels, team = self.problem.labels, self.problem.team

        def share(block: tuple[int, int]) -> list[np.ndarray]:
            rows = cell.active[slice(*block)]
            room = np.empty((4, len(rows) + 1), dtype=rows.dtype)
            sizes = share_owned(rows, left[slice(*block)], labels, center_left, *room)
            return [part[:size] for part, size in zip(room, sizes)]

        parts = team.map(share, team.blocks(len(left), LEAST_ROWS))
        near, far, off_near, off_far = map(np.concatenate, zip(*parts))
        heritage = [
            {"parent": (cell.memo["counts"], cell.centers, lost)} if "counts" in cell.memo else {}
            for lost in (off_far, off_near)
        ]
        return (near, far), (off_near, off_far), heritage

    def _local_labels(self, cell: Cell, rows: np.ndarray) -> np.ndarray:
        """Own center of each row, as a place in the cell's centers."""
        if len(rows) == self.problem.n_samples and len(cell.centers) == self.problem.n_clusters:
            return self.problem.labels
        place = np.zeros(self.problem.n_clusters, dtype=self.problem.labels.dtype)
        place[cell.centers] = np.arange(len(cell.centers))
        return place.take(self.problem.labels.take(rows))

    def _counts(self, cell: Cell) -> np.ndarray:
        """Weight of the active rows by feature, center and bin; empty where it is not kept."""
        from pellucid.kernels.separated import count_weights

        problem, memo = self.problem, cell.memo
        bins = problem.bins
        shape = (problem.n_features, len(cell.centers), bins.edges.shape[1])
        if "parent" in memo:
            inherited, centers, lost = memo.pop("parent")
            counts = inherited.take(np.searchsorted(centers, cell.centers), axis=1)
            rows, weight = lost, -problem.weights.units_of(lost)
        elif not bins.is_sparse and 8 * np.prod(shape) <= max(_SMALL, problem.X.nbytes // 4):
            counts = np.zeros(shape, dtype=np.int64)
            rows, weight = cell.active, problem.weights.units_of(cell.active)
        else:
            return np.empty((0, 0, 0), dtype=np.int64)
        own = self._local_labels(cell, rows)
        problem.team.map(
            lambda block: count_weights(block, bins.codes, rows, own, weight, counts),
            problem.feature_blocks(np.arange(problem.n_features), len(rows)),
        )
        memo["counts"] = counts
        return counts
