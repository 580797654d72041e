"""BSIMM: the fewest mistakes, by beam search."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from pellucid._core.criteria.mistakes import Mistakes
from pellucid._core.criteria.problem import Problem
from pellucid._core.growers.beam import BeamSearch
from pellucid._core.growers.growing_tree import GrowthResult
from pellucid._utils.estimators import Noise, Objective, Polish
from pellucid._utils.progress import Progress
from pellucid._utils.sklearn_compat import Interval
from pellucid.cluster._docs import common_parameters
from pellucid.cluster._reference_tree import BaseReferenceTree
from pellucid.tree.rounding import ThresholdStyle


@common_parameters
class BSIMM(BaseReferenceTree):
    """IMM by beam search: a tree with one leaf per reference cluster and few mistakes.

    The same as ``IMM(search=BeamSearch(width=beam_width, n_candidates=n_candidates))``. Where IMM
    makes the one cut with the fewest mistakes at each node, here B trees grow side by side: C cuts
    are tried at each leaf of each tree, and the B trees with the fewest mistakes so far are kept.
    IMM's own tree is always among them, so there are never more mistakes than IMM makes. A beam of
    width 1 is IMM.

    Parameters
    ----------
    {n_clusters}
    beam_width : int, default=40
        B: number of trees that are kept after each cut.
    n_candidates : int, default=10
        C: number of cuts that are tried at each leaf, the best of the best cuts of each feature
        and each pair of neighbouring centers.
    {common}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Li Yuqun, He Zhenfeng (2023). Explainable threshold tree construction based on beam search (in
    Chinese). Computer Systems & Applications 32(11), 247–252. Algorithms 2 to 4.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from pellucid import BSIMM, IMM
    >>> X = load_digits().data
    >>> imm = IMM(10, random_state=0).fit(X)
    >>> beam = BSIMM(10, reference=imm.reference_centers_, beam_width=5).fit(X)
    >>> own = imm.reference_labels_
    >>> bool((beam.labels_ != own).sum() <= (imm.labels_ != own).sum())
    True
    """

    _parameter_constraints: dict[Any, Any] = {
        **BaseReferenceTree._parameter_constraints,
        "beam_width": [Interval(Integral, 1, None, closed="left")],
        "n_candidates": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        beam_width: int = 40,
        n_candidates: int = 10,
        reference: Any = None,
        objective: Objective = "kmeans",
        noise: Noise = "group",
        threshold_style: ThresholdStyle = "round",
        polish: Polish = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.beam_width = beam_width
        self.n_candidates = n_candidates
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
        search = BeamSearch(self.beam_width, self.n_candidates)
        return search.grow(problem.criterion(Mistakes), self.threshold_style, progress)
