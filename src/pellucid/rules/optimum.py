"""The best set of rules of a small problem, with a proof: all boxes, then an integer program."""

from __future__ import annotations

from itertools import chain, combinations
from math import comb

import numpy as np
from scipy import sparse

from pellucid.rules.boxes import Box, BoxCondition, RuleColumns, size_of
from pellucid.rules.selection import Selection

MAX_BOXES = 20_000
"""Boxes that are tried."""

MAX_USEFUL_BOXES = 1000
"""Boxes of a cluster that may be part of the optimum."""

MAX_NODES = 1000
"""Nodes of the branch and bound before the search gives up."""

UNKNOWN = 2**62
"""More than any objective."""

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


def find_optimum(selection: Selection, *, needed: bool) -> tuple[list[tuple[int, Box]], int]:
    """The best rules, and a bound that no rules exceed; no rules and `UNKNOWN` without a proof.

    Each cluster has a rule if they are `needed`. It is a linear program in which a box is a
    binary variable. A row of a cluster is explained, 0 to 1, by at most the number of its boxes,
    and a cluster is described likewise, which saves the difference between another rule and its
    first.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    search, costs = selection.search, selection.rule_costs
    candidates = _all_boxes(search.columns, search.max_size, search.max_columns)
    boxes: list[tuple[int, Box]] = []
    gains, blocks = [], []
    for cluster in range(selection.n_clusters):
        kept, cost, inside = _useful_boxes(selection, cluster, candidates)
        if len(kept) > MAX_USEFUL_BOXES:
            return [], UNKNOWN
        # Rows that are in the same boxes are one variable; the last is whether there is a rule.
        patterns, which = np.unique(inside, axis=1, return_inverse=True)
        weight = np.zeros(patterns.shape[1], dtype=np.int64)
        np.add.at(weight, which.reshape(-1), search.weight * search.gain_rate)
        gains.append((-cost, weight, [costs[cluster][1] - costs[cluster][0]]))
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
        LinearConstraint(is_box[None].astype(float), ub=selection.n_rules),
    ]
    least = np.zeros(len(gain))
    if needed:
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
    selection: Selection, cluster: int, candidates: dict[int, Box]
) -> tuple[list[Box], np.ndarray, np.ndarray]:
    """The boxes that may help a cluster, the cheapest for each set of its rows.

    The result has their costs, with that of another rule, and which rows of the cluster they hold.
    """
    search, n_rows = selection.search, selection.search.columns.n_rows
    is_own = search.labels == cluster
    bits = b"".join(rows.to_bytes(-(-n_rows // 8), "little") for rows in candidates)
    inside = np.frombuffer(bits, dtype=np.uint8).reshape(len(candidates), -1)
    inside = np.unpackbits(inside, axis=1, count=n_rows, bitorder="little").astype(bool)
    first, another = selection.rule_costs[cluster]
    other = np.where(is_own, 0, search.other) * search.cost_rate
    cost = inside @ other + another
    inside &= is_own
    gain = inside @ (search.weight * search.gain_rate)
    sizes = np.array([size_of(box) for box in candidates.values()])
    order = np.lexsort((sizes, cost))
    order = order[(gain + another - first > cost)[order]]
    _, best = np.unique(inside[order], axis=0, return_index=True)
    kept = order[np.sort(best)]
    boxes = list(candidates.values())
    return [boxes[i] for i in kept.tolist()], cost[kept], inside[kept]
