"""A walk from tree to tree: change a part at random, mend it, go on from there if it is cheap."""

from __future__ import annotations

import numpy as np

from pellucid.kernels._compile import compiled, inner
from pellucid.kernels.walk_cuts import TIE, find_split, improve_cut
from pellucid.kernels.walk_rows import (
    NONE,
    ROOT,
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

HOPE = 0.5
"""How many times its latest rise the share may still be short of the goal."""

ASTRAY = 0.06
"""Share of the cost by which a change may at first be short of the goal: few that are further off
come to be of use."""


@inner
def mend(sample, tree, top, room, goal, lowest):
    """Improve cuts from a node downwards until none can be, or until there is little hope.

    The node itself comes last, or else a cut that has just been changed would be taken back at
    once; up to then, a share below the lowest is hopeless. Returns the share of that part.
    """
    nodes, part = tree.nodes, np.empty(len(tree.nodes), dtype=np.int64)
    share, last = share_below(tree, top, room), 1
    while share >= lowest:
        is_done = True
        for p in range(list_nodes(tree, top, part, room.stack) - 1, last - 1, -1):
            i = part[p]
            if nodes[i].left != NONE and nodes[i].is_stale:
                if improve_cut(sample, tree, i, room):
                    is_done = False
                    mark_above(tree, i, top)
        before, share = share, share_below(tree, top, room)
        if last == 1:
            last -= is_done
        elif is_done or goal - share > HOPE * (share - before):
            break
    return share


@inner
def split_leaf(sample, tree, leaf, room):
    """Split a leaf where it gains most."""
    nodes = tree.nodes
    is_used = np.zeros(len(nodes), dtype=np.bool_)
    for p in range(list_nodes(tree, ROOT, room.list, room.stack)):
        is_used[room.list[p]] = True
    child = NONE
    for side in range(2):
        child += 1
        while is_used[child]:
            child += 1
        nodes[child].left = nodes[child].right = NONE
        if side == 0:
            nodes[leaf].left = child
        else:
            nodes[leaf].right = child
    nodes[leaf].feature, nodes[leaf].at = nodes[leaf].gain_feature, nodes[leaf].gain_at
    send_rows(sample, tree, leaf, room)


@inner
def split_best(sample, tree, top, forbidden, room):
    """Split about the best leaf below a node, and not that one; the leaf, or -1."""
    nodes, part = tree.nodes, np.empty(len(tree.nodes), dtype=np.int64)
    best, at = 0.0, NONE
    for p in range(list_nodes(tree, top, part, room.stack)):
        i = part[p]
        if nodes[i].left == NONE and i != forbidden:
            gain = find_split(sample, tree, i, room)
            # Four of them have a variance of 1/3.
            wave = draw(room.random) + draw(room.random) + draw(room.random) + draw(room.random)
            gain *= np.exp(NOISE * np.sqrt(3.0) * (wave - 2.0))
            if gain > best:
                best, at = gain, i
    if at != NONE:
        split_leaf(sample, tree, at, room)
    return at


@inner
def pick(tree, room, n_children):
    """A random node of so many children: a leaf, or an inner node."""
    n = 0
    for p in range(list_nodes(tree, ROOT, room.list, room.stack)):
        i = room.list[p]
        if (tree.nodes[i].left == NONE) == (n_children == 0):
            room.list[n] = i
            n += 1
    return room.list[int(draw(room.random) * n)]


@inner
def fell(sample, tree, room):
    """Take a part with at least three leaves out; its top, and how many leaves it had."""
    nodes = tree.nodes
    top = pick(tree, room, np.int64(2))
    n_leaves = (list_nodes(tree, top, room.list, room.stack) + 1) // 2
    while top != ROOT and n_leaves == 2:
        top = nodes[top].parent
        n_leaves = (list_nodes(tree, top, room.list, room.stack) + 1) // 2
    nodes[top].left = nodes[top].right = NONE
    add_up(sample, tree, top)
    return top, n_leaves


@inner
def pluck(sample, tree, room):
    """Take a leaf out; what was beside it comes into the place of both, which is returned."""
    nodes = tree.nodes
    leaf = pick(tree, room, np.int64(0))
    top = nodes[leaf].parent
    other = nodes[top].left if nodes[top].right == leaf else nodes[top].right
    nodes[top].feature, nodes[top].at = nodes[other].feature, nodes[other].at
    nodes[top].left, nodes[top].right = nodes[other].left, nodes[other].right
    send_rows(sample, tree, top, room)
    mark_above(tree, top, ROOT)
    return top


@inner
def lowest_above(tree, i, j):
    """The lowest node that two nodes are below, or are."""
    is_above = np.zeros(len(tree.nodes), dtype=np.bool_)
    is_above[i] = True
    while i != ROOT:
        i = tree.nodes[i].parent
        is_above[i] = True
    while not is_above[j]:
        j = tree.nodes[j].parent
    return j


@inner
def cut_anew(sample, tree, room):
    """Give a node a random cut; the node, or -1 if a leaf has no rows then."""
    nodes, rows, weight = tree.nodes, tree.rows, sample.weight
    top = pick(tree, room, np.int64(2))
    begin, end = nodes[top].begin, nodes[top].end
    feature = int(draw(room.random) * len(sample.n_ranks))
    # By weight: a row of weight two is two rows.
    total = 0.0
    for p in range(begin, end):
        total += weight[rows[p]]
    rest, p = draw(room.random) * total, begin
    while p < end - 1 and rest >= weight[rows[p]]:
        rest -= weight[rows[p]]
        p += 1
    nodes[top].feature, nodes[top].at = feature, sample.rank[feature, rows[p]]
    return top if send_rows(sample, tree, top, room) else NONE


@inner
def change(sample, tree, room):
    """Change a part of a tree at random.

    Grow it anew, or take a leaf out and split another one, or give it a random cut at the top.
    Returns the top of the part, or -1 if the tree is none any more.
    """
    way = int(3 * draw(room.random))
    if way == 2:
        top = cut_anew(sample, tree, room)
        return top
    if way == 0:
        top, n_missing = fell(sample, tree, room)
        above, forbidden = top, NONE
    else:
        top, n_missing = pluck(sample, tree, room), np.int64(2)
        above, forbidden = ROOT, top
    for _ in range(n_missing - 1):
        leaf = split_best(sample, tree, above, forbidden, room)
        if leaf == NONE:
            return NONE
    if way == 1:
        mark_above(tree, leaf, ROOT)
        top = lowest_above(tree, leaf, top)
    return top


@compiled
def walk(sample, here, trial, best, room, n_steps, warmth, cooling):
    """Take some steps; the share of the best tree, or minus infinity if a leaf has no rows.

    A step changes a part of the tree, which then is mended. If its share has not fallen by more
    than the warmth, the walk goes on from there. The best tree of all is kept.

    Parameters
    ----------
    here, trial, best : Tree
        Where the walk is, room for a tree, and the best tree so far. At first all are one and the
        same, whose rows have not been sent; without steps, that is all that is done.
    n_steps : int
    warmth : float
        At first.
    cooling : float
        What it falls by with each step.
    """
    if n_steps == 0:
        if not send_rows(sample, here, ROOT, room):
            return -np.inf
        return mend(sample, here, ROOT, room, -np.inf, -np.inf)
    most = share_below(best, ROOT, room)
    far = ASTRAY * (sample.square.sum() - most)
    for _ in range(n_steps):
        copy_tree(here, trial)
        top = change(sample, trial, room)
        warmth -= cooling
        if top == NONE:
            continue
        before = share_below(here, top, room)
        after = mend(sample, trial, top, room, before - warmth, before - far)
        if after > before - warmth and abs(after - before) > TIE * abs(before):
            mark_above(trial, top, ROOT)
            share = mend(sample, trial, ROOT, room, -np.inf, -np.inf)
            copy_tree(trial, here)
            if share > most + TIE * abs(most):
                most = share
                copy_tree(here, best)
    return most
