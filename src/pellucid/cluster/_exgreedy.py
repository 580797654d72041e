"""ExGreedy: cuts of least induced cost."""

from __future__ import annotations

from typing import Any

from pellucid._core.criteria.induced_cost import InducedCost
from pellucid._core.growers import grow
from pellucid._utils.estimators import Noise, Objective, Polish
from pellucid.cluster._docs import common_parameters
from pellucid.cluster._reference_tree import SEARCH, BaseReferenceTree, Search
from pellucid.tree.rounding import ThresholdStyle


@common_parameters
class ExGreedy(BaseReferenceTree):
    """A tree with one leaf per reference cluster, by least induced cost.

    Each node is cut where the induced cost is least, among the cuts that separate at least two
    reference centers. The induced cost of a cut is the cost of the node's rows if each is assigned
    to the nearest reference center on its own side.

    Parameters
    ----------
    {n_clusters}
    search : {"greedy", "beam"} or BeamSearch, default="greedy"
        One tree, cut by cut, or many side by side: ``"beam"`` is
        :class:`~pellucid.BeamSearch` with its defaults.
    {common}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    Cuts that leave each side at least as many rows as centers are preferred. An integer sample
    weight counts as that many rows. If some weights are not integers, weight / mean weight is the
    number of rows, so that only the ratios of the weights matter.

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
        69 rows (38.8%, 100.0% pure)
    cluster 1: proline > 950
        47 rows (26.4%, 100.0% pure)
    cluster 2: 590 < proline ≤ 950
        62 rows (34.8%, 100.0% pure)
    """

    _parameter_constraints: dict[Any, Any] = {
        **BaseReferenceTree._parameter_constraints,
        "search": SEARCH,
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        search: Search = "greedy",
        reference: Any = None,
        objective: Objective = "kmeans",
        noise: Noise = "group",
        threshold_style: ThresholdStyle = "round",
        polish: Polish = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.search = search
        super().__init__(
            n_clusters,
            reference=reference,
            objective=objective,
            noise=noise,
            threshold_style=threshold_style,
            polish=polish,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )

    def _grow(self, problem, progress):
        return grow(problem.criterion(InducedCost), self.search, self.threshold_style, progress)
