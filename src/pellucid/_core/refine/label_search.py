"""Trees that agree with given labels: CART's tree, improved by local search.

The objective is the weight of the rows whose leaf has another label (mistakes); ties go to the tree
of fewer conditions per row. Rows of equal values and label are one row with their total weight, in
the order of a hash. So neither the order of the rows, nor their storage, nor whether a row is
weighted or repeated changes the tree. The loops are in `pellucid._core.kernels.label_search`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.criteria.problem import Problem
from pellucid._core.growers.cart import as_leaf, fit_classifier, fits_single_precision
from pellucid._core.growers.growing_tree import GrowthResult
from pellucid._core.refine.local_search import TreeLimits
from pellucid._core.refine.local_search_data import sample_problem
from pellucid.tree import LEAF, TreeBuilder
from pellucid.tree.rounding import ThresholdStyle, choose_threshold

MAX_ROWS = 2**15
"""Different rows up to which a search uses all of them."""

MAX_VALUES = 2**20
"""Different rows times columns up to which a search uses all rows. Convention."""

MAX_POLISHED_VALUES = 2**28
"""Rows times columns up to which the tree of a sample is improved on all rows. They take 3 bytes
each, and 8 while they are ranked."""

MAX_RANKS = 2**16
"""Steps of a column; one with more different values is cut between some of them only."""

WORK = {"fast": 0.2, "balanced": 1.0, "best": 20.0}
"""Work by effort. Measured: 20 times the work found 0.3 points fewer mistakes in the mean of the
label cases of `benchmarks quality --only labels`."""

WORK_OF_ANY, WORK_OF_VALUE, WORK_OF_RANK = 1.2e7, 800.0, 250.0
"""Work of a search, that of every value, and of every different value of a column.

Measured: whole fits of 46 cases then take 3 to 15 times as long as scikit-learn's CART, on a busy
machine; 1e7, 450 and 150 lose 0.06 points of agreement.
"""

MAX_DEPTH = 3
"""Depth of the trees whose least mistakes can be proven."""

TEMPERATURE, N_ROUNDS, N_IMPROVED, SEED = 0.05, 5, 16, 1
"""Part of the mistakes that a step may lose at first; how often the search returns to its best
tree; columns among which a step first improves cuts; seed of all random numbers.

Measured: half or twice of each changes the mean agreement by less than 0.05 points.
"""


FIRST_PART = 0.02, 0.25
"""Parts of the work of a search before a proof is tried, for depth two and three. Convention."""

PROOF_WORK = {"fast": 2e7, "balanced": 2e9, "best": 5e10}
"""Most work of a proof if `max_depth` is given, by effort. Convention.

