"""Describe the clusters of any clustering by the regions of an EOP model of its labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.eop._classifier import EOPClassifier
from pellucid.eop.answer_regions import AnswerRegion
from pellucid.eop.shapes.boxes import EVERYWHERE
from pellucid.explanation.rules import RuleList


@dataclass(frozen=True)
class ClusterDescription:
    """The regions of one cluster.

    Attributes
    ----------
    cluster : object
        Label of the cluster.
    n_samples : int
        Number of rows in the cluster.
    coverage : float
        Fraction of its rows that lie in its regions.
    regions : tuple of AnswerRegion
        Regions, or parts of regions, in which the cluster is predicted, in the order of the
        levels. A row is assigned by the first region, of any cluster, that contains it.
    """

    cluster: Any
    n_samples: int
    coverage: float
    regions: tuple[AnswerRegion, ...]

    def __str__(self) -> str:
        head = (
            f"cluster {self.cluster}: {_rows(self.n_samples)}, {100 * self.coverage:.1f} % of "
            f"them in {len(self.regions)} region{'s' * (len(self.regions) != 1)}"
        )
        lines = [
            f"    {region.level + 1}. {_where(region)} ({_rows(region.support)}, "
            f"{100 * region.purity:.1f} % pure)"
            for region in self.regions
        ]
        return "\n".join([head, *lines])


def _rows(number: float) -> str:
    return f"{number:,.10g} row{'s' * (number != 1)}"


def _where(region: AnswerRegion) -> str:
    """Text of a region; after the first level, "everywhere" becomes "everywhere else"."""
    is_rest = region.level > 0 and region.text == EVERYWHERE
    return f"{region.text} else" if is_rest else region.text


class ClusterRegions(RuleList):
    """The regions of all clusters, sorted by label; prints as text.

    Attributes
    ----------
    model : EOPClassifier
        The fitted model of the labels.
    """

    def __init__(self, clusters: Sequence[ClusterDescription], model: EOPClassifier) -> None:
        super().__init__(clusters)
        self.model = model


def explain_clusters(
    X: Any,
    labels: Any,
    *,
    noise: str = "drop",
    sample_weight: Any = None,
    max_error: float = 0.05,
    random_state: Any = 0,
    **parameters: Any,
) -> ClusterRegions:
    """Describe each cluster by regions in one or two columns that contain mostly its rows.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,), or a fitted clusterer
        Cluster label of each row; a fitted clusterer provides its `labels_`.
    noise : {"drop", "group"}, default="drop"
        How to treat rows with the label -1: ignore them, or describe them as a cluster.
    sample_weight : array-like of shape (n_samples,), optional
    max_error : float, default=0.05
        Maximum fraction of misclassified rows in a region (ε).
    random_state : int, RandomState instance or None, default=0
    **parameters
        Further parameters of :class:`EOPClassifier`: `base`, `regions`, `max_dim` and so on.

    Returns
    -------
    ClusterRegions
        One :class:`ClusterDescription` per cluster; `model` is the fitted classifier.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import explain_clusters
    >>> X = load_iris(as_frame=True).data
    >>> kmeans = KMeans(3, n_init=10, random_state=0).fit(X)
    >>> print(explain_clusters(X, kmeans))
    cluster 0: 62 rows, 100.0 % of them in 2 regions
        1. sepal length (cm) ≤ 6.45 and 2 < petal length (cm) ≤ 5.2 (55 rows, 100.0 % pure)
        2. petal length (cm) ≤ 4.85 (7 rows, 100.0 % pure)
    cluster 1: 50 rows, 100.0 % of them in 1 region
        1. sepal length (cm) ≤ 6.45 and petal length (cm) ≤ 2 (50 rows, 100.0 % pure)
    cluster 2: 38 rows, 100.0 % of them in 1 region
        2. petal length (cm) > 4.85 (38 rows, 100.0 % pure)
    """
    labels = np.asarray(getattr(labels, "labels_", labels))
    if noise not in ("drop", "group"):
        raise ValueError(f"noise={noise!r} must be 'drop' or 'group'")
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if noise == "drop" and labels.dtype.kind in "if" and (labels == -1).any():
        is_clustered = labels != -1
        if not is_clustered.any():
            raise ValueError("every label is -1 (noise); set noise='group' to describe these rows")
        weight = np.ones(len(labels)) if weight is None else weight
        weight = np.where(is_clustered, weight, 0.0)
    model = EOPClassifier(max_error=max_error, random_state=random_state, **parameters)
    model.fit(X, labels, sample_weight=weight)
    rules = model.explain()[:-1]
    clusters = []
    for cluster in model.classes_.tolist():
        regions = [piece for rule in rules for piece in rule.pieces if piece.answer == cluster]
        members = labels == cluster
        size = members.sum() if weight is None else weight[members].sum()
        covered = sum(region.support * region.purity for region in regions)
        n_samples = int(np.count_nonzero(members if weight is None else members & (weight > 0)))
        coverage = float(covered / size)
        clusters.append(ClusterDescription(cluster, n_samples, coverage, tuple(regions)))
    return ClusterRegions(clusters, model)
