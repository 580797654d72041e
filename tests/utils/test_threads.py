"""Threads: order of results, nested calls, errors."""

import threading

import pytest

from pellucid._utils.threads import ThreadPool


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_results_come_in_order_and_blocks_cover_everything(n_threads):
    with ThreadPool(n_threads) as pool:
        assert pool.map(lambda i: i * i, range(50)) == [i * i for i in range(50)]
        for total, least in ((100, 7), (3, 10), (1, 1)):
            blocks = pool.blocks(total, least)
            assert [i for a, b in blocks for i in range(a, b)] == list(range(total))
            assert all(b - a >= least for a, b in blocks) or len(blocks) == 1


def test_nested_maps_do_not_deadlock():
    with ThreadPool(2) as pool:
        inner = lambda i: sum(pool.map(lambda j: i * j, range(10)))  # noqa: E731
        assert pool.map(inner, range(10)) == [45 * i for i in range(10)]


def test_a_worker_runs_nested_work_on_its_own():
    with ThreadPool(3) as pool:
        assert pool.is_parallel
        inside = pool.map(lambda _: (pool.is_parallel, pool.blocks(100, 1)), range(4))
    assert inside == [(False, [(0, 100)])] * 4
    assert not ThreadPool(1).is_parallel


def test_errors_reach_the_caller():
    with ThreadPool(2) as pool, pytest.raises(ZeroDivisionError):
        pool.map(lambda i: 1 // i, [1, 0, 2])


@pytest.mark.parametrize("fails", ["caller", "helper"])
def test_after_an_error_no_further_items_are_started(fails):
    """The error comes from the calling thread, or from another one while the caller is busy."""
    caller, started, failed = threading.get_ident(), [], threading.Event()

    def work(i):
        started.append(i)
        if (threading.get_ident() == caller) == (fails == "caller"):
            failed.set()
            raise ZeroDivisionError
        assert failed.wait(30)

    with ThreadPool(2) as pool, pytest.raises(ZeroDivisionError):
        pool.map(work, range(1000))
    assert len(started) < 1000


def test_an_idle_pool_can_be_used_again_after_it_was_closed():
    pool = ThreadPool(2)
    for _ in range(2):
        with pool:
            assert pool.map(lambda i: -i, range(9)) == [-i for i in range(9)]
