"""Boxes: search against brute force, and texts against rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from _support.extended import examples
from pellucid.eop.box_kernels import best_grid_box, bin_ranks, improve_box
from pellucid.eop.problem import ProjectionView
from pellucid.eop.shape_finders import BoxFinder, round_box
from pellucid.regions.shapes import Boxes

cells = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-4, 3)), min_size=1, max_size=20
)


ENDS = [(i, j) for i in range(4) for j in range(i, 4)]


def value_of(box, a, b, gains, facet):
    (i, j), (k, m) = box
    n_ends = sum(map(int, (i > 0, j < 3, k > 0, m < 3)))
    return gains[(a >= i) & (a <= j) & (b >= k) & (b <= m)].sum() - facet * n_ends


@pytest.mark.slow
@pytest.mark.parametrize("facet", [0, 2])
@given(cells, st.booleans())
@settings(max_examples=examples(60), deadline=None)
def test_grid_box_has_the_largest_value(facet, cells, is_bounded):
    a, b, gains = np.array(cells, dtype=np.int64).T
    codes, box = np.stack([a, b]).astype(np.uint8), np.zeros(4, np.int64)
    found = best_grid_box(*codes, gains, (4, 4), facet, is_bounded, 0, box)
    boxes = [(x, y) for x in ENDS for y in ENDS if not is_bounded or (x != (0, 3) and y != (0, 3))]
    best = max(value_of(each, a, b, gains, facet) for each in boxes)
    assert found == max(best, 0)
    assert found in (0, value_of((box[:2], box[2:]), a, b, gains, facet))


@pytest.mark.parametrize("facet", [0, 2])
@given(cells, st.integers(0, 3), st.integers(0, 3))
@settings(max_examples=examples(60), deadline=None)
def test_improved_box_cannot_be_improved_in_one_column(facet, cells, seed_a, seed_b):
    a, b, gains = np.array(cells, dtype=np.int64).T
    lower, upper = np.array([seed_a, seed_b]), np.array([seed_a, seed_b])
    start = value_of([(seed_a, seed_a), (seed_b, seed_b)], a, b, gains, facet)
    ranks, sizes = np.stack([a, b]).astype(np.int32), np.array([4, 4])
    total = improve_box(ranks, sizes, gains, facet, lower, upper)
    box = list(zip(lower, upper))
    assert total == value_of(box, a, b, gains, facet) >= start
    for axis in range(2):
        for ends in ENDS:
            other = [ends if i == axis else box[i] for i in range(2)]
            assert value_of(other, a, b, gains, facet) <= total


@pytest.mark.parametrize("n_bins", [4, 16])
def test_bins_have_about_the_same_weight(n_bins):
    random = np.random.default_rng(0)
    ranks = np.stack([random.permutation(200), random.integers(0, 3, 200)]).astype(np.int32)
    sizes, units = np.array([200, 3]), random.integers(1, 5, 200)
    codes, starts = np.empty((2, 200), np.uint8), np.empty((2, n_bins + 1), np.int64)
    bin_ranks(ranks, sizes, units, n_bins, np.ones(2, dtype=bool), codes, starts)
    weight = np.bincount(codes[0], units, n_bins)
    assert abs(weight - units.sum() / n_bins).max() <= 4
    assert (codes[1] == ranks[1]).all()
    for code, rank, start in zip(codes, ranks, starts):
        assert (start[code] <= rank).all()
        assert (rank < start[code + 1]).all()


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
