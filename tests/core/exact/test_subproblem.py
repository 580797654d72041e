"""Ranks of rows and centers; sets of rows as bits."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from _support.extended import examples
from _support.strategies import tiny_data
from pellucid._core.exact.subproblem import pack_rows, rank_columns, unpack_rows
from pellucid._core.kernels.subproblem import transferred_excess
from pellucid._utils.threads import ThreadPool

N = 150
row_sets = st.sets(st.integers(0, N - 1))


def packed(rows):
    return pack_rows(np.array(sorted(rows), dtype=np.int32), N)


@given(row_sets)
@settings(max_examples=examples(50), deadline=None)
def test_unpacked_rows_are_sorted(rows):
    assert unpack_rows(packed(rows)).tolist() == sorted(rows)


@given(row_sets, st.lists(st.tuples(row_sets, st.integers(0, 500)), max_size=6), st.randoms())
@settings(max_examples=examples(100), deadline=None)
def test_a_transferred_bound_loses_the_spread_of_missing_rows(rows, peers, random):
    spread = np.array([random.randrange(5) for _ in range(N)], dtype=np.int64)
    bits = np.array([packed(peer) for peer, _ in peers] + [packed(set())])
    excess = np.array([amount for _, amount in peers] + [10**9], dtype=np.int64)
    bounds = [amount - sum(spread[list(peer - rows)]) for peer, amount in peers]
    found = transferred_excess(packed(rows), len(peers), bits, excess, spread)
    assert found == max([0, *bounds])


@given(tiny_data(max_features=4))
@settings(max_examples=examples(50), deadline=None)
def test_ranks_are_the_order_of_the_values(data):
    features, rank, order = rank_columns(data.X, data.centers)
    items = np.concatenate([data.X, data.centers])
    differ = [j for j in range(items.shape[1]) if len(set(data.centers[:, j])) > 1]
    assert features.tolist() == differ
    for column, feature in enumerate(differ):
        values = sorted(set(items[:, feature]))
        assert [values[r] for r in rank[column]] == items[:, feature].tolist()
        assert (np.diff(rank[column][order[column]]) >= 0).all()
    with ThreadPool(2) as pool:
        _, sparse_rank, sparse_order = rank_columns(sparse.csc_array(data.X), data.centers, pool)
    assert np.array_equal(sparse_rank, rank)
    assert np.array_equal(sparse_order, order)
