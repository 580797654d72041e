"""Search for boxes with the largest surplus (sum of gains of the rows inside)."""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import allocating


@allocating
def best_grid_box(codes, gains, n_bins):
    """Find the box on a grid over two columns with the largest sum of gains.

    For every range of bins of the first column, the best range of the second column is the
    contiguous run with the largest sum (Kadane's algorithm). The search is exact and takes
    O(n_bins³) steps.

    Parameters
    ----------
    codes : (2, n) int64
        Bins.
    gains : (n,) int64
    n_bins : int

    Returns
    -------
    (5,) int64
        First and last bin of the first column, first and last bin of the second column, and the
        sum. The sum is 0 if no box has a positive sum. Ties go to the box that is found first.
    """
    grid = np.zeros((n_bins, n_bins), np.int64)
    for i in range(len(gains)):
        grid[codes[0, i], codes[1, i]] += gains[i]
    best = np.zeros(5, np.int64)
    column_sums = np.empty(n_bins, np.int64)
    for first in range(n_bins):
        column_sums[:] = 0
        for last in range(first, n_bins):
            run, begin = 0, 0
            for j in range(n_bins):
                column_sums[j] += grid[last, j]
                if run <= 0:
                    run, begin = 0, j
                run += column_sums[j]
                if run > best[4]:
                    best[0], best[1], best[2], best[3], best[4] = first, last, begin, j, run
    return best


@allocating
def improve_box(columns, orders, gains, lower, upper):
    """Optimize the ends of a box, one column at a time, until its sum of gains stops growing.

    With the other columns fixed, the best interval of a column is the contiguous run with the
    largest sum along its sorted values. Rows with lower ≤ x ≤ upper are inside.

    Parameters
    ----------
    columns : (dim, n) float64
    orders : (dim, n) int64
        Rows of each column in ascending order of their values.
    gains : (n,) int64
    lower, upper : (dim,) float64, changed

    Returns
    -------
    int
        The sum of gains of the rows inside.
    """
    dim, n = columns.shape
    outside = np.zeros(n, np.int64)
    for i in range(n):
        for a in range(dim):
            if not (lower[a] <= columns[a, i] <= upper[a]):
                outside[i] += 1
    total = 0
    for i in range(n):
        if outside[i] == 0:
            total += gains[i]
    unchanged = 0
    a = 0
    while unchanged < dim:
        run, best, begin = 0, total, 0
        low, high = lower[a], upper[a]
        for k in range(n):
            i = orders[a, k]
            x = columns[a, i]
            if run <= 0 and (k == 0 or x > columns[a, orders[a, k - 1]]):
                run, begin = 0, k
            is_out = not (lower[a] <= x <= upper[a])
            if outside[i] == is_out:
                run += gains[i]
            is_last = k == n - 1 or columns[a, orders[a, k + 1]] > x
            if is_last and run > best:
                best, low, high = run, columns[a, orders[a, begin]], x
        if best > total:
            for i in range(n):
                x = columns[a, i]
                outside[i] += (not (low <= x <= high)) - (not (lower[a] <= x <= upper[a]))
            total, lower[a], upper[a] = best, low, high
            unchanged = 1
        else:
            unchanged += 1
        a = (a + 1) % dim
    return total
