"""Surrogate cost: each side of a cut goes whole to the one center that is cheapest for it."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pellucid.cuts.criterion import Cell, Criterion
from pellucid.cuts.search import Cut, open_bins, search_columns


class SurrogateCost(Criterion):
    """Least surrogate cost (ExKMC). Any cut between two values will do, centers or not.

    A cell is finished when all its rows are cheapest at one and the same center: no cut can
    gain anything there. Of the two sides of a cut only the smaller is added up by bin; the other
    has what is left of their parent's sums.
    """

    def best_cut(self, cell: Cell) -> Cut | None:
        """Cut of least surrogate cost; its gain is the decrease, in units of cost."""
        from pellucid.kernels import surrogate as kernels

        problem, active = self.problem, cell.active
        *totals, total_least, n_rows = self._totals(cell).tolist()
        before = min(totals)
        if n_rows == 0 or before == total_least:
            return None
        columns, rows = problem.bins.columns, self._priced(cell)
        kept = self._kept(cell)

        def scan(block: np.ndarray, found: np.ndarray) -> None:
            if kept is None:
                n_codes, n_prices = columns.n_edges[block].max() + 1, self._shape[1]
                sums = np.empty((len(block), n_codes, n_prices), dtype=np.int64)
                kernels.add_by_bin(block, columns, rows, sums)
            else:
                sums = kept[block[0] : block[-1] + 1]
            kernels.scan_surrogate(block, columns, rows, sums, found)

        def refine(feature: int, limit: int) -> Cut:
            sums, wanted = kernels.open_surrogate(feature, columns, rows, limit)
            places, codes, values = open_bins(problem, feature, active, wanted)
            cost, at = kernels.sweep_surrogate(values, codes, active[places], sums, rows)
            return Cut(int(cost), feature, at)

        features = np.arange(problem.n_features)
        size = len(active) if kept is None else np.prod(self._shape)
        best = search_columns(problem, features, size, scan, refine, kernels.NOTHING)
        return best and best._replace(gain=before - best.objective)

    def cluster(self, cell: Cell) -> int:
        """The center that is cheapest for the rows of the cell, the lowest of equals."""
        return int(np.argmin(self._totals(cell)[:-2]))

    def share_out(self, cell: Cell, left: np.ndarray, centers_left: np.ndarray):
        """Both sides remember their parent's sums, and each other's rows."""
        active, dropped, memos = super().share_out(cell, left, centers_left)
        if "kept" in cell.memo:
            for memo, mine, other in zip(memos, active, active[::-1]):
                is_smaller = (len(mine), mine is active[1]) < (len(other), other is active[1])
                memo["parent"] = None if is_smaller else (cell.memo["kept"], other)
        return active, dropped, memos

    @cached_property
    def _prices(self) -> np.ndarray:
        """For each row its costs, the least of them, and 1."""
        from pellucid.kernels.surrogate import price_rows

        problem, costs = self.problem, self.problem.costs
        prices = np.empty((problem.n_samples, problem.n_clusters + 2), dtype=np.int64)
        problem.team.map(
            lambda block: price_rows(costs[slice(*block)], prices[slice(*block)]),
            problem.team.blocks(problem.n_samples, 4096),
        )
        return prices

    def _totals(self, cell: Cell) -> np.ndarray:
        """Sums of the prices of all rows of the cell."""
        from pellucid.kernels.surrogate import add_rows

        if "totals" not in cell.memo:
            totals = np.zeros(self.problem.n_clusters + 2, dtype=np.int64)
            add_rows(cell.active, self._prices, totals)
            cell.memo["totals"] = totals
        return cell.memo["totals"]

    def _priced(self, cell: Cell):
        from pellucid.kernels.surrogate import Priced

        rows = cell.active
        return Priced(rows, self.problem.slots(rows), self._prices, self._totals(cell))

    @property
    def _shape(self) -> tuple[int, int]:
        """Shape of the sums by bin of one feature."""
        return self.problem.bins.edges.shape[1], self.problem.n_clusters + 2

    def _kept(self, cell: Cell) -> np.ndarray | None:
        """Sums by feature and bin; None for cells so small that they are soon added up again."""
        from pellucid.kernels.surrogate import add_by_bin

        problem, memo = self.problem, cell.memo
        columns = problem.bins.columns
        parent = memo.pop("parent", None)
        if columns.is_sparse or len(cell.active) < 2 * np.prod(self._shape):
            return None
        rows = cell if parent is None else Cell(parent[1], parent[1][:0], cell.centers)
        kept = np.empty((problem.n_features, *self._shape), dtype=np.int64)

        def work(block: np.ndarray) -> None:
            span = slice(block[0], block[-1] + 1)
            add_by_bin(block, columns, priced, kept[span])
            if parent is not None:
                np.subtract(parent[0][span], kept[span], out=kept[span])

        priced = self._priced(rows)
        features = np.arange(problem.n_features)
        problem.team.map(work, problem.feature_blocks(features, len(rows.active)))
        memo["kept"] = kept
        return kept
