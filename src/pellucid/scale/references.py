"""The clustering that is explained, as a label per row of every batch."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from pellucid._core.batches.batch import RawBatch
from pellucid._core.batches.partitions import Partitions, Task
from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset
from pellucid._core.data.group_sums import GroupSums, LargestWeight, Terms
from pellucid._core.data.moments import nearest_centers
from pellucid._utils.estimators import is_background
from pellucid._utils.notices import InputError
from pellucid._utils.numeric_domain import MAX_VALUE, OutOfDomain
from pellucid._utils.threads import SERIAL
from pellucid.reference.resolve import DEFAULT_N_CLUSTERS, NOISE
from pellucid.scale.sources import has_gaps

_SAMPLE_ROWS = 100_000  # rows of the sample that is clustered if there is no reference
LLOYD_PASSES = 5  # passes over all rows that move the centers of the sample


@dataclass(frozen=True)
class NearestCenter:
    """Every row belongs to its nearest center; ties go to the lowest."""

    centers: np.ndarray

    def __call__(self, raw: RawBatch) -> np.ndarray:
        return nearest_centers(raw.X, self.centers, SERIAL)


@dataclass(frozen=True)
class PredictedLabels:
    """Every row has the label that an estimator predicts."""

    estimator: Any
    n_clusters: int

    def __call__(self, raw: RawBatch) -> np.ndarray:
        require_domain(raw)
        if not len(raw.X):
            return np.empty(0, dtype=np.intp)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            labels = np.asarray(self.estimator.predict(raw.X.astype(np.float64)))
        if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= self.n_clusters:
            raise InputError(
                "the labels of the reference are not the positions of its centers",
                hint="store its labels in a column, and use scan(..., labels=)",
            )
        return labels


@dataclass(frozen=True)
class ColumnLabels:
    """Every row has the label of the label column."""

    names: np.ndarray
    column: str
    drop: Any = None

    def __call__(self, raw: RawBatch) -> np.ndarray:
        """Position of each row's label in `names`; -1 for noise that is dropped."""
        require_domain(raw)
        given = as_labels(raw, self.column)
        place = np.minimum(np.searchsorted(self.names, given), len(self.names) - 1)
        is_known = self.names[place] == given
        is_dropped = False if self.drop is None else given == self.drop
        if not (is_known | is_dropped).all():
            raise InputError(f"column {self.column!r} has changed while it was read")
        return np.where(is_known, place, -1)


def as_labels(raw: RawBatch, column: str) -> np.ndarray:
    """The labels of a batch: integers or strings."""
    given, problem = np.asarray(raw.labels), ""
    if given.dtype.kind == "f" and not (np.isfinite(given) & (given == np.rint(given))).all():
        problem = "missing values or fractions"
    elif given.dtype.kind == "O" and has_gaps(given):
        problem = "missing values"
    if problem:
        raise InputError(f"the label column {column!r} has {problem} in {raw.origin}")
    return given.astype({"f": np.int64, "O": str}.get(given.dtype.kind, given.dtype), copy=False)


def require_domain(raw: RawBatch) -> None:
    """Raise `OutOfDomain` if a number is NaN, infinite or too large."""
    Dataset(raw.X, Weights.equal(len(raw.X)), is_checked=False).require_domain()


@dataclass(frozen=True)
class Checked:
    """A function of raw batches whose errors name the column and where it was read."""

    function: Any
    names: tuple[str, ...]

    def __call__(self, raw: RawBatch) -> Any:
        try:
            return self.function(raw)
        except OutOfDomain:
            for name, column in zip(self.names, raw.X.T):
                bad = ~(np.abs(column) <= MAX_VALUE)
                if bad.any():
                    value = column[bad][0]
                    problem = "missing values (NaN)" if np.isnan(value) else f"{value:.4g}"
                    raise InputError(
                        f"column {name!r} contains {problem} in {raw.origin}",
                        hint=f"fill or drop such rows; numbers must be at most {MAX_VALUE:g}",
                    ) from None
            raise


@dataclass(frozen=True)
class ColumnStatisticsTask(Task):
    """All labels of the label column, and what `Terms.of` needs of rows that have a weight."""

    columns: tuple[str, ...]
    labels: str | None

    def __call__(self, raw: RawBatch) -> tuple[np.ndarray, np.ndarray, LargestWeight]:
        Checked(require_domain, self.columns)(raw)
        names = np.empty(0) if self.labels is None else np.unique(as_labels(raw, self.labels))
        weight = np.ones(len(raw.X)) if raw.weight is None else raw.weight
        largest = np.abs(raw.X[weight > 0]).max(axis=0, initial=0.0)
        return names, largest.astype(np.float64), LargestWeight.of(weight)

    def merge(self, first: Any, second: Any) -> tuple[np.ndarray, np.ndarray, LargestWeight]:
        names, largest, weight = zip(first, second)
        return np.union1d(*names), np.maximum(*largest), weight[0].merge(weight[1])


@dataclass(frozen=True)
class GroupSumsTask(Task):
    """Sums of the values of every cluster."""

    find_labels: Any
    n_clusters: int
    terms: Terms

    def __call__(self, raw: RawBatch) -> GroupSums:
        weight = np.ones(len(raw.X)) if raw.weight is None else raw.weight
        labels = np.where(weight > 0, self.find_labels(raw), -1)
        return GroupSums.of(raw.X, labels, weight, self.n_clusters, self.terms)


