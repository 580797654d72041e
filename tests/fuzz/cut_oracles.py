"""Is every cut of a tree the best one? Brute force over all features and thresholds.

A fitted tree is grown again: at every node, the objective of every cut is computed from exact
integers, and the cut of the tree must be the best one. Ties go to the lowest feature, then to the
lowest threshold.

The engine counts weights and costs in integers of a power of two. Where these integers are the true
numbers, ties are real ties (`Posed.is_exact`). Elsewhere a cut may exceed the best one by as much
as rounding to that unit can explain.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pellucid import BeamSearch
from tests._support.oracles import average_depth

from .exact import Exact
from .tree_cases import TreeCase
from .tree_oracles import POWER, WrongResult, positions, require

_EXACT_BITS = 50
"""Sums of costs below this many bits are the same in floating point, also their ratios."""

_LEAST_UNIT = Fraction(1, 2**960)
"""Costs are not counted in finer units."""

_ROUNDING = 1e-12
"""Relative error of objectives that are compared in floating point."""


class Posed:
    """The rows that count, with their exact weights and costs.

    Attributes
    ----------
    X, centers, labels : ndarray
        Rows of positive weight that have a label, the reference centers, and the own center of
        each row.
    units : ndarray of int64
        Weights in units: whole weights are kept, others are rounded to 51 bits of the total.
    per_row : float
        Units that count as one row.
    """

    def __init__(self, case: TreeCase, model) -> None:
        labels = positions(model.reference_labels_, model.cluster_names_)
        counted = np.flatnonzero((labels >= 0) & (case.weights > 0))
        self.X, self.labels = case.X[counted], labels[counted]
        self.centers = np.asarray(model.reference_centers_, dtype=np.float64)
        self.power, self._weights = POWER[case.objective], case.weights[counted]
        total = math.fsum(self._weights)
        self.are_whole = bool((self._weights == np.rint(self._weights)).all()) and total <= 2.0**32
        scale = 1.0 if self.are_whole else 2.0 ** (51 - int(np.frexp(total)[1]))
        self.units = np.rint(self._weights * scale).astype(np.int64)
        self.per_row = 1.0 if self.are_whole else float(self.units.sum() / len(self.units))

    @property
    def all_rows(self) -> np.ndarray:
        return np.arange(len(self.X))

    @cached_property
    def _costs(self) -> tuple[np.ndarray, bool, int]:
        """Exact weighted costs by row and center, whether the engine's are the same, and by how
        much a sum of costs of all rows may differ, apart from a relative error.
        """
        both, weights = Exact(np.concatenate([self.X, self.centers])), Exact(self._weights)
        rows, centers = both.values[: len(self.X)], both.values[len(self.X) :]
        plain = (abs(rows[:, None] - centers[None]) ** self.power).sum(axis=2)
        costs = plain * weights.values[:, None]
        apart = (abs(centers[:, None] - centers[None]) ** self.power).sum(axis=2).max()
        total, width = int(weights.values.sum()), self.X.shape[1]
        largest = max(int(plain.max()), int(apart))
        # An upper bound of the bound from which the engine takes its unit of costs.
        own = int(costs[np.arange(len(rows)), self.labels].sum())
        bound = 2 * own + 4 * total * int(apart)
        least_unit = _LEAST_UNIT / (both.unit**self.power * weights.unit)
        is_exact = self.are_whole and 4 * total * width * largest < 2**_EXACT_BITS
        is_exact = is_exact and least_unit <= 1
        # Each column is rounded to the unit: of a row with its fractional weight, or of each copy.
        times = width * (total if self.are_whole else len(rows))
        slack = 0 if is_exact else times * ((2 * bound >> 60) + math.ceil(least_unit)) + 1
        if costs.max() * len(rows) < 2**62:
            costs = costs.astype(np.int64)
        return costs, is_exact, slack

    @property
    def costs(self) -> np.ndarray:
        """Exact weighted cost of each row at each center, in integers."""
        return self._costs[0]

    @property
    def is_exact(self) -> bool:
        """Whether costs are the same integers in the engine, up to a factor."""
        return self._costs[1]

    def slack(self, cost: int) -> int:
        """By how much two sums of costs of about this size may differ by rounding alone."""
        return 0 if self.is_exact else self._costs[2] + (int(cost) >> 46) + 1

    def signature(self, left: np.ndarray, *more: Any) -> Any:
        """Of cuts whose costs are sums of the same rounded numbers, given the rows on the left."""
        return (np.sort(left).tobytes(), *more)

    def majority(self, rows: np.ndarray, centers: np.ndarray) -> int:
        """The center with most weight among its own rows; ties go to the lowest."""
        weight = [int(self.units[rows[self.labels[rows] == c]].sum()) for c in centers]
        return int(centers[int(np.argmax(weight))])


class Cut(NamedTuple):
    """A way to divide the rows and centers of a node.

    Attributes
    ----------
    objective : int, Fraction or float
        Less is better.
    feature, low : int, float
        The lowest threshold that divides them so.
    gap : int
        Number of the node's distinct center coordinates on the left.
    same : object
        Cuts with the same value of this have the same objective, also in floating point.
    """

    objective: Any
    feature: int
    low: float
    gap: int
    same: Any


@dataclass(frozen=True)
class OracleNode:
    """Rows and centers of a node, and the features of the cuts above by side."""

    rows: np.ndarray
    passive: np.ndarray
    centers: np.ndarray
    above: frozenset = frozenset()


class CenterCriterion:
    """Cuts that separate reference centers; a node that has none is a leaf."""

    is_strict = False
    """Whether the engine's objectives of different cuts are compared without rounding."""

    def __init__(self, posed: Posed) -> None:
        self.posed = posed

    def root(self) -> OracleNode:
        none = np.empty(0, dtype=np.intp)
        return OracleNode(self.posed.all_rows, none, np.arange(len(self.posed.centers)))

    def gaps(self, node: OracleNode) -> Iterator[tuple[Any, ...]]:
        """For each feature and gap: which centers are left, the lowest thresholds, the rows by
        value, and how many of them are on the left of each threshold.
        """
        for feature in range(self.posed.X.shape[1]):
            coordinates = self.posed.centers[node.centers, feature]
            distinct, values = np.unique(coordinates), self.posed.X[node.rows, feature]
            order = np.argsort(values, kind="stable")
            ascending = values[order]
            for gap, (first, last) in enumerate(zip(distinct, distinct[1:]), start=1):
                inside = ascending[(ascending > first) & (ascending < last)]
                lows = np.unique(np.append(inside, first))
                n_left = np.searchsorted(ascending, lows, side="right")
                yield feature, gap, coordinates <= first, lows, node.rows[order], n_left

    def cuts(self, node: OracleNode) -> list[Cut]:
        """All cuts, in the order of features and thresholds."""
        raise NotImplementedError

    def slack(self, node: OracleNode, objective: Any) -> Any:
        """By how much a cut may exceed this objective and still be the best of the engine."""
        return 0

    def loss(self, node: OracleNode, cut: Cut) -> Any:
        """What a cut adds to the total by which beam search compares trees."""
        return cut.objective

    def loss_slack(self, loss: Any) -> Any:
        """By how much two totals may differ by rounding alone."""
        return 0 if self.is_strict else _ROUNDING * (1 + loss)

    def sides(self, node: OracleNode, feature: int, low: float) -> tuple[np.ndarray, np.ndarray]:
        """Which rows and which centers of the node are on the left."""
        X, centers = self.posed.X, self.posed.centers
        return X[node.rows, feature] <= low, centers[node.centers, feature] <= low

    def divide(self, node: OracleNode, feature: int, low: float) -> tuple[OracleNode, OracleNode]:
        """The two children."""
        left, near = self.sides(node, feature, low)
        return (
            OracleNode(
                node.rows[left], node.passive, node.centers[near], node.above | {(feature, 0)}
            ),
            OracleNode(
                node.rows[~left], node.passive, node.centers[~near], node.above | {(feature, 1)}
            ),
        )


