"""Steps of polishing. Each lowers the cost of the tree, or leaves the tree unchanged.

Some keep the shape of the tree: other cuts, other clusters of leaves. The others remove a subtree,
add a split, or both. Before a step, the centers must be the means of the clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.column_search import FEW_ROWS, Split
from pellucid._core.criteria.partition import split_rows
from pellucid._core.criteria.problem import Problem
from pellucid._core.criteria.sums import ColumnScan, SumFormula, SumSearch
from pellucid._core.criteria.surrogate_cost import SurrogateCost
from pellucid._core.kernels import INFINITE_COST
from pellucid._core.refine.polish_state import (
    Moments,
    MovingRows,
    PolishState,
    best_moving_cut,
    fingerprint,
)

_CHUNK = 2**16
"""Numbers that are sorted together."""


class ContestedRows(NamedTuple):
    """Rows of a node whose cost on the left of a cut differs from that on the right."""

    rows: np.ndarray  # int32, row numbers, ascending
    difference: np.ndarray  # int64, cost on the left minus cost on the right; never 0


def contested_rows(
    rows: np.ndarray, left: np.ndarray, right: np.ndarray, cluster: np.ndarray, costs: np.ndarray
) -> ContestedRows:
    """Those of the rows of a node whose cost depends on the side.

    `left` and `right` have the leaf that each row of the data would reach on either side, `cluster`
    has the cluster of each leaf, and `costs` that of each row in each cluster.
    """
    clusters = cluster[left[rows]], cluster[right[rows]]
    moves = np.flatnonzero(clusters[0] != clusters[1])
    rows, (on_left, on_right) = rows[moves], (side[moves] for side in clusters)
    difference = costs[rows, on_left] - costs[rows, on_right]
    kept = difference.nonzero()[0]
    return ContestedRows(rows[kept], difference[kept])


class SumOfDifferences(SumFormula):
    """Sum of the differences of the rows on the left; negative and positive ones are apart."""

    no_split = INFINITE_COST

    def scan(self, sums: np.ndarray, inside: np.ndarray, totals: np.ndarray) -> ColumnScan:
        """Judge all bins; a bound is that of the rows of negative difference of the bin.

        If all differences of a bin have one sign, the edge on one side is at least as good as the
        inside, unless it is no cut.
        """
        falls, rises = sums[:, :, 0], sums[:, :, 1]
        low, high = falls.cumsum(axis=1), rises.cumsum(axis=1)
        is_first = (low == falls) & (high == rises)
        is_last = (low == totals[0]) & (high == totals[1])
        is_cut = ((low | high) != 0) & ~is_last
        values = np.where(is_cut, low + high, self.no_split)
        is_open = ((falls != 0) | (is_first & (rises != 0))) & ((rises != 0) | is_last)
        bounds = np.where(inside & is_open, low + high - rises, self.no_split)
        edge = values.argmin(axis=1)
        return ColumnScan(values[np.arange(len(edge)), edge], edge, bounds)

    def cost(self, totals: np.ndarray) -> int:
        return int(totals.sum())


class FixedCenterSearch(SumSearch):
    """The search for the cut with the least sum of differences on its left."""

    def __init__(self, problem: Problem, contested: ContestedRows) -> None:
        difference = contested.difference
        terms = np.stack([np.minimum(difference, 0), np.maximum(difference, 0)], axis=1)
        super().__init__(problem, SumOfDifferences(), contested.rows, terms.sum(axis=0), terms)
        self._differences = difference

    def best(self, goal: int) -> Split | None:
        """The best cut below a goal, with contested rows on both sides.

        Its threshold is the value of a contested row, so that the cut of other rows does not depend
        on where edges of bins are.
        """
        cuts = self.best_splits(goal=goal) if len(self.rows) > 1 else []
        if not cuts:
            return None
        rows = split_rows(self.problem, self.rows, cuts[0].feature, cuts[0].threshold)
        return cuts[0]._replace(threshold=rows.low)

    def best_features(self, number: int) -> np.ndarray:
        """The columns with the best cuts, ascending; they do not depend on edges of bins."""
        problem, features = self.problem, np.arange(self.problem.n_features)
        if number >= len(features):
            return features
        found = np.full((len(features), 1, 3), INFINITE_COST)
        blocks = problem.feature_blocks(features, len(self.rows))
        problem.pool.map(lambda block: self.scan(block, found), blocks)
        limit = np.sort(found[:, 0, 0])[number - 1]
        promising = np.flatnonzero(np.minimum(found[:, 0, 0], found[:, 0, 2]) <= limit)
        if len(self.rows) <= FEW_ROWS:
            blocks = problem.feature_blocks(promising, 64 * len(self.rows))
            least = np.concatenate(problem.pool.map(self._least_sums, blocks))
        else:
            refined = problem.pool.map(lambda j: self.refine(j, limit), promising.tolist())
            least = np.array([cuts[0, 0] for cuts in refined])
        return np.sort(promising[np.argsort(least, kind="stable")[:number]])

    def _least_sums(self, features: np.ndarray) -> np.ndarray:
        """Least sum of differences by column, from the values of a few rows."""
        least, step = [], max(1, _CHUNK // len(self.rows))
        difference = self._differences
        for start in range(0, len(features), step):
            few = features[start : start + step].tolist()
            values = np.array([self.problem.values(j, self.rows) for j in few])
            order = values.argsort(axis=1)
            ascending = np.take_along_axis(values, order, axis=1)
            is_cut = ascending[:, 1:] > ascending[:, :-1]
            sums = difference[order].cumsum(axis=1)[:, :-1]
            least.append(sums.min(axis=1, initial=INFINITE_COST, where=is_cut))
        return np.concatenate(least)


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
        clusters = tree.cluster[left[rows]], tree.cluster[right[rows]]
        n_before, n_after = (
            np.bincount(np.where(goes[rows], *clusters), minlength=state.problem.n_clusters)
            for goes in (before[2], tree.goes_left[node])
        )
        if (n_after[n_before > 0] > 0).all():  # no cluster loses all rows
            return True
        tree.feature[node], tree.threshold[node], tree.goes_left[node] = before
    state.cache[name] = None
    return False


def improve_cuts_with_moving_centers(state: PolishState) -> bool:
    """Give each node its best cut while all centers are means of clusters; bottom-up."""
    tree, changed, moments = state.tree, False, state.moments()
    for node in reversed(tree.inner()):
        better = _improve_with_moving_centers(state, node, moments)
        if better is not None:
            moments, changed = better, True
            tree.update_at(node)
    return changed


def _improve_with_moving_centers(state: PolishState, node: int, moments: Moments) -> Moments | None:
    """Moments of the clusters after the best cut of a node, or None if it is the current cut."""
    tree = state.tree
    rows = tree.rows[node]
    left, right = (tree.cluster[tree.reach[child][rows]] for child in tree.children(node))
    moves = left != right
    rows, left, right = rows[moves], left[moves], right[moves]
    occurs = np.zeros(state.problem.n_clusters, dtype=bool)
    occurs[left] = occurs[right] = True
    clusters, position = np.flatnonzero(occurs), np.cumsum(occurs) - 1
    left, right = position[left], position[right]
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

    With L and w the sum and the weight of a leaf,
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
            kept = left if len(tree.rows[left]) else right
            tree.replace(node, kept)
            tree.update_at(kept)


def remove_useless(state: PolishState) -> bool:
    """Remove the subtree without which the cost is lowest, if it falls."""
    clusters = state.tree.cluster[state.tree.leaves()]
    if len(clusters) == len(np.unique(clusters)):
        return False
    useless = [r for r in _removals(state) if r.loss < -state.min_gain and not r.vacates]
    if useless:
        order = state.by_gain([-r.loss for r in useless], [r.child for r in useless])
        _remove(state, useless[order[0]])
    return bool(useless)


def add_splits(state: PolishState) -> bool:
    """Add the splits of largest gain until the tree has all its leaves, and update the centers."""
    changed = False
    while state.cost > 0 and len(state.tree.leaves()) < state.n_leaves:
        empty = np.flatnonzero(~state.tree.has_rows())
        splits = _splits(state, is_new_cluster=len(empty) > 0)
        if not splits:
            break
        order = state.by_gain([split.gain for split in splits], [split.leaf for split in splits])
        _split(state, splits[order[0]], empty[0] if len(empty) else None)
        state.update_centers()
        changed = True
    return changed


def swap(
    state: PolishState, improve: Callable[[PolishState], None], n_tries: int
) -> PolishState | None:
    """Remove a leaf and add a split elsewhere, if the tree is cheaper once `improve` polished it.

    The most promising swaps are tried first, and the first success is returned.
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
    nodes = [removal.child for removal, _ in pairs], [split.leaf for _, split in pairs]
    order = state.by_gain([split.gain - removal.loss for removal, split in pairs], *nodes)
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
    state.tree.update_at(removal.sibling)


