"""Stable sorting of values of any distribution."""

import warnings

import numpy as np
import pytest

from pellucid._core.data.arrays import stable_argsort

N = 1500
RANDOM = np.random.RandomState(0)
VALUES = {
    "smooth": RANDOM.normal(size=N),
    "ties": RANDOM.normal(size=N).round(1),
    "one outlier": np.append(RANDOM.normal(size=N), 1e12),
    "all equal": np.full(N, 3.5),
    "two neighbours": np.where(RANDOM.rand(N) < 0.5, 1.0, np.nextafter(1.0, 2.0)),
    "the whole range": np.append(RANDOM.normal(size=N), [-1.7e308, 1.7e308]),
    "smallest numbers": RANDOM.randint(0, 9, N) * 5e-324,
    "few": RANDOM.normal(size=9),
}


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_equal_values_keep_their_order(values):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = stable_argsort(values)
    assert found.tolist() == sorted(range(len(values)), key=lambda i: values[i])
