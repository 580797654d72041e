"""Trees that agree with given labels: CART's tree, improved by local search.

The objective is the weight of the rows whose leaf has another label (mistakes); ties go to the tree
of fewer conditions per row. Rows of equal values and label are one row with their total weight, in
the order of a hash. So neither the order of the rows, nor their storage, nor whether a row is
weighted or repeated changes the tree. The loops are in `pellucid._core.kernels.label_search`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.criteria.problem import Problem
from pellucid._core.growers.cart import as_leaf, fit_classifier, fits_single_precision
from pellucid._core.growers.growing_tree import GrowthResult
from pellucid._core.refine.local_search import TreeLimits
from pellucid._core.refine.local_search_data import coarse_codes, cut_value, sample_problem
from pellucid._core.refine.mutable_tree import Cut, build_tree
from pellucid.tree import LEAF
from pellucid.tree.rounding import ThresholdStyle

MAX_ROWS = 2**15  # different rows up to which a search uses all of them
MAX_VALUES = 2**20  # different rows times columns up to which it does (convention)
# Rows times columns and nodes up to which the tree of a sample is improved on all rows. They take 3
# bytes each, and columns 8 while they are ranked.
MAX_POLISHED_VALUES = 2**28
MAX_SUMS = 2**22  # nodes times columns times coarse steps up to which all sums are kept
MAX_RANKS = 2**16  # of a column; one with more different values is cut between some of them only
MAX_DEPTH = 3  # of the trees whose least mistakes can be proven

WORK = {"fast": 0.2, "balanced": 1.0, "best": 20.0}
"""Work by effort. Measured: 20 times the work found 0.3 points fewer mistakes in the mean of the
label cases of `benchmarks quality --only labels`."""

WORK_OF_ANY, WORK_OF_VALUE, WORK_OF_RANK = 1e7, 1100.0, 2500.0
"""Work of a search, that of every value, and of every different value of a column.

Measured on a busy machine: whole fits of the 46 label cases of `benchmarks quality --only labels`
then take 3 to 18 times as long as scikit-learn's CART.
"""

TEMPERATURE, N_ROUNDS, SEED = 0.05, 5, 1
"""Part of the mistakes that a step may lose at first; how often the search returns to its best
tree; seed of all random numbers.

Measured on 92 cases: half or twice of each changes the mean agreement by less than 0.08 points.
New splits on all columns, instead of the square root of their number, lose 0.2 points.
"""

# Parts of the work of a search before a proof is tried, for depth two and above; of the proof, and
# of the search after it, unless `max_depth` is given (conventions).
FIRST_PART, FIRST_PART_OF_THREE, PROOF_PART, LAST_PART = 0.02, 0.2, 0.35, 0.3
PROOF_WORK = {"fast": 2e7, "balanced": 2e9, "best": 5e10}
"""Most work of a proof if `max_depth` is given, by effort. Convention.

