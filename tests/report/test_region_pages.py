"""The page of a model of regions."""

from __future__ import annotations

import functools
import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, load_wine

from _support.browsers import ANSWERS, serious_faults
from _support.extended import EXTENDED
from pellucid import ATEOPClassifier, EOPClassifier, explain_clusters, from_json
from pellucid.report import report_html


@pytest.fixture(scope="module")
def wine_file(tmp_path_factory):
    """The page of a model of the wine data, made once."""

    @functools.cache
    def make(*kind):
        model, X = wine_model(*kind)
        return model.report(tmp_path_factory.mktemp("report") / "r.html", X)

    return make


@functools.cache
def wine_model(kind, base, shape, leftover):
    """A model of four columns of the wine data, which several tests use, and its rows."""
    wine = load_wine(as_frame=True)
    X = wine.data.iloc[:, [0, 6, 9, 12]]
    X = X.set_axis(["alcohol", "flavanoids", "colour", "proline"], axis=1)
    given = {"confidence": 0.9} if kind is ATEOPClassifier else {}  # the held-out rows are few
    model = kind(base, regions=shape, leftover=leftover, random_state=0, **given)
    return model.fit(X, wine.target_names[wine.target]), X


def payload(html):
    return json.loads(re.search(r'id="payload">(.*?)</script>', html, re.S).group(1))


@pytest.fixture(scope="module")
def iris():
    return load_iris(as_frame=True).data


@pytest.fixture(scope="module")
def classes():
    return np.repeat(["a", "b", "</script>"], 50)


@pytest.fixture(scope="module")
def regions_file(iris, tmp_path_factory):
    model = explain_clusters(iris, np.repeat([0, 1, 2], 50), base="stump").model
    path = tmp_path_factory.mktemp("report") / "regions.html"
    return model, model.report(path, iris, title="Iris", reference="the species")


def test_the_levels_are_told(regions_file, iris):
    model, path = regions_file
    data = payload(path.read_text(encoding="utf-8"))
    at = model.apply(iris)[:, 0]
    assert [level["answered"] for level in data["levels"]] == [
        int((at == i).sum()) for i in range(model.n_levels_)
    ]
    texts = [piece["text"] for level in data["levels"] for piece in level["pieces"]]
    assert texts == [piece.text for rule in model.explain()[:-1] for piece in rule.pieces]
    assert data["answered"] == (at >= 0).sum()
    assert data["rules"] == str(model.explain())


def test_what_is_said_of_a_class_is_true_of_its_rows(regions_file, iris):
    model, path = regions_file
    data = payload(path.read_text(encoding="utf-8"))
    found = model.predict(iris)
    for c, facts in enumerate(data["facts"]):
        assert facts["rows"] == (found == c).sum()
        for column, means in zip(data["columns"], facts["means"]):
            assert means[0] == pytest.approx(iris.loc[found == c, column["name"]].mean(), rel=1e-5)
    covered = sum(level.coverage for level in model.levels_)
    assert data["measures"]["coverage"] == pytest.approx(covered, rel=1e-5)


def test_sparse_rows_are_read_like_others(iris, classes):
    model = EOPClassifier("stump", random_state=0).fit(iris.to_numpy(), classes)
    wanted = report_html(model, iris.to_numpy())
    assert report_html(model, sparse.csr_array(iris.to_numpy())) == wanted


KINDS = [
    (EOPClassifier, "stump", "box", "majority"),
    (EOPClassifier, "linear_svm", "ellipse", "abstain"),
    (EOPClassifier, "logistic", "polyhedron", "majority"),
    (ATEOPClassifier, "linear_svm", "box", "abstain"),
]


@pytest.mark.parametrize(("kind", "base", "shape", "leftover"), KINDS)
def test_explain_a_row_agrees_with_predict(kind, base, shape, leftover, wine_file, open_page):
    model, X = wine_model(kind, base, shape, leftover)
    assert model.n_levels_ > 0
    page = open_page(wine_file(kind, base, shape, leftover))
    random = np.random.default_rng(0)
    mixed = pd.DataFrame({c: random.choice(X[c], 60) for c in X.columns})
    rows = pd.concat([X if EXTENDED else X[::3], mixed])
    found = page.evaluate(ANSWERS, rows.astype(str).to_dict("records"))
    wanted = np.where(model.abstained(rows), leftover == "majority", True)
    assert found == [str(label) if has else None for label, has in zip(model.predict(rows), wanted)]


