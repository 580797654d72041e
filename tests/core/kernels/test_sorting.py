"""Compiled sorts, against Python's."""

import numpy as np
import pytest

from pellucid._core.kernels import local_search as sorting
from pellucid._utils.compilation import compiled

SIZES = [0, 1, 2, 3, 10, 257]


@compiled
def radix(arrays, n):
    sorting.radix_sort(arrays, n)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("n_values", [1, 3, 70_000])
def test_items_move_with_their_keys_and_ties_keep_their_order(n, n_values):
    keys = np.random.default_rng(n).integers(n_values, size=n).astype(np.int32)
    arrays = np.full((5, max(n, 257)), -1, dtype=np.int32)
    arrays[sorting.KEY, :n], arrays[sorting.ORDER, :n] = keys, np.arange(n)
    radix(arrays, n)
    assert arrays[sorting.ORDER, :n].tolist() == sorted(range(n), key=lambda i: keys[i])
    assert arrays[sorting.KEY, :n].tolist() == np.sort(keys).tolist()
