"""k-means of a scan."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans as InMemory
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks

import pellucid
from _support.fitting import assert_same_tree
from pellucid import IMM
from pellucid.scale import KMeans, references


@pytest.mark.slow
@parametrize_with_checks([KMeans(n_init=1), KMeans(2, max_iter=1)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    return make_blobs(3000, 3, centers=5, cluster_std=2.0, random_state=0)[0]


def lloyd(X, centers, weight, n_passes):
    """The algorithm as it is written."""
    for _ in range(n_passes):
        nearest = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        centers = np.array(
            [np.average(X[nearest == c], axis=0, weights=weight[nearest == c]) for c in range(5)]
        )
    return centers


@pytest.mark.parametrize("is_weighted", [False, True])
def test_passes_are_those_of_lloyd(rows, is_weighted):
    pl = pytest.importorskip("polars")
    weight = np.arange(len(rows)) % 4 if is_weighted else np.ones(len(rows))
    frame = pl.DataFrame(rows).with_columns(w=pl.Series(weight))
    parts = [frame[:100], frame[100:1100], frame[1100:]]
    data = pellucid.scan(lambda: parts, weight="w")
    model = KMeans(5, init=rows[:5], max_iter=3).fit(data)
    np.testing.assert_allclose(model.cluster_centers_, lloyd(rows, rows[:5], weight, 3), rtol=1e-12)
    assert model.n_iter_ == 3
    other = KMeans(5, init=rows[:5], max_iter=3).fit(
        pellucid.scan(lambda: [frame[::-1]], weight="w")
    )
    assert (model.cluster_centers_ == other.cluster_centers_).all()


def test_trees_cluster_a_scan_in_the_same_way(rows):
    data = pellucid.scan(lambda: [rows])
    kmeans = KMeans(5, random_state=0).fit(data)
    found = IMM(5, random_state=0).fit(data)
    assert (found.reference_centers_ == kmeans.cluster_centers_).all()
    assert_same_tree(found, IMM(reference=kmeans).fit(data))


def test_passes_improve_the_centers_of_a_sample(rows, monkeypatch):
    monkeypatch.setattr(references, "_SAMPLE_ROWS", 60)  # as if rows were many
    parts = np.array_split(rows, 10)

    def cost(n_passes):
        data = pellucid.scan(lambda: parts)
        model = KMeans(5, max_iter=n_passes, random_state=0).fit(data)
        return (model.transform(data.named(rows)).min(axis=1) ** 2).sum()

    costs = [cost(n_passes) for n_passes in (0, 1, 20)]
    assert costs[0] > costs[1] > costs[2]
    best = InMemory(5, n_init=10, random_state=0).fit(rows).inertia_
    assert costs[2] == pytest.approx(best, rel=0.01)


def test_errors(rows):
    data = pellucid.scan(lambda: [rows])
    with pytest.raises(ValueError, match=r"first centers \(init=\) have the shape \(2, 2\)"):
        KMeans(2, init=np.zeros((2, 2))).fit(data)
    with pytest.raises(ValueError, match="n_clusters=3, but init has 2 centers"):
        KMeans(3, init=np.zeros((2, 3))).fit(data)
    with pytest.raises(ValueError, match="n_clusters=9000 is more than n_samples=3000"):
        KMeans(9000).fit(data)
    with pytest.raises(ValueError, match="rows in memory are needed here, not a scan"):
        KMeans(2, random_state=0).fit(data).predict(data)
