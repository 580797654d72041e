"""The clustering that is explained: its centers, its labels, and the names of its clusters.

An estimator is explained by its own `labels_` or `predict`, and its columns are compared as
scikit-learn does. The nearest center is used only for a bare array of centers.
"""

from __future__ import annotations

import inspect
import warnings
from copy import copy
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from pellucid._core.data.dataset import Dataset
from pellucid._core.data.medians import MedianDataset
from pellucid._utils.estimators import is_background
from pellucid._utils.numeric_domain import refuse_large
from pellucid.reference.kmedians import cluster_by_medians
from pellucid.tables.frames import as_category, as_table

DEFAULT_N_CLUSTERS = 8  # default number of clusters, the same as in scikit-learn's KMeans
NOISE = -1  # label of rows in no cluster, as in scikit-learn


@dataclass(frozen=True)
class Reference:
    """A reference clustering; labels are positions in `centers`, or -1 for rows left out."""

    centers: np.ndarray
    labels: np.ndarray
    names: list[Any]


def find_reference(
    reference: Any,
    data: Dataset,
    *,
    y: Any = None,
    n_clusters: int | None,
    random_state: Any,
    noise: str = "group",
    original_X: Any = None,
) -> Reference:
    """The clustering to explain, from the parameters of an estimator and of its `fit`.

    The class of `data` defines the cost of a row. `original_X` are the data as given, for
    estimators that know column names. Raises `OutOfDomain` if a number is not in the domain.
    """
    if y is not None:
        if reference is not None:
            raise ValueError(
                "two clusterings to explain were given, labels as y and `reference`; use "
                "fit(X, y) with reference=None, or fit(X)"
            )
        return _from_given_labels("y", np.asarray(y), data, noise)
    if reference is None:
        data.require_domain()
        k = DEFAULT_N_CLUSTERS if n_clusters is None else n_clusters
        return _default_reference(data, k, random_state)
    if (labeled := read_other_library(reference, data.X)) is not None:
        data.require_domain()
        found = _from_labeled_rows(*labeled, data, noise)
    elif hasattr(reference, "fit") or hasattr(reference, "predict"):
        found = _from_estimator(reference, data, noise, original_X)
    else:
        is_frame = hasattr(reference, "columns") and not isinstance(reference, np.ndarray)
        _check_column_names(reference.columns if is_frame else None, original_X)
        found = _from_array(reference, data)
    if n_clusters is not None and n_clusters != len(found.centers):
        raise ValueError(
            f"n_clusters={n_clusters}, but the reference has {len(found.centers)} clusters; "
            "leave n_clusters out to take the reference's"
        )
    return found


def _default_reference(data: Dataset, n_clusters: int, random_state: Any) -> Reference:
    if n_clusters > (n := int((data.weights.values > 0).sum())):
        raise ValueError(
            f"n_clusters={n_clusters} is more than n_samples={n} rows of positive weight; "
            "ask for fewer clusters"
        )
    cluster: Any = cluster_by_medians if isinstance(data, MedianDataset) else _cluster_by_means
    centers, labels = cluster(data, n_clusters, random_state)
    return _from_labels(labels, list(range(n_clusters)), data, empty=centers)


def _cluster_by_means(
    data: Dataset, n_clusters: int, random_state: Any
) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.cluster import KMeans

    X, sample_weight = data.X, data.weights.values
    counted = sample_weight > 0
    kmeans = KMeans(n_clusters, n_init=10, random_state=random_state)
    numbers = X.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X)
    numbers = numbers.astype(np.float64, copy=False)
    if counted.all():
        labels = kmeans.fit(numbers, sample_weight=sample_weight).labels_
    else:  # absent rows must not even take part in the seeding
        labels = kmeans.fit(numbers[counted], sample_weight=sample_weight[counted]).predict(numbers)
    return kmeans.cluster_centers_, labels.astype(np.intp)


def _from_labels(
    labels: np.ndarray, names: list[Any], data: Dataset, empty: np.ndarray | None = None
) -> Reference:
    centers = data.group_centers(labels, len(names))
    hollow = np.isnan(centers).any(axis=1)
    if hollow.any():
        if empty is None:
            raise ValueError(
                f"cluster {names[int(np.argmax(hollow))]!r} of the reference has no row of "
                "positive weight; leave it out of the labels"
            )
        centers[hollow] = empty[hollow]
    return Reference(centers, labels, names)


