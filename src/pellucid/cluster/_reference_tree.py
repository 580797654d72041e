"""Parameters that most tree estimators share: objective, polish and number of leaves."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from pellucid._core.criteria.base import MemoryCriterion
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.medians import OBJECTIVES
from pellucid._core.growers import Search, grow
from pellucid._core.growers.beam import BeamSearch
from pellucid._core.growers.growing_tree import GrowthResult
from pellucid._core.refine.polish import polish_tree
from pellucid._core.refine.tuning import ROUNDS
from pellucid._utils.estimators import Objective, Polish
from pellucid._utils.progress import Progress
from pellucid._utils.sklearn_compat import Interval, StrOptions
from pellucid.cluster._base import BaseThresholdTree
from pellucid.cluster._docs import common_parameters
from pellucid.tree import ThresholdTree


@common_parameters
class PolishableTree(BaseThresholdTree):
    """Base of the estimators whose finished tree may be improved by local search: `polish`."""

    _parameter_constraints = {"polish": ["boolean", StrOptions({"deep"})]}
    polish: Polish = False

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.polish and self._objective != "kmeans":
            raise ValueError(
                f"polish={self.polish!r} lowers the k-means cost and cannot be used with "
                f"objective={self._objective!r}"
            )

    @property
    def _moves_clusters(self) -> bool:
        return bool(self.polish)

    def _finish(self, problem: Problem, growth: GrowthResult) -> tuple[ThresholdTree, np.ndarray]:
        if not self.polish:
            return super()._finish(problem, growth)
        polished = polish_tree(
            growth.builder.build(),
            problem,
            threshold_style=self.threshold_style,
            n_leaves=self._max_leaves(problem.n_clusters),
            deep=self.polish == "deep",
            progress=Progress(f"{type(self).__name__}: polishing", ROUNDS, self.verbose),
        )
        return polished.tree, polished.leaf


@common_parameters
class BaseReferenceTree(PolishableTree):
    """Base of the estimators that approximate a reference under either objective."""

    _parameter_constraints = {"objective": [StrOptions(set(OBJECTIVES))]}
    objective: Objective = "kmeans"

    _has_beam_on_scan = False
    """Whether beam search is possible on a scan."""

    def _check_scan_parameters(self) -> None:
        super()._check_scan_parameters()
        if self.polish:
            raise ValueError(
                f"polish={self.polish!r} needs all rows in memory; leave it out for a scan, or use "
                "ExplainableKMeans"
            )
        if getattr(self, "search", "greedy") != "greedy" and not self._has_beam_on_scan:
            raise ValueError(f'{type(self).__name__} searches a scan greedily; use search="greedy"')


@common_parameters
class BaseSearchTree(BaseReferenceTree):
    """Base of the estimators with the parameter `search`: one criterion, greedy or beam search."""

    _parameter_constraints = {"search": [StrOptions({"greedy", "beam"}), BeamSearch]}
    search: Search = "greedy"
    _criterion: ClassVar[type[MemoryCriterion[Any]]]

    def _grow(self, problem: Any, progress: Progress) -> GrowthResult:
        criterion = problem.criterion(self._criterion)
        return grow(criterion, self.search, self.threshold_style, progress)


@common_parameters
class BaseLeafwiseTree(BaseReferenceTree):
    """Base of the estimators that grow leaf by leaf up to `n_leaves`."""

    _parameter_constraints = {"n_leaves": [Interval(Integral, 1, None, closed="left"), None]}
    n_leaves: int | None = None

    def _max_leaves(self, n_clusters):
        return n_clusters if self.n_leaves is None else self.n_leaves
