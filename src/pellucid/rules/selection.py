"""Choice of rules: lazy greedy, then exchange."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from pellucid.rules.boxes import BoxSearch, Candidate, size_of

MAX_ROUNDS = 10
"""Rounds of exchange."""

N_KEPT = 3
"""Boxes of one search that may be exchanged for a rule later."""


@dataclass
class Selection:
    """Rules that are chosen one by one, and improved given the others.

    The objective is the weight of the explained rows of each cluster, times the gain of a unit,
    less the cost of the rows of other clusters in each rule, less the cost of each rule.

    Attributes
    ----------
    search : BoxSearch
    n_rules : int
        Most rules.
    rule_costs : sequence of (int, int)
        Cost of the first rule of each cluster, and of another; a rule must add more.
    overlap : bool
        Whether a row may be in several rules.
    chosen : list of Candidate
        The rules.
    pool : dict of int to list of Candidate
        Boxes that were found for each cluster.
    searched : set of int
        Hashes of the rows for which boxes were searched.
    """

    search: BoxSearch
    n_rules: int
    rule_costs: Sequence[tuple[int, int]]
    overlap: bool = True
    chosen: list[Candidate] = field(default_factory=list)
    pool: dict[int, list[Candidate]] = field(default_factory=dict)
    searched: set[int] = field(default_factory=set)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.rule_costs)

    def explained(self, cluster: int, others: Iterable[Candidate]) -> np.ndarray:
        """Rows that some rules of a cluster hold for."""
        found = np.zeros(self.search.columns.n_rows, dtype=bool)
        for candidate in others:
            if candidate.cluster == cluster:
                found |= candidate.inside
        return found

    def gain(self, candidate: Candidate, others: Sequence[Candidate]) -> int:
        """What a rule adds to the objective of others."""
        search = self.search
        new = candidate.inside & (search.labels == candidate.cluster)
        new &= ~self.explained(candidate.cluster, others)
        explained = int(search.weight[new].sum()) * search.gain_rate
        is_another = any(other.cluster == candidate.cluster for other in others)
        return explained - candidate.cost - self.rule_costs[candidate.cluster][is_another]

    def objective(self) -> int:
        """The objective of the chosen rules."""
        return sum(self.gain(rule, self.chosen[:i]) for i, rule in enumerate(self.chosen))

    def best_new(
        self, cluster: int, others: Sequence[Candidate], max_size: int | None = None
    ) -> tuple[int, Candidate | None]:
        """The rule of a cluster that adds most to others, and what it adds.

        `max_size` is the largest number of conditions; by default that of the search.
        """
        unexplained, barred = self.free(cluster, others)
        most = self.search.max_size if max_size is None else max_size
        pool = self.pool.setdefault(cluster, [])
        state = cluster, most, unexplained.tobytes(), barred.tobytes()
        if hash(state) not in self.searched:
            self.searched.add(hash(state))
            pool += islice(self.search.find(cluster, unexplained, barred, most), N_KEPT)
        rated = [
            (self.gain(each, others), each)
            for each in pool
            if self._fits(each, barred) and size_of(each.box) <= most
        ]
        return max(rated, key=lambda pair: pair[0], default=(0, None))

    def free(self, cluster: int, others: Sequence[Candidate]) -> tuple[np.ndarray, np.ndarray]:
        """Rows of a cluster to explain, and rows that no further rule may hold for."""
        barred = np.zeros(self.search.columns.n_rows, dtype=bool)
        for other in () if self.overlap else others:
            barred |= other.inside
        return ~self.explained(cluster, others), barred

    def _fits(self, candidate: Candidate, barred: np.ndarray) -> bool:
        return self.overlap or not (candidate.inside & barred).any()

    def cover(self, clusters: Iterable[int]) -> list[int]:
        """Choose one rule for each of some clusters; returns those for which there is none."""
        failed = []
        for cluster in clusters:
            candidate = self.best_new(cluster, self.chosen)[1]
            if candidate is None:
                failed.append(cluster)
            else:
                self.chosen.append(candidate)
        return failed

    def add_greedily(self) -> None:
        """Add the rule with the largest gain until there is none, or enough rules."""
        best: dict[int, tuple[int, Candidate | None]] = {}
        while len(self.chosen) < self.n_rules:
            for cluster in range(self.n_clusters):
                if cluster not in best:
                    best[cluster] = self.best_new(cluster, self.chosen)
            cluster = max(best, key=lambda c: (best[c][0], -c))
            gain, candidate = best[cluster]
            if candidate is None or gain <= 0:
                return
            self.chosen.append(candidate)
            for stale in [cluster] if self.overlap else list(best):
                del best[stale]

    def exchange(self, needed: bool = False) -> None:
        """Improve each rule given the others, and replace or leave out rules, while that helps.

        If each cluster is `needed`, its last rule stays.
        """
        for _ in range(MAX_ROUNDS):
            before = self.objective()
            for position in range(len(self.chosen)):
                self._improve_rule(position)
            self.remove_useless(needed)
            if len(self.chosen) == self.n_rules:
                self._replace_weakest(needed)
            else:
                self.add_greedily()
            if self.objective() <= before:
                return

    def _improve_rule(self, position: int) -> None:
        """Replace a rule by the best one of its cluster that is found, given the others."""
        rule = self.chosen[position]
        others = [*self.chosen[:position], *self.chosen[position + 1 :]]
        unexplained, barred = self.free(rule.cluster, others)
        improved = self.search.improve(rule.cluster, rule.box, unexplained, barred)
        self.pool.setdefault(rule.cluster, []).append(improved)
        rated = [
            (self.gain(each, others), each)
            for each in (rule, *self.pool[rule.cluster])
            if self._fits(each, barred)
        ]
        self.chosen[position] = max(rated, key=lambda pair: pair[0])[1]

    def _losses(self, needed: bool) -> list[tuple[int, int]]:
        """What the objective loses without each rule that may be left out, and its position."""
        n_rules = np.bincount([rule.cluster for rule in self.chosen], minlength=self.n_clusters)
        return [
            (self.gain(rule, [*self.chosen[:i], *self.chosen[i + 1 :]]), i)
            for i, rule in enumerate(self.chosen)
            if not needed or n_rules[rule.cluster] > 1
        ]

    def remove_useless(self, needed: bool) -> None:
        while losses := self._losses(needed):
            loss, position = min(losses)
            if loss > 0:
                return
            self.chosen.pop(position)

    def _replace_weakest(self, needed: bool) -> None:
        """Exchange the rule of the smallest gain for the best one of another cluster."""
        if not (losses := self._losses(needed)):
            return
        loss, position = min(losses)
        others = [*self.chosen[:position], *self.chosen[position + 1 :]]
        unused = self.chosen[position].cluster
        new = [self.best_new(c, others) for c in range(self.n_clusters) if c != unused]
        gain, candidate = max(new, key=lambda pair: pair[0], default=(0, None))
        if candidate is not None and gain > loss:
            self.chosen[position] = candidate

    def shorten(self, mean_size: float) -> None:
        """Replace or leave out rules until they have at most this mean number of conditions.

        Each time, the change is made that costs least per condition above the mean that is saved.
        """
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
                for i in stale if self.overlap else list(best):
                    best.pop(i, None)

    def _shorter(
        self, position: int, rule: Candidate, mean_size: float
    ) -> list[tuple[float, int, Candidate | None]]:
        """Changes of a rule to a shorter one or none: cost per saved condition, position, rule."""
        others = [*self.chosen[:position], *self.chosen[position + 1 :]]
        size, gain = size_of(rule.box), self.gain(rule, others)
        found: list[tuple[float, int, Candidate | None]] = []
        if size > mean_size:
            found.append((gain / (size - mean_size), position, None))
        for most in range(1, size):
            value, shorter = self.best_new(rule.cluster, others, most)
            if shorter is not None:
                saved = size - size_of(shorter.box)
                found.append(((gain - value) / saved, position, shorter))
        return found
