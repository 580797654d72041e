"""Choice of rules: lazy greedy, then exchange; in small problems, the best rules with a proof."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, islice
from math import comb

import numpy as np
from scipy import sparse

from pellucid.rules.boxes import Box, BoxCondition, RuleColumns, moved_inwards, size_of
from pellucid.rules.problem import Candidate, RuleProblem

MAX_ROUNDS = 10  # rounds of exchange
N_KEPT = 3  # boxes of one search that may be exchanged for a rule later
MAX_BOXES = 20_000  # boxes that are tried
MAX_USEFUL_BOXES = 1000  # boxes of a cluster that may be part of the optimum
MAX_NODES = 1000  # nodes of the branch and bound before the search gives up
UNKNOWN = 2**62  # more than any objective
_MAX_CATEGORIES = 8
_MOST_ROWS = 400


@dataclass(frozen=True)
class Solution:
    """Rules, their objective, and a bound that no rules exceed, in units of weight."""

    rules: list[Candidate]
    objective: float
    upper_bound: float = float("inf")  # of the objective less the cost of each rule
    is_optimal: bool = False


@dataclass
class Selection:
    """Rules that are chosen one by one, and improved given the others; see `RuleSet`."""

    problem: RuleProblem
    chosen: list[Candidate] = field(default_factory=list)
    pool: dict[int, list[Candidate]] = field(default_factory=dict)  # found for each cluster
    searched: set[int] = field(default_factory=set)  # hashes of what boxes were searched for

    def _explained(self, cluster: int, others: Iterable[Candidate]) -> np.ndarray:
        """Rows that some rules of a cluster hold for."""
        found = np.zeros(self.problem.columns.n_rows, dtype=bool)
        for candidate in others:
            if candidate.cluster == cluster:
                found |= candidate.inside
        return found

    def _gain(self, candidate: Candidate, others: Sequence[Candidate]) -> int:
        """What a rule adds to the objective of others."""
        problem = self.problem
        new = candidate.inside & (problem.labels == candidate.cluster)
        new &= ~self._explained(candidate.cluster, others)
        explained = int(problem.weight[new].sum()) * problem.gain_rate
        is_another = any(other.cluster == candidate.cluster for other in others)
        return explained - candidate.cost - problem.rule_costs[candidate.cluster][is_another]

    def objective(self) -> int:
        return sum(self._gain(rule, self.chosen[:i]) for i, rule in enumerate(self.chosen))

    def solution(self) -> Solution:
        """The chosen rules; their objective is without the cost of rules."""
        costs, value = self.problem.rule_costs, self.objective()
        for cluster, n in Counter(rule.cluster for rule in self.chosen).items():
            value += costs[cluster][0] + (n - 1) * costs[cluster][1]
        return Solution(self.chosen, value * self.problem.unit / self.problem.gain_rate)

    def _without(self, position: int) -> list[Candidate]:
        return [*self.chosen[:position], *self.chosen[position + 1 :]]

    def _best_new(
        self, cluster: int, others: Sequence[Candidate], max_size: int | None = None
    ) -> tuple[int, Candidate | None]:
        """The rule of a cluster that adds most to others, and what it adds."""
        unexplained, barred = self._free(cluster, others)
        most = self.problem.limits.max_conditions if max_size is None else max_size
        pool = self.pool.setdefault(cluster, [])
        state = cluster, most, unexplained.tobytes(), barred.tobytes()
        if hash(state) not in self.searched:
            self.searched.add(hash(state))
            pool += islice(self.problem.find(cluster, unexplained, barred, most), N_KEPT)
        return self._best_of([each for each in pool if size_of(each.box) <= most], others, barred)

    def _free(self, cluster: int, others: Sequence[Candidate]) -> tuple[np.ndarray, np.ndarray]:
        """Rows of a cluster to explain, and rows that no further rule may hold for."""
        barred = np.zeros(self.problem.columns.n_rows, dtype=bool)
        for other in () if self.problem.limits.overlap else others:
            barred |= other.inside
        return ~self._explained(cluster, others), barred

    def _best_of(
        self, candidates: Sequence[Candidate], others: Sequence[Candidate], barred: np.ndarray
    ) -> tuple[int, Candidate | None]:
        """The candidate without barred rows that adds most to others, and what it adds."""
        overlap = self.problem.limits.overlap
        rated = [
            (self._gain(each, others), each)
            for each in candidates
            if overlap or not (each.inside & barred).any()
        ]
        return max(rated, key=lambda pair: pair[0], default=(0, None))

    def _cover(self) -> None:
        """Choose one rule for each cluster; an error if there is none for some."""
        limits, failed = self.problem.limits, []
        for cluster, name in enumerate(limits.names):
            candidate = self._best_new(cluster, self.chosen)[1]
            if candidate is None:
                failed.append(name)
            else:
                self.chosen.append(candidate)
        if failed:
            raise ValueError(
                f"no box of {limits.max_conditions} conditions describes cluster "
                f"{', '.join(failed)}: with mistakes at {limits.mistake_cost:g}, each holds too "
                "many rows of other clusters. Use a smaller min_precision or mistake_cost, more "
                "max_conditions, or every_cluster=False"
            )

    def _add_greedily(self) -> None:
        """Add the rule with the largest gain until there is none, or enough rules."""
        limits = self.problem.limits
        best: dict[int, tuple[int, Candidate | None]] = {}
        while len(self.chosen) < limits.n_rules:
            for cluster in range(len(limits.names)):
                if cluster not in best:
                    best[cluster] = self._best_new(cluster, self.chosen)
            cluster = max(best, key=lambda c: (best[c][0], -c))
            gain, candidate = best[cluster]
            if candidate is None or gain <= 0:
                return
            self.chosen.append(candidate)
            for stale in [cluster] if limits.overlap else list(best):
                del best[stale]

    def choose(self) -> None:
        """Add rules, improve each given the others, and replace or leave out, while that helps."""
        limits = self.problem.limits
        if limits.every_cluster:
            self._cover()
        self._add_greedily()
        for _ in range(MAX_ROUNDS):
            before = self.objective()
            for position, rule in enumerate(self.chosen):
                others = self._without(position)
                unexplained, barred = self._free(rule.cluster, others)
                pool = self.pool.setdefault(rule.cluster, [])
                pool.append(self.problem.improve(rule.cluster, rule.box, unexplained, barred))
                self.chosen[position] = self._best_of([rule, *pool], others, barred)[1] or rule
            self.remove_useless()
            if len(self.chosen) == limits.n_rules:
                self._replace_weakest()
            else:
                self._add_greedily()
            if self.objective() <= before:
                break
        if limits.mean_conditions is not None:
            self._shorten(limits.mean_conditions)

    def _weakest(self) -> tuple[float, int]:
        """What the objective loses least without a rule that may be left out, and its position."""
        n_rules = Counter(rule.cluster for rule in self.chosen)
        losses = [
            (self._gain(rule, self._without(i)), i)
            for i, rule in enumerate(self.chosen)
            if not self.problem.limits.every_cluster or n_rules[rule.cluster] > 1
        ]
        return min(losses, default=(np.inf, -1))

    def remove_useless(self) -> None:
        """Leave out rules that add nothing."""
        loss, position = self._weakest()
        while loss <= 0:
            self.chosen.pop(position)
            loss, position = self._weakest()

    def _replace_weakest(self) -> None:
        """Exchange the rule of the smallest gain for the best one of another cluster."""
        loss, position = self._weakest()
        if loss == np.inf:
            return
        others, unused = self._without(position), self.chosen[position].cluster
        clusters = range(len(self.problem.limits.names))
        new = [self._best_new(c, others) for c in clusters if c != unused]
        gain, candidate = max(new, key=lambda pair: pair[0], default=(0, None))
        if candidate is not None and gain > loss:
            self.chosen[position] = candidate

    def _shorten(self, mean_size: float) -> None:
        """Make the cheapest change per saved condition until the mean is at most `mean_size`."""
        best: dict[int, list[tuple[float, int, Candidate | None]]] = {}
        while sum(size_of(rule.box) - mean_size for rule in self.chosen) > 1e-9:
            for position, rule in enumerate(self.chosen):
                if position not in best:
                    best[position] = self._shorter(position, rule, mean_size)
            options = [option for each in best.values() for option in each]
            _, position, shorter = min(options, key=lambda option: option[:2])
            cluster = self.chosen[position].cluster
            if shorter is None:
                self.chosen.pop(position)
                best = {}
            else:
                self.chosen[position] = shorter
                stale = (i for i, rule in enumerate(self.chosen) if rule.cluster == cluster)
                for i in stale if self.problem.limits.overlap else list(best):
                    best.pop(i, None)

    def _shorter(
        self, position: int, rule: Candidate, mean_size: float
    ) -> list[tuple[float, int, Candidate | None]]:
        """Changes of a rule to a shorter one or none: cost per saved condition, position, rule."""
        others = self._without(position)
        size, gain = size_of(rule.box), self._gain(rule, others)
        found: list[tuple[float, int, Candidate | None]] = []
        if size > mean_size:
            found.append((gain / (size - mean_size), position, None))
        for most in range(1, size):
            value, shorter = self._best_new(rule.cluster, others, most)
            if shorter is not None:
                saved = size - size_of(shorter.box)
                found.append(((gain - value) / saved, position, shorter))
        return found

    def add_refined(self, rule: Candidate) -> None:
        """Add a rule of a sample with the best ends of its intervals on all rows."""
        box = self.problem.refine(rule.cluster, rule.box, *self._free(rule.cluster, self.chosen))
        self.chosen.append(self.problem.candidate(rule.cluster, box))


def solve(problem: RuleProblem) -> Solution:
    """The best rules that are found."""
    sample = problem.sample()
    selection = Selection(sample or problem)
    selection.choose()
    if sample is not None:
        sampled, selection = selection.chosen, Selection(problem)
        for rule in sorted(sampled, key=lambda rule: -int(rule.inside.sum())):
            selection.add_refined(rule)
        selection.remove_useless()
    elif _prove(selection):
        bound = selection.objective() * problem.unit / problem.gain_rate
        return replace(selection.solution(), upper_bound=bound, is_optimal=True)
    return selection.solution()


def with_margin(problem: RuleProblem, found: Solution) -> Solution:
    """The rules with their ends moved inwards, unless one gets less precise than asked."""
    chosen = []
    for rule in found.rules:
        is_own = problem.labels == rule.cluster
        box = moved_inwards(problem.columns, rule.box, problem.weight, is_own)
        moved = problem.candidate(rule.cluster, box)
        right = problem.weight[moved.inside & is_own].sum()
        is_precise = right >= problem.limits.min_precision * problem.weight[moved.inside].sum()
        chosen.append(moved if is_precise else rule)
    is_same = [rule.box for rule in found.rules] == [rule.box for rule in chosen]
    is_optimal = found.is_optimal and is_same
    solution = Selection(problem, chosen).solution()
    return replace(solution, upper_bound=found.upper_bound, is_optimal=is_optimal)


def _prove(selection: Selection) -> bool:
    """Replace the rules of a small problem by the best ones; whether they are proven."""
    problem, limits = selection.problem, selection.problem.limits
    is_simple = limits.overlap and limits.mean_conditions is None
    if not is_simple or not is_small(problem.columns, limits.max_conditions, problem.max_columns):
        return False
    rules, bound = find_optimum(problem)
    best = Selection(problem, [problem.candidate(*rule) for rule in rules])
    if bound < UNKNOWN and best.objective() > selection.objective():
        selection.chosen = best.chosen
    return bound <= selection.objective()


def is_small(columns: RuleColumns, max_size: int, max_columns: int) -> bool:
    """Whether all boxes can be tried."""
    n_codes = np.diff(columns.offset)
    if columns.n_rows > _MOST_ROWS or any(columns.is_coarse):
        return False
    if (n_codes[columns.is_set] > _MAX_CATEGORIES).any():
        return False
    # by_size[c][s]: boxes of c columns with s conditions
    by_size = np.zeros((max_columns + 1, max_size + 1))
    by_size[0, 0] = 1
    for n, is_set in zip(n_codes.tolist(), columns.is_set):
        ways = [2**n - 2] if is_set else [2 * (n - 1), comb(n - 1, 2)]
        added = by_size.copy()
        for size, number in enumerate(ways[:max_size], 1):
            added[1:, size:] += number * by_size[:-1, : max_size + 1 - size]
        by_size = added
        if by_size.sum() > MAX_BOXES:
            return False
    return True


def _conditions(columns: RuleColumns, column: int) -> list[BoxCondition]:
    """Every condition on a column that holds for some rows and not for others."""
    uppers = columns.uppers[column]
    if columns.is_set[column]:
        codes = range(len(uppers))
        sets = chain.from_iterable(combinations(codes, n) for n in range(1, len(uppers)))
        return [BoxCondition(column, codes=frozenset(chosen)) for chosen in sets]
    lowers, highs = [-np.inf, *uppers[:-1].tolist()], [*uppers[:-1].tolist(), np.inf]
    intervals = ((low, high) for i, low in enumerate(lowers) for high in highs[i:])
    return [BoxCondition(column, *ends) for ends in intervals if ends != (-np.inf, np.inf)]


def find_optimum(problem: RuleProblem) -> tuple[list[tuple[int, Box]], int]:
    """The best rules, and a bound that no rules exceed; no rules and `UNKNOWN` without a proof.

    In the program a box is a binary variable. A row of a cluster is explained, 0 to 1, by at most
    the number of its boxes, and a cluster is described likewise, at the cost of a first rule.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    limits = problem.limits
    candidates = _all_boxes(problem.columns, limits.max_conditions, problem.max_columns)
    boxes: list[tuple[int, Box]] = []
    gains, blocks = [], []
    for cluster, (first, another) in enumerate(problem.rule_costs):
        kept, cost, inside = _useful_boxes(problem, cluster, candidates)
        if len(kept) > MAX_USEFUL_BOXES:
            return [], UNKNOWN
        # Rows that are in the same boxes are one variable; the last is whether there is a rule.
        patterns, which = np.unique(inside, axis=1, return_inverse=True)
        weight = np.zeros(patterns.shape[1], dtype=np.int64)
        np.add.at(weight, which.reshape(-1), problem.weight * problem.gain_rate)
        gains.append((-cost, weight, [another - first]))
        blocks.append(np.column_stack([patterns, np.ones(len(kept), dtype=bool)]).T)
        boxes += [(cluster, box) for box in kept]
    n = len(boxes)
    gain = np.concatenate([*(g[0] for g in gains), *chain(*(g[1:] for g in gains))])
    covers = sparse.block_diag(blocks)
    n_explained = covers.shape[0]
    ends = np.cumsum([block.shape[0] for block in blocks]) - 1
    matrix = sparse.hstack([covers, -sparse.identity(n_explained)])
    is_box = np.arange(len(gain)) < n
    constraints = [
        LinearConstraint(matrix.tocsc(), lb=0),
        LinearConstraint(is_box[None].astype(float), ub=limits.n_rules),
    ]
    least = np.zeros(len(gain))
    if limits.every_cluster:
        least[n + ends] = [float(block.shape[1] > 0) for block in blocks]
    scale = float(np.abs(gain).max(initial=1))
    found = milp(
        -gain / scale,
        integrality=is_box.astype(int),
        bounds=Bounds(least, np.ones(len(gain))),
        constraints=constraints,
        options={"mip_rel_gap": 0.0, "node_limit": MAX_NODES},
    )
    if found.status != 0:
        return [], UNKNOWN
    chosen = np.flatnonzero(found.x[:n] > 0.5).tolist()
    # Sums of gains are integers, so that the next better objective is larger by 1.
    bound = found.fun if found.mip_dual_bound is None else found.mip_dual_bound
    return [boxes[i] for i in chosen], int(np.floor(-bound * scale + 0.5))


