"""Surrogate cost: each side of a cut goes whole to the one center that is cheapest for it."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pellucid.cuts.criterion import Cell, Criterion
from pellucid.cuts.dense_prices import DenseSums
from pellucid.cuts.rival_centers import Rivals, Standing
from pellucid.cuts.search import Cut, open_bins, search_columns
from pellucid.cuts.stored_prices import PriceSums, StoredPrices

_WORTH_KEEPING = 2048
"""Rows of a cell whose sums are quicker to subtract from than to add up again."""

_PROBED = 2
"""Columns that are looked at first: in one of them a cut is mostly nearly as good as the best."""

_WORTH_PROBING = 4
"""Columns for each of these, and centers, that are too many to look at all of them."""

_PAIRS = 3
"""Pairs of centers that are weighed in the time that a center takes in one column."""


class SurrogateCost(Criterion):
    """Least surrogate cost (ExKMC). Any cut between two values will do, centers or not.

    A cell is finished when all its rows are cheapest at one and the same center: no cut can
    gain anything there. Elsewhere a cut is sought that is likely to be good, and then the best one
    among those that send their sides to centers by which as much could be gained. Of the two sides
    of a cut only the smaller is added up by bin; the other has what is left of their parent's sums,
    unless it has to do with other centers.
    """

    in_any_order = True

    def root(self) -> Cell:
        """The cell that holds everything."""
        _ = self._costs  # by the whole team, before its members turn to cells of their own
        return super().root()

    def most_gain(self, cell: Cell) -> int | None:
        """What no cut of the cell gains more than."""
        return self._standing(cell).most_gain or None

    def best_cuts(self, cell: Cell, n: int = 1) -> list[Cut]:
        """Cuts of least surrogate cost; the gain is the decrease, in units of cost."""
        standing = self._standing(cell)
        if not standing.most_gain:
            return []
        # A cut that gains no less goes to no other centers, be it the best or as good as the best.
        wanted = standing.rivals(1) if n > 1 else self._rivals(cell, self._probe(cell))
        sums = self._sums(cell, wanted)
        cuts = self._search(cell, sums, n)
        cell.memo.pop("entries", None)
        return cuts

    def paid(self, cell: Cell) -> int:
        """What the rows of the cell pay at the center that is cheapest for them."""
        return int(self._totals(cell).min())

    def cluster(self, cell: Cell) -> int:
        """The center that is cheapest for the rows of the cell, the lowest of equals."""
        return int(np.argmin(self._totals(cell)))

    def share_out(self, cell: Cell, left: np.ndarray, centers_left: np.ndarray):
        """Both sides know how the centers stand, and one remembers its parent's sums."""
        active, dropped, memos = super().share_out(cell, left, centers_left)
        small = int(len(active[1]) < len(active[0]))
        standing = self._standing(cell)
        some = self._stand(active[small], standing.star)
        memos[small]["standing"], memos[1 - small]["standing"] = some, standing.without(some)
        if "sums" in cell.memo:
            memos[1 - small]["parent"] = (cell.memo.pop("sums"), active[small])
        return active, dropped, memos

    @property
    def _costs(self) -> np.ndarray:
        return self.problem.costs_with_room

    def _stand(self, rows: np.ndarray, star: int | None = None) -> Standing:
        problem = self.problem
        return Standing.of(rows, self._costs, problem.n_clusters, problem.team, star)

    def _totals(self, cell: Cell) -> np.ndarray:
        """What the rows of the cell pay at each center."""
        if "standing" not in cell.memo:
            cell.memo["standing"] = self._stand(cell.active)
        return cell.memo["standing"].totals

    def _standing(self, cell: Cell) -> Standing:
        """How the centers stand, compared with the one that is cheapest for the cell."""
        cheapest = self.cluster(cell)
        if cell.memo["standing"].star != cheapest:
            cell.memo["standing"] = self._stand(cell.active, cheapest)
        return cell.memo["standing"]

    def _probe(self, cell: Cell) -> int:
        """What the best cut gains at least, but no less than 1.

        Columns in which star and its strongest rival are far apart are likely to have good cuts.
        """
        problem, standing = self.problem, self._standing(cell)
        n_probed = min(_PROBED, problem.n_features // _WORTH_PROBING)
        if not n_probed or len(standing.rivals(1)) < _WORTH_PROBING:
            return 1
        centers, rival = problem.centers, int(np.argmax(standing.alone))
        apart = np.abs(centers[rival] - centers[standing.star])
        sums = self._add_up(cell, standing.rivals(max(standing.most_gain // 2, 1)), keep=False)
        scan = self._scan(sums, 0)
        found = np.empty((problem.n_features, 1, 3), dtype=np.int64)
        gain = 1
        for j in np.argsort(-apart, kind="stable")[:n_probed].tolist():
            scan(np.array([j]), sums.add_up(j, j + 1), -1, found)
            gain = max(gain, -int(found[j, 0, 0]))
        return gain

    def _rivals(self, cell: Cell, gain: int) -> np.ndarray:
        """All centers besides star to which cuts that gain as much may send a side."""
        standing = self._standing(cell)
        rivals, n_pairs = standing.rivals(gain), standing.n_pairs(gain)
        n_unsure = len(rivals) - np.count_nonzero(standing.alone >= gain)
        if not n_pairs or n_pairs > _PAIRS * n_unsure * self.problem.n_features:
            return rivals
        if standing.ends is None:
            standing = self._stand(cell.active, standing.star)
        return standing.fewest_rivals(gain, cell.active, self._costs)

    def _sums(self, cell: Cell, wanted: np.ndarray) -> DenseSums | PriceSums:
        """Sums by bin, at least of the wanted rivals."""
        memo, standing = cell.memo, self._standing(cell)
        parent, gone = memo.pop("parent", (None, None))
        if parent is not None and parent.rivals.include(standing.star, wanted):
            if self.problem.bins.is_sparse:
                sums = self._stored.without(parent, gone, cell.active)
            else:
                sums = parent.without(gone, cell.active, standing)
        else:
            self._n_bytes -= 0 if parent is None else parent.nbytes
            sums = self._add_up(cell, wanted, keep=True)
            self._n_bytes += sums.nbytes if sums.is_kept else 0
        if sums.is_kept:
            memo["sums"] = sums
        return sums

    def _add_up(self, cell: Cell, wanted: np.ndarray, *, keep: bool) -> DenseSums | PriceSums:
        """Sums by bin of some rivals, added up anew."""
        problem, rows, standing = self.problem, cell.active, self._standing(cell)
        rivals = Rivals(self._costs, standing.star, wanted, problem.n_samples.bit_length())
        if problem.bins.is_sparse:
            return self._stored.sums_of(rows, rivals, cell.memo, keep=keep)
        room = max(2**24, problem.X.nbytes // 4) - self._n_bytes
        keep = keep and len(rows) >= _WORTH_KEEPING
        keep = keep and 8 * problem.bins.edges.size * rivals.n_sums <= room
        return DenseSums(problem, rivals, rows, standing, keep=keep)

    _n_bytes = 0
    """Of sums that are kept for cells to come."""

    @cached_property
    def _stored(self) -> StoredPrices:
        return StoredPrices(self.problem)

    def _scan(self, sums: DenseSums | PriceSums, paid: int):
        """How to judge the edges of neighbouring columns; says which bins could reach a limit."""
        from pellucid.kernels.surrogate import scan_surrogate

        bins, totals, shift = self.problem.bins, sums.totals, sums.rivals.shift

        def scan(features: np.ndarray, levels: tuple, limit: int, found: np.ndarray) -> np.ndarray:
            wanted, room = np.zeros(bins.edges.shape[1], dtype=bool), np.empty_like(totals)
            how = (totals, shift, paid, bins.inside, limit)
            scan_surrogate(features, *levels, *how, room, found, wanted)
            return wanted

        return scan

    def _search(self, cell: Cell, sums: DenseSums | PriceSums, n: int) -> list[Cut]:
        """The best cuts whose sides go to star or to its rivals."""
        from pellucid.kernels.surrogate import NOTHING, sweep_surrogate

        problem, totals, paid = self.problem, sums.totals, self.paid(cell)
        edges, judge = problem.bins.edges, self._scan(sums, paid)

        def scan(block: np.ndarray, found: np.ndarray) -> None:
            for first, last in sums.blocks(block):
                judge(np.arange(first, last), sums.add_up(first, last), -1, found)

        def refine(feature: int, limit: int) -> np.ndarray:
            levels = begins, which, by_bin = sums.column(feature)
            found = np.empty((problem.n_features, 1, 3), dtype=np.int64)
            wanted = judge(np.array([feature]), levels, limit, found)
            places, codes, values = open_bins(problem, feature, cell.active, wanted)
            below = np.zeros((edges.shape[1] + 1, len(totals)), dtype=np.int64)
            below[1:][which] = by_bin
            np.cumsum(below, axis=0, out=below)
            lines, room = sums.lines_at(places), np.empty_like(totals)
            gain, at = sweep_surrogate(values, codes, lines, below, totals, room)
            cost, edge, _ = found[feature, 0]
            on_edge = (int(cost), edges[feature, edge])
            # Objects, since whole numbers of this size do not fit into floats.
            inside = (paid - int(gain) if gain >= 0 else NOTHING, at)
            return np.array([min(on_edge, inside)], dtype=object)

        features = np.arange(problem.n_features)
        size = len(cell.active)
        cuts = search_columns(problem, features, size, scan, refine, NOTHING, n_best=n)
        return [cut._replace(gain=paid - cut.objective) for cut in cuts]
