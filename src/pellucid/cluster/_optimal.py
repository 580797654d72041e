"""OptimalTree: the best of all trees with one leaf a cluster, and the proof of it."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from pellucid.cluster._base import BaseThresholdTree, common_parameters


@common_parameters
class OptimalTree(BaseThresholdTree):
    """The best tree with one leaf for each reference cluster, found by exact search.

    Every cut separates reference centers, as in :class:`IMM`; of all such trees this is the one
    of least objective. The search starts from greedy trees and closes in on the best from both
    sides: by better trees, and by bounds below which no tree can go. It is meant for few
    clusters. With six it takes seconds; with ten, and clusters that overlap in every column, it
    may take hours: set a `time_limit` and look at `gap_`.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters; that of the reference when left out, or 8 without a reference.
    objective : {"mistakes", "surrogate"}, default="mistakes"
        What to minimise: the weight of the rows that end in the leaf of another center than
        their own, or the cost of all rows to the reference center of their leaf.
    time_limit : float, default=None
        Seconds after which the search ends with the best tree so far. To interrupt it (Ctrl-C)
        does the same at any time, and so it ends when its memory passes 1 GiB. Each time there
        is a `ConvergenceWarning`, and `lower_bound_` is valid.
    {common}

    Attributes
    ----------
    objective_ : float
        The objective of the tree.
    lower_bound_ : float
        No tree has an objective below this.
    gap_ : float
        Share of `objective_` that a better tree could save at the most; 0 when there is none.
    optimal_ : bool
        Whether the tree is proven to be the best.
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from pellucid import IMM, OptimalTree
    >>> X = scale(load_iris().data)
    >>> model = OptimalTree(7, random_state=0).fit(X)
    >>> model.objective_, model.optimal_
    (11.0, True)
    >>> greedy = IMM(7, random_state=0).fit(X)
    >>> int((greedy.labels_ != greedy.reference_labels_).sum())
    13
    """

    _parameter_constraints: dict = {
        **BaseThresholdTree._parameter_constraints,
        "objective": [StrOptions({"mistakes", "surrogate"})],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
    }

    _cost = "kmeans"

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        objective: str = "mistakes",
        time_limit: float | None = None,
        reference: Any = None,
        noise: str = "group",
        threshold_style: str = "round",
        polish: bool | str = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.time_limit = time_limit
        super().__init__(
            n_clusters,
            objective=objective,
            reference=reference,
            noise=noise,
            threshold_style=threshold_style,
            polish=polish,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )

    def _grow(self, problem, progress):
        # The search brings compiled loops along, which the import of the package does without.
        from pellucid._core.exact.optimal import grow_optimally

        best = grow_optimally(
            problem, self.objective, self.threshold_style, progress, self.time_limit
        )
        self.objective_, self.lower_bound_ = best.objective, best.lower_bound
        self.optimal_ = best.is_proven
        self.gap_ = 0.0 if best.is_proven else 1 - best.lower_bound / best.objective
        if not best.is_proven:
            warnings.warn(
                f"the search ended before it was over: a better tree may save up to "
                f"{100 * self.gap_:.3g} % of the objective. Give it more time or fewer clusters",
                ConvergenceWarning,
                stacklevel=3,
            )
        return best.growth
