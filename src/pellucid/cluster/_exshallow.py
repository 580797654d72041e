"""ExShallow: induced cost with a penalty on depth."""

from __future__ import annotations

from copy import copy
from numbers import Real
from typing import Any

import numpy as np

from pellucid._core.criteria.induced_cost import InducedCost
from pellucid._core.growers import grow
from pellucid._core.growers.penalty_path import PenaltyPath
from pellucid._utils.estimators import Noise, Objective, Polish, store_parameters
from pellucid._utils.progress import Progress
from pellucid._utils.sklearn_compat import Interval
from pellucid.cluster._docs import common_parameters
from pellucid.cluster._reference_tree import SEARCH, BaseReferenceTree, Search
from pellucid.tree.rounding import ThresholdStyle
from pellucid.tree.trade_off import TradeOff


@common_parameters
class ExShallow(BaseReferenceTree):
    r"""A tree with one leaf per cluster, of low cost and with short rules.

    Among cuts of similar cost, it takes the one that leads to a shallow tree, so that the rules of
    most rows have few conditions. The depth penalty λ says how much cost a shorter rule is worth.

    A node u is cut where this is least: the induced cost of its rows after the cut, relative to
    their cost before, plus λ times an estimate of the mean number of cuts below the node,

    .. math:: \frac{\mathrm{InducedCost}(u, \mathrm{cut})}{\mathrm{Cost}(u)}
        + \lambda \cdot \mathrm{EvalWAD}(u, \mathrm{cut}).

    Parameters
    ----------
    {n_clusters}
    depth_penalty : float, default=0.03
        Fraction of a node's cost that one split less per row is worth, λ of the paper. 0 is
        ExGreedy.
    search : {"greedy", "beam"} or BeamSearch, default="greedy"
        One tree, cut by cut, or many side by side: ``"beam"`` is
        :class:`~pellucid.BeamSearch` with its defaults.
    {common}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    Sample weights count as rows in the same way as for :class:`~pellucid.ExGreedy`.

    EvalWAD (algorithm 2) sends K · r_c of the K centers of an estimated node to the left. This
    number is rounded up and kept between 1 and K - 1, as in the published package; the real number
    that the paper prints need never come down to 1.

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
        69 rows (38.8%, 100.0% pure)
    cluster 1: proline > 950
        47 rows (26.4%, 100.0% pure)
    cluster 2: 590 < proline ≤ 950
        62 rows (34.8%, 100.0% pure)
    """

    _parameter_constraints: dict[Any, Any] = {
        **BaseReferenceTree._parameter_constraints,
        "depth_penalty": [Interval(Real, 0, None, closed="left")],
        "search": SEARCH,
    }
    depth_penalty: float
    search: Search

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        depth_penalty: float = 0.03,
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
        store_parameters(self, locals())

    def _grow(self, problem, progress):
        criterion = problem.criterion(InducedCost, self.depth_penalty)
        return grow(criterion, self.search, self.threshold_style, progress)

    def path(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        penalties: Any = None,
        *,
        max_fits: int = 200,
    ) -> TradeOff:
        """All trees over a range of depth penalties: cost against explanation size.

        The tree is constant over ranges of penalties and changes where another cut becomes the
        best of its node. These penalties are computed from the cuts on either side, so that no
        tree of the range is missed unless `max_fits` is reached first. The reference is found
        once, and a node is searched again only if its cut may have changed. The estimator is not
        modified and need not be fitted; its own `depth_penalty` is not used.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows, as in `fit`.
        y : array-like of shape (n_samples,), default=None
            Labels to explain, as in `fit`.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        penalties : array-like of float, optional
            Penalties to start with; the range is from the least to the greatest. Default: 0, 0.03
            and 1.
        max_fits : int, default=200
            Largest number of penalties to try; those in `penalties` are always tried.

        Returns
        -------
        TradeOff
            The trees that are not dominated (no other is as good in cost, WAES and WAD and better
            in one), shortest explanations first. One point per tree.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from pellucid import ExShallow
        >>> path = ExShallow(3, random_state=0).path(load_wine().data)
        >>> print(path)
        cost ratio  agreement   WAES    WAD  leaves  setting
             1.007      97.8%   1.33   1.59       3  depth penalty 0.9
             1.004      98.3%   1.33   1.60       3  depth penalty 0.7
             1.002      98.9%   1.34   1.60       3  depth penalty 0.4
             1.000     100.0%   1.35   1.61       3  depth penalty 0
        """
        penalties = _read_penalties(penalties)
        model = copy(self)  # reading X sets attributes, and a clone would drop a fitted reference
        progress = Progress(f"{type(self).__name__}: penalties", max_fits, self.verbose)
        with model._prepare(X, y, sample_weight) as (_, _, problem):
            path = PenaltyPath(problem, self.threshold_style, progress, max_fits)
            for penalty in penalties:
                path.fit(penalty)
            path.refine()
        return path.trade_off().undominated()


def _read_penalties(penalties: Any) -> list[float]:
    values = np.asarray([0.0, 0.03, 1.0] if penalties is None else penalties, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(
            f"penalties must be a 1-D array of at least one number; got shape {values.shape}"
        )
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(bad):
        raise ValueError(
            f"penalties[{bad[0]}] is {values[bad[0]]}; penalties must be finite and at least 0"
        )
    return values.tolist()
