"""The tree whose clusters return most often on draws of the rows, among the best ones.

A draw takes each different row 0, 1, 2, ... times, by the Poisson distribution of mean 1, which is
the limit of a bootstrap. A hash of the values of a row decides, so that neither the order of the
rows, nor their storage, nor whether a row is weighted or repeated changes a draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import exp, factorial
from typing import Any

import numpy as np

from pellucid._core.criteria.problem import Problem
from pellucid._core.refine.local_search_data import row_hashes, take_rows
from pellucid._utils.arrays import mixed

N_DRAWS = 100
"""Draws on which trees are grown again."""

CONSENSUS_FAITHFULNESS = 1.0, 3.0, 10.0
"""What a row outside of the cluster that most draws give it costs, relative to the mean cost, in
searches of further trees. Convention."""

MAX_LOSS = 0.01
"""Part by which the objective of a tree may exceed the least one."""

_ENDS = np.cumsum([exp(-1) / factorial(n) for n in range(12)])


def draw_problem(problem: Problem, number: int) -> Problem:
    """The problem on a draw of its rows."""
    hashes = mixed(row_hashes(problem) ^ mixed(np.array([number], dtype=np.uint64)))
    counts = np.searchsorted(_ENDS, (hashes >> np.uint64(11)) * 2.0**-53, side="right")
    rows = np.flatnonzero(counts)
    return take_rows(problem, rows, problem.weights.units[rows] * counts[rows])


def most_returning(
    problem: Problem,
    mean_cost: float,
    grow: Callable[[Problem], list[Any]],
    improve: Callable[[Any], Iterable[Any]],
    found: list[Any],
    starts: list[Any],
    objective: Callable[[Any], tuple[float, float]],
) -> Any:
    """Of the trees within `MAX_LOSS` of the best one, that whose clusters return for most weight.

    Returns are counted over the best tree of each draw, as `grow` finds it. The trees are those of
    `found`, and after `improve`, those of `starts`, of the draws, and for the clusters that most
    draws give the rows. `mean_cost` is that of a row.
    """
    draws = (draw_problem(problem, number) for number in range(N_DRAWS))
    trees = [
        min(grown, key=objective).tree
        for drawn in draws
        if len(np.unique(drawn.labels)) == problem.n_clusters and (grown := grow(drawn))
    ]
    k = problem.n_clusters
    votes = np.zeros((problem.n_samples, k), dtype=np.int64)
    for tree in trees:
        votes[np.arange(len(votes)), tree.predict(problem.X)] += 1
    starts = [*starts, *trees]
    consensus = votes.argmax(axis=1).astype(problem.labels.dtype)
    if len(np.unique(consensus)) == k:
        kept = problem.explaining(problem.space_centers, consensus)
        for faithfulness in CONSENSUS_FAITHFULNESS:
            grown = grow(kept.with_mistake_cost(faithfulness * mean_cost))
            starts += [polished.tree for polished in grown]
    candidates = [
        *found,
        *(better for tree in dict.fromkeys(starts) for better in improve(tree)),
    ]
    most = (1 + MAX_LOSS) * min(objective(tree)[0] for tree in candidates)

    def returns(candidate: Any) -> int:
        cluster = candidate.tree.cluster[candidate.leaf]
        return int(votes[np.arange(len(votes)), cluster] @ problem.weights.units)

    allowed = [tree for tree in candidates if objective(tree)[0] <= most]
    return min(allowed, key=lambda tree: (-returns(tree), *objective(tree)))