@pytest.mark.parametrize(("kind", "base", "shape", "leftover"), KINDS[:3])
def test_what_would_have_to_change_leads_there(kind, base, shape, leftover, wine_file, open_page):
    model, X = wine_model(kind, base, shape, leftover)
    page = open_page(wine_file(kind, base, shape, leftover))
    n_ways = 0
    for i in (0, 70, 150):
        row = X.iloc[[i]]
        page.evaluate(ANSWERS, row.astype(str).to_dict("records"))
        for line in page.locator("#row .badge-list li").all_inner_texts():
            label, words = re.fullmatch(r"(\S+) (.*)", line).groups()
            changed = row.astype(float).copy()
            for change in words.split(" and "):
                name, above, value = re.match(r"(\S+) (above )?(\S+)", change).groups()
                changed[name] = np.nextafter(float(value), np.inf) if above else float(value)
            assert model.predict(changed)[0] == label
            n_ways += 1
    assert n_ways >= 3


@pytest.mark.filterwarnings("ignore:no region was found")
def test_a_model_without_regions_says_so(tmp_path, open_page):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 3)), random.integers(0, 2, 200)
    model = EOPClassifier("stump", relax=False, max_error=0.0, min_support=0.5, random_state=0).fit(
        X, y
    )
    assert model.n_levels_ == 0
    page = open_page(model.report(tmp_path / "r.html"))
    text = page.locator(".summary").inner_text()
    assert text.startswith("No region separates the classes")
    assert f"(label {model.predict(X[:1])[0]})" in page.locator(".verdict").text_content()


def test_neighbours_among_training_rows_are_not_guessed(iris, classes, tmp_path, open_page):
    model = EOPClassifier("knn", regions="nonparametric", random_state=0).fit(iris, classes)
    page = open_page(model.report(tmp_path / "r.html", iris))
    page.get_by_label("Start from").select_option("0")
    assert "This page cannot assign the row" in page.locator(".result").inner_text()


@pytest.mark.parametrize("shape", ["polyhedron", "ellipse", "nonparametric"])
def test_regions_of_any_shape_are_drawn(shape, iris, classes, tmp_path, open_page):
    model = EOPClassifier("linear_svm", regions=shape, random_state=0, max_levels=2)
    model.fit(iris.iloc[:, :2], classes)
    path = model.report(tmp_path / "r.html", iris.iloc[:, :2])
    drawn = open_page(path).locator(".region").count()
    levels = payload(path.read_text(encoding="utf-8"))["levels"]
    wanted = sum(len(level["outlines"]) for level in levels)
    assert drawn == wanted
    assert wanted > 0 or shape == "nonparametric"


@pytest.mark.parametrize("shape", ["ellipse", "nonparametric"])
def test_what_is_shaded_is_what_is_said_there(shape, iris, classes):
    model = EOPClassifier("linear_svm", regions=shape, random_state=0).fit(iris, classes)
    data = payload(report_html(model, iris))
    first = data["levels"][0]
    if first["shades"] is None:
        assert shape == "ellipse"
        return
    (left, right), *upwards = first["window"]
    cells = [np.repeat(runs[::2], runs[1::2]) for runs in first["shades"]]
    level = model.levels_[0]
    for row, answers in enumerate(cells):
        x = left + (np.arange(len(answers)) + 0.5) * (right - left) / len(answers)
        P = [x]
        for low, high in upwards:
            P.append(np.full(len(x), low + (row + 0.5) * (high - low) / len(cells)))
        P = np.column_stack(P)
        inside = level.regions.which(P) >= 0
        wanted = np.where(inside, level.classifier.predict(P), -1)
        # The ends of the window are written with six digits, which may move a cell on a border.
        assert np.mean(wanted != answers) < 0.05


def test_names_are_kept_and_shown_everywhere(open_page, regions_file):
    page = open_page(regions_file[1])
    page.get_by_label("Name of cluster 1").fill("Versicolor <b>")
    page.reload()
    assert page.get_by_label("Name of cluster 1").input_value() == "Versicolor <b>"
    assert "Versicolor <b>" in page.locator(".legend").first.inner_text()
    assert "Versicolor <b>" in page.locator(".two-columns.level .badge-list").first.inner_text()


def test_a_card_lights_its_regions_and_a_row_is_marked(open_page, regions_file):
    page = open_page(regions_file[1])
    page.locator("#card-0 .size").hover()
    assert page.locator(".row-markers.dimmed").count() > 0
    page.mouse.move(0, 0)
    assert page.locator(".row-markers.dimmed").count() == 0
    page.get_by_label("Start from").select_option("0")
    assert page.locator(".entered-row").count() >= 1


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_the_page_is_sound_in_a_browser(open_page, regions_file, width, scheme):
    page = open_page(regions_file[1], width=width, scheme=scheme)
    page.get_by_label("Start from").select_option("0")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # Texts have the colours of pages of trees, whose contrasts are looked at in both schemes.
    assert serious_faults(page, contrast=scheme == "dark" or EXTENDED) == []


