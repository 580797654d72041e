"""Shapes of regions, and what exports and plots read from them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import Delaunay

from pellucid.regions.shapes import SHAPES, Boxes, Ellipses, Polyhedra

random = np.random.RandomState(0)
ROWS = random.uniform(-3, 3, (400, 2))
REGIONS = [
    Boxes(np.array([[-1.0, -np.inf], [0.5, 0.0]]), np.array([[2.0, 1.0], [np.inf, 3.0]])),
    Polyhedra.join([Polyhedra.around(ROWS[:6]), Polyhedra.around(ROWS[6:20])], 2),
    Ellipses(
        np.array([[0.5, -0.5], [-2.0, 1.0]]),
        np.array([[[1.0, 0.3], [0.3, 0.5]], [[2.0, -0.1], [-0.1, 4.0]]]),
    ),
]
by_kind = pytest.mark.parametrize("regions", REGIONS, ids=[each.kind for each in REGIONS])


@by_kind
def test_the_numbers_of_regions_define_them(regions):
    entries = [regions.numbers(i) for i in range(len(regions))]
    again = SHAPES[regions.kind].of_numbers(*zip(*entries), regions.dim)
    assert len(again) == len(regions) == 2
    np.testing.assert_array_equal(again.which(ROWS), regions.which(ROWS))
    assert again.describe(["a", "b"]) == regions.describe(["a", "b"])


@by_kind
def test_regions_are_taken_in_the_given_order_or_not_at_all(regions):
    swapped = regions.take(np.array([1, 0]))
    for new, old in ((0, 1), (1, 0)):
        inside = regions.take(np.array([old])).contains(ROWS)
        np.testing.assert_array_equal(swapped.take(np.array([new])).contains(ROWS), inside)
    none = regions.take(np.empty(0, dtype=np.int64))
    assert len(none) == 0
    assert none.dim == 2
    assert not none.contains(ROWS).any()


@by_kind
def test_ends_and_inequalities_hold_exactly_inside(regions):
    for region in range(len(regions)):
        inside = regions.take(np.array([region])).contains(ROWS)
        assert inside.any()
        assert not inside.all()
        lower, upper = regions.box_bounds(region) or (np.full(2, -np.inf), np.full(2, np.inf))
        holds = ((lower < ROWS) & (upper >= ROWS)).all(axis=1)
        for test in regions.inequalities(region, ["x", "y"], repr):
            holds &= eval(test, {"x": ROWS[:, 0], "y": ROWS[:, 1]})
        np.testing.assert_array_equal(holds, inside)


@by_kind
def test_outlines_are_closed_lines_around_the_rows_inside(regions):
    outlines = regions.outlines([(-3.0, 3.0), (-3.0, 3.0)])
    assert len(outlines) == len(regions)
    for region, line in enumerate(outlines):
        np.testing.assert_allclose(line[0], line[-1])
        inside = ROWS[regions.take(np.array([region])).contains(ROWS)]
        assert (inside >= line.min(axis=0) - 1e-9).all()
        assert (inside <= line.max(axis=0) + 1e-9).all()


def test_only_boxes_have_an_end_between_the_values_of_a_category():
    boxes, polyhedra, _ = REGIONS
    drawn = boxes.with_middle_ends([0])
    np.testing.assert_array_equal(drawn.lower, [[0.5, -np.inf], [0.5, 0.0]])
    np.testing.assert_array_equal(drawn.upper, [[0.5, 1.0], [np.inf, 3.0]])
    assert polyhedra.with_middle_ends([0]) is polyhedra


@pytest.mark.parametrize("dim", [2, 3])
def test_hull_contains_the_convex_combinations_of_its_rows(dim):
    random = np.random.RandomState(0)
    scale = np.array([1.0, 1e5, 1e-4])[:dim]
    P = random.normal(size=(30, dim)) * scale
    hull = Polyhedra.around(P)
    points = random.normal(size=(500, dim)) * scale
    expected = Delaunay(P / scale).find_simplex(points / scale) >= 0
    assert (hull.contains(points) == expected).all()
    assert hull.contains(P).all()
    assert hull.costs[0] * 2 == len(hull.equations[0])


def test_hull_in_one_column_is_an_interval():
    hull = Polyhedra.around(np.array([[1.0], [3.0], [2.0]]))
    assert hull.contains(np.array([[0.9], [1.0], [2.5], [3.1]])).tolist() == [0, 1, 1, 0]
    assert hull.describe(["a"]) == ["1 ≤ a ≤ 3"]


def test_rows_on_a_line_have_no_hull():
    line = np.column_stack([np.arange(5.0), 2 * np.arange(5.0)])
    assert Polyhedra.around(line) is None
    assert Polyhedra.around(np.ones((5, 2))) is None
    assert Polyhedra.around(np.ones((5, 1))) is None


def test_scaled_polyhedron():
    square = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    hull = Polyhedra.around(square)
    points = np.array([[1.0, 1.0], [1.9, 1.0], [2.4, 1.0], [2.6, 1.0]])
    assert hull.contains(points).tolist() == [True, True, False, False]
    assert hull.scaled(1.5).contains(points).tolist() == [True, True, True, False]
    assert hull.scaled(0.5).contains(points).tolist() == [True, False, False, False]
    assert np.allclose(hull.scaled(0.5).vertices[0].mean(axis=0), 1)
