"""SpEx: normalised cuts of the label graph or of the neighbour graph, best first."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal

import numpy as np

from pellucid._core.criteria.neighbor_cut import NeighborCut
from pellucid._core.criteria.sums import NormalizedCut, SumCriterion
from pellucid._core.growers.best_first import grow_best_first
from pellucid._core.growers.growing_tree import FitSummary
from pellucid._utils.progress import Progress
from pellucid._utils.sklearn_compat import Interval, StrOptions
from pellucid.cluster._base import memory_problem
from pellucid.cluster._docs import common_parameters
from pellucid.cluster._reference_tree import BaseLeafwiseTree
from pellucid.reference import find_reference
from pellucid.reference.resolve import DEFAULT_N_CLUSTERS
from pellucid.tables.validation import read_X


@common_parameters
class SpEx(BaseLeafwiseTree):
    r"""A decision tree that explains cluster labels by cutting few edges of a graph (SpEx).

    It is grown on the labels of the reference, or clusters the rows itself by the graph of their
    nearest neighbours. The rows of one cluster are joined by edges. To explain given labels,
    :class:`~pellucid.ExplainableKMeans` searches for the fewest mistakes.

    With :math:`N_c` rows of cluster c in the data and :math:`S_c` of them in a leaf, the best split
    of a leaf has the least sum over its two sides of

    .. math:: \frac{\sum_c S_c (N_c - S_c)}{\sum_c S_c (N_c - 1)},

    edges that are cut over the degree (the clique variant of the method). The leaf for which this
    exceeds the leaf's own ratio least is split first, until there are `n_leaves` leaves or every
    leaf is pure. A leaf belongs to its majority cluster.

    Parameters
    ----------
    {n_clusters}
    n_leaves : int, default=None
        Largest number of leaves. None: the number of clusters. The tree has exactly this many
        unless all leaves are pure before. A cluster that is a majority in no leaf has no leaf.
    graph : {"labels", "neighbors"}, default="labels"
        The graph whose edges thresholds should not cut. ``"neighbors"`` joins two rows if one is
        among the `n_neighbors` nearest of the other (Euclidean distance). It needs no labels and no
        reference: each of the `n_clusters` leaves is a cluster, and the reference attributes are
        those of these clusters. It needs all rows in memory, dense, and whole weights.
    n_neighbors : int, default=10
        Number of neighbours of a row in the neighbour graph.
    {common}

    Notes
    -----
    A row that is a cluster by itself has no edges: a side of such rows has degree 0 and counts 0,
    so that splitting it off costs nothing.

    An integer sample weight counts as that many copies of the row, with edges between them. If
    some weights are not integers, S_c and N_c are sums of weights and the degree is
    ``sum_c S_c N_c``, as if each row had an edge to itself: only the ratios of the weights matter.

    References
    ----------
    Argov, Wagner (2025). SpEx: A spectral approach to explainable clustering. NeurIPS.

    Examples
    --------
    >>> from sklearn.cluster import AgglomerativeClustering
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import SpEx
    >>> X = load_iris(as_frame=True).data
    >>> labels = AgglomerativeClustering(3, linkage="average").fit(X).labels_
    >>> print(SpEx().fit(X, labels).explain())
    cluster 0: 2 < petal length (cm) ≤ 5.1
        66 rows (44.0%, 97.0% pure)
    cluster 1: petal length (cm) ≤ 2
        50 rows (33.3%, 100.0% pure)
    cluster 2: petal length (cm) > 5.1
        34 rows (22.7%, 100.0% pure)

    Clusters without a reference, from the nearest neighbours of the rows:

    >>> print(SpEx(2, graph="neighbors").fit(X).explain())
    cluster 0: petal length (cm) ≤ 2
        50 rows (33.3%, 100.0% pure)
    cluster 1: petal length (cm) > 2
        100 rows (66.7%, 100.0% pure)
    """

    _parameter_constraints = {
        "graph": [StrOptions({"labels", "neighbors"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }
    graph: Literal["labels", "neighbors"] = "labels"
    n_neighbors: int = 10

    @property
    def _has_reference(self) -> bool:
        return self.graph == "labels"

    def _check_scan_parameters(self) -> None:
        super()._check_scan_parameters()
        if not self._has_reference:
            raise ValueError('graph="neighbors" needs all rows in memory; use graph="labels"')

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any, space: Any = None) -> FitSummary:
        if self._has_reference:
            return super()._fit_rows(X, y, sample_weight, space)
        given = {"y": y, "reference": self.reference, "n_leaves": self.n_leaves}
        given["polish"] = self.polish or None
        if unused := [name for name, value in given.items() if value is not None]:
            raise ValueError(
                f'graph="neighbors" explains no reference and makes n_clusters leaves; leave '
                f'{", ".join(unused)} out, or use graph="labels"'
            )
        k = DEFAULT_N_CLUSTERS if self.n_clusters is None else self.n_clusters
        n = read_X(self, X, reset=True, check=False).shape[0]
        self._has_labels = False
        # All rows are one cluster until the tree is known.
        with self._prepare(X, np.zeros(n, dtype=np.intp), sample_weight) as (data, _, problem):
            progress = Progress("SpEx: splits", k - 1, self.verbose)
            tree = self._grow_leaves(problem, progress, k).builder.build()
            tree = tree.replace(cluster=np.where(tree.is_leaf, np.cumsum(tree.is_leaf) - 1, -1))
            labels = tree.predict(data.X)
            reference = find_reference(None, data, y=labels, n_clusters=None, random_state=None)
            problem = memory_problem(data, reference)
            return self._summarize(data, reference, problem, tree, tree.apply(problem.X))

    def _grow(self, problem, progress):
        return self._grow_leaves(problem, progress, self._max_leaves(problem.n_clusters))

    def _grow_leaves(self, problem: Any, progress: Progress, n_leaves: int) -> Any:
        if self._has_reference:
            criterion = problem.criterion(SumCriterion, NormalizedCut())
        elif not problem.weights.are_integers:
            raise ValueError('graph="neighbors" needs whole sample weights, which count rows')
        else:
            criterion = NeighborCut(problem, self.n_neighbors)
        # Splits have no gain; the one that loses least comes first.
        style = self.threshold_style
        return grow_best_first(criterion, style, progress, n_leaves, gains_matter=False)
