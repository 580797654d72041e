"""SpEx: normalised cuts of the label graph, best first."""

from __future__ import annotations

from pellucid._core.criteria.sums import NormalizedCut, SumCriterion
from pellucid._core.growers.best_first import grow_best_first
from pellucid.cluster._docs import common_parameters
from pellucid.cluster._reference_tree import BaseLeafwiseTree


@common_parameters
class SpEx(BaseLeafwiseTree):
    """A tree for any clustering, from its labels alone, without centers.

    The label graph has an edge between every two rows of one cluster (the clique variant of the
    method), and thresholds should cut few edges. With N_c the number of rows of cluster c in the
    data and S_c in a leaf, the leaf cuts ``sum_c S_c (N_c - S_c)`` edges, out of a degree of
    ``sum_c S_c (N_c - 1)``. The best split of a leaf has the least sum of cut / degree over its two
    sides. The leaf for which this exceeds the leaf's own ratio least is split first, until there
    are `n_leaves` leaves or every leaf is pure. A leaf belongs to its majority cluster.

    Parameters
    ----------
    {n_clusters}
    n_leaves : int, default=None
        Largest number of leaves. None: the number of clusters. The tree has exactly this many
        unless all leaves are pure before. A cluster that is a majority in no leaf has no leaf.
    {common}

    Attributes
    ----------
    {attributes}

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
    """

    def _grow(self, problem, progress):
        return grow_best_first(
            problem.criterion(SumCriterion, NormalizedCut()),
            self.threshold_style,
            progress,
            self._max_leaves(problem.n_clusters),
            gains_matter=False,  # splits have no gain; the one that loses least comes first
        )
