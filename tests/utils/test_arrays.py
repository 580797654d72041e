"""Finite or not: exact for every amount of values, order, type and number of threads."""

import numpy as np
import pytest

from pellucid._utils import arrays


@pytest.mark.parametrize("amount", ["few", "threads"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_one_bad_value_anywhere_is_found(monkeypatch, amount, dtype, order):
    if amount == "threads":
        monkeypatch.setattr(arrays, "_VALUES_A_THREAD", 4)
    values = np.full((11, 3), np.finfo(dtype).max, dtype=dtype, order=order)
    assert arrays.all_finite(values, lambda: 2)
    for place in range(values.size):
        for bad in (np.nan, np.inf, -np.inf):
            wrong = values.copy(order="K")
            wrong[np.unravel_index(place, wrong.shape)] = bad
            assert not arrays.all_finite(wrong, lambda: 2)
            assert not arrays.all_finite(wrong.ravel(), lambda: 2)
    assert arrays.all_finite(values[:0], lambda: 2)


def test_threads_are_counted_only_where_they_help():
    def nobody():
        raise AssertionError

    assert arrays.all_finite(np.zeros((1000, 100)), nobody)
