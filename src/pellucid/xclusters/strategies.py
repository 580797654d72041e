"""The searches over pairs (k, α) that branch and bound is compared with, and a last look around.

All take a function of the objective, and ask when to stop. What they have seen is remembered by
that function, which therefore also knows the best pair.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

Objective = Callable[[int, float], float]
Stop = Callable[[], bool]

N_RANDOM = 10
"""Pairs that Bayesian optimisation draws before it has something to go by."""

N_GUIDED = 30
"""Pairs that it then chooses itself, unless told otherwise."""


def grid_search(objective: Objective, ks: Sequence[int], alphas: Sequence[float], stop: Stop):
    """Every pair."""
    for k in ks:
        for alpha in alphas:
            if stop():
                return
            objective(k, alpha)


def two_step(distortion: Objective, ks: Sequence[int], stop: Stop) -> tuple[int, float]:
    """α = 0 and the k at the elbow of the distortion: first cluster, then explain.

    At least one k is looked at, whatever `stop` says.
    """
    distortions = []
    for k in ks:
        distortions.append(distortion(k, 0.0))
        if stop():
            break
    return elbow(ks[: len(distortions)], distortions), 0.0


def elbow(ks: Sequence[int], distortions: Sequence[float]) -> int:
    """The k at which a falling curve turns flat; the smallest where it does not.

    Examples
    --------
    >>> from pellucid.xclusters.strategies import elbow
    >>> elbow([3, 4, 5, 6, 7], [100.0, 40.0, 15.0, 12.0, 10.0])
    5
    """
    if len(ks) < 3 or max(distortions) == min(distortions):
        return ks[0]
    KneeLocator = _import("kneed", "the elbow of two-step").KneeLocator
    found = KneeLocator(list(ks), list(distortions), curve="convex", direction="decreasing").knee
    return ks[0] if found is None else int(found)


def bayesian_search(
    objective: Objective,
    ks: Sequence[int],
    alphas: Sequence[float],
    stop: Stop,
    *,
    n_pairs: int | None = None,
    random_state: int = 0,
) -> None:
    """Bayesian optimisation: random pairs, then those that a Gaussian process points to.

    α may take every value between the first and the last of `alphas`. A pair that comes up a
    second time counts again, although it is remembered.
    """
    from threadpoolctl import threadpool_limits

    package = _import("bayes_opt", "search='bayes'")
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
            # Many small systems of equations, which threads only slow down.
            with threadpool_limits(1, "blas"):
                pair = optimizer.suggest()
        k, alpha = round(pair["k"]), float(pair["alpha"])
        optimizer.register(params={"k": k, "alpha": alpha}, target=-objective(k, alpha))


def look_around(
    objective: Objective,
    known: Collection[tuple[int, float]],
    ks: Sequence[int],
    alphas: Sequence[float],
    stop: Stop,
) -> None:
    """Look at the neighbours of the best pairs that are known, and at theirs if these are good.

    Branch and bound trusts D and N to be monotone; where they are not quite, the best pair is
    often near one that is nearly as good. Neighbours are one k, one α, or one of each away, or
    two αs. The best pair comes first, then the others within 3 %, until all have been looked
    around or a tenth of all pairs has been added.

    Parameters
    ----------
    objective : callable
    known : collection of (int, float)
        Pairs that are known, which grows as `objective` is asked.
    ks, alphas : sequence
        What to choose from, in ascending order.
    stop : callable
    """
    most = len(known) + len(ks) * len(alphas) // N_PARTS
    place = {(k, a): (i, j) for i, k in enumerate(ks) for j, a in enumerate(alphas)}
    around: set[tuple[int, float]] = set()
    while True:
        best = min(objective(*pair) for pair in known)
        good = [pair for pair in known if objective(*pair) <= best * (1 + NEARLY)]
        left = [pair for pair in good if pair in place and pair not in around]
        if not left:
            return
        pair = min(left, key=lambda pair: (objective(*pair), pair))
        around.add(pair)
        for step in _STEPS:
            i, j = np.add(place[pair], step)
            if 0 <= i < len(ks) and 0 <= j < len(alphas):
                if (ks[i], alphas[j]) not in known and (stop() or len(known) >= most):
                    return
                objective(ks[i], alphas[j])


NEARLY = 0.03
N_PARTS = 10
_STEPS = [(-1, 0), (1, 0), (0, -1), (0, 1), (0, -2), (0, 2), (-1, -1), (-1, 1), (1, -1), (1, 1)]


def _import(package: str, what: str):
    from importlib import import_module

    try:
        return import_module(package)
    except ImportError:
        name = {"bayes_opt": "bayesian-optimization"}.get(package, package)
        raise ImportError(f"{what} needs the package {name}: pip install {name}") from None
