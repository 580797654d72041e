"""The best set of rules of a small problem, with a proof: all boxes, then branch and bound.

The clusters meet only in the number of rules: a row is explained by rules of its own cluster. So
the best j rules of each cluster are found for every j, and then shared among the clusters.
"""

from __future__ import annotations

from functools import reduce
from itertools import chain, combinations
from math import comb
from operator import or_

import numpy as np

from pellucid.rules.boxes import Box, BoxCondition, RuleColumns, size_of
from pellucid.rules.selection import Selection

MAX_BOXES = 20_000
"""Boxes that are tried."""

MAX_USEFUL_BOXES = 1000
"""Boxes of a cluster that may be part of the optimum."""

MAX_WORK = 500_000
"""Gains of boxes that are compared for a cluster before the search gives up."""

LOWEST = -(2**62)
"""Less than any objective."""

_MAX_CATEGORIES = 8
_MOST_ROWS = 400


def count_boxes(columns: RuleColumns, max_size: int, max_columns: int) -> int:
    """How many boxes there are; at least `MAX_BOXES` + 1 if they are too many to try."""
    # by_size[c][s]: boxes of c columns with s conditions
    table = np.zeros((max_columns + 1, max_size + 1))
    table[0, 0] = 1
    for column in range(len(columns.features)):
        n = len(columns.uppers[column])
        if columns.is_set[column]:
            ways = [2.0 ** min(n, 1000) - 2, 0] if n > 1 else [0, 0]
        else:
            ways = [2 * (n - 1), comb(n - 1, 2)]
        added = table.copy()
        for size, number in enumerate(ways, 1):
            if size <= max_size:
                added[1:, size:] += number * table[:-1, : max_size + 1 - size]
        table = added
        if table.sum() > MAX_BOXES:
            return MAX_BOXES + 1
    return int(table.sum())


def is_small(columns: RuleColumns, max_size: int, max_columns: int) -> bool:
    """Whether all boxes can be tried."""
    if columns.n_rows > _MOST_ROWS or any(columns.is_coarse):
        return False
    n_codes = np.diff(columns.offset)
    if (n_codes[columns.is_set] > _MAX_CATEGORIES).any():
        return False
    return count_boxes(columns, max_size, max_columns) <= MAX_BOXES


def _conditions(columns: RuleColumns, column: int) -> list[BoxCondition]:
    """Every condition on a column that holds for some rows and not for others."""
    uppers = columns.uppers[column]
    if columns.is_set[column]:
        codes = range(len(uppers))
        sets = chain.from_iterable(combinations(codes, n) for n in range(1, len(uppers)))
        return [BoxCondition(column, codes=frozenset(chosen)) for chosen in sets]
    lowers, highs = [-np.inf, *uppers[:-1].tolist()], [*uppers[:-1].tolist(), np.inf]
    return [
        BoxCondition(column, low, high)
        for i, low in enumerate(lowers)
        for high in highs[i:]
        if low > -np.inf or high < np.inf
    ]


class _ClusterProblem:
    """The boxes of one cluster as integers whose bits are rows, and the best sets of them."""

    def __init__(self, bits: list[int], costs: list[int], weight: list[int]) -> None:
        self.bits, self.costs, self.weight = bits, costs, weight
        self.is_equal = len(set(weight)) == 1
        self.work = 0

    def sum_of(self, rows: int) -> int:
        """Gain of a set of rows."""
        if self.is_equal:
            return rows.bit_count() * self.weight[0]
        total = 0
        while rows:
            lowest = rows & -rows
            total += self.weight[lowest.bit_length() - 1]
            rows ^= lowest
        return total

    @property
    def most(self) -> int:
        """Gain of all rows in some box."""
        return self.sum_of(reduce(or_, self.bits, 0))

    @property
    def least_cost(self) -> int:
        """Cost of the cheapest box."""
        return min(self.costs, default=0)

    def best(self, n_rules: int) -> tuple[int, tuple[int, ...]]:
        """The best set of exactly `n_rules` boxes."""
        found: tuple[int, tuple[int, ...]] = (LOWEST, ())
        stack: list[tuple[int, int, tuple[int, ...], list[int]]] = [
            (0, 0, (), list(range(len(self.bits))))
        ]
        while stack and self.work <= MAX_WORK:
            done, rows, chosen, open_boxes = stack.pop()
            self.work += len(open_boxes)
            gains = sorted(
                ((self.sum_of(self.bits[i] & ~rows) - self.costs[i], -i) for i in open_boxes),
                reverse=True,
            )
            left = n_rules - len(chosen)
            if len(gains) < left:
                continue
            if left == 1:
                if done + gains[0][0] > found[0]:
                    found = done + gains[0][0], (*chosen, -gains[0][1])
                continue
            # Gains only fall as rules are added, so that the largest ones bound every choice.
            order = [-i for _, i in gains]
            window = sum(gain for gain, _ in gains[:left])
            children = []
            for position in range(len(gains) - left + 1):
                if done + window <= found[0]:
                    break
                i = order[position]
                children.append(
                    (
                        done + gains[position][0],
                        rows | self.bits[i],
                        (*chosen, i),
                        order[position + 1 :],
                    )
                )
                if position + left < len(gains):
                    window += gains[position + left][0] - gains[position][0]
            stack += reversed(children)
        return found


