"""Any clustering is explained as it is: its labels are the reference, fitted or not.

Models of Spark ML are in tests/scale/test_spark.py, which has a session of Spark.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import cluster, mixture
from sklearn.base import clone
from sklearn.datasets import load_iris

from pellucid import IMM

X = np.unique(load_iris().data, axis=0)[::2]


def imported(module: str) -> Any:
    return pytest.importorskip(module, reason=f"the package {module} is not installed")


SKLEARN = [
    cluster.KMeans(3, n_init=1, random_state=0),
    cluster.MiniBatchKMeans(3, n_init=1, random_state=0),
    cluster.BisectingKMeans(3, random_state=0),
    mixture.GaussianMixture(3, random_state=0),
    mixture.BayesianGaussianMixture(n_components=3, random_state=0, max_iter=500),
    cluster.HDBSCAN(min_cluster_size=8, copy=True),
    cluster.DBSCAN(eps=0.6),
    cluster.OPTICS(min_samples=8),
    cluster.AgglomerativeClustering(3),
    cluster.Birch(n_clusters=3),
    cluster.SpectralClustering(3, random_state=0),
    cluster.AffinityPropagation(preference=-80, random_state=0),
    cluster.MeanShift(bandwidth=1.5),
]

OTHERS: dict[str, Callable[[], Any]] = {
    "hdbscan.HDBSCAN": lambda: imported("hdbscan").HDBSCAN(min_cluster_size=8),
    "kmodes.KModes": lambda: imported("kmodes.kmodes").KModes(3, random_state=0, n_init=1),
    "dask_ml.KMeans": lambda: imported("dask_ml.cluster").KMeans(3, random_state=0),
}


def own_labels(fitted: Any) -> np.ndarray:
    labels = fitted.labels_ if hasattr(fitted, "labels_") else fitted.predict(X)
    return np.asarray(labels)


def check(reference: Any, labels: np.ndarray) -> None:
    """Every row has the label of the reference, and every cluster has a leaf."""
    model = IMM(reference=reference).fit(X)
    np.testing.assert_array_equal(model.reference_labels_, labels)
    assert model.tree_.n_leaves == len(np.unique(labels))


@pytest.mark.slow
@pytest.mark.parametrize("is_fitted", [True, False], ids=["fitted", "unfitted"])
@pytest.mark.parametrize("estimator", SKLEARN, ids=lambda each: type(each).__name__)
def test_clusterings_of_scikit_learn(estimator, is_fitted):
    fitted = clone(estimator).fit(X)
    check(fitted if is_fitted else clone(estimator), own_labels(fitted))


@pytest.mark.parametrize("is_fitted", [True, False], ids=["fitted", "unfitted"])
@pytest.mark.parametrize("name", OTHERS)
def test_clusterings_with_the_interface_of_scikit_learn(name, is_fitted):
    labels = own_labels(OTHERS[name]().fit(X))
    reference = OTHERS[name]()
    check(reference.fit(X) if is_fitted else reference, labels)


def test_fitted_kprototypes():
    """Its `fit` and `predict` ask for the positions of the categories."""
    prototypes = imported("kmodes.kprototypes").KPrototypes(3, random_state=0, n_init=1)
    table = np.column_stack([X, np.arange(len(X)) % 2])
    labels = prototypes.fit(table, categorical=[4]).labels_
    found = IMM(reference=prototypes).fit(table)
    np.testing.assert_array_equal(found.reference_labels_, labels)


def test_faiss():
    faiss = imported("faiss")
    kmeans = faiss.Kmeans(4, 3, seed=0)
    with pytest.raises(ValueError, match="no centroids; call its train"):
        IMM(reference=kmeans).fit(X)
    kmeans.train(X.astype(np.float32))
    check(kmeans, kmeans.assign(X.astype(np.float32))[1])