Measured on a busy machine: proofs of depth three that "balanced" ended took 5 seconds. With half of
it the tree for k-means labels of breast cancer (k = 5, eight leaves) had 77 mistakes instead of 75.
"""


class Cut(NamedTuple):
    """A split of a tree: values up to `value` go left. Children are positions in `Nodes`."""

    feature: int
    value: float
    left: int
    right: int


Nodes = list[Cut | None]
"""A tree from its root on; None is a leaf."""


@dataclass(frozen=True)
class LabelTree:
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
        from pellucid._core.kernels.label_search import N_CODES

        shape, weight = problem.X.shape, problem.weights.units
        self.n_labels = problem.n_clusters
        self.own = np.stack([problem.labels.astype(np.int64), weight], axis=1)
        self.rank, self.code = np.empty(shape, np.uint16), np.empty(shape, np.uint8)
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
            sums, steps = np.cumsum(np.bincount(rank, weights=weight)), np.arange(len(values))
            if len(values) > N_CODES:
                steps = np.minimum(sums * (N_CODES / sums[-1]), N_CODES - 1).astype(np.intp)
            self.values[j], self.rank[:, j], self.code[:, j] = values, rank, steps[rank]
            self.ends[j] = np.searchsorted(steps, np.arange(N_CODES), side="right") - 1

        problem.pool.map(rank_column, range(shape[1]))

    @property
    def work(self) -> float:
        """The usual work of a search."""
        n_ranks = sum(map(len, self.values))
        return WORK_OF_ANY + WORK_OF_VALUE * self.rank.size + WORK_OF_RANK * n_ranks

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

        (n, d), n_nodes = self.rank.shape, 2 * limits.n_leaves - 1
        best = np.full((loops.N_NODE_ROWS, n_nodes), -1, dtype=np.int64)
        best[loops.END, : len(start)] = 0
        for i, cut in enumerate(start):
            if cut is not None:
                rank = np.searchsorted(self.values[cut.feature], cut.value, "right") - 1
                best[[loops.FEATURE, loops.RANK, loops.LEFT, loops.RIGHT], i] = (
                    cut.feature,
                    rank,
                    cut.left,
                    cut.right,
                )
        sizes = [np.inf if s is None else s for s in (limits.max_depth, limits.max_conditions)]
        n_columns = max(2, int(np.ceil(np.sqrt(d))))
        counts = n_columns, N_IMPROVED, N_ROUNDS
        prices = TEMPERATURE, cover, penalty
        settings = np.array([*sizes, *counts, max(work, 1.0), *prices, 0.0, 0.0])
        rows = np.arange(n, dtype=np.int32)
        longest = max(map(len, self.values))
        loops.search_labels(
            self.rank,
            self.code,
            self.ends,
            self.own,
            best,
            best.copy(),
            best.copy(),
            rows,
            rows.copy(),
            np.empty((4, max(n, n_nodes + 2)), dtype=np.int32),
            np.empty((2, max(n, longest)), dtype=np.int64),
            np.empty((2, d, loops.N_CODES), dtype=np.int64),
            np.empty((loops.N_CODES + 3, self.n_labels), dtype=np.int64),
            np.empty(n_nodes),
            settings,
            np.array([SEED, 0]),
        )
        objective, size = settings[[loops.OBJECTIVE, loops.SIZE]].tolist()
        nodes, order = Nodes(), [0]
        for i in order:  # grows while it is read
            if best[loops.LEFT, i] < 0:
                nodes.append(None)
                continue
            feature, rank = best[[loops.FEATURE, loops.RANK], i].tolist()
            nodes.append(Cut(feature, self._cut_value(feature, rank), len(order), len(order) + 1))
            order += best[[loops.LEFT, loops.RIGHT], i].tolist()
        return LabelTree(nodes, objective, size)

    def nodes_of(self, tree: Any) -> Nodes:
        """A nested tree of columns and ranks as a list of nodes."""
        nodes, order = Nodes(), [tree]
        for node in order:  # grows while it is read
            if node is None:
                nodes.append(None)
                continue
            value = self._cut_value(node[0], node[1])
            nodes.append(Cut(node[0], value, len(order), len(order) + 1))
            order += node[2:]
        return nodes

    def _cut_value(self, feature: int, rank: int) -> float:
        """A number between the values of a column up to a rank and those above."""
        values = self.values[feature]
        if not 0 <= rank < len(values) - 1:
            return -np.inf if rank < 0 else np.inf
        if self._is_coarse[feature]:
            return float(values[rank])
        return choose_threshold(float(values[rank]), float(values[rank + 1]), "midpoint")


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
        self._side, self._goes = np.empty(n, np.int8), np.empty(n, np.int8)
        self._counts = np.empty((2, 2, n_labels), np.int64)
        self._best, self._stacks = np.empty((4, 8), np.int64), np.empty((2, 10, n + 2), np.int64)

    def prove(self, depth: int, n_leaves: int, limit: int, max_work: float) -> Proof:
        """The least mistakes, or that they are at least `limit`; a bound of 0 if work is too short.

        With fewer leaves than a tree of this depth can have, and more than three, it is a bound.
        """
        found = self._found(int(max_work))
        is_done = self._solve(self._everything, depth, n_leaves, limit, found)
        value = int(found[0])
        if value >= limit:
            return Proof(limit * is_done)
        tree = self._tree(
            self._everything, depth, n_leaves, self._found(2**62), found[1:3].tolist()
        )
        return Proof(value * is_done, tree)

    def _found(self, max_work: int) -> np.ndarray:
        return np.array([0, -1, -1, 0, max_work, self.weight.max()])

    def _solve(
        self, order: np.ndarray, depth: int, n_leaves: int, limit: int, found: np.ndarray
    ) -> bool:
        from pellucid._core.kernels import label_bounds as loops

        data, scratch = (self.rank, self.label, self.weight, order), (self._counts, self._best)
        if depth == 1 or n_leaves == 2:
            loops.solve_one(*data, self._side, *scratch, found)
            return True
        if depth == 2 or n_leaves == 3:
            stack = self._stacks[0]
            return loops.solve_two(*data, limit, n_leaves == 3, self._side, *scratch, stack, found)
        sides, part = (self._side, self._goes), np.empty_like(order)
        return loops.solve_three(*data, part, limit, *sides, *scratch, self._stacks, found)

    def _tree(
        self, order: np.ndarray, depth: int, n_leaves: int, found: np.ndarray, cut: Any = None
    ) -> Any:
        """The best tree of the rows of `order`, or that of a cut."""
        if depth == 0 or n_leaves == 1 or order.shape[1] == 0:
            return None
        if cut is None:
            self._solve(order, depth, n_leaves, 2**62, found)
        feature, rank = found[1:3].tolist() if cut is None else cut
        if feature < 0:
            return None
        goes_left, shape = self.rank[feature] <= rank, (len(order), -1)
        sides = [order[kept[order]].reshape(shape) for kept in (goes_left, ~goes_left)]
        choices = [(2, 1), (1, 2)] if n_leaves == 3 else [(n_leaves // 2, n_leaves // 2)]
        totals = [
            sum(self._least(side, depth - 1, n, found) for side, n in zip(sides, leaves))
            for leaves in choices
        ]
        leaves = choices[totals.index(min(totals))]
        return feature, rank, *(self._tree(s, depth - 1, n, found) for s, n in zip(sides, leaves))

    def _least(self, order: np.ndarray, depth: int, n_leaves: int, found: np.ndarray) -> int:
        """Least mistakes of the rows of `order`."""
        if depth == 0 or n_leaves == 1 or order.shape[1] == 0:
            units = np.zeros(self.n_labels, np.int64)
            np.add.at(units, self.label[order[0]], self.weight[order[0]])
            return int(units.sum() - units.max())
        self._solve(order, depth, n_leaves, 2**62, found)
        return int(found[0])


class LabelSearch:
    """Searches of trees for the labels of a problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        n_rows = min(MAX_ROWS, max(MAX_VALUES // problem.n_features, 1))
        self.sample = sample_problem(problem, n_rows)
        self.is_whole = self.sample.weights.units.sum() == problem.weights.units.sum()

    @cached_property
    def _ranked(self) -> RankedLabels:
        return RankedLabels(self.sample, [])

    def find(
        self, limits: TreeLimits, effort: str, *, penalty: float = 0.0, covers: bool = False
    ) -> LabelTree:
        """The best tree within the limits; `covers` puts a leaf for every label first."""
        total = float(self.problem.weights.units.sum())
        options = {"penalty": penalty, "cover": total * covers}
        problem, start = self.sample if self.is_whole else self.problem, Nodes([None])
        if limits.n_leaves > 1 and fits_single_precision(problem.X):
            start = _cart(problem, limits)
        work = WORK[effort] * self._ranked.work
        depth = min(limits.n_leaves - 1, limits.max_depth or limits.n_leaves)
        is_provable = self.is_whole and not (penalty or covers or limits.max_conditions)
        # Trees of four leaves may be three deep, which takes long to prove.
        if is_provable and 1 <= depth <= (2 if limits.max_depth is None else MAX_DEPTH):
            # Proofs of depth two take less time than a search.
            first = self._ranked.search(start, limits, work=FIRST_PART[depth > 2] * work)
            most = FIRST_PART[1] * work if limits.max_depth is None else PROOF_WORK[effort]
            proven = self._prove(first, depth, limits, most)
            if proven.bound == proven.objective:
                return proven
            start, bound = proven.nodes, proven.bound
            return replace(self._ranked.search(start, limits, work=work), bound=bound)
        found = self._ranked.search(start, limits, work=work, **options)
        if self.is_whole or problem.n_samples * problem.n_features > MAX_POLISHED_VALUES:
            return found
        ranked = RankedLabels(problem, [found.nodes, start])
        polished = [ranked.search(tree, limits, **options) for tree in (found.nodes, start)]
        return min(polished, key=lambda tree: (tree.objective, tree.size))

    def _prove(
        self, found: LabelTree, depth: int, limits: TreeLimits, max_work: float
    ) -> LabelTree:
        """The tree, or a better one, with the bound that is proven by this work."""
        ranked, n_leaves = self._ranked, limits.n_leaves
        exact = ExactSearch(ranked.rank, ranked.own, ranked.n_labels)
        proof = exact.prove(depth, n_leaves, int(found.objective), max_work)
        is_allowed = n_leaves <= 3 or n_leaves >= 2**depth
        if proof.tree is not None and is_allowed:
            found = ranked.search(ranked.nodes_of(proof.tree), limits)
        return replace(found, bound=proof.bound)

    def growth(self, nodes: Nodes, threshold_style: ThresholdStyle) -> GrowthResult:
        """A tree on the rows of the problem, without leaves that no row reaches."""
        problem, leaves = self.problem, {}
        builder = TreeBuilder(problem.n_features)
        stack = [(0, 0, np.arange(problem.n_samples, dtype=np.int32))]
        while stack:
            i, number, rows = stack.pop()
            builder.set_counts(number, len(rows), problem.weights.total_of(rows))
            cut = nodes[i]
            if cut is None:
                units = np.bincount(problem.labels[rows], problem.weights.units[rows])
                builder.set_cluster(number, int(units.argmax()))
                leaves[number] = as_leaf(rows)
                continue
            values = problem.values(cut.feature, rows)
            goes_left = values <= cut.value
            sides = rows[goes_left], rows[~goes_left]
            if not (len(sides[0]) and len(sides[1])):
                stack.append((cut.left if len(sides[0]) else cut.right, number, rows))
                continue
            low, high = float(values[goes_left].max()), float(values[~goes_left].min())
            threshold = choose_threshold(low, high, threshold_style)
            children = builder.split(number, feature=cut.feature, threshold=threshold)
            stack += zip((cut.left, cut.right), children, sides)
        return GrowthResult(builder, [], leaves)


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
    return [
        None if left == LEAF else Cut(feature, _largest_double(threshold), left, right)
        for feature, threshold, left, right in zip(
            tree.feature.tolist(),
            tree.threshold.tolist(),
            tree.children_left.tolist(),
            tree.children_right.tolist(),
        )
    ]


def _largest_double(threshold: float) -> float:
    """The largest number that is at most a threshold when it is rounded to single precision."""
    below = np.float32(threshold)
    if float(below) > threshold:
        below = np.nextafter(below, np.float32(-np.inf))
    above = np.nextafter(below, np.float32(np.inf))
    middle = (float(below) + float(above)) / 2
    return middle if np.float32(middle) == below else float(np.nextafter(middle, -np.inf))