def find_optimum(selection: Selection, *, needed: bool) -> tuple[list[tuple[int, Box]], bool]:
    """The best rules, starting from those that were found; and whether they are proven.

    Each cluster has a rule if they are `needed`.
    """
    search = selection.search
    columns = search.columns
    candidates = _all_boxes(columns, search.max_size, search.max_columns)
    values: list[list[tuple[int, tuple[int, ...]]]] = []
    boxes: list[list[Box]] = []
    for cluster in range(selection.n_clusters):
        problem, kept = _problem_of(selection, cluster, candidates)
        if len(kept) > MAX_USEFUL_BOXES:
            return [], False
        boxes.append(kept)
        found: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        first, another = selection.rule_costs[cluster]
        while len(found) <= min(selection.n_rules, len(kept)):
            # More rules explain no more than all rows, and each has a cost.
            most = problem.most - len(found) * problem.least_cost + another - first
            if max(value for value, _ in found) >= most:
                break
            value, positions = problem.best(len(found))
            found.append((value + another - first, positions))
            if problem.work > MAX_WORK:
                return [], False
        values.append(found)
    shares = _share(values, selection.n_rules, 1 if needed else 0)
    rules = [
        (cluster, boxes[cluster][i])
        for cluster, n in enumerate(shares)
        for i in values[cluster][n][1]
    ]
    return rules, True


def _share(values: list[list[tuple[int, tuple[int, ...]]]], n_rules: int, least: int) -> list[int]:
    """How many rules each cluster gets so that the sum of values is largest."""
    best: dict[int, tuple[int, list[int]]] = {0: (0, [])}
    for found in values:
        extended: dict[int, tuple[int, list[int]]] = {}
        for used, (value, shares) in best.items():
            for n in range(min(least, len(found) - 1), len(found)):
                total = value + found[n][0]
                known = extended.get(used + n)
                if used + n <= n_rules and (known is None or total > known[0]):
                    extended[used + n] = total, [*shares, n]
        best = extended
    return max(best.values(), key=lambda pair: pair[0])[1]


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


def _problem_of(
    selection: Selection, cluster: int, candidates: dict[int, Box]
) -> tuple[_ClusterProblem, list[Box]]:
    """The boxes that may help a cluster: the cheapest for each set of its rows."""
    search = selection.search
    is_own = search.labels == cluster
    own = int.from_bytes(np.packbits(is_own, bitorder="little").tobytes(), "little")
    gains = [int(w) * search.gain_rate for w in search.weight]
    other = [int(w) * search.cost_rate for w in np.where(is_own, 0, search.other)]
    right, wrong = _ClusterProblem([], [], gains), _ClusterProblem([], [], other or [0])
    if len({w for w, mine in zip(other, is_own) if not mine}) == 1:
        unit = max(other)
        cost_of = {rows: (rows & ~own).bit_count() * unit for rows in candidates}
    else:
        cost_of = {rows: wrong.sum_of(rows & ~own) for rows in candidates}
    spared = selection.rule_costs[cluster][1] - selection.rule_costs[cluster][0]
    best: dict[int, tuple[int, int, Box]] = {}
    for rows, box in candidates.items():
        cost = cost_of[rows] + selection.rule_costs[cluster][1]
        key = rows & own
        known = best.get(key)
        if right.sum_of(key) + spared > cost and (
            known is None or (cost, size_of(box)) < known[:2]
        ):
            best[key] = cost, size_of(box), box
    bits = _undominated({key: known[0] for key, known in best.items()})
    problem = _ClusterProblem(bits, [best[key][0] for key in bits], gains)
    return problem, [best[key][2] for key in bits]


def _undominated(costs: dict[int, int]) -> list[int]:
    """Sets of rows that no cheaper set contains; all if they are too many to compare."""
    kept: list[int] = []
    for rows in sorted(costs, key=lambda rows: (-rows.bit_count(), costs[rows], rows)):
        if len(kept) > MAX_USEFUL_BOXES:
            return list(costs)
        if not any(rows & ~other == 0 and costs[other] <= costs[rows] for other in kept):
            kept.append(rows)
    return kept
