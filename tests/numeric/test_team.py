"""Threads: order of results, nested calls, errors."""

import pytest

from pellucid.numeric.team import Team


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_results_come_in_order_and_blocks_cover_everything(n_threads):
    with Team(n_threads) as team:
        assert team.map(lambda i: i * i, range(50)) == [i * i for i in range(50)]
        for total, least in ((100, 7), (3, 10), (1, 1)):
            blocks = team.blocks(total, least)
            assert [i for a, b in blocks for i in range(a, b)] == list(range(total))
            assert all(b - a >= least for a, b in blocks) or len(blocks) == 1


def test_work_that_shares_out_work_does_not_wait_for_ever():
    with Team(2) as team:
        inner = lambda i: sum(team.map(lambda j: i * j, range(10)))  # noqa: E731
        assert team.map(inner, range(10)) == [45 * i for i in range(10)]


def test_errors_reach_the_caller():
    with Team(2) as team, pytest.raises(ZeroDivisionError):
        team.map(lambda i: 1 // i, [1, 0, 2])
