"""Opened bins come in order, whatever their values."""

import warnings

import numpy as np
import pytest

from pellucid._core.criteria.column_search import _MANY_VALUES, order_of

N = 3 * _MANY_VALUES
RANDOM = np.random.RandomState(0)
VALUES = {
    "smooth": RANDOM.normal(size=N),
    "ties": RANDOM.normal(size=N).round(1),
    "one outlier": np.append(RANDOM.normal(size=N), 1e12),
    "all alike": np.full(N, 3.5),
    "two neighbours": np.where(RANDOM.rand(N) < 0.5, 1.0, np.nextafter(1.0, 2.0)),
    "the whole range": np.append(RANDOM.normal(size=N), [-1.7e308, 1.7e308]),
    "next to nothing": RANDOM.randint(0, 9, N) * 5e-324,
    "few": RANDOM.normal(size=9),
}


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_equal_values_keep_their_order(values):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = order_of(values)
    assert found.tolist() == sorted(range(len(values)), key=lambda i: values[i])
