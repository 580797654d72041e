"""Polish a tree: change it wherever the k-means cost of its clusters falls."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.problem import Problem
from pellucid._core.refine.mutable_tree import Routes
from pellucid._core.refine.polish_state import PolishState
from pellucid._core.refine.polish_steps import improve_cuts, improve_labels, improve_truly
from pellucid._core.refine.regrow import regrow
from pellucid._core.refine.removals import drop_useless, prune
from pellucid._core.refine.swap import swap
from pellucid._utils.progress import Progress
from pellucid.tree import ThresholdTree
from pellucid.tree.rounding import ThresholdStyle

ROUNDS = 100
"""Most rounds, unless told otherwise; few trees need as many as 20."""

_TRIES = 10
"""Swaps that are tried before there is none."""

_HOPE = 4
"""How many times the latest fall of the cost may be missing for a swap to be worth going on."""


class Polished(NamedTuple):
    """A polished tree.

    Attributes
    ----------
    tree : ThresholdTree
    leaf : ndarray of shape (n_samples,), intp
        Node number of each row's leaf.
    centers : ndarray of shape (n_clusters, n_features)
        Means of the clusters; for one without rows, its reference center.
    cost : float
        The k-means cost of the tree.
    history : list of float
        The cost before polishing and after each round.
    """

    tree: ThresholdTree
    leaf: np.ndarray
    centers: np.ndarray
    cost: float
    history: list[float]


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
) -> Polished:
    """Lower the k-means cost of a tree until no step lowers it any more.

    A round takes the first of these steps that changes anything, and then puts the centers at
    the means of the clusters: the best cut of each node while the centers stay; other clusters
    for leaves; the best cut of each node while the centers move along; splits in place of those
    that are of no use. The cost never rises, and no cluster that had rows loses all of them.

    Parameters
    ----------
    tree : ThresholdTree
    problem : Problem
    threshold_style : {"round", "midpoint", "data"}
        Which number of a cut's interval becomes the threshold.
    n_leaves : int, optional
        Most leaves that the tree may come to have; as many as it has when left out.
    rounds : int
        Most rounds.
    tol : float
        Share of the cost; what lowers it by less is not worth another round.
    deep : bool
        Whether to go on from there by taking out leaves and splitting others instead, wherever
        the tree is cheaper once polished. Several times the time.
    progress : Progress, optional
        Told of every round.
    """
    problem, n_leaves = problem.keeping_columns(), max(n_leaves or 0, tree.n_leaves)
    state = PolishState(Routes(tree, problem, threshold_style, n_leaves), problem, n_leaves)
    history = [float(state.cost)]

    def note(state: PolishState) -> None:
        history.append(float(state.cost))
        if progress is not None:
            progress.step()

    _improve(state, rounds, tol, note)
    while deep and state.cost > 0 and len(history) <= rounds:
        better = swap(state, partial(_improve, rounds=rounds, tol=tol, goal=state.cost), _TRIES)
        if better is None:
            break
        state = better
        note(state)
    prune(state)
    polished, leaf = state.routes.build()
    return Polished(polished, leaf, state.centers, float(state.cost), history)


def _improve(
    state: PolishState,
    rounds: int,
    tol: float,
    note: Callable[[PolishState], None] = lambda state: None,
    goal: Fraction | None = None,
) -> None:
    """Rounds while the cost falls, and while there is hope that it falls below the goal."""
    cuts_are_done = False
    for i in range(rounds):
        before = state.cost
        kind = _take_round(state, cuts_are_done, bottom_up=i % 2 == 0)
        if kind is None:
            break
        note(state)
        fall = before - state.cost
        if fall < tol * float(before) and cuts_are_done:
            break
        cuts_are_done = fall < tol * float(before)
        if goal is not None and kind != "cuts" and state.cost - goal > _HOPE * fall:
            break


def _take_round(state: PolishState, cuts_are_done: bool, bottom_up: bool) -> str | None:
    """One round; what kind of step it was that lowered the cost."""
    if state.cost == 0:
        return None
    prune(state)
    before = state.copy()
    if not cuts_are_done and improve_cuts(state, bottom_up=bottom_up):
        kind = "cuts"
    elif improve_labels(state) or improve_truly(state):
        kind = "moves"
    else:
        kind = "shape" if drop_useless(state) or regrow(state) else None
    if kind is not None:
        state.settle()
        if not state.is_cheaper_than(before):
            state.become(before)
            return None
        state.routes.center_thresholds()
    return kind
