"""The best set of rules of a small problem, with a proof: all boxes, then an integer program."""

from __future__ import annotations

from itertools import chain, combinations
from math import comb

import numpy as np
from scipy import sparse

from pellucid.rules.boxes import Box, BoxCondition, RuleColumns, size_of
from pellucid.rules.problem import RuleProblem

MAX_BOXES = 20_000  # boxes that are tried
MAX_USEFUL_BOXES = 1000  # boxes of a cluster that may be part of the optimum
MAX_NODES = 1000  # nodes of the branch and bound before the search gives up
UNKNOWN = 2**62  # more than any objective
_MAX_CATEGORIES = 8
_MOST_ROWS = 400


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
