"""Ranks order rows and centers as their values do."""

import numpy as np
from hypothesis import given, settings
from scipy import sparse

from _support.strategies import tiny_data
from pellucid._core.exact.ranks import make_ranks
from pellucid._utils.threads import ThreadPool


@given(tiny_data(max_features=4))
@settings(max_examples=50, deadline=None)
def test_ranks_are_the_order_of_the_values(data):
    ranks = make_ranks(data.X, data.centers)
    items = np.concatenate([data.X, data.centers])
    differ = [j for j in range(items.shape[1]) if len(set(data.centers[:, j])) > 1]
    assert ranks.features.tolist() == differ
    for column, feature in enumerate(differ):
        values = sorted(set(items[:, feature]))
        assert [values[r] for r in ranks.rank[column]] == items[:, feature].tolist()
        assert [ranks.value(column, r) for r in range(len(values))] == values
        assert (np.diff(ranks.rank[column][ranks.order[column]]) >= 0).all()
    with ThreadPool(2) as pool:
        twin = make_ranks(sparse.csc_array(data.X), data.centers, pool)
    assert np.array_equal(twin.rank, ranks.rank)
    assert np.array_equal(twin.order, ranks.order)
