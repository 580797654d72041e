"""The search for the best splits of nodes, with as few passes over the data as possible.

The search of a node is a generator that yields requests for sums over parts of columns. The
requests of all nodes are answered together, in one pass.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.batches.columns import FineColumn, PartRequest, PartSums
from pellucid._core.batches.partitions import BatchProblem
from pellucid._core.criteria.column_search import ColumnSearch, Split

Search = Generator[list[PartRequest], list[PartSums], list[Split]]
"""The search of one node."""


class Judgement(NamedTuple):
    """What is known about the thresholds of a column.

    `best`, (n_gaps, 2), are objective and threshold of the best edge in each gap between centers.
    `wanted` is a mask of the bins that may hold a threshold of at most the limit, and `bound` a
    lower bound of the objective of all thresholds inside bins.
    """

    best: np.ndarray
    wanted: np.ndarray
    bound: Any


_FIRST_COLUMNS, _NEXT_COLUMNS = 2, 8
"""Columns that are refined together: few at first, since the best of them often decides."""


def search_node(
    node: int,
    search: ColumnSearch,
    make_column: Callable[[int], FineColumn],
    judge: Callable[[int, FineColumn, Any], Judgement],
    problem: BatchProblem,
    n_nodes: int,
    prepare: Callable[[list[int]], Generator[Any, Any, None]] | None = None,
) -> Search:
    """The best splits of a node, from the columns of its `search` after a scan of all bins.

    ``make_column(feature)`` gives a column with the bins of the quantizer, and ``judge(feature,
    column, limit)`` judges its edges and bins. `n_nodes` are searched together.
    ``prepare(features)`` yields requests for what `make_column` needs, and stores the answers. If
    the problem is not exact, thresholds inside bins
    are not searched, and the gap is stored.
    """
    n_columns, bound = _FIRST_COLUMNS, np.inf
    while features := search.next_columns(n_columns):
        n_columns, limit = _NEXT_COLUMNS, search.limit
        if prepare is not None:
            yield from prepare(features)
        columns, best = {j: make_column(j) for j in features}, {}
        waiting = features
        while waiting:
            requests, wanted, n_requests = {}, {}, n_nodes * len(waiting)
            for j in waiting:
                best[j], wanted[j], least = judge(j, columns[j], limit)
                if wanted[j].any():
                    bound = min(bound, least)
                    requests[j] = columns[j].request(node, j, wanted[j], problem.n_bins, n_requests)
            if not problem.is_exact:
                break
            waiting = list(requests)
            if waiting:
                found = yield list(requests.values())
                for j, sums in zip(waiting, found):
                    columns[j].divide(wanted[j], requests[j], sums)
        search.store(features, [best[j] for j in features])
    splits = search.best_splits()
    if splits and not problem.is_exact:
        problem.gaps[node] = max(0.0, float(splits[0].objective - bound))
    return splits


def run_searches(
    searches: dict[int, Search],
    make_task: Callable[[list[PartRequest]], Any],
    run_task: Callable[[Any], list[PartSums]],
) -> dict[int, list[Split]]:
    """Run the searches of several nodes side by side; the result of each.

    ``run_task(make_task(requests))`` answers the requests of all of them in one pass.
    """
    found: dict[int, list[Split]] = {}
    answers: dict[int, Any] = dict.fromkeys(searches)
    while answers:
        requests: dict[int, list[PartRequest]] = {}
        for node, answer in answers.items():
            try:
                requests[node] = searches[node].send(answer)
            except StopIteration as stop:
                found[node] = stop.value
        answers = {}
        if requests:
            task = make_task([r for of_node in requests.values() for r in of_node])
            results = iter(run_task(task))
            answers = {node: [next(results) for _ in rs] for node, rs in requests.items()}
    return found
