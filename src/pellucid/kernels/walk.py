"""A walk from tree to tree: change a part at random, mend it, and go on from there if it is cheap."""

from __future__ import annotations

import numpy as np

from pellucid.kernels._compile import compiled, inner
from pellucid.kernels.walk_cuts import TIE, find_split, improve_cut
from pellucid.kernels.walk_rows import (
    NONE,
    add_up,
    copy_tree,
    draw,
    list_nodes,
    mark_above,
    send_rows,
    share_below,
)

NOISE = 0.25
"""Spread of the factors that gains are multiplied by, so that not always the same leaf is split."""

HOPE = 2.0
"""How many times its latest rise the share may still be short of the goal."""


@inner
def mend(sample, tree, top, room, goal):
    """Improve cuts from a node downwards until none can be, or until there is little hope.

    Returns the share of that part.
    """
    nodes = np.empty(len(tree.left), dtype=np.int64)
    share = share_below(tree, top, room)
    while True:
        is_done = True
        for i in range(list_nodes(tree, top, nodes, room.stack) - 1, -1, -1):
            node = nodes[i]
            if tree.left[node] != NONE and tree.is_stale[node]:
                if improve_cut(sample, tree, node, room):
                    is_done = False
                    mark_above(tree, node, top)
        before, share = share, share_below(tree, top, room)
        if is_done or goal - share > HOPE * (share - before):
            return share


@inner
def noisy(gain, random):
    """A gain times a random factor about 1."""
    wave = draw(random) + draw(random) + draw(random) + draw(random) - 2.0  # of variance 1/3
    return gain * np.exp(NOISE * np.sqrt(3.0) * wave)


@inner
def split_leaf(sample, tree, leaf, room):
    """Split a leaf where it gains most."""
    is_used = np.zeros(len(tree.left), dtype=np.bool_)
    for i in range(list_nodes(tree, 0, room.nodes, room.stack)):
        is_used[room.nodes[i]] = True
    child, sides = 0, np.empty(2, dtype=np.int64)
    for side in range(2):
        while is_used[child]:
            child += 1
        is_used[child] = True
        sides[side] = child
        tree.left[child] = tree.right[child] = NONE
    tree.left[leaf], tree.right[leaf] = sides[0], sides[1]
    tree.feature[leaf], tree.at[leaf] = tree.gain_feature[leaf], tree.gain_at[leaf]
    send_rows(sample, tree, leaf, room)


@inner
def split_best(sample, tree, top, forbidden, room):
    """Split about the best leaf below a node, and not that one; the leaf, or -1."""
    leaves = np.empty(len(tree.left), dtype=np.int64)
    best, at = 0.0, NONE
    for i in range(list_nodes(tree, top, leaves, room.stack)):
        leaf = leaves[i]
        if tree.left[leaf] == NONE and leaf != forbidden:
            gain = noisy(find_split(sample, tree, leaf, room), room.random)
            if gain > best:
                best, at = gain, leaf
    if at != NONE:
        split_leaf(sample, tree, at, room)
    return at


@inner
def pick(tree, room, is_leaf):
    """A random leaf, or a random inner node."""
    n = 0
    for i in range(list_nodes(tree, 0, room.nodes, room.stack)):
        node = room.nodes[i]
        if (tree.left[node] == NONE) == is_leaf:
            room.nodes[n] = node
            n += 1
    return room.nodes[int(draw(room.random) * n)]


@inner
def regrow(sample, tree, room):
    """Grow a part with at least three leaves anew; its top, or -1."""
    top = pick(tree, room, False)
    n_leaves = (list_nodes(tree, top, room.nodes, room.stack) + 1) // 2
    while top != 0 and n_leaves == 2:
        top = tree.parent[top]
        n_leaves = (list_nodes(tree, top, room.nodes, room.stack) + 1) // 2
    tree.left[top] = tree.right[top] = NONE
    add_up(sample, tree, top)
    for _ in range(n_leaves - 1):
        if split_best(sample, tree, top, NONE, room) == NONE:
            return NONE
    return top


@inner
def move_leaf(sample, tree, room):
    """Take a leaf out and split another one; the lowest node above both, or -1."""
    leaf = pick(tree, room, True)
    parent = tree.parent[leaf]
    sibling = tree.left[parent] if tree.right[parent] == leaf else tree.right[parent]
    tree.feature[parent], tree.at[parent] = tree.feature[sibling], tree.at[sibling]
    tree.left[parent], tree.right[parent] = tree.left[sibling], tree.right[sibling]
    send_rows(sample, tree, parent, room)
    mark_above(tree, parent, 0)
    other = split_best(sample, tree, 0, parent, room)
    if other == NONE:
        return NONE
    mark_above(tree, other, 0)
    is_above = np.zeros(len(tree.left), dtype=np.bool_)
    is_above[other] = True
    while other != 0:
        other = tree.parent[other]
        is_above[other] = True
    while not is_above[parent]:
        parent = tree.parent[parent]
    return parent


@inner
def cut_anew(sample, tree, room):
    """Give a node a random cut, and mend what is below it; the node, or -1."""
    top = pick(tree, room, False)
    begin, end = tree.begin[top], tree.end[top]
    feature = int(draw(room.random) * len(sample.n_ranks))
    # By weight: a row of weight two is two rows.
    total = 0.0
    for p in range(begin, end):
        total += sample.weight[tree.rows[p]]
    rest, p = draw(room.random) * total, begin
    while p < end - 1 and rest >= sample.weight[tree.rows[p]]:
        rest -= sample.weight[tree.rows[p]]
        p += 1
    tree.feature[top], tree.at[top] = feature, sample.rank[feature, tree.rows[p]]
    if not send_rows(sample, tree, top, room):
        return NONE
    for child in (tree.left[top], tree.right[top]):
        if tree.left[child] != NONE:
            mend(sample, tree, child, room, -np.inf)
    return top


@compiled
def descend(sample, tree, room):
    """Mend the whole tree; its share, or minus infinity if some leaf has no rows."""
    if not send_rows(sample, tree, 0, room):
        return -np.inf
    return mend(sample, tree, 0, room, -np.inf)


@compiled
def walk(sample, here, trial, best, room, n_steps, warmth, cooling):
    """Take some steps; the share of the best tree.

    A step changes a part of the tree, which then is mended. If its share has not fallen by more
    than the warmth, the walk goes on from there. The best tree of all is kept.

    Parameters
    ----------
    here, trial, best : Tree
        Where the walk is, room for a tree, and the best tree so far.
    n_steps : int
    warmth : float
        At first.
    cooling : float
        What it falls by with each step.
    """
    share = share_below(here, 0, room)
    most = share_below(best, 0, room)
    for _ in range(n_steps):
        copy_tree(here, trial)
        way = int(3 * draw(room.random))
        if way == 0:
            top = regrow(sample, trial, room)
        elif way == 1:
            top = move_leaf(sample, trial, room)
        else:
            top = cut_anew(sample, trial, room)
        warmth -= cooling
        if top == NONE:
            continue
        before = share_below(here, top, room)
        after = mend(sample, trial, top, room, before - warmth)
        if after > before - warmth and abs(after - before) > TIE * abs(before):
            mark_above(trial, top, 0)
            share = mend(sample, trial, 0, room, -np.inf)
            copy_tree(trial, here)
            if share > most + TIE * abs(most):
                most = share
                copy_tree(here, best)
    return most
