"""Polishing steps that change the shape of the tree: remove a subtree, add a split, or both."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.surrogate_cost import SurrogateCost
from pellucid._core.refine.moving_center_split import Moments, best_moving_cut
from pellucid._core.refine.polish_state import PolishState, fingerprint


class Removal(NamedTuple):
    """A child that could be removed; its sibling replaces their parent."""

    loss: float  # rise of the cost
    child: int
    parent: int
    sibling: int
    vacates: bool  # whether a cluster would lose all rows


class LeafSplit(NamedTuple):
    """A split that a leaf could have."""

    gain: float  # fall of the cost
    leaf: int
    cut: Split


def prune(state: PolishState) -> None:
    """Remove splits with an empty side, or with two leaves of the same cluster."""
    tree = state.tree
    for node in reversed(tree.inner()):
        left, right = tree.children(node)
        is_same = tree.cluster[left] == tree.cluster[right]
        is_idle = tree.is_leaf(left) and tree.is_leaf(right) and is_same
        if is_idle or not len(tree.rows[left]) or not len(tree.rows[right]):
            tree.replace(node, left if len(tree.rows[left]) else right)
            tree.update_all()


def remove_useless(state: PolishState) -> bool:
    """Remove the subtree without which the cost is lowest, if it falls.

    The centers must be the means of the clusters.
    """
    clusters = state.tree.cluster[state.tree.leaves()]
    if len(clusters) == len(np.unique(clusters)):
        return False
    useless = [r for r in _removals(state) if r.loss < -state.min_gain and not r.vacates]
    if useless:
        ranks = state.ranks(np.array([-removal.loss for removal in useless]))
        _remove(state, min(zip(ranks, useless), key=lambda pair: (pair[0], pair[1].child))[1])
    return bool(useless)


def add_splits(state: PolishState) -> bool:
    """Add the splits of largest gain until the tree has all its leaves, and update the centers."""
    changed = False
    while state.cost > 0 and len(state.tree.leaves()) < state.n_leaves:
        empty = np.flatnonzero(~state.has_rows())
        splits = _splits(state, is_new_cluster=len(empty) > 0)
        if not splits:
            break
        ranks = state.ranks(np.array([split.gain for split in splits]))
        best = min(zip(ranks, splits), key=lambda pair: (pair[0], pair[1].leaf))[1]
        _split(state, best, empty[0] if len(empty) else None)
        state.update_centers()
        changed = True
    return changed


def swap(
    state: PolishState, improve: Callable[[PolishState], None], n_tries: int
) -> PolishState | None:
    """Remove a leaf and add a split elsewhere, if the tree is cheaper once it is improved.

    Parameters
    ----------
    state : PolishState
        Its centers must be the means of the clusters.
    improve : callable
        Polishes a state.
    n_tries : int
        How many swaps to try, the most promising first. The first success is returned.
    """
    removals = _without_twins(_removals(state, leaves_only=True))
    splits = {
        is_new: _splits(state, is_new_cluster=is_new) for is_new in {r.vacates for r in removals}
    }
    pairs = [
        (removal, split)
        for removal in removals
        for split in splits[removal.vacates]
        if split.leaf != removal.child
    ]
    ranks = state.ranks(np.array([split.gain - removal.loss for removal, split in pairs]))
    order = sorted(range(len(pairs)), key=lambda i: (ranks[i], pairs[i][0].child, pairs[i][1].leaf))
    for removal, split in (pairs[i] for i in order[:n_tries]):
        trial = state.copy()
        _remove(trial, removal)
        _split(trial, split, state.tree.cluster[removal.child] if removal.vacates else None)
        trial.update_centers()
        improve(trial)
        if trial.is_cheaper_than(state):
            return trial
    return None


def _remove(state: PolishState, removal: Removal) -> None:
    state.tree.replace(removal.parent, removal.sibling)
    state.tree.update_all()


def _removals(state: PolishState, *, leaves_only: bool = False) -> list[Removal]:
    """All children, or all leaves, that could be removed; the centers must be means."""
    tree, moments = state.tree, state.moments()
    before, found = moments.between_ss(), []
    for parent in tree.inner():
        children = tree.children(parent)
        found += [
            _removal(state, moments, before, parent, child, sibling)
            for child, sibling in (children, children[::-1])
            if tree.is_leaf(child) or not leaves_only
        ]
    return found


def _removal(
    state: PolishState, moments: Moments, before: float, parent: int, child: int, sibling: int
) -> Removal:
    tree = state.tree
    rows = tree.rows[child]
    own, other = (tree.cluster[tree.reach[node][rows]] for node in (child, sibling))
    after = moments.copy()
    state.moving_rows(rows, left=other, right=own).move(own != other, after)
    vacates = bool(((moments.counts > 0) & (after.counts == 0)).any())
    return Removal(before - after.between_ss(), child, parent, sibling, vacates)


def _without_twins(removals: list[Removal]) -> list[Removal]:
    """One of two sibling leaves that are the only leaves of their clusters.

    Removing either has the same result.
    """
    vacating = {removal.child for removal in removals if removal.vacates}
    return [
        removal
        for removal in removals
        if not (removal.vacates and removal.sibling in vacating and removal.sibling < removal.child)
    ]


def _splits(state: PolishState, *, is_new_cluster: bool) -> list[LeafSplit]:
    """The best split of each leaf, if it gains anything; the centers must be means.

    With `is_new_cluster`, one side becomes a new cluster; otherwise both sides get the cluster of
    least cost.
    """
    if is_new_cluster:
        moments = state.moments()
        found = [_new_cluster_split(state, leaf, moments) for leaf in state.tree.leaves()]
    else:
        problem = state.problem.with_costs(state.centers, state.costs, state.cost_unit)
        surrogate = SurrogateCost(problem)
        found = [_least_cost_split(state, leaf, surrogate) for leaf in state.tree.leaves()]
    return [split for split in found if split is not None and split.gain > state.min_gain]


def _least_cost_split(state: PolishState, leaf: int, surrogate: SurrogateCost) -> LeafSplit | None:
    """The best split if each side gets the fixed center of least cost."""
    rows = state.tree.rows[leaf]
    if len(rows) < 2:
        return None
    cut = surrogate.best_split(surrogate.start_node(rows))
    return cut and LeafSplit(cut.gain * state.cost_unit, leaf, cut)


def _new_cluster_split(state: PolishState, leaf: int, moments: Moments) -> LeafSplit | None:
    """The best split if the right side becomes a new cluster and all centers are means."""
    rows = state.tree.rows[leaf]
    if len(rows) < 2:
        return None
    before = Moments(*(array[[state.tree.cluster[leaf]]] for array in moments))
    name = fingerprint(rows, *before)
    if name not in state.cache:
        old = np.zeros(len(rows), dtype=np.intp)
        moving = state.moving_rows(rows, left=old, right=old + 1)
        # At first all rows of the leaf are on the right, in the new cluster.
        base = Moments(
            *(
                np.concatenate([all_rows - own, own])
                for all_rows, own in zip(before, moving.total())
            )
        )
        features = moving.widest_features(moving.n_affordable)
        found = best_moving_cut(moving, base, np.ones(2, dtype=bool), features, state.tie)
        state.cache[name] = found and LeafSplit(found[0].gain - before.between_ss(), leaf, found[0])
    split = state.cache[name]
    return split and split._replace(leaf=leaf)


def _split(state: PolishState, split: LeafSplit, new_cluster: int | None) -> None:
    """Split a leaf; the right side gets a new cluster, or both sides that of least cost."""
    tree = state.tree
    own = tree.cluster[split.leaf]
    children = tree.split(split.leaf, split.cut.feature, split.cut.threshold)
    tree.update_all()
    if new_cluster is not None:
        tree.cluster[children[1]] = new_cluster
        return
    totals = [state.costs[tree.rows[child]].sum(axis=0) for child in children]
    for child, total in zip(children, totals):
        tree.cluster[child] = int(np.argmin(total))
    if not state.has_rows()[own]:
        kept = np.argmin([total[own] - total.min() for total in totals])
        tree.cluster[children[kept]] = own