def _removals(state: PolishState, *, leaves_only: bool = False) -> list[Removal]:
    """All children, or all leaves, that could be removed."""
    tree, moments = state.tree, state.moments()
    before, found = moments.between_ss(), []
    for parent in tree.inner():
        children = tree.children(parent)
        for child, sibling in (children, children[::-1]):
            if leaves_only and not tree.is_leaf(child):
                continue
            rows, after = tree.rows[child], moments.copy()
            own, other = (tree.cluster[tree.reach[node][rows]] for node in (child, sibling))
            state.moving_rows(rows, left=other, right=own).move(own != other, after)
            vacates = bool(((moments.counts > 0) & (after.counts == 0)).any())
            loss = before - after.between_ss()
            found.append(Removal(loss, child, parent, sibling, vacates))
    return found


def _without_twins(removals: list[Removal]) -> list[Removal]:
    """One of two sibling leaves that are the only leaves of their clusters.

    Removing either has the same result.
    """
    vacating = {removal.child for removal in removals if removal.vacates}
    return [
        r for r in removals if not (r.vacates and r.sibling in vacating and r.sibling < r.child)
    ]


def _splits(state: PolishState, *, is_new_cluster: bool) -> list[LeafSplit]:
    """The best split of each leaf, if it gains anything.

    With `is_new_cluster`, one side becomes a new cluster; otherwise both sides get the cluster of
    least cost.
    """
    rows, unit = state.tree.rows, state.cost_unit
    leaves = [leaf for leaf in state.tree.leaves() if len(rows[leaf]) > 1]
    if is_new_cluster:
        moments = state.moments()
        found = [_new_cluster_split(state, leaf, moments) for leaf in leaves]
    else:
        surrogate = SurrogateCost(state.problem.with_costs(state.centers, state.costs, unit))
        cuts = [surrogate.best_split(surrogate.start_node(rows[leaf])) for leaf in leaves]
        found = [cut and LeafSplit(cut.gain * unit, leaf, cut) for leaf, cut in zip(leaves, cuts)]
    return [split for split in found if split is not None and split.gain > state.min_gain]


