"""Local search for the tree that gives the most rows their own labels.

The *mistakes* of a tree are the weight of the rows whose leaf has another label; a leaf has the
label of most weight. Given its two subtrees, an inner node has an exact best cut: a row counts only
if one of the subtrees gives it its label and the other does not, and one histogram per column of
these signed weights has the mistakes of every cut (tree alternating optimisation, Carreira-Perpinan
and Tavallali, 2018). Weights are integers, so that all sums are exact.
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled, inner

FEATURE, RANK, LEFT, RIGHT, BEGIN, END, PARENT, LABEL, WRONG, WEIGHT, STALE = range(11)
"""Rows of `nodes`. A row of the data goes left if its rank in the column is at most RANK. A leaf
has LEFT = -1, and a node that is not used END = -1. WRONG and WEIGHT are the mistakes and the
weight of a leaf; STALE says whether an inner node may have a better cut."""

N_NODE_ROWS = 11

GOES_RIGHT, STACK, ORDER, CONTESTED, CHANGED = range(5)
"""Rows of `scratch`."""

STATE, WORK = range(2)
"""Entries of `state`: that of the random numbers, and about the nanoseconds of work done."""

(
    MAX_DEPTH, MAX_CONDITIONS, N_COLUMNS, N_ROUNDS, MAX_WORK, TEMPERATURE, COVER, PENALTY,
    OBJECTIVE, SIZE,
) = range(10)  # fmt: skip
"""Entries of `settings`: limits of a tree; columns that are drawn for a new split; rounds and work
of the search; part of the mistakes that a step may lose at first; what a label without a leaf, and
what a condition of a row count; objective and weighted number of conditions of the best tree."""

INNER, LEAVES, WRONG_LEAVES = range(3)
"""Nodes of which one is drawn; the last in proportion to mistakes."""

REGROW, MOVE_LEAF, CUT, NOTHING = range(4)
"""How a step changes a tree."""

MAX_DETOUR = 3.0
"""Multiple of the temperature above which a changed subtree is given up before it is complete."""


@inner
def _draw(state, n):
    """A random integer below n (drand48)."""
    state[STATE] = (state[STATE] * 25214903917 + 11) & 281474976710655
    return ((state[STATE] >> 17) * n) >> 31


@inner
def _label_leaf(own, nodes, rows, counts, leaf):
    """Give a leaf the label of most weight; ties go to the lowest."""
    total, best = 0, 0
    for c in range(len(counts)):
        counts[c] = 0
    for p in range(nodes[BEGIN, leaf], nodes[END, leaf]):
        row = rows[p]
        counts[own[0, row]] += own[1, row]
        total += own[1, row]
    for c in range(len(counts)):
        best = c if counts[c] > counts[best] else best
    nodes[LABEL, leaf] = best
    nodes[WEIGHT, leaf] = total
    nodes[WRONG, leaf] = total - counts[best]


@inner
def _route(rank, own, nodes, rows, counts, start, scratch):
    """Send the rows of a node down to its leaves, and label these; all nodes below are stale."""
    scratch[STACK, 0] = start
    height = 1
    while height > 0:
        height -= 1
        i = scratch[STACK, height]
        begin, end, left = nodes[BEGIN, i], nodes[END, i], nodes[LEFT, i]
        nodes[STALE, i] = 1
        if left < 0:
            _label_leaf(own, nodes, rows, counts, i)
            continue
        right, feature, at = nodes[RIGHT, i], nodes[FEATURE, i], nodes[RANK, i]
        middle, n = begin, 0
        for p in range(begin, end):
            row = rows[p]
            if rank[feature, row] <= at:
                rows[middle] = row
                middle += 1
            else:
                scratch[GOES_RIGHT, n] = row
                n += 1
        for p in range(n):
            rows[middle + p] = scratch[GOES_RIGHT, p]
        nodes[BEGIN, left] = begin
        nodes[END, left] = nodes[BEGIN, right] = middle
        nodes[END, right] = end
        nodes[PARENT, left] = nodes[PARENT, right] = i
        scratch[STACK, height] = right
        scratch[STACK, height + 1] = left
        height += 2


@inner
def _preorder(nodes, start, scratch):
    """Put the nodes from `start` on into `scratch[ORDER]`, parents first; returns their number."""
    n, height = 0, 1
    scratch[STACK, 0] = start
    while height > 0:
        height -= 1
        i = scratch[STACK, height]
        scratch[ORDER, n] = i
        n += 1
        if nodes[LEFT, i] >= 0:
            scratch[STACK, height] = nodes[RIGHT, i]
            scratch[STACK, height + 1] = nodes[LEFT, i]
            height += 2
    return n


@inner
def _mark_ancestors(nodes, node):
    while nodes[PARENT, node] >= 0:
        node = nodes[PARENT, node]
        nodes[STALE, node] = 1


@inner
def _update_hits(rank, own, nodes, node, hits):
    """Fill `hits[node]`: whether the subtree would give each row of the data its label."""
    left, label = nodes[LEFT, node], nodes[LABEL, node]
    right, feature, at = nodes[RIGHT, node], nodes[FEATURE, node], nodes[RANK, node]
    for row in range(hits.shape[1]):
        if left < 0:
            hits[node, row] = own[0, row] == label
        else:
            hits[node, row] = hits[left, row] if rank[feature, row] <= at else hits[right, row]


@inner
def _update_sums(code, own, nodes, rows, node, hits, signs, sums, scratch, state):
    """Bring `sums` and `signs` of a node up to date; returns the number of contested rows.

    A row is contested if one child gives it its label and the other does not; its sign is 1 if that
    is the left one. `sums` has the weight of the signs by column and coarse step, and, if there are
    finer ranks, that of the positive signs. Only rows whose sign has changed are added. The last
    row of `signs` is scratch.
    """
    left, right, slot = nodes[LEFT, node], nodes[RIGHT, node], node % len(sums)
    n_rows, new, old = signs.shape[1], signs[len(sums)], signs[slot]
    n, n_changed = 0, 0
    for row in range(n_rows):
        new[row] = 0
    for p in range(nodes[BEGIN, node], nodes[END, node]):
        new[rows[p]] = hits[left, rows[p]] - hits[right, rows[p]]
    for row in range(n_rows):
        scratch[CONTESTED, n] = row
        n += new[row] != 0
        scratch[CHANGED, n_changed] = row
        n_changed += new[row] != old[row]
    if n == 0:
        return 0
    listed = CHANGED
    if n_changed > n:
        listed, n_changed = CONTESTED, n
        for row in range(n_rows):
            old[row] = 0
        for j in range(sums.shape[1]):
            for c in range(sums.shape[2]):
                for s in range(sums.shape[3]):
                    sums[slot, j, c, s] = 0
    for p in range(n_changed):
        row = scratch[listed, p]
        gain = (new[row] - old[row]) * own[1, row]
        more = ((new[row] > 0) - (old[row] > 0)) * own[1, row]
        old[row] = new[row]
        for j in range(sums.shape[1]):
            sums[slot, j, code[row, j], 0] += gain
        if sums.shape[3] > 1 and more != 0:
            for j in range(sums.shape[1]):
                sums[slot, j, code[row, j], 1] += more
    state[WORK] += 3 * n_rows + sums.shape[3] * n_changed * sums.shape[1]
    return n


@inner
def _improve_cut(
    rank, code, ends, own, nodes, rows, node, hits, signs, sums, scratch, gains, state
):
    """Give an inner node its best cut, if it has fewer mistakes than the present one.

    Coarse steps give the gain at their ends, and a bound inside. Rows are not sent to other sides.
    """
    n = _update_sums(code, own, nodes, rows, node, hits, signs, sums, scratch, state)
    if n == 0:
        return False
    slot, n_codes, present = node % len(sums), sums.shape[2], 0
    for p in range(n):
        row = scratch[CONTESTED, p]
        if rank[nodes[FEATURE, node], row] <= nodes[RANK, node]:
            present += signs[slot, row] * own[1, row]
    best, feature, at = present, -1, -1
    if best < 0:  # all rows go right
        best, feature = 0, 0
    for j in range(len(rank)):
        total = 0
        for c in range(n_codes):
            total += sums[slot, j, c, 0]
            if total > best:
                best, feature, at = total, j, ends[j, c]
    state[WORK] += 2 * n_codes * len(rank) + n
    for j in range(len(rank)):
        if ends[j, n_codes - 1] < n_codes:
            continue
        total, before, first, last = 0, 0, -1, -1
        for c in range(n_codes):
            if total + sums[slot, j, c, 1] > best:
                last = c
                if first < 0:
                    first, before = c, total
            total += sums[slot, j, c, 0]
        if first < 0:
            continue
        begin, end = ends[j, first - 1] + 1 if first > 0 else 0, ends[j, last] + 1
        state[WORK] += 2 * (n + end - begin)
        for r in range(begin, end):
            gains[r] = 0
        for p in range(n):
            row = scratch[CONTESTED, p]
            if begin <= rank[j, row] < end:
                gains[rank[j, row]] += signs[slot, row] * own[1, row]
        for r in range(begin, end):
            before += gains[r]
            if before > best:
                best, feature, at = before, j, r
    if feature < 0:
        return False
    nodes[FEATURE, node] = feature
    nodes[RANK, node] = at
    return True


@inner
def _improve_cuts(
    rank, code, ends, own, nodes, rows, top, counts, hits, signs, sums, scratch, gains, state
):
    """Improve the stale cuts below a node, lowest nodes first, until no cut can be improved."""
    n, q = _preorder(nodes, top, scratch), 0
    while q < n:
        i = scratch[ORDER, n - 1 - q]
        q += 1
        if not nodes[STALE, i]:
            continue
        if nodes[LEFT, i] >= 0 and _improve_cut(
            rank, code, ends, own, nodes, rows, i, hits, signs, sums, scratch, gains, state
        ):
            _route(rank, own, nodes, rows, counts, i, scratch)
            _mark_ancestors(nodes, i)
            q = 0
            continue
        _update_hits(rank, own, nodes, i, hits)
        state[WORK] += hits.shape[1]
        nodes[STALE, i] = 0


@inner
def _find_split(code, ends, own, nodes, rows, leaf, table, n_columns, state):
    """Set the split of a leaf, of least Gini impurity on some random columns; returns its gain.

    `table` has the weight by coarse step and label, and two rows for the two sides. -1 if there is
    no gain.
    """
    (n_features, n_codes), n_labels = ends.shape, table.shape[1]
    begin, end, best = nodes[BEGIN, leaf], nodes[END, leaf], 0.0
    if nodes[WRONG, leaf] == 0:
        return -1.0
    tried = min(n_columns, n_features)
    for s in range(tried):
        j = s if tried == n_features else _draw(state, n_features)
        for c in range(n_codes + 2):
            for y in range(n_labels):
                table[c, y] = 0
        for p in range(begin, end):
            row = rows[p]
            table[code[row, j], own[0, row]] += own[1, row]
            table[n_codes + 1, own[0, row]] += own[1, row]
        n_left, n_right, whole = 0, nodes[WEIGHT, leaf], 0.0
        for c in range(n_codes):
            left, right, moved = 0.0, 0.0, 0
            for y in range(n_labels):
                right += float(table[n_codes + 1, y]) * table[n_codes + 1, y]
            if c == 0:
                whole = right / n_right
            elif n_left > 0:
                for y in range(n_labels):
                    left += float(table[n_codes, y]) * table[n_codes, y]
                gain = left / n_left + right / n_right - whole
                if gain > best:
                    best = gain
                    nodes[FEATURE, leaf] = j
                    nodes[RANK, leaf] = ends[j, c - 1]
            for y in range(n_labels):
                moved += table[c, y]
                table[n_codes, y] += table[c, y]
                table[n_codes + 1, y] -= table[c, y]
            n_left += moved
            n_right -= moved
            if n_right == 0:
                break
    state[WORK] += tried * (4 * (end - begin) + 3 * n_codes * n_labels)
    return best if best > 0 else -1.0


@inner
def _depth(nodes, node):
    depth = 0
    while nodes[PARENT, node] >= 0:
        node = nodes[PARENT, node]
        depth += 1
    return depth


@inner
def _grow(
    rank, code, ends, own, nodes, rows, top, n_new, counts, scratch, table, score, settings, state
):
    """Split the leaf of largest gain below a leaf, several times; returns how often it could."""
    n_nodes, n_columns = nodes.shape[1], int(settings[N_COLUMNS])
    for i in range(n_nodes):
        score[i] = -1.0
    score[top] = -2.0
    for done in range(n_new):
        chosen = top
        for i in range(n_nodes):
            if score[i] == -2.0:
                score[i] = -1.0
                if _depth(nodes, i) < settings[MAX_DEPTH]:
                    score[i] = _find_split(code, ends, own, nodes, rows, i, table, n_columns, state)
            if score[i] > score[chosen]:
                chosen = i
        if score[chosen] < 0:
            return done
        score[chosen] = -1.0
        for side in range(LEFT, RIGHT + 1):
            child = 0
            while nodes[END, child] >= 0:  # one that is not used
                child += 1
            nodes[END, child] = 0
            nodes[LEFT, child] = -1
            nodes[side, chosen] = child
            score[child] = -2.0
        _route(rank, own, nodes, rows, counts, chosen, scratch)
    return n_new


@inner
def _collapse(nodes, top, scratch):
    """Make a node a leaf, without its label; returns how many leaves it had."""
    n = _preorder(nodes, top, scratch)
    for q in range(1, n):
        nodes[END, scratch[ORDER, q]] = -1
    nodes[LEFT, top] = -1
    return (n + 1) // 2


@inner
def _replace_parent(nodes, kept, scratch):
    """Replace the parent of a node by the node; returns the parent's number."""
    top = nodes[PARENT, kept]
    other = nodes[LEFT, top] + nodes[RIGHT, top] - kept
    _collapse(nodes, other, scratch)
    nodes[END, other] = -1
    for r in (FEATURE, RANK, LEFT, RIGHT, LABEL, WRONG, WEIGHT, STALE):
        nodes[r, top] = nodes[r, kept]
    nodes[END, kept] = -1
    if nodes[LEFT, top] >= 0:
        nodes[PARENT, nodes[LEFT, top]] = nodes[PARENT, nodes[RIGHT, top]] = top
    return top


