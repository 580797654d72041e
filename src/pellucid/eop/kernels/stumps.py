"""The decision stump with the smallest error, for each column."""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import allocating


@allocating
def best_stumps(orders, columns, y, units, n_classes, ends, classes, wrong):
    """Find the stump with the smallest error for every column.

    A stump with threshold θ predicts the heaviest class among the rows with x ≤ θ, and the
    heaviest class among the rows with x > θ. With class weights L_c(θ) and R_c(θ), the weight of
    the correctly classified rows is max_c L_c(θ) + max_c R_c(θ). Adding a row to a side can only
    raise the maximum to the weight of the row's class, so one pass from each end is enough. Ties
    go to the lowest threshold. A threshold must beat the best single class.

    Parameters
    ----------
    orders : (n_columns, n) int
        Rows of each column in ascending order of their values.
    columns : (n_columns, n) float64
    y : (n,) int
    units : (n,) int64
    n_classes : int
    ends : (n_columns, 2) float64, filled in
        The largest value on the left and the smallest on the right. Both are infinite if no
        threshold beats the best single class; all rows are then on the left.
    classes : (n_columns, 2) int64, filled in
        Heaviest class on the left and on the right; ties go to the lowest class.
    wrong : (n_columns,) int64, filled in
        Weight of the misclassified rows.
    """
    n = len(y)
    weight = np.empty(n_classes, np.int64)
    suffix = np.empty(n + 1, np.int64)
    suffix[n] = 0
    for j in range(len(columns)):
        weight[:] = 0
        largest = 0
        for i in range(n - 1, -1, -1):
            row = orders[j, i]
            weight[y[row]] += units[row]
            largest = max(largest, weight[y[row]])
            suffix[i] = largest
        weight[:] = 0
        largest, best, cut = 0, suffix[0], -1
        for i in range(n - 1):
            row = orders[j, i]
            weight[y[row]] += units[row]
            largest = max(largest, weight[y[row]])
            value = largest + suffix[i + 1]
            if value > best and columns[j, row] < columns[j, orders[j, i + 1]]:
                best, cut = value, i
        ends[j, :] = np.inf
        if cut >= 0:
            ends[j, 0] = columns[j, orders[j, cut]]
            ends[j, 1] = columns[j, orders[j, cut + 1]]
        total = 0
        for i in range(n):
            total += units[i]
        wrong[j] = total - best
        last = cut if cut >= 0 else n - 1
        for side in range(2):
            weight[:] = 0
            begin, end = (0, last + 1) if side == 0 else (last + 1, n)
            for i in range(begin, end):
                row = orders[j, i]
                weight[y[row]] += units[row]
            classes[j, side] = np.argmax(weight)
