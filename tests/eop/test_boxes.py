"""Boxes: search against brute force, and texts against rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from _support.extended import examples
from pellucid.eop.box_finder import BoxFinder, round_box
from pellucid.eop.kernels import best_grid_box, improve_box
from pellucid.eop.problem import ProjectionView
from pellucid.regions.shapes import Boxes

cells = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-4, 3)), min_size=1, max_size=20
)


@pytest.mark.slow
@given(cells)
@settings(max_examples=examples(60), deadline=None)
def test_grid_box_has_the_largest_sum(cells):
    a, b, gains = np.array(cells, dtype=np.int64).T
    found = best_grid_box(np.stack([a, b]), gains, 4)

    def value(i, j, k, m):
        return gains[(a >= i) & (a <= j) & (b >= k) & (b <= m)].sum()

    ends = [(i, j) for i in range(4) for j in range(i, 4)]
    best = max(value(*x, *y) for x in ends for y in ends)
    assert found[4] == max(best, 0)
    assert found[4] in (0, value(*found[:4]))


@given(cells, st.integers(0, 3), st.integers(0, 3))
@settings(max_examples=examples(60), deadline=None)
def test_improved_box_cannot_be_improved_in_one_column(cells, seed_a, seed_b):
    a, b, gains = np.array(cells, dtype=np.int64).T
    columns = np.stack([a, b]).astype(float)
    lower, upper = np.array([seed_a, seed_b], float), np.array([seed_a, seed_b], float)
    orders = np.argsort(columns, axis=1)

    def value(low, high):
        inside = (columns >= low[:, None]) & (columns <= high[:, None])
        return gains[inside.all(axis=0)].sum()

    start = value(lower, upper)
    total = improve_box(columns, orders, gains, lower, upper)
    assert total == value(lower, upper) >= start
    for axis in range(2):
        for i in range(4):
            for j in range(i, 4):
                low, high = lower.copy(), upper.copy()
                low[axis], high[axis] = i, j
                assert value(low, high) <= max(total, 0)


@given(st.integers(0, 10**6))
@settings(max_examples=examples(40), deadline=None)
def test_rounded_ends_keep_the_same_rows_inside(seed):
    random = np.random.RandomState(seed)
    P = random.normal(scale=[1, 1000], size=(30, 2)).round(random.randint(0, 3))
    low, high = np.sort(P[random.choice(30, 2)], axis=0)
    box = Boxes(np.nextafter(low, -np.inf), high)
    rounded = round_box(box, P)
    assert (rounded.contains(P) == box.contains(P)).all()
    text = rounded.describe(["a", "b"])[0]
    assert len(text) <= len(box.describe(["a", "b"])[0])


def test_ends_without_rows_beyond_become_infinite():
    P = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [9.0, -5.0]])
    box = round_box(Boxes(np.array([0.5, 0.5]), np.array([2.0, 2.0])), P)
    # The last row lies beyond the end in the first column, but the second column excludes it.
    assert box.describe(["a", "b"]) == ["b > 0"]
    assert box.contains(P).tolist() == [False, True, True, False]


def view_of(P, right, held_P=None, held_right=None):
    held_P = P[:0] if held_P is None else held_P
    held_right = right[:0] if held_right is None else held_right
    ones = np.ones(len(P), np.int64), np.ones(len(held_P), np.int64)
    return ProjectionView(P, right, ones[0], held_P, held_right, ones[1], P.std(axis=0), 1.0, 10)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_a_planted_box_is_found(dim):
    random = np.random.RandomState(0)
    P = random.uniform(size=(2000, dim))
    inside = ((P > 0.2) & (P <= 0.7)).all(axis=1)
    found = BoxFinder().find(view_of(P, inside), 0.05, 0.05, 0)
    assert len(found.after) == 1
    assert (found.which >= 0)[inside].mean() > 0.97
    assert np.abs(found.after.lower - 0.2).max() < 0.03
    assert np.abs(found.after.upper - 0.7).max() < 0.03


def test_overlapping_boxes_cover_a_cross():
    random = np.random.RandomState(1)
    P = random.uniform(size=(3000, 2))
    cross = (np.abs(P - 0.5) < 0.15).any(axis=1)
    found = BoxFinder().find(view_of(P, cross), 0.02, 0.02, 0)
    assert len(found.after) in (2, 3)
    assert (found.which >= 0)[cross].mean() > 0.95
    assert (found.which >= 0)[~cross].mean() < 0.03


@pytest.mark.parametrize("n_bootstraps", [0, 11])
def test_calibration_deletes_planted_spurious_boxes(n_bootstraps):
    random = np.random.RandomState(2)
    P, held = random.uniform(size=(1500, 2)), random.uniform(size=(700, 2))

    def is_true(P):
        return (P < 0.4).all(axis=1)

    spurious = ((P > 0.6) & (P < 0.9)).all(axis=1)
    right = is_true(P) | spurious
    held_right = is_true(held)
    found = BoxFinder(n_bootstraps).find(view_of(P, right, held, held_right), 0.1, 0.1, 0)
    assert len(found.before) == 2
    assert len(found.after) == len(found.before) - len(found.deleted) == 1
    assert found.held_out_error[found.deleted[0]] > 0.9
    assert found.after.contains(np.array([[0.2, 0.2], [0.75, 0.75]])).tolist() == [True, False]


def test_boxes_without_held_out_rows_are_deleted():
    random = np.random.RandomState(3)
    P = random.uniform(size=(400, 2))
    held = np.array([[5.0, 5.0], [-5.0, 5.0]])
    right = (P < 0.5).all(axis=1)
    held_right = np.array([False, False])
    found = BoxFinder().find(view_of(P, right, held, held_right), 0.05, 0.05, 0)
    assert (len(found.before), len(found.after)) == (1, 0)
    assert found.deleted.tolist() == [0]
    assert found.held_out_rows.tolist() == [0]
    assert np.isnan(found.held_out_error).all()
