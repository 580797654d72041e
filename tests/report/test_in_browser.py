"""The page as a reader meets it."""

from __future__ import annotations

import json
import re
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from _support.browsers import ANSWERS, serious_faults
from _support.extended import EXTENDED
from pellucid import IMM, Explanation, ExShallow
from pellucid.report import write_report
from pellucid.report.trees import label_marks
from pellucid.tables.encoding import Encoding

HOSTILE = '</script><img src=x onerror="window.harmed=1"><b>'


@pytest.fixture(scope="module")
def wine():
    data = load_wine(as_frame=True).data.iloc[:, [0, 6, 9, 10, 12]]
    return (data / data.std()).round(3)


@pytest.fixture(scope="module")
def model(wine):
    return ExShallow(5, random_state=0).fit(wine)


@pytest.fixture(scope="module")
def file(model, wine, tmp_path_factory):
    return write_report(tmp_path_factory.mktemp("report") / "wine.html", model, wine, title="Wine")


@pytest.fixture(scope="module")
def shops():
    random = np.random.default_rng(0)
    town = random.choice(["Aa", "Bb", None, HOSTILE], 400)
    size = np.where(town == "Aa", 10.0, 50.0) + random.normal(size=400).round(3)
    return pd.DataFrame({HOSTILE: size, "town": town, "far": random.uniform(0, 9, 400).round(2)})


@pytest.fixture(scope="module")
def shops_explained(shops):
    encoding = Encoding.fit(shops)
    X = encoding.transform(shops) * [1, 60, 60, 60, 60, 8]
    model = IMM(6, random_state=0).fit(X)
    halves = np.where(np.isin(model.tree_.feature, [1, 2, 3, 4]), 0.5, model.tree_.threshold)
    halves = np.where(model.tree_.feature == 5, model.tree_.threshold / 8, halves)
    labels = [f"{HOSTILE}{i}" for i in range(6)]
    tree = model.tree_.replace(threshold=halves)
    return Explanation(tree, names=encoding.names, clusters=labels, columns=list(shops.columns))


