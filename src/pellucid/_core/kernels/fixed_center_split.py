"""The best threshold of a node if the cost of each row on either side is known.

With d[i] = cost of row i on the left - cost on the right, a threshold t costs

    (sum of d[i] over the rows with x[i] <= t) + (cost of all rows on the right),

so the first sum is minimised. Strictly inside bin b it is at least the sum at the edge before b
plus the negative d of bin b. Contested rows, those with d[i] != 0, are given as a
`pellucid._core.refine.node_cuts.ContestedRows`.
"""

from __future__ import annotations

import numpy as np

from pellucid._core.kernels import INFINITE_COST
from pellucid._utils.compilation import allocating, compiled, inner


@compiled
def find_contested(rows, left, right, cluster, costs, contested, difference):
    """Fill in the rows of a node with d != 0 and their d; return the number and two sums of d.

    left[i] and right[i] are the leaves that row i of the data reaches on either side. The sums are
    those of the negative and of the positive d.
    """
    n = 0
    negative = positive = np.int64(0)
    for i in range(len(rows)):
        row = rows[i]
        a, b = cluster[left[row]], cluster[right[row]]
        if a != b:
            d = costs[row, a] - costs[row, b]
            if d != 0:
                contested[n], difference[n] = row, d
                n += 1
                if d < 0:
                    negative += d
                else:
                    positive += d
    return n, negative, positive


@inner
def _scan_edges(sums, f, j, n_codes, negative, positive, inside, limit, wanted):
    """Least sum over the edges of column j, the lowest such edge, and a bound inside the bins.

    sums[f, b] holds the sums of the negative and of the positive d of bin b; `negative` and
    `positive` are those of all bins. Bins whose bound is at most `limit` are marked as `wanted`. If
    all d of a bin have one sign, the edge on one side is at least as good as the inside, unless it
    is no cut.
    """
    best, edge, bound = np.int64(INFINITE_COST), -1, np.int64(INFINITE_COST)
    low = high = np.int64(0)
    for b in range(n_codes):
        wanted[b] = False
        below, above = sums[f, b, 0], sums[f, b, 1]
        if below == 0 and above == 0:
            continue
        is_first = low == 0 and high == 0
        least = low + high + below
        low += below
        high += above
        is_last = low == negative and high == positive
        if inside[j, b] and not (below == 0 and not is_first) and not (above == 0 and not is_last):
            bound = least if least < bound else bound
            wanted[b] = least <= limit
        if not is_last and low + high < best:
            best, edge = low + high, b
    return best, edge, bound


@compiled
def scan_dense(
    features, codes, n_edges, inside, rows, difference, negative, positive, sums, wanted, found
):
    """found[j] = least sum over the edges of column j, its edge, and a bound inside the bins.

    Rows are read in blocks that stay in cache. Rows of even and of odd position are added up in
    separate histograms, so that no addition waits for the one before: `sums`, all 0, has two of
    shape (n_bins, 2) for each of the features. `wanted` is scratch space for n_bins.
    """
    block = 2048
    for start in range(0, len(rows), block):
        end = start + block if start + block < len(rows) else len(rows)
        for f in range(len(features)):
            j = features[f]
            for i in range(start, end - 1, 2):
                d, e = difference[i], difference[i + 1]
                sums[2 * f, codes[j, rows[i]], 1 if d > 0 else 0] += d
                sums[2 * f + 1, codes[j, rows[i + 1]], 1 if e > 0 else 0] += e
            if (end - start) % 2:
                d = difference[end - 1]
                sums[2 * f, codes[j, rows[end - 1]], 1 if d > 0 else 0] += d
    for f in range(len(features)):
        j = features[f]
        n_codes = n_edges[j] + 1
        for b in range(n_codes):
            sums[2 * f, b, 0] += sums[2 * f + 1, b, 0]
            sums[2 * f, b, 1] += sums[2 * f + 1, b, 1]
        found[j, 0], found[j, 1], found[j, 2] = _scan_edges(
            sums, 2 * f, j, n_codes, negative, positive, inside, -INFINITE_COST, wanted
        )


@allocating
def scan_sparse(
    features, codes, indices, indptr, zero_code, n_edges, inside, difference, negative, positive,
    found,
):  # fmt: skip
    """`scan_dense` for CSC columns; here `difference` is d of every row of the data."""
    width = inside.shape[1]
    wanted = np.zeros(width, dtype=np.bool_)
    for j in features:
        sums = np.zeros((1, width, 2), dtype=np.int64)
        low, high = negative, positive
        for p in range(indptr[j], indptr[j + 1]):
            d = difference[indices[p]]
            if d < 0:
                sums[0, codes[p], 0] += d
                low -= d
            else:
                sums[0, codes[p], 1] += d
                high -= d
        sums[0, zero_code[j], 0] += low
        sums[0, zero_code[j], 1] += high
        found[j, 0], found[j, 1], found[j, 2] = _scan_edges(
            sums, 0, j, n_edges[j] + 1, negative, positive, inside, -INFINITE_COST, wanted
        )


@compiled
def open_bins(feature, codes, n_codes, inside, contested, limit, sums, wanted, at_edge, positions):
    """Fill in sums at the edges of a column, and positions of the rows in wanted bins.

    Returns the best edge and the number of these rows. `codes` are those of all rows of the data. A
    bin is wanted if its bound is at most `limit`. `sums`, of shape (1, n_codes, 2), is 0 at first,
    and `wanted` is False.
    """
    rows, difference = contested.rows, contested.difference
    for i in range(len(rows)):
        sums[0, codes[rows[i]], 1 if difference[i] > 0 else 0] += difference[i]
    _, edge, _ = _scan_edges(
        sums, 0, feature, n_codes, contested.negative, contested.positive, inside, limit, wanted
    )
    total = np.int64(0)
    for b in range(n_codes):
        total += sums[0, b, 0] + sums[0, b, 1]
        at_edge[b] = total
    n = 0
    for i in range(len(rows)):
        positions[n] = i
        n += wanted[codes[rows[i]]]
    return edge, n


@compiled
def sweep_bins(order, values, positions, codes, contested, at_edge):
    """Least sum strictly inside the wanted bins, and its threshold.

    `positions` are those of `open_bins`, `values` the values of these rows, and `order` sorts them.
    """
    rows, difference = contested.rows, contested.difference
    best, threshold = np.int64(INFINITE_COST), np.nan
    before, total = -1, np.int64(0)
    for p in range(len(order)):
        position = positions[order[p]]
        b, value = codes[rows[position]], values[order[p]]
        if b != before:
            before, total = b, at_edge[b - 1] if b > 0 else np.int64(0)
        total += difference[position]
        if p + 1 < len(order):
            following = positions[order[p + 1]]
            is_inside = codes[rows[following]] == b and values[order[p + 1]] > value
            if is_inside and total < best:
                best, threshold = total, value
    return best, threshold


@compiled
def total_cost(leaf, cluster, costs):
    """Sum over rows of the cost at the cluster of their leaf."""
    total = np.int64(0)
    for i in range(len(leaf)):
        total += costs[i, cluster[leaf[i]]]
    return total
