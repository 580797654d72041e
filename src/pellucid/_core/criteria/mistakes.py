"""Mistakes: rows that a cut separates from their own center (IMM)."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.base import Cell, CenterCutCriterion
from pellucid._core.criteria.column_search import Cut, edge_cuts, open_bins, search_columns
from pellucid._core.criteria.counted import CountedScan
from pellucid._core.criteria.mistake_scans import Objective, Owned, SeparatedScan, scan_separated
from pellucid._core.criteria.partition import Halves, OwnedRows

_SMALL = 2**22
"""Bytes of counts that are kept without asking how large the data are."""


class _Sides(NamedTuple):
    """A cell, cut in a column, and the rows that its centers keep."""

    feature: int
    halves: Halves
    kept: OwnedRows


class Mistakes(CenterCutCriterion):
    """Fewest rows separated from their own center; those that are count no longer below.

    The children of a cell share its centers out between them, and with a center all its rows but
    those cut off. So the rows of a cell stand center by center, and the counts of a child are its
    part of the parent's, less the rows cut off: all of the data are counted only once.
    """

    in_any_order = True

    @property
    def is_cut_in_place(self) -> bool:
        """Whether a greedy search may overwrite what it knows of a cell with its children."""
        self.problem.sort_rows()
        return self._fit(self.problem.n_clusters)

    def root(self) -> Cell:
        """The cell that holds everything, its rows center by center."""
        rows = self.problem.by_center
        return Cell(rows, rows[:0], np.arange(self.problem.n_clusters))

    def best_center_cuts(self, cell: Cell, features: np.ndarray, n: int) -> list[Cut]:
        """Cuts with the fewest mistakes."""
        scan, one = self._scan(cell), self.problem.weights.units_per_weight

        def refine(feature: int, limit: float) -> np.ndarray:
            return self._look_into(cell, scan, feature, limit)

        size, n_gaps = self._size(cell), len(cell.centers) - 1
        cuts = search_columns(self.problem, features, size, scan, refine, np.inf, n_gaps, n)
        return [cut._replace(objective=cut.objective / one) for cut in cuts]

    def _look_into(
        self, cell: Cell, scan: CountedScan | SeparatedScan, feature: int, limit: float
    ) -> np.ndarray:
        """Fewest mistakes and threshold in each gap of a column, if they are few enough."""
        from pellucid._core.kernels.mistakes import sweep_weights

        problem, bins = self.problem, self.problem.bins
        found, amount, wanted = scan.look(feature, limit)
        cuts = edge_cuts(found, bins.edges[feature])
        places, codes, values = open_bins(problem, feature, cell.active, wanted)
        inside = cell.active.take(places)
        weight = problem.weights.units_of(inside)
        loses = codes > bins.center_code[feature].take(problem.labels.take(inside))
        change = np.where(loses, -weight, weight)
        position, edges = scan.position[feature], bins.edges[feature]
        sweep_weights(values, codes, change, position, edges, amount, cuts)
        return cuts

    def _size(self, cell: Cell) -> int:
        """Numbers that a scan looks at for each feature."""
        is_counted = "counts" in cell.memo
        return (
            self.problem.bins.edges.shape[1] * len(cell.centers) if is_counted else len(cell.active)
        )

    def _scan(self, cell: Cell) -> CountedScan | SeparatedScan:
        """How to scan columns, in units of weight: from counts if they are kept, or the data."""
        problem, places, counts = self.problem, self._places(cell), self.counts(cell)
        if counts is not None:
            return CountedScan(problem.bins, counts, np.arange(counts.shape[1]), *places)
        rows = cell.active
        weight, own = problem.weights.units_of(rows), self._local_labels(cell, rows)
        # Weights are whole and their total is below 2**52, so that sums of floats are exact.
        mine = np.bincount(own, weights=weight, minlength=len(cell.centers)).astype(np.int64)
        sums = mine[:, None].repeat(2, axis=1)
        owned = Owned(rows, own, weight, weight, sums, 0)
        terms = (1.0, 0.0, float(mine.sum()), 0.0)
        return scan_separated(problem, owned, places, Objective(terms, self._no_killers))

    @cached_property
    def _no_killers(self) -> np.ndarray:
        return np.zeros((2, self.problem.n_features))

    def interval(self, cell: Cell, cut: Cut) -> tuple[float, float]:
        """All thresholds that cut the cell alike."""
        halves = self._sides(cell, cut.feature, cut.at).halves
        return halves.low, halves.high

    def divide(self, cell: Cell, feature: int, threshold: float) -> tuple[Cell, Cell]:
        """The two sides; rows cut off from their own center become passive where they are.

        The threshold is one of the interval of a cut.
        """
        (_, halves, kept), counts = self._sides(cell, feature, threshold), cell.memo.get("counts")
        left = self.problem.centers[cell.centers, feature] <= threshold
        sizes, cells = kept.ends - kept.begins, []
        for turn, is_mine in enumerate((left, ~left)):
            members = is_mine.nonzero()[0]
            memo = {"ends": _ends(sizes.take(members))}
            if counts is not None:
                memo["parent"] = counts, members, halves.cut_off[1 - turn]
            cuts = [cell.cut_left, cell.cut_right]
            cuts[turn] = cuts[turn] | {feature}
            about = (halves.passive[turn], cell.centers[members], *cuts, memo)
            cells.append(Cell(kept.of(members), *about))
        return cells[0], cells[1]

    def _sides(self, cell: Cell, feature: int, at: float) -> _Sides:
        """The cell, cut; its latest sides are remembered."""
        known: _Sides | None = cell.memo.get("sides")
        is_known = known is not None and known.feature == feature
        if is_known and known.halves.low <= at < known.halves.high:
            return known
        ends, places = self.row_ends(cell), self.problem.centers[cell.centers, feature]
        kept = OwnedRows(cell.active.copy(), ends[:-1], ends[1:].copy())
        how = (np.arange(len(places)), cell.passive, feature, at, places)
        cell.memo["sides"] = sides = _Sides(feature, kept.divide(self.problem, *how), kept)
        return sides

    def row_ends(self, cell: Cell) -> np.ndarray:
        """Where the rows of the cell's centers begin and end."""
        if "ends" not in cell.memo:
            active, label = cell.active, self.problem.labels.item  # of the rows, ascending
            starts = [bisect_left(active, center, key=label) for center in cell.centers.tolist()]
            cell.memo["ends"] = np.array([*starts, len(active)])
        return cell.memo["ends"]

    def _local_labels(self, cell: Cell, rows: np.ndarray) -> np.ndarray:
        """Own center of each row, as a place in the cell's centers."""
        place = np.zeros(self.problem.n_clusters, dtype=self.problem.labels.dtype)
        place[cell.centers] = np.arange(len(cell.centers))
        return place.take(self.problem.labels.take(rows))

    def _fit(self, n_centers: int) -> bool:
        """Whether counts for so many centers are small enough to be kept."""
        problem = self.problem
        n_bytes = 8 * problem.bins.edges.size * n_centers
        return not problem.bins.is_sparse and n_bytes <= max(_SMALL, problem.X.nbytes // 4)

    def counts(self, cell: Cell) -> np.ndarray | None:
        """Weight of the active rows by feature, center and bin, where it is kept."""
        from pellucid._core.kernels.mistakes import count_weights

        problem, memo = self.problem, cell.memo
        bins = problem.bins
        shape = (problem.n_features, len(cell.centers), bins.edges.shape[1])
        if "parent" in memo:
            inherited, places, rows = memo.pop("parent")
            counts = inherited.take(places, axis=1)
            own, weight = self._local_labels(cell, rows), -problem.weights.units_of(rows)
        elif self._fit(len(cell.centers)):
            counts = np.zeros(shape, dtype=np.int64)
            rows, own = cell.active, problem.labels
            if len(rows) == len(own):  # in their own order, which is quicker to read
                rows = np.arange(len(own), dtype=rows.dtype)
            else:
                own = self._local_labels(cell, rows)
            weight = problem.weights.units_of(rows)
        else:
            return None
        problem.pool.map(
            lambda block: count_weights(block, bins.codes, rows, own, weight, counts),
            problem.feature_blocks(np.arange(problem.n_features), len(rows)),
        )
        memo["counts"] = counts
        return counts


def _ends(sizes: np.ndarray) -> np.ndarray:
    """Where parts of these sizes begin and end, one after the other."""
    ends = np.zeros(len(sizes) + 1, dtype=np.intp)
    np.cumsum(sizes, out=ends[1:])
    return ends
