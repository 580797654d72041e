"""Choice of rules: lazy greedy, then exchange; the rules of a problem, proven if it is small."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from pellucid.rules.boxes import moved_inwards, size_of
from pellucid.rules.optimum import UNKNOWN, find_optimum, is_small
from pellucid.rules.problem import Candidate, RuleProblem

MAX_ROUNDS = 10  # rounds of exchange
N_KEPT = 3  # boxes of one search that may be exchanged for a rule later


@dataclass(frozen=True)
class Solution:
    """Rules, their objective, and a bound that no rules exceed, in units of weight."""

    rules: list[Candidate]
    objective: float
    upper_bound: float = float("inf")  # of the objective less the cost of each rule
    is_optimal: bool = False


@dataclass
class Selection:
    """Rules that are chosen one by one, and improved given the others.

    The objective is the weight of the explained rows of each cluster, times the gain of a unit,
    less the cost of the rows of other clusters in each rule, less the cost of each rule.
    """

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
            for position in range(len(self.chosen)):
                self._improve_rule(position)
            self.remove_useless()
            if len(self.chosen) == limits.n_rules:
                self._replace_weakest()
            else:
                self._add_greedily()
            if self.objective() <= before:
                break
        if limits.mean_conditions is not None:
            self._shorten(limits.mean_conditions)

    def _improve_rule(self, position: int) -> None:
        """Replace a rule by the best one of its cluster that is found, given the others."""
        rule, others = self.chosen[position], self._without(position)
        unexplained, barred = self._free(rule.cluster, others)
        pool = self.pool.setdefault(rule.cluster, [])
        pool.append(self.problem.improve(rule.cluster, rule.box, unexplained, barred))
        self.chosen[position] = self._best_of([rule, *pool], others, barred)[1] or rule

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