def _all_boxes(columns: RuleColumns, max_size: int, max_columns: int) -> dict[int, Box]:
    """One box, with the fewest conditions, for each set of rows that some box holds."""

    def bits_of(inside: np.ndarray) -> int:
        return int.from_bytes(np.packbits(inside, bitorder="little").tobytes(), "little")

    every = bits_of(np.ones(columns.n_rows, dtype=bool))
    found: dict[int, Box] = {every: ()}
    states: list[tuple[int, Box]] = [(every, ())]
    for column in range(len(columns.features)):
        tests = [(bits_of(columns.holds(c)), c) for c in _conditions(columns, column)]
        new = []
        for rows, box in states:
            size = size_of(box)
            if len(box) < max_columns and size < max_size:
                new += [
                    (rows & inside, (*box, condition))
                    for inside, condition in tests
                    if size + condition.size <= max_size and rows & inside
                ]
        states += new
        for rows, box in new:
            if rows not in found or size_of(box) < size_of(found[rows]):
                found[rows] = box
    return found


def _useful_boxes(
    problem: RuleProblem, cluster: int, candidates: dict[int, Box]
) -> tuple[list[Box], np.ndarray, np.ndarray]:
    """Boxes that may help a cluster, the cheapest per set of its rows; their costs and rows."""
    n_rows, is_own = problem.columns.n_rows, problem.labels == cluster
    bits = b"".join(rows.to_bytes(-(-n_rows // 8), "little") for rows in candidates)
    inside = np.frombuffer(bits, dtype=np.uint8).reshape(len(candidates), -1)
    inside = np.unpackbits(inside, axis=1, count=n_rows, bitorder="little").astype(bool)
    first, another = problem.rule_costs[cluster]
    other = np.where(is_own, 0, problem.other) * problem.cost_rate
    cost = inside @ other + another
    inside &= is_own
    gain = inside @ (problem.weight * problem.gain_rate)
    sizes = np.array([size_of(box) for box in candidates.values()])
    order = np.lexsort((sizes, cost))
    order = order[(gain + another - first > cost)[order]]
    _, best = np.unique(inside[order], axis=0, return_index=True)
    kept = order[np.sort(best)]
    boxes = list(candidates.values())
    return [boxes[i] for i in kept.tolist()], cost[kept], inside[kept]
