"""The clustering of a table: outliers, number of clusters, and k-means or given labels."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from pellucid._core.data.arrays import Weights
from pellucid._core.data.medians import MedianDataset
from pellucid._utils.notices import InputError, notice, option
from pellucid._utils.texts import Message
from pellucid.reference.kmedians import cluster_by_medians
from pellucid.table_explainer.arguments import OUTLIERS, check_choice
from pellucid.table_explainer.number_of_clusters import ChosenNumber, choose_number, silhouette
from pellucid.table_explainer.outliers import find_outliers, smallest_size
from pellucid.table_explainer.preparing import PreparedTable
from pellucid.table_explainer.range_agreement import with_agreement
from pellucid.table_explainer.wording import count

MANY_ROWS = 100_000
FEW_VALUES = 100_000
"""Up to this many values k-means uses one thread, because more would only add overhead."""

NAMES = {"kmeans": "k-means", "kmedians": "k-medians"}
_SHOWN_OUTLIERS = 5


@dataclass(frozen=True)
class Clustering:
    """A clustering of the rows of a table.

    Attributes
    ----------
    reference : KMeans or None
        The fitted estimator; None if the labels were given or come from k-medians.
    labels : ndarray of shape (n_rows,)
    name : str
        What the clustering is called in texts.
    silhouette : float
        Mean silhouette score of the clusters; NaN for a single cluster.
    number : ChosenNumber or None
        How the number of clusters was chosen, if it was.
    """

    reference: KMeans | None
    labels: np.ndarray
    name: str
    silhouette: float
    number: ChosenNumber | None = None

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(np.unique(self.labels))

    def as_parameters(self) -> tuple[KMeans | None, np.ndarray | None]:
        """The clustering as parameter `reference` of an estimator and as y of its `fit`."""
        return self.reference, None if self.reference is not None else self.labels


def cluster_rows(
    prepared: PreparedTable,
    k: int | tuple[int, int] | None,
    *,
    seed: int = 0,
    objective: str = "kmeans",
    outliers: str = "auto",
) -> tuple[PreparedTable, Clustering]:
    """Cluster the rows of a table, or take its labels.

    Parameters
    ----------
    prepared : PreparedTable
        If it has labels, they are the clustering.
    k : int, tuple of int or None
        Number of clusters; a tuple is a range to choose from, None chooses from 2 to 10.
    seed : int
        Random seed of the clustering. The choice of the number does not depend on it.
    objective : {"kmeans", "kmedians"}
    outliers : {"auto", "keep"}
        Whether rows that are far from all others are set apart.

    Returns
    -------
    prepared : PreparedTable
        Without the outliers.
    clustering : Clustering
    """
    check_choice("outliers", outliers, OUTLIERS)
    if prepared.labels is not None:
        score = silhouette(prepared.Z, np.unique(prepared.labels, return_inverse=True)[1])
        return prepared, Clustering(None, prepared.labels, "the given clusters", score)
    n_rows = len(prepared.rows)
    largest = k[1] if isinstance(k, tuple) else k
    if largest is not None and largest > n_rows:
        raise InputError(
            f"{option('k', largest)} is more than the {count(n_rows, 'row')}",
            hint="choose fewer clusters",
        )
    if outliers == "auto" and largest != 1:
        prepared = _set_apart(prepared, find_outliers(prepared.Z))
    number = None
    if not isinstance(k, int):
        if k is None:
            number = choose_number(prepared.Z)
        else:
            number = choose_number(prepared.Z, range(k[0], k[1] + 1))
            number = with_agreement(number, prepared.Z)
        if not number.scores:
            # All numbers are too large to be compared: one cluster per different row.
            number = replace(number, k=len(np.unique(prepared.Z, axis=0)))
        k = number.k
    clustering = _cluster(prepared, k, seed, objective)
    if clustering.n_clusters < k:
        n_different = clustering.n_clusters
        notice(Message("fewerClusters", n=n_different, k=k))
        k = n_different
        clustering = _cluster(prepared, k, seed, objective)
    if number is not None and outliers == "auto":
        prepared, clustering = _without_small_clusters(prepared, clustering, seed, objective)
    if number is not None:
        clustering = replace(clustering, number=number)
    return prepared, clustering


def report_number(clustering: Clustering) -> None:
    """Report the chosen number of clusters, with the score of this clustering."""
    if (number := clustering.number) is None:
        return
    reasons = number.reasons(clustering.silhouette)
    notice(Message("chose", n=clustering.n_clusters, reasons=reasons, option=option("k")))


def with_next_number(
    prepared: PreparedTable, clustering: Clustering, *, seed: int, objective: str
) -> Clustering | None:
    """The clustering with the next best number of clusters; None if there is none."""
    number = None if clustering.number is None else clustering.number.next_best()
    if number is None:
        return None
    return replace(_cluster(prepared, number.k, seed, objective), number=number)


def improve_clusters(
    prepared: PreparedTable, clustering: Clustering, labels: np.ndarray
) -> Clustering:
    """k-means that starts from the means of other clusters, such as those of a tree."""
    Z = prepared.Z
    centers = np.array([Z[labels == label].mean(axis=0) for label in np.unique(labels)])
    if clustering.reference is None or len(centers) < clustering.n_clusters:
        return clustering
    kmeans = KMeans(len(centers), init=centers, n_init=1).fit(Z)
    # Differences of rounding are no improvement.
    if kmeans.inertia_ >= float(clustering.reference.inertia_) * (1 - 1e-9):
        return clustering
    score = silhouette(Z, kmeans.labels_)
    return replace(clustering, reference=kmeans, labels=kmeans.labels_, silhouette=score)


def kmeans_n_init(n_rows: int) -> int:
    """Number of k-means initialisations: fewer for large data, where each takes seconds."""
    return 10 if n_rows <= MANY_ROWS else 3


def _cluster(prepared: PreparedTable, k: int, seed: int, objective: str) -> Clustering:
    Z = prepared.Z
    if objective == "kmedians":
        data = MedianDataset(Z, Weights.equal(len(Z)))
        labels = cluster_by_medians(data, k, seed)[1]
        return Clustering(None, labels, NAMES[objective], silhouette(Z, labels))
    kmeans = KMeans(k, n_init=kmeans_n_init(len(Z)), random_state=seed)
    with threadpool_limits(1 if Z.size <= FEW_VALUES else None), warnings.catch_warnings():
        # Fewer different rows than clusters are reported by the caller.
        warnings.simplefilter("ignore", ConvergenceWarning)
        kmeans.fit(Z)
    return Clustering(kmeans, kmeans.labels_, NAMES[objective], silhouette(Z, kmeans.labels_))


def _without_small_clusters(
    prepared: PreparedTable, clustering: Clustering, seed: int, objective: str
) -> tuple[PreparedTable, Clustering]:
    """Set apart clusters of less than 2% of the rows, once, and cluster the others again."""
    n_rows = len(prepared.rows) + len(prepared.outliers)
    labels, sizes = np.unique(clustering.labels, return_counts=True)
    small = labels[sizes < smallest_size(n_rows)]
    rows = np.flatnonzero(np.isin(clustering.labels, small))
    if not len(rows) or len(labels) - len(small) < 2:
        return prepared, clustering
    prepared = _set_apart(prepared, rows)
    return prepared, _cluster(prepared, len(labels), seed, objective)


def _set_apart(prepared: PreparedTable, positions: np.ndarray) -> PreparedTable:
    if not len(positions):
        return prepared
    rows = prepared.rows[positions]
    more = len(rows) - _SHOWN_OUTLIERS
    notice(
        Message(
            "manyOutliers" if more > 0 else "outliers",
            n=len(rows),
            rows=[row_name(prepared, int(row)) for row in rows[:_SHOWN_OUTLIERS]],
            more=more,
            option=option("outliers", "keep"),
        )
    )
    return prepared.without(positions)


def row_name(prepared: PreparedTable, row: int) -> Message:
    """A row by its number, with its identifier if the table has one."""
    for name, reason in prepared.roles.ignored.items():
        if reason in ("identifier", "text"):
            value = prepared.source.table[name][row]
            if value is not None and name.casefold() not in ("unnamed", "index"):
                return Message("rowWithName", row=row + 1, column=name, value=str(value))
    return Message("row", row=row + 1)
