"""A sample of the rows of a problem that depends on their values alone.

Every row has a hash of its values and its label. The different rows of least hash are chosen, each
with the weight of all its copies. So the sample depends neither on the order of the rows nor on
their storage, and a row of integer weight w is the same as w rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from pellucid._core.criteria.problem import Problem
from pellucid._core.data.dataset import Dataset
from pellucid._utils.arrays import mixed


def sample_problem(problem: Problem, max_rows: int) -> Problem:
    """The same problem for at most `max_rows` different rows."""
    hashes, rows, copy_of = np.unique(row_hashes(problem), return_index=True, return_inverse=True)
    weights, n = problem.weights, min(max_rows, len(hashes))
    # Sums of integers do not depend on the order of the rows.
    units = np.zeros(len(hashes), dtype=np.int64)
    np.add.at(units, copy_of, weights.units)
    units, rows = units[:n], rows[:n]
    values = units / weights.units_per_weight
    are_ones = weights.are_integers and bool((units == 1).all())
    weights = replace(weights, units=units, values=values, are_ones=are_ones)
    data = problem.data
    X = data.rows[rows]
    X = X.tocsc() if sparse.issparse(X) else X
    sample = Dataset(X, weights, data.pool)
    labels = problem.labels[rows]
    return Problem(sample, problem.centers, labels, unit_from_labels=problem.unit_from_labels)


def row_hashes(problem: Problem) -> np.ndarray:
    """Hash of the values and the label of each row: (n_samples,), uint64.

    Zeros add nothing, so that sparse and dense rows have the same hash.
    """
    X, found = problem.X, mixed(problem.labels.astype(np.uint64))

    def add(block: tuple[int, int]) -> np.ndarray:
        total = np.zeros(len(found), dtype=np.uint64)
        for j in range(*block):
            rows, values = _nonzeros(X, j)
            total[rows] += mixed(values.view(np.uint64) ^ mixed(np.array([j], dtype=np.uint64)))
        return total

    return mixed(sum(problem.pool.map(add, problem.pool.blocks(X.shape[1], 1)), found))


def _nonzeros(X: Any, feature: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and values of a column that are not 0, as float64."""
    if sparse.issparse(X):
        part = slice(X.indptr[feature], X.indptr[feature + 1])
        rows, values = X.indices[part], X.data[part]
    else:
        rows, values = np.arange(X.shape[0]), X[:, feature]
    kept = values.nonzero()[0]
    return rows[kept], values[kept].astype(np.float64)
