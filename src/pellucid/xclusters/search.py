"""From two distance matrices to the best pair (k, α) that a search finds."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pellucid._utils.interrupt import Interrupt
from pellucid._utils.progress import Progress
from pellucid.xclusters.branch_and_bound import Record, branch_and_bound
from pellucid.xclusters.evaluate import Clusterer, Evaluation, Evaluator, KMedoidsStarts
from pellucid.xclusters.mixture import Mixture
from pellucid.xclusters.strategies import bayesian_search, grid_search, look_around, two_step
from pellucid.xclusters.tree_accuracy import reachable_accuracy
from pellucid.xclusters.trees import TreeGrower

SEARCHES = ("branch-and-bound", "grid", "bayes", "two-step")
STARTS = ("ends", "build", "neighbour")

BOUND_FIELDS = [
    ("k1", np.int64),
    ("alpha1", np.float64),
    ("k2", np.int64),
    ("alpha2", np.float64),
    ("lower", np.float64),
    ("upper", np.float64),
    ("fate", "U14"),
]


@dataclass
class Found:
    """What a search has found."""

    chosen: Evaluation
    objective: float
    evaluations: np.ndarray
    bounds: np.ndarray
    lower: float
    is_complete: bool
    was_interrupted: bool


def find_clusters(
    mixture: Mixture, grower: TreeGrower, weight: np.ndarray, params: dict[str, Any], seed: int
) -> Found:
    """Search as the parameters of :class:`~pellucid.XClusters` say."""
    ks = list(range(params["k_range"][0], params["k_range"][1] + 1))
    alphas = alpha_grid(params["alpha_step"])
    cluster = _find_clusterer(params, mixture, weight)
    with Interrupt() as interrupt:
        show = _Progress(params["verbose"])
        ends = (ks[0], ks[-1])
        evaluator = Evaluator(mixture, grower, cluster, weight, ends, params["trade_off"], show)
        stop = _Stop(interrupt, evaluator, params["max_evaluations"])
        pair, lower, blocks = _search(evaluator, ks, alphas, stop, show, params, seed)
    chosen = evaluator.best() if pair is None else evaluator.evaluate(*pair)
    objective = evaluator.objective(chosen.k, chosen.alpha)
    return Found(
        chosen,
        objective,
        evaluator.table(),
        np.array([tuple(block) for block in blocks], dtype=BOUND_FIELDS),
        float(np.minimum(lower, objective)),
        not stop.was_true,
        interrupt.requested,
    )


def _search(
    evaluator: Evaluator,
    ks: list[int],
    alphas: list[float],
    stop: _Stop,
    show: _Progress,
    params: dict[str, Any],
    seed: int,
) -> tuple[tuple[int, float] | None, float, list[Record]]:
    """The pair that a search chose if not the best, a lower bound, and the blocks, if any."""
    objective = evaluator.objective
    if params["search"] == "grid":
        grid_search(objective, ks, alphas, stop)
    elif params["search"] == "bayes":
        how = {"n_pairs": params["max_evaluations"], "random_state": seed}
        bayesian_search(objective, ks, alphas, stop, **how)
    elif params["search"] == "two-step":
        return two_step(lambda *pair: evaluator.evaluate(*pair).distortion, ks, stop), np.nan, []
    else:
        how = {"trade_off": params["trade_off"], "tolerance": params["tolerance"]}
        found = branch_and_bound(evaluator.parts, ks, alphas, stop=stop, report=show.bound, **how)
        if params["refine"]:
            look_around(objective, evaluator.evaluations, ks, alphas, stop)
        return None, found.lower, found.blocks
    return None, np.nan, []


class _Stop:
    """Whether to stop: Ctrl-C was pressed, or as many pairs as allowed are evaluated."""

    def __init__(self, interrupt: Interrupt, evaluator: Evaluator, most: int | None) -> None:
        self.interrupt, self.evaluator, self.most = interrupt, evaluator, most or np.inf
        self.was_true = False

    def __call__(self) -> bool:
        if self.interrupt.requested or len(self.evaluator.evaluations) >= self.most:
            self.was_true = True
        return self.was_true


def alpha_grid(step: float) -> list[float]:
    """Multiples of a step from 0 to 1; the last step is shorter if it has to be.

    Examples
    --------
    >>> from pellucid.xclusters.search import alpha_grid
    >>> alpha_grid(0.3)
    [0.0, 0.3, 0.6, 0.9, 1.0]
    """
    n = int(np.ceil(1 / step - 1e-9))
    return [round(i * step, 12) for i in range(n)] + [1.0]


def read_k_range(k_range: Any) -> tuple[int, int]:
    """Smallest and largest k, or an error that says what would work."""
    ks = list(k_range)
    if len(ks) != 2 or not all(isinstance(k, Integral) for k in ks) or not 1 <= ks[0] <= ks[1]:
        raise ValueError(
            f"k_range={k_range!r}; give the smallest and the largest number of clusters, such as "
            "(3, 11)"
        )
    return int(ks[0]), int(ks[1])


def check_rows(n: int, k_range: tuple[int, int]) -> None:
    """Refuse fewer rows than there are to be clusters."""
    if n == 1:
        raise ValueError("there is only 1 sample (one row of a weight above 0): nothing to cluster")
    if k_range[1] > n:
        works = f"k_range=({min(k_range[0], n)}, {n}) would work"
        raise ValueError(
            f"k_range={k_range} goes beyond the number of rows, n_samples = {n}; {works}"
        )


def warn_of(found: Found, grower: TreeGrower | None) -> None:
    """Say if a search was cut short, or if the tree of a `grower` was to be exact and is not."""
    if found.was_interrupted:
        _warn(
            f"interrupted after {len(found.evaluations)} evaluations; the clusters are the best "
            "of these"
        )
    if grower is not None and found.chosen.accuracy < 1:
        reachable = reachable_accuracy(grower.X, found.chosen.labels, grower.weight)
        which = "all rows" if (grower.X[0] == grower.X).all() else "some rows"
        _warn(
            f"no tree can separate these {found.chosen.k} clusters: {which} have the same "
            "explanation features as rows of other clusters, and the best reachable accuracy is "
            f"{reachable:.3f}. Add explanation features that differ, or ask for less by "
            "tree_accuracy"
        )


def _warn(text: str) -> None:
    warnings.warn(text, ConvergenceWarning, stacklevel=4)


def _find_clusterer(params: dict[str, Any], mixture: Mixture, weight: np.ndarray) -> Clusterer:
    if params["clusterer"] == "kmedoids":
        weights = None if (weight == 1).all() else weight
        return KMedoidsStarts(mixture, weights, params["init"], params["n_jobs"])
    return _plugged_in(params["clusterer"], mixture, weight)


def _plugged_in(estimator: Any, mixture: Mixture, weight: np.ndarray) -> Clusterer:
    from sklearn.base import clone
    from sklearn.utils.validation import has_fit_parameter

    if "n_clusters" not in estimator.get_params():
        raise ValueError(
            f"clusterer={estimator!r} has no parameter n_clusters, which is what is searched for; "
            "use, for example, AgglomerativeClustering(metric='precomputed', linkage='average')"
        )
    weights = {"sample_weight": weight} if has_fit_parameter(estimator, "sample_weight") else {}

    def cluster(k: int, alpha: float) -> np.ndarray:
        model = clone(estimator).set_params(n_clusters=k)
        # A copy, as the matrix is written over for the next α.
        return np.asarray(model.fit(mixture.at(alpha).copy(), **weights).labels_)

    return cluster


class _Progress:
    """One line on standard error for each pair that is evaluated."""

    def __init__(self, verbose: int) -> None:
        self._progress, self.lower = Progress("XClusters", 0, verbose), None

    def bound(self, best: float, lower: float) -> None:
        self.lower = lower

    def __call__(self, evaluator: Evaluator) -> None:
        if not self._progress.is_reported:
            return
        best = evaluator.best()
        bound = "" if self.lower is None else f", bound {self.lower:.4f}"
        self._progress.report(
            f"{len(evaluator.evaluations)} evaluations, best "
            f"{evaluator.objective(best.k, best.alpha):.4f} at k = {best.k}, "
            f"α = {best.alpha:.3g}{bound}"
        )
