"""Edges judged by NumPy as the compiled loop judges them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.cuts.amounts import AmountsAlone
from pellucid.cuts.separated import Objective


def some_levels(random, n, n_centers, top):
    """Amounts, falls and weights below: all stay as they are where a bin holds no row."""
    position = np.sort(random.randint(0, top - 1, (n, n_centers)), axis=1)
    weight = random.randint(0, 3, (n, top))
    rise, fall = random.randint(0, 4, (2, n, top)) * (weight > 0)
    amount = 4 * top + (rise - fall).cumsum(axis=1)
    return position, np.array([amount, fall, weight.cumsum(axis=1)])


@given(st.integers(0, 10**6), st.integers(2, 5), st.sampled_from([1.0, 0.25, 2.0**20]))
@settings(deadline=None)
def test_the_same_as_the_compiled_loop(seed, n_centers, one):
    random, n, top = np.random.RandomState(seed), 4, 12
    position, levels = some_levels(random, n, n_centers, top)
    inside, features = random.rand(n, top + 3) < 0.7, np.flatnonzero(random.rand(n) < 0.8)
    if not len(features):
        return
    terms = (one, 0.0, float(levels[2].max()), 0.0)
    here = levels[:, features]
    for only in (features, features[-1:]):
        lines = here[:, -len(only) :]
        limit = random.randint(3 * top, 5 * top) / one if len(only) == 1 else -np.inf
        found, wanted = [], []
        for kind in (Objective, AmountsAlone):
            found.append(np.zeros((n, n_centers - 1, 3)))
            wanted.append(np.zeros(top + 3, dtype=bool))
            objective = kind(terms, np.zeros((2, n)))
            how = (position, lines, inside, limit, found[-1], wanted[-1])
            objective.judge(only, *how)
        np.testing.assert_array_equal(*found)
        np.testing.assert_array_equal(*wanted)


@pytest.mark.parametrize("total", [2.0**55, 2.0**60])
def test_amounts_too_large_to_share_a_number_with_their_place(total):
    random = np.random.RandomState(0)
    position, levels = some_levels(random, 3, 3, 200)
    levels[0] *= int(total) // 2**11
    found = []
    for kind in (Objective, AmountsAlone):
        found.append(np.zeros((3, 2, 3)))
        objective = kind((1.0, 0.0, total, 0.0), np.zeros((2, 3)))
        inside, wanted = np.ones((3, 200), dtype=bool), np.zeros(200, dtype=bool)
        objective.judge(np.arange(3), position, levels, inside, -np.inf, found[-1], wanted)
    np.testing.assert_array_equal(*found)
