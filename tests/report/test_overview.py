"""The overview table, the scatter plot at the start, and what is shown on a phone."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

import pellucid
from _support.extended import EXTENDED
from pellucid import IMM, ExKMC, Explanation
from pellucid.report import report_html, write_report
from pellucid.report.columns import NumberColumn, Profile
from pellucid.tree import TreeBuilder


@pytest.fixture(scope="module")
def wine():
    return load_wine(as_frame=True).data


@pytest.fixture(scope="module")
def file(wine, tmp_path_factory):
    model = IMM(3, random_state=0).fit(wine)
    return write_report(tmp_path_factory.mktemp("report") / "wine.html", model, wine)


def test_the_overview_has_means_and_shades(open_page, file, wine):
    model = IMM(3, random_state=0).fit(wine)
    page = open_page(file)
    data = json.loads(page.locator("#payload").text_content())
    facts = data["trees"][data["own"]]["clusters"]
    names = [column["name"] for column in data["columns"]]
    page.get_by_role("button", name="Show all 13 columns").click()
    rows = page.locator(".overview tbody tr").evaluate_all(
        "all => all.map(row => [row.querySelector('th').innerText, [...row.querySelectorAll('td')]"
        ".map(e => [e.innerText, getComputedStyle(e).backgroundColor])])"
    )
    assert len(rows) == 14
    labels = model.predict(wine)
    for name, cells in rows[1:]:
        i = names.index(name)
        assert len(cells) == 4
        for cluster, (text, color) in enumerate(cells[1:]):
            mean = wine[name][labels == cluster].mean()
            assert float(text.replace(",", "")) == pytest.approx(mean, rel=0.01)
            red, _, blue = map(int, re.findall(r"\d+", color)[:3])
            assert (blue > red) == (facts[cluster]["apart"][i] >= 0)


def test_a_comparison_on_a_log_scale_says_so(open_page, tmp_path):
    """Most numbers of a cluster are higher, but those of the other one have a larger mean."""
    random = np.random.default_rng(0)
    amount = [random.lognormal(3, 0.3, 150), random.lognormal(2.3, 1.6, 150)]
    table = pd.DataFrame(
        {
            "size": np.repeat([0.0, 9.0], 150) + random.normal(size=300),
            "amount": np.concatenate(amount),
        }
    )
    found = pellucid.explain(table, k=2, effort="fast", outliers="keep", verbose=False)
    assert amount[0].mean() < amount[1].mean()
    text = open_page(found.report(tmp_path / "report.html")).locator("body").inner_text()
    assert re.search(r"higher on a log scale: average \d", text)
    assert re.search(r"lower on a log scale: average \d", text)


@pytest.fixture(scope="module")
def yearly():
    """Clusters by size and speed; the year comes first in the tree."""
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "year": random.choice(np.arange(1952, 2008, 5), 400).astype(float),
            "size": random.uniform(0, 10, 400).round(2),
            "speed": random.uniform(0, 10, 400).round(2),
        }
    )
    builder = TreeBuilder(n_features=3)
    left, right = builder.split(0, feature=0, threshold=2003.0)
    builder.set_cluster(right, 0)
    low, high = builder.split(left, feature=1, threshold=5.0)
    slow, fast = builder.split(low, feature=2, threshold=5.0)
    for leaf, cluster in ((high, 1), (slow, 2), (fast, 3)):
        builder.set_cluster(leaf, cluster)
    return Explanation(builder.build(), names=list(table.columns)), table


@pytest.fixture(scope="module")
def yearly_file(yearly, tmp_path_factory):
    return write_report(tmp_path_factory.mktemp("report") / "r.html", *yearly)


def test_the_scatter_plot_starts_with_columns_that_separate_clusters(open_page, yearly_file):
    page = open_page(yearly_file)
    chosen = page.locator("#plot select").evaluate_all(
        "all => all.map(s => s.selectedOptions[0].text)"
    )
    assert chosen == ["size", "speed"]


def test_values_at_even_distances_have_a_bin_each(yearly):
    profile = Profile(NumberColumn("year", yearly[1]["year"].to_numpy()))
    assert profile.n_bins == 12
    assert min(profile.counts(np.zeros(400, dtype=int), 1)[0]) > 0


def test_a_row_is_described_at_the_pointer(open_page, yearly_file):
    page = open_page(yearly_file)
    assert not page.locator(".tooltip").is_visible()
    box = page.locator("#plot .plot").bounding_box()
    page.locator("#plot .plot").scroll_into_view_if_needed()
    for share in np.linspace(0.2, 0.8, 20):
        x, y = box["width"] * share, box["height"] * 0.5
        page.locator("#plot .plot").hover(position={"x": x, "y": y})
        if page.locator(".tooltip").is_visible():
            break
    text = page.locator(".tooltip").inner_text()
    assert re.search("(low|high) (size|speed)", text)
    assert {"size", "speed", "year"} <= set(re.findall(r"[a-z]+", text))


@pytest.fixture(scope="module")
def long_names():
    random = np.random.default_rng(0)
    names = ["Customer's yearly household income", "spent_money_on_wine_last_year"]
    table = pd.DataFrame(random.uniform(1000, 99_999, (300, 2)).round(), columns=names)
    builder = TreeBuilder(n_features=2)
    left, right = builder.split(0, feature=0, threshold=48_190.0)
    builder.set_cluster(left, 0)
    low, high = builder.split(right, feature=1, threshold=12_254.5)
    builder.set_cluster(low, 1), builder.set_cluster(high, 2)
    return Explanation(builder.build(), names=names), table


def test_numbers_of_questions_are_not_cut_on_a_phone(open_page, long_names, tmp_path):
    page = open_page(write_report(tmp_path / "r.html", *long_names), width=390)
    tails = page.locator(".node.split .text + .text")
    assert [t.replace("\u00a0", " ") for t in tails.all_inner_texts()] == [
        "≤ 48,190?",
        "≤ 12,254.5?",
    ]
    for tail in tails.all():
        assert tail.evaluate("e => e.scrollWidth <= e.clientWidth")
        inside, node = tail.bounding_box(), tail.locator("..").bounding_box()
        assert node["y"] <= inside["y"]
        assert inside["y"] + inside["height"] <= node["y"] + node["height"]


def test_texts_of_the_axes_do_not_overlap(open_page, tmp_path):
    random = np.random.default_rng(0)
    town = random.choice(["Copenhagen", "Reykjavik", "Stockholm", "Helsinki", "Trondheim"], 300)
    table = pd.DataFrame({"town": town, "size": random.uniform(1e7, 9e7, 300)})
    builder = TreeBuilder(n_features=1)
    left, right = builder.split(0, feature=0, threshold=5e7)
    builder.set_cluster(left, 0), builder.set_cluster(right, 1)
    model = Explanation(builder.build(), names=["size"], columns=["town", "size"])
    path = write_report(tmp_path / "r.html", model, table)
    for width in (390, 1280):
        page = open_page(path, width=width)
        for axes in (("town", "size"), ("size", "town")):
            page.get_by_label("Horizontal axis").select_option(label=axes[0])
            page.get_by_label("Vertical axis").select_option(label=axes[1])
            boxes = page.locator("#plot .plot text").evaluate_all(
                "all => all.map(e => { const b = e.getBoundingClientRect();"
                " return [b.left, b.right, b.top, b.bottom]; })"
            )
            assert len(boxes) > 6
            for i, (left, right, top, bottom) in enumerate(boxes):
                for other in boxes[:i]:
                    assert (
                        left >= other[1] - 1
                        or other[0] >= right - 1
                        or top >= other[3] - 3
                        or other[2] >= bottom - 3
                    )


def test_a_share_that_is_zero_is_not_called_small():
    values = np.append(np.zeros(997), np.ones(9)).astype(float)
    cluster = np.append(np.zeros(997), np.ones(9)).astype(int)
    inside, _ = Profile(NumberColumn("complained", values)).means(cluster, 2)
    assert inside.tolist() == [0.0, 1.0]


@pytest.mark.slow
def test_trees_of_low_agreement_are_left_out():
    X = np.random.default_rng(0).normal(size=(200, 3))
    html = report_html(ExKMC(6, n_leaves=24, random_state=0).fit(X), X)
    data = json.loads(re.search(r'id="payload">(.*?)</script>', html, re.S).group(1))
    agreements = [tree["measures"]["agreement"] for tree in data["trees"]]
    assert len(agreements) > 2
    assert min(agreements) >= 0.75


def test_the_cost_is_said_to_be_squared(open_page, file):
    assert "squared distances" in open_page(file).locator("#measures").inner_text()


def test_a_pasted_row_that_does_not_fit_says_what_to_paste(open_page, file):
    page = open_page(file)
    page.get_by_label("Or paste a row from a table").fill("1,2,3,4,5")
    text = page.locator("#row [role=status]").first.inner_text()
    assert text.startswith("Found 5 values. Paste the ")
    assert "or a whole row of 13 values" in text


def test_no_card_is_alone_beside_empty_space(open_page, tmp_path):
    from sklearn.datasets import make_blobs

    wanted = [(2, [2]), (4, [2, 2]), (5, [3, 2]), (7, [3, 2, 2])]
    for k, rows in [*wanted, (8, [3, 3, 2])] if EXTENDED else wanted:
        X, _ = make_blobs(60, 2, centers=k, random_state=k)
        model = IMM(k, random_state=0).fit(X)
        page = open_page(model.report(tmp_path / f"{k}.html", X, trade_off=None))
        boxes = page.locator(".card").evaluate_all(
            "all => all.map(e => { const b = e.getBoundingClientRect(); return [b.top, b.right]; })"
        )
        tops = [top for top, _ in boxes]
        assert len(boxes) == k
        assert [tops.count(top) for top in sorted(set(tops))] == rows
        right = [max(end for y, end in boxes if y == top) for top in set(tops)]
        assert max(right) - min(right) < 1


def test_texts_stay_inside_the_boxes_of_the_tree(open_page, tmp_path):
    names = ["measurement_053", "PercentageOfPopulationOlderThanSixtyFive", "cost per month in EUR"]
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)) * [1, 2, 3], columns=names)
    model = IMM(4, random_state=0).fit(X)
    page = open_page(model.report(tmp_path / "r.html", X, trade_off=None))
    outside = page.evaluate("""() => [...document.querySelectorAll('.node')].filter(node => {
      const box = node.getBoundingClientRect();
      return [...node.querySelectorAll('.text, .row-share')].some(text => {
        const { top, bottom } = text.getBoundingClientRect();
        return text.scrollHeight > text.clientHeight + 1 && text.clientHeight > 0
          || (bottom > top && (top < box.top - 1 || bottom > box.bottom + 1));
      });
    }).map(node => node.innerText)""")
    assert outside == []


def test_the_proven_bound_is_in_the_details(open_page, tmp_path):
    from sklearn.datasets import load_iris

    from pellucid import IMM

    X = load_iris().data
    model = IMM(3, random_state=0).fit(X)
    page = open_page(model.report(tmp_path / "r.html", X, trade_off=None))
    assert "more than 50.0 times (8Hk + 2" in page.locator(".guarantee").text_content()


def test_differences_are_those_on_the_scale_of_the_axis():
    import numpy as np

    from pellucid.report.columns import NumberColumn, Profile

    values = np.exp(np.random.default_rng(0).normal(0, 2.5, 400))
    cluster = (values > np.median(values)).astype(int)
    plain = Profile(NumberColumn("x", values))
    assert plain.axis.unit is not None
    logs = np.log1p(values / plain.axis.unit)
    expected = (logs[cluster == 1].mean() - logs[cluster == 0].mean()) / logs.std()
    found = plain.differences(cluster, 2)
    assert np.allclose(found, [-expected, expected])
    even = np.linspace(1, 1000, 400)
    assert Profile(NumberColumn("x", even)).axis.unit is None
    assert Profile(NumberColumn("x", even), is_log=True).axis.unit is not None
