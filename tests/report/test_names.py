"""Names of clusters: given, suggested, typed, in SQL, and in a saved copy of the page."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from sklearn.datasets import load_wine

from pellucid import Explanation, ExShallow, from_json
from pellucid.export.sql_dialects import DIALECTS
from pellucid.report import read_cluster_names, report_html, write_report

LONG = "Young people with a low income who save a lot of it"
NONE = [""] * 3


@pytest.fixture(scope="module")
def wine():
    return load_wine(as_frame=True).data


@pytest.fixture(scope="module")
def model(wine):
    return ExShallow(3, random_state=0).fit(wine)


@pytest.fixture(scope="module")
def unnamed(model, wine, tmp_path_factory):
    """A page without suggested names."""
    path = tmp_path_factory.mktemp("report") / "r.html"
    return write_report(path, model, wine, title="</script>", suggested_names=NONE)


@pytest.fixture(scope="module")
def named(model, wine, tmp_path_factory):
    """A page with two given names, whose rows are wines."""
    path = tmp_path_factory.mktemp("report") / "r.html"
    names = {0: LONG, 1: "Strong wines"}
    return write_report(path, model, wine, cluster_names=names, rows="wines", trade_off=None)


def test_suggested_names_are_quoted_in_sentences(open_page, model, wine, unnamed, tmp_path):
    page = open_page(write_report(tmp_path / "r.html", model, wine, trade_off=None))
    named, numbered = r"“(?:low|high|medium) \w+.*” has \d+ rows", r"Cluster \d has \d+ rows"
    assert re.search(named, page.locator("#compare").inner_text())
    page = open_page(unnamed)
    assert re.search(numbered, page.locator("#compare").inner_text())


def test_names_that_are_given_are_titles_of_the_cards(open_page, model, wine, named):
    page = open_page(named)
    assert page.get_by_label("Name of cluster 1").input_value() == "Strong wines"
    assert page.get_by_label("Name of cluster 2").input_value() == ""
    for part in ("#tree", "#plot", "#copy", ".overview"):
        assert "Strong wines" in page.locator(part).inner_text()
    with pytest.raises(ValueError, match="cluster_names has 7"):
        report_html(model, wine, cluster_names={7: "x"})


def test_suggested_names_are_titles_unless_there_are_others(open_page, model, wine, tmp_path):
    suggested = ["high alcohol", "low <i>proline</i>", "average"]
    options = {"suggested_names": suggested, "trade_off": None}
    page = open_page(write_report(tmp_path / "r.html", model, wine, **options))
    names = [page.get_by_label(f"Name of cluster {i}") for i in range(3)]
    shown = [name.get_attribute("placeholder").replace("\u200b", "") for name in names]
    assert shown == suggested
    assert page.locator(".sentences:not(.invisible) a").all_inner_texts() == suggested
    names[1].fill("Dry wines")
    assert page.locator(".sentences:not(.invisible) a").nth(1).inner_text() == "Dry wines"
    with pytest.raises(ValueError, match="1 suggested names for 3 clusters"):
        report_html(model, wine, suggested_names=["x"])


def test_renamed_clusters_keep_agreement_and_other_trees(open_page, model, wine, tmp_path):
    renamed = Explanation.of(model).rename_clusters({0: "Dry wines", 1: "Sweet wines"})
    page = open_page(write_report(tmp_path / "r.html", renamed, wine, fitted=model))
    assert "agreement with k‑means" in page.locator("#measures").inner_text()
    assert "Dry wines" in page.locator("#tree").inner_text()
    assert "Cluster Dry wines" not in page.locator("body").inner_text()
    assert page.locator(".slider").count() == 1


def test_a_long_name_is_shown_in_full(open_page, unnamed):
    page = open_page(unnamed)
    box = page.get_by_label("Name of cluster 0")
    box.fill(LONG)
    assert box.evaluate("e => e.scrollHeight <= e.clientHeight + 1")
    assert box.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    page.reload()
    assert box.evaluate("e => e.scrollHeight <= e.clientHeight + 1")


def test_the_page_has_sql_in_all_dialects(open_page, model, unnamed):
    page = open_page(unnamed)
    name = "Bob's \\ wine"
    renamed = Explanation.of(model).rename_clusters({0: "Cluster 0", 1: "Cluster 1", 2: name})
    for typed, expected in (("", model), (name, renamed)):
        page.get_by_label("Name of cluster 2").fill(typed)
        for dialect in DIALECTS:
            page.locator("#copy select").select_option(dialect)
            shown = page.locator("#copy pre").nth(1).text_content()
            assert shown == expected.to_sql(dialect=dialect), dialect


def test_a_saved_copy_has_the_names(open_page, model, wine, unnamed, tmp_path):
    page = open_page(unnamed)
    heading = page.locator("h1").inner_text()
    name = "Dry <b>& 'strong'</b>"
    page.get_by_label("Name of cluster 0").fill(name)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save a copy with these names").click()
    assert download.value.suggested_filename == "r-named.html"
    copy = tmp_path / "copy.html"
    download.value.save_as(copy)
    assert read_cluster_names(copy) == {"0": name, "1": None, "2": None}
    other = open_page(copy)
    with other.expect_download() as model_file:
        other.get_by_role("button", name="Model with these names").click()
    named = Explanation.of(model).rename_clusters({0: name, 1: "Cluster 1", 2: "Cluster 2"})
    restored = from_json(model_file.value.path())
    assert restored.predict(wine).tolist() == named.predict(wine).tolist()
    assert other.get_by_label("Name of cluster 0").input_value() == name
    assert name in other.locator("#tree").inner_text()
    assert other.locator("h1").inner_text() == heading
    # It can be named again and saved again.
    other.get_by_label("Name of cluster 1").fill("Other")
    with other.expect_download() as again:
        other.get_by_role("button", name="Save a copy with these names").click()
    again.value.save_as(tmp_path / "third.html")
    third = open_page(tmp_path / "third.html")
    assert [third.get_by_label(f"Name of cluster {i}").input_value() for i in range(3)] == [
        name,
        "Other",
        "",
    ]


def test_rows_are_called_what_they_are(open_page, named):
    page = open_page(named)
    assert page.locator("h1").inner_text() == "3 clusters of 178 wines"
    assert "wines · " in page.locator("#card-0 .size").inner_text()
    assert "wines · " in page.locator(".node.leaf").first.inner_text()


def test_no_rows_keeps_every_row_out(model):
    table = load_wine(as_frame=True).data
    table.iloc[0, 0] = 13.987654
    html = report_html(model, pd.DataFrame(table), no_rows=True)
    assert html == report_html(model, pd.DataFrame(table), max_points=0, n_typical=0)
    assert "13.987654" not in html


def test_a_long_name_is_readable_in_the_overview_of_a_phone(open_page, named):
    page = open_page(named, width=390)
    assert page.locator(".overview thead").bounding_box()["height"] < 260
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