@dataclass(frozen=True)
class ScanReference:
    """A reference clustering of a scan; `names` is what the user calls each cluster."""

    centers: np.ndarray
    find_labels: Any
    names: list[Any]


def of_column(partitions: Partitions, scan: Any, noise: str) -> ScanReference:
    """The groups of the label column; their centers are the means."""
    found = partitions.map_raw(ColumnStatisticsTask(scan.columns, scan.labels))
    if found is None:
        raise InputError("the data have no rows")
    (names, *largest), drop = found, None
    if is_background(noise) and names.dtype.kind == "i" and NOISE in names:
        drop, names = NOISE, names[names != NOISE]
    if not len(names):
        raise InputError(f"every label of column {scan.labels!r} is noise (-1)")
    find = ColumnLabels(names, scan.labels, drop)
    sums = partitions.map_raw(GroupSumsTask(find, len(names), Terms.of(*largest)))
    centers = sums.means()
    empty = np.isnan(centers).any(axis=1)
    if empty.any():
        raise InputError(f"cluster {names[int(empty.argmax())]!r} has no row of positive weight")
    return ScanReference(centers, find, names.tolist())


def cluster_by_kmeans(
    partitions: Partitions,
    scan: Any,
    n_clusters: int,
    random_state: Any,
    *,
    init: Any = None,
    n_init: int = 10,
    max_iter: int = LLOYD_PASSES,
) -> tuple[np.ndarray, int]:
    """Centers of k-means of a sample, or `init`, moved by passes over all rows; their number."""
    found = partitions.map_raw(ColumnStatisticsTask(scan.columns, None))
    if init is None:
        rows = np.ascontiguousarray(scan.sample(_SAMPLE_ROWS), dtype=np.float64)
        if n_clusters > len(rows):
            raise InputError(f"n_clusters={n_clusters} is more than n_samples={len(rows)}")
        kmeans = KMeans(n_clusters, n_init=n_init, random_state=random_state).fit(rows)
        centers = kmeans.cluster_centers_
    else:
        centers = _checked_centers(init, scan, "first centers (init=)")
        if len(centers) != n_clusters:
            raise InputError(f"n_clusters={n_clusters}, but init has {len(centers)} centers")
    terms, n_passes = Terms.of(*found[1:]), 0
    while n_passes < max_iter:
        n_passes += 1
        before, task = centers, GroupSumsTask(NearestCenter(centers), n_clusters, terms)
        means = partitions.map_raw(task).means()
        centers = np.where(np.isnan(means), before, means)
        if np.array_equal(centers, before):
            break
    return centers, n_passes


def find_reference(
    reference: Any,
    partitions: Partitions,
    scan: Any,
    *,
    n_clusters: int | None,
    random_state: Any,
    noise: str,
) -> ScanReference:
    """The clustering to explain, from the parameters of an estimator and of the scan."""
    if scan.labels is not None:
        if reference is not None:
            raise InputError(
                f"two clusterings to explain were given, the column {scan.labels!r} and "
                "`reference`; leave one out"
            )
        return of_column(partitions, scan, noise)
    if reference is None:
        k = n_clusters or DEFAULT_N_CLUSTERS
        centers, _ = cluster_by_kmeans(partitions, scan, k, random_state)
        return ScanReference(centers, NearestCenter(centers), list(range(k)))
    found = _given(reference, scan)
    if n_clusters is not None and n_clusters != len(found.centers):
        raise InputError(
            f"n_clusters={n_clusters}, but the reference has {len(found.centers)} clusters; "
            "leave n_clusters out"
        )
    return found


def spark_centers(model: Any) -> np.ndarray:
    distance = getattr(model, "getDistanceMeasure", lambda: "euclidean")
    if type(model).__name__ != "KMeansModel" or distance() != "euclidean":
        raise InputError(
            f"the clusters of the {type(model).__name__} of Spark are not those of the nearest "
            "center",
            hint="pass the labels that its transform adds: scan(..., labels=), or labelCol",
        )
    return np.array(model.clusterCenters(), dtype=np.float64)


def _given(reference: Any, scan: Any) -> ScanReference:
    if type(reference).__module__.startswith("pyspark."):
        reference = spark_centers(reference)
    has_labels = hasattr(reference, "predict")
    is_estimator = has_labels or hasattr(reference, "fit")
    centers = getattr(reference, "cluster_centers_", None) if is_estimator else reference
    if centers is None:
        raise InputError(
            f"the reference {type(reference).__name__} has no cluster_centers_; fit it first, or "
            "store its labels in a column and use scan(..., labels=)"
        )
    names = getattr(reference, "feature_names_in_", None)
    if names is not None and list(map(str, names)) != list(scan.columns):
        expected = "the column names of the reference should match those of the scan"
        raise InputError(f"{expected}, in the same order")
    centers = _checked_centers(centers, scan, "reference centers")
    k = len(centers)
    find = PredictedLabels(reference, k) if has_labels else NearestCenter(centers)
    return ScanReference(centers, find, list(range(k)))


def _checked_centers(given: Any, scan: Any, what: str) -> np.ndarray:
    centers = np.asarray(given, dtype=np.float64)
    if centers.ndim != 2 or centers.shape[1] != len(scan.columns) or not len(centers):
        raise InputError(
            f"the {what} have the shape {centers.shape}; they must have one column for each of "
            f"the {len(scan.columns)} columns of the scan"
        )
    if not (np.abs(centers) <= MAX_VALUE).all():
        raise InputError(f"the {what} must be finite numbers")
    return centers
