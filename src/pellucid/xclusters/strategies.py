"""Alternatives to branch and bound over pairs (k, α), and a local refinement.

All of them call a caching objective function, which also stores the best pair, and a function
that determines when to stop.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np

from pellucid._utils.imports import import_optional
from pellucid._utils.notices import option

Objective = Callable[[int, float], float]
Stop = Callable[[], bool]

_ALTERNATIVE = "branch-and-bound"

N_RANDOM = 10
"""Random pairs at the start of Bayesian optimization."""

N_GUIDED = 30
"""Default number of pairs that Bayesian optimization selects after the random pairs."""

NEAR_BEST = 0.03
"""Pairs with an objective up to this fraction above the best are refined."""

MAX_REFINED = 0.1
"""Maximum number of pairs that the refinement evaluates, as a fraction of the grid."""

MAX_EVALUATED = 1 / 3
"""Number of evaluated pairs, as a fraction of the grid, at which the refinement ends."""

_STEPS = [(-1, 0), (1, 0), (0, -1), (0, 1), (0, -2), (0, 2), (-1, -1), (-1, 1), (1, -1), (1, 1)]
"""Offsets of the neighbors of a pair, in steps of k and α."""


def grid_search(
    objective: Objective, ks: Sequence[int], alphas: Sequence[float], stop: Stop
) -> None:
    """Evaluate every pair."""
    for k in ks:
        for alpha in alphas:
            if stop():
                return
            objective(k, alpha)


def two_step(distortion: Objective, ks: Sequence[int], stop: Stop) -> tuple[int, float]:
    """Select α = 0 and the k at the elbow of the distortion: first cluster, then explain.

    At least one k is evaluated.
    """
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
    found = import_optional("kneed", option("search", "two-step"), _ALTERNATIVE)
    KneeLocator = found.KneeLocator
    knee = KneeLocator(list(ks), list(distortions), curve="convex", direction="decreasing").knee
    return ks[0] if knee is None else int(knee)


def bayesian_search(
    objective: Objective,
    ks: Sequence[int],
    alphas: Sequence[float],
    stop: Stop,
    *,
    n_pairs: int | None = None,
    random_state: int = 0,
) -> None:
    """Bayesian optimization: random pairs, then pairs suggested by a Gaussian process.

    α may take every value between the first and the last of `alphas`. A repeated pair counts
    toward `n_pairs`, although it is cached.
    """
    from threadpoolctl import threadpool_limits

    package = import_optional("bayes_opt", option("search", "bayes"), _ALTERNATIVE)
    bounds = {"k": (ks[0], ks[-1]), "alpha": (alphas[0], alphas[-1])}
    optimizer = package.BayesianOptimization(
        None, bounds, random_state=random_state, verbose=0, allow_duplicate_points=True
    )
    rng = np.random.default_rng(random_state)
    n_pairs = N_RANDOM + N_GUIDED if n_pairs is None else n_pairs
    for i in range(n_pairs):
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
    *,
    alpha_step: float = 0.05,
    alpha_tol: float = 0.01,
) -> None:
    """Evaluate the neighbors of the best pairs until no neighbor of a near-best pair is left.

    Branch and bound assumes that D and N are monotone. If they are not, the best pair is often
    close to one that is almost as good. Neighbors differ by one step in k, one or two steps in α,
    or one step in both. Pairs within 3% of the best objective are refined, best first. Then the
    step in α is halved as long as it is larger than `alpha_tol`, the distance within which two
    values of α are the same. At most a tenth of the number of pairs of the grid is evaluated.
    Before, α = 0 is evaluated with every k, so that the result is not worse than clustering first
    and explaining afterwards. The refinement ends when a third of the number of pairs of the grid
    is evaluated.

    `known` are the evaluated pairs, a live view that grows when `objective` evaluates a pair.
    """
    n_grid = len(ks) * (np.ceil(1 / alpha_step - 1e-9) + 1)
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
