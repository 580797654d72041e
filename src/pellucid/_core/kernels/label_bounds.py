"""The least mistakes of all trees of depth one, two and three, or of three and four leaves.

With L(t) and R(t) the least mistakes of the rows on the left and on the right of a cut t, L grows
and R falls with t, and neither changes by more than the weight of the rows that change sides. So
two cuts a < b of a column bound all cuts between them from below, and an interval of cuts is
halved only if its bound is below the best tree known (branch and bound). Weights are integers.
"""

from __future__ import annotations

from pellucid._utils.compilation import compiled, inner

VALUE, FEATURE, RANK, WORK, MAX_WORK, HEAVIEST = range(6)
"""Entries of `found`: the least mistakes, which are only a lower bound if they are not below the
limit; column and rank of the root's cut, -1 for a leaf; about the nanoseconds of work, and most;
the largest weight of a row."""

N_BOUNDS = 6
FIRST, LAST, AT_FIRST, AT_LAST, N_STACK_ROWS = 0, 1, 2, 2 + N_BOUNDS, 2 + 2 * N_BOUNDS
"""Rows of a stack of intervals: two cuts; and at either, the least mistakes of its left and of its
right side, those of the two sides as leaves, and, for four leaves, as stumps."""


@inner
def _stumps(rank, label, weight, order, n, limit, side, counts, best, found):
    """Fill `best` with the least mistakes of the rows of either side as a leaf and as a stump.

    best[s] has: mistakes of a stump, or the limit if they are not fewer, and of a leaf; column and
    rank of the stump's cut; total weight; and scratch: weight up to a row, weight until another
    cut can be better, and rank of the previous row. `order` has the rows by column, sorted, `rank`
    their ranks, and `side` is 0 or 1 by row.
    """
    n_features, n_labels = order.shape[0], counts.shape[2]
    found[WORK] += 3 * n * n_features
    for s in range(2):
        best[s, 4] = 0
        for y in range(n_labels):
            counts[0, s, y] = 0
    for p in range(n):
        row = order[0, p]
        counts[0, side[row], label[row]] += weight[row]
        best[side[row], 4] += weight[row]
    for s in range(2):
        most = 0
        for y in range(n_labels):
            most = max(most, counts[0, s, y])
        best[s, 1] = best[s, 4] - most
        best[s, 0] = min(best[s, 1], limit)
        best[s, 2] = best[s, 3] = -1
    for j in range(n_features):
        n_active = 0
        for s in range(2):
            n_active += best[s, 0] > 0
            best[s, 5], best[s, 6], best[s, 7] = 0, best[s, 1] - best[s, 0], -1
            for y in range(n_labels):
                counts[1, s, y] = 0
        for p in range(n):
            if n_active == 0:
                break
            row = order[j, p]
            s = side[row]
            # Weight that changes sides saves at most as many mistakes.
            if best[s, 6] < 0 and best[s, 0] > 0 and rank[j, row] != best[s, 7] >= 0:
                left, right = 0, 0
                for y in range(n_labels):
                    left = max(left, counts[1, s, y])
                    right = max(right, counts[0, s, y] - counts[1, s, y])
                wrong = best[s, 4] - left - right
                if wrong < best[s, 0]:
                    best[s, 0], best[s, 2], best[s, 3] = wrong, j, best[s, 7]
                best[s, 6] = wrong - best[s, 0]
                if best[s, 6] >= best[s, 4] - best[s, 5] or wrong == 0:
                    best[s, 6] = best[s, 4]  # for all other cuts of the column
                    n_active -= 1
            counts[1, s, label[row]] += weight[row]
            best[s, 5] += weight[row]
            best[s, 6] -= weight[row]
            best[s, 7] = rank[j, row]


@inner
def _middle_cut(rank, order, a, b):
    """The position of the cut of a column nearest to the middle of an interval; a if none is."""
    middle = (a + b) // 2
    low, high = middle, middle + 1
    while low > a and rank[order[low]] == rank[order[low - 1]]:
        low -= 1
    while high < b and rank[order[high]] == rank[order[high - 1]]:
        high += 1
    cut = low if low > a and (high >= b or middle - low <= high - middle) else high
    return cut if cut < b else a


