"""Explanations agree with the predictions, as text and as data."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import load_iris, make_blobs

from _support.extended import EXTENDED
from pellucid import EOPClassifier, explain_clusters, from_json
from pellucid.explanation.region_list import RegionList
from pellucid.tables.column_formats import ColumnFormat

USUAL = {
    ("stump", "box"),
    ("stump", "ellipse"),
    ("linear_svm", "polyhedron"),
    ("knn", "nonparametric"),
}
"""Each base classifier and each kind of regions; all pairs are tested in the extended run."""

rarely = pytest.mark.skipif(not EXTENDED, reason="other pairs are tested")


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    return data.data, data.target_names[data.target]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base", "regions"),
    [
        pytest.param(base, regions, marks=() if (base, regions) in USUAL else rarely)
        for base in ("stump", "linear_svm", "knn")
        for regions in ("box", "nonparametric", "polyhedron", "ellipse")
    ],
)
def test_every_prediction_is_explained(iris, base, regions):
    X, y = iris
    model = EOPClassifier(base, regions=regions, random_state=0).fit(X, y)
    explanations = model.explain(X)
    answers, where = model.predict(X), model.apply(X)
    for row, explanation in enumerate(explanations):
        assert explanation.row == row
        assert explanation.answer == answers[row]
        assert (explanation.level, explanation.region) == tuple(where[row])
        assert explanation.abstained == (where[row, 0] < 0)
        if explanation.abstained:
            continue
        level = model.levels_[explanation.level]
        assert explanation.names == tuple(X.columns[list(level.features)])
        assert explanation.values == tuple(X.iloc[row, list(level.features)])
        if regions in ("box", "nonparametric"):
            for name, value in zip(explanation.names, explanation.values):
                low, high = explanation.bounds[name]
                assert low <= value <= high or regions == "nonparametric"
                assert low < high or regions == "nonparametric"
        counts = level.counts[explanation.region, list(model.classes_).index(explanation.answer)]
        assert explanation.support == counts.sum()
        if counts.sum():
            share = counts[list(model.classes_).index(explanation.answer)] / counts.sum()
            assert explanation.purity == pytest.approx(share)
        data = explanation.to_dict()
        assert data["answer"] == answers[row]
        assert data["text"] in str(explanation)
        assert f"row {row}: class {answers[row]} because " in str(explanation)


def test_bounds_of_stumps_in_boxes_determine_the_prediction(iris):
    X, y = iris
    model = EOPClassifier("stump", random_state=0).fit(X, y)
    answers, where = model.predict(X), model.apply(X)
    pieces = [piece for rule in model.explain()[:-1] for piece in rule.pieces]
    for piece in pieces:
        assert piece.condition == ""
        reach = np.isin(np.arange(len(X)), model.levels_[piece.level].reached)
        inside = reach.copy()
        for name, (low, high) in piece.bounds.items():
            inside &= (X[name] > low) & (X[name] <= high)
        in_region = (where[:, 0] == piece.level) & (where[:, 1] == piece.region)
        assert (inside == (in_region & (answers == piece.answer))).all()
        assert piece.support == inside.sum()
        assert piece.purity == pytest.approx((y[inside] == piece.answer).mean())
    assert sum(piece.share for piece in pieces) == pytest.approx(model.coverage_)


def test_levels_as_text(iris):
    X, y = iris
    model = EOPClassifier("stump", random_state=0).fit(X, y)
    lines = str(model.explain()).splitlines()
    assert lines[0].startswith("level 1, petal length (cm): 63.3% of the rows, 0.0% wrong (held")
    assert lines[1] == "    petal length (cm) ≤ 2: setosa (50 rows, 100.0% of them setosa)"
    assert lines[-1].startswith("in no region: versicolor (1.3% of the rows, ")
    plain = EOPClassifier("stump", random_state=0).fit(X.to_numpy(), y)
    assert "x2 ≤ 2: setosa" in str(plain.explain())
    mixed = EOPClassifier("linear_svm", regions="nonparametric", random_state=0).fit(X, y)
    assert "\n        where the linear classifier predicts setosa: setosa (" in str(mixed.explain())


def test_clusters_are_described_by_regions():
    X, y = make_blobs(400, 4, centers=5, random_state=1)
    found = explain_clusters(X, y)
    assert [description.cluster for description in found] == [0, 1, 2, 3, 4]
    for cluster in found:
        assert cluster.n_samples == (y == cluster.cluster).sum()
        assert cluster.coverage > 0.9
        assert sum(region.support for region in cluster.regions) >= 0.9 * cluster.n_samples
        assert str(cluster).startswith(f"cluster {cluster.cluster} ({cluster.n_samples} rows")
    assert str(found).count("cluster ") == 5
    assert found.model.score(X, y) > 0.95


def test_clusters_of_a_fitted_clusterer_and_noise():
    X, _ = make_blobs(300, 2, centers=3, cluster_std=0.7, random_state=0)
    X = np.vstack([X, [[50.0, 50.0], [-50.0, 60.0]]])
    kmeans = KMeans(3, n_init=2, random_state=0).fit(X)
    assert str(explain_clusters(X, kmeans)) == str(explain_clusters(X, kmeans.labels_))
    dense = DBSCAN(eps=0.8).fit(X)
    assert (dense.labels_ == -1).any()
    names = [description.cluster for description in explain_clusters(X, dense)]
    assert names == sorted(set(dense.labels_) - {-1})
    with_noise = explain_clusters(X, [*y_strings(dense.labels_[:-1]), "far"], noise="group")
    assert "far" in [description.cluster for description in with_noise]
    with pytest.raises(ValueError, match="noise='out' must be 'background' or 'cluster'"):
        explain_clusters(X, dense, noise="out")
    with pytest.raises(ValueError, match="every label is -1"):
        explain_clusters(X, np.full(len(X), -1))


def y_strings(labels):
    return [f"c{label}" for label in labels]


def test_weights_count_in_clusters():
    X, y = make_blobs(200, 2, centers=2, random_state=3)
    weight = np.where(np.arange(200) % 2, 3.0, 1.0)
    found = explain_clusters(X, y, sample_weight=weight, regions="ellipse", base="linear_svm")
    total = sum(region.support for cluster in found for region in cluster.regions)
    assert total <= weight.sum()
    assert total > 200


def test_one_number_is_the_weight_of_all_rows():
    X, y = make_blobs(60, 2, centers=2, random_state=3)
    y[:4] = -1
    for noise in ("drop", "group"):
        one, each = (explain_clusters(X, y, noise=noise, sample_weight=w) for w in (3, [3.0] * 60))
        assert str(one) == str(each)
    model = one.model
    assert list(model.staged_score(X, y, 3)) == list(model.staged_score(X, y))
    few = EOPClassifier("stump", max_error=0.1)
    stable = [few.stability(X, y, n_seeds=2, sample_weight=w).accuracy for w in (3, None)]
    assert stable[0] == stable[1]


@pytest.mark.parametrize("weight", [[1.0, 2.0], np.ones((60, 1)), -1.0])
def test_wrong_weights_of_clusters_are_named(weight):
    X, y = make_blobs(60, 2, centers=2, random_state=3)
    y[:4] = -1
    model = EOPClassifier("stump", max_error=0.1).fit(X, y)
    for call in (
        lambda: explain_clusters(X, y, sample_weight=weight),
        lambda: list(model.staged_score(X, y, weight)),
        lambda: model.stability(X, y, n_seeds=1, sample_weight=weight),
    ):
        with pytest.raises(ValueError, match="sample_weight"):
            call()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        explain_clusters(X, y[:50], sample_weight=1.0)


def shop(n=240) -> tuple[pd.DataFrame, np.ndarray]:
    """A table with dates, and clusters that depend on them."""
    random = np.random.default_rng(3)
    day = np.datetime64("2022-01-01") + random.integers(0, 400, n)
    table = pd.DataFrame({"day": day.astype("datetime64[s]"), "price": random.normal(50, 9, n)})
    table["cylinders"] = random.choice([4, 6, 8], n)
    late = day > np.datetime64("2022-08-15")
    return table, np.where(late, "late", np.where(table["cylinders"] == 6, "six", "other"))


FORMATS = {
    "price": ColumnFormat(prefix="$"),
    "cylinders": ColumnFormat("integer", values=(4, 6, 8)),
}


def test_dates_units_and_integers_are_written_as_in_trees():
    table, labels = shop()
    found = explain_clusters(table, labels, formats=FORMATS)
    regions = RegionList.of(found)
    texts = [
        str(found),
        str(found.model.explain()),
        "\n".join(regions.to_frame(kind="dict")["rule"]),
        "\n".join(regions.describe(table)),
        "\n".join(from_json(regions.to_json()).describe(table)),
        str(found.model.explain(found.encoding.transform(days_of(table)))),
    ]
    for text in texts:
        assert "day > 2022-08-15" in text
        assert "cylinders = 6" in text
        assert not re.search(r"day [≤>] \d{5}", text)
    assert regions.predict(table).tolist() == labels.tolist()
    expression = regions.to_sql()
    assert "\"day\" > DATE '2022-08-15'" in expression


def days_of(table: pd.DataFrame) -> pd.DataFrame:
    days = (table["day"] - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    return table.assign(day=days)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("polyhedron", r"2022-\d\d-\d\d ≤ day ≤ 202\d-\d\d-\d\d"),
        ("ellipse", r"day = 2022-\d\d-\d\d ± \d+ days"),
    ],
)
def test_dates_and_units_of_other_shapes(shape, expected):
    table, _ = shop()
    labels = np.where((table["day"].dt.day_of_year > 150) & (table["price"] > 50), "a", "b")
    text = str(explain_clusters(table, labels, formats=FORMATS, regions=shape))
    assert re.search(expected, text)
    assert re.search(r"\$\d", text)


@pytest.mark.slow
def test_noise_rows_are_counted_apart():
    X, y = make_blobs(300, 3, centers=3, random_state=2)
    labels = np.where(np.arange(300) % 5 == 0, -1, y)
    found = explain_clusters(X, labels)
    noise = labels == -1
    place, cluster = found.model.apply(X), found.model.predict(X)
    for description in found:
        for region in description.regions:
            here = (place == [region.level, region.region]).all(axis=1)
            here &= cluster == region.answer
            assert region.n_noise == (here & noise).sum()
            assert region.support == (here & ~noise).sum()
    inside = int((noise & (place[:, 0] >= 0)).sum())
    assert inside
    note = (
        "60 of 300 rows have the label -1 (noise) and are counted in no size, share or purity; "
        f"{inside} of them lie in a region"
    )
    assert str(found).endswith(note)
    assert str(found.rename_clusters({0: "zero"})).endswith(note)
    assert "not counting" in str(found[0])
    assert "noise" not in str(explain_clusters(X, labels, noise="group"))
    assert "noise" not in str(explain_clusters(X, y))
