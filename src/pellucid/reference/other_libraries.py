"""References of libraries that do not have scikit-learn's interface: faiss and Spark ML."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def read_other_library(reference: Any, X: Any) -> tuple[np.ndarray, np.ndarray | None] | None:
    """Labels of the rows and centers of a fitted clustering; None for all other objects.

    Parameters
    ----------
    reference : object
        A ``faiss.Kmeans``, or a model of ``pyspark.ml.clustering``.
    X : ndarray or sparse matrix of shape (n_samples, n_features)
    """
    library = type(reference).__module__.partition(".")[0]
    if library not in ("faiss", "pyspark"):
        return None
    rows = X.toarray() if sparse.issparse(X) else X
    return (_read_faiss if library == "faiss" else _read_spark)(reference, rows)


def _read_faiss(reference: Any, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    if getattr(reference, "centroids", None) is None:
        raise ValueError(
            "the reference has no centroids; call its train(X) first, or pass an array of centers"
        )
    _, labels = reference.assign(np.ascontiguousarray(rows, dtype=np.float32))
    return np.asarray(labels).astype(np.intp), np.asarray(reference.centroids, dtype=np.float64)


def _read_spark(reference: Any, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    if not hasattr(reference, "predict"):
        raise ValueError(
            f"the reference {type(reference).__name__} of Spark is not a fitted model; pass "
            "reference.fit(frame), or the labels as y"
        )
    from pyspark.ml.linalg import Vectors

    labels = np.array([reference.predict(Vectors.dense(row)) for row in rows], dtype=np.intp)
    centers = getattr(reference, "clusterCenters", None)
    return labels, None if centers is None else np.array(centers(), dtype=np.float64)