@pytest.fixture(scope="module")
def hostile_file(shops, shops_explained, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "hostile.html"
    return write_report(path, shops_explained, shops, title=HOSTILE)


def test_explain_a_row_agrees_with_predict(open_page, file, model, wine):
    random = np.random.default_rng(1)
    mixed = pd.DataFrame({c: random.choice(wine[c], 100) for c in wine.columns})
    # Values on a threshold go to the left.
    for node in np.flatnonzero(~model.tree_.is_leaf):
        mixed.iloc[node, model.tree_.feature[node]] = model.tree_.threshold[node]
    rows = pd.concat([wine, mixed])
    found = open_page(file).evaluate(ANSWERS, rows.astype(str).to_dict("records"))
    assert found == [str(label) for label in model.predict(rows)]


def test_explain_a_row_agrees_on_categories(open_page, hostile_file, shops, shops_explained):
    asked = {str(name) for name in shops_explained.input_columns.encoding.input_names}
    assert "town" in asked
    shown = shops.assign(town=shops["town"].where(shops["town"].notna(), "missing")).astype(str)
    found = open_page(hostile_file).evaluate(ANSWERS, shown.to_dict("records"))
    assert found == shops_explained.predict(shops).tolist()


def test_names_and_values_from_the_data_are_only_text(open_page, hostile_file):
    page = open_page(hostile_file)
    assert page.evaluate("window.harmed") is None
    assert page.locator("main img, main b").count() == 0
    assert page.locator(".report-title").inner_text() == HOSTILE
    assert page.locator("h1").inner_text() == "6 clusters of 400 rows"
    assert page.locator(".cluster-label").first.inner_text() == f"{HOSTILE}0"


def test_what_would_have_to_change_leads_to_that_cluster(open_page, model, wine, tmp_path):
    unnamed = write_report(tmp_path / "r.html", model, wine, suggested_names=[""] * 5)
    page = open_page(unnamed)
    row = wine.iloc[[0]].copy()
    page.evaluate(ANSWERS, row.astype(str).to_dict("records"))
    lines = page.locator(".badge-list li").all_inner_texts()
    clusters = set()
    for line in lines:
        cluster, words = re.fullmatch(r"Cluster (\d+) (.*)", line.replace("\n", " ")).groups()
        changed = row.astype(float)
        for change in words.split(" and "):
            name, above, value = re.match(r"(\S+) (above )?(\S+)", change).groups()
            bound = float(value)
            changed[name] = np.nextafter(bound, np.inf) if above else bound
        assert str(model.predict(changed)[0]) == cluster
        clusters.add(cluster)
    assert clusters == {str(c) for c in range(5)} - {str(model.predict(row)[0])}


def test_the_slider_changes_tree_rules_and_measures(open_page, file):
    page = open_page(file)
    data = json.loads(page.locator("#payload").text_content())
    assert len(data["trees"]) > 2
    seen = set()
    slider = page.get_by_role("slider")
    for index, tree in enumerate(data["trees"]):
        slider.evaluate(
            "(s, i) => { s.value = i; s.dispatchEvent(new Event('input')); }", str(index)
        )
        rules = [text.replace("\u00a0", " ") for text in page.locator(".rule").all_inner_texts()]
        for position, text in enumerate(rules):
            assert all(rule["text"] in text for rule in tree["rules"][position])
        assert page.locator("[role=treeitem]").count() == len(tree["nodes"])
        assert f"{tree['measures']['conditions']:.2f}" in page.locator("#measures").inner_text()
        sql = tree["sql"]["standard"]
        labels = data["sqlDialects"]["standard"]["labels"]
        for mark, label in zip(label_marks(len(labels)), labels):
            sql = sql.replace(mark, label)
        assert page.locator("pre").nth(1).inner_text() == sql
        said = page.locator("#trade-off-text").inner_text()
        assert ("(your model)" in said) == (tree["kind"] is None) == (index == data["own"])
        seen.add("\n".join(rules))
    assert len(seen) == len(data["trees"])


# Texts above the slider wrap most on a phone.
@pytest.mark.parametrize("width", [390, 1280] if EXTENDED else [390])
def test_the_slider_stays_where_it_is(open_page, file, width):
    page = open_page(file, width=width)
    slider = page.get_by_role("slider")
    places = set()
    for _ in range(int(slider.get_attribute("max")) + 1):
        places.add(slider.evaluate("e => e.getBoundingClientRect().top + scrollY"))
        slider.press("ArrowLeft")
    slider.press("Home")
    places.add(slider.evaluate("e => e.getBoundingClientRect().top + scrollY"))
    assert slider.input_value() == "0"
    assert len(places) == 1
    page.get_by_role("button", name="Back to your model").click()
    assert page.evaluate("document.activeElement.id") == "trade-off"
    summary = page.locator(".summary span:not(.invisible)")
    assert summary.count() == 1
    text = summary.inner_text()
    assert text.startswith("This decision tree with 4 yes/no questions assigns ")


def test_a_card_lights_its_leaves(open_page, file, model):
    page = open_page(file)
    for cluster in range(5):
        page.locator(f"#card-{cluster} .size").hover()
        lit = page.locator(".node.leaf.highlighted").evaluate_all(
            "all => all.map(e => +e.dataset.node)"
        )
        assert lit == np.flatnonzero(model.tree_.cluster == cluster).tolist()
    page.mouse.move(0, 0)
    page.locator("#card-2 textarea").focus()
    assert page.locator(".node.leaf.highlighted").count() == 1


def test_names_are_kept_and_shown_everywhere(open_page, file):
    page = open_page(file)
    page.get_by_label("Name of cluster 1").fill("Strong <i>wines</i>")
    page.reload()
    assert page.get_by_label("Name of cluster 1").input_value() == "Strong <i>wines</i>"
    for part in ("#tree", "#plot", "#copy"):
        assert "Strong <i>wines</i>" in page.locator(part).inner_text()


def test_the_tree_is_walked_and_folded_by_keys(open_page, file, model):
    page = open_page(file)
    page.locator("[role=treeitem]").first.focus()
    page.keyboard.press("ArrowDown")
    now = "document.activeElement.dataset.node"
    assert page.evaluate(now) == "1"
    assert "reach this question" in page.locator(".detail").inner_text()
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(now) == "0"
    page.keyboard.press("Enter")
    assert page.locator("[role=treeitem]").count() == 1
    page.keyboard.press("ArrowRight")
    assert page.locator("[role=treeitem]").count() == model.tree_.node_count
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    cluster = model.tree_.cluster[-1]
    assert page.evaluate("document.activeElement.id") == f"card-{cluster}"


def test_pointing_at_the_tree_moves_nothing(open_page, file):
    page = open_page(file)
    before = page.evaluate("document.documentElement.scrollHeight")
    for node in page.locator(".node").all():
        node.hover()
        assert page.evaluate("document.documentElement.scrollHeight") == before


def test_a_pasted_row_is_taken_over(open_page, file, model, wine):
    page = open_page(file)
    box = page.get_by_label("Or paste a row from a table")
    for row in (3, 150):
        text = wine.iloc[[row]].to_csv(index=False)
        for pasted in (text, text.splitlines()[1], text.replace(",", "\t")):
            box.fill("")
            box.fill(pasted)
            assert (
                f"(label {model.predict(wine.iloc[[row]])[0]})"
                in page.locator(".verdict").text_content()
            )


def test_rules_and_sql_are_copied(open_page, file, model):
    page = open_page(file)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy SQL").click()
    assert page.evaluate("navigator.clipboard.readText()") == model.to_sql()
    page.context.clear_permissions()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_axe_finds_no_serious_fault(open_page, file, width, scheme):
    page = open_page(file, width=width, scheme=scheme)
    # A row that is explained, so that its path and the ways out are looked at, too.
    page.get_by_label("Start from").select_option("0")
    assert serious_faults(page) == []


# Widths between the same limits of the style sheet have the same layout.
@pytest.mark.parametrize("width", [320, 390, 768, 1600] if EXTENDED else [320, 768])
def test_nothing_is_wider_than_the_screen(open_page, hostile_file, file, width):
    for path in (file, hostile_file):
        page = open_page(path, width=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def _once_changed(page, expression, before, *, seconds=10):
    """What an expression gives as soon as it differs.

    Asked from here: Playwright's own waiting evaluates strings inside the page as soon as the
    first answer is no, and the page's policy forbids that.
    """
    end = time.monotonic() + seconds
    while (found := page.evaluate(expression)) == before and time.monotonic() < end:
        page.wait_for_timeout(20)
    return found


def test_colours_are_lighter_on_a_dark_page_and_light_ones_on_paper(open_page, tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 3))
    path = IMM(10, random_state=0).fit(X).report(tmp_path / "r.html", X, trade_off=None)
    color = "getComputedStyle(document.querySelector('#card-8 .cluster-label')).backgroundColor"
    page = open_page(path)
    light = page.evaluate(color)
    page.emulate_media(color_scheme="dark")
    dark = _once_changed(page, color, light)
    brightness = [sum(map(int, re.findall(r"\d+", value))) for value in (light, dark)]
    assert brightness[0] < brightness[1]
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(color) == light
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(color) == dark


def test_one_cluster_needs_no_question(open_page, tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 2))
    page = open_page(IMM(1, random_state=0).fit(X).report(tmp_path / "r.html"))
    summary = "All rows are in one cluster, so there is nothing to explain."
    assert page.locator(".summary").inner_text() == summary
    assert "(label 0)" in page.locator(".verdict").text_content()


