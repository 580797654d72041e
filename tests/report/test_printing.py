"""The page on paper."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from pellucid import IMM, EOPClassifier, ExKMC

# The places of what must not be cut, in pixels of the page, once it is laid out for paper.
BOXES = """selector => [...document.querySelectorAll(selector)].map(e => {
  const box = e.getBoundingClientRect();
  return [box.left, box.right, box.height];
})"""
IS_SHOWN = """e => {
  const { width, height } = e.getBoundingClientRect();
  return width > 0 && height > 0 && getComputedStyle(e).visibility === 'visible';
}"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("print")
    noise = np.random.default_rng(0).normal(size=(300, 4))
    wine, iris = load_wine(as_frame=True), load_iris(as_frame=True)
    return {
        "small": IMM(3, random_state=0).fit(wine.data).report(folder / "s.html", wine.data),
        "large": ExKMC(12, n_leaves=30, random_state=0)
        .fit(noise)
        .report(folder / "l.html", noise, trade_off=None),
        "regions": EOPClassifier("stump", random_state=0)
        .fit(iris.data, iris.target)
        .report(folder / "r.html", iris.data),
    }


@pytest.mark.parametrize("kind", ["small", "large", "regions"])
def test_everything_fits_on_paper(open_page, files, kind):
    # The width of A4 within its margins.
    page = open_page(files[kind], width=695, height=1000)
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    for selector in (".card", ".node", "figure", ".slider", "pre", "table"):
        for left, right, height in page.evaluate(BOXES, selector):
            assert 0 <= left <= right <= 695, selector
            assert height < 1000 or selector in ("pre", "table")
    for selector in (
        "nav",
        "#row",
        ".slider input",
        ".toolbar",
        ".text-box-header button",
        ".screen-only",
    ):
        assert not page.evaluate(
            f"s => [...document.querySelectorAll(s)].some({IS_SHOWN})", selector
        )
    assert page.locator("details").count() == page.locator("details[open]").count()
    folded = page.locator("details.more summary").count()
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0
    assert folded == page.locator("details.more").count()


def test_a_large_tree_goes_on_over_the_page(open_page, files):
    page = open_page(files["large"], width=695, height=1000)
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".tree.multi-page").count() == 1
    tops = page.locator(".node").evaluate_all("all => all.map(e => e.getBoundingClientRect().top)")
    assert tops == sorted(tops)
    assert len(set(tops)) == len(tops)


def test_it_prints_a_handful_of_pages(open_page, files):
    printed = open_page(files["small"]).pdf(format="A4")
    assert printed.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 8


def test_the_overview_of_many_clusters_is_divided_among_tables(open_page, files):
    page = open_page(files["large"], width=695, height=1000)
    page.emulate_media(media="print")
    before = page.locator("table.overview th[scope=col]").all_inner_texts()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    tables = page.locator("table.overview")
    assert tables.count() == 2
    heads = [table.locator("th[scope=col]").all_inner_texts() for table in tables.all()]
    assert [len(head) for head in heads] == [7, 7]
    assert heads[0] + heads[1][1:] == before
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("table.overview th[scope=col]").all_inner_texts() == before
    assert page.locator("#copy .screen-only").is_hidden()