@inner
def _first_interval(stack, n, whole, leaf, stump):
    """The interval of all cuts of a column, given the mistakes of all rows."""
    stack[FIRST, 0], stack[LAST, 0] = 0, n
    for r in range(N_BOUNDS // 2):
        stack[AT_FIRST + 2 * r, 0] = stack[AT_LAST + 2 * r + 1, 0] = 0
        least = whole if r == 0 else leaf if r == 1 else stump
        stack[AT_FIRST + 2 * r + 1, 0] = stack[AT_LAST + 2 * r, 0] = least


@inner
def _halve(stack, height, cut, middle):
    """Replace an interval by its halves, given bounds at a cut."""
    for r in range(N_STACK_ROWS):
        stack[r, height + 1] = stack[r, height]
    stack[LAST, height] = stack[FIRST, height + 1] = cut
    for r in range(N_BOUNDS):
        stack[AT_LAST + r, height] = stack[AT_FIRST + r, height + 1] = middle[r]


@inner
def _bound_interval(stack, height, label, weight, order, middle):
    """Fill `middle` with lower bounds of any cut of an interval."""
    moved = 0
    for p in range(stack[FIRST, height], stack[LAST, height]):
        moved += weight[order[p]]
    for r in range(N_BOUNDS):
        a, b = stack[AT_FIRST + r, height], stack[AT_LAST + r, height]
        middle[r] = max(a, b - moved) if r % 2 == 0 else max(b, a - moved)


@inner
def _least(middle, n_leaves):
    """Least mistakes of a cut: two subtrees or, with three or four leaves, a subtree and a leaf."""
    if n_leaves == 0:
        return middle[0] + middle[1]
    least = min(middle[0] + middle[3], middle[2] + middle[1])
    return least if n_leaves == 3 else min(least, middle[4] + middle[5])


@compiled
def solve_one(rank, label, weight, order, n, limit, side, counts, best, found):
    """The least mistakes of a stump, or leaf, if they are below `limit`.

    Sets VALUE, FEATURE and RANK of `found`. The first n rows of each column of `order` count.
    """
    for p in range(n):
        side[order[0, p]] = 0
    _stumps(rank, label, weight, order, n, limit, side, counts, best, found)
    found[VALUE], found[FEATURE], found[RANK] = best[0, 0], best[0, 2], best[0, 3]


@compiled
def solve_two(rank, label, weight, order, n, limit, n_leaves, side, counts, best, stack, found):
    """As `solve_one` for trees of depth two; of three leaves only if `n_leaves` is 3, and not 0.

    Returns whether the work was enough. If not, the tree is the best one until then.
    """
    solve_one(rank, label, weight, order, n, limit, side, counts, best, found)
    value, feature, at = found[VALUE], found[FEATURE], found[RANK]
    whole, leaf, middle = value, best[0, 1], best[2]
    for j in range(order.shape[0]):
        if value == 0:
            break
        height = 1
        _first_interval(stack, n, whole, leaf, leaf)
        while height > 0:
            height -= 1
            _bound_interval(stack, height, label, weight, order[j], middle)
            if _least(middle, n_leaves) >= value:
                continue
            cut = _middle_cut(rank[j], order[j], stack[FIRST, height], stack[LAST, height])
            if cut == stack[FIRST, height]:
                continue
            if found[WORK] > found[MAX_WORK]:
                found[VALUE], found[FEATURE], found[RANK] = value, feature, at
                return False
            for p in range(n):
                side[order[j, p]] = p >= cut
            _stumps(rank, label, weight, order, n, value, side, counts, best, found)
            for r in range(4):
                middle[r] = best[r % 2, r // 2]
            if _least(middle, n_leaves) < value:
                value, feature = _least(middle, n_leaves), j
                at = rank[j, order[j, cut - 1]]
            _halve(stack, height, cut, middle)
            height += 2
    found[VALUE], found[FEATURE], found[RANK] = value, feature, at
    return True


@compiled
def solve_three(
    rank, label, weight, order, part, limit, n_leaves, side, goes, counts, best, stacks, found
):
    """As `solve_two` for depth three; of four leaves only if `n_leaves` is 4; `part` is scratch."""
    n_features, n = order.shape
    below = 3 if n_leaves == 4 else 0
    for p in range(n):
        side[order[0, p]] = 0
    _stumps(rank, label, weight, order, n, limit, side, counts, best, found)
    stump, leaf = best[0, 0], best[0, 1]
    if not solve_two(
        rank, label, weight, order, n, limit, below, side, counts, best, stacks[0], found
    ):
        return False
    value, feature, at = found[VALUE], found[FEATURE], found[RANK]
    whole, stack, middle = value, stacks[1], best[3]
    for j in range(n_features):
        if value == 0:
            break
        height = 1
        _first_interval(stack, n, whole, leaf, stump)
        while height > 0:
            height -= 1
            _bound_interval(stack, height, label, weight, order[j], middle)
            if _least(middle, n_leaves) >= value:
                continue
            cut = _middle_cut(rank[j], order[j], stack[FIRST, height], stack[LAST, height])
            if cut == stack[FIRST, height]:
                continue
            for p in range(n):
                goes[order[j, p]] = p >= cut
            if n_leaves == 4:
                for p in range(n):
                    side[order[j, p]] = p >= cut
                _stumps(rank, label, weight, order, n, value, side, counts, best, found)
                for r in range(4):
                    middle[2 + r] = best[r % 2, 1 - r // 2]
            # Mistakes beyond the limit may exclude the other cuts of the interval, too.
            margin = max(cut - stack[FIRST, height], stack[LAST, height] - cut) * found[HEAVIEST]
            first = 1 if 2 * cut < n else 0  # the larger side
            for turn in range(2):
                s = first if turn == 0 else 1 - first
                other = middle[3 - s] if n_leaves == 4 else middle[1 - s]
                if middle[s] + other >= value:
                    continue
                for c in range(n_features):
                    m = 0
                    for p in range(n):
                        if goes[order[c, p]] == s:
                            part[c, m] = order[c, p]
                            m += 1
                found[WORK] += 2 * n * n_features
                most = min(value, value - other + margin)
                if not solve_two(
                    rank, label, weight, part, m, most, below, side, counts, best, stacks[0], found
                ):
                    found[VALUE], found[FEATURE], found[RANK] = value, feature, at
                    return False
                middle[s] = max(middle[s], found[VALUE])
            if _least(middle, n_leaves) < value:
                value, feature = _least(middle, n_leaves), j
                at = rank[j, order[j, cut - 1]]
            _halve(stack, height, cut, middle)
            height += 2
    found[VALUE], found[FEATURE], found[RANK] = value, feature, at
    return True