class MistakesOracle(CenterCriterion):
    """Weight of rows that a cut separates from their own center (IMM); these rows do not count
    below. EMN divides it by the smaller number of centers on a side.
    """

    def __init__(self, posed: Posed, is_balanced: bool = False) -> None:
        super().__init__(posed)
        self.is_balanced, self.is_strict = is_balanced, not is_balanced or posed.are_whole

    def cuts(self, node: OracleNode) -> list[Cut]:
        posed, found = self.posed, []
        is_left_of = np.zeros(len(posed.centers), dtype=bool)
        for feature, gap, near, lows, rows, n_left in self.gaps(node):
            is_left_of[node.centers] = near
            own_left = is_left_of[posed.labels[rows]]
            change = np.where(own_left, -posed.units[rows], posed.units[rows])
            mistakes = posed.units[rows][own_left].sum() + np.append(0, np.cumsum(change))[n_left]
            divisor = min(near.sum(), (~near).sum()) if self.is_balanced else 1
            for low, amount in zip(lows.tolist(), mistakes.tolist()):
                value = Fraction(amount, int(divisor)) if self.is_balanced else amount
                found.append(Cut(value, feature, low, gap, value))
        return found

    def slack(self, node: OracleNode, objective: Any) -> Any:
        return 0 if self.is_strict else objective * Fraction(1, 2**50)

    def divide(self, node: OracleNode, feature: int, low: float) -> tuple[OracleNode, OracleNode]:
        left, near = self.sides(node, feature, low)
        own_left = np.isin(self.posed.labels[node.rows], node.centers[near])
        passive_left = self.posed.X[node.passive, feature] <= low
        children = []
        for side, (rows, own, passive, centers) in enumerate(
            ((left, own_left, passive_left, near), (~left, ~own_left, ~passive_left, ~near))
        ):
            lost = np.append(node.passive[passive], node.rows[rows & ~own])
            above = node.above | {(feature, side)}
            children.append(OracleNode(node.rows[rows & own], lost, node.centers[centers], above))
        return children[0], children[1]


