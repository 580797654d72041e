"""Decisions, warnings and the number of clusters on the page."""

from __future__ import annotations

import json
import re

import pytest
from sklearn.datasets import load_iris

from pellucid import IMM, EOPClassifier
from pellucid.report import report_html, write_report

NOTES = {
    "decisions": ["ignored CustomerID: looks like an ID", "dropped 3 of 153 rows"],
    "warnings": ["Only 61 % of the rows are in the same cluster as k-means."],
    "number_of_clusters": [
        {"k": 2, "score": 0.41, "smallest": 0.2, "stability": 0.7, "agreement": 0.9},
        {"k": 3, "score": 0.55, "smallest": 0.3, "stability": 0.99, "chosen": True},
    ],
}


@pytest.fixture(scope="module")
def iris():
    return load_iris(as_frame=True)


def test_the_page_lists_what_was_done_to_the_data(open_page, iris, tmp_path):
    model = IMM(3, random_state=0).fit(iris.data)
    page = open_page(write_report(tmp_path / "r.html", model, iris.data, **NOTES))
    assert page.locator("#data li").all_inner_texts() == NOTES["decisions"]
    assert NOTES["warnings"][0] in page.locator("header .warnings").inner_text()
    table = page.locator("#data table")
    heads = ["clusters", "score", "smallest cluster", "stability", "agreement"]
    assert table.locator("th").all_inner_texts() == heads
    assert table.locator("tr.chosen td").all_inner_texts() == [
        "3 (chosen)",
        "0.55",
        "30\u00a0%",
        "0.99",
        "–",
    ]
    assert page.locator("#data circle.selected").count() == 1
    assert page.locator("nav a", has_text="Data").count() == 1


def test_pages_of_regions_have_it_too(open_page, iris, tmp_path):
    model = EOPClassifier(random_state=0).fit(iris.data, iris.target)
    page = open_page(write_report(tmp_path / "r.html", model, iris.data, **NOTES))
    assert page.locator("#data li").count() == 2
    assert page.locator(".warnings").count() == 1


def test_nothing_is_shown_if_there_is_nothing_to_show(open_page, iris, tmp_path):
    model = IMM(3, random_state=0).fit(iris.data)
    page = open_page(write_report(tmp_path / "r.html", model, iris.data))
    assert page.locator("#data").count() == page.locator(".warnings").count() == 0


def test_other_names_of_the_keys_are_read(iris):
    model = IMM(3, random_state=0).fit(iris.data)
    rows = [{"n_clusters": 3, "silhouette": 0.5, "smallest cluster": 40}]
    html = report_html(model, iris.data, number_of_clusters=rows)
    data = json.loads(re.search(r'id="payload">(.*?)</script>', html, re.S).group(1))
    assert data["numberOfClusters"] == [
        {
            "k": 3,
            "score": 0.5,
            "smallest": 40,
            "stability": None,
            "agreement": None,
            "chosen": False,
        }
    ]
    with pytest.raises(ValueError, match="no 'k'"):
        report_html(model, iris.data, number_of_clusters=[{"score": 1.0}])
