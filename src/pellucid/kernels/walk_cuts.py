"""The best cut of a node of a tree whose leaves are clusters of their own.

First all columns at once, with the centers where they are, in coarse steps; then the few best columns
at every threshold, with the centers moving along.
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
    """Fill `key` with the ranks of some rows and `order` with their places by rank."""
    key, order, count = room.key, room.order, room.count
    for i in range(n):
        key[i] = rank[rows[begin + i]]
    if n_ranks <= 4 * n:
        for r in range(n_ranks + 1):
            count[r] = 0
        for i in range(n):
            count[key[i] + 1] += 1
        for r in range(n_ranks):
            count[r + 1] += count[r]
        for i in range(n):
            order[count[key[i]]] = i
            count[key[i]] += 1
        return
    for i in range(n):
        order[i] = i
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for p in range(gap, n):
            i, q = order[p], p
            while q >= gap and key[order[q - gap]] > key[i]:
                order[q] = order[q - gap]
                q -= gap
            order[q] = i
        gap //= 3


@reordered
def sweep_many(lines, weight, rows, begin, n, room, sums, weights, counts, shares):
    """Largest share over the thresholds of a column, and the lowest rank that reaches it.

    At first all rows are on the right, as the sums have them. No cluster may be left without rows.
    """
    near, far, key, order = room.near, room.far, room.key, room.order
    n_features = lines.shape[1]
    total, n_empty = 0.0, 0
    for c in range(len(weights)):
        total += shares[c]
        n_empty += counts[c] == 0
    best, at = -np.inf, -1
    for p in range(n - 1):
        i = order[p]
        row, a, b = rows[begin + i], near[i], far[i]
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
        if total > best + FINE * abs(total) and n_empty == 0 and key[order[p + 1]] > key[i]:
            best, at = total, key[i]
    return best, at


@reordered
def sweep_few(lines, weight, rows, begin, n, room, sums, weights, counts, shares):
    """The same for a column of few values: squares are only worked out where the value changes."""
    near, far, key, order = room.near, room.far, room.key, room.order
    n_features, k = lines.shape[1], len(weights)
    is_stale = np.zeros(k, dtype=np.bool_)
    best, at = -np.inf, -1
    for p in range(n - 1):
        i = order[p]
        row, a, b = rows[begin + i], near[i], far[i]
        w = weight[row]
        for j in range(n_features):
            part = w * lines[row, j]
            sums[a, j] += part
            sums[b, j] -= part
        weights[a] += w
        weights[b] -= w
        counts[a] += 1
        counts[b] -= 1
        is_stale[a] = is_stale[b] = True
        if key[order[p + 1]] == key[i]:
            continue
        total, n_empty = 0.0, 0
        for c in range(k):
            if is_stale[c]:
                is_stale[c] = False
                shares[c] = share_of(sums, weights, c) if counts[c] > 0 else 0.0
            total += shares[c]
            n_empty += counts[c] == 0
        if n_empty == 0 and total > best + FINE * abs(total):
            best, at = total, key[i]
    return best, at


@inner
def sweep_columns(sample, tree, node, room, columns, n_columns, sums, weights, counts):
    """The same for some columns; also the column."""
    k, n_features = sums.shape
    begin = tree.begin[node]
    n = tree.end[node] - begin
    S, W, N = np.empty((k, n_features)), np.empty(k), np.empty(k, dtype=np.int64)
    shares = np.empty(k)
    best, feature, at = -np.inf, -1, -1
    for f in range(n_columns):
        j = columns[f]
        for c in range(k):
            W[c], N[c], shares[c] = weights[c], counts[c], 0.0
            for i in range(n_features):
                S[c, i] = sums[c, i]
            if N[c] > 0:
                shares[c] = share_of(S, W, c)
        n_ranks = sample.n_ranks[j]
        sort_rows(sample.rank[j], n_ranks, tree.rows, begin, n, room)
        if 4 * n_ranks < n:
            found = sweep_few(
                sample.lines, sample.weight, tree.rows, begin, n, room, S, W, N, shares
            )
        else:
            found = sweep_many(
                sample.lines, sample.weight, tree.rows, begin, n, room, S, W, N, shares
            )
        if found[0] - FINE * abs(found[0]) > best:
            best, feature, at = found[0], j, found[1]
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
def scan_torn(sample, tree, node, room, means, loss):
    """loss[j] = least sum over the steps of column j of what the rows on the left pay more there."""
    lines, weight, rows = sample.lines, sample.weight, tree.rows
    near, far, extra = room.near, room.far, room.extra
    begin = tree.begin[node]
    n, n_features = tree.end[node] - begin, lines.shape[1]
    for i in range(n):
        row, a, b = rows[begin + i], near[i], far[i]
        more = 0.0
        for j in range(n_features):
            x = lines[row, j]
            more += (x - means[a, j]) ** 2 - (x - means[b, j]) ** 2
        extra[i] = weight[row] * more
    steps = np.empty(256)
    for j in range(n_features):
        code = sample.code[j]
        steps[:] = 0.0
        for i in range(n):
            steps[code[rows[begin + i]]] += extra[i]
        total, least = 0.0, np.inf
        for s in range(256):
            total += steps[s]
            if steps[s] != 0.0 and total < least:
                least = total
        loss[j] = least


@inner
def improve_cut(sample, tree, node, room):
    """Give an inner node the best cut there is for the subtrees it has; whether it is another."""
    tree.is_stale[node] = False
    left, right, feature, at = tree.left, tree.right, tree.feature, tree.at
    lines, weight, rank, rows = sample.lines, sample.weight, sample.rank, tree.rows
    n_features, begin = lines.shape[1], tree.begin[node]
    n = tree.end[node] - begin
    place, k = np.empty(len(left), dtype=np.int64), 0
    means = np.empty((len(left), n_features))
    now = 0.0
    for i in range(list_nodes(tree, node, room.nodes, room.stack)):
        leaf = room.nodes[i]
        if left[leaf] == NONE:
            for j in range(n_features):
                means[k, j] = tree.sums[leaf, j] / tree.weights[leaf]
            now += share_of(tree.sums, tree.weights, leaf)
            place[leaf] = k
            k += 1
    sums, weights = np.zeros((k, n_features)), np.zeros(k)
    counts = np.zeros(k, dtype=np.int64)
    cost = -now
    for i in range(n):
        row = rows[begin + i]
        leaf = left[node]
        while left[leaf] != NONE:
            leaf = left[leaf] if rank[feature[leaf], row] <= at[leaf] else right[leaf]
        room.near[i] = place[leaf]
        leaf = right[node]
        while left[leaf] != NONE:
            leaf = left[leaf] if rank[feature[leaf], row] <= at[leaf] else right[leaf]
        c = place[leaf]
        room.far[i] = c
        w = weight[row]
        weights[c] += w
        counts[c] += 1
        for j in range(n_features):
            sums[c, j] += w * lines[row, j]
        cost += sample.square[row]
    loss, columns = np.empty(n_features), np.empty(N_COLUMNS, dtype=np.int64)
    scan_torn(sample, tree, node, room, means, loss)
    mine = 0.0
    for i in range(n):
        if rank[feature[node], rows[begin + i]] <= at[node]:
            mine += room.extra[i]
    n_columns = pick_columns(loss, mine + FAR_OFF * cost, columns)
    best, j, r = sweep_columns(sample, tree, node, room, columns, n_columns, sums, weights, counts)
    if best <= now + TIE * abs(now) or (j == feature[node] and r == at[node]):
        return False
    feature[node], at[node] = j, r
    send_rows(sample, tree, node, room)
    tree.is_stale[node] = False
    return True


@reordered
def scan_lone(sample, tree, leaf, loss):
    """loss[j] = minus the most that a step of column j gains in that column alone."""
    lines, weight, rows = sample.lines, sample.weight, tree.rows
    sums, weights = np.empty(256), np.empty(256)
    W = tree.weights[leaf]
    for j in range(lines.shape[1]):
        sums[:] = 0.0
        weights[:] = 0.0
        code = sample.code[j]
        for p in range(tree.begin[leaf], tree.end[leaf]):
            row = rows[p]
            sums[code[row]] += weight[row] * lines[row, j]
            weights[code[row]] += weight[row]
        S, s, w, best = tree.sums[leaf, j], 0.0, 0.0, 0.0
        for step in range(256):
            s += sums[step]
            w += weights[step]
            if weights[step] > 0 and w < W:
                best = max(best, s * s / w + (S - s) * (S - s) / (W - w) - S * S / W)
        loss[j] = -best


@inner
def find_split(sample, tree, leaf, room):
    """What the best split of a leaf gains; 0 if there is none."""
    if not np.isnan(tree.gain[leaf]):
        return tree.gain[leaf]
    tree.gain[leaf] = 0.0
    n, n_features = tree.end[leaf] - tree.begin[leaf], sample.lines.shape[1]
    if n < 2:
        return 0.0
    loss, columns = np.empty(n_features), np.empty(N_COLUMNS, dtype=np.int64)
    scan_lone(sample, tree, leaf, loss)
    n_columns = pick_columns(loss, np.inf, columns)
    for i in range(n):
        room.near[i], room.far[i] = 0, 1
    sums, weights = np.zeros((2, n_features)), np.zeros(2)
    counts = np.zeros(2, dtype=np.int64)
    counts[1], weights[1] = n, tree.weights[leaf]
    for j in range(n_features):
        sums[1, j] = tree.sums[leaf, j]
    best, j, r = sweep_columns(sample, tree, leaf, room, columns, n_columns, sums, weights, counts)
    if j >= 0:
        now = share_of(tree.sums, tree.weights, leaf)
        tree.gain[leaf], tree.gain_feature[leaf], tree.gain_at[leaf] = max(best - now, 0.0), j, r
    return tree.gain[leaf]