Measured on a busy machine: proofs of depth three that "balanced" ended took 5 seconds. With half of
it the tree for k-means labels of breast cancer (k = 5, eight leaves) had 77 mistakes instead of 75.
"""

Nodes = list[Cut | None]
"""A tree from its root on; None is a leaf."""


class LabelTree(NamedTuple):
    """A tree that was found, its objective, and its weighted number of conditions.

    No tree within the limits has fewer mistakes than `bound`, in units.
    """

    nodes: Nodes
    objective: float
    size: float
    bound: int = 0


class RankedLabels:
    """The different rows of a problem by the ranks of their values, with labels and weights.

    Of columns with more than `MAX_RANKS` values, some are ranks, the values of `trees` among them.
    """

    def __init__(self, problem: Problem, trees: list[Nodes]) -> None:
        from pellucid._core.kernels.local_search import N_CODES

        shape, weight = problem.X.shape, problem.weights.units
        self.n_labels = problem.n_clusters
        self.own = np.stack([problem.labels.astype(np.int64), weight])
        self.rank, self.code = np.empty(shape[::-1], np.uint16), np.empty(shape, np.uint8)
        self.ends = np.empty((shape[1], N_CODES), np.int64)
        self.values: list[np.ndarray] = [np.empty(0)] * shape[1]
        self._is_coarse = [False] * shape[1]
        cuts: list[list[float]] = [[] for _ in range(shape[1])]
        for cut in (cut for nodes in trees for cut in nodes if cut is not None):
            cuts[cut.feature].append(cut.value)

        def rank_column(j: int) -> None:
            column = np.asarray(problem.column(j), dtype=np.float64)
            values, rank = np.unique(column, return_inverse=True)
            self._is_coarse[j] = len(values) > MAX_RANKS
            if self._is_coarse[j]:
                kept = np.linspace(0, len(values) - 1, MAX_RANKS - len(cuts[j])).astype(np.intp)
                own = np.searchsorted(values, cuts[j], "right") - 1
                kept = np.unique(np.concatenate([kept, own[own >= 0]]))
                values, rank = values[kept], np.searchsorted(kept, rank)
            # Units are whole and their total is below 2**52, so that sums of floats are exact.
            steps = coarse_codes(rank, weight, len(values))
            self.values[j], self.rank[j], self.code[:, j] = values, rank, steps[rank]
            self.ends[j] = np.searchsorted(steps, np.arange(N_CODES), side="right") - 1

        problem.pool.map(rank_column, range(shape[1]))
        self.ends = np.ascontiguousarray(self.ends[:, : int(self.code.max(initial=0)) + 1])
        n_ranks = sum(map(len, self.values))
        self.work = WORK_OF_ANY + WORK_OF_VALUE * self.rank.size + WORK_OF_RANK * n_ranks

    def search(
        self,
        start: Nodes,
        limits: TreeLimits,
        *,
        work: float = 0.0,
        penalty: float = 0.0,
        cover: float = 0.0,
    ) -> LabelTree:
        """The best tree that a search from `start` finds, which is within the limits.

        A label without a leaf counts as `cover` mistakes, and a condition of a row as `penalty`.
        """
        from pellucid._core.kernels import label_search as loops

        (d, n), n_nodes = self.rank.shape, 2 * limits.n_leaves - 1
        best = np.full((loops.N_NODE_ROWS, n_nodes), -1, dtype=np.int64)
        best[loops.END, : len(start)] = 0
        split_rows = [loops.FEATURE, loops.RANK, loops.LEFT, loops.RIGHT]
        for i, cut in enumerate(start):
            if cut is not None:
                rank = np.searchsorted(self.values[cut.feature], cut.value, "right") - 1
                best[split_rows, i] = cut.feature, rank, cut.left, cut.right
        sizes = [np.inf if s is None else s for s in (limits.max_depth, limits.max_conditions)]
        n_columns = max(2, int(np.ceil(np.sqrt(d))))
        prices = TEMPERATURE, cover, penalty
        settings = np.array([*sizes, n_columns, N_ROUNDS, max(work, 1.0), *prices, 0.0, 0.0])
        rows = np.arange(n, dtype=np.int32)
        longest, n_codes = max(map(len, self.values)), self.ends.shape[1]
        n_kept = n_nodes if n_nodes * d * n_codes <= MAX_SUMS else 1
        scratch = (
            np.empty((n_nodes, n), dtype=np.int8),
            np.empty((n_nodes, n), dtype=np.int8),
            np.zeros((n_kept + 1, n), dtype=np.int8),
            np.zeros((n_kept, d, n_codes, 1 + (longest > n_codes)), dtype=np.int64),
            np.empty((5, max(n, n_nodes + 2) + 1), dtype=np.int32),
            np.empty(longest, dtype=np.int64),
            np.empty((n_codes + 3, self.n_labels), dtype=np.int64),
            np.empty(n_nodes),
        )
        data, trees = (self.rank, self.code, self.ends, self.own), (best, best.copy(), best.copy())
        loops.search_labels(
            *data, *trees, rows, rows.copy(), *scratch, settings, np.array([SEED, 0])
        )
        objective, size = settings[[loops.OBJECTIVE, loops.SIZE]].tolist()
        splits = [None if split[2] < 0 else split for split in best[split_rows].T.tolist()]
        return LabelTree(self.nodes_of(0, splits.__getitem__), objective, size)

    def nodes_of(self, root: Any, split_of: Callable[[Any], Any]) -> Nodes:
        """A tree as a list; `split_of` has column, rank and children of a node, None of a leaf."""
        nodes, order = Nodes(), [root]
        for node in order:  # grows while it is read
            if (split := split_of(node)) is None:
                nodes.append(None)
                continue
            feature, rank, *children = split
            nodes.append(Cut(feature, self._cut_value(feature, rank), len(order), len(order) + 1))
            order += children
        return nodes

    def _cut_value(self, feature: int, rank: int) -> float:
        """A number between the values of a column up to a rank and those above."""
        values = self.values[feature]
        is_coarse = self._is_coarse[feature] and 0 <= rank < len(values) - 1
        return float(values[rank]) if is_coarse else cut_value(values, rank)


class Proof(NamedTuple):
    """A lower bound of the mistakes, 0 without proof, and a tree with fewer than the limit.

    The tree is nested: ``(feature, rank, left, right)``, or None for a leaf.
    """

    bound: int
    tree: Any = None


class ExactSearch:
    """Searches of all trees over ranked rows, `rank` and `own` as in `label_search`."""

    def __init__(self, rank: np.ndarray, own: np.ndarray, n_labels: int) -> None:
        n = len(rank)
        self.rank, self.n_labels = np.ascontiguousarray(rank.T), n_labels
        self.label, self.weight = own[:, 0].astype(np.int32), np.ascontiguousarray(own[:, 1])
        self._everything = np.argsort(self.rank, axis=1, kind="stable").astype(np.int32)
        self._side, self._goes = np.empty((2, n), np.int8)
        self._scratch = np.empty((2, 2, n_labels), np.int64), np.empty((4, 8), np.int64)
        self._stacks = np.empty((2, 14, n + 2), np.int64)

    def prove(self, depth: int, n_leaves: int, limit: int, max_work: float) -> Proof:
        """The least mistakes, or that they are at least `limit`; a bound of 0 if work is too short.

        With fewer leaves than a tree of this depth can have, and more than four, it is a bound.
        """
        is_done, (value, *cut) = self._solve(self._everything, depth, n_leaves, limit, max_work)
        if value >= limit:
            return Proof(limit * is_done)
        return Proof(value * is_done, self._tree(self._everything, depth, n_leaves, cut))

    def _solve(
        self,
        order: np.ndarray,
        depth: int,
        n_leaves: int,
        limit: int = 2**62,
        max_work: float = 2**62,
    ) -> tuple[bool, list[int]]:
        """Whether the work was enough; mistakes, column and rank of the cut."""
        from pellucid._core.kernels import label_bounds as loops

        found = np.array([0, -1, -1, 0, int(max_work), self.weight.max()])
        rows, n = (self.rank, self.label, self.weight, order), order.shape[1]
        side, scratch, stacks, is_done = self._side, self._scratch, self._stacks, True
        if depth == 1 or n_leaves == 2:
            loops.solve_one(*rows, n, limit, side, *scratch, found)
        elif depth == 2 or n_leaves == 3:
            most = 3 * (n_leaves == 3)
            is_done = loops.solve_two(*rows, n, limit, most, side, *scratch, stacks[0], found)
        else:
            part, goes = np.empty_like(order), self._goes
            most = 4 * (n_leaves == 4)
            args = (*rows, part, limit, most, side, goes, *scratch, stacks, found)
            is_done = loops.solve_three(*args)
        return is_done, found[:3].tolist()

    def _tree(self, order: np.ndarray, depth: int, n_leaves: int, cut: Any = None) -> Any:
        """The best tree of the rows of `order`, or that of a cut."""
        if depth == 0 or n_leaves == 1 or order.shape[1] == 0:
            return None
        feature, rank = cut or self._solve(order, depth, n_leaves)[1][1:]
        if feature < 0:
            return None
        goes_left, shape = self.rank[feature] <= rank, (len(order), -1)
        sides = [order[kept[order]].reshape(shape) for kept in (goes_left, ~goes_left)]
        choices = [(n_leaves // 2, n_leaves // 2)]
        if n_leaves == 3 or (n_leaves == 4 and depth > 2):
            choices = [(n, n_leaves - n) for n in range(1, n_leaves)]
        totals = [
            sum(self._least(side, depth - 1, n) for side, n in zip(sides, leaves))
            for leaves in choices
        ]
        leaves = choices[totals.index(min(totals))]
        return feature, rank, *(self._tree(s, depth - 1, n) for s, n in zip(sides, leaves))

    def _least(self, order: np.ndarray, depth: int, n_leaves: int) -> int:
        """Least mistakes of the rows of `order`."""
        if depth == 0 or n_leaves == 1 or order.shape[1] == 0:
            units = np.zeros(self.n_labels, np.int64)
            np.add.at(units, self.label[order[0]], self.weight[order[0]])
            return int(units.sum() - units.max())
        return self._solve(order, depth, n_leaves)[1][0]


class LabelSearch:
    """Searches of trees for the labels of a problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        n_rows = min(MAX_ROWS, max(MAX_VALUES // problem.n_features, 1))
        self.sample = sample_problem(problem, n_rows)
        self.is_whole = self.sample.weights.units.sum() == problem.weights.units.sum()
        self._ranked = RankedLabels(self.sample, [])

    def find(
        self, limits: TreeLimits, effort: str, *, penalty: float = 0.0, covers: bool = False
    ) -> LabelTree:
        """The best tree within the limits; `covers` puts a leaf for every label first."""
        total = float(self.problem.weights.units.sum())
        options = {"penalty": penalty, "cover": total * covers}
        problem, start = self.sample if self.is_whole else self.problem, Nodes([None])
        if limits.n_leaves > 1 and fits_single_precision(problem.X):
            start = _cart(problem, limits)
        # The time of CART, too, grows with the logarithm of the leaves; 1 for ten of them.
        work = WORK[effort] * self._ranked.work * np.log2(limits.n_leaves + 1) / np.log2(11)
        depth = min(limits.n_leaves - 1, limits.max_depth or limits.n_leaves)
        is_provable = self.is_whole and not (penalty or covers or limits.max_conditions)
        if is_provable and 1 <= depth <= MAX_DEPTH:
            # Proofs of depth two take less time than a search.
            part = FIRST_PART if depth <= 2 else FIRST_PART_OF_THREE
            first = self._ranked.search(start, limits, work=part * work)
            is_free = limits.max_depth is None
            most, rest = (PROOF_PART * work, LAST_PART) if is_free else (PROOF_WORK[effort], 1.0)
            proven = self._prove(first, depth, limits, most)
            if proven.bound == proven.objective:
                return proven
            start, bound = proven.nodes, proven.bound
            return self._ranked.search(start, limits, work=rest * work)._replace(bound=bound)
        found = self._ranked.search(start, limits, work=work, **options)
        n_values = problem.n_samples * (problem.n_features + 2 * limits.n_leaves)
        if self.is_whole or n_values > MAX_POLISHED_VALUES:
            return found
        ranked = RankedLabels(problem, [found.nodes, start])
        polished = [ranked.search(tree, limits, **options) for tree in (found.nodes, start)]
        return min(polished, key=lambda tree: (tree.objective, tree.size))

    def _prove(
        self, found: LabelTree, depth: int, limits: TreeLimits, max_work: float
    ) -> LabelTree:
        """The tree, or a better one, with the bound that is proven by this work."""
        ranked, n_leaves = self._ranked, limits.n_leaves
        exact = ExactSearch(ranked.rank.T, ranked.own.T, ranked.n_labels)
        proof = exact.prove(depth, n_leaves, int(found.objective), max_work)
        is_allowed = n_leaves <= 4 or n_leaves >= 2**depth
        if proof.tree is not None and is_allowed:
            found = ranked.search(ranked.nodes_of(proof.tree, lambda tree: tree), limits)
        return found._replace(bound=proof.bound)

    def growth(self, nodes: Nodes, threshold_style: ThresholdStyle) -> GrowthResult:
        """A tree on the rows of the problem, without leaves that no row reaches."""
        builder, leaves = build_tree(self.problem, nodes, threshold_style)
        labels, units = self.problem.labels, self.problem.weights.units
        for number, (_, rows) in leaves.items():
            builder.set_cluster(number, int(np.bincount(labels[rows], units[rows]).argmax()))
        return GrowthResult(builder, [], {n: as_leaf(rows) for n, (_, rows) in leaves.items()})


def grow_for_labels(
    problem: Problem,
    limits: TreeLimits,
    max_leaves: int,
    effort: str,
    threshold_style: ThresholdStyle,
    penalty: float,
) -> tuple[GrowthResult, int]:
    """The tree of fewest mistakes, with up to `max_leaves` if a label would have no leaf.

    Also returns a lower bound of the mistakes of all trees with as many leaves, in units.
    """
    search, k = LabelSearch(problem), problem.n_clusters
    found = search.find(limits, effort, penalty=penalty)
    growth, bound = search.growth(found.nodes, threshold_style), found.bound
    n_missing = k - _count_labels(growth)
    for n_leaves in sorted({min(limits.n_leaves + n_missing, max_leaves), max_leaves}):
        if not n_missing or n_leaves <= limits.n_leaves:
            continue
        found = search.find(
            replace(limits, n_leaves=n_leaves), effort, penalty=penalty, covers=True
        )
        larger = search.growth(found.nodes, threshold_style)
        if k - _count_labels(larger) < n_missing:
            growth, n_missing, bound = larger, k - _count_labels(larger), 0
    return growth, bound


def _count_labels(growth: GrowthResult) -> int:
    return len({growth.builder.nodes[leaf].cluster for leaf in growth.leaves})


def _cart(problem: Problem, limits: TreeLimits) -> Nodes:
    """CART's tree; scikit-learn compares values in single precision."""
    tree = fit_classifier(problem, limits.n_leaves, 0, limits.safe_depth).tree_
    fields = tree.feature, tree.threshold, tree.children_left, tree.children_right
    return [
        None if left == LEAF else Cut(feature, _largest_double(threshold), left, right)
        for feature, threshold, left, right in zip(*(array.tolist() for array in fields))
    ]


def _largest_double(threshold: float) -> float:
    """The largest number that is at most a threshold when it is rounded to single precision."""
    below = np.float32(threshold)
    if float(below) > threshold:
        below = np.nextafter(below, np.float32(-np.inf))
    above = np.nextafter(below, np.float32(np.inf))
    middle = (float(below) + float(above)) / 2
    return middle if np.float32(middle) == below else float(np.nextafter(middle, -np.inf))
