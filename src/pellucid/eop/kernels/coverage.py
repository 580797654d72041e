"""Estimate on a coarse grid how much of each projection regions can cover."""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import allocating


@allocating
def score_projections(answers, y, units, codes, subsets, n_bins, gains, losses, wrong, potential):
    """Compute the error of each classifier and the potential of each projection.

    The potential is Σ max(0, gain · C - loss · W) over the cells of a grid, where C and W are
    the weights of the correctly and of the wrongly classified rows in the cell.

    Parameters
    ----------
    answers : (n_subsets, n) int64
        Predicted class of each row by the classifier of each subset. A first entry of -1 means
        that there is no classifier.
    y : (n,) int64
    units : (n,) int64
    codes : (n_columns, n) uint8
        Bin of each row in each column.
    subsets : (n_subsets, dim) int64
        Indices of columns in `codes`.
    n_bins : int
    gains, losses : (n_max_errors,) int64
        Multiples of ε and 1 - ε, one pair per value of ε.
    wrong : (n_subsets,) int64, filled in
        Weight of the misclassified rows; -1 where there is no classifier.
    potential : (n_max_errors, n_subsets) int64, filled in
        -1 where there is no classifier.
    """
    n_subsets, dim = subsets.shape
    cells = n_bins**dim
    correct_in, wrong_in = np.empty(cells, np.int64), np.empty(cells, np.int64)
    for s in range(n_subsets):
        if answers[s, 0] < 0:
            wrong[s] = -1
            potential[:, s] = -1
            continue
        correct_in[:] = 0
        wrong_in[:] = 0
        for i in range(len(y)):
            cell = 0
            for a in range(dim):
                cell = cell * n_bins + codes[subsets[s, a], i]
            if answers[s, i] == y[i]:
                correct_in[cell] += units[i]
            else:
                wrong_in[cell] += units[i]
        total = 0
        for cell in range(cells):
            total += wrong_in[cell]
        wrong[s] = total
        for p in range(len(gains)):
            value = 0
            for cell in range(cells):
                value += max(0, gains[p] * correct_in[cell] - losses[p] * wrong_in[cell])
            potential[p, s] = value
