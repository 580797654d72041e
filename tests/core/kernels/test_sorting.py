"""Compiled sorts, against Python's."""

import numpy as np
import pytest

from pellucid._core.kernels import sorting
from pellucid._utils.compilation import allocating

SIZES = [0, 1, 2, 3, 10, 257]


@allocating
def insertion(keys, items):
    sorting.insertion_sort(keys, items)


@allocating
def shell(keys, items):
    sorting.shell_sort(keys, items)


@allocating
def radix(keys, items):
    scratch = np.empty_like(keys), np.empty_like(items)
    sorting.radix_sort(keys, items, scratch[0], scratch[1], np.empty(257, dtype=np.int64))


@allocating
def counting(codes, rows, n_codes, first, order):
    sorting.counting_sort(codes, rows, n_codes, first, order)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("n_values", [1, 3, 70_000])
@pytest.mark.parametrize("sort", [insertion, shell, radix])
def test_items_move_with_their_keys_and_ties_keep_their_order(sort, n, n_values):
    keys = np.random.default_rng(n).integers(n_values, size=n).astype(np.int32)
    items = np.arange(n, dtype=np.int32)
    expected = sorted(range(n), key=lambda i: keys[i])
    sorted_keys = np.sort(keys)
    sort(keys, items)
    assert items.tolist() == expected
    np.testing.assert_array_equal(keys, sorted_keys)


@pytest.mark.parametrize("n", SIZES)
def test_floats_are_sorted(n):
    for sort in (insertion, shell):
        keys, items = np.random.default_rng(n).normal(size=n), np.arange(n, dtype=np.int32)
        expected = np.argsort(keys)
        sort(keys, items)
        np.testing.assert_array_equal(items, expected)


@pytest.mark.parametrize("n", SIZES)
def test_counting_sort_of_the_codes_of_some_rows(n):
    rng = np.random.default_rng(n)
    codes, rows = rng.integers(5, size=300).astype(np.uint8), rng.permutation(300)[:n]
    first, order = np.empty(6, dtype=np.int64), np.empty(n, dtype=np.int64)
    counting(codes, rows, 5, first, order)
    assert order.tolist() == np.argsort(codes[rows], kind="stable").tolist()
    assert first.tolist() == [0, *np.cumsum(np.bincount(codes[rows], minlength=5)).tolist()]
