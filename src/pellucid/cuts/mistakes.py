"""Mistakes: rows that a cut separates from their own center (IMM)."""

from __future__ import annotations

import numpy as np

from pellucid.cuts.criterion import Cell, CenterCutCriterion
from pellucid.cuts.search import Cut, open_bins, search_columns

_SMALL = 2**22
"""Bytes of counts that are kept without asking how large the data are."""


class Mistakes(CenterCutCriterion):
    """Fewest rows separated from their own center; those that are count no longer below.

    The children of a cell share its centers out between them, and with a center all its rows but
    those cut off. So the counts of a child are its part of the parent's, less the rows cut off:
    all of the data are counted only once.
    """

    def best_center_cut(self, cell: Cell, features: np.ndarray) -> Cut | None:
        """Cut with the fewest mistakes."""
        from pellucid.kernels import separated as kernels
        from pellucid.kernels.gaps import Terms, sweep_bins

        problem, active = self.problem, cell.active
        columns = problem.bins.columns
        counts = self._counts(cell)
        rows = self._owned(cell, counts)
        terms = Terms(problem.weights.one, 0.0, float(rows.sums[:, 0].sum()), 0.0)
        killers = np.zeros((2, problem.n_features))

        def scan(block: np.ndarray, found: np.ndarray) -> None:
            kernels.scan_separated(block, columns, rows, counts, terms, killers, -np.inf, found)

        def refine(feature: int, limit: float) -> Cut:
            only, found = np.array([feature]), np.empty((problem.n_features, 3))
            n, gaps, wanted = kernels.scan_separated(
                only, columns, rows, counts, terms, killers, limit, found
            )
            places, codes, values = open_bins(problem, feature, active, wanted)
            inside = active[places]
            weight = problem.weights.units_of(inside)
            loses = codes > columns.center_code[feature][problem.labels[inside]]
            change = np.where(loses, -weight, weight)
            edges = columns.edges[feature]
            best = sweep_bins(values, codes, change, weight, n, edges, gaps, terms, (0.0, 0.0))
            return Cut(best[0], feature, best[1])

        size = len(active) if len(counts) == 0 else columns.edges.shape[1] * len(cell.centers)
        best = search_columns(problem, features, size, scan, refine, np.inf)
        return best and best._replace(gain=-best.objective)

    def share_out(self, cell: Cell, left: np.ndarray, centers_left: np.ndarray):
        """Rows cut off from their own center become passive on the side where they are."""
        from pellucid.kernels.rows import divide_owned_rows

        center_left = np.zeros(self.problem.n_clusters, dtype=bool)
        center_left[centers_left] = True
        near, off_near, far, off_far = divide_owned_rows(
            cell.active, left, self.problem.labels, center_left
        )
        heritage = [
            {"parent": (cell.memo["counts"], cell.centers, lost)} if "counts" in cell.memo else {}
            for lost in (off_far, off_near)
        ]
        return (near, far), (off_near, off_far), heritage

    def _owned(self, cell: Cell, counts: np.ndarray):
        """The cell's rows with their own centers; without the rows, where counts are kept."""
        from pellucid.kernels.separated import Owned, sum_by_center

        rows = cell.active if len(counts) == 0 else cell.active[:0]
        weight, own = self.problem.weights.units_of(rows), self._local_labels(cell, rows)
        sums = np.zeros((len(cell.centers), 2), dtype=np.int64)
        if len(counts):
            sums[:] = counts[0].sum(axis=1)[:, None]
        else:
            sum_by_center(own, weight, weight, sums)
        slots = self.problem.slots(rows)
        return Owned(rows, slots, own, weight, weight, True, sums, 0, cell.centers)

    def _local_labels(self, cell: Cell, rows: np.ndarray) -> np.ndarray:
        """Own center of each row, as a place in the cell's centers."""
        place = np.zeros(self.problem.n_clusters, dtype=self.problem.labels.dtype)
        place[cell.centers] = np.arange(len(cell.centers))
        return place.take(self.problem.labels.take(rows))

    def _counts(self, cell: Cell) -> np.ndarray:
        """Weight of the active rows by feature, center and bin; empty where it is not kept."""
        from pellucid.kernels.separated import count_weights

        problem, memo = self.problem, cell.memo
        columns = problem.bins.columns
        shape = (problem.n_features, len(cell.centers), columns.edges.shape[1])
        if "parent" in memo:
            inherited, centers, lost = memo.pop("parent")
            counts = inherited.take(np.searchsorted(centers, cell.centers), axis=1)
            rows, sign = lost, -1
        elif not columns.is_sparse and 8 * np.prod(shape) <= max(_SMALL, problem.X.nbytes // 4):
            counts = np.zeros(shape, dtype=np.int64)
            rows, sign = cell.active, 1
        else:
            return np.empty((0, 0, 0), dtype=np.int64)
        own, weight = self._local_labels(cell, rows), sign * problem.weights.units_of(rows)
        problem.team.map(
            lambda block: count_weights(block, columns.codes, rows, own, weight, counts),
            problem.feature_blocks(np.arange(problem.n_features), len(rows)),
        )
        memo["counts"] = counts
        return counts
