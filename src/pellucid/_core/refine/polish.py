"""Polish a tree: change it wherever this lowers the k-means cost of its clusters.

With S and W the sum and the weight of the rows of a cluster,

    k-means cost = (total sum of squares) - (sum over clusters of |S|^2 / W).

A round takes the first of these steps that changes anything, and moves the centers to the means:

1. the best cut of each node for fixed centers, until the cost hardly falls;
2. other clusters of leaves, then the best cut of each node for centers that move along;
3. remove a useless subtree, then add splits while leaves are left.

A round is accepted if the exact cost falls. Deep polish continues from there with swaps: remove a
leaf, add a split elsewhere, polish, and accept if the cost is lower than before.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse

from pellucid._core.criteria.problem import Problem
from pellucid._core.refine import tuning
from pellucid._core.refine.local_search_data import with_data
from pellucid._core.refine.mutable_tree import MutableTree
from pellucid._core.refine.polish_state import PolishState
from pellucid._core.refine.polish_steps import (
    add_splits,
    improve_cuts_with_fixed_centers,
    improve_cuts_with_moving_centers,
    prune,
    relabel_leaves,
    remove_useless,
    swap,
)
from pellucid._core.refine.tuning import DEFAULT_LIMITS, ROUNDS, SweepLimits
from pellucid._utils.progress import Progress
from pellucid.tree import ThresholdTree
from pellucid.tree.rounding import ThresholdStyle


class Polished(NamedTuple):
    tree: ThresholdTree
    leaf: np.ndarray  # (n_samples,), intp, node number of each row's leaf
    centers: np.ndarray  # (n_clusters, n_features), means; a reference center where no rows are
    cost: float  # the k-means cost of the tree
    history: list[float]  # the cost before polishing and after each round


def polish_tree(
    tree: ThresholdTree,
    problem: Problem,
    *,
    threshold_style: ThresholdStyle = "round",
    n_leaves: int | None = None,
    rounds: int = ROUNDS,
    tol: float = 1e-5,
    deep: bool = False,
    progress: Progress | None = None,
    limits: SweepLimits = DEFAULT_LIMITS,
) -> Polished:
    """Lower the k-means cost of a tree until no step lowers it any more.

    The cost never rises, and no cluster that had rows loses all of them. `n_leaves` is the maximal
    number of leaves, by default that of the tree. A step that lowers the cost by less than the part
    `tol` is not repeated. If `deep`, swaps follow, which takes several times as long. Each round is
    a step of the progress.
    """
    n_leaves = max(n_leaves or 0, tree.n_leaves)
    is_about_mean = _is_about_mean(problem)
    problem = _dense(problem) if is_about_mean else problem
    mutable = MutableTree(tree, problem, threshold_style, n_leaves)
    state = PolishState(mutable, problem, n_leaves, limits, is_about_mean=is_about_mean)
    history = [float(state.cost)]

    def record(state: PolishState) -> None:
        history.append(float(state.cost))
        if progress is not None:
            progress.step()

    _improve(state, rounds, tol, record)
    while deep and state.cost > 0 and len(history) <= rounds:
        improve = partial(_improve, rounds=rounds, tol=tol, goal=state.cost)
        better = swap(state, improve, tuning.N_SWAP_TRIES)
        if better is None:
            break
        state = better
        record(state)
    prune(state)
    polished, leaf = state.tree.to_tree()
    return Polished(polished, leaf, state.centers, float(state.cost), history)


def _is_about_mean(problem: Problem) -> bool:
    """Whether sums are taken about the mean, not about 0; the same for dense and sparse rows.

    Sums about 0 lose digits if the rows are far from 0, relative to their differences.
    """
    data, (n_samples, n_features) = problem.space, problem.space.X.shape
    if n_samples * n_features <= tuning.SMALL:
        return True
    one_group = np.zeros(n_samples, dtype=np.intp)
    mean = data.group_centers(one_group, 1)
    return tuning.FAR * data.cost(one_group, mean) < data.cost(one_group, np.zeros_like(mean))


def _dense(problem: Problem) -> Problem:
    """The same problem with dense rows, if they fit; costs are those of the space."""
    X, space = problem.space.X, problem.space
    size = X.shape[0] * X.shape[1]
    if not sparse.issparse(X) or (size > tuning.MAX_DENSE and size > 2 * X.nnz):
        return problem
    rows = X.toarray().astype(np.float64, copy=False)
    dense = type(problem.data)(rows, problem.weights, problem.pool)
    return with_data(problem, lambda data: dense if data is space else data, problem.labels)


def _improve(
    state: PolishState,
    rounds: int,
    tol: float,
    record: Callable[[PolishState], None] = lambda state: None,
    goal: Fraction | None = None,
) -> None:
    """Take rounds while the cost falls, and while it may still fall below the goal."""
    cuts_are_done = False
    for i in range(rounds):
        before = state.cost
        kind = _take_round(state, cuts_are_done, bottom_up=i % 2 == 0)
        if kind is None:
            break
        record(state)
        fall = before - state.cost
        is_small = fall < tol * float(before)
        if is_small and cuts_are_done:
            break
        cuts_are_done = is_small
        if goal is not None and kind != "cuts" and state.cost - goal > tuning.GIVE_UP_FACTOR * fall:
            break


def _take_round(state: PolishState, cuts_are_done: bool, bottom_up: bool) -> str | None:
    """Take one round; return the kind of step that lowered the cost, or None."""
    if state.cost == 0:
        return None
    prune(state)
    before = state.copy()
    if not cuts_are_done and improve_cuts_with_fixed_centers(state, bottom_up=bottom_up):
        kind = "cuts"
    elif relabel_leaves(state) or improve_cuts_with_moving_centers(state):
        kind = "moves"
    elif remove_useless(state) or add_splits(state):
        kind = "structure"
    else:
        return None
    state.update_centers()
    if not state.is_cheaper_than(before):
        state.restore(before)
        return None
    state.tree.center_thresholds()
    return kind
