"""ExKMC: a base tree, expanded leaf by leaf where the surrogate cost falls most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from pellucid._core.criteria.base import StartTree
from pellucid._core.criteria.surrogate_cost import SurrogateCost
from pellucid._core.growers.best_first import grow_best_first
from pellucid._utils.progress import Progress
from pellucid._utils.sklearn_compat import Interval, StrOptions, validate_parameters
from pellucid.cluster._base import BaseThresholdTree
from pellucid.cluster._docs import common_parameters
from pellucid.cluster._one_leaf_per_cluster import IMM
from pellucid.cluster._reference_tree import BaseReferenceTree
from pellucid.tree import ThresholdTree


@common_parameters
class ExKMC(BaseReferenceTree):
    r"""A tree with more leaves than clusters: each further leaf lowers the cost.

    It starts from a base tree, that of IMM, and cuts one leaf after the other. It is for data where
    one leaf per cluster costs too much: with 2k to 4k leaves, the clusters are mostly those of
    the reference.

    With reference centers :math:`\mu^1 \dots \mu^k` and leaves :math:`\widehat C^1 \dots
    \widehat C^{k'}`, the next leaf is the one whose best cut lowers the surrogate cost most:

    .. math:: \widetilde{\mathrm{cost}}(\widehat C^1, \dots, \widehat C^{k'})
        = \sum_{i=1}^{k'} \min_{j} \sum_{x \in \widehat C^i} \|x - \mu^j\|_2^2

    Parameters
    ----------
    {n_clusters}
    n_leaves : int, default=None
        Largest number of leaves, k' of the paper. None: 2k. The tree has exactly this many
        unless no further split lowers the cost.
    base : {"imm"}, None, estimator or ThresholdTree, default="imm"
        The tree to expand: that of :class:`~pellucid.IMM` with the same `threshold_style`, a
        single leaf (None), the tree of another estimator of this package (fitted: as it is;
        unfitted: cloned and grown for the same reference and objective), or a tree.
    {common}

    Attributes
    ----------
    surrogate_costs_ : ndarray
        Surrogate cost of the tree with as many leaves as the base, one more, and so on, before
        the last of them was polished.
    {attributes}

    Notes
    -----
    If growth ends before `n_leaves` and every leaf holds only rows that are cheapest at one and the
    same center, the tree is the reference clustering.

    The surrogate cost never rises, so the guarantee of :class:`~pellucid.IMM` holds for every tree
    that starts from IMM's (Theorems 1 to 3 of the paper); see `guarantee_`.

    References
    ----------
    Frost, Moshkovitz, Rashtchian (2020). ExKMC: Expanding explainable k-means clustering.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import ExKMC
    >>> model = ExKMC(3, n_leaves=5, random_state=0).fit(load_iris().data)
    >>> [tree.n_leaves for tree in model.staged_trees()]
    [3, 4, 5]
    """

    _parameter_constraints = {
        "n_leaves": [Interval(Integral, 1, None, closed="left"), None],
        "base": [StrOptions({"imm"}), BaseThresholdTree, ThresholdTree, None],
    }
    n_leaves: int | None = None
    base: Any = "imm"
    surrogate_costs_: np.ndarray = field(init=False)

    def _max_leaves(self, n_clusters):
        return 2 * n_clusters if self.n_leaves is None else self.n_leaves

    def _grow(self, problem, progress):
        base, style = self._find_base(problem, progress), self.threshold_style
        n_leaves, width = self._max_leaves(problem.n_clusters), problem.n_features
        if base is not None and (found := base.tree.n_features) != width:
            raise ValueError(f"the base tree looks at {found} columns, but X has {width}")
        if base is not None and (found := base.tree.n_leaves) > n_leaves:
            raise ValueError(
                f"n_leaves={n_leaves} is less than the {found} leaves of the base tree"
            )
        return grow_best_first(problem.criterion(SurrogateCost), style, progress, n_leaves, base)

    def _find_base(self, problem: Any, progress: Progress) -> StartTree | None:
        if self.base is None:
            return None
        if isinstance(self.base, ThresholdTree):
            return StartTree(self.base)
        if hasattr(self.base, "tree_"):
            return StartTree(self.base.tree_)
        base = IMM(threshold_style=self.threshold_style) if self.base == "imm" else self.base
        validate_parameters(base)
        base = clone(base)
        if problem.is_in_memory:
            return StartTree(*base._finish(problem, base._grow(problem, progress)))
        base._check_scan_parameters()
        return StartTree(base._grow(problem, progress).builder.build())

    def _store_growth(self, problem, growth, found):
        final = sum(map(problem.criterion(SurrogateCost).cost, growth.leaves.values()))
        self._builder, n_splits = growth.builder, len(growth.builder.splits)
        self._stages = range(n_splits - len(growth.gains), n_splits + 1)
        # Whole units, so the steps back from the final cost are exact.
        units = final + np.cumsum([0, *growth.gains[::-1]], dtype=np.int64)[::-1]
        self.surrogate_costs_ = units * problem.cost_unit

    def staged_trees(self) -> Iterator[ThresholdTree]:
        """The nested trees of this fit, from the base tree to `tree_` before it was polished.

        Yields
        ------
        ThresholdTree
            The tree with one more leaf than the one before.
        """
        check_is_fitted(self)
        yield from map(self._builder.build, self._stages)
