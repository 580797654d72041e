"""Search for the best pair (k, α), given two distance matrices."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from pellucid._utils.imports import import_optional
from pellucid._utils.notices import option
from pellucid._utils.progress import Interrupt, Progress
from pellucid.xclusters.branch_and_bound import BlockRecord, PairSearch
from pellucid.xclusters.evaluate import Clusterer, Evaluation, Evaluator, KMedoidsStarts, Mixture
from pellucid.xclusters.trees import (
    ROUNDING,
    TreeGrower,
    check_instance,
    name_of,
    reachable_accuracy,
)

Objective = Callable[[int, float], float]
Stop = Callable[[], bool]

_ALTERNATIVE = "branch-and-bound"

_CLUSTERERS = "AgglomerativeClustering(metric='precomputed', linkage='average')"

# Random pairs at the start of Bayesian optimization, and pairs that it then selects.
N_RANDOM, N_GUIDED = 10, 30
NEAR_BEST = 0.03  # pairs with an objective up to this fraction above the best are refined
# Most pairs that the refinement evaluates, and that are evaluated before it ends, of the grid.
MAX_REFINED, MAX_EVALUATED = 0.1, 1 / 3
# Offsets of the neighbors of a pair, in steps of k and α.
_STEPS = [(-1, 0), (1, 0), (0, -1), (0, 1), (0, -2), (0, 2), (-1, -1), (-1, 1), (1, -1), (1, 1)]
SEARCHES = ("branch-and-bound", "grid", "bayes", "two-step")

STARTS = ("ends", "build", "neighbour")

# Names and types of the columns of `bounds_`.
_BOUND_FIELDS = list(zip(BlockRecord._fields, ("i8", "f8", "i8", "f8", "f8", "f8", "U14")))


def grid_search(
    objective: Objective, ks: Sequence[int], alphas: Sequence[float], stop: Stop
) -> None:
    for k in ks:
        for alpha in alphas:
            if stop():
                return
            objective(k, alpha)


def two_step(distortion: Objective, ks: Sequence[int], stop: Stop) -> tuple[int, float]:
    """Select α = 0 and the k at the elbow of the distortion: first cluster, then explain."""
    distortions = []
    for k in ks:
        distortions.append(distortion(k, 0.0))
        if stop():
            break
    return elbow(ks[: len(distortions)], distortions), 0.0


def elbow(ks: Sequence[int], distortions: Sequence[float]) -> int:
    """The k at which a decreasing curve flattens; the smallest k if there is no elbow."""
    if len(ks) < 3 or max(distortions) == min(distortions):
        return ks[0]
    kneed = import_optional("kneed", option("search", "two-step"), _ALTERNATIVE)
    found = kneed.KneeLocator(list(ks), list(distortions), curve="convex", direction="decreasing")
    return ks[0] if found.knee is None else int(found.knee)


def bayesian_search(
    objective: Objective,
    ks: Sequence[int],
    alphas: Sequence[float],
    stop: Stop,
    *,
    n_pairs: int | None = None,
    random_state: int = 0,
) -> None:
    """Bayesian optimization: random pairs, then pairs suggested by a Gaussian process."""
    from threadpoolctl import threadpool_limits

    package = import_optional("bayes_opt", option("search", "bayes"), _ALTERNATIVE)
    bounds = {"k": (ks[0], ks[-1]), "alpha": (alphas[0], alphas[-1])}
    optimizer = package.BayesianOptimization(
        None, bounds, random_state=random_state, verbose=0, allow_duplicate_points=True
    )
    rng = np.random.default_rng(random_state)
    for i in range(N_RANDOM + N_GUIDED if n_pairs is None else n_pairs):
        if stop():
            return
        if i < N_RANDOM:
            pair = {name: rng.uniform(*ends) for name, ends in bounds.items()}
        else:
            # Threads slow down the many small systems of equations.
            with threadpool_limits(1, "blas"):
                pair = optimizer.suggest()
        k, alpha = round(pair["k"]), float(pair["alpha"])
        optimizer.register(params={"k": k, "alpha": alpha}, target=-objective(k, alpha))


def refine_locally(
    objective: Objective,
    known: Collection[tuple[int, float]],
    ks: Sequence[int],
    stop: Stop,
    alpha_step: float = 0.05,
    alpha_tol: float = 0.01,
) -> None:
    """Evaluate the neighbors of the best pairs until no neighbor of a near-best pair is left.

    If D and N are not monotone, the best pair is often close to one that is almost as good. The
    step in α is halved down to `alpha_tol`. Before, α = 0 is evaluated with every k, so that the
    result is not worse than clustering first. `known` is a live view of the evaluated pairs.
    """
    n_grid = len(ks) * len(alpha_grid(alpha_step))
    most = int(n_grid * MAX_EVALUATED + 1e-9)
    for k in ks:
        if (k, 0.0) not in known and (len(known) >= most or stop()):
            return
        objective(k, 0.0)
    max_known = min(len(known) + int(n_grid * MAX_REFINED + 1e-9), most)
    step = alpha_step
    while True:
        for pair in _neighbors_of_near_best(objective, known, ks, step, alpha_tol):
            if stop() or len(known) >= max_known:
                return
            objective(*pair)
        if step <= alpha_tol:
            return
        step /= 2


def _neighbors_of_near_best(
    objective: Objective,
    known: Collection[tuple[int, float]],
    ks: Sequence[int],
    step: float,
    alpha_tol: float,
) -> Iterator[tuple[int, float]]:
    """Pairs to evaluate next, one at a time, until all near-best pairs are refined."""
    refined: set[tuple[int, float]] = set()
    while True:
        best = min(objective(*pair) for pair in known)
        near_best = [pair for pair in known if objective(*pair) <= best * (1 + NEAR_BEST)]
        pending = [pair for pair in near_best if pair not in refined]
        if not pending:
            return
        pair = min(pending, key=lambda pair: (objective(*pair), pair))
        refined.add(pair)
        for k_steps, alpha_steps in _STEPS:
            k = pair[0] + k_steps
            alpha = min(max(pair[1] + alpha_steps * step, 0.0), 1.0)
            others = [other for other_k, other in known if other_k == k]
            if k in ks and all(abs(alpha - other) > alpha_tol / 2 for other in others):
                yield k, alpha


@dataclass
class SearchOutcome:
    """The selected pair, its normalized objective D + λ·N, and how it was found."""

    chosen: Evaluation
    objective: float
    evaluations: np.ndarray
    bounds: np.ndarray
    lower: float
    is_complete: bool
    was_interrupted: bool


def find_clusters(
    model: Any, mixture: Mixture, grower: TreeGrower, k_range: tuple[int, int]
) -> SearchOutcome:
    """Minimize D(k, α) + λ·N(k, α) by the search that an :class:`~pellucid.XClusters` names."""
    with Interrupt() as interrupt:
        clusterer = _make_clusterer(model, mixture, grower.weight)
        options = model.trade_off, Progress("XClusters", 0, model.verbose), model.min_cluster_size
        evaluator = Evaluator(mixture, grower, clusterer, grower.weight, k_range, *options)
        max_evaluations, is_complete = model.max_evaluations or np.inf, True

        def stop() -> bool:
            nonlocal is_complete
            if interrupt.requested or len(evaluator.evaluations) >= max_evaluations:
                is_complete = False
            return not is_complete

        pair, result = _run_search(evaluator, model, stop)
    chosen = evaluator.best() if pair is None else evaluator.evaluate(*pair)
    objective = evaluator.objective(chosen.k, chosen.alpha)
    bounds = np.array(result.blocks if result else [], dtype=_BOUND_FIELDS)
    lower = min(result.lower, objective) if result else np.nan
    is_complete = is_complete and (result is None or result.is_complete)
    found = chosen, objective, evaluator.table(), bounds, lower, is_complete
    return SearchOutcome(*found, was_interrupted=interrupt.requested)


def _run_search(
    evaluator: Evaluator, model: Any, stop: Stop
) -> tuple[tuple[int, float] | None, PairSearch | None]:
    """The selected pair (None: the best evaluated pair), and the result of branch and bound."""
    ks = list(range(evaluator.k_range[0], evaluator.k_range[1] + 1))
    alphas, score = alpha_grid(model.alpha_step), evaluator.score
    if model.search == "grid":
        grid_search(score, ks, alphas, stop)
    elif model.search == "bayes":
        seed, n_pairs = evaluator.grower.random_state, model.max_evaluations
        bayesian_search(score, ks, alphas, stop, n_pairs=n_pairs, random_state=seed)
    elif model.search == "two-step":
        return two_step(lambda *pair: evaluator.evaluate(*pair).distortion, ks, stop), None
    else:
        known = evaluator.evaluations
        most = len(ks) * len(alphas) * (MAX_EVALUATED - MAX_REFINED)
        result = PairSearch(
            evaluator.normalized_parts,
            ks,
            alpha_tol=model.alpha_tol,
            # As long as no tree is accurate enough, no more pairs than those of the grid.
            coarse_tol=2 * model.alpha_step,
            penalty=evaluator.penalty,
            trade_off=model.trade_off,
            tolerance=model.tolerance,
            reduce=model.reduce,
            # The refinement needs the rest of the evaluations.
            stop=lambda: stop() or (model.refine and len(known) >= most),
            report=evaluator.set_bound,
        ).run()
        if model.refine:
            refine_locally(score, known, ks, stop, model.alpha_step, model.alpha_tol)
        return None, result
    return None, None


def alpha_grid(step: float) -> list[float]:
    """Multiples of a step from 0 to 1; the last step may be shorter, as in 0, 0.3, 0.6, 0.9, 1."""
    n = int(np.ceil(1 / step - 1e-9))
    return [round(i * step, 12) for i in range(n)] + [1.0]


def read_k_range(k_range: Any) -> tuple[int, int]:
    ks = list(k_range)
    if len(ks) != 2 or not all(isinstance(k, Integral) for k in ks) or not 1 <= ks[0] <= ks[1]:
        raise ValueError(
            f"k_range={k_range!r}; give the smallest and the largest number of clusters, such as "
            "(3, 11)"
        )
    return int(ks[0]), int(ks[1])


def check_rows(n: int, k_range: tuple[int, int]) -> None:
    if n == 1:
        raise ValueError("only 1 sample (one row of positive weight); clusters need at least 2")
    if k_range[1] > n:
        raise ValueError(
            f"k_range={k_range} exceeds the number of rows, n_samples = {n}; use for example "
            f"k_range=({min(k_range[0], n)}, {n})"
        )


def warn_about(outcome: SearchOutcome, grower: TreeGrower) -> None:
    """Warn if the search was interrupted or if the tree does not reach its required accuracy."""
    if outcome.was_interrupted:
        found = f"interrupted after {len(outcome.evaluations)} evaluations"
        text = f"{found}; the clusters are the best of these"
        warnings.warn(text, ConvergenceWarning, stacklevel=3)
    chosen, required = outcome.chosen, grower.min_accuracy
    if chosen.accuracy >= required - ROUNDING:
        return
    if grower.tree is None:  # CART grows until only identical rows are in different clusters
        reachable = reachable_accuracy(grower.X, chosen.labels, grower.measure_weight)
        which = "all" if (grower.X[0] == grower.X).all() else "some"
        goal = "" if required == 1 else f" with {option('tree_accuracy', required)}"
        text = (
            f"no tree can separate these {chosen.k} clusters{goal}: {which} members of different "
            "clusters have the same explanation features, and the best reachable accuracy is "
            f"{reachable:.3f}. Add explanation features, or reduce {option('tree_accuracy')}"
        )
    else:  # a tree with its own stopping rules
        name, best = type(grower.tree).__name__, outcome.evaluations["accuracy"].max()
        text = (
            f"{name} predicts these {chosen.k} clusters with an accuracy ({grower.measure}) of "
            f"{chosen.accuracy:.3f}, below {option('tree_accuracy', required)}; the best of "
            f"{len(outcome.evaluations)} evaluated pairs reaches {best:.3f}. Reduce "
            f"{option('tree_accuracy')}, or use a larger tree"
        )
    warnings.warn(text, ConvergenceWarning, stacklevel=3)


def _make_clusterer(model: Any, mixture: Mixture, weight: np.ndarray) -> Clusterer:
    if model.clusterer == "kmedoids":
        weights = None if (weight == 1).all() else weight
        return KMedoidsStarts(mixture, weights, model.init, model.n_jobs)
    convert = clusterer_input(model.clusterer)

    def cluster(k: int, alpha: float) -> np.ndarray:
        estimator = clone(model.clusterer, safe=False)
        if hasattr(estimator, "set_params"):
            estimator.set_params(n_clusters=min(k, len(weight)))
        else:
            estimator.n_clusters = min(k, len(weight))
        matrix = convert(mixture.at(alpha))
        if "sample_weight" in inspect.signature(estimator.fit).parameters:
            return np.asarray(estimator.fit(matrix, sample_weight=weight).labels_)
        if hasattr(estimator, "fit_predict"):
            return np.asarray(estimator.fit_predict(matrix))
        return np.asarray(estimator.fit(matrix).labels_)

    return cluster


def clusterer_input(estimator: Any) -> Callable[[np.ndarray], np.ndarray]:
    """The function that converts distances to the input of a clusterer, which is checked."""
    check_instance(estimator, "clusterer")
    name = name_of(estimator)
    if hasattr(estimator, "steps"):
        raise TypeError(
            f"clusterer is a pipeline, but the search has distances, not features; use for example "
            f"{_CLUSTERERS}"
        )
    parameters = getattr(estimator, "get_params", lambda: vars(estimator))()
    if "n_clusters" not in parameters:
        raise ValueError(
            f"clusterer={name} has no parameter n_clusters, which the search needs; use for "
            f"example {_CLUSTERERS}"
        )
    option = next((p for p in ("metric", "affinity", "kernel") if p in parameters), None)
    if option is None:
        if type(estimator).__module__.startswith(("sklearn.", "pellucid.")):
            raise ValueError(
                f"clusterer={name} clusters features, but the search has distances only; use "
                f"for example {_CLUSTERERS}"
            )
        return np.copy
    kind, is_ward = parameters[option], parameters.get("linkage") == "ward"
    if kind not in ("precomputed", "precomputed_nearest_neighbors"):
        linkage = " and linkage='average'" * is_ward
        raise ValueError(
            f"clusterer={name} would use the distances as features, because {option} is "
            f"{kind!r}; set {option}='precomputed'{linkage}"
        )
    if is_ward:
        raise ValueError(
            f"clusterer={name} needs features, because linkage is 'ward', but the search has "
            "distances only; set linkage='average'"
        )
    # A copy, because the matrix is overwritten for the next α.
    is_affinity = option != "metric" and kind == "precomputed"
    return as_affinities if is_affinity else np.copy


def as_affinities(distances: np.ndarray) -> np.ndarray:
    """Affinities exp(-d / s), where s is the standard deviation of the distances d."""
    return np.exp(-distances / (distances.std() or 1.0))