@inner
def _prune(nodes, scratch):
    """Remove leaves without rows, and merge leaves of the same label."""
    i = 0
    while i < nodes.shape[1]:
        left, right, kept = nodes[LEFT, i], nodes[RIGHT, i], -1
        if nodes[END, i] >= 0 and left >= 0:
            if nodes[BEGIN, left] == nodes[END, left]:
                kept = right
            elif nodes[BEGIN, right] == nodes[END, right]:
                kept = left
            elif (
                nodes[LEFT, left] < 0
                and nodes[LEFT, right] < 0
                and nodes[LABEL, left] == nodes[LABEL, right]
            ):
                nodes[WRONG, left] += nodes[WRONG, right]
                nodes[WEIGHT, left] += nodes[WEIGHT, right]
                kept = left
        if kept >= 0:
            top = _replace_parent(nodes, kept, scratch)
            nodes[STALE, top] = 1
            _mark_ancestors(nodes, top)
        i = 0 if kept >= 0 else i + 1


@inner
def _measure(nodes, counts, settings):
    """Objective and weighted number of conditions of a tree; minus 1 if it exceeds the limits."""
    wrong, size, n_missing = 0, 0, 0
    for c in range(len(counts)):
        counts[c] = 0
    for leaf in range(nodes.shape[1]):
        if nodes[END, leaf] < 0 or nodes[LEFT, leaf] >= 0:
            continue
        wrong += nodes[WRONG, leaf]
        if nodes[BEGIN, leaf] < nodes[END, leaf]:
            counts[nodes[LABEL, leaf]] = 1
        depth, n_conditions, child = 0, 0, leaf
        while nodes[PARENT, child] >= 0:
            node = nodes[PARENT, child]
            is_new, below = 1, leaf
            while below != child:  # the same column and side, nearer to the leaf
                above = nodes[PARENT, below]
                same_side = (nodes[LEFT, above] == below) == (nodes[LEFT, node] == child)
                if same_side and nodes[FEATURE, above] == nodes[FEATURE, node]:
                    is_new = 0
                below = above
            n_conditions += is_new
            depth += 1
            child = node
        size += n_conditions * nodes[WEIGHT, leaf]
        if depth > settings[MAX_DEPTH] or n_conditions > settings[MAX_CONDITIONS]:
            return -1.0, 0.0
    for c in range(len(counts)):
        n_missing += 1 - counts[c]
    return wrong + settings[COVER] * n_missing + settings[PENALTY] * size, float(size)


