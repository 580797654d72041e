"""Polishing steps that keep the shape of the tree: other cuts, other clusters of leaves.

Each lowers the cost of the tree, or leaves the tree unchanged.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pellucid._core.refine.fixed_center_split import FixedCenterSearch, contested_rows
from pellucid._core.refine.moving_center_split import Moments, MovingRows, best_moving_cut
from pellucid._core.refine.polish_state import PolishState, fingerprint


def improve_cuts_with_fixed_centers(state: PolishState, *, bottom_up: bool) -> bool:
    """Give each node its best cut while the centers are fixed."""
    tree, changed = state.tree, False
    nodes = tree.inner()
    for node in reversed(nodes) if bottom_up else nodes:
        changed |= _improve_with_fixed_centers(state, node)
        if bottom_up:
            tree.update_reach(node)
        else:
            tree.update_rows(node)
    if changed:
        tree.update_all()
    return changed


def _improve_with_fixed_centers(state: PolishState, node: int) -> bool:
    tree = state.tree
    rows = tree.rows[node]
    left, right = (tree.reach[child] for child in tree.children(node))
    contested = contested_rows(rows, left, right, tree.cluster, state.costs)
    goes_left = tree.goes_left[node][contested.rows]
    name = fingerprint(contested.rows, contested.difference, goes_left)
    if name in state.cache:
        return False
    current = int(contested.difference[goes_left].sum())
    cut = FixedCenterSearch(state.problem, contested).best(goal=current)
    if cut is not None:
        before = tree.feature[node], tree.threshold[node], tree.goes_left[node].copy()
        tree.cut(node, cut.feature, cut.threshold)
        had_rows, has_rows = (
            _clusters_of(state, np.where(goes[rows], left[rows], right[rows]))
            for goes in (before[2], tree.goes_left[node])
        )
        if (has_rows | ~had_rows).all():
            return True
        tree.feature[node], tree.threshold[node], tree.goes_left[node] = before
    state.cache[name] = None
    return False


def _clusters_of(state: PolishState, leaves: np.ndarray) -> np.ndarray:
    """Which clusters the leaves of some rows have."""
    found = np.zeros(state.problem.n_clusters, dtype=bool)
    found[state.tree.cluster[np.flatnonzero(np.bincount(leaves))]] = True
    return found


def improve_cuts_with_moving_centers(state: PolishState) -> bool:
    """Give each node its best cut while all centers are means of clusters; bottom-up."""
    tree, changed = state.tree, False
    moments = state.moments()
    for node in reversed(tree.inner()):
        better = _improve_with_moving_centers(state, node, moments)
        if better is not None:
            moments, changed = better, True
            tree.update_all()
    return changed


def _improve_with_moving_centers(state: PolishState, node: int, moments: Moments) -> Moments | None:
    """Moments of the clusters after the best cut of a node, or None if it is the current cut."""
    tree, problem = state.tree, state.problem
    rows = tree.rows[node]
    left, right = (tree.cluster[tree.reach[child][rows]] for child in tree.children(node))
    moves = left != right
    rows, left, right = rows[moves], left[moves], right[moves]
    clusters, left, right = _renumber(left, right, problem.n_clusters)
    goes_left = tree.goes_left[node][rows]
    if len(rows) < 2:
        return None
    before = Moments(*(array[clusters] for array in moments))
    moving = state.moving_rows(rows, left, right)
    # The columns to search depend on the costs, which may differ though the moments are the same.
    features = _promising_features(state, node, moving)
    name = fingerprint(rows, left, right, goes_left, features, *before)
    if name in state.cache:
        return None
    base = before.copy()
    replace(moving, left=right, right=left).move(goes_left, base)
    found = best_moving_cut(moving, base, before.counts > 0, features, state.tie)
    if found is None or found[0].gain <= before.between_ss() + state.min_gain:
        state.cache[name] = None
        return None
    cut, new_parts = found
    tree.cut(node, cut.feature, cut.threshold)
    after = moments.copy()
    for array, part in zip(after, new_parts):
        array[clusters] = part
    return after


def _renumber(
    left: np.ndarray, right: np.ndarray, n_clusters: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The clusters that occur, ascending, and the positions of `left` and `right` among them."""
    occurs = np.zeros(n_clusters, dtype=bool)
    occurs[left] = occurs[right] = True
    position = np.cumsum(occurs) - 1
    return np.flatnonzero(occurs), position[left], position[right]


def _promising_features(state: PolishState, node: int, moving: MovingRows) -> np.ndarray:
    """All columns, or those with the best cuts for fixed centers if all are too many."""
    problem, tree, number = state.problem, state.tree, moving.n_affordable
    if number == problem.n_features:
        return np.arange(problem.n_features)
    left, right = (tree.reach[child] for child in tree.children(node))
    contested = contested_rows(moving.rows, left, right, tree.cluster, state.costs)
    return FixedCenterSearch(problem, contested).best_features(number)


def relabel_leaves(state: PolishState) -> bool:
    """Give leaves to other clusters while the cost falls, and no cluster loses its last row.

    The centers must be the means of the clusters. With L and w the sum and the weight of a leaf,
    moving it from cluster c to cluster e gains

        |S[c] - L|^2 / (W[c] - w) + |S[e] + L|^2 / (W[e] + w) - |S[c]|^2 / W[c] - |S[e]|^2 / W[e].
    """
    tree = state.tree
    leaves = np.array(tree.leaves())
    if len(leaves) == len(np.unique(tree.cluster[leaves])):
        return False
    leaf, clusters, changed = state.leaf_moments(), state.moments(), False
    for _ in range(2 * len(leaves)):
        own = tree.cluster[leaves]
        gain = _relabel_gains(leaf, clusters, own)
        gain[(leaf.counts == 0) | (leaf.counts == clusters.counts[own])] = -np.inf
        at, to = np.unravel_index(np.argmax(gain >= gain.max() - state.tie), gain.shape)
        if gain[at, to] <= state.min_gain:
            break
        for total, part in zip(clusters, leaf):
            total[own[at]] -= part[at]
            total[to] += part[at]
        tree.cluster[leaves[at]] = to
        changed = True
    return changed


def _relabel_gains(leaf: Moments, clusters: Moments, own: np.ndarray) -> np.ndarray:
    """Gain of each leaf in each cluster; minus infinity in its own."""

    def ratio(square: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return np.divide(square, weight, out=np.zeros_like(square), where=weight > 0)

    sums, weights = clusters.sums, clusters.weights
    squares = np.einsum("cj,cj->c", sums, sums)
    leaf_squares = np.einsum("lj,lj->l", leaf.sums, leaf.sums)
    products = np.einsum("lj,cj->lc", leaf.sums, sums)
    now = ratio(squares, weights)
    all_leaves = np.arange(len(own))
    rest = sums[own] - leaf.sums
    without = np.einsum("lj,lj->l", rest, rest)  # a difference of squares would lose digits
    leaving = ratio(without, weights[own] - leaf.weights) - now[own]
    joined = squares + 2 * products + leaf_squares[:, None]
    gain = ratio(joined, weights + leaf.weights[:, None]) - now + leaving[:, None]
    gain[all_leaves, own] = -np.inf
    return gain
