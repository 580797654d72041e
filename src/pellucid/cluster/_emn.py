"""EMN: few mistakes for the number of centers that a cut separates."""

from __future__ import annotations

from typing import Any

from pellucid._core.criteria.mistakes import BalancedMistakes
from pellucid._core.criteria.problem import Problem
from pellucid._core.growers import grow
from pellucid._core.growers.growing_tree import GrowthResult
from pellucid._utils.estimators import Noise, Objective, Polish
from pellucid._utils.progress import Progress
from pellucid.cluster._docs import common_parameters
from pellucid.cluster._reference_tree import SEARCH, BaseReferenceTree, Search
from pellucid.tree.rounding import ThresholdStyle


@common_parameters
class EMN(BaseReferenceTree):
    """A tree with one leaf per reference cluster, by fewest mistakes per separated center.

    Each node is cut where ``mistakes / min(centers left, centers right)`` is least: the rows
    separated from their own center, over the number of reference centers on the side that has
    fewer. A cut that divides the centers evenly may therefore make more mistakes, and trees are
    mostly shallower than those of :class:`~pellucid.IMM`. Mistakes do not count below the cut.

    Parameters
    ----------
    {n_clusters}
    search : {"greedy", "beam"} or BeamSearch, default="greedy"
        One tree, cut by cut, or many side by side: ``"beam"`` is :class:`~pellucid.BeamSearch`
        with its defaults, which minimises the sum of the ratios. The paper's method is greedy.
    {common}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Esfandiari, Mirrokni, Narayanan (2022). Almost tight approximation algorithms for explainable
    clustering. SODA.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from pellucid import EMN, IMM
    >>> X = load_digits().data
    >>> [Method(10, random_state=0).fit(X).tree_.max_depth for Method in (IMM, EMN)]
    [9, 4]
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
        return grow(
            problem.criterion(BalancedMistakes), self.search, self.threshold_style, progress
        )
