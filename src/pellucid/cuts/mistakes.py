"""Mistakes: rows that a cut separates from their own center (IMM)."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from pellucid.cuts.counted import CountedScan
from pellucid.cuts.criterion import Cell, CenterCutCriterion
from pellucid.cuts.problem import Problem
from pellucid.cuts.search import Cut, edge_cuts, open_bins, search_columns
from pellucid.cuts.separated import Objective, Owned, SeparatedScan, scan_separated

_SMALL = 2**22
"""Bytes of counts that are kept without asking how large the data are."""


class _Cut(NamedTuple):
    """Some rows cut in two, in pairs for the left and the right side.

    Attributes
    ----------
    low, high : float
        Largest value on the left and smallest on the right.
    kept, lost : pair of ndarray
        Rows that are on the side of their own center, and those that are not.
    sizes : ndarray of int
        Rows that each center keeps.
    """

    low: float
    high: float
    kept: tuple[np.ndarray, np.ndarray]
    lost: tuple[np.ndarray, np.ndarray]
    sizes: np.ndarray


class _Sides(NamedTuple):
    """A cell, cut by any threshold from `low` up to, not including, `high`.

    Attributes
    ----------
    centers : pair of ndarray
        Places of the centers that go left and right.
    active, cut_off, passive : pair of ndarray
        Rows that stay with their centers, that are cut off from them, and that had been before.
    kept : ndarray of int
        Rows that each center keeps.
    """

    feature: int
    low: float
    high: float
    centers: tuple[np.ndarray, np.ndarray]
    active: tuple[np.ndarray, np.ndarray]
    cut_off: tuple[np.ndarray, np.ndarray]
    kept: np.ndarray
    passive: tuple[np.ndarray, np.ndarray]


class Mistakes(CenterCutCriterion):
    """Fewest rows separated from their own center; those that are count no longer below.

    The children of a cell share its centers out between them, and with a center all its rows but
    those cut off. So the rows of a cell stand center by center, and the counts of a child are its
    part of the parent's, less the rows cut off: all of the data are counted only once.
    """

    in_any_order = True

    def root(self) -> Cell:
        """The cell that holds everything, its rows center by center."""
        rows = self.problem.by_center
        return Cell(rows, rows[:0], np.arange(self.problem.n_clusters))

    def best_center_cuts(self, cell: Cell, features: np.ndarray, n: int) -> list[Cut]:
        """Cuts with the fewest mistakes."""
        scan, one = self._scan(cell), self.problem.weights.one

        def refine(feature: int, limit: float) -> np.ndarray:
            return self._look_into(cell, scan, feature, limit)

        size, n_gaps = self._size(cell), len(cell.centers) - 1
        cuts = search_columns(self.problem, features, size, scan, refine, np.inf, n_gaps, n)
        return [cut._replace(objective=cut.objective / one) for cut in cuts]

    def _look_into(
        self, cell: Cell, scan: CountedScan | SeparatedScan, feature: int, limit: float
    ) -> np.ndarray:
        """Fewest mistakes and threshold in each gap of a column, if they are few enough."""
        from pellucid.kernels.separated import sweep_weights

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
        problem, places, counts = self.problem, self._places(cell), self._counts(cell)
        if counts is not None:
            return CountedScan(problem.bins, counts, places)
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
        sides = self._sides(cell, cut.feature, cut.at)
        return sides.low, sides.high

    def divide(self, cell: Cell, feature: int, threshold: float) -> tuple[Cell, Cell]:
        """The two sides; rows cut off from their own center become passive where they are."""
        sides, cut_here = self._sides(cell, feature, threshold, threshold), {feature}
        counts, halves = cell.memo.get("counts"), []
        for turn, places in enumerate(sides.centers):
            memo = {"ends": _ends(sides.kept.take(places))}
            if counts is not None:
                memo["parent"] = counts, places, sides.cut_off[1 - turn]
            passive = sides.cut_off[turn]
            if len(cell.passive):
                passive = np.concatenate([passive, sides.passive[turn]])
            cuts = [cell.cut_left, cell.cut_right]
            cuts[turn] = cuts[turn] | cut_here
            halves.append(Cell(sides.active[turn], passive, cell.centers[places], *cuts, memo))
        return halves[0], halves[1]

    def _sides(self, cell: Cell, feature: int, at: float, for_passive: float | None = None):
        """The rows, cut; passive ones by the lowest threshold that will do, unless told otherwise.

        The latest sides of a cell are remembered.
        """
        known: _Sides | None = cell.memo.get("sides")
        if known is not None and known.feature == feature and known.low <= at < known.high:
            return known
        column = _Column(self.problem, feature)
        coordinates = self.problem.centers[cell.centers, feature]
        left = coordinates <= at
        cut = column.cut(cell.active, self._row_ends(cell), left, at)
        low = max([cut.low, *coordinates[left].tolist()])
        high = min([cut.high, *coordinates[~left].tolist()])
        passive = cell.passive, cell.passive
        if len(cell.passive):
            ends = np.array([0, len(cell.passive)])
            by_itself = column.cut(
                cell.passive, ends, np.ones(1, dtype=bool), low if for_passive is None else at
            )
            high = min(high, by_itself.high)
            passive = by_itself.kept[0], by_itself.lost[1]
        centers = left.nonzero()[0], (~left).nonzero()[0]
        about = (cut.kept, cut.lost, cut.sizes, passive)
        cell.memo["sides"] = sides = _Sides(feature, low, high, centers, *about)
        return sides

    def _row_ends(self, cell: Cell) -> np.ndarray:
        """Where the rows of the cell's centers begin and end."""
        if "ends" not in cell.memo:
            labels = self.problem.labels.take(cell.active)
            mine = np.bincount(labels, minlength=self.problem.n_clusters)
            cell.memo["ends"] = _ends(mine.take(cell.centers))
        return cell.memo["ends"]

    def _passive_values(self, cell: Cell, feature: int) -> np.ndarray:
        return self.problem.values(feature, cell.passive)

    def _local_labels(self, cell: Cell, rows: np.ndarray) -> np.ndarray:
        """Own center of each row, as a place in the cell's centers."""
        place = np.zeros(self.problem.n_clusters, dtype=self.problem.labels.dtype)
        place[cell.centers] = np.arange(len(cell.centers))
        return place.take(self.problem.labels.take(rows))

    def _counts(self, cell: Cell) -> np.ndarray | None:
        """Weight of the active rows by feature, center and bin, where it is kept."""
        from pellucid.kernels.separated import count_weights

        problem, memo = self.problem, cell.memo
        bins = problem.bins
        shape = (problem.n_features, len(cell.centers), bins.edges.shape[1])
        if "parent" in memo:
            inherited, places, rows = memo.pop("parent")
            counts = inherited.take(places, axis=1)
            own, weight = self._local_labels(cell, rows), -problem.weights.units_of(rows)
        elif not bins.is_sparse and 8 * np.prod(shape) <= max(_SMALL, problem.X.nbytes // 4):
            counts = np.zeros(shape, dtype=np.int64)
            rows, own = cell.active, problem.labels
            if len(rows) == len(own):  # in their own order, which is quicker to read
                rows = np.arange(len(own), dtype=rows.dtype)
            else:
                own = self._local_labels(cell, rows)
            weight = problem.weights.units_of(rows)
        else:
            return None
        problem.team.map(
            lambda block: count_weights(block, bins.codes, rows, own, weight, counts),
            problem.feature_blocks(np.arange(problem.n_features), len(rows)),
        )
        memo["counts"] = counts
        return counts


class _Column:
    """A column by which rows can be cut in two."""

    def __init__(self, problem: Problem, feature: int) -> None:
        self.edges, self.values = problem.bins.edges[feature], problem.column(feature)
        self.codes = problem.bins.dense_column(feature, problem.n_samples)

    def cut(self, rows: np.ndarray, ends: np.ndarray, center_left: np.ndarray, at: float) -> _Cut:
        """Cut rows that stand center by center; `ends` says where, and the next which go left."""
        from pellucid.kernels.owned import divide_owned

        n, sizes = len(rows), np.diff(ends)
        n_left = int(sizes[center_left].sum())
        # Each center's rows end up in a place of their own, whichever side they are on.
        kept, lost = np.empty((2, n + 2), dtype=rows.dtype)
        kept, lost = (kept[: n_left + 1], kept[n_left + 1 :]), (lost[n_left + 1 :], lost[: n_left + 1])
        code = self.edges.searchsorted(at)
        how = (self.codes, self.values, code, at, center_left, *kept, *lost, sizes)
        low, high, n_kept, n_lost = divide_owned(rows, ends, *how)
        kept = kept[0][: n_kept[0]], kept[1][: n_kept[1]]
        return _Cut(low, high, kept, (lost[0][: n_lost[0]], lost[1][: n_lost[1]]), sizes)


def _ends(sizes: np.ndarray) -> np.ndarray:
    """Where parts of these sizes begin and end, one after the other."""
    ends = np.zeros(len(sizes) + 1, dtype=np.intp)
    np.cumsum(sizes, out=ends[1:])
    return ends
