"""OptimalTree: the best tree with one leaf per cluster, by exact search."""

from __future__ import annotations

import warnings
from dataclasses import field
from numbers import Real
from typing import Literal

from sklearn.exceptions import ConvergenceWarning

from pellucid._utils.sklearn_compat import Interval, StrOptions
from pellucid.cluster._docs import common_parameters
from pellucid.cluster._reference_tree import PolishableTree


@common_parameters
class OptimalTree(PolishableTree):
    r"""The best of all trees with one leaf per cluster, with a proof.

    It says how much better any tree could be: use it for up to about six clusters, to judge the
    trees of other methods. Every cut separates reference centers, as in :class:`~pellucid.IMM`.

    Of all such trees T with leaves :math:`T_j`, it has the least number of mistakes or the least
    surrogate cost,

    .. math:: \sum_{j} |T_j \setminus C^j| \qquad \mathrm{or} \qquad
        \sum_{j} \sum_{x \in T_j} \|x - \mu^j\|^2,

    and ``lower_bound_ ≤ value of any such tree``. Branch and bound starts from greedy trees and
    closes the gap from both sides: by better trees, and by lower bounds. Six clusters take seconds;
    ten that overlap in every column may take hours: set a `time_limit` and look at `gap_`.

    Parameters
    ----------
    {n_clusters}
    criterion : {"mistakes", "surrogate"}, default="mistakes"
        What to minimise: the weight of the rows that end in the leaf of another center than
        their own, or the k-means cost of all rows to the reference center of their leaf.
    time_limit : float, default=None
        Seconds after which the search stops with the best tree so far. Ctrl-C stops it at any
        time, and so does the use of more than 1 GiB of memory. In each case there is a
        `ConvergenceWarning`, and `lower_bound_` is valid.
    {common}

    Attributes
    ----------
    objective_ : float
        Value of `criterion` for the tree.
    lower_bound_ : float
        Lower bound on the value of `criterion` for any tree.
    gap_ : float
        ``1 - lower_bound_ / objective_``, or 0 if the tree is proven to be optimal.
    optimal_ : bool
        Whether the tree is proven to be optimal.
    {attributes}

    References
    ----------
    Moshkovitz, Dasgupta, Rashtchian, Frost (2020). Explainable k-means and k-medians
    clustering. ICML. (The trees and their mistakes; the search is this package's own.)

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

    _parameter_constraints = {
        "criterion": [StrOptions({"mistakes", "surrogate"})],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
    }
    criterion: Literal["mistakes", "surrogate"] = "mistakes"
    time_limit: float | None = None
    objective_: float = field(init=False)
    lower_bound_: float = field(init=False)
    optimal_: bool = field(init=False)
    gap_: float = field(init=False)

    def _grow(self, problem, progress):
        # Imported here, because the module compiles loops on import.
        from pellucid._core.exact.branch_and_bound import grow_optimally

        style, limit = self.threshold_style, self.time_limit
        best = grow_optimally(problem, self.criterion, style, progress, limit)
        self.objective_, self.lower_bound_ = best.objective, best.lower_bound
        self.optimal_ = best.is_proven
        self.gap_ = 0.0 if best.is_proven else 1 - best.lower_bound / best.objective
        if not best.is_proven:
            gap = f"the optimum may be up to {100 * self.gap_:.3g}% lower (`gap_`)"
            text = f"the search stopped early (time limit, memory or Ctrl-C); {gap}"
            warnings.warn(text, ConvergenceWarning, stacklevel=3)
        return best.growth