def _from_centers(centers: Any, data: Dataset) -> Reference:
    centers = _read_centers(centers)
    return Reference(centers, data.nearest(centers), list(range(len(centers))))


def _from_array(reference: Any, data: Dataset) -> Reference:
    array, X = np.asarray(reference), data.X
    if array.ndim == 1:
        raise ValueError(
            f"reference is a 1-D array of length {len(array)}; pass labels, one per row, to fit "
            "as y: fit(X, y)"
        )
    if array.ndim != 2 or array.dtype.kind not in "fiub" or 0 in array.shape:
        raise ValueError(
            "reference must be an estimator or an array of centers of shape (n_clusters, "
            f"n_features); got an array of shape {array.shape} and type {array.dtype}"
        )
    if array.shape[1] != X.shape[1]:
        hint = "; pass labels to fit as y" if array.shape == (X.shape[0], 1) else ""
        raise ValueError(
            f"the reference centers have {array.shape[1]} columns, but X has {X.shape[1]}{hint}"
        )
    return _from_centers(array, data)


def _read_centers(centers: Any) -> np.ndarray:
    """Centers as float64; an error if one is not in the numeric domain."""
    centers = np.array(centers, dtype=np.float64)
    if not np.isfinite(centers).all():
        row, column = np.argwhere(~np.isfinite(centers))[0]
        raise ValueError(f"reference center {row} is not a finite number in column {column}")
    refuse_large(centers, what="reference")
    return centers


def _from_given_labels(source: str, given: np.ndarray, data: Dataset, noise: str) -> Reference:
    """The reference of one label per row; error messages call the labels `source`."""
    data.require_domain()
    X = data.X
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1:
        raise ValueError(f"{source} has shape {given.shape}; it must hold one label per row")
    if len(given) != X.shape[0]:
        sizes = f"{source} has {len(given)} labels, but X has {X.shape[0]} rows"
        raise ValueError(f"{sizes}; pass one label per row")
    is_noise = np.zeros(len(given), dtype=bool)
    if given.dtype.kind == "O":
        is_noise = np.array([as_category(label) is None for label in given], dtype=bool)
        if noise == "group" and is_noise.any():
            raise ValueError(
                f"{source} has no label at row {int(is_noise.argmax())}; use "
                'noise="background" or "cluster"'
            )
        has_text = any(isinstance(label, str) for label in given)
        given = np.where(is_noise, NOISE, given)
        if has_text:
            given = np.where(is_noise, "noise", given).astype(str)
        elif all(isinstance(label, (Real, np.number, bool)) for label in given):
            given = given.astype(np.float64) if is_noise.any() else given
    if given.dtype.kind == "f":
        if noise != "group":
            is_noise |= np.isnan(given)
        given = np.where(is_noise, NOISE, given)
        if not np.isfinite(given).all():
            row = int(np.flatnonzero(~np.isfinite(given))[0])
            raise ValueError(f"{source} contains NaN or infinity, first at row {row}")
        if not (given == np.rint(given)).all():
            raise ValueError(f"{source} must hold labels (integers or strings), not fractions")
        given = given.astype(np.int64)
    if given.dtype.kind == "i":
        is_noise |= given == NOISE
    if not is_background(noise):
        is_noise[:] = False
    if is_noise.all():
        raise ValueError(
            f"every label of {source} is noise (-1, None or NaN), which is left out; use "
            'noise="cluster" to explain these rows'
        )
    names, known = np.unique(given[~is_noise], return_inverse=True)
    labels = np.full(len(given), -1, dtype=np.intp)
    labels[~is_noise] = known
    return _from_labels(labels, names.tolist(), data)


