"""Base of the baselines: a number of leaves, and the smaller trees of the same fit."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

from sklearn.utils.validation import check_is_fitted

from pellucid._utils.estimators import Noise, Objective, Polish
from pellucid._utils.sklearn_compat import Interval
from pellucid.cluster._reference_tree import BaseReferenceTree
from pellucid.tree import ThresholdTree
from pellucid.tree.rounding import ThresholdStyle


class BaselineTree(BaseReferenceTree):
    """Base of the baselines, which all grow leaf by leaf up to `n_leaves`."""

    _parameter_constraints: dict[Any, Any] = {
        **BaseReferenceTree._parameter_constraints,
        "n_leaves": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_leaves: int | None = None,
        reference: Any = None,
        objective: Objective = "kmeans",
        noise: Noise = "group",
        threshold_style: ThresholdStyle = "round",
        polish: Polish = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_leaves = n_leaves
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

    def _max_leaves(self, n_clusters):
        return n_clusters if self.n_leaves is None else self.n_leaves

    def _store_growth(self, problem, growth):
        self._builder = growth.builder

    def staged_trees(self) -> Iterator[ThresholdTree]:
        """The trees with one leaf, two leaves, and so on up to `tree_` before polish.

        Yields
        ------
        ThresholdTree
            The tree with one more leaf than the one before.
        """
        check_is_fitted(self)
        for n_splits in range(len(self._builder.splits) + 1):
            yield self._builder.build(n_splits)
