"""Integer weights equal copies of rows, and the order of the rows does not matter."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data

from _support.extended import seeds
from pellucid import XClusters
from pellucid.tables.frames import Columns
from pellucid.xclusters import pairwise
from pellucid.xclusters.rows import GivenDistances, RowGroups

TIMES = [f"t{i}" for i in range(4)]


def table(seed: int, n: int = 30) -> pd.DataFrame:
    """Rows with many ties and repetitions; categories and numbers explain them."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.integers(0, 3, size=(n, 4)).astype(float), columns=TIMES)
    return frame.assign(age=random.integers(20, 24, n), sex=random.choice(["f", "m"], n))


def describe(model: XClusters) -> tuple:
    tree = model.tree_
    splits = [array[tree.feature >= 0].tolist() for array in (tree.feature, tree.threshold)]
    return *splits, model.best_k_, model.best_alpha_, model.accuracy_, model.distortion_


@pytest.mark.parametrize("distance", ["euclidean", "dtw"])
def test_scikit_learn_finds_weights_equal_to_copies(distance):
    model = XClusters(k_range=(2, 4), accuracy_distance=distance)
    check_sample_weight_equivalence_on_dense_data("XClusters", model)


@pytest.mark.parametrize("seed", seeds(6))
@pytest.mark.parametrize("clusterer", ["kmedoids", "average"])
def test_weights_equal_copies_in_any_order(seed, clusterer):
    if clusterer == "average":
        clusterer = AgglomerativeClustering(metric="precomputed", linkage="average")
    frame, random = table(seed), np.random.default_rng(seed)
    weight = random.integers(0, 4, len(frame))
    rows = random.permutation(np.repeat(np.arange(len(frame)), weight))
    options = {"k_range": (2, 5), "alpha_step": 0.5, "clusterer": clusterer}
    one = XClusters("t*", **options).fit(frame, sample_weight=weight)
    other = XClusters("t*", **options).fit(frame.iloc[rows].reset_index(drop=True))
    assert describe(one) == describe(other)
    np.testing.assert_array_equal(one.labels_[rows], other.labels_)
    np.testing.assert_array_equal(
        frame[TIMES].to_numpy()[one.medoid_indices_],
        frame[TIMES].to_numpy()[rows[other.medoid_indices_]],
    )
    assert one.tree_.n_node_samples[0] == np.count_nonzero(weight)
    assert other.tree_.n_node_samples[0] == weight.sum()
    assert one.tree_.weighted_n_node_samples[0] == weight.sum()


@pytest.mark.parametrize("seed", range(3))
def test_matrices_and_series_in_any_order(seed):
    frame, random = table(seed), np.random.default_rng(seed)
    series = [row[: random.integers(2, 5)] for row in frame[TIMES].to_numpy()]
    who = frame[["age", "sex"]]
    rows = random.permutation(np.repeat(np.arange(len(frame)), 2))
    options = {"k_range": (2, 4), "alpha_step": 0.5}
    repeated = [series[row] for row in rows], who.iloc[rows]
    for distance in ("dtw", "precomputed"):
        data = [
            pairwise(of, "dtw") if distance == "precomputed" else of for of in (series, repeated[0])
        ]
        model = XClusters(accuracy_distance=distance, **options)
        one = describe(model.fit(data[0], explanation=who, sample_weight=np.full(30, 2)))
        assert one == describe(model.fit(data[1], explanation=repeated[1]))


def test_more_clusters_than_distinct_rows():
    X = np.repeat([[0.0], [5.0], [9.0]], 5, axis=0)
    model = XClusters(k_range=(2, 8)).fit(X)
    assert model.best_k_ >= 2
    assert len(model.medoid_indices_) <= 3
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_rows_are_identical_if_all_parts_are():
    values = np.array([[2.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 0.0]])
    names = Columns.of(pd.DataFrame({"name": ["b", None, "b", "a"]}))
    weight = np.array([0.1, 0.2, 0.3, 0.4])
    found = RowGroups.of([values, names], np.arange(4), weight)
    assert sorted(found.first.tolist()) == [0, 1, 3]
    assert found.first[found.group].tolist() == [0, 1, 0, 3]
    assert found.weight[found.group].tolist() == [0.1 + 0.3, 0.2, 0.1 + 0.3, 0.4]


def test_large_distances_are_refused():
    X = np.array([[0.0, 1e200], [1e200, 0.0]])
    model = XClusters(k_range=(1, 2), accuracy_distance="precomputed")
    with pytest.raises(ValueError, match=r"X contains 1e\+200: distances of more than 1e\+100"):
        model.fit(X, explanation=[[0.0], [1.0]])


def test_equal_sets_of_distances_do_not_make_rows_identical():
    x = np.array([0.0, 1.0, 10.0, 11.0, 0.0])
    matrix = np.abs(x[:, None] - x)
    found = RowGroups.of([GivenDistances(matrix)], np.arange(5), np.ones(5))
    assert sorted(found.first.tolist()) == [0, 1, 2, 3]
    assert found.group[0] == found.group[4]
