"""Cells of a growing tree, worked on side by side where that is quicker than column by column.

Threads share out the columns of one cell; small cells are too little for that, and there are more
of them. No result depends on which way was taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from pellucid._core.criteria.base import Cell, Criterion
from pellucid._utils.threads import ThreadPool

_Result = TypeVar("_Result")

_LEAST_ROWS = 4096
"""Rows of all cells together that are worth more than one thread."""

_FAIR = 0.75
"""How busy the threads must be while the largest cell is worked on."""


def for_each_cell(
    criterion: Criterion,
    work: Callable[[int], _Result],
    numbers: Sequence[int],
    cells: dict[int, Cell],
) -> list[_Result]:
    """``work(number)`` for some of the cells, in the order of the numbers or side by side."""
    sizes = [len(cells[number].active) for number in numbers]
    if not (criterion.in_any_order and is_worth_sharing(criterion, sizes)):
        return [work(number) for number in numbers]
    return largest_first(criterion.problem.pool, work, numbers, sizes)


def is_worth_sharing(criterion: Criterion, sizes: Sequence[int]) -> bool:
    """Whether cells of these sizes are quicker to work on side by side."""
    largest = max(sizes, default=0)
    shared = largest if largest >= criterion.one_thread_below else 0
    return sum(sizes) >= max(_FAIR * criterion.problem.pool.n_threads * shared, _LEAST_ROWS)


def largest_first(
    pool: ThreadPool, work: Callable[..., _Result], items: Sequence, sizes: Sequence[int]
) -> list[_Result]:
    """``work(item)`` for all items, the largest first: no thread is left alone with it in the end.

    The results are in the order of the items.
    """
    order = sorted(range(len(items)), key=lambda i: -sizes[i])
    results = dict(zip(order, pool.map(lambda i: work(items[i]), order)))
    return [results[i] for i in range(len(items))]
