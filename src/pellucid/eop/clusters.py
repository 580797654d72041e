"""Describe the clusters of any clustering by the regions of an EOP model of its labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from pellucid._utils.estimators import Noise, is_background
from pellucid._utils.texts import Message, say
from pellucid.eop._classifier import EOPClassifier
from pellucid.explanation.mixins import RegionExportMixin, ReportMixin
from pellucid.explanation.rules import RuleList
from pellucid.regions.answer_regions import AnswerRegion, describe_support, region_text
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import Encoding, Indicator
from pellucid.tables.frames import Columns, as_table, date_formats, dates_as_days, refuse_scan
from pellucid.tables.validation import read_sample_weight


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
    n_assigned : int
        Number of rows that the model assigns to the cluster, by a region or by default.
    regions : tuple of AnswerRegion
        Regions, or parts of regions, in which the cluster is predicted, in the order of the
        levels. A row is assigned by the first region, of any cluster, that contains it.
    """

    cluster: Any
    n_samples: int
    coverage: float
    n_assigned: int
    regions: tuple[AnswerRegion, ...]

    def __str__(self) -> str:
        size = describe_support(self.n_samples, False)
        if self.n_assigned != self.n_samples:
            size += f", {self.n_assigned:,} assigned"
        share = f"{100 * self.coverage:.1f}%"
        if share == "100.0%":
            share = "all" if self.coverage == 1 else "over 99.9%"
        n = len(self.regions)
        extent = f"{n} regions contain {share}"
        if n < 2:
            extent = f"one region contains {share}" if n else "no region"
        head = f"cluster {self.cluster} ({size}): {extent}"
        lines = [
            f"    {region.level + 1}. {region_text(region)} ("
            f"{describe_support(region.support, region.has_weights)}, "
            f"{100 * region.purity:.1f}% pure"
            f"{', ' + say('notCounted', n=region.n_noise) if region.n_noise else ''})"
            for region in self.regions
        ]
        return "\n".join([head, *lines])


class ClusterRegions(RegionExportMixin, ReportMixin, RuleList[ClusterDescription]):
    """The regions of all clusters, sorted by label; prints as text.

    Parameters
    ----------
    clusters : sequence of ClusterDescription
        The clusters.

    Attributes
    ----------
    model : EOPClassifier
        The fitted model of the labels.
    encoding : Encoding or None
        How columns of text became numbers; None if there are none.
    is_noise : ndarray of shape (n_samples,), bool
        Rows with the label -1 (noise) that were left out: no size, share or purity counts them.
    """

    is_noise: np.ndarray

    def __init__(
        self,
        clusters: Sequence[ClusterDescription],
        model: EOPClassifier,
        encoding: Encoding | None = None,
        is_noise: Any = (),
    ) -> None:
        super().__init__(clusters)
        self.model = model
        self.encoding = encoding
        self.is_noise = np.asarray(is_noise, dtype=bool)

    @property
    def noise_note(self) -> Message | None:
        """How many rows are left out as noise, and how many of them lie in a region."""
        if not self.is_noise.any():
            return None
        inside = sum(region.n_noise for cluster in self for region in cluster.regions)
        n, rows = int(self.is_noise.sum()), len(self.is_noise)
        return Message("noiseLeftOut", n=n, rows=rows, inside=inside)

    def __str__(self) -> str:
        note = self.noise_note
        return super().__str__() if note is None else f"{super().__str__()}\n{note}"

    def __repr__(self) -> str:
        return str(self)

    def rename_clusters(self, names: Mapping[Any, str]) -> ClusterRegions:
        """The same descriptions with other labels of the clusters; `model` keeps its labels.

        Parameters
        ----------
        names : mapping of label to str
            Names of some or all clusters.

        Returns
        -------
        ClusterRegions
            A copy.
        """
        if not names:
            return self
        renamed = [replace(c, cluster=names.get(c.cluster, str(c.cluster))) for c in self]
        return ClusterRegions(renamed, self.model, self.encoding, self.is_noise)


