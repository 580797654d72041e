"""How much of a projection could lie in regions, seen on a coarse grid."""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import allocating


@allocating
def judge_answers(answers, y, units, codes, subsets, n_bins, gains, losses, wrong, worth):
    """Errors of classifiers, and what the cells are worth in which they are mostly right.

    A cell of the grid with right weight R and wrong weight W is worth
    max(0, gain · R - loss · W).

    Parameters
    ----------
    answers : (n_subsets, n) int64
        What the classifier of each subset says; a first entry of -1 means that there is none.
    y : (n,) int64
    units : (n,) int64
    codes : (n_columns, n) uint8
        Bin of each row in each column.
    subsets : (n_subsets, dim) int64
        Positions of columns in `codes`.
    n_bins : int
    gains, losses : (n_prices,) int64
        What cells are judged by, each pair in turn.
    wrong : (n_subsets,) int64, filled in
        -1 where there is no classifier.
    worth : (n_prices, n_subsets) int64, filled in
    """
    n_subsets, dim = subsets.shape
    cells = n_bins**dim
    right_in, wrong_in = np.empty(cells, np.int64), np.empty(cells, np.int64)
    for s in range(n_subsets):
        if answers[s, 0] < 0:
            wrong[s] = -1
            worth[:, s] = -1
            continue
        right_in[:] = 0
        wrong_in[:] = 0
        for i in range(len(y)):
            cell = 0
            for a in range(dim):
                cell = cell * n_bins + codes[subsets[s, a], i]
            if answers[s, i] == y[i]:
                right_in[cell] += units[i]
            else:
                wrong_in[cell] += units[i]
        total = 0
        for cell in range(cells):
            total += wrong_in[cell]
        wrong[s] = total
        for p in range(len(gains)):
            value = 0
            for cell in range(cells):
                value += max(0, gains[p] * right_in[cell] - losses[p] * wrong_in[cell])
            worth[p, s] = value
