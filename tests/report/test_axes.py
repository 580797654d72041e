"""Axes of columns: outliers, thresholds, integers, skewed numbers and dates."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from pellucid import IMM, Explanation
from pellucid.plotting.axis_ranges import N_BINS, choose_axis
from pellucid.report import report_html, write_report
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tree import TreeBuilder


def payload(model, X, **options):
    html = report_html(model, X, **options)
    text = re.search(r'<script type="application/json" id="payload">(.*?)</script>', html, re.S)
    return json.loads(text.group(1))


@pytest.fixture
def with_outlier():
    """Symmetric values, so that the axis is linear, and one far away at either end."""
    values = np.random.default_rng(0).normal(0, 1, 2000)
    return np.append(values, [-40.0, 40.0])


def test_outliers_are_counted_if_no_threshold_and_no_cluster_is_there(with_outlier):
    axis = choose_axis(with_outlier, is_whole=False)
    assert -5 < axis.edges[0] < axis.edges[-1] < 5
    assert axis.n_below == (with_outlier < axis.edges[0]).sum() > 0
    assert axis.n_above == (with_outlier > axis.edges[-1]).sum() > 0


def test_the_axis_reaches_over_all_values_if_a_threshold_is_among_the_outliers(with_outlier):
    axis = choose_axis(with_outlier, is_whole=False, cuts=[20.0])
    assert (axis.edges[0], axis.edges[-1]) == (-40.0, 40.0)
    assert (axis.n_below, axis.n_above) == (0, 0)


def test_the_axis_reaches_over_all_values_if_a_cluster_is_among_the_outliers(with_outlier):
    cluster = (with_outlier > 30).astype(int)
    axis = choose_axis(with_outlier, is_whole=False, cluster=cluster)
    assert (axis.edges[0], axis.edges[-1]) == (-40.0, 40.0)


def test_thresholds_beyond_the_values_are_on_the_axis():
    axis = choose_axis(np.linspace(0, 1, 50), is_whole=False, cuts=[3.0])
    assert axis.edges[-1] == 3.0


def test_bins_of_integers_have_whole_integers():
    values = np.random.default_rng(0).integers(18, 96, 1000).astype(float)
    axis = choose_axis(values, is_whole=True)
    assert len(axis.edges) - 1 <= N_BINS
    assert set(np.diff(axis.edges)) == {4.0}
    assert axis.edges[0] == values.min() - 0.5


@pytest.mark.parametrize("is_whole", [False, True])
def test_skewed_numbers_have_a_logarithmic_axis_over_all_values(is_whole):
    values = np.random.default_rng(0).lognormal(6, 1.5, 1000)
    values = np.round(values) if is_whole else values
    axis = choose_axis(values, is_whole=is_whole)
    assert axis.unit in (10.0, 100.0)
    assert axis.edges[0] <= values.min() < values.max() <= axis.edges[-1]
    assert (np.diff(axis.edges) > 0).all()
    if is_whole:
        assert set(axis.edges % 1) == {0.5}
    assert choose_axis(values, is_whole=is_whole, may_be_log=False).unit is None


@pytest.fixture
def far_cluster():
    random = np.random.default_rng(0)
    size = np.append(random.normal(50, 10, 400), [5000.0])
    return pd.DataFrame({"size": size.round(2), "other": random.normal(0, 1, 401).round(3)})


def test_an_outlier_that_is_a_cluster_is_drawn_at_its_value(open_page, far_cluster, tmp_path):
    model = IMM(2, random_state=0).fit(far_cluster)
    page = open_page(write_report(tmp_path / "r.html", model, far_cluster))
    page.get_by_label("Horizontal axis").select_option(label="size")
    page.get_by_label("Vertical axis").select_option(label="other")
    places = page.evaluate("""() => {
      const middle = path => { const b = path.getBBox(); return b.x + b.width / 2; };
      const marks = [...document.querySelectorAll('#plot .row-markers')];
      const all = marks.filter(p => p.getBBox().width).map(middle);
      const line = document.querySelector('#plot .threshold').getBBox().x;
      return { single: Math.max(...all), rest: Math.min(...all), line };
    }""")
    assert places["rest"] < places["line"] < places["single"]
    assert page.locator("#plot .threshold").count() == 1
    assert page.locator("#plot .beyond[d]:not([d=''])").count() == 0


def test_the_plot_says_how_many_rows_are_beyond_its_axes(open_page, with_outlier, tmp_path):
    X = pd.DataFrame({"a": with_outlier, "b": np.random.default_rng(1).normal(0, 1, 2002)})
    builder = TreeBuilder(n_features=2)
    left, right = builder.split(0, feature=0, threshold=0.0)
    builder.set_cluster(left, 0), builder.set_cluster(right, 1)
    model = Explanation(builder.build(), names=["a", "b"])
    page = open_page(write_report(tmp_path / "r.html", model, X, max_points=5000))
    page.get_by_label("Horizontal axis").select_option(label="a")
    page.get_by_label("Vertical axis").select_option(label="b")
    text = page.locator("#plot figure .note").inner_text()
    found = re.search(r"a: (\d+) rows? below \(down to -40\), (\d+) rows? above \(up to 40\)", text)
    assert found
    shown = page.locator("#plot .beyond").evaluate_all(
        "all => all.map(p => (p.getAttribute('d').match(/M/g) || []).length)"
    )
    assert sum(shown) >= int(found[1]) + int(found[2])
    # The histogram says that its last bin has more.
    texts = page.locator(".axis-ends").all_inner_texts()
    assert any("or less" in one and "or more" in one for one in texts)


@pytest.fixture
def dated():
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "signup": random.integers(18_000, 19_500, 300).astype(float),
            "year": random.integers(1950, 2008, 300).astype(float),
            "people": random.integers(20, 90, 300).astype(float),
        }
    )
    builder = TreeBuilder(n_features=3)
    left, right = builder.split(0, feature=0, threshold=18_701.0)
    builder.set_cluster(left, 0)
    low, high = builder.split(right, feature=1, threshold=1980.0)
    builder.set_cluster(low, 1), builder.set_cluster(high, 2)
    formats = {"signup": ColumnFormat("date"), "year": ColumnFormat("year")}
    return Explanation(builder.build(), names=list(table.columns), formats=formats), table


def test_dates_are_shown_and_read_as_dates(open_page, dated, tmp_path):
    model, table = dated
    page = open_page(write_report(tmp_path / "r.html", model, table))
    tree = page.locator("#tree").inner_text().replace("\u00a0", " ")
    assert "≤ 2021-03-15?" in tree
    assert "1,9" not in page.locator("#clusters").inner_text()
    page.get_by_label("Horizontal axis").select_option(label="signup")
    ticks = page.locator("#plot .tick text").all_text_contents()
    assert any(re.fullmatch(r"20(19|2\d)(-\d\d)?", tick) for tick in ticks)
    row = page.locator(".fields")
    row.get_by_label("signup").fill("2021-03-16")
    row.get_by_label("year").fill("1,981")
    assert page.locator(".verdict-label").text_content() == " (label 2)"
    assert "2021-03-16" in page.locator(".steps").inner_text()
    row.get_by_label("signup").fill("15.3.2021")
    assert "Write dates like" in page.locator(".result").inner_text()


def test_the_ends_of_integers_are_integers(dated):
    model, table = dated
    people = next(c for c in payload(model, table)["columns"] if c["name"] == "people")
    assert people["edges"][0] + 0.5 == table["people"].min()
    assert people["format"] == {"kind": "integer"}


@pytest.mark.parametrize("values", [[2.0**64], [1e200], [2.0**53, 2.0**53 + 2], [2.0**52 - 1]])
def test_bins_of_very_large_whole_numbers(values):
    edges = choose_axis(np.array(values), is_whole=True).edges
    assert len(edges) > 1
    assert (np.diff(edges) > 0).all()
