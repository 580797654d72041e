"""Splits that a tree could have besides its own, and what they gain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid.cuts.criterion import Cell
from pellucid.cuts.moving import (
    Moments,
    affordable_features,
    best_moving_cut,
    moving_rows,
    sum_rows,
    widest_features,
)
from pellucid.cuts.search import Cut
from pellucid.cuts.surrogate import SurrogateCost
from pellucid.growth.polish_state import PolishState, fingerprint


class Split(NamedTuple):
    """A split that a leaf could have.

    Attributes
    ----------
    gain : float
        What the cost falls by.
    leaf : int
    cut : Cut
    is_new : bool
        Whether one side is a cluster of its own then; otherwise both go where they are cheapest.
    """

    gain: float
    leaf: int
    cut: Cut
    is_new: bool


def regrow(state: PolishState) -> bool:
    """Add splits where they gain most until the tree has all its leaves; the centers follow."""
    changed = False
    while len(state.routes.leaves()) < state.n_leaves:
        splits = possible_splits(state, vacant_cluster(state) is not None)
        if not splits:
            break
        apply_split(state, max(splits, key=lambda split: (state.rank(split.gain), -split.leaf)))
        state.settle()
        changed = True
    return changed


def vacant_cluster(state: PolishState) -> int | None:
    """The first cluster without rows."""
    routes = state.routes
    is_vacant = np.ones(state.problem.n_clusters, dtype=bool)
    is_vacant[[routes.cluster[leaf] for leaf in routes.leaves() if len(routes.rows[leaf])]] = False
    return int(np.argmax(is_vacant)) if is_vacant.any() else None


def possible_splits(state: PolishState, is_new: bool) -> list[Split]:
    """The best split of each leaf that gains anything; the centers must be means."""
    find = _new_cluster_split if is_new else _cheapest_split
    moments, criterion = state.moments(), _surrogate(state)
    found = (find(state, leaf, moments, criterion) for leaf in state.routes.leaves())
    return [split for split in found if split is not None and split.gain > state.least_gain]


def apply_split(state: PolishState, split: Split) -> None:
    """Split a leaf and name the clusters of both sides."""
    routes = state.routes
    vacant, own = vacant_cluster(state), routes.cluster[split.leaf]
    children = routes.split(split.leaf, split.cut.feature, split.cut.at)
    routes.follow()
    if split.is_new:
        routes.cluster[children[1]] = vacant
        return
    costs = state.costs.units[:, : state.problem.n_clusters]
    totals = [costs[routes.rows[child]].sum(axis=0) for child in children]
    for child, total in zip(children, totals):
        routes.cluster[child] = int(np.argmin(total))
    if vacant is None and vacant_cluster(state) is not None:
        stays = np.argmin([total[own] - total.min() for total in totals])
        routes.cluster[children[stays]] = own


def _surrogate(state: PolishState) -> SurrogateCost:
    costs = state.costs
    return SurrogateCost(state.problem.with_costs(costs.centers, costs.units, costs.unit))


def _cheapest_split(state, leaf, moments, criterion) -> Split | None:
    """Each side goes to the center that is cheapest for it."""
    rows = state.routes.rows[leaf]
    if len(rows) < 2:
        return None
    cut = criterion.best_cut(Cell(rows, rows[:0], np.arange(state.problem.n_clusters)))
    return cut and Split(cut.gain * state.costs.unit, leaf, cut, False)


def _new_cluster_split(state, leaf, moments, criterion) -> Split | None:
    """The right side becomes a cluster of its own."""
    problem, rows = state.problem, state.routes.rows[leaf]
    if len(rows) < 2:
        return None
    own, two = state.routes.cluster[leaf], np.ones(2, dtype=bool)
    near, far = np.zeros(len(rows), dtype=np.intp), np.ones(len(rows), dtype=np.intp)
    moving = moving_rows(problem, rows, near, far, state.origin)
    before = Moments(*(array[[own]] for array in moments))
    name = fingerprint(rows, *before)
    if name not in state.known:
        # At first all rows are on the right, where the new cluster is to be: it has them all.
        mine = sum_rows(moving, problem.n_features)
        base = Moments(*(np.concatenate([all_ - one, one]) for all_, one in zip(before, mine)))
        features = widest_features(moving, mine, affordable_features(problem, rows))
        cut = best_moving_cut(problem, rows, moving, base, two, features, state.tie)
        state.known[name] = cut and cut._replace(gain=cut.gain - before.share())
    cut = state.known[name]
    return cut and Split(cut.gain, leaf, cut, True)
