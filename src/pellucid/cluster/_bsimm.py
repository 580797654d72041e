"""BSIMM: the fewest mistakes, by beam search."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from sklearn.utils._param_validation import Interval

from pellucid._core.criteria.mistakes import Mistakes
from pellucid._core.growers.beam import BeamSearch
from pellucid.cluster._base import BaseThresholdTree, common_parameters


@common_parameters
class BSIMM(BaseThresholdTree):
    """IMM by beam search: a tree with one leaf for each reference cluster and few mistakes.

    Where IMM makes the one cut with the fewest mistakes at each node, here `beam_width` trees grow
    side by side, at each of their leaves `n_candidates` cuts are tried, and the trees with the
    fewest mistakes so far go on. IMM's own tree is always among them, so there are never more
    mistakes than IMM makes; a beam of width 1 is IMM.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters; that of the reference when left out, or 8 without a reference.
    beam_width : int, default=40
        Number of trees that are kept after each cut.
    n_candidates : int, default=10
        Number of cuts that are tried at each leaf: the best of those that are each the best for
        one feature and one pair of neighbouring centers.
    {common}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Explainable threshold tree construction based on beam search (2023). The paper's
    algorithms 2 to 4.

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

    _parameter_constraints: dict = {
        **BaseThresholdTree._parameter_constraints,
        "beam_width": [Interval(Integral, 1, None, closed="left")],
        "n_candidates": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        beam_width: int = 40,
        n_candidates: int = 10,
        objective: str = "kmeans",
        reference: Any = None,
        noise: str = "group",
        threshold_style: str = "round",
        polish: bool | str = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.beam_width = beam_width
        self.n_candidates = n_candidates
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
        search = BeamSearch(self.beam_width, self.n_candidates)
        return search.grow(Mistakes(problem), self.threshold_style, progress)
