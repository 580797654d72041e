"""Where clusters live: the regions of an EOP model of the labels of any clustering."""

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
class ClusterPlaces:
    """Where one cluster lives.

    Attributes
    ----------
    cluster : object
        Its label.
    n_samples : int
        Its rows.
    coverage : float
        Share of its rows that lie in its places.
    places : tuple of AnswerRegion
        Parts of regions whose answer is the cluster, in the order of the levels. A row belongs
        to the first place, of any cluster, that holds it.
    """

    cluster: Any
    n_samples: int
    coverage: float
    places: tuple[AnswerRegion, ...]

    def __str__(self) -> str:
        head = (
            f"cluster {self.cluster}: {_rows(self.n_samples)}, {100 * self.coverage:.1f} % of "
            f"them in {len(self.places)} place{'s' * (len(self.places) != 1)}"
        )
        lines = [
            f"    {place.level + 1}. {_where(place)} ({_rows(place.support)}, "
            f"{100 * place.purity:.1f} % pure)"
            for place in self.places
        ]
        return "\n".join([head, *lines])


def _rows(number: float) -> str:
    return f"{number:,.10g} row{'s' * (number != 1)}"


def _where(place: AnswerRegion) -> str:
    """A place in words; a level speaks of the rows that those before it have left."""
    rest = place.level > 0 and place.text == EVERYWHERE
    return f"{place.text} else" if rest else place.text


class ClusterRegions(RuleList):
    """The places of all clusters, in the order of their labels; prints as text.

    Attributes
    ----------
    model : EOPClassifier
        The model behind it, with everything that it can do.
    """

    def __init__(self, clusters: Sequence[ClusterPlaces], model: EOPClassifier) -> None:
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
    """Regions in one or two columns where the rows of each cluster are among themselves.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,), or a fitted clusterer
        The cluster of each row, of any clustering; a clusterer gives its `labels_`.
    noise : {"drop", "group"}, default="drop"
        What to do with rows of the label -1: leave them out, or explain them as a group.
    sample_weight : array-like of shape (n_samples,), optional
    max_error : float, default=0.05
        Share of rows of other clusters that a region may hold.
    random_state : int, RandomState instance or None, default=0
    **parameters
        Further parameters of :class:`EOPClassifier`: `base`, `regions`, `max_dim` and so on.

    Returns
    -------
    ClusterRegions
        One :class:`ClusterPlaces` a cluster; its `model` is the fitted classifier.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import explain_clusters
    >>> X = load_iris(as_frame=True).data
    >>> kmeans = KMeans(3, n_init=10, random_state=0).fit(X)
    >>> print(explain_clusters(X, kmeans))
    cluster 0: 62 rows, 100.0 % of them in 2 places
        1. sepal length (cm) ≤ 6.45 and 2 < petal length (cm) ≤ 5.2 (55 rows, 100.0 % pure)
        2. petal length (cm) ≤ 4.85 (7 rows, 100.0 % pure)
    cluster 1: 50 rows, 100.0 % of them in 1 place
        1. sepal length (cm) ≤ 6.45 and petal length (cm) ≤ 2 (50 rows, 100.0 % pure)
    cluster 2: 38 rows, 100.0 % of them in 1 place
        2. petal length (cm) > 4.85 (38 rows, 100.0 % pure)
    """
    labels = np.asarray(getattr(labels, "labels_", labels))
    if noise not in ("drop", "group"):
        raise ValueError(f"noise={noise!r} must be 'drop' or 'group'")
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if noise == "drop" and labels.dtype.kind in "if" and (labels == -1).any():
        is_there = labels != -1
        if not is_there.any():
            raise ValueError("every label is -1, which stands for noise; set noise='group'")
        weight = np.ones(len(labels)) if weight is None else weight
        weight = np.where(is_there, weight, 0.0)
    model = EOPClassifier(max_error=max_error, random_state=random_state, **parameters)
    model.fit(X, labels, sample_weight=weight)
    rules = model.explain()[:-1]
    clusters = []
    for cluster in model.classes_.tolist():
        places = [piece for rule in rules for piece in rule.pieces if piece.answer == cluster]
        counted = labels == cluster
        size = counted.sum() if weight is None else weight[counted].sum()
        inside = sum(place.support * place.purity for place in places)
        n_samples = int(np.count_nonzero(counted if weight is None else counted & (weight > 0)))
        clusters.append(ClusterPlaces(cluster, n_samples, float(inside / size), tuple(places)))
    return ClusterRegions(clusters, model)