def test_zoom_comparison_names_and_downloads_of_regions(open_page, regions_file, iris):
    model, path = regions_file
    page = open_page(path)
    ticks = page.locator("#level-1 svg .tick text")
    before = ticks.all_inner_texts()
    page.locator("#level-1").get_by_role("button", name="Zoom in").click()
    assert ticks.all_inner_texts() != before
    page.locator("#level-1").get_by_role("button", name="Reset zoom").click()
    assert ticks.all_inner_texts() == before
    assert page.locator("#compare .differences li").count() > 0
    page.get_by_label("Name of cluster 0").fill("small flowers")
    assert "'small flowers'" in page.locator("#copy pre").nth(1).inner_text()
    assert page.locator("#copy select option").count() == 9
    with page.expect_download() as saved:
        page.get_by_role("button", name="Model with these names (JSON)").click()
    found = from_json(saved.value.path().read_text(encoding="utf-8")).predict(iris)
    names = np.array(["small flowers", "Cluster 1", "Cluster 2"], dtype=object)
    assert found.tolist() == names[model.predict(iris)].tolist()
    page.locator("#card-0 .picture-choice select").select_option(index=1)
    with page.expect_download() as saved:
        page.locator("#card-0 .picture-choice").get_by_role("button", name="SVG").click()
    assert saved.value.suggested_filename.startswith("regions-cluster-0-")


def test_copied_rules_of_a_german_page_have_decimal_commas(regions_file, iris, tmp_path, open_page):
    model, _ = regions_file
    page = open_page(model.report(tmp_path / "r.html", iris, language="de"))
    copied = page.locator("#copy pre").first.inner_text()
    assert re.search(r"[≤>] \d+,\d", copied)
    assert not re.search(r"[≤>] \d+\.\d", copied)


def test_what_explain_clusters_returns_has_a_report(iris, tmp_path):
    table = iris.assign(size=np.where(iris.iloc[:, 2] < 2.5, "small", "large"))
    labels = np.where(iris.iloc[:, 2] < 2.5, "a", np.where(iris.iloc[:, 3] < 1.7, "b", "c"))
    for data in (iris, table):
        found = explain_clusters(data, labels)
        text = found.report(tmp_path / "r.html", data).read_text(encoding="utf-8")
        page = payload(text)
        assert page["reference"] == "the given clusters"
        assert [cluster["label"] for cluster in page["clusters"]] == ["a", "b", "c"]
        pieces = [piece["text"] for level in page["levels"] for piece in level["pieces"]]
        regions = [region for cluster in found for region in cluster.regions]
        assert sorted(pieces) == sorted(region.text for region in regions)
        assert "CASE" in page["sql"]["standard"]
    assert "size is small" in {column["name"] for column in page["columns"]}


def test_noise_is_left_out_and_dates_are_dates(tmp_path):
    random = np.random.default_rng(0)
    day = pd.Timestamp("2022-01-01") + pd.to_timedelta(random.integers(0, 300, 200), "D")
    table = pd.DataFrame({"day": day, "x": random.normal(size=200)})
    labels = np.where(np.arange(200) % 4 == 0, -1, day > "2022-06-30")
    found = explain_clusters(table, labels)
    page = payload(found.report(tmp_path / "r.html", table).read_text(encoding="utf-8"))
    assert page["warnings"][0].startswith("50 of 200 rows have the label -1 (noise)")
    assert page["rows"] == sum(fact["rows"] for fact in page["facts"]) == 150
    assert page["answered"] <= 150
    assert page["table"]["dropped"] == [{"reason": "noise", "rows": 50}]
    column = next(column for column in page["columns"] if column["name"] == "day")
    assert column["format"]["kind"] == "date"
    assert "day ≤ 2022-06-" in page["rules"]
    german = report_html(found, table, language="de")
    assert "50 von 200 Zeilen haben das Label -1 (Rauschen)" in german


def test_the_first_screen_has_a_sentence_per_cluster(open_page, regions_file):
    _, path = regions_file
    sentences = open_page(path).locator(".page-header .sentences li").all_text_contents()
    assert len(sentences) == 3
    for text in sentences:
        assert re.search(r"Cluster \d 50 rows \(33\.3%\): level \d: \w", text), text


def test_a_sentence_counts_the_rows_in_no_region(open_page, tmp_path):
    random = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 150)
    table = pd.DataFrame({name: random.normal(size=300) + 1.5 * (y == "b") for name in "xz"})
    model = EOPClassifier(base="stump", max_error=0.05, calibration=0).fit(table, y)
    n_outside = np.sum(model.apply(table)[:, 0] < 0)
    assert 0 < n_outside < 300
    page = open_page(model.report(tmp_path / "r.html", table))
    sentences = page.locator(".page-header .sentences li").all_text_contents()
    found = [text for text in sentences if "in no region" in text]
    assert len(found) == 1
    assert found[0].endswith(f", and {n_outside} rows in no region")
