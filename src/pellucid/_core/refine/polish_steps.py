"""Steps of polishing that leave the tree its shape: other cuts, other clusters at the leaves.

Each lowers the cost of the tree, or leaves the tree as it is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pellucid._core.refine.fixed_center_split import TornSearch, tear
from pellucid._core.refine.moving_center_split import Moments, MovingRows, best_moving_cut
from pellucid._core.refine.polish_state import PolishState, fingerprint


def improve_cuts(state: PolishState, *, bottom_up: bool) -> bool:
    """Give each node the best cut there is while the centers stay."""
    routes, changed = state.routes, False
    nodes = routes.inner()
    for node in reversed(nodes) if bottom_up else nodes:
        changed |= _improve_cut(state, node)
        if bottom_up:
            routes.update_reach(node)
        else:
            routes.update_rows(node)
    if changed:
        routes.follow()
    return changed


def _improve_cut(state: PolishState, node: int) -> bool:
    routes = state.routes
    rows = routes.rows[node]
    near, far = (routes.reach[child] for child in routes.children(node))
    torn = tear(rows, near, far, routes.cluster, state.costs.units)
    goes_left = routes.goes_left[node][torn.rows]
    name = fingerprint(torn.rows, torn.extra, goes_left)
    if name in state.known:
        return False
    cut = TornSearch(state.problem, torn).best(goal=int(torn.extra[goes_left].sum()))
    if cut is not None:
        before = routes.feature[node], routes.threshold[node], routes.goes_left[node].copy()
        routes.cut(node, cut.feature, cut.threshold)
        full, still_full = (
            _has_rows(state, np.where(goes[rows], near[rows], far[rows]))
            for goes in (before[2], routes.goes_left[node])
        )
        if (still_full | ~full).all():
            return True
        routes.feature[node], routes.threshold[node], routes.goes_left[node] = before
    state.known[name] = None
    return False


def _has_rows(state: PolishState, leaves: np.ndarray) -> np.ndarray:
    """Which clusters have rows, if these are the leaves of some rows."""
    full = np.zeros(state.problem.n_clusters, dtype=bool)
    full[state.routes.cluster[np.flatnonzero(np.bincount(leaves))]] = True
    return full


def improve_truly(state: PolishState) -> bool:
    """Give each node the best cut there is while the centers move along; bottom-up.

    The centers must be the means of the clusters.
    """
    routes, changed = state.routes, False
    moments = state.moments()
    for node in reversed(routes.inner()):
        better = _improve_truly(state, node, moments)
        if better is not None:
            moments, changed = better, True
            routes.follow()
    return changed


def _improve_truly(state: PolishState, node: int, moments: Moments) -> Moments | None:
    routes, problem = state.routes, state.problem
    rows = routes.rows[node]
    near, far = (routes.cluster[routes.reach[child][rows]] for child in routes.children(node))
    torn = near != far
    rows, near, far = rows[torn], near[torn], far[torn]
    clusters, (near, far) = _renumber(near, far, problem.n_clusters)
    goes_left = routes.goes_left[node][rows]
    before = Moments(*(array[clusters] for array in moments))
    name = fingerprint(rows, near, far, goes_left, *before)
    if len(rows) < 2 or name in state.known:
        return None
    moving = MovingRows(problem, rows, near, far, state.origin)
    base = before.copy()
    replace(moving, near=far, far=near).move(goes_left, base)
    features = _promising_features(state, node, moving)
    found = best_moving_cut(moving, base, before.counts > 0, features, state.tie)
    if found is None or found[0].gain <= before.share() + state.least_gain:
        state.known[name] = None
        return None
    cut, parts = found
    routes.cut(node, cut.feature, cut.threshold)
    after = moments.copy()
    for whole, part in zip(after, parts):
        whole[clusters] = part
    return after


def _renumber(near: np.ndarray, far: np.ndarray, n_clusters: int):
    """The clusters that occur, ascending, and the places of `near` and `far` among them."""
    occurs = np.zeros(n_clusters, dtype=bool)
    occurs[near] = occurs[far] = True
    place = np.cumsum(occurs) - 1
    return np.flatnonzero(occurs), (place[near], place[far])


def _promising_features(state: PolishState, node: int, moving: MovingRows) -> np.ndarray:
    """All columns, or those with the best cuts while the centers stay, if there is much to do."""
    problem, routes = state.problem, state.routes
    number = moving.n_affordable
    if number == problem.n_features:
        return np.arange(problem.n_features)
    near, far = (routes.reach[child] for child in routes.children(node))
    torn = tear(moving.rows, near, far, routes.cluster, state.costs.units)
    return TornSearch(problem, torn).best_features(number)


def improve_labels(state: PolishState) -> bool:
    """Give leaves to other clusters while the cost falls, and no cluster loses its last row.

    The centers must be the means of the clusters. With L and w the sum and the weight of a leaf,
    going from cluster c to cluster e gains

        |S[c] - L|^2 / (W[c] - w) + |S[e] + L|^2 / (W[e] + w) - |S[c]|^2 / W[c] - |S[e]|^2 / W[e].
    """
    routes = state.routes
    leaves = np.array(routes.leaves())
    if len(leaves) == len(np.unique(routes.cluster[leaves])):
        return False
    leaf, changed = state.leaf_moments(), False
    sums, weights, counts = state.moments()
    for _ in range(2 * len(leaves)):
        own = routes.cluster[leaves]
        gain = _labels_gain(leaf, sums, weights, own)
        gain[(leaf.counts == 0) | (leaf.counts == counts[own])] = -np.inf
        at, to = np.unravel_index(np.argmax(state.rank(gain)), gain.shape)
        if gain[at, to] <= state.least_gain:
            break
        for total, part in zip((sums, weights, counts), leaf):
            total[own[at]] -= part[at]
            total[to] += part[at]
        routes.cluster[leaves[at]] = to
        changed = True
    return changed


def _labels_gain(leaf: Moments, sums, weights, own) -> np.ndarray:
    """What each leaf gains in each cluster; minus infinity in its own."""

    def share(square: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return np.divide(square, weight, out=np.zeros_like(square), where=weight > 0)

    squares = np.einsum("cj,cj->c", sums, sums)
    leaf_squares = np.einsum("lj,lj->l", leaf.sums, leaf.sums)
    products = np.einsum("lj,cj->lc", leaf.sums, sums)
    now = share(squares, weights)
    every = np.arange(len(own))
    less = squares[own] - 2 * products[every, own] + leaf_squares
    leaving = share(less, weights[own] - leaf.weights) - now[own]
    more = squares + 2 * products + leaf_squares[:, None]
    gain = share(more, weights + leaf.weights[:, None]) - now + leaving[:, None]
    gain[every, own] = -np.inf
    return gain
