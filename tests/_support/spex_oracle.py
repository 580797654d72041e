"""Brute-force SpEx: every cut of every leaf, by the definition."""

from __future__ import annotations

import numpy as np


def cut_ratio(labels, weight, rows):
    """Cut over degree of some rows in the graph that joins rows of equal label."""
    cut = degree = 0.0
    for c in np.unique(labels):
        whole = weight[labels == c].sum()
        inside = weight[rows][labels[rows] == c].sum()
        cut += inside * (whole - inside)
        degree += inside * (whole - 1)
    return cut / degree if degree > 0 else 0.0


def sides(X, rows, feature, low):
    left = X[rows, feature] <= low
    return rows[left], rows[~left]


def best_cut(X, labels, weight, rows):
    """Objective, feature and low of the best cut, or None if all rows have one label."""
    if len(set(labels[rows])) < 2:
        return None
    cuts = []
    for feature in range(X.shape[1]):
        for low in sorted(set(X[rows, feature]))[:-1]:
            left, right = sides(X, rows, feature, low)
            value = cut_ratio(labels, weight, left) + cut_ratio(labels, weight, right)
            cuts.append((value, feature, low))
    return min(cuts, default=None)


def grow_spex(X, labels, weight, n_leaves):
    """The tree as nested tuples, as in `oracles`, for labels 0, 1, ..."""
    leaves, order, cuts = {(): np.arange(len(X))}, {(): 0}, {}
    while len(leaves) < n_leaves:
        found = {path: best_cut(X, labels, weight, rows) for path, rows in leaves.items()}
        rises = {
            path: cut[0] - cut_ratio(labels, weight, leaves[path])
            for path, cut in found.items()
            if cut is not None
        }
        if not rises:
            break
        path = min(rises, key=lambda path: (rises[path], order[path]))
        _, feature, low = cuts[path] = found[path]
        rows = leaves.pop(path)
        leaves[(*path, 0)], leaves[(*path, 1)] = sides(X, rows, feature, low)
        order[(*path, 0)], order[(*path, 1)] = len(order), len(order) + 1

    def nested(path):
        if path in cuts:
            return (*cuts[path][1:], nested((*path, 0)), nested((*path, 1)))
        return int(np.argmax(np.bincount(labels[leaves[path]], weight[leaves[path]])))

    return nested(())
