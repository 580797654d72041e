"""The best cut of a node of a tree whose leaves are clusters of their own.

First all columns at once, with the centers where they are, in coarse steps; then the few best
columns at every threshold, with the centers moving along.
"""

from __future__ import annotations

import numpy as np

from pellucid.kernels._compile import inner, reordered
from pellucid.kernels.walk_rows import NONE, list_nodes, send_rows, share_of

N_COLUMNS = 3
"""Columns that are looked at closely."""

FAR_OFF = 0.05
"""Share of a part's cost by which a coarse look may find a column worse than the cut there is."""

TIE = 1e-9
"""Share by which a cut must be better."""

FINE = 1e-12
"""The same for two thresholds of a column."""


@inner
def sort_rows(rank, n_ranks, rows, begin, n, room):
    """Rank of each of some rows, and their places by rank."""
    spots, count = room.spots, room.count
    for i in range(n):
        spots[i].key = rank[rows[begin + i]]
        spots[i].order = i
    if n_ranks <= 4 * n:
        for r in range(n_ranks + 1):
            count[r] = 0
        for i in range(n):
            count[spots[i].key + 1] += 1
        for r in range(n_ranks):
            count[r + 1] += count[r]
        for i in range(n):
            key = spots[i].key
            spots[count[key]].order = i
            count[key] += 1
        return
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for p in range(gap, n):
            i, q = spots[p].order, p
            key = spots[i].key
            while q >= gap and spots[spots[q - gap].order].key > key:
                spots[q].order = spots[q - gap].order
                q -= gap
            spots[q].order = i
        gap //= 3


@reordered
def sweep(lines, weight, rows, begin, n, spots, sums, weights, counts, shares):
    """Largest share over the thresholds of a column, and the lowest rank that reaches it.

    At first all rows are on the right, as the sums have them. No cluster may be left without rows.
    """
    n_features = lines.shape[1]
    total, n_empty = 0.0, 0
    for c in range(len(weights)):
        total += shares[c]
        n_empty += counts[c] == 0
    best, at = -np.inf, -1
    after = spots[0].order
    for p in range(n - 1):
        i, after = after, spots[p + 1].order
        row, a, b = rows[begin + i], spots[i].near, spots[i].far
        w = weight[row]
        more = less = 0.0
        for j in range(n_features):
            part = w * lines[row, j]
            high, low = sums[a, j] + part, sums[b, j] - part
            sums[a, j], sums[b, j] = high, low
            more += high * high
            less += low * low
        n_empty -= counts[a] == 0
        counts[a] += 1
        counts[b] -= 1
        weights[a] += w
        weights[b] -= w
        more /= weights[a]
        if counts[b] == 0:
            n_empty += 1
            less = weights[b] = 0.0
            for j in range(n_features):
                sums[b, j] = 0.0
        else:
            less /= weights[b]
        total += (more - shares[a]) + (less - shares[b])
        shares[a], shares[b] = more, less
        if total > best + FINE * abs(total) and n_empty == 0 and spots[after].key > spots[i].key:
            best, at = total, spots[i].key
    return best, at


@inner
def sweep_columns(sample, tree, node, room, columns, n_columns, sums, weights, counts):
    """The same for some columns; also the column."""
    k, n_features = sums.shape
    begin = tree.nodes[node].begin
    n = tree.nodes[node].end - begin
    S, W, N = np.empty((k, n_features)), np.empty(k), np.empty(k, dtype=np.int64)
    shares = np.empty(k)
    best, feature, at = -np.inf, -1, -1
    for f in range(n_columns):
        j = columns[f]
        for c in range(k):
            W[c], N[c] = weights[c], counts[c]
            for i in range(n_features):
                S[c, i] = sums[c, i]
            shares[c] = share_of(S, c, W[c])
        sort_rows(sample.rank[j], sample.n_ranks[j], tree.rows, begin, n, room)
        share, rank = sweep(
            sample.lines, sample.weight, tree.rows, begin, n, room.spots, S, W, N, shares
        )
        if share - FINE * abs(share) > best:
            best, feature, at = share, j, rank
    return best, feature, at


@inner
def pick_columns(loss, limit, columns):
    """The columns of least loss, if it is within the limit; how many there are."""
    n = 0
    while n < N_COLUMNS:
        best = -1
        for j in range(len(loss)):
            if loss[j] <= limit and (best < 0 or loss[j] < loss[best]):
                best = j
        if best < 0:
            break
        columns[n] = best
        loss[best] = np.inf
        n += 1
    return n


@reordered
def scan_torn(sample, rows, begin, n, room, means, loss):
    """loss[j] = least sum over the steps of column j of what rows pay more on the left."""
    lines, weight, spots, extra = sample.lines, sample.weight, room.spots, room.extra
    n_features = lines.shape[1]
    for i in range(n):
        row, a, b = rows[begin + i], spots[i].near, spots[i].far
        more = 0.0
        for j in range(n_features):
            x = lines[row, j]
            more += (x - means[a, j]) ** 2 - (x - means[b, j]) ** 2
        extra[i] = weight[row] * more
    steps = np.empty(256)
    for j in range(n_features):
        code = sample.code[j]
        for s in range(256):
            steps[s] = 0.0
        for i in range(n):
            steps[code[rows[begin + i]]] += extra[i]
        total, least = 0.0, np.inf
        for s in range(256):
            total += steps[s]
            if steps[s] != 0.0 and total < least:
                least = total
        loss[j] = least


