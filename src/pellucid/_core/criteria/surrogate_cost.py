"""Surrogate cost: each side of a cut goes whole to the one center that is cheapest for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from pellucid._core.criteria.base import Criterion, InheritedHistogram, Node, NodeRows
from pellucid._core.criteria.column_search import Split, rows_in_bins, search_columns
from pellucid._core.criteria.surrogate_bounds import Rivals, Standing
from pellucid._core.criteria.surrogate_histograms import TOGETHER, DenseSums
from pellucid._core.criteria.surrogate_pairs import Paired, best_paired_cut
from pellucid._core.criteria.surrogate_sparse import Entries, PriceSums, StoredPrices

_PROBED = 2
"""Columns that are looked at first: in one of them a cut is mostly nearly as good as the best."""

_STRONGEST = 7
"""Centers to which such cuts send a side."""

_WORTH_PROBING = 160
"""Columns times centers that are too many to look at where fewer may do."""

_PAIRS = 3
"""Pairs of centers that are weighed in the time that a center takes in one column."""


@dataclass(slots=True)
class SurrogateState:
    """What is stored about a node.

    Attributes
    ----------
    standing : Standing, optional
        Bounds on what each center can gain; None until needed.
    start_cluster : int, optional
        Cluster of the leaf in the start tree.
    sums : PriceSums, optional
        Histogram of sparse data, if it is stored.
    inherited : InheritedHistogram, optional
        The parent's sums and the rows of the sibling.
    entries : Entries, optional
        Stored entries of the node's rows, while the node is searched.
    """

    standing: Standing | None = None
    start_cluster: int | None = None
    sums: PriceSums | None = None
    inherited: InheritedHistogram | None = None
    entries: Entries | None = None


class SurrogateCost(Criterion[SurrogateState]):
    """Least surrogate cost (ExKMC). Any cut between two values will do, centers or not.

    A node is finished when all its rows are cheapest at one and the same center: no cut can
    gain anything there. Where few pairs of centers could be the best to send the two sides to, they
    are looked at one by one. Elsewhere a cut is sought that is likely to be good, and then the best
    one among those that send their sides to centers by which as much could be gained. Of sparse
    data, only the smaller of the two sides of a cut is added up by bin; the other has what is left
    of their parent's sums, unless it has to do with other centers.
    """

    nodes_are_independent = True

    @property
    def min_rows_to_share_columns(self) -> int:
        """Rows of a node whose columns are too little work to be shared out."""
        return self.problem.too_few_to_share

    def start_state(self, cluster: int | None = None) -> SurrogateState:
        """State of the root, or of a leaf of a start tree."""
        return SurrogateState(start_cluster=cluster)

    def root(self) -> Node[SurrogateState]:
        """The node that holds everything."""
        _ = self.problem.costs  # by the whole pool, before its members turn to cells of their own
        return super().root()

    def gain_bound(self, node: Node) -> int | None:
        """What no cut of the node gains more than."""
        return self._standing(node).most_gain or None

    def best_splits(self, node: Node, n: int = 1) -> list[Split]:
        """Cuts of least surrogate cost; the gain is the decrease, in units of cost."""
        standing = self._standing(node)
        if not standing.most_gain:
            return []
        by_pairs = Paired(None)
        if n == 1 and not self.problem.bins.is_sparse:
            by_pairs = best_paired_cut(self.problem, node.rows.active, standing)
            if by_pairs.cut is not None:
                return [by_pairs.cut]
        wanted, is_enough = by_pairs.rivals, True
        if wanted is None:
            wanted, is_enough = self._first_rivals(node, n)
        sums = self._sums(node, wanted)
        cuts = self._search(node, sums, n)
        if cuts and not is_enough:
            # Cuts that are only as good matter too: of equals, that of the first column is taken.
            gain, has_all = max(cuts[0].gain, 1), partial(sums.rivals.include, standing.star)
            if not (has_all(standing.rivals(gain)) or has_all(needed := self._rivals(node, gain))):
                cuts = self._search(node, self._add_up(node, needed, keep=False), n)
        node.state.entries = None
        return cuts

    def paid(self, node: Node) -> int:
        """What the rows of the node pay at the center that is cheapest for them."""
        standing = self._some_standing(node)
        return int(standing.totals[standing.cheapest])

    def cluster(self, node: Node) -> int:
        """The center that is cheapest for the rows of the node, the lowest of equals."""
        return self._some_standing(node).cheapest

    def child_states(self, node: Node, left: NodeRows, right: NodeRows):
        """Both children have their bounds, and the larger one inherits the parent's sums."""
        sides, standing = (left.active, right.active), self._standing(node)
        states = SurrogateState(), SurrogateState()
        small = int(len(sides[1]) < len(sides[0]))
        states[small].standing = smaller = self._stand(sides[small], standing.star)
        states[1 - small].standing = standing.without(smaller)
        if node.state.sums is not None:
            states[1 - small].inherited = InheritedHistogram(node.state.sums, sides[small])
            node.state.sums = None  # the child changes it in place
        return states

    def _stand(self, rows: np.ndarray, star: int | None = None) -> Standing:
        return Standing.of(rows, self.problem.costs, self.problem.pool, star)

    def _some_standing(self, node: Node) -> Standing:
        """How the centers stand, compared with whichever of them."""
        state = node.state
        if state.standing is None:
            state.standing = self._stand(node.rows.active, state.start_cluster)
        return state.standing

    def _standing(self, node: Node) -> Standing:
        """The same, compared with the one that is cheapest for the node."""
        standing = self._some_standing(node)
        if standing.star != standing.cheapest:
            standing = node.state.standing = self._stand(node.rows.active, standing.cheapest)
        return standing

    def _first_rivals(self, node: Node, n: int) -> tuple[np.ndarray, bool]:
        """Centers to look at besides star, and whether no others can matter to the n best cuts."""
        problem, standing = self.problem, self._standing(node)
        n_rows = len(node.rows.active)
        if n > 1 or (problem.bins.is_sparse and 2 * n_rows > problem.n_samples):
            return standing.rivals(1), True  # sums that are kept serve all cells to come
        likely = standing.rivals((standing.most_gain + 1) // 2)
        parent = node.state.inherited and node.state.inherited.parent
        is_there = parent is not None and parent.rivals.include(standing.star, likely)
        n_sums = problem.n_features * len(likely)
        if is_there or problem.bins.is_sparse or n_sums < _WORTH_PROBING:
            return likely, False
        return self._rivals(node, self._probe(node)), True

    def _probe(self, node: Node) -> int:
        """What the best cut gains at least, but no less than 1.

        Columns in which star and its strongest rival are far apart are likely to have good cuts.
        """
        problem, standing = self.problem, self._standing(node)
        centers, rival = problem.centers, int(np.argmax(standing.alone))
        apart = np.abs(centers[rival] - centers[standing.star])
        probed = np.argsort(-apart, kind="stable")[:_PROBED]
        strongest = np.argsort(-standing.alone, kind="stable")[:_STRONGEST]
        sums = self._add_up(node, np.sort(strongest), keep=False)
        found = np.empty((problem.n_features, 1, 3), dtype=np.int64)
        for features, levels in sums.probe(probed):
            judge(features, levels, sums, 0, problem.bins.inside, -1, found)
        return max(1, -int(found[probed, 0, 0].min()))

    def _rivals(self, node: Node, gain: int) -> np.ndarray:
        """All centers besides star to which cuts that gain as much may send a side."""
        standing = self._standing(node)
        rivals, n_pairs = standing.rivals(gain), standing.n_pairs(gain)
        n_unsure = len(rivals) - np.count_nonzero(standing.alone >= gain)
        if not n_pairs or n_pairs > _PAIRS * n_unsure * self.problem.n_features:
            return rivals
        return standing.fewest_rivals(gain, node.rows.active, self.problem.costs)

    def _sums(self, node: Node, wanted: np.ndarray) -> DenseSums | PriceSums:
        """Sums by bin, at least of the wanted rivals."""
        inherited, node.state.inherited = node.state.inherited, None
        star = self._standing(node).star
        if inherited is not None and inherited.parent.rivals.include(star, wanted):
            sums = self._stored.without(*inherited, node.rows.active)
        else:
            sums = self._add_up(node, wanted, keep=True)
        if sums.is_kept:
            node.state.sums = sums
        return sums

    def _add_up(self, node: Node, wanted: np.ndarray, *, keep: bool) -> DenseSums | PriceSums:
        """Sums by bin of some rivals, added up anew; those of sparse data may be kept."""
        problem, rows, standing = self.problem, node.rows.active, self._standing(node)
        if not problem.bins.is_sparse:
            wanted = standing.with_next_best(wanted, -(len(wanted) + 1) % TOGETHER)
        rivals = Rivals(self.problem.costs, standing.star, wanted, problem.n_samples.bit_length())
        if problem.bins.is_sparse:
            return self._stored.sums_of(rows, rivals, node.state, keep=keep)
        return DenseSums(problem, rivals, rows, standing)

    @cached_property
    def _stored(self) -> StoredPrices:
        return StoredPrices(self.problem)

    def _search(self, node: Node, sums: DenseSums | PriceSums, n: int) -> list[Split]:
        """The best cuts whose sides go to star or to its rivals."""
        from pellucid._core.kernels.surrogate_cost import NOTHING

        problem, paid = self.problem, self.paid(node)
        bins, one = problem.bins, np.zeros(1, dtype=np.intp)

        def scan(block: np.ndarray, found: np.ndarray) -> None:
            for few in sums.blocks(block):
                judge(few, sums.add_up(few), sums, paid, bins.inside, -1, found)

        def refine(feature: int, limit: int) -> np.ndarray:
            found, levels = np.empty((1, 1, 3), dtype=np.int64), sums.column(feature)
            inside = bins.inside[feature : feature + 1]
            wanted = judge(one, levels, sums, paid, inside, limit, found)
            lines, at = self._open(node, sums, feature, levels, wanted)
            levels = np.array([0, len(lines)]), np.arange(len(lines)), lines
            judge(one, levels, sums, paid, np.zeros((1, len(lines)), dtype=bool), -1, found)
            cost, place, _ = found[0, 0].tolist()
            # Objects, since whole numbers of this size do not fit into floats.
            return np.array([(cost, at[place])], dtype=object)

        features, size = np.arange(problem.n_features), len(node.rows.active)
        cuts = search_columns(problem, features, size, scan, refine, NOTHING, n_best=n)
        return [cut._replace(gain=paid - cut.objective) for cut in cuts]

    def _open(self, node: Node, sums: DenseSums | PriceSums, feature: int, levels, wanted):
        """Sums of a column by bin, or by value in the wanted bins, and where to cut above each."""
        _, which, by_bin = levels
        places, codes, values = rows_in_bins(self.problem, feature, node.rows.active, wanted)
        edges, closed = self.problem.bins.edges[feature], ~wanted[which]
        which, by_bin = which[closed], by_bin[closed]
        if not len(values):
            return by_bin, edges[which]
        lines = sums.lines_at(places)
        is_new = values[1:] != values[:-1]
        if not is_new.all():
            first = np.flatnonzero(np.concatenate([[True], is_new]))
            lines, codes, values = np.add.reduceat(lines, first), codes[first], values[first]
        # The cut above the last value of a bin is the one at its edge.
        last = np.flatnonzero(np.concatenate([codes[1:] != codes[:-1], [True]]))
        values[last] = edges[codes[last]]
        by_value = np.arange(len(codes)) + which.searchsorted(codes)
        rest = np.arange(len(which)) + codes.searchsorted(which)
        n_lines = len(codes) + len(which)
        at, lines_there = np.empty(n_lines), np.empty((n_lines, lines.shape[1]), dtype=np.int64)
        at[by_value], at[rest] = values, edges[which]
        lines_there[by_value], lines_there[rest] = lines, by_bin
        return lines_there, at


def judge(features, levels, sums, paid, inside, limit, found) -> np.ndarray:
    """Judge the edges of neighbouring columns; says which bins of the last could reach a limit."""
    from pellucid._core.kernels.surrogate_cost import scan_surrogate

    totals, shift = sums.totals, sums.rivals.shift
    wanted, room = np.zeros(max(inside.shape[1], 1), dtype=bool), np.empty_like(totals)
    scan_surrogate(features, *levels, totals, shift, paid, inside, limit, room, found, wanted)
    return wanted
