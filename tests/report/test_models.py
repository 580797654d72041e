"""Every model of the library has a report."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from sklearn.datasets import load_iris

import pellucid
from browsers import AXE
from pellucid import EOPClassifier, XClusters, explain_clusters
from pellucid.datasets import make_card_trends

TREES = [
    "BSIMM",
    "EMN",
    "IMM",
    "ExGreedy",
    "ExplainableKMeans",
    "ExKMC",
    "ExShallow",
    "OptimalTree",
    "RandomThresholds",
    "SpEx",
]


def payload(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="payload">(.*?)</script>', text, re.S).group(1))


@pytest.fixture(scope="module")
def iris():
    return load_iris(as_frame=True).data


@pytest.mark.parametrize("name", TREES)
def test_every_tree_has_a_report(name, iris, tmp_path):
    model = getattr(pellucid, name)(3, random_state=0).fit(iris)
    data = payload(model.report(tmp_path / "r.html", iris))
    own = data["trees"][data["own"]]
    assert [way["text"] for ways in own["rules"] for way in ways] == [
        way.text for rule in model.rules_ for way in rule.alternatives
    ]
    assert [c["rows"] for c in own["clusters"]] == [rule.n_samples for rule in model.rules_]
    assert data["made"]["model"] == name


@pytest.fixture(scope="module")
def trends():
    return make_card_trends(80, random_state=0)


@pytest.fixture(scope="module")
def trends_file(trends, tmp_path_factory):
    model = XClusters(k_range=(3, 4), accuracy_distance="euclidean")
    model.fit(trends.series, explanation=trends.explanation)
    path = tmp_path_factory.mktemp("report") / "trends.html"
    options = {"series": trends.series, "times": trends.times}
    return model, model.report(path, trends.explanation, **options)


def test_the_courses_of_xclusters_are_its_medoids_and_quartiles(trends, trends_file):
    model, path = trends_file
    data = payload(path)
    series = np.asarray(trends.series)
    step = -(-series.shape[1] // 160)
    for cluster, course in enumerate(data["trends"]["clusters"]):
        medoid = series[model.medoid_indices_[cluster], ::step]
        np.testing.assert_allclose(course["medoid"], medoid, rtol=1e-3)
        members = series[model.labels_ == cluster, ::step]
        np.testing.assert_allclose(course["low"], np.quantile(members, 0.25, axis=0), rtol=1e-3)
    agreement = data["trees"][0]["measures"]["agreement"]
    assert agreement == pytest.approx(np.mean(model.predict(trends.explanation) == model.labels_))
    assert data["reference"] == "k-medoids"


def test_series_of_other_rows_are_refused(trends, trends_file, tmp_path):
    model, _ = trends_file
    with pytest.raises(ValueError, match="3 series, but the model was fitted on 80 rows"):
        model.report(tmp_path / "r.html", trends.explanation, series=trends.series[:3])


@pytest.fixture(scope="module")
def regions_file(iris, tmp_path_factory):
    labels = np.repeat([0, 1, 2], 50)
    model = explain_clusters(iris, labels).model
    path = tmp_path_factory.mktemp("report") / "regions.html"
    return model, model.report(path, iris, title="Iris", reference="the species")


def test_the_levels_of_a_model_of_regions_are_told(regions_file, iris):
    model, path = regions_file
    data = payload(path)
    at = model.apply(iris)[:, 0]
    assert [level["answered"] for level in data["levels"]] == [
        int((at == i).sum()) for i in range(model.n_levels_)
    ]
    texts = [piece["text"] for level in data["levels"] for piece in level["pieces"]]
    assert texts == [piece.text for rule in model.explain()[:-1] for piece in rule.pieces]
    assert data["answered"] == (at >= 0).sum()


@pytest.mark.parametrize("shape", ["polyhedron", "ellipse", "nonparametric"])
def test_regions_of_any_shape_are_drawn(shape, iris, tmp_path, open_page):
    # Without a price on columns, levels have two, and so a shape.
    model = EOPClassifier(
        "linear_svm", regions=shape, complexity_penalty=0, random_state=0, max_levels=2
    )
    model.fit(iris.iloc[:, :3], np.repeat(["a", "b", "</script>"], 50))
    path = model.report(tmp_path / "r.html", iris.iloc[:, :3])
    page = open_page(path)
    drawn = page.locator(".region").count()
    wanted = sum(len(level["shapes"]) for level in payload(path)["levels"])
    assert drawn == wanted
    assert wanted > 0 or shape == "nonparametric"


@pytest.mark.parametrize("width", [360, 1280])
def test_both_pages_are_sound_in_a_browser(open_page, regions_file, trends_file, width):
    for _, path in (regions_file, trends_file):
        page = open_page(path, width=width)
        assert page.locator("section").count() >= 4
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if AXE.exists():
            page.evaluate(AXE.read_text(encoding="utf-8"))
            found = page.evaluate("axe.run().then(r => r.violations)")
            assert [f["id"] for f in found if f["impact"] in ("serious", "critical")] == []
