"""Random trees by rejection sampling, as in the papers: draw cuts until one is valid."""

from __future__ import annotations

import numpy as np


def candidates(centers, objective, rng):
    """Cuts from the bounding box; for k-means accepted in proportion to the distance to the nearest
    center coordinate.
    """
    low, length = centers.min(axis=0), np.ptp(centers, axis=0)
    while True:
        feature = rng.choice(len(length), 5000, p=length / length.sum())
        at = low[feature] + length[feature] * rng.random(5000)
        if objective == "kmeans":
            nearest = np.abs(centers[:, feature] - at).min(axis=0)
            kept = rng.random(5000) * length.max() / 2 < nearest
            feature, at = feature[kept], at[kept]
        yield from zip(feature.tolist(), at.tolist())


def between(centers, a, b, objective):
    """Weight of all cuts between two centers: lengths of the gaps, or their squares."""
    total = 0.0
    for column in centers.T:
        low, high = sorted((column[a], column[b]))
        inside = np.unique(column[(column >= low) & (column <= high)])
        total += np.sum(np.diff(inside) ** (2 if objective == "kmeans" else 1))
    return total


def separates(centers, leaf, feature, at):
    left = {c for c in leaf if centers[c, feature] <= at}
    return bool(left) and left != leaf


def draw_trees(centers, n_trees, method, objective, rng):
    """The first cut of each tree, and the sets of centers that it cuts."""
    k, cuts = len(centers), candidates(centers, objective, rng)
    distance = {(a, b): between(centers, a, b, objective) for b in range(k) for a in range(b)}
    trees = []
    while len(trees) < n_trees:
        first, split_sets, leaves = None, [], [frozenset(range(k))]
        while any(len(leaf) > 1 for leaf in leaves):
            feature, at = next(cuts)
            split = [leaf for leaf in leaves if separates(centers, leaf, feature, at)]
            if not split:
                continue
            together = {p: d for p, d in distance.items() if any({*p} <= leaf for leaf in leaves)}
            close = [pair for pair, d in together.items() if d <= max(together.values()) / k**3]
            too_close = any(separates(centers, {*pair}, feature, at) for pair in close)
            if method == "makarychev-shan" and too_close:
                continue
            first = first or (feature, at)
            split_sets += split
            for leaf in split:
                left = frozenset(c for c in leaf if centers[c, feature] <= at)
                leaves.remove(leaf)
                leaves += [left, leaf - left]
        trees.append((first, frozenset(split_sets)))
    return trees
