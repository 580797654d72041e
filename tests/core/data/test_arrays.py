"""Stable sorting of values of any distribution."""

import warnings

import numpy as np
import pytest

from pellucid._core.data.arrays import FlatRows, order_by, sorted_together, stable_argsort
from pellucid._utils.threads import ThreadPool

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


@pytest.mark.parametrize("n_threads", [2, 5])
def test_threads_sort_as_one_thread_does(n_threads):
    random = np.random.default_rng(0)
    values, places = random.normal(size=90_000).round(2), np.arange(90_000)
    groups = random.integers(0, 7, 400_000).astype(np.uint8)
    with ThreadPool(n_threads) as pool:
        found = sorted_together([places, values], pool)
        np.testing.assert_array_equal(order_by(groups, 7, pool), order_by(groups, 7))
    expected = np.argsort(values, kind="stable")
    np.testing.assert_array_equal(found[0], expected)
    np.testing.assert_array_equal(found[1], values[expected])


def test_a_matrix_of_any_layout_is_read_as_one_array():
    X = np.arange(60.0).reshape(6, 10)
    forms = X, np.asfortranarray(X), X.astype(np.float32), X.astype(int), X[::2, 1::3], X[::-1]
    for form in (*forms, np.broadcast_to(X[0], (4, 10)), X[:0]):
        flat = FlatRows.of(form)
        places = np.arange(len(form))[:, None] * flat.row_step
        places = places + np.arange(flat.n_columns) * flat.column_step
        np.testing.assert_array_equal(flat.values[places], form)
