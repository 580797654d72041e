"""Cells are worked on side by side where that is fair and allowed, with the same results."""

import threading

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from pellucid import IMM, ExGreedy, ExKMC, ExShallow
from pellucid._core.criteria.base import Cell
from pellucid._core.growers.scheduling import for_each_cell
from pellucid._utils.threads import ThreadPool


class Problem:
    def __init__(self, pool):
        self.pool = pool


class Criterion:
    def __init__(self, pool, in_any_order):
        self.problem, self.in_any_order = Problem(pool), in_any_order


def cells(*sizes):
    nothing = np.empty(0, dtype=np.int32)
    return {i: Cell(np.arange(n, dtype=np.int32), nothing, nothing) for i, n in enumerate(sizes)}


@pytest.mark.parametrize(
    ("in_any_order", "one_thread_below", "sizes", "side_by_side"),
    [
        (True, 0, (4000, 4000), True),
        (False, 0, (4000, 4000), False),  # the order matters
        (True, 0, (8000, 100), False),  # one thread would wait for the other
        (True, 9000, (8000, 100), True),  # but has nothing to do in the larger cell either
        (True, 9000, (40, 40), False),  # too little to do
        (True, 0, (8000,), False),
    ],
)
def test_where_cells_are_worked_on(in_any_order, one_thread_below, sizes, side_by_side):
    threads, both_are_here = set(), threading.Barrier(2, timeout=30)

    def work(number):
        if side_by_side:
            both_are_here.wait()
        threads.add(threading.get_ident())
        return 10 * number

    with ThreadPool(2) as pool:
        numbers, criterion = list(range(len(sizes))), Criterion(pool, in_any_order)
        criterion.one_thread_below = one_thread_below
        found = for_each_cell(criterion, work, numbers, cells(*sizes))
    assert found == [10 * n for n in numbers]
    assert len(threads) == 1 + side_by_side


@pytest.mark.parametrize("method", [IMM, ExGreedy, ExShallow, ExKMC])
def test_trees_do_not_depend_on_it(method):
    X, _ = make_blobs(20_000, 6, centers=8, cluster_std=3, random_state=0)
    one, three = (method(reference=X[:8], n_jobs=n).fit(X) for n in (1, 3))
    assert one.tree_ == three.tree_
    assert one.inertia_ == three.inertia_