@inner
def reach(nodes, rank, i, row):
    """Leaf that a row reaches from a node."""
    while nodes[i].left != NONE:
        i = nodes[i].left if rank[nodes[i].feature, row] <= nodes[i].at else nodes[i].right
    return i


@inner
def improve_cut(sample, tree, node, room):
    """Give an inner node the best cut there is for the subtrees it has; whether it is another."""
    nodes, lines, weight, rank = tree.nodes, sample.lines, sample.weight, sample.rank
    spots, rows = room.spots, tree.rows
    nodes[node].is_stale = False
    n_features, begin = lines.shape[1], nodes[node].begin
    n = nodes[node].end - begin
    place, k = np.empty(len(nodes), dtype=np.int64), 0
    means = np.empty((len(nodes), n_features))
    now = 0.0
    for p in range(list_nodes(tree, node, room.list, room.stack)):
        i = room.list[p]
        if nodes[i].left == NONE:
            for j in range(n_features):
                means[k, j] = tree.sums[i, j] / nodes[i].weight
            now += share_of(tree.sums, i, nodes[i].weight)
            place[i] = k
            k += 1
    sums, weights = np.zeros((k, n_features)), np.zeros(k)
    counts = np.zeros(k, dtype=np.int64)
    left, right, feature, at = (
        nodes[node].left,
        nodes[node].right,
        nodes[node].feature,
        nodes[node].at,
    )
    cost = -now
    for p in range(n):
        row = rows[begin + p]
        c = place[reach(nodes, rank, right, row)]
        spots[p].near, spots[p].far = place[reach(nodes, rank, left, row)], c
        w = weight[row]
        weights[c] += w
        counts[c] += 1
        for j in range(n_features):
            sums[c, j] += w * lines[row, j]
        cost += sample.square[row]
    loss, columns = np.empty(n_features), np.empty(N_COLUMNS, dtype=np.int64)
    scan_torn(sample, rows, begin, n, room, means, loss)
    mine = 0.0
    for p in range(n):
        if rank[feature, rows[begin + p]] <= at:
            mine += room.extra[p]
    n_columns = pick_columns(loss, mine + FAR_OFF * cost, columns)
    best, j, r = sweep_columns(sample, tree, node, room, columns, n_columns, sums, weights, counts)
    if best <= now + TIE * abs(now) or (j == feature and r == at):
        return False
    nodes[node].feature, nodes[node].at = j, r
    send_rows(sample, tree, node, room)
    nodes[node].is_stale = False
    return True


@reordered
def scan_lone(sample, rows, begin, end, sums, weight, loss):
    """loss[j] = minus the most that a step of column j gains in that column alone."""
    lines, step_sums, step_weights = sample.lines, np.empty(256), np.empty(256)
    for j in range(lines.shape[1]):
        code = sample.code[j]
        for s in range(256):
            step_sums[s] = step_weights[s] = 0.0
        for p in range(begin, end):
            row = rows[p]
            step_sums[code[row]] += sample.weight[row] * lines[row, j]
            step_weights[code[row]] += sample.weight[row]
        S, left, w, best = sums[j], 0.0, 0.0, 0.0
        for s in range(256):
            left += step_sums[s]
            w += step_weights[s]
            if step_weights[s] > 0 and w < weight:
                right = S - left
                best = max(best, left * left / w + right * right / (weight - w) - S * S / weight)
        loss[j] = -best


@inner
def find_split(sample, tree, leaf, room):
    """What the best split of a leaf gains; 0 if there is none."""
    nodes, spots = tree.nodes, room.spots
    if not np.isnan(nodes[leaf].gain):
        return nodes[leaf].gain
    nodes[leaf].gain = 0.0
    n, n_features = nodes[leaf].end - nodes[leaf].begin, sample.lines.shape[1]
    if n < 2:
        return 0.0
    loss, columns = np.empty(n_features), np.empty(N_COLUMNS, dtype=np.int64)
    begin, weight = nodes[leaf].begin, nodes[leaf].weight
    scan_lone(sample, tree.rows, begin, begin + n, tree.sums[leaf], weight, loss)
    n_columns = pick_columns(loss, np.inf, columns)
    for i in range(n):
        spots[i].near, spots[i].far = 0, 1
    sums, weights = np.zeros((2, n_features)), np.zeros(2)
    counts = np.zeros(2, dtype=np.int64)
    counts[1], weights[1] = n, weight
    for j in range(n_features):
        sums[1, j] = tree.sums[leaf, j]
    best, j, r = sweep_columns(sample, tree, leaf, room, columns, n_columns, sums, weights, counts)
    if j >= 0:
        nodes[leaf].gain = max(best - share_of(tree.sums, leaf, weight), 0.0)
        nodes[leaf].gain_feature, nodes[leaf].gain_at = j, r
    return nodes[leaf].gain
