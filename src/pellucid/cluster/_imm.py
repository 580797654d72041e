"""IMM: the cut that makes the fewest mistakes, greedily."""

from __future__ import annotations

from pellucid._core.criteria.mistakes import Mistakes
from pellucid._core.growers.greedy import grow_greedily
from pellucid.cluster._base import BaseThresholdTree, common_parameters


@common_parameters
class IMM(BaseThresholdTree):
    """Iterative mistake minimization: a tree with one leaf for each reference cluster.

    At each node, the cut that separates at least two reference centers and the fewest rows
    from their own center. Rows so separated do not count below the cut.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters; that of the reference when left out, or 8 without a reference.
    {common}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Moshkovitz, Dasgupta, Rashtchian, Frost (2020). Explainable k-means and k-medians
    clustering. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import IMM
    >>> model = IMM(3, random_state=0).fit(load_iris(as_frame=True).data)
    >>> print(model.explain())
    cluster 0: 2 < petal length (cm) ≤ 5.1
        66 rows (44.0 %, 93.9 % pure)
    cluster 1: petal length (cm) ≤ 2
        50 rows (33.3 %, 100.0 % pure)
    cluster 2: petal length (cm) > 5.1
        34 rows (22.7 %, 100.0 % pure)

    For k-medians, whose centers are medians and whose rows pay absolute differences:

    >>> medians = IMM(3, objective="kmedians", random_state=0).fit(load_iris().data)
    >>> print(f"{medians.inertia_ / medians.reference_inertia_:.3f}")
    1.024
    """

    def _grow(self, problem, progress):
        return grow_greedily(Mistakes(problem), self.threshold_style, progress)