def test_the_page_starts_with_a_real_row_and_highlights_nothing(open_page, hostile_file, file):
    for path in (file, hostile_file):
        page = open_page(path)
        assert page.locator(".tree.has-highlight").count() == 0
        assert page.locator(".verdict").count() == 1
        data = json.loads(page.locator("#payload").text_content())
        clusters = data["trees"][data["own"]]["clusters"]
        largest = max(clusters, key=lambda cluster: cluster["rows"])
        names = [column["name"] for column in data["columns"]]
        for field in page.locator(".fields .field").all():
            name = field.locator("span").text_content()
            control = field.locator("input, select")
            shown = control.evaluate("e => e.options ? e.selectedOptions[0].text : +e.value")
            wanted = largest["typical"][0][names.index(name)]
            assert shown == ("missing" if wanted is None else wanted)
        # Only a row that the reader enters is highlighted.
        page.get_by_label("Start from").select_option("0")
        assert page.locator(".tree.has-highlight").count() == 1


def test_without_typical_rows_the_form_is_empty(open_page, shops, shops_explained, tmp_path):
    page = open_page(write_report(tmp_path / "r.html", shops_explained, shops, n_typical=0))
    assert page.locator(".verdict").count() == 0
    values = page.locator(".fields input, .fields select").evaluate_all(
        "all => all.map(e => e.value)"
    )
    assert set(values) == {""}


def test_yes_is_above_no_for_numbers_and_categories(open_page, hostile_file):
    page = open_page(hostile_file)
    data = json.loads(page.locator("#payload").text_content())
    nodes = data["trees"][data["own"]]["nodes"]
    assert {"value" in node for node in nodes if "left" in node} == {True, False}
    tops = {
        int(node.get_attribute("data-node")): (
            node.bounding_box()["y"],
            node.locator(".answer").all_inner_texts(),
        )
        for node in page.locator(".node").all()
    }
    for node in nodes:
        if "left" in node:
            (_, upper), (_, lower) = sorted([tops[node["left"]], tops[node["right"]]])
            assert (upper, lower) == (["yes"], ["no"])
