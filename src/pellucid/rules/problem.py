"""Rows, clusters and limits of a set of rules; the search for the best boxes of a cluster."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from pellucid._utils.arrays import mixed
from pellucid.rules.boxes import Box, RuleColumns, best_interval, with_ends

# Rows on which boxes are searched. If there are more, a sample is used, drawn by the values of the
# rows, and the ends of the intervals are then searched on all rows.
MAX_ROWS = 2**12
# Starts of a search, for each of the costs of a mistake. 64 starts add 0.2 % to the objective of
# 20 rules on digits, in 16 times the time.
N_STARTS = 4
N_SAMPLE_STARTS = 2  # the same on a sample of many rows
N_COSTS = 5  # costs of a mistake at which the starts of a search are found
# Bits of the total weight, and of the cost of a unit of weight, if rules may overlap and if not:
# sums of gains stay below 2**62.
_MAX_BITS, _RATE_BITS = {True: 40, False: 24}, {True: 20, False: 14}
_STEP = 0x9E3779B97F4A7C15  # added for each column before its values are hashed, as in SplitMix64


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
class Candidate:
    """A box for a cluster: the rows in it, and the cost of those of other clusters and of noise."""

    cluster: int
    box: Box
    inside: np.ndarray
    cost: int


@dataclass(eq=False)
class RuleProblem:
    """Rows of positive weight, their clusters, and what is asked of the rules."""

    columns: RuleColumns
    weight: np.ndarray  # in units, as the supports in `limits`
    labels: np.ndarray  # -1 for noise
    limits: RuleLimits
    by_value: bool = True  # whether the ends of intervals are searched by value, not by code only

    def __post_init__(self) -> None:
        limits, weight = self.limits, self.weight
        excess = int(weight.sum()).bit_length() - _MAX_BITS[limits.overlap]
        if excess > 0:
            support = [(a / 2**excess, b / 2**excess) for a, b in limits.min_support]
            self.limits = limits = replace(limits, min_support=support)
            self.weight = weight = (weight + 2 ** (excess - 1)) >> excess
        self.unit: float = 2.0 ** max(excess, 0)
        is_same = limits.noise_cost == limits.mistake_cost  # both may be infinite
        rate = 1.0 if is_same else limits.noise_cost / limits.mistake_cost
        # The weight of each row in a rule of another cluster.
        noise_weight = np.rint(weight * rate).astype(np.int64)
        self.other: np.ndarray = np.where(self.labels < 0, noise_weight, weight)
        self.max_columns: int = min(limits.max_columns, limits.max_conditions)
        bits = _RATE_BITS[limits.overlap]
        # The gain of a unit of weight, and the cost of a wrong one.
        cost = min(max(limits.mistake_cost, 2.0**-10), 2.0**bits)
        self.gain_rate: int = 2 ** min(10, max(bits - int(np.ceil(cost)).bit_length(), 0))
        self.cost_rate: int = max(round(cost * self.gain_rate), 1)
        # Of the first rule of each cluster, and of another.
        self.rule_costs: list[tuple[int, int]] = [
            (round(first * self.gain_rate), round(another * self.gain_rate))
            for first, another in limits.min_support
        ]

    def candidate(self, cluster: int, box: Box) -> Candidate:
        """A box with the rows in it."""
        inside = self.columns.inside(box)
        cost = int(self.other[inside & (self.labels != cluster)].sum()) * self.cost_rate
        return Candidate(cluster, box, inside, cost)

    def find(
        self, cluster: int, unexplained: np.ndarray, barred: np.ndarray, max_size: int
    ) -> Iterator[Candidate]:
        """The best boxes without `barred` rows for the unexplained ones of a cluster, in order."""
        from pellucid.rules.kernels import N_BOX_FIELDS, search_boxes

        columns = self.columns
        own, other, gain = self._weights(cluster, unexplained, barred)
        shifts = self._shifts(own, other)
        n_starts = N_STARTS if self.by_value else N_SAMPLE_STARTS
        n = 2 * n_starts * len(shifts)
        fields = np.full((n, N_BOX_FIELDS, self.max_columns), -1, dtype=np.int64)
        insides = np.zeros((n, self.max_columns, columns.width), dtype=bool)
        arguments = self._arguments(own, other, max_size)
        values = search_boxes(*arguments, shifts, n_starts, fields, insides)
        seen: set[Box] = set()
        for i in np.argsort(-values, kind="stable").tolist():
            box = columns.decode(fields[i], insides[i])
            if box not in seen and values[i] > 0:
                seen.add(box)
                yield self.candidate(cluster, self._refine(box, gain))
        # No start leads to the box of all rows if no column divides them.
        if () not in seen and gain.sum() > 0:
            yield self.candidate(cluster, ())

    def refine(self, cluster: int, box: Box, unexplained: np.ndarray, barred: np.ndarray) -> Box:
        """A box with the best ends of all its intervals, without codes."""
        gain = self._weights(cluster, unexplained, barred)[2]
        return self._refine(box, gain, [True] * len(box))

    def improve(
        self, cluster: int, box: Box, unexplained: np.ndarray, barred: np.ndarray
    ) -> Candidate:
        """A box changed as long as it becomes better for the unexplained rows of its cluster."""
        from pellucid.rules.kernels import N_BOX_FIELDS, improve_box

        own, other, gain = self._weights(cluster, unexplained, barred)
        fields = np.full((N_BOX_FIELDS, self.max_columns), -1, dtype=np.int64)
        inside = np.zeros((self.max_columns, self.columns.width), dtype=bool)
        self.columns.encode(box, fields, inside)
        arguments = self._arguments(own, other, self.limits.max_conditions)
        improve_box(*arguments, fields, inside)
        found = self._refine(self.columns.decode(fields, inside), gain)
        return self.candidate(cluster, found)

    def _weights(
        self, cluster: int, unexplained: np.ndarray, barred: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights that a box gains, those that it must not hold, and the gains of all rows."""
        is_own = self.labels == cluster
        own = np.where(is_own & unexplained & ~barred, self.weight, 0)
        other = np.where(is_own, 0, self.other)
        if barred.any():
            other[barred] = int(self.weight.sum()) + 1
        return own, other, own * self.gain_rate - other * self.cost_rate

    def _arguments(self, own: np.ndarray, other: np.ndarray, max_size: int) -> tuple[Any, ...]:
        """What the compiled loops take first."""
        rates, columns = np.array([self.gain_rate, self.cost_rate]), self.columns
        # A condition costs one unit, so that one that changes nothing is left out.
        limits = np.array([max_size, min(self.max_columns, max_size), 1])
        return columns.codes, own, other, rates, columns.offset, columns.is_set, limits

    def _shifts(self, own: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Powers of two by which mistakes cost less when starts are found."""
        # At the largest, the rows to explain count as much as the others together.
        gain, cost = int(own.sum()) * self.gain_rate, int(other.sum()) * self.cost_rate
        most = max((cost // max(gain, 1)).bit_length(), 1)
        return np.unique([most * i // (N_COSTS - 1) for i in range(N_COSTS)])

    def _refine(self, box: Box, gain: np.ndarray, refined: Sequence[bool] | None = None) -> Box:
        """Some intervals, by default those of columns with many values, as the best by value."""
        if refined is None:
            refined = [self.by_value and self.columns.is_coarse[c.column] for c in box]
        given: dict[int, Box] = {}  # the other conditions when each was refined
        for _ in range(5 if any(refined) else 0):
            before = box
            for position, condition in enumerate(box):
                others = (*box[:position], *box[position + 1 :])
                is_new = given.get(position) != others
                if refined[position] and condition.codes is None and is_new:
                    given[position] = others
                    rows = np.flatnonzero(self.columns.inside(box, position) & (gain != 0))
                    if len(rows):
                        values = self.columns.values(condition.column, rows)
                        ends = best_interval(values, gain[rows], condition.size)
                        box = with_ends(box, position, *ends)
            if box == before:
                break
        return tuple(condition for condition in box if condition.size)

    def sample(self) -> RuleProblem | None:
        """The same problem on rows that stand for others of their cluster; None if all are few."""
        if self.columns.n_rows <= MAX_ROWS:
            return None
        hashes = _hash_rows(self.columns.X, self.labels)
        _, first, place = np.unique(hashes, return_index=True, return_inverse=True)
        weight = np.zeros(len(first), dtype=np.int64)
        np.add.at(weight, place.reshape(-1), self.weight)
        labels = self.labels[first]
        sizes = np.bincount(labels + 1)
        possible = range(1, int(sizes.max()) + 1)
        most = bisect_right(possible, MAX_ROWS, key=lambda n: np.minimum(sizes, n).sum())
        kept = []
        for label in np.flatnonzero(sizes) - 1:
            members = np.flatnonzero(labels == label)
            chosen = members[: max(most, 1)]  # in the order of their hashes
            total, taken = int(weight[members].sum()), int(weight[chosen].sum())
            weight[chosen] = np.maximum(np.rint(weight[chosen] * (total / taken)), 1)
            kept.append(chosen)
        found = np.sort(np.concatenate(kept))
        rows, weight = first[found], weight[found]
        columns = self.columns.take(rows, weight)
        return RuleProblem(columns, weight, self.labels[rows], self.limits, by_value=False)


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
