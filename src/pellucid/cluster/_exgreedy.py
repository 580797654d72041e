"""ExGreedy: the cut of least induced cost, greedily."""

from __future__ import annotations

from pellucid.cluster._base import BaseThresholdTree, common_parameters
from pellucid.cuts.induced import InducedCost
from pellucid.growth.greedy import grow_greedily


@common_parameters
class ExGreedy(BaseThresholdTree):
    """A tree with one leaf for each reference cluster, by least induced cost.

    At each node, the cut that separates at least two reference centers and leaves the rows
    cheapest when each goes to the nearest reference center on its side.

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
    Laber, Murtinho (2021). On the price of explainability for some clustering problems. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pellucid import ExGreedy
    >>> model = ExGreedy(3, random_state=0).fit(load_wine(as_frame=True).data)
    >>> print(model.explain())
    cluster 0: proline ≤ 590
        69 rows (38.8 %, 100.0 % pure)
    cluster 1: proline > 950
        47 rows (26.4 %, 100.0 % pure)
    cluster 2: 590 < proline ≤ 950
        62 rows (34.8 %, 100.0 % pure)
    """

    def _grow(self, problem, progress):
        return grow_greedily(InducedCost(problem), self.threshold_style, progress)
