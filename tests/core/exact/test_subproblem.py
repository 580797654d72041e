"""Sets of rows as bits: packed, unpacked and compared as sets are."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid._core.kernels.subproblem import compare_rows, pack_rows, unpack_rows

N = 150
row_sets = st.sets(st.integers(0, N - 1))


def packed(rows):
    words = np.zeros(-(-N // 64), dtype=np.uint64)
    pack_rows(np.array(sorted(rows), dtype=np.int32), words)
    return words


@given(row_sets)
@settings(max_examples=50, deadline=None)
def test_rows_come_back_in_order(rows):
    assert unpack_rows(packed(rows)).tolist() == sorted(rows)


@given(row_sets, st.lists(st.tuples(row_sets, st.integers(0, 500)), max_size=6), st.randoms())
@settings(max_examples=100, deadline=None)
def test_a_bound_loses_the_spread_of_the_rows_that_are_missing(rows, others, random):
    spread = np.array([random.randrange(5) for _ in range(N)], dtype=np.int64)
    words = np.array([packed(other) for other, _ in others] + [packed(set())])
    beyond = np.array([amount for _, amount in others] + [10**9], dtype=np.int64)
    bounds = [amount - sum(spread[list(other - rows)]) for other, amount in others]
    found = compare_rows(packed(rows), len(others), words, beyond, spread)
    assert found == max([0, *bounds])