def _from_estimator(estimator: Any, data: Dataset, noise: str, original_X: Any) -> Reference:
    """The clusters of an estimator: its own labels, and its centers if it has any.

    Labels need not be the nearest centers: KMedoids with another metric and BisectingKMeans assign
    rows differently. An estimator that has only centers gives every row its nearest center.
    """
    X, sample_weight = data.X, data.weights.values
    table = X if original_X is None else original_X
    if inspect.isclass(estimator):
        name = estimator.__name__
        raise ValueError(f"reference is the class {name}; pass an object, {name}(...)")
    data.require_domain()
    if not _is_fitted(estimator):
        estimator = clone(estimator)
        takes_weight = "sample_weight" in inspect.signature(estimator.fit).parameters
        estimator.fit(table, **({"sample_weight": sample_weight} if takes_weight else {}))
        can_predict = not hasattr(estimator, "labels_")
    else:
        # An estimator of other features, such as principal components, still has labels.
        width = getattr(estimator, "n_features_in_", X.shape[1])
        can_predict = _can_predict(estimator) and width == X.shape[1]
        if not can_predict and width == X.shape[1]:
            _check_column_names(getattr(estimator, "feature_names_in_", None), table)
    labels = None if can_predict else getattr(estimator, "labels_", None)
    labels = None if labels is None else np.asarray(labels)  # also of a lazy array of Dask
    centers = getattr(estimator, "cluster_centers_", None)
    has_centers = centers is not None and np.shape(centers)[1:] == (X.shape[1],)
    if labels is None or len(labels) != X.shape[0]:
        if not hasattr(estimator, "predict"):
            if has_centers:
                return _from_centers(centers, data)
            raise ValueError(
                f"the reference {type(estimator).__name__} has neither centers for the "
                f"{X.shape[1]} columns of X nor labels for its {X.shape[0]} rows; pass labels to "
                "fit as y"
            )
        labels = _predict(estimator, X, table)
    return _from_labeled_rows(np.asarray(labels), centers if has_centers else None, data, noise)


def _from_labeled_rows(labels: np.ndarray, centers: Any, data: Dataset, noise: str) -> Reference:
    """The reference of labels, with the centers of their clusters if they are known."""
    k = 0 if centers is None else len(centers)
    if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= k:
        return _from_given_labels("the reference", labels, data, noise)
    return Reference(_read_centers(centers), labels.astype(np.intp), list(range(k)))


def _can_predict(estimator: Any) -> bool:
    """Whether `predict` needs nothing but X; that of KPrototypes needs the categorical columns."""
    predict = getattr(estimator, "predict", None)
    return predict is not None and "categorical" not in inspect.signature(predict).parameters


def _predict(estimator: Any, X: Any, table: Any) -> np.ndarray:
    """The predicted labels; as KMeans cannot mix float32 and float64, both become float64."""
    centers: Any = getattr(estimator, "cluster_centers_", None)
    if getattr(centers, "dtype", X.dtype) == X.dtype:
        return estimator.predict(table)
    _check_column_names(getattr(estimator, "feature_names_in_", None), table)
    if centers.dtype == np.float32:
        estimator = copy(estimator)
        estimator.cluster_centers_ = centers.astype(np.float64)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return estimator.predict((X.tocsr() if sparse.issparse(X) else X).astype(np.float64))


def _check_column_names(names: Any, table: Any) -> None:
    """Fail if the reference has column names and those of the data differ."""
    if names is None or (given := as_table(table)) is None:
        return
    names, columns = [str(name) for name in names], [str(name) for name in given.columns]
    if names == columns:
        return
    if unknown := [name for name in names if name not in columns]:
        what = f"X has no column {unknown[0]!r}"
    elif sorted(names) == sorted(columns):
        what = "the columns of X are in another order"
    else:
        what = f"the reference has no column {next(c for c in columns if c not in names)!r}"
    expected = "the column names of the reference should match those of X, in the same order"
    raise ValueError(f"{expected}: {what}")


def _is_fitted(estimator: Any) -> bool:
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    except TypeError:
        pass  # not a scikit-learn estimator: take it as it is
    return True


def read_other_library(reference: Any, X: Any) -> tuple[np.ndarray, np.ndarray | None] | None:
    """Labels and centers of a fitted clustering of faiss or Spark ML; None for other objects."""
    library = type(reference).__module__.partition(".")[0]
    if library not in ("faiss", "pyspark"):
        return None
    rows = X.toarray() if sparse.issparse(X) else X
    if library == "pyspark":
        if not hasattr(reference, "predict"):
            raise ValueError(
                f"the reference {type(reference).__name__} of Spark is not a fitted model; pass "
                "reference.fit(frame), or the labels as y"
            )
        from pyspark.ml.linalg import Vectors

        labels = np.array([reference.predict(Vectors.dense(row)) for row in rows], dtype=np.intp)
        centers = getattr(reference, "clusterCenters", None)
        return labels, None if centers is None else np.array(centers(), dtype=np.float64)
    if getattr(reference, "centroids", None) is None:
        raise ValueError(
            "the reference has no centroids; call its train(X) first, or pass an array of centers"
        )
    _, labels = reference.assign(np.ascontiguousarray(rows, dtype=np.float32))
    return np.asarray(labels).astype(np.intp), np.asarray(reference.centroids, dtype=np.float64)
