"""From rows and settings to boxes: units, a sample for the search, all rows at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from pellucid._utils.arrays import mixed
from pellucid.rules.boxes import BoxSearch, Candidate, RuleColumns, with_margin
from pellucid.rules.optimum import UNKNOWN, find_optimum, is_small
from pellucid.rules.selection import Selection

MAX_ROWS = 2**12
"""Rows on which boxes are searched. If there are more, a sample is used, drawn by the values of the
rows, and the ends of the intervals are then searched on all rows."""

_MAX_BITS = {True: 40, False: 24}
"""Bits of the total weight, if rules may overlap and if not: sums of gains stay below 2**62."""

_STEP = 0x9E3779B97F4A7C15
"""Added to the values of each column in turn before they are hashed, as in SplitMix64."""

_RATE_BITS = {True: 20, False: 14}
"""Bits of the cost of a unit of weight."""


@dataclass(frozen=True)
class RuleLimits:
    """What is asked of a set of rules; see :class:`pellucid.RuleSet`."""

    n_rules: int
    max_conditions: int
    max_columns: int
    mean_conditions: float | None
    mistake_cost: float
    noise_cost: float
    min_precision: float
    min_support: Sequence[tuple[float, float]]
    every_cluster: bool
    overlap: bool
    names: tuple[str, ...]


@dataclass(frozen=True)
class Solution:
    """Rules, their objective, and a bound that no rules exceed, in units of weight.

    The bound is that of the objective less the cost of each rule.
    """

    rules: list[Candidate]
    objective: float
    upper_bound: float = float("inf")
    is_optimal: bool = False


class RuleProblem:
    """Rows, their clusters and what is asked of the rules.

    Parameters
    ----------
    columns : RuleColumns
        All rows of positive weight.
    weight : ndarray of int64
        Their weight in units.
    labels : ndarray of int
        Position of the cluster of each row; -1 for noise.
    limits : RuleLimits
        What is asked. Costs and supports are in units of weight.
    """

    columns: RuleColumns
    weight: np.ndarray
    labels: np.ndarray
    limits: RuleLimits

    def __init__(
        self, columns: RuleColumns, weight: np.ndarray, labels: np.ndarray, limits: RuleLimits
    ) -> None:
        excess = int(weight.sum()).bit_length() - _MAX_BITS[limits.overlap]
        if excess > 0:
            support = [(a / 2**excess, b / 2**excess) for a, b in limits.min_support]
            limits = replace(limits, min_support=support)
            weight = (weight + 2 ** (excess - 1)) >> excess
        self.columns, self.weight, self.labels, self.limits = columns, weight, labels, limits
        self.unit: float = 2.0 ** max(excess, 0)
        bits = _RATE_BITS[limits.overlap]
        cost = min(max(limits.mistake_cost, 2.0**-10), 2.0**bits)
        self.gain_rate: int = 2 ** min(10, max(bits - int(np.ceil(cost)).bit_length(), 0))
        self.cost_rate: int = max(round(cost * self.gain_rate), 1)

    by_value = True
    """Whether the ends of intervals are searched by value; see `BoxSearch`."""

    def solve(self) -> Solution:
        """The best rules that are found."""
        sample = self._sample()
        selection = (self if sample is None else self._restricted(*sample)).select()
        if sample is not None:
            selection = self._on_all_rows(selection.chosen)
        is_optimal = sample is None and self._prove(selection)
        unit = self.unit / self.gain_rate
        bound = selection.objective() * unit if is_optimal else float("inf")
        return Solution(selection.chosen, self._value(selection) * unit, bound, is_optimal)

    def with_margin(self, found: Solution) -> Solution:
        """The rules with their ends moved inwards, unless one gets less precise than asked."""
        selection = self._select_none()
        for rule in found.rules:
            box = with_margin(self.columns, rule.box, self.weight, self.labels == rule.cluster)
            moved = selection.search.candidate(rule.cluster, box)
            weight = self.weight[moved.inside]
            right = weight[self.labels[moved.inside] == rule.cluster].sum()
            is_precise = right >= self.limits.min_precision * weight.sum()
            selection.chosen.append(moved if is_precise else rule)
        is_same = [rule.box for rule in found.rules] == [rule.box for rule in selection.chosen]
        return replace(
            found,
            rules=selection.chosen,
            objective=self._value(selection) * self.unit / self.gain_rate,
            is_optimal=found.is_optimal and is_same,
        )

    def _prove(self, selection: Selection) -> bool:
        """Replace the rules of a small problem by the best ones; whether they are proven."""
        limits = self.limits
        shape = self.columns, limits.max_conditions, limits.max_columns
        if not limits.overlap or limits.mean_conditions is not None or not is_small(*shape):
            return False
        rules, bound = find_optimum(selection, needed=limits.every_cluster)
        best = replace(selection, chosen=[selection.search.candidate(*rule) for rule in rules])
        if bound < UNKNOWN and best.objective() > selection.objective():
            selection.chosen = best.chosen
        return bound <= selection.objective()

    def _value(self, selection: Selection) -> int:
        """The objective without the cost of rules."""
        n_rules = Counter(rule.cluster for rule in selection.chosen)
        costs = (
            selection.rule_costs[c][0] + (n - 1) * selection.rule_costs[c][1]
            for c, n in n_rules.items()
        )
        return selection.objective() + sum(costs)

    def select(self) -> Selection:
        """Rules on the rows of this problem."""
        found, limits = self._select_none(), self.limits
        if limits.every_cluster:
            self._refuse_uncovered(found.cover(range(found.n_clusters)))
        found.add_greedily()
        found.exchange(limits.every_cluster)
        if limits.mean_conditions is not None:
            found.shorten(limits.mean_conditions)
        return found

    def _refuse_uncovered(self, clusters: Sequence[int]) -> None:
        """Raise an error if clusters that must have a rule have none."""
        if clusters:
            names = ", ".join(self.limits.names[cluster] for cluster in clusters)
            cost = self.limits.mistake_cost
            raise ValueError(
                f"no box of {self.limits.max_conditions} conditions describes cluster {names}: "
                f"with mistakes at {cost:g}, each holds too many rows of other clusters. Use a "
                "smaller min_precision or mistake_cost, more max_conditions, or "
                "every_cluster=False"
            )

    def _restricted(self, rows: np.ndarray, weight: np.ndarray) -> RuleProblem:
        """The same problem on some rows with other weights, which have about the same total."""
        columns = self.columns.take(rows, weight)
        found = RuleProblem(columns, weight, self.labels[rows], self.limits)
        found.by_value = False
        return found

    def _sample(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Rows for the search and their weights; None if all rows are used.

        Equal rows of one cluster are one row. Of each cluster, those with the smallest hash are
        taken, at most as many as of the others; they stand for the rest of their cluster.
        """
        if self.columns.n_rows <= MAX_ROWS:
            return None
        _, first, place = np.unique(
            _hash_rows(self.columns.X, self.labels), return_index=True, return_inverse=True
        )
        weight = np.zeros(len(first), dtype=np.int64)
        np.add.at(weight, place.reshape(-1), self.weight)
        labels = self.labels[first]
        sizes = np.bincount(labels + 1)
        most = _fair_size(sizes, MAX_ROWS)
        kept = []
        for label in np.flatnonzero(sizes) - 1:
            members = np.flatnonzero(labels == label)
            chosen = members[:most]  # in the order of their hashes
            total, taken = int(weight[members].sum()), int(weight[chosen].sum())
            weight[chosen] = np.maximum(np.rint(weight[chosen] * (total / taken)), 1)
            kept.append(chosen)
        rows = np.sort(np.concatenate(kept))
        return first[rows], weight[rows]

    def _on_all_rows(self, sampled: list[Candidate]) -> Selection:
        """The rules of a sample with the best ends of their intervals on all rows."""
        selection = self._select_none()
        search = selection.search
        for rule in sorted(sampled, key=lambda rule: -int(rule.inside.sum())):
            _, barred = selection.free(rule.cluster, selection.chosen)
            unexplained, _ = selection.free(rule.cluster, selection.chosen)
            box = search.refine(rule.cluster, rule.box, unexplained, barred)
            selection.chosen.append(search.candidate(rule.cluster, box))
        selection.remove_useless(self.limits.every_cluster)
        return selection

    def _select_none(self) -> Selection:
        limits = self.limits
        search = BoxSearch(
            self.columns,
            self.weight,
            self.labels,
            (self.gain_rate, self.cost_rate),
            limits.noise_cost / limits.mistake_cost,
            limits.max_conditions,
            limits.max_columns,
            self.by_value,
        )
        rate = self.gain_rate
        costs = [(round(a * rate), round(b * rate)) for a, b in limits.min_support]
        return Selection(search, limits.n_rules, costs, limits.overlap)


def _fair_size(sizes: np.ndarray, total: int) -> int:
    """The largest number of rows per cluster with which at most `total` are taken."""
    low, high = 1, int(sizes.max())
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high) if np.minimum(sizes, middle).sum() <= total else (low, middle - 1)
        )
    return low


def _hash_rows(X: Any, labels: np.ndarray) -> np.ndarray:
    """A number for the values and the label of each row; 0 adds nothing, so that it is cheap."""
    found = mixed(labels.astype(np.uint64) - np.uint64(_STEP))
    for column in range(X.shape[1]):
        if sparse.issparse(X):
            entries = slice(X.indptr[column], X.indptr[column + 1])
            rows, values = X.indices[entries], X.data[entries]
        else:
            rows, values = slice(None), X[:, column]
        bits = (values.astype(np.float64) + 0.0).view(np.uint64)  # one zero only
        hashes = mixed(bits + np.uint64(column * _STEP % 2**64))
        found[rows] += np.where(bits == 0, np.uint64(0), hashes)
    return found
