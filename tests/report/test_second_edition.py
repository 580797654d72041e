"""Histograms in questions, zoom, downloads, comparison of clusters, fixed columns, German."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

import pellucid
from _support.browsers import serious_faults
from _support.extended import EXTENDED
from pellucid import IMM, ExShallow
from pellucid.report import write_report


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 60)
    return pd.DataFrame(
        {
            "income": random.normal([20_000, 60_000, 60_000], 4000, (60, 3)).T.ravel().round(),
            "age": random.normal([30, 30, 60], 5, (60, 3)).T.ravel().round(1),
            "height": random.normal(170, 9, 180).round(1),
        }
    ), group


@pytest.fixture(scope="module")
def file(people, tmp_path_factory):
    X, group = people
    model = IMM(3, random_state=0).fit(X, group)
    path = tmp_path_factory.mktemp("report") / "people.html"
    return write_report(path, model, X, trade_off=None, suggested_names=[""] * 3)


def test_questions_contain_the_distribution_of_their_rows(open_page, file):
    page = open_page(file)
    data = json.loads(page.locator("#payload").text_content())
    for node in data["trees"][data["own"]]["nodes"]:
        if "left" in node:
            assert sum(sum(counts) for _, counts in node["histogram"]) == node["rows"]
    assert page.locator(".node.split .split-histogram").count() == 2
    # The line separates the rows of the two answers.
    root = data["trees"][0]["nodes"][0]
    edges = data["columns"][root["column"]]["edges"]
    at = (root["threshold"] - edges[0]) / (edges[-1] - edges[0]) * 200
    line = page.locator(".split-histogram .threshold").first.get_attribute("d")
    assert float(re.match(r"M([\d.]+)", line)[1]) == pytest.approx(at, abs=0.1)
    page.get_by_label("Show distributions in the questions").uncheck()
    assert page.locator(".split-histogram").count() == 0


def test_pictures_and_tables_can_be_saved(open_page, file, tmp_path):
    page = open_page(file)

    def saved(button):
        with page.expect_download() as download:
            button.click()
        return download.value

    tree = saved(page.locator("#tree .toolbar").get_by_label("Download as SVG"))
    assert tree.suggested_filename == "people-tree.svg"
    text = tree.path().read_text(encoding="utf-8")
    assert text.count("<rect") > 5
    assert "Cluster 2" in text
    assert "style=" not in text
    picture = saved(page.locator("#plot").get_by_label("Download as PNG"))
    assert picture.path().read_bytes().startswith(b"\x89PNG")
    overview = saved(page.locator(".overview-block").get_by_role("button", name="CSV"))
    rows = list(csv.reader(overview.path().read_text(encoding="utf-8-sig").splitlines()))
    assert rows[0][1:] == ["all rows", "Cluster 0", "Cluster 1", "Cluster 2"]
    assert {row[0] for row in rows[2:]} == {"income", "age", "height"}


def test_a_part_of_the_plot_can_be_enlarged(open_page, file):
    page = open_page(file)
    ticks = page.locator("#plot .tick text")
    before = ticks.all_text_contents()
    page.get_by_role("button", name="Zoom in").click()
    assert ticks.all_text_contents() != before
    assert "rows lie outside" in page.locator("#plot figure .note").inner_text()
    page.get_by_role("button", name="Reset zoom").click()
    assert ticks.all_text_contents() == before
    page.locator("#plot .plot").scroll_into_view_if_needed()
    box = page.locator("#plot .plot").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 400, box["y"] + 250, steps=3)
    page.mouse.up()
    assert ticks.all_text_contents() != before
    page.locator("#plot .plot").focus()
    page.keyboard.press("0")
    assert ticks.all_text_contents() == before


def test_two_clusters_are_compared_in_sentences(open_page, file, people):
    page = open_page(file)
    page.get_by_label("First cluster").select_option("1")
    page.get_by_label("Second cluster").select_option("2")
    text = page.locator("#compare .differences li").first.inner_text()
    X, group = people
    effect = (X.age[group == 1].mean() - X.age[group == 2].mean()) / X.age.std(ddof=0)
    assert text.startswith("age: Cluster 1 is much lower (average ")
    assert f"effect size {abs(effect):.1f}" in text
    summary = page.locator("#compare .comparison").inner_text()
    assert re.search(
        r"separates them by the question “age ≤\s[\d.]+\?”: yes for Cluster 1", summary
    )
    assert "Similar in: income" in summary or "Similar in: height" in summary


def test_fixed_columns_do_not_change(open_page, file):
    page = open_page(file)
    page.locator("#row .fields").get_by_label("income").fill("20,000")
    page.locator("#row .fields").get_by_label("age").fill("30")
    assert page.locator("#row .badge-list li").count() == 2
    page.locator(".fixed-field").get_by_label("income").check()
    assert page.locator("#row .badge-list li").count() == 0
    note = page.locator("#row .result .note").inner_text()
    assert note == ("Not reachable without changing the fixed columns: Cluster 1, Cluster 2.")
    # The colours are those of the page of `test_in_browser.py`.
    assert serious_faults(page, contrast=EXTENDED) == []


def test_a_report_in_german(open_page, people, tmp_path):
    X, group = people
    X = X.assign(town=np.where(group == 0, "Köln", np.where(group == 1, "Bonn", "Aachen")))
    found = pellucid.explain(X, k=3, effort="fast", verbose=False)
    page = open_page(found.report(tmp_path / "r.html", language="de"))
    assert page.locator("html").get_attribute("lang") == "de"
    assert page.locator("h1").inner_text() == "3 Cluster, 180 Zeilen"
    assert " hoch" in " ".join(page.locator(".sentences a").all_inner_texts())
    text = page.locator("body").inner_text()
    assert not re.search(r"\b(the|rows|of|and|is not|cluster is)\b", text.replace("k-means", ""))
    shown = page.locator(".card .rule").all_inner_texts()
    copied = page.locator("#copy pre").first.inner_text()
    assert "income > 40.000 und age" in copied
    for rule in shown:
        assert rule.replace("\u00a0", " ").split("\n")[0] in copied
    assert serious_faults(page, contrast=EXTENDED) == []
    with pytest.raises(ValueError, match="language is 'fr'; the languages are en, de"):
        found.report(tmp_path / "r.html", language="fr")


def test_pages_of_many_clusters(open_page, tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(400, 3))).add_prefix("consumption")
    model = IMM(40, random_state=0).fit(X)
    options = {"trade_off": None, "max_points": 0}
    page = open_page(write_report(tmp_path / "r.html", model, X, **options))
    assert page.locator(".split-histogram").count() == 0
    page.get_by_label("Show distributions in the questions").check()
    assert page.locator(".split-histogram").count() == 39
    for name in page.locator("table.overview th[scope=row]").all():
        assert name.bounding_box()["height"] < 40, "a name is broken into several lines"


def test_long_names_of_questions_are_shown_in_full_on_a_phone(open_page, people, tmp_path):
    X, _ = people
    X = X.rename(columns=lambda name: f"{name}_of_the_household_before_taxes_and_all_transfers")
    found = pellucid.explain(X, k=3, effort="fast", verbose=False)
    page = open_page(found.report(tmp_path / "r.html"), width=390)
    for name in page.locator(".node.split .text:first-of-type, .node.split .answer + .text").all():
        assert name.evaluate(
            "e => e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight"
        )
    for node in page.locator(".node.split").all():
        assert node.evaluate("e => e.scrollHeight <= e.clientHeight")
    names = page.locator("table.overview th[scope=row]")
    assert all(name.bounding_box()["width"] > 90 for name in names.all())


def test_titles_that_wrap_stay_in_their_boxes(open_page, tmp_path):
    X, _ = make_blobs(800, 8, centers=8, random_state=3)
    X = pd.DataFrame(X, columns=[f"measurement_{i:03}" for i in range(8)])
    model = ExShallow(8, random_state=0).fit(X)
    names = dict.fromkeys(range(8), "medium basket, not high age")
    path = write_report(tmp_path / "r.html", model, X, trade_off=None, cluster_names=names)
    page = open_page(path)
    assert page.locator(".tree:not(.outline) .node.split").count() == 7
    # How far below the upper edge of its box each text starts.
    gaps = page.locator(".node .text").evaluate_all(
        "all => all.map(text => text.getBoundingClientRect().top"
        " - text.closest('.node').getBoundingClientRect().top)"
    )
    assert len(gaps) >= 15
    assert min(gaps) >= 2


def test_a_table_in_print_is_not_below_the_figure_beside_it(open_page, people, tmp_path):
    X, group = people
    tried = [{"k": k, "score": 1 / k, "smallest": 1 / k, "chosen": k == 3} for k in range(2, 11)]
    options = {"trade_off": None, "number_of_clusters": tried}
    model = IMM(3, random_state=0).fit(X, group)
    page = open_page(write_report(tmp_path / "r.html", model, X, **options))
    page.emulate_media(media="print")
    table = page.locator(".two-columns .scroll").bounding_box()
    figure = page.locator(".two-columns figure").bounding_box()
    assert table["y"] + table["height"] <= figure["y"]