class InducedCostOracle(CenterCriterion):
    """Induced cost relative to the current cost, plus λ DExp (ExGreedy, ExShallow)."""

    def __init__(self, posed: Posed, penalty: float) -> None:
        super().__init__(posed)
        self.penalty, self.is_strict = penalty, penalty == 0 and posed.is_exact
        self.root_cost = int(posed.costs.min(axis=1).sum())

    def cuts(self, node: OracleNode) -> list[Cut]:
        found = list(self._all_cuts(node))
        enough = [cut for cut, has_enough in found if has_enough]
        return [cut for cut, _ in found] if self._may_cost_nothing(node) or not enough else enough

    def _before(self, node: OracleNode) -> int:
        return int(self.posed.costs[np.ix_(node.rows, node.centers)].min(axis=1).sum())

    def _may_cost_nothing(self, node: OracleNode) -> bool:
        """Whether the cost of a node may be rounded to 0: then only cuts that cost 0 are valid."""
        before = self._before(node)
        return not self.posed.is_exact and before <= self.posed.slack(before)

    def _all_cuts(self, node: OracleNode) -> Iterator[tuple[Cut, bool]]:
        posed, k, before = self.posed, len(node.centers), self._before(node)
        total = int(posed.units[node.rows].sum())
        for feature, gap, near, lows, rows, n_left in self.gaps(node):
            costs = posed.costs[rows]
            left, right = (costs[:, node.centers[s]].min(axis=1) for s in (near, ~near))
            after = right.sum() + np.append(0, np.cumsum(left - right))[n_left]
            weight = np.append(0, np.cumsum(posed.units[rows]))[n_left]
            n_near = int(near.sum())
            enough = (weight >= n_near * posed.per_row) & (
                total - weight >= (k - n_near) * posed.per_row
            )
            killers = tuple(float((feature, side) in node.above) for side in (0, 1))
            values = list(map(int, after))
            if self.penalty:
                share = weight / (total or 1)
                depth = average_depth(k, share, (n_near, k), killers)
                price = np.array([_ratio(value, before) for value in values])
                values = (price + self.penalty * depth).tolist()
            for i, low in enumerate(lows.tolist()):
                same = (int(after[i]), int(weight[i]), n_near, killers)
                if before > 0 or same[0] == 0 or not posed.is_exact:
                    if not posed.is_exact:
                        same = posed.signature(rows[: n_left[i]], near.tobytes(), killers)
                    yield Cut(values[i], feature, low, gap, same), bool(enough[i])

    def slack(self, node: OracleNode, objective: Any) -> Any:
        if self._may_cost_nothing(node):
            return math.inf
        if self.penalty == 0:
            return self.posed.slack(objective)
        rounding, before = _ROUNDING * (1 + abs(objective)), self._before(node)
        if self.posed.is_exact:
            return rounding
        return rounding + 2 * _ratio(
            self.posed.slack(int(Fraction(max(objective, 1)) * before)), before
        )

    def loss(self, node: OracleNode, cut: Cut) -> float:
        costs, rise = self.posed.costs, 0
        left, near = self.sides(node, cut.feature, cut.low)
        for rows, centers in (
            (node.rows[left], node.centers[near]),
            (node.rows[~left], node.centers[~near]),
        ):
            rise += int(costs[np.ix_(rows, centers)].min(axis=1).sum())
        rise -= self._before(node)
        longer = 0
        for side, rows in enumerate((node.rows[left], node.rows[~left])):
            longer += 0 if (cut.feature, side) in node.above else int(self.posed.units[rows].sum())
        relative = _ratio(rise, self.root_cost) if self.root_cost else float(rise > 0)
        return relative + self.penalty * longer / int(self.posed.units.sum())

    def loss_slack(self, loss: Any) -> float:
        rounding = _ROUNDING * (1 + loss)
        if self.posed.is_exact:
            return rounding
        sums = self.posed.slack(int(Fraction(1 + loss) * self.root_cost))
        return rounding + len(self.posed.centers) * _ratio(sums, self.root_cost)


