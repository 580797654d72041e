"""ExShallow: induced cost with a price on depth, greedily."""

from __future__ import annotations

from numbers import Real
from typing import Any

from sklearn.utils._param_validation import Interval

from pellucid.cluster._base import BaseThresholdTree, common_parameters
from pellucid.cuts.induced import InducedCost
from pellucid.growth.greedy import grow_greedily


@common_parameters
class ExShallow(BaseThresholdTree):
    """A tree with one leaf for each reference cluster that is cheap and shallow.

    At each node, the cut that minimises what the rows pay after it, relative to before, plus
    `depth_penalty` times an estimate of the average depth it leads to.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters; that of the reference when left out, or 8 without a reference.
    depth_penalty : float, default=0.03
        The share of a node's cost that one condition less on average is worth. 0 is ExGreedy.
    {common}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Laber, Murtinho, Oliveira (2023). Shallow decision trees for explainable k-means
    clustering. Pattern Recognition.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pellucid import ExShallow
    >>> model = ExShallow(3, random_state=0).fit(load_wine(as_frame=True).data)
    >>> print(model.explain())
    cluster 0: proline ≤ 590
        69 rows (38.8 %, 100.0 % pure)
    cluster 1: proline > 950
        47 rows (26.4 %, 100.0 % pure)
    cluster 2: 590 < proline ≤ 950
        62 rows (34.8 %, 100.0 % pure)
    """

    _parameter_constraints: dict = {
        **BaseThresholdTree._parameter_constraints,
        "depth_penalty": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        depth_penalty: float = 0.03,
        reference: Any = None,
        noise: str = "group",
        threshold_style: str = "round",
        polish: bool | str = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.depth_penalty = depth_penalty
        super().__init__(
            n_clusters,
            reference=reference,
            noise=noise,
            threshold_style=threshold_style,
            polish=polish,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )

    def _grow(self, problem, progress):
        criterion = InducedCost(problem, self.depth_penalty)
        return grow_greedily(criterion, self.threshold_style, progress)
