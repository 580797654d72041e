"""What the methods of estimators do with a scan: the expected, or one error before the work."""

from __future__ import annotations

import numpy as np
import pytest

import pellucid
from pellucid import IMM, ExplainableKMeans, KMedoids, OptimalTree, XClusters, explain_clusters
from pellucid._utils.notices import InputError
from pellucid.baselines import CUBT, CARTExplainer

CENTERS = [[0.0, 0.0], [9.0, 0.0]]


@pytest.fixture
def calls():
    return []


@pytest.fixture
def data(calls):
    X = np.random.default_rng(0).normal(size=(100, 2)) + [[0, 0], [9, 0]] * 50

    def make():
        calls.append(None)
        return [X[:60], X[60:]]

    return pellucid.scan(make)


@pytest.mark.parametrize(
    "model", [IMM(reference=CENTERS), ExplainableKMeans(reference=CENTERS, effort="fast")]
)
def test_fit_predict(model, data):
    found = np.concatenate(list(model.fit_predict(data)))
    np.testing.assert_array_equal(found, np.concatenate(list(model.predict(data))))
    np.testing.assert_array_equal(found, [0, 1] * 50)


def test_fit_predict_looks_for_a_free_name_first(calls):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [0.0, 9.0], "cluster": ["x", "y"]})
    model = IMM(reference=[[0.0], [9.0]])
    with pytest.raises(InputError, match="already have a column 'cluster'"):
        model.fit_predict(pellucid.scan(lambda: [frame]))
    assert not hasattr(model, "tree_")


@pytest.mark.parametrize("name", ["transform", "score", "apply", "decision_path", "explain"])
def test_methods_that_need_rows(name, data):
    model = IMM(reference=CENTERS).fit(data)
    with pytest.raises(InputError, match="rows in memory are needed here, not a scan"):
        getattr(model, name)(data)
    explanation = pellucid.from_json(model.to_json())
    if hasattr(explanation, name) and name != "score":
        with pytest.raises(InputError, match="rows in memory are needed here, not a scan"):
            getattr(explanation, name)(data)


@pytest.mark.parametrize(
    "work",
    [
        lambda data: IMM(reference=CENTERS).fit_transform(data),
        lambda data: KMedoids(2).fit(data),
        lambda data: KMedoids(2, metric="cosine").fit_predict(data),
        lambda data: XClusters(2).fit(data),
        lambda data: explain_clusters(data, [0, 1] * 50),
        lambda data: OptimalTree(2).fit(data),
        lambda data: pellucid.EOPClassifier().fit(data, [0, 1] * 50),
        lambda data: CUBT(2).fit(data),
        lambda data: CARTExplainer(2).fit(data),
    ],
)
def test_refused_before_the_work(work, data, calls):
    calls.clear()
    with pytest.raises(ValueError, match=r"rows in memory.* scan"):
        work(data)
    assert not calls
