"""The best box of each class on a coarse grid, for all projections."""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import allocating


@allocating
def best_class_boxes(codes, y, units, subsets, n_bins, n_classes, gain, loss, best):
    """Find the largest surplus of a box on a grid, for each projection and class.

    The surplus of a box for a class is gain · C - loss · W, where C and W are the weights of the
    rows of the class and of all other rows inside. With one column a box is a range of bins, with
    two columns a rectangle. With more columns, cells of positive surplus are summed instead.

    Parameters
    ----------
    codes : (n_columns, n) uint8
        Bin of each row in each column.
    y : (n,) int64
    units : (n,) int64
    subsets : (n_subsets, dim) int64
        Indices of columns in `codes`.
    n_bins, n_classes : int
    gain, loss : int
        Multiples of ε and 1 - ε.
    best : (n_subsets, n_classes) int64, filled in
        Largest surplus, at least 0.
    """
    n_subsets, dim = subsets.shape
    n_cells = n_bins**dim
    of_class = np.empty((n_classes, n_cells), np.int64)
    of_all = np.empty(n_cells, np.int64)
    sums = np.empty(n_bins, np.int64)
    above = np.empty(n_bins, np.int64)
    for s in range(n_subsets):
        of_class[:] = 0
        of_all[:] = 0
        for i in range(len(y)):
            cell = 0
            for a in range(dim):
                cell = cell * n_bins + codes[subsets[s, a], i]
            of_class[y[i], cell] += units[i]
            of_all[cell] += units[i]
        for c in range(n_classes):
            largest = 0
            if dim > 2:
                for cell in range(n_cells):
                    largest += max(0, (gain + loss) * of_class[c, cell] - loss * of_all[cell])
            else:
                n_first = n_bins if dim == 2 else 1
                # Sum of the positive cells of each row of the grid, which bounds every box.
                rest = 0
                for first in range(n_first):
                    above[first] = 0
                    for j in range(n_bins):
                        cell = first * n_bins + j
                        value = (gain + loss) * of_class[c, cell] - loss * of_all[cell]
                        above[first] += max(0, value)
                    rest += above[first]
                for first in range(n_first):
                    if rest <= largest:
                        break
                    rest -= above[first]
                    if above[first] == 0:
                        continue  # without this row, a box is not worse
                    sums[:] = 0
                    for last in range(first, n_first):
                        for j in range(n_bins):
                            cell = last * n_bins + j
                            sums[j] += (gain + loss) * of_class[c, cell] - loss * of_all[cell]
                        if above[last] == 0:
                            continue
                        run = 0
                        for j in range(n_bins):
                            run = max(run, 0) + sums[j]
                            largest = max(largest, run)
            best[s, c] = largest
