"""Distances of sparse rows and of series; k-medoids: savings of further medoids, and swaps.

D is symmetric. The cost of row o with medoid c, in integer units, is
``u(c, o) = round(D[c, o] · scale[o]) · multiplier[o]``. The integers are stored as floats. Their
sums stay below 2**53, so they are exact in any order.
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import allocating, compiled, fused, inlined


@compiled
def sparse_distances(
    data, indices, indptr, others_data, others_indices, others_indptr, squared, out
):
    """out[i, j] = sum over the columns of (x - y)^2, or of |x - y|, for CSR rows x and y.

    Indices are sorted. Differences are added in the order of the columns, so that equal rows have
    distance 0 and the distance of two rows does not depend on which comes first.
    """
    for i in range(len(indptr) - 1):
        for j in range(len(others_indptr) - 1):
            p, end = indptr[i], indptr[i + 1]
            q, others_end = others_indptr[j], others_indptr[j + 1]
            total = 0.0
            while p < end or q < others_end:
                if q >= others_end or (p < end and indices[p] < others_indices[q]):
                    gap = data[p]
                    p += 1
                elif p >= end or others_indices[q] < indices[p]:
                    gap = others_data[q]
                    q += 1
                else:
                    gap = data[p] - others_data[q]
                    p += 1
                    q += 1
                total += gap * gap if squared else abs(gap)
            out[i, j] = total


@compiled
def dtw_squares(values, starts, others, other_starts, window, first, costs, out):
    """out[i, j] = least sum of squared differences along an alignment of two series.

    Columns before ``first + i`` are left out in row i. ``costs[q + 1]`` is the cost of the best
    alignment of the steps up to p of one series and up to q of the other one.
    """
    for i in range(len(starts) - 1):
        n = starts[i + 1] - starts[i]
        for j in range(max(0, first + i), len(other_starts) - 1):
            m = other_starts[j + 1] - other_starts[j]
            before, after = window + max(0, n - m), window + max(0, m - n)
            costs[0] = 0.0
            for q in range(m):
                costs[q + 1] = np.inf
            for p in range(n):
                value = values[starts[i] + p]
                begin = max(0, p - before)
                both, other = costs[begin], np.inf
                costs[begin] = np.inf
                for q in range(begin, min(m, p + after + 1)):
                    one = costs[q + 1]
                    gap = value - others[other_starts[j] + q]
                    other = gap * gap + min(min(both, one), other)
                    costs[q + 1] = other
                    both = one
            out[i, j] = costs[m]


@fused
def savings(D, candidates, cost, scale, multiplier, out):
    """Savings of each candidate as additional medoid: out[c] = Σ_o max(cost[o] - u(c, o), 0)."""
    for c in candidates:
        total = 0.0
        for o in range(len(cost)):
            total += max(cost[o] - np.rint(D[c, o] * scale[o]) * multiplier[o], 0.0)
        out[c] = total


@inlined
def _insert(i, d, o, nearest, nearest_distance, second, second_distance):
    """Make medoid i, at distance d, one of the nearest two of row o if it is nearer than these."""
    if d < nearest_distance[o]:
        second[o], second_distance[o] = nearest[o], nearest_distance[o]
        nearest[o], nearest_distance[o] = i, d
    elif d < second_distance[o]:
        second[o], second_distance[o] = i, d


@compiled
def nearest_two(D, medoids, largest, nearest, nearest_distance, second, second_distance):
    """Nearest two medoids of each row, as positions in `medoids`, and their distances.

    Ties go to the lowest position. With one medoid, `largest` is used as the second distance.
    """
    for o in range(len(nearest)):
        nearest[o] = second[o] = 0
        nearest_distance[o] = second_distance[o] = np.inf
    for i in range(len(medoids)):
        m = medoids[i]
        for o in range(len(nearest)):
            _insert(i, D[m, o], o, nearest, nearest_distance, second, second_distance)
    if len(medoids) == 1:
        for o in range(len(nearest)):
            second_distance[o] = largest


@compiled
def update_nearest_two(D, medoids, i, largest, nearest, nearest_distance, second, second_distance):
    """Update the result of `nearest_two` after ``medoids[i]`` has changed."""
    c = medoids[i]
    for o in range(len(nearest)):
        if nearest[o] == i or second[o] == i:
            nearest[o] = second[o] = 0
            nearest_distance[o] = second_distance[o] = np.inf
            for j in range(len(medoids)):
                d = D[medoids[j], o]
                _insert(j, d, o, nearest, nearest_distance, second, second_distance)
        else:
            _insert(i, D[c, o], o, nearest, nearest_distance, second, second_distance)
    if len(medoids) == 1:
        for o in range(len(nearest)):
            second_distance[o] = largest


@allocating
def first_swap(
    D,
    order,
    begin,
    end,
    is_medoid,
    nearest,
    second_distance,
    cost,
    second_cost,
    scale,
    multiplier,
    removal_cost,
    swap,
):
    """Find the first candidate in ``order[begin:end]`` whose swap with a medoid lowers the loss.

    Replacing medoid i by c changes the loss by

        removal_cost[i] + Σ_o min(u(c, o) - cost[o], 0)
            + Σ_{o of medoid i} min(max(u(c, o), cost[o]), second_cost[o]) - second_cost[o],

    where removal_cost[i] is the increase in cost if the rows of medoid i move to their second
    nearest medoids. One pass over the rows gives this for all i (Schubert and Rousseeuw 2021).
    Only rows that are nearer to c than to their second medoid have nonzero terms. They are listed
    first, in a loop without branches.

    swap = (position in `order` or -1, the best i for it).
    """
    n, k = len(nearest), len(removal_cost)
    change, closer = np.empty(k), np.empty(n + 1, dtype=np.int32)
    swap[0] = -1
    for p in range(begin, end):
        c = order[p]
        if is_medoid[c]:
            continue
        n_closer = 0
        for o in range(n):
            closer[n_closer] = o
            n_closer += D[c, o] < second_distance[o]
        for i in range(k):
            change[i] = removal_cost[i]
        shared = 0.0
        for q in range(n_closer):
            o = closer[q]
            u = np.rint(D[c, o] * scale[o]) * multiplier[o]
            current = cost[o]
            shared += min(u, current) - current
            change[nearest[o]] += max(u, current) - second_cost[o]
        best = 0
        for i in range(1, k):
            if change[i] < change[best]:
                best = i
        if change[best] + shared < 0.0:
            swap[0], swap[1] = p, best
            return
