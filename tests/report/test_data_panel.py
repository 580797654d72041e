"""Decisions, warnings and the number of clusters on the page."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import pellucid
from pellucid import IMM, EOPClassifier
from pellucid.report import report_html, write_report
from pellucid.table_explainer.reporting import describe_table

NOTES = {
    "decisions": ["ignored CustomerID: looks like an ID", "dropped 3 of 153 rows"],
    "warnings": ["Only 61% of the rows are in the same cluster as k-means."],
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
    assert page.locator("#data .decisions li").all_text_contents() == NOTES["decisions"]
    assert NOTES["warnings"][0] in page.locator("header .warnings").inner_text()
    table = page.locator("#data table").last
    heads = ["clusters", "silhouette", "smallest cluster", "stability", "agreement of a tree"]
    assert table.locator("th").all_inner_texts() == heads
    assert table.locator("tr.chosen td").all_inner_texts() == [
        "3 (chosen)",
        "0.550",
        "30.0%",
        "0.99",
        "–",
    ]
    assert page.locator("#data circle.selected").count() == 1
    assert page.locator("nav a", has_text="Data").count() == 1


def test_pages_of_regions_have_it_too(open_page, iris, tmp_path):
    model = EOPClassifier("stump", random_state=0).fit(iris.data, iris.target)
    page = open_page(write_report(tmp_path / "r.html", model, iris.data, **NOTES))
    assert page.locator("#data .decisions li").count() == 2
    assert page.locator(".warnings").count() == 1


def test_a_table_without_notes_is_described_by_its_columns(open_page, iris, tmp_path):
    table = iris.data.assign(copy=iris.data["petal width (cm)"])
    model = IMM(3, random_state=0).fit(table)
    page = open_page(write_report(tmp_path / "r.html", model, table))
    assert page.locator(".warnings").count() == page.locator("#data .decisions li").count() == 0
    text = page.locator("#data").inner_text().replace("\u00a0", " ")
    assert "petal width (cm) = copy" in text
    assert "petal length (cm) and petal width (cm) (0.96)" in text
    assert page.locator("#data dt").all_inner_texts() == [
        "150\nrows read",
        "150\nrows used",
        "5\ncolumns used",
    ]


def test_the_table_of_a_file_is_described_with_what_was_done_to_it(tmp_path):
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "id": [f"row {i}" for i in range(200)],
            "size": np.append(random.normal(size=199), 3.0),
            "spent": random.lognormal(3, 1.5, 200),
            "kind": random.choice(["a", "b"], 200),
            "one": 1,
        }
    )
    table.loc[:4, "size"] = np.nan
    found = pellucid.explain(table, k=2, outliers="keep", effort="fast", verbose=False)
    facts = describe_table(found.fitted)
    columns = {column.name: column for column in facts.columns}
    assert (facts.n_read, facts.n_used, facts.dropped["gaps"]) == (200, 195, 5)
    assert (columns["id"].role, columns["one"].reason) == ("ignored", "constant")
    assert (columns["spent"].scale, columns["kind"].scale) == ("log", "category")
    assert columns["size"].missing == 5
    assert columns["spent"].skew > 2
    html = found.report(tmp_path / "r.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="payload">(.*?)</script>', html, re.S).group(1))
    assert data["table"] == facts.describe()


def test_measures_of_a_number_that_are_not_known(iris):
    model = IMM(3, random_state=0).fit(iris.data)
    rows = [{"k": 3, "score": 0.5, "smallest": 40}]
    html = report_html(model, iris.data, number_of_clusters=rows)
    data = json.loads(re.search(r'id="payload">(.*?)</script>', html, re.S).group(1))
    assert data["numberOfClusters"] == [
        {
            "k": 3,
            "score": 0.5,
            "smallest": 40,
            "stability": None,
            "agreement": None,
            "cost": None,
            "total": None,
            "chosen": False,
        }
    ]
    with pytest.raises(ValueError, match="no 'k'"):
        report_html(model, iris.data, number_of_clusters=[{"score": 1.0}])


def test_the_page_shows_how_often_the_questions_return(open_page, iris, tmp_path):
    model = IMM(3, random_state=0).fit(iris.data)
    found = pellucid.stability(model, iris.data, n_bootstraps=10)
    page = open_page(write_report(tmp_path / "r.html", model, iris.data, stability=found))
    page.click("details.stability > summary")
    table = page.locator("details.stability table").first
    cells = [[str(q.returns), str(q.column_used)] for q in found.questions]
    rows = table.locator("tbody tr").all()
    assert [row.locator("td").all_inner_texts() for row in rows] == cells
    shown = rows[0].locator("th").inner_text().replace("\xa0", " ")
    assert shown == f"{found.questions[0].question}?"
    text = page.locator("details.stability").inner_text()
    assert "10 bootstraps of the rows, for the same clusters" in text
    assert f"{100 * found.agreement:.1f}% of the rows stay" in text
    plain = open_page(write_report(tmp_path / "plain.html", model, iris.data))
    assert plain.locator("details.stability").count() == 0
    other = IMM(4, random_state=0).fit(iris.data)
    with pytest.raises(ValueError, match="that of another tree"):
        report_html(other, iris.data, stability=found)


def test_the_stability_of_a_table_is_on_its_page(iris, tmp_path):
    found = pellucid.explain(iris.data, k=3, effort="fast", verbose=False)
    found.with_stability(n_bootstraps=2).report(tmp_path / "r.html", language="de")
    assert '"stability":{"draws":2,' in (tmp_path / "r.html").read_text(encoding="utf-8")
