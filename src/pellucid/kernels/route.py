"""Rows down a tree."""

from __future__ import annotations

import numpy as np

from pellucid.kernels._compile import compiled


@compiled
def route_dense(X, begin, end, feature, threshold, left, right, leaf):
    """Leaf of rows begin .. end: left while X[i, feature] <= threshold."""
    for i in range(begin, end):
        node = 0
        while left[node] >= 0:
            if np.float64(X[i, feature[node]]) <= threshold[node]:
                node = left[node]
            else:
                node = right[node]
        leaf[i] = node


@compiled
def route_sparse(data, indices, indptr, begin, end, n_features, feature, threshold, left, right,
                 leaf):  # fmt: skip
    """The same for rows of a CSR matrix, in time of its stored entries and of the paths."""
    line = np.zeros(n_features)
    for i in range(begin, end):
        for p in range(indptr[i], indptr[i + 1]):
            line[indices[p]] += data[p]
        node = 0
        while left[node] >= 0:
            if line[feature[node]] <= threshold[node]:
                node = left[node]
            else:
                node = right[node]
        leaf[i] = node
        for p in range(indptr[i], indptr[i + 1]):
            line[indices[p]] = 0.0