def explain_clusters(
    X: Any,
    labels: Any,
    *,
    noise: Noise = "background",
    sample_weight: Any = None,
    max_error: float = 0.05,
    random_state: Any = 0,
    columns: Sequence[str | Indicator] | None = None,
    formats: Mapping[str, ColumnFormat] | None = None,
    **parameters: Any,
) -> ClusterRegions:
    """Describe each cluster by regions in one or two columns that contain mostly its rows.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Rows; a data frame may have columns of text and of dates.
    labels : array-like of shape (n_samples,), or a fitted clusterer
        Cluster label of each row; a fitted clusterer provides its `labels_`.
    noise : {"background", "cluster"}, default="background"
        How to treat rows with the label -1: leave them out, or describe them as a cluster. The
        result says how many are left out, and how many of these lie in each region.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.
    max_error : float, default=0.05
        Maximum fraction of rows of other clusters in a region (ε). It holds for all regions on
        the rows of X, unless ``strict=False`` is among the parameters.
    random_state : int, RandomState instance or None, default=0
        Seed of the random numbers.
    columns : sequence of str or Indicator, optional
        Descriptions of the columns of X, if some are indicators of categories. A data frame with
        columns of text is encoded, and needs none.
    formats : dict of str to ColumnFormat, optional
        How values are written, by column: dates (numbers of days since 1970-01-01), units and
        integers. Dates of a data frame need none.
    **parameters
        Further parameters of :class:`EOPClassifier`: `base`, `regions`, `max_dim` and so on.

    Returns
    -------
    ClusterRegions
        One :class:`ClusterDescription` per cluster; `model` is the fitted classifier.

    See Also
    --------
    EOPClassifier : The learner, for any classes.
    ExplainableKMeans : One tree for all clusters.
    explain : All steps, for a table.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import explain_clusters
    >>> X = load_iris(as_frame=True).data
    >>> kmeans = KMeans(3, n_init=10, random_state=0).fit(X)
    >>> print(explain_clusters(X, kmeans))
    cluster 0 (62 rows): 2 regions contain all
        2. sepal length (cm) ≤ 6.45 and petal length (cm) ≤ 5.2 (55 rows, 100.0% pure)
        4. everywhere else (7 rows, 100.0% pure)
    cluster 1 (50 rows): one region contains all
        1. petal length (cm) ≤ 2 (50 rows, 100.0% pure)
    cluster 2 (38 rows): one region contains all
        3. petal length (cm) > 4.85 (38 rows, 100.0% pure)
    """
    labels = np.asarray(getattr(labels, "labels_", labels))
    if noise not in ("background", "cluster", "drop", "group"):
        raise ValueError(f"noise={noise!r} must be 'background' or 'cluster'")
    refuse_scan(X)
    check_consistent_length(X, labels)
    is_dropped = is_background(noise) and labels.dtype.kind in "if"
    is_noise = (labels == -1) & is_dropped
    weight = np.where(is_noise, 0.0, read_sample_weight(sample_weight, len(labels)))
    if len(labels) and is_noise.all():
        raise ValueError("every label is -1 (noise); set noise='cluster' to describe these rows")
    encoding = None
    is_array = columns is not None or isinstance(X, (np.ndarray, list, tuple))
    frame = None if is_array else as_table(X)
    if frame is not None and not all(dtype.is_numeric() for dtype in frame.schema.values()):
        table = Columns.of(X)
        formats = {**date_formats(table), **(formats or {})}
        table = dates_as_days(table, formats)
        encoding = Encoding.fit(table)
        X, columns = encoding.transform(table), encoding.names
    parameters = {"strict": True, "complexity_penalty": 0.001, "calibration": 0, **parameters}
    model = EOPClassifier(max_error=max_error, random_state=random_state, **parameters)
    model.fit(X, labels, sample_weight=weight)
    model.columns_ = None if columns is None else list(columns)
    model.formats_ = dict(formats or {})
    predicted = model.predict(X)
    pieces = [piece for rule in model.explain()[:-1] for piece in rule.pieces]
    if is_noise.any():
        places = model.apply(X)[is_noise].T.tolist()
        inside = Counter(zip(*places, predicted[is_noise].tolist()))
        pieces = [replace(p, n_noise=inside[p.level, p.region, p.answer]) for p in pieces]
    clusters, is_used = [], weight > 0
    for cluster in model.classes_.tolist():
        regions = tuple(piece for piece in pieces if piece.answer == cluster)
        covered = sum(region.support * region.purity for region in regions)
        coverage = min(float(covered / weight[labels == cluster].sum()), 1.0)
        sizes = [int(np.sum(is_used & (each == cluster))) for each in (labels, predicted)]
        clusters.append(ClusterDescription(cluster, sizes[0], coverage, sizes[1], regions))
    return ClusterRegions(clusters, model, encoding, is_noise)
