"""Obvious brute force over all cuts of tiny data: slow, short, and right by inspection.

Trees are nested tuples: ``(feature, low, left, right)`` for a cut, a cluster number for a leaf.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

POWERS = {"kmeans": 2, "kmedians": 1}
"""Of the differences to a center whose sum a row pays."""


@dataclass
class Data:
    X: np.ndarray
    centers: np.ndarray
    labels: np.ndarray
    weight: np.ndarray
    objective: str = "kmeans"

    def cost(self, row, center):
        power = POWERS[self.objective]
        return self.weight[row] * (np.abs(self.X[row] - self.centers[center]) ** power).sum()

    def least(self, row, centers):
        return min(self.cost(row, center) for center in centers)


def nearest(X, centers, objective="kmeans"):
    differences = np.abs(X[:, None, :] - centers[None, :, :])
    distances = (differences ** POWERS[objective]).sum(axis=2)
    return distances.argmin(axis=1)


def lower_median(values, weight):
    """The middle of the values, each repeated as often as its (whole) weight says."""
    repeated = np.sort(np.repeat(values, weight.astype(int)))
    return repeated[(len(repeated) - 1) // 2]


def medians(X, weight):
    return np.array([lower_median(column, weight) for column in X.T])


def cuts_between_centers(data, rows, centers):
    """Every cut that separates centers: one for each way to split rows and centers."""
    for feature in range(data.X.shape[1]):
        coordinates = data.centers[centers, feature]
        values = sorted({*data.X[rows, feature], *coordinates})
        for low, high in zip(values, values[1:]):
            if coordinates.min() <= low < coordinates.max():
                yield feature, low, high


def sides(data, rows, centers, feature, low):
    left = [i for i in rows if data.X[i, feature] <= low]
    right = [i for i in rows if data.X[i, feature] > low]
    near = [c for c in centers if data.centers[c, feature] <= low]
    far = [c for c in centers if data.centers[c, feature] > low]
    return left, right, near, far


def mistakes(data, rows, centers, feature, low):
    left, right, near, far = sides(data, rows, centers, feature, low)
    lost = [i for i in left if data.labels[i] in far] + [i for i in right if data.labels[i] in near]
    return float(sum(data.weight[i] for i in lost))


def average_depth(n_centers, row_share, center_share, spared=(0.0, 0.0)):
    """EvalWAD by its own recursion, less what either side is spared at the top.

    The center share is a pair (left, all). The two sides are added first: equal cuts are equal only
    if all who compare them round alike.
    """
    if n_centers == 1:
        return 0.0
    part, whole = center_share
    n_left = min(max(-(-n_centers * part // whole), 1), n_centers - 1)
    left = average_depth(n_left, row_share, center_share) - spared[0]
    right = average_depth(n_centers - n_left, row_share, center_share) - spared[1]
    return 1.0 + (row_share * left + (1.0 - row_share) * right)


def shallow_objective(data, rows, centers, feature, low, penalty, above):
    left, right, near, far = sides(data, rows, centers, feature, low)
    after = sum(data.least(i, near) for i in left) + sum(data.least(i, far) for i in right)
    before = sum(data.least(i, centers) for i in rows)
    price = after / before if before > 0 else (1.0 if after == 0 else inf)
    if penalty == 0:
        return price
    total = sum(data.weight[i] for i in rows)
    share = sum(data.weight[i] for i in left) / total if total > 0 else 0.0
    spared = ((feature, "left") in above, (feature, "right") in above)
    size = average_depth(len(centers), share, (len(near), len(centers)), spared)
    return price + penalty * size


def has_enough_rows(data, rows, centers, feature, low):
    left, right, near, far = sides(data, rows, centers, feature, low)
    weight = data.weight
    per_row = 1.0 if (weight == np.rint(weight)).all() else weight[weight > 0].mean()
    return sum(weight[left]) >= len(near) * per_row and sum(weight[right]) >= len(far) * per_row


def best(cuts, objective):
    """Smallest objective, then lowest feature, then lowest threshold."""
    return min(cuts, key=lambda cut: (objective(cut), cut[0], cut[1]))


def grow_imm(data, rows=None, centers=None):
    rows = list(range(len(data.X))) if rows is None else rows
    centers = list(range(len(data.centers))) if centers is None else centers
    cuts = list(cuts_between_centers(data, rows, centers)) if len(centers) > 1 else []
    if not cuts:
        mine = [sum(data.weight[i] for i in rows if data.labels[i] == c) for c in centers]
        return centers[int(np.argmax(mine))]
    feature, low, _ = best(cuts, lambda cut: mistakes(data, rows, centers, cut[0], cut[1]))
    left, right, near, far = sides(data, rows, centers, feature, low)
    kept_left = [i for i in left if data.labels[i] in near]
    kept_right = [i for i in right if data.labels[i] in far]
    return (
        feature,
        low,
        grow_imm(data, kept_left, near),
        grow_imm(data, kept_right, far),
    )


def grow_shallow(data, penalty, rows=None, centers=None, above=frozenset()):
    rows = list(range(len(data.X))) if rows is None else rows
    centers = list(range(len(data.centers))) if centers is None else centers
    cuts = list(cuts_between_centers(data, rows, centers)) if len(centers) > 1 else []
    if not cuts:
        mine = [sum(data.weight[i] for i in rows if data.labels[i] == c) for c in centers]
        return centers[int(np.argmax(mine))]
    enough = [cut for cut in cuts if has_enough_rows(data, rows, centers, cut[0], cut[1])]
    feature, low, _ = best(
        enough or cuts,
        lambda cut: shallow_objective(data, rows, centers, cut[0], cut[1], penalty, above),
    )
    left, right, near, far = sides(data, rows, centers, feature, low)
    return (
        feature,
        low,
        grow_shallow(data, penalty, left, near, above | {(feature, "left")}),
        grow_shallow(data, penalty, right, far, above | {(feature, "right")}),
    )


def surrogate(data, rows):
    """Least cost of the rows at one center, and that center."""
    sums = [sum(data.cost(i, c) for i in rows) for c in range(len(data.centers))]
    return min(sums), int(np.argmin(sums))


def best_surrogate_cut(data, rows):
    """Feature, low and gain of the best cut of a leaf, or None when nothing can be gained."""
    before, _ = surrogate(data, rows)
    if before == sum(data.least(i, range(len(data.centers))) for i in rows):
        return None
    cuts = []
    for feature in range(data.X.shape[1]):
        values = sorted(set(data.X[rows, feature]))
        for low in values[:-1]:
            left = [i for i in rows if data.X[i, feature] <= low]
            right = [i for i in rows if data.X[i, feature] > low]
            cuts.append((feature, low, surrogate(data, left)[0] + surrogate(data, right)[0]))
    if not cuts:
        return None
    feature, low, after = best(cuts, lambda cut: cut[2])
    return feature, low, before - after


def grow_exkmc(data, n_leaves):
    """Best-first expansion of a single leaf; returns the nested tuple and the cost curve."""
    leaves = {(): list(range(len(data.X)))}
    tree: dict = {}
    grown: list = []
    curve = [surrogate(data, leaves[()])[0]]
    order = {(): 0}
    while len(leaves) < n_leaves:
        found = {path: best_surrogate_cut(data, rows) for path, rows in leaves.items()}
        found = {path: cut for path, cut in found.items() if cut is not None}
        if not found:
            break
        path = min(found, key=lambda path: (-found[path][2], order[path]))
        feature, low, gain = found[path]
        rows = leaves.pop(path)
        leaves[(*path, 0)] = [i for i in rows if data.X[i, feature] <= low]
        leaves[(*path, 1)] = [i for i in rows if data.X[i, feature] > low]
        order[(*path, 0)], order[(*path, 1)] = len(order), len(order) + 1
        tree[path] = (feature, low)
        curve.append(curve[-1] - gain)
        grown.append(path)
    while len(curve) > 1 and curve[-1] == curve[-2]:  # cuts after the last gain are taken back
        curve.pop()
        path = grown.pop()
        del tree[path]
        leaves[path] = leaves.pop((*path, 0)) + leaves.pop((*path, 1))

    def nested(path):
        if path in leaves:
            return surrogate(data, leaves[path])[1]
        return (*tree[path], nested((*path, 0)), nested((*path, 1)))

    return nested(()), curve


def as_nested(tree, node=0):
    """A ThresholdTree in the oracles' form (thresholds of style "data" are the lows)."""
    if tree.children_left[node] < 0:
        return int(tree.cluster[node])
    return (
        int(tree.feature[node]),
        float(tree.threshold[node]),
        as_nested(tree, tree.children_left[node]),
        as_nested(tree, tree.children_right[node]),
    )


def least_total(data, price, rows=None, centers=None):
    """Least sum of price(row, center of its leaf) over all trees whose cuts separate centers."""
    rows = tuple(range(len(data.X))) if rows is None else rows
    centers = tuple(range(len(data.centers))) if centers is None else centers
    known: dict = {}

    def least(rows, centers):
        if (rows, centers) not in known:
            cuts = cuts_between_centers(data, list(rows), list(centers)) if len(centers) > 1 else ()
            sums = []
            for feature, low, _ in cuts:
                left, right, near, far = map(tuple, sides(data, rows, centers, feature, low))
                sums.append(least(left, near) + least(right, far))
            leaf = min(sum(price(i, c) for i in rows) for c in centers)
            known[rows, centers] = min(sums) if sums else leaf
        return known[rows, centers]

    return least(rows, centers)


def price_of(data, objective):
    """What a row pays at a center: its weight at another than its own, or its cost."""
    if objective == "surrogate":
        return data.cost
    return lambda row, center: data.weight[row] * (center != data.labels[row])
