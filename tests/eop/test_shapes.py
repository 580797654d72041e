"""Polyhedra, ellipses and shapes of users."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from pellucid import ATEOPClassifier, EOPClassifier
from pellucid.eop import Regions, ShapeFinder
from pellucid.eop.problem import ProjectionView
from pellucid.eop.shape_finders import EllipseFinder, PolyhedronFinder, best_radius
from pellucid.regions.shapes import Ellipses


def view_of(P, correct, held_P, held_correct, min_units=10):
    ones = np.ones(len(P), np.int64), np.ones(len(held_P), np.int64)
    scale = P.std(axis=0)
    return ProjectionView(P, correct, ones[0], held_P, held_correct, ones[1], scale, 1.0, min_units)


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


class Disks(Regions):
    """Rows within a distance of a center."""

    kind = "disk"

    def __init__(self, center, radius):
        self.center, self.radius = np.asarray(center, dtype=float), np.asarray(radius, dtype=float)
        self.dim = self.center.shape[1]

    def __len__(self):
        return len(self.radius)

    def which(self, P):
        inside = cdist(P, self.center) <= self.radius
        nowhere = np.zeros((len(P), 1), dtype=bool)
        return np.where(inside.any(axis=1), np.hstack([inside, nowhere]).argmax(axis=1), -1)

    def take(self, kept):
        return Disks(self.center[kept], self.radius[kept])

    def describe(self, names):
        return [f"{' and '.join(names)} within {radius:.2f}" for radius in self.radius]

    @property
    def costs(self):
        return np.ones(len(self))


class DiskFinder(ShapeFinder):
    def grow(self, rows, gains, random):
        centers = rows.P[random.choice(np.flatnonzero(gains > 0), 10)] if (gains > 0).any() else []
        found = [self.fit(Disks([center], [0.0]), rows, gains) for center in centers]
        return max(found, key=lambda disk: gains[disk.contains(rows.P)].sum(), default=None)

    def fit(self, region, rows, gains):
        distances = cdist(region.center, rows.P)[0]
        order = np.argsort(distances, kind="stable")
        best = np.argmax(np.cumsum(gains[order]))
        return Disks(region.center, [distances[order[best]]])

    def join(self, regions, dim):
        centers = [region.center[0] for region in regions]
        return Disks(np.reshape(centers, (-1, dim)), [region.radius[0] for region in regions])


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", [EOPClassifier(complexity_penalty=0.0), ATEOPClassifier(confidence=0.9)]
)
def test_own_shapes_are_fitted_explained_and_drawn(model):
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (400, 2))
    y = np.where((X**2).sum(axis=1) < 0.4, "in", "out")
    model.set_params(regions=DiskFinder, base="constant", max_error=0.1, random_state=0).fit(X, y)
    assert model.levels_[0].regions.kind == "disk"
    assert "x0 and x1 within 0." in str(model.explain())
    answered = ~model.abstained(X)
    assert model.score(X[answered], y[answered]) > 0.9
    assert list(model.staged_score(X, y))[-1] == model.score(X, y)
    assert model.level_measures(X, y).support.sum() == pytest.approx(answered.mean())
    frame = model.to_frame(kind="dict")
    assert any(rule.startswith("x0 and x1 within 0.") for rule in frame["rule"])
    assert frame["rows"].sum() == len(X)
    assert len(model.plot(X, y)) == min(model.n_levels_, 4)
    for export in (model.to_json, model.to_sql, model.to_python):
        with pytest.raises(ValueError, match="of the kind 'disk' cannot be exported; use boxes"):
            export()


@pytest.mark.parametrize(
    ("regions", "error", "message"),
    [
        (DiskFinder(), TypeError, "is an instance of DiskFinder; pass the class: regions=DiskFi"),
        (Disks, TypeError, "use .* or a subclass of pellucid.eop.ShapeFinder"),
        ("disk", ValueError, "regions='disk' is unknown; use 'nonparametric', 'box'"),
    ],
)
def test_unknown_shapes_are_refused(regions, error, message):
    with pytest.raises(error, match=message):
        EOPClassifier(regions=regions).fit([[0.0], [1.0]], [0, 1])