def _new_cluster_split(state: PolishState, leaf: int, moments: Moments) -> LeafSplit | None:
    """The best split if the right side becomes a new cluster and all centers are means."""
    rows = state.tree.rows[leaf]
    before = Moments(*(array[[state.tree.cluster[leaf]]] for array in moments))
    name = fingerprint(rows, *before)
    if name not in state.cache:
        old = np.zeros(len(rows), dtype=np.intp)
        moving = state.moving_rows(rows, left=old, right=old + 1)
        # At first all rows of the leaf are on the right, in the new cluster.
        parts = zip(before, moving.total())
        base = Moments(*(np.concatenate([cluster - leaf, leaf]) for cluster, leaf in parts))
        features = _features_to_split(state, moving)
        found = best_moving_cut(moving, base, np.ones(2, dtype=bool), features, state.tie)
        state.cache[name] = found and LeafSplit(found[0].gain - before.between_ss(), leaf, found[0])
    split = state.cache[name]
    return split and split._replace(leaf=leaf)


def _features_to_split(state: PolishState, moving: MovingRows) -> np.ndarray:
    """All columns, or if they are too many the widest ones, or those with the best splits."""
    problem, number = state.problem, moving.n_affordable
    if number == problem.n_features:
        return np.arange(number)
    if not problem.has_space:
        return moving.widest_features(number)
    node = state.space_cost.start_node(moving.rows)
    splits = state.space_cost.best_splits(node, number)
    return np.sort(np.array([split.feature for split in splits], dtype=np.intp))


def _split(state: PolishState, split: LeafSplit, new_cluster: int | None) -> None:
    """Split a leaf; the right side gets a new cluster, or both sides that of least cost."""
    tree = state.tree
    own = tree.cluster[split.leaf]
    children = tree.split(split.leaf, split.cut.feature, split.cut.threshold)
    tree.update_at(split.leaf)
    if new_cluster is not None:
        tree.cluster[children[1]] = new_cluster
        return
    totals = [state.costs[tree.rows[child]].sum(axis=0) for child in children]
    for child, total in zip(children, totals):
        tree.cluster[child] = int(np.argmin(total))
    if not tree.has_rows()[own]:
        kept = np.argmin([total[own] - total.min() for total in totals])
        tree.cluster[children[kept]] = own
