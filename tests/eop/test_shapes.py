"""Polyhedra and ellipses."""

import numpy as np
import pytest
from scipy.spatial import Delaunay

from pellucid.eop.problem import ProjectionView
from pellucid.eop.shapes.ball_growing import best_radius
from pellucid.eop.shapes.ellipses import EllipseFinder, Ellipses
from pellucid.eop.shapes.polyhedra import Polyhedra, PolyhedronFinder


def view_of(P, correct, held_P, held_correct, min_units=10):
    ones = np.ones(len(P), np.int64), np.ones(len(held_P), np.int64)
    scale = P.std(axis=0)
    return ProjectionView(P, correct, ones[0], held_P, held_correct, ones[1], scale, 1.0, min_units)


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


def test_radius_has_the_largest_surplus():
    P = np.array([[0.0], [1.0], [2.0], [-3.0], [4.0]])
    gains = np.array([1, 1, -3, 2, 1])
    (center, shape), surplus = best_radius(P, gains, np.zeros(1), np.eye(1))
    assert surplus == 2
    inside = Ellipses(center[None], shape[None]).contains(P)
    assert inside.tolist() in ([True, True, False, False, False], [True] * 5)


@pytest.mark.parametrize("finder", [PolyhedronFinder, EllipseFinder])
@pytest.mark.parametrize("n_bootstraps", [0, 5])
def test_elliptic_region_is_found_and_spurious_region_deleted(finder, n_bootstraps):
    random = np.random.RandomState(0)
    P, held = random.uniform(size=(2000, 2)), random.uniform(size=(1000, 2))

    def is_true(P):
        turned = (P - 0.35) @ np.array([[1, 1], [-1, 1]]) / np.sqrt(2)
        return (turned**2 @ [1 / 0.3**2, 1 / 0.12**2]) < 1

    spurious = ((P - 0.8) ** 2).sum(axis=1) < 0.15**2
    view = view_of(P, is_true(P) | spurious, held, is_true(held))
    found = finder(n_bootstraps).find(view, 0.1, 0.1, 0)
    assert found.after.contains(np.array([[0.35, 0.35]])).all()
    assert not found.after.contains(np.array([[0.8, 0.8]])).any()
    assert found.before.contains(np.array([[0.8, 0.8]])).all()
    inside = found.after.contains(held)
    assert is_true(held)[inside].mean() >= 0.9
    assert inside[is_true(held)].mean() > 0.75
    assert (len(found.before), len(found.after), len(found.deleted)) == (2, 1, 1)
    texts = found.after.describe(["a", "b"])
    assert len(texts) == len(found.after) == len(found.after.costs)
    assert all("a" in text and "b" in text for text in texts)
    assert len(found.after.first(1)) == 1
