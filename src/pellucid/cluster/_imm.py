"""IMM: the cut that makes the fewest mistakes at each node."""

from __future__ import annotations

from typing import Any

from pellucid._core.criteria.mistakes import Mistakes
from pellucid._core.criteria.problem import Problem
from pellucid._core.growers import grow
from pellucid._core.growers.growing_tree import GrowthResult
from pellucid._utils.estimators import Noise, Objective, Polish
from pellucid._utils.progress import Progress
from pellucid.cluster._docs import common_parameters
from pellucid.cluster._reference_tree import SEARCH, BaseReferenceTree, Search
from pellucid.tree.rounding import ThresholdStyle


@common_parameters
class IMM(BaseReferenceTree):
    """Iterative mistake minimization: a tree with one leaf per reference cluster.

    Each node is cut where the fewest rows are separated from their own center, among the cuts that
    separate at least two reference centers. A row separated from its center is a mistake; it does
    not count below the cut.

    Parameters
    ----------
    {n_clusters}
    search : {"greedy", "beam"} or BeamSearch, default="greedy"
        One tree, cut by cut, or many side by side: ``"beam"`` is :class:`~pellucid.BeamSearch`
        with its defaults, which is the method :class:`~pellucid.BSIMM`.
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
        66 rows (44.0%, 93.9% pure)
    cluster 1: petal length (cm) ≤ 2
        50 rows (33.3%, 100.0% pure)
    cluster 2: petal length (cm) > 5.1
        34 rows (22.7%, 100.0% pure)

    For k-medians, with medians as centers and absolute differences as costs:

    >>> medians = IMM(3, objective="kmedians", random_state=0).fit(load_iris().data)
    >>> print(f"{medians.inertia_ / medians.reference_inertia_:.3f}")
    1.024
    """

    _parameter_constraints: dict[Any, Any] = {
        **BaseReferenceTree._parameter_constraints,
        "search": SEARCH,
    }

    _has_beam_on_scan = True

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

    def _grow(self, problem: Problem, progress: Progress) -> GrowthResult:
        return grow(problem.criterion(Mistakes), self.search, self.threshold_style, progress)