def _ratio(above: int, below: int) -> float:
    """Of two costs; a cost of 0 can only stay 0."""
    if below == 0:
        return 1.0 if above == 0 else math.inf
    try:
        return float(Fraction(above, below))
    except OverflowError:
        return math.inf


class SplitOracle:
    """Cuts between any two values of a node's rows, for best-first growth."""

    gains_matter = True
    """Whether cuts after the last gain are undone."""

    def __init__(self, posed: Posed) -> None:
        self.posed = posed

    def by_value(
        self, rows: np.ndarray
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
        """For each feature: the thresholds, the rows by value, and how many are on the left."""
        for feature in range(self.posed.X.shape[1]):
            values = self.posed.X[rows, feature]
            order = np.argsort(values, kind="stable")
            lows = np.unique(values)[:-1]
            yield feature, lows, rows[order], np.searchsorted(values[order], lows, side="right")

    def cuts(self, rows: np.ndarray) -> list[Cut]:
        """All cuts, in the order of features and thresholds."""
        raise NotImplementedError

    def value(self, rows: np.ndarray) -> Any:
        """What the sum of the objectives of both sides is compared with."""
        raise NotImplementedError

    def is_done(self, rows: np.ndarray) -> bool | None:
        """Whether a node needs no cut; None if rounding decides."""
        raise NotImplementedError

    def slack(self, objective: Any) -> Any:
        """By how much a cut may exceed this objective and still be the best of the engine."""
        raise NotImplementedError

    def has_cluster(self, rows: np.ndarray, cluster: int) -> bool:
        """Whether a leaf may belong to a cluster."""
        raise NotImplementedError


class SurrogateOracle(SplitOracle):
    """Cost of each side at its cheapest center (ExKMC)."""

    def cuts(self, rows: np.ndarray) -> list[Cut]:
        found = []
        for feature, lows, ordered, n_left in self.by_value(rows):
            left = np.cumsum(self.posed.costs[ordered], axis=0)
            for low, n in zip(lows.tolist(), n_left.tolist()):
                value = int(left[n - 1].min()) + int((left[-1] - left[n - 1]).min())
                same: Any = value
                if not self.posed.is_exact:
                    sides = ordered[:n], ordered[n:]
                    same = frozenset(map(self.posed.signature, sides))
                found.append(Cut(value, feature, low, 0, same))
        return found

    def value(self, rows: np.ndarray) -> int:
        return int(self.posed.costs[rows].sum(axis=0).min()) if len(rows) else 0

    def is_done(self, rows: np.ndarray) -> bool | None:
        least = int(self.posed.costs[rows].min(axis=1).sum()) if len(rows) else 0
        excess = self.value(rows) - least
        return excess == 0 if self.posed.is_exact or excess > self.slack(self.value(rows)) else None

    def slack(self, objective: Any) -> int:
        return self.posed.slack(objective)

    def has_cluster(self, rows: np.ndarray, cluster: int) -> bool:
        sums = self.posed.costs[rows].sum(axis=0) if len(rows) else np.zeros(cluster + 1, int)
        if self.posed.is_exact:
            return int(np.argmin(sums)) == cluster
        return int(sums[cluster]) <= int(sums.min()) + self.slack(sums.min())


class NormalizedCutOracle(SplitOracle):
    """Sum of cut / degree of both sides in the graph that joins rows of one cluster (SpEx)."""

    gains_matter = False

    def __init__(self, posed: Posed) -> None:
        super().__init__(posed)
        k = len(posed.centers)
        self.by_cluster = np.zeros((len(posed.X), k))
        self.by_cluster[posed.all_rows, posed.labels] = posed.units
        self.whole = self.by_cluster.sum(axis=0)
        self.joined = self.whole - (1.0 if posed.are_whole else 0.0)

    def _ratio(self, inside: np.ndarray) -> np.ndarray:
        """Cut over degree of sets with these weights by cluster, one per line."""
        cut, degree = (inside * (self.whole - inside)).sum(-1), (inside * self.joined).sum(-1)
        return np.divide(cut, degree, out=np.zeros_like(cut), where=degree > 0)

    def cuts(self, rows: np.ndarray) -> list[Cut]:
        found = []
        for feature, lows, ordered, n_left in self.by_value(rows):
            sums = np.cumsum(self.by_cluster[ordered], axis=0)
            left = sums[n_left - 1]
            values = self._ratio(left) + self._ratio(sums[-1] - left)
            for low, value, inside, rest in zip(
                lows.tolist(), values.tolist(), left, sums[-1] - left
            ):
                same = frozenset((tuple(inside.tolist()), tuple(rest.tolist())))
                found.append(Cut(value, feature, low, 0, same))
        return found

    def value(self, rows: np.ndarray) -> float:
        return float(self._ratio(self.by_cluster[rows].sum(axis=0)[None])[0])

    def is_done(self, rows: np.ndarray) -> bool:
        return len(set(self.posed.labels[rows].tolist())) < 2

    def slack(self, objective: Any) -> float:
        return _ROUNDING

    def has_cluster(self, rows: np.ndarray, cluster: int) -> bool:
        return int(np.argmax(self.by_cluster[rows].sum(axis=0))) == cluster


def check_cuts(case: TreeCase, model) -> None:
    """Grow the tree of an estimator again by brute force, if it is one that cuts by a criterion."""
    check = _CHECKS.get(case.name)
    if check is not None and not getattr(model, "polish", False):
        check(Posed(case, model), model)


def _check_center_cuts(posed: Posed, model) -> None:
    if type(model).__name__ in ("IMM", "EMN", "BSIMM"):
        criterion: CenterCriterion = MistakesOracle(posed, type(model).__name__ == "EMN")
    else:
        criterion = InducedCostOracle(posed, getattr(model, "depth_penalty", 0.0))
    if type(model).__name__ == "BSIMM":
        width, n_candidates = model.beam_width, model.n_candidates
    elif model.search == "greedy":
        return check_greedy(criterion, model.tree_)
    else:
        beam = BeamSearch() if model.search == "beam" else model.search
        width, n_candidates = beam.width, beam.n_candidates
    return check_beam(criterion, model.tree_, width, n_candidates)


def _check_exkmc(posed: Posed, model) -> None:
    base = None
    if model.base is not None:
        base = next(model.staged_trees())
        if model.base == "imm":
            check_greedy(MistakesOracle(posed), base, has_clusters=False)
    n_leaves = model._max_leaves(len(posed.centers))
    check_best_first(SurrogateOracle(posed), model.tree_, n_leaves, base)


def _check_spex(posed: Posed, model) -> None:
    n_leaves = model._max_leaves(len(posed.centers))
    check_best_first(NormalizedCutOracle(posed), model.tree_, n_leaves)


_CHECKS = {
    **dict.fromkeys(("BSIMM", "EMN", "ExGreedy", "ExShallow", "IMM"), _check_center_cuts),
    "ExKMC": _check_exkmc,
    "SpEx": _check_spex,
}


def _require_best(cuts: list[Cut], feature: int, low: float, slack: Any, is_strict: bool) -> None:
    """The cut by a feature at a value is one of the cuts, and the best of them."""
    chosen = next((cut for cut in cuts if (cut.feature, cut.low) == (feature, low)), None)
    require(chosen is not None, f"x{feature} at {low} is no valid cut")
    best = min(cuts, key=lambda cut: cut.objective)  # the first one of several
    about = f"cut of x{feature} at {low} ({chosen.objective}); x{best.feature} at {best.low}"
    limit = _sum(best.objective, slack)
    require(chosen.objective <= limit, f"{about} is better ({best.objective})")
    first = next(cut for cut in cuts if cut.same == chosen.same)
    require(first is chosen, f"{about}: ties go to the lowest; not so x{first.feature} {first.low}")
    require(not is_strict or best is chosen, f"{about} comes first")


def check_greedy(criterion: CenterCriterion, tree, has_clusters: bool = True) -> None:
    """Every node of a tree has the best cut of its rows and centers."""
    stack = [(0, criterion.root())]
    while stack:
        number, node = stack.pop()
        cuts = criterion.cuts(node)
        if tree.children_left[number] < 0:
            require(not cuts, "a leaf has centers that a cut separates")
            if has_clusters:
                require(
                    tree.cluster[number] == criterion.posed.majority(node.rows, node.centers),
                    "a leaf belongs to another cluster",
                )
            continue
        feature, low = _lowest_threshold(criterion, tree, number, node)
        best = min((cut.objective for cut in cuts), default=0)
        _require_best(cuts, feature, low, criterion.slack(node, best), criterion.is_strict)
        children = criterion.divide(node, feature, low)
        stack += zip((tree.children_left[number], tree.children_right[number]), children)


def _lowest_threshold(criterion, tree, number: int, node: OracleNode) -> tuple[int, float]:
    """Feature of a node of the tree, and the lowest threshold that divides the node alike."""
    feature, threshold = int(tree.feature[number]), tree.threshold[number]
    X, centers = criterion.posed.X[:, feature], criterion.posed.centers[:, feature]
    values = np.concatenate([X[node.rows], centers[node.centers]])
    low = float(values.max(initial=-np.inf, where=values <= threshold))
    between = (X[node.passive] > low) & (X[node.passive] <= threshold)
    require(not between.any(), "a threshold is not in the interval of its cut")
    return feature, low


@dataclass(eq=False)
class _Leaf:
    """A leaf while a tree grows again: its node in the tree, its rows and its best cut."""

    number: int
    rows: np.ndarray
    order: int
    cuts: list[Cut]
    gain: Any
    is_done: bool | None


def check_best_first(oracle: SplitOracle, tree, n_leaves: int, base=None) -> None:
    """The leaf of largest gain is split next, and at its best cut."""
    posed, leaves, n_created = oracle.posed, [], 0

    def leaf_of(number: int, rows: np.ndarray, order: int) -> _Leaf:
        is_done = oracle.is_done(rows)
        cuts = [] if is_done else oracle.cuts(rows)
        gain = oracle.value(rows) - min((cut.objective for cut in cuts), default=0)
        return _Leaf(number, rows, order, cuts, gain, is_done)

    leaves, n_created = [], 1 if base is None else base.node_count
    stack = [(0, 0, posed.all_rows)]
    while stack:
        of_base, number, rows = stack.pop()
        if base is None or base.children_left[of_base] < 0:
            leaves.append(leaf_of(number, rows, of_base))
            continue
        is_same = (
            tree.feature[number] == base.feature[of_base]
            and tree.threshold[number] == base.threshold[of_base]
        )
        require(is_same, "the base tree is not kept")
        left = posed.X[rows, tree.feature[number]] <= tree.threshold[number]
        for children, side in (("children_left", left), ("children_right", ~left)):
            pair = getattr(base, children)[of_base], getattr(tree, children)[number]
            stack.append((*pair, rows[side]))
    is_strict = isinstance(oracle, SurrogateOracle) and posed.is_exact
    last_gain = None
    while len(leaves) < n_leaves:
        open_leaves = [leaf for leaf in leaves if leaf.cuts]
        if not open_leaves:
            break
        best = min(open_leaves, key=lambda leaf: (-leaf.gain, leaf.order))
        slack = 2 * oracle.slack(abs(oracle.value(best.rows)))
        allowed = [best] if is_strict else [o for o in open_leaves if o.gain >= best.gain - slack]
        # Equal gains, such as none, go to the leaf that was created first.
        made = [leaf for leaf in allowed if tree.children_left[leaf.number] >= 0]
        split = min(made, key=lambda leaf: (-leaf.gain, leaf.order), default=None)
        if split is None:
            require(oracle.gains_matter, "the leaf of largest gain is not split")
            require(best.gain <= slack, f"a leaf that gains {best.gain} is not split")
            if is_strict:
                _require_no_gain(oracle, leaves, n_leaves, leaf_of)
            break
        feature, threshold = int(tree.feature[split.number]), tree.threshold[split.number]
        values = posed.X[split.rows, feature]
        low = float(values.max(initial=-np.inf, where=values <= threshold))
        least = min(cut.objective for cut in split.cuts)
        _require_best(split.cuts, feature, low, oracle.slack(abs(least)), is_strict)
        left = values <= low
        numbers = tree.children_left[split.number], tree.children_right[split.number]
        leaves.remove(split)
        for number, side in zip(numbers, (left, ~left)):
            leaves.append(leaf_of(number, split.rows[side], n_created))
            n_created += 1
        last_gain = split.gain
    at_end = [leaf.number for leaf in leaves]
    require((tree.children_left[at_end] < 0).all(), "a leaf is split that need not be")
    for leaf in leaves:
        require(
            oracle.has_cluster(leaf.rows, int(tree.cluster[leaf.number])),
            "a leaf belongs to another cluster",
        )
    if is_strict and last_gain is not None:
        require(last_gain > 0, "the last cut gains nothing")


def _require_no_gain(oracle: SplitOracle, leaves: list[_Leaf], n_leaves: int, leaf_of) -> None:
    """Cuts that were undone after the last gain were followed by no other gain."""
    leaves, order = list(leaves), len(leaves)
    while len(leaves) < n_leaves and (open_leaves := [leaf for leaf in leaves if leaf.cuts]):
        best = min(open_leaves, key=lambda leaf: (-leaf.gain, leaf.order))
        require(best.gain == 0, f"growth ends before a gain of {best.gain}")
        cut = min(best.cuts, key=lambda cut: cut.objective)
        left = oracle.posed.X[best.rows, cut.feature] <= cut.low
        leaves.remove(best)
        leaves += [leaf_of(-1, best.rows[side], order + i) for i, side in enumerate((left, ~left))]
        order += 2


def _sum(objective: Any, slack: Any) -> Any:
    """The sum; infinite if a whole number is too large for a float."""
    try:
        return objective + slack
    except OverflowError:
        return math.inf


class _BeamNode:
    """A node that partial trees share: its candidates, and the children of those that were used."""

    def __init__(self, criterion: CenterCriterion, node: OracleNode, n_candidates: int) -> None:
        self.node, self.children = node, {}
        by_gap: dict[Any, list[Cut]] = {}
        for cut in criterion.cuts(node):
            by_gap.setdefault((cut.feature, cut.gap), []).append(cut)
        best = [min(cuts, key=lambda cut: cut.objective) for cuts in by_gap.values()]
        best.sort(key=lambda cut: (cut.objective, cut.feature, cut.low))
        self.candidates = [(criterion.loss(node, cut), cut) for cut in best[:n_candidates]]
        self.is_clear = criterion.is_strict or not any(
            other.objective <= _sum(cut.objective, criterion.slack(node, cut.objective))
            for cuts in [*by_gap.values(), best[n_candidates - 1 :]]
            for cut in [min(cuts, key=lambda cut: cut.objective, default=None)]
            for other in cuts
            if other is not cut
        )


class _Ambiguous(Exception):
    """Rounding decides which trees are kept."""


def check_beam(criterion: CenterCriterion, tree, width: int, n_candidates: int) -> None:
    """The tree is that of beam search by brute force, unless rounding decides."""
    try:
        root, splits = _search_beam(criterion, width, n_candidates)
    except _Ambiguous:
        return
    cut_of = dict(splits)
    stack = [(0, root)]
    while stack:
        number, beam_node = stack.pop()
        if (beam_node in cut_of) != (tree.children_left[number] >= 0):
            raise WrongResult("beam search by brute force has another shape")
        if beam_node not in cut_of:
            node = beam_node.node
            expected = criterion.posed.majority(node.rows, node.centers)
            require(tree.cluster[number] == expected, "a leaf belongs to another cluster")
            continue
        rank = cut_of[beam_node]
        cut = beam_node.candidates[rank][1]
        found = _lowest_threshold(criterion, tree, number, beam_node.node)
        require(
            found == (cut.feature, cut.low),
            f"cut of x{found[0]} at {found[1]}; beam search by brute force cuts x{cut.feature} at "
            f"{cut.low}",
        )
        children = beam_node.children[rank]
        stack += zip((tree.children_left[number], tree.children_right[number]), children)


def _search_beam(criterion: CenterCriterion, width: int, n_candidates: int):
    """The root, and the cuts of the best tree: pairs of a node and the rank of its cut."""
    is_sharp = criterion.loss_slack(0) == 0

    def make(node: OracleNode) -> _BeamNode:
        made = _BeamNode(criterion, node, n_candidates)
        if not made.is_clear:
            raise _Ambiguous
        return made

    def split(state, position: int, rank: int, loss: Any):
        _, splits, leaves = state
        leaf = leaves[position]
        if rank not in leaf.children:
            cut = leaf.candidates[rank][1]
            divided = criterion.divide(leaf.node, cut.feature, cut.low)
            leaf.children[rank] = tuple(map(make, divided))
        following = (*leaves[:position], *leaf.children[rank], *leaves[position + 1 :])
        return loss, splits | {(leaf, rank)}, following

    def split_greedily(state):
        for position, leaf in enumerate(state[2]):
            if leaf.candidates:
                return split(state, position, 0, state[0] + leaf.candidates[0][0])
        return state

    root = make(criterion.root())
    greedy = (0, frozenset(), (root,))
    beam, finished = [greedy], []
    while beam:
        successors = sorted(
            (state[0] + loss, rank, order, position)
            for order, state in enumerate(beam)
            for position, leaf in enumerate(state[2])
            for rank, (loss, _) in enumerate(leaf.candidates)
        )
        chosen: dict[Any, Any] = {}
        for loss, rank, order, position in successors:
            key = beam[order][1] | {(beam[order][2][position], rank)}
            if key in chosen:
                continue
            if len(chosen) == width:
                last = max(state[0] for state in chosen.values())
                if not is_sharp and loss <= last + criterion.loss_slack(loss):
                    raise _Ambiguous
                break
            chosen[key] = split(beam[order], position, rank, loss)
        greedy = split_greedily(greedy)
        following = list(chosen.values())
        beam = [state for state in following if any(leaf.candidates for leaf in state[2])]
        finished += [state for state in following if state not in beam]
    while any(leaf.candidates for leaf in greedy[2]):
        greedy = split_greedily(greedy)
    best = min([greedy, *finished], key=lambda state: state[0])
    limit = best[0] + criterion.loss_slack(best[0])
    if not is_sharp and {state[1] for state in finished if state[0] <= limit} - {best[1]}:
        raise _Ambiguous
    return root, best[1]
