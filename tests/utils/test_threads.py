"""Threads: order of results, nested calls, errors."""

import threading
import time

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


def test_work_that_shares_out_work_does_not_wait_for_ever():
    with ThreadPool(2) as pool:
        inner = lambda i: sum(pool.map(lambda j: i * j, range(10)))  # noqa: E731
        assert pool.map(inner, range(10)) == [45 * i for i in range(10)]


def test_a_worker_has_nobody_to_share_with():
    with ThreadPool(3) as pool:
        assert pool.is_parallel
        inside = pool.map(lambda _: (pool.is_parallel, pool.blocks(100, 1)), range(4))
    assert inside == [(False, [(0, 100)])] * 4
    assert not ThreadPool(1).is_parallel


def test_errors_reach_the_caller():
    with ThreadPool(2) as pool, pytest.raises(ZeroDivisionError):
        pool.map(lambda i: 1 // i, [1, 0, 2])


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_what_is_begun_ahead_is_finished_when_asked_for(n_threads):
    with ThreadPool(n_threads) as pool:
        ahead = pool.ahead(lambda i: i * i, range(50))
        assert pool.map(lambda i: -i, range(50)) == [-i for i in range(50)]
        assert ahead.finish() == [i * i for i in range(50)]


def test_work_ahead_goes_on_while_the_caller_does_something_else():
    begun = threading.Event()
    with ThreadPool(2) as pool:
        ahead = pool.ahead(lambda i: (begun.set(), threading.get_ident())[1], [0])
        assert begun.wait(30)
        assert ahead.finish() != [threading.get_ident()]


def test_errors_ahead_reach_whoever_asks():
    with ThreadPool(2) as pool:
        ahead = pool.ahead(lambda i: 1 // i, [1, 0, 2])
        with pytest.raises(ZeroDivisionError):
            ahead.finish()


def test_work_ahead_that_nobody_asks_for_is_given_up():
    done, first = [], threading.Event()

    def work(i):
        first.set()
        time.sleep(0.01)
        done.append(i)

    with ThreadPool(2) as pool:
        pool.ahead(work, range(1000))
        assert first.wait(30)
    assert 1 <= len(done) < 1000


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("n_items", [0, 1, 50])
def test_what_is_done_besides_is_done_once_by_the_caller(n_threads, n_items):
    seen = []
    with ThreadPool(n_threads) as pool:
        besides = lambda: seen.append(threading.get_ident())  # noqa: E731
        assert pool.map(lambda i: -i, range(n_items), besides) == [-i for i in range(n_items)]
    assert seen == [threading.get_ident()]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_error_in_the_items_comes_before_one_besides(n_threads):
    with ThreadPool(n_threads) as pool, pytest.raises(ZeroDivisionError):
        pool.map(lambda i: 1 // i, [1, 0, 2], lambda: [][0])
