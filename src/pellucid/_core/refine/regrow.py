"""Splits that a tree could have besides its own, and what they gain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.surrogate_cost import SurrogateCost
from pellucid._core.refine.moving_center_split import Moments, MovingRows, best_moving_cut
from pellucid._core.refine.polish_state import PolishState, fingerprint


class LeafSplit(NamedTuple):
    """A split that a leaf could have.

    Attributes
    ----------
    gain : float
        What the cost falls by.
    leaf : int
    cut : Split
    """

    gain: float
    leaf: int
    cut: Split


def regrow(state: PolishState) -> bool:
    """Add splits where they gain most until the tree has all its leaves; the centers follow."""
    changed = False
    while len(state.routes.leaves()) < state.n_leaves:
        vacant = np.flatnonzero(~_have_rows(state))
        splits = possible_splits(state, is_new=len(vacant) > 0)
        if not splits:
            break
        best = max(splits, key=lambda split: (state.rank(split.gain), -split.leaf))
        apply_split(state, best, vacant[0] if len(vacant) else None)
        state.settle()
        changed = True
    return changed


def _have_rows(state: PolishState) -> np.ndarray:
    """Which clusters have rows."""
    routes, full = state.routes, np.zeros(state.problem.n_clusters, dtype=bool)
    full[[routes.cluster[leaf] for leaf in routes.leaves() if len(routes.rows[leaf])]] = True
    return full


def possible_splits(state: PolishState, *, is_new: bool) -> list[LeafSplit]:
    """The best split of each leaf that gains anything; the centers must be means.

    If `is_new`, one side becomes a cluster of its own; otherwise both go where they are cheapest.
    """
    find = _new_cluster_split if is_new else _cheapest_split
    moments, criterion = state.moments(), _surrogate(state)
    found = (find(state, leaf, moments, criterion) for leaf in state.routes.leaves())
    return [split for split in found if split is not None and split.gain > state.least_gain]


def apply_split(state: PolishState, split: LeafSplit, new: int | None) -> None:
    """Split a leaf; one side becomes the new cluster, or both go where they are cheapest."""
    routes = state.routes
    own = routes.cluster[split.leaf]
    children = routes.split(split.leaf, split.cut.feature, split.cut.threshold)
    routes.follow()
    if new is not None:
        routes.cluster[children[1]] = new
        return
    costs = state.costs.units
    totals = [costs[routes.rows[child]].sum(axis=0) for child in children]
    for child, total in zip(children, totals):
        routes.cluster[child] = int(np.argmin(total))
    if not _have_rows(state)[own]:
        stays = np.argmin([total[own] - total.min() for total in totals])
        routes.cluster[children[stays]] = own


def _surrogate(state: PolishState) -> SurrogateCost:
    costs = state.costs
    return SurrogateCost(state.problem.with_costs(costs.centers, costs.units, costs.unit))


def _cheapest_split(state, leaf, moments, criterion) -> LeafSplit | None:
    """Each side goes to the center that is cheapest for it."""
    rows = state.routes.rows[leaf]
    if len(rows) < 2:
        return None
    cut = criterion.best_split(criterion.start_node(rows))
    return cut and LeafSplit(cut.gain * state.costs.unit, leaf, cut)


def _new_cluster_split(state, leaf, moments, criterion) -> LeafSplit | None:
    """The right side becomes a cluster of its own."""
    problem, rows = state.problem, state.routes.rows[leaf]
    if len(rows) < 2:
        return None
    before = Moments(*(array[[state.routes.cluster[leaf]]] for array in moments))
    name = fingerprint(rows, *before)
    if name not in state.known:
        near, far = np.zeros(len(rows), dtype=np.intp), np.ones(len(rows), dtype=np.intp)
        moving = MovingRows(problem, rows, near, far, state.origin)
        # At first all rows are on the right, where the new cluster is to be: it has them all.
        mine = moving.total()
        base = Moments(*(np.concatenate([all_ - one, one]) for all_, one in zip(before, mine)))
        features = moving.widest_features(moving.n_affordable)
        found = best_moving_cut(moving, base, np.ones(2, dtype=bool), features, state.tie)
        gain = found and found[0].gain - before.share()
        state.known[name] = found and LeafSplit(gain, leaf, found[0])
    split = state.known[name]
    return split and split._replace(leaf=leaf)