@inner
def _pick(nodes, kind, state):
    """A random node; -1 if there is none."""
    total, found, drawn = 0, -1, _draw(state, 1 << 30)
    for turn in range(2):
        place = float(total) * drawn / (1 << 30)
        for i in range(nodes.shape[1]):
            if nodes[END, i] >= 0 and (nodes[LEFT, i] >= 0) == (kind == INNER):
                part = nodes[WRONG, i] if kind == WRONG_LEAVES else 1
                if turn == 0:
                    total += part
                elif part > 0 and place >= 0:
                    place -= part
                    found = i
    return found


@inner
def _copy(source, target):
    for r in range(source.shape[0]):
        for i in range(source.shape[1]):
            target[r, i] = source[r, i]


@compiled
def search_labels(
    rank, code, ends, own, best, nodes, trial, rows, trial_rows, hits, trial_hits, signs, sums,
    scratch, gains, table, score, settings, state,
):  # fmt: skip
    """Improve the tree `best` until the work is done.

    `own` has labels and weights of the rows, `rows` the numbers of all rows. The number of columns
    of `best` limits the leaves; `nodes` and `trial` are as large. `signs` and `sums` are zero. The
    last row of `table` is scratch for counts by label.
    """
    n_features, n_rows = rank.shape
    n_nodes, n_rounds = best.shape[1], settings[N_ROUNDS]
    counts = table[len(table) - 1]
    best_value, best_size, value, n_done, begin = np.inf, np.inf, np.inf, -1.0, state[WORK]
    after, size = 0.0, 0.0
    while True:
        part = n_rounds * (state[WORK] - begin) / settings[MAX_WORK]
        if n_done >= 0 and (part >= n_rounds or (n_done > 0 and best_value <= 0)):
            break
        state[WORK] += 1000 + n_rows + n_rows * n_nodes // 8
        kind, top, n_lost = _draw(state, 3), 0, 0
        if part >= n_done + 1:  # a new round begins with the best tree
            n_done, kind, value = np.floor(part), NOTHING, np.inf
        temperature = settings[TEMPERATURE] * best_value * (1 - n_done / n_rounds)
        temperature *= 1 - (part - n_done) if kind != NOTHING else 0.0
        _copy(best if kind == NOTHING else nodes, trial)
        for p in range(n_rows):
            trial_rows[p] = rows[p]
        _copy(hits, trial_hits)
        if kind == NOTHING:
            trial[BEGIN, 0], trial[END, 0], trial[PARENT, 0] = 0, n_rows, -1
        else:
            top = max(_pick(trial, INNER if kind != MOVE_LEAF else LEAVES, state), 0)
        if kind == REGROW:
            n_lost = _collapse(trial, top, scratch) - 1
        elif kind == MOVE_LEAF and trial[PARENT, top] >= 0:
            parent = trial[PARENT, top]
            sibling = trial[LEFT, parent] + trial[RIGHT, parent] - top
            top = _replace_parent(trial, sibling, scratch)
        elif kind == CUT and trial[BEGIN, top] < trial[END, top]:
            place = trial[BEGIN, top] + _draw(state, trial[END, top] - trial[BEGIN, top])
            trial[FEATURE, top] = _draw(state, n_features)
            trial[RANK, top] = rank[trial[FEATURE, top], trial_rows[place]]
        _route(rank, own, trial, trial_rows, counts, top, scratch)
        _mark_ancestors(trial, top)
        n_free = n_nodes
        for i in range(n_nodes):
            n_free -= trial[END, i] >= 0
        while n_free >= 2 and kind != NOTHING:
            spot, n_new = top, n_lost
            if n_lost == 0:
                spot, n_new = _pick(trial, WRONG_LEAVES, state), 1
                top = 0
            n_lost = 0
            if spot < 0:
                break
            n_new = _grow(
                rank, code, ends, own, trial, trial_rows, spot, n_new, counts, scratch, table,
                score, settings, state,
            )  # fmt: skip
            if n_new == 0:
                break
            n_free -= 2 * n_new
            _mark_ancestors(trial, spot)
        for phase in range(3):  # a new round measures the tree as it is; first the subtree alone
            if phase == 0 and kind != NOTHING:
                continue
            if phase > 0:
                _improve_cuts(
                    rank, code, ends, own, trial, trial_rows, top, counts, trial_hits, signs, sums,
                    scratch, gains, state,
                )  # fmt: skip
                top = 0
            if phase == 2:
                _prune(trial, scratch)
            after, size = _measure(trial, counts, settings)
            is_best = after < best_value or (after == best_value and size < best_size)
            if after >= 0 and is_best:
                best_value, best_size = after, size
                _copy(trial, best)
            if after < 0 or after > value + (MAX_DETOUR if phase < 2 else 1.0) * temperature:
                break
        if kind == NOTHING or (0 <= after <= value + temperature):
            value = after if after >= 0 else np.inf
            _copy(trial, nodes)
            for p in range(n_rows):
                rows[p] = trial_rows[p]
            _copy(trial_hits, hits)
    settings[OBJECTIVE], settings[SIZE] = best_value, best_size
