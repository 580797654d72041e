"""Every model of the library has a report."""

from __future__ import annotations

import json
import pickle
import re

import numpy as np
import pytest
from sklearn.datasets import load_iris

import pellucid
from _support.browsers import serious_faults
from _support.extended import EXTENDED
from pellucid import XClusters
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
    assert len(data["trees"]) > 1
    assert [i for i, tree in enumerate(data["trees"]) if tree["kind"] is None] == [data["own"]]
    assert data["steps"]


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
    agreement = data["trees"][data["own"]]["measures"]["agreement"]
    assert agreement == pytest.approx(np.mean(model.predict(trends.explanation) == model.labels_))
    assert data["reference"] == "k-medoids"


def test_series_of_other_rows_are_refused(trends, trends_file, tmp_path):
    model, _ = trends_file
    with pytest.raises(ValueError, match="3 series, but the model was fitted on 80 rows"):
        model.report(tmp_path / "r.html", trends.explanation, series=trends.series[:3])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_trends_is_sound_in_a_browser(open_page, trends_file, scheme):
    page = open_page(trends_file[1], width=360 if scheme == "dark" else 1280, scheme=scheme)
    assert page.locator(".time-series svg").count() == trends_file[0].best_k_
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # Texts have the colours of pages of trees, whose contrasts are looked at in both schemes.
    assert serious_faults(page, contrast=scheme == "light" or EXTENDED) == []


@pytest.mark.slow
def test_the_rows_of_fit_need_not_be_named_while_they_are_there(iris, trends, tmp_path):
    model = pellucid.IMM(3, random_state=0).fit(iris)
    wanted = model.report(tmp_path / "one.html", iris).read_bytes()
    assert model.report(tmp_path / "two.html").read_bytes() == wanted

    regions = pellucid.EOPClassifier("stump", random_state=0).fit(iris, np.repeat([0, 1, 2], 50))
    wanted = regions.report(tmp_path / "one.html", iris).read_bytes()
    assert regions.report(tmp_path / "two.html").read_bytes() == wanted

    told = XClusters(k_range=(3, 4), accuracy_distance="euclidean")
    told.fit(trends.series, explanation=trends.explanation)
    wanted = told.report(tmp_path / "one.html", trends.explanation, series=trends.series)
    assert told.report(tmp_path / "two.html").read_bytes() == wanted.read_bytes()


def test_rows_that_are_gone_are_asked_for(iris, tmp_path):
    model = pellucid.IMM(3, random_state=0).fit(iris.copy())
    gone = pickle.loads(pickle.dumps(pellucid.IMM(3, random_state=0).fit(iris)))
    for one in (model, gone):
        with pytest.raises(ValueError, match="X is missing: the rows .* no longer in memory"):
            one.report(tmp_path / "r.html")
