"""Surrogate cost: each side of a cut goes whole to the one center that is cheapest for it."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pellucid.cuts.criterion import Cell, Criterion
from pellucid.cuts.search import Cut, open_bins, search_columns
from pellucid.cuts.stored_prices import StoredPrices

_CHUNK = 2**17
"""Sums that are added up and judged together: few enough to stay in cache."""

_SMALL = 2**22
"""Bytes of sums that are kept for as long as a cell is searched, to look into columns."""

_WORTH_KEEPING = 2048
"""Rows of a cell whose sums are quicker to subtract from than to add up again."""


class SurrogateCost(Criterion):
    """Least surrogate cost (ExKMC). Any cut between two values will do, centers or not.

    A cell is finished when all its rows are cheapest at one and the same center: no cut can
    gain anything there. Of the two sides of a cut only the smaller is added up by bin; the other
    has what is left of their parent's sums.
    """

    in_any_order = True

    def root(self) -> Cell:
        """The cell that holds everything."""
        _ = self._prices  # by the whole team, before its members turn to cells of their own
        return super().root()

    def most_gain(self, cell: Cell) -> int | None:
        """What the cell would save if each of its rows paid at its own cheapest center."""
        *totals, least, n_rows = self._totals(cell).tolist()
        return None if n_rows == 0 or min(totals) == least else min(totals) - least

    def best_cuts(self, cell: Cell, n: int = 1) -> list[Cut]:
        """Cuts of least surrogate cost; the gain is the decrease, in units of cost."""
        from pellucid.kernels.surrogate import NOTHING, sweep_surrogate

        problem, active = self.problem, cell.active
        if self.most_gain(cell) is None:
            return []
        sums_of = self._stored if problem.bins.is_sparse else self._dense
        scan, look, lines, totals = sums_of(cell)

        def refine(feature: int, limit: int) -> np.ndarray:
            sums, wanted, (edge_cost, edge, _) = look(feature, limit)
            places, codes, values = open_bins(problem, feature, active, wanted)
            left, last = np.empty(len(totals), dtype=np.int64), int(codes[-1]) if len(codes) else 0
            below = np.zeros((last + 1, len(totals)), dtype=np.int64)
            np.cumsum(sums[:last], axis=0, out=below[1:])
            cost, at = sweep_surrogate(values, codes, lines(places), below, totals, left)
            on_edge = (int(edge_cost), problem.bins.edges[feature, edge])
            # Objects, since whole numbers of this size do not fit into floats.
            return np.array([min(on_edge, (int(cost), at))], dtype=object)

        features = np.arange(problem.n_features)
        cuts = search_columns(problem, features, len(active), scan, refine, NOTHING, n_best=n)
        before = self.paid(cell)
        return [cut._replace(gain=before - cut.objective) for cut in cuts]

    def paid(self, cell: Cell) -> int:
        """What the rows of the cell pay at the center that is cheapest for them."""
        return int(self._totals(cell)[:-2].min())

    def cluster(self, cell: Cell) -> int:
        """The center that is cheapest for the rows of the cell, the lowest of equals."""
        return int(np.argmin(self._totals(cell)[:-2]))

    def share_out(self, cell: Cell, left: np.ndarray, centers_left: np.ndarray):
        """Both sides have their part of the totals, and remember their parent's sums."""
        active, dropped, memos = super().share_out(cell, left, centers_left)
        small = int(len(active[1]) < len(active[0]))
        some = self._add_up(active[small])
        memos[small]["totals"] = some
        memos[1 - small]["totals"] = self._totals(cell) - some
        if "sums" in cell.memo:
            memos[1 - small]["parent"] = (cell.memo.pop("sums"), active[small])
            self._n_kept -= 1
        return active, dropped, memos

    @cached_property
    def _prices(self) -> np.ndarray:
        """For each row its costs, the least of them, and 1."""
        problem, prices = self.problem, self.problem.costs_with_room
        prices[:, -1] = 1
        step = max(1, _CHUNK // prices.shape[1])

        def work(start: int) -> None:
            some = prices[start : start + step]
            least = some[:, -2]
            least[:] = some[:, 0]
            for c in range(1, problem.n_clusters):
                np.minimum(least, some[:, c], out=least)

        problem.team.map(work, range(0, len(prices), step))
        return prices

    def _totals(self, cell: Cell) -> np.ndarray:
        """Sums of the prices of all rows of the cell."""
        if "totals" not in cell.memo:
            cell.memo["totals"] = self._add_up(cell.active)
        return cell.memo["totals"]

    def _add_up(self, rows: np.ndarray) -> np.ndarray:
        from pellucid.kernels.surrogate import add_by_bin

        # As if all were in one bin: a loop less to compile.
        totals = np.zeros((1, 1, self.problem.n_clusters + 2), dtype=np.int64)
        one_bin = np.zeros((1, self.problem.n_samples), dtype=np.uint8)
        add_by_bin(np.array([0]), one_bin, rows, self._prices, self._near(), totals)
        return totals[0, 0]

    def _near(self) -> np.ndarray:
        """Room for the prices of some rows."""
        return np.empty((1024, self.problem.n_clusters + 2), dtype=np.int64)

    def _dense(self, cell: Cell):
        """How to scan the columns and to look into one; prices of the rows there; totals."""
        from pellucid.kernels.surrogate import add_by_bin, scan_surrogate

        bins, prices, totals = self.problem.bins, self._prices, self._totals(cell)
        width, n_prices = bins.edges.shape[1], len(totals)
        parent, rows = cell.memo.pop("parent", (None, cell.active))
        shape = (self.problem.n_features, width, n_prices)
        kept = self._room(cell, shape)
        if kept is None and 8 * np.prod(shape) <= _SMALL:
            kept = np.empty(shape, dtype=np.int64)
        step = max(1, _CHUNK // (width * n_prices))
        begins = width * np.arange(step + 1)
        which = np.tile(np.arange(width, dtype=bins.codes.dtype), step)

        def scan(block: np.ndarray, found: np.ndarray) -> None:
            wanted = np.empty(width, dtype=bool)
            scratch = np.empty((step if kept is None else 0, width, n_prices), dtype=np.int64)
            near, below = self._near(), np.empty_like(totals)
            for start in range(0, len(block), step):
                few = block[start : start + step]
                span = slice(few[0], few[-1] + 1)
                sums = scratch[: len(few)] if kept is None else kept[span]
                sums.fill(0)
                add_by_bin(few, bins.codes, rows, prices, near, sums)
                if parent is not None:
                    np.subtract(parent[span], sums, out=sums)
                levels = (begins[: len(few) + 1], which, sums.reshape(-1, n_prices))
                scan_surrogate(few, *levels, totals, bins.inside, -1, below, found, wanted)

        def look(feature: int, limit: int):
            only, wanted = np.array([feature]), np.empty(width, dtype=bool)
            below = np.empty_like(totals)
            found = np.empty((self.problem.n_features, 1, 3), dtype=np.int64)
            if kept is None:
                sums = np.zeros((1, width, n_prices), dtype=np.int64)
                add_by_bin(only, bins.codes, cell.active, prices, self._near(), sums)
            else:
                sums = kept[feature : feature + 1]
            levels = (begins[:2], which, sums[0])
            scan_surrogate(only, *levels, totals, bins.inside, limit, below, found, wanted)
            return sums[0], wanted, found[feature, 0]

        def lines(places: np.ndarray) -> np.ndarray:
            return prices.take(cell.active[places], axis=0)

        return scan, look, lines, totals

    def _room(self, cell: Cell, shape: tuple[int, int, int]) -> np.ndarray | None:
        """Where to keep the cell's sums; None where it is not worth the time or the memory."""
        allowed = max(2**24, self.problem.X.nbytes // 4) // (8 * np.prod(shape))
        if len(cell.active) < _WORTH_KEEPING or self._n_kept >= allowed:
            return None
        self._n_kept += 1
        cell.memo["sums"] = np.empty(shape, dtype=np.int64)
        return cell.memo["sums"]

    _n_kept = 0

    def _stored(self, cell: Cell):
        """The same for CSC columns."""
        from pellucid.kernels.surrogate import scan_surrogate

        bins, stored = self.problem.bins, self._stored_prices
        parent, gone = cell.memo.pop("parent", (None, None))
        if parent is not None:
            sums = stored.without(parent, gone)
        else:
            sums = stored.sums_of(cell.active, self._totals(cell))
        if sums.kept is not None:
            cell.memo["sums"] = sums
            self._n_kept += 1
        totals, width = self._totals(cell)[sums.columns], bins.edges.shape[1]

        def scan(block: np.ndarray, found: np.ndarray) -> None:
            wanted, below = np.empty(width, dtype=bool), np.empty_like(totals)
            for first, last in sums.blocks(block):
                few, levels = np.arange(first, last), sums.columns_between(first, last, totals)
                scan_surrogate(few, *levels, totals, bins.inside, -1, below, found, wanted)

        def look(feature: int, limit: int):
            only, wanted = np.array([feature]), np.zeros(width, dtype=bool)
            below = np.empty_like(totals)
            found = np.empty((self.problem.n_features, 1, 3), dtype=np.int64)
            levels = sums.columns_between(feature, feature + 1, totals)
            scan_surrogate(only, *levels, totals, bins.inside, limit, below, found, wanted)
            by_code = np.zeros((width, len(totals)), dtype=np.int64)
            by_code[levels[1]] = levels[2]
            return by_code, wanted, found[feature, 0]

        def lines(places: np.ndarray) -> np.ndarray:
            return sums.prices[places if sums.is_local else cell.active[places]]

        return scan, look, lines, totals

    @cached_property
    def _stored_prices(self) -> StoredPrices:
        return StoredPrices(self.problem, self._prices)
