"""The least mistakes of all trees of depth one, two and three, by branch and bound.

With L(t) and R(t) the least mistakes of the rows on the left and on the right of a cut t, L grows
and R falls with t, and neither changes by more than the weight of the rows that change sides. So
two cuts a < b of a column bound all cuts between them from below, and an interval of cuts is
halved only if its bound is below the best tree known. Weights are integers.
"""

from __future__ import annotations

from pellucid._utils.compilation import compiled, inner

VALUE, FEATURE, RANK, WORK, MAX_WORK = range(5)
"""Entries of `found`: the least mistakes, which are only a lower bound if they are not below the
limit; column and rank of the root's cut, -1 for a leaf; about the nanoseconds of work, and most."""

FIRST, LAST, L_FIRST, R_FIRST, L_LAST, R_LAST = range(6)
"""Rows of a stack of intervals: two cuts, and the mistakes of their sides."""


@inner
def _stumps(rank, own, order, n, side, counts, best, work):
    """Fill `best` with the least mistakes of the rows of either side as a leaf and as a stump.

    best[s] has: mistakes of a stump, of a leaf, column and rank of the stump's cut, weight, and
    scratch. `order` has the rows by column, sorted; `side` is 0 or 1 by row.
    """
    n_features, n_labels = order.shape[0], counts.shape[2]
    work[WORK] += 5 * n * n_features
    for s in range(2):
        for y in range(n_labels):
            counts[s, 0, y] = 0
        best[s, 4] = 0
    for p in range(n):
        row = order[0, p]
        counts[side[row], 0, own[row, 0]] += own[row, 1]
        best[side[row], 4] += own[row, 1]
    for s in range(2):
        most = 0
        for y in range(n_labels):
            most = max(most, counts[s, 0, y])
        best[s, 0] = best[s, 1] = best[s, 4] - most
        best[s, 2] = best[s, 3] = -1
    for j in range(n_features):
        for s in range(2):
            for y in range(n_labels):
                counts[s, 1, y] = 0
                counts[s, 2, y] = counts[s, 0, y]
            # Largest weight of a label on the left and on the right, and the last rank.
            best[s, 5], best[s, 6], best[s, 7] = 0, best[s, 4] - best[s, 1], -1
        for p in range(n):
            row = order[j, p]
            s, at, y, weight = side[row], rank[row, j], own[row, 0], own[row, 1]
            if at != best[s, 7]:
                wrong = best[s, 4] - best[s, 5] - best[s, 6]
                if wrong < best[s, 0] and best[s, 7] >= 0:
                    best[s, 0], best[s, 2], best[s, 3] = wrong, j, best[s, 7]
                best[s, 7] = at
            more, less = counts[s, 1, y] + weight, counts[s, 2, y]
            counts[s, 1, y] = more
            counts[s, 2, y] = less - weight
            if more > best[s, 5]:
                best[s, 5] = more
            if less == best[s, 6]:
                largest = 0
                for c in range(n_labels):
                    largest = max(largest, counts[s, 2, c])
                best[s, 6] = largest


@inner
def _solve_two(rank, own, order, n, limit, is_three, side, counts, best, stack, found):
    """The least mistakes of trees of depth two, if they are below `limit`; of three leaves only
    if `is_three`. Sets VALUE, FEATURE and RANK of `found`; returns whether the work was enough.
    """
    for p in range(n):
        side[order[0, p]] = 0
    _stumps(rank, own, order, n, side, counts, best, found)
    value, feature, at = limit, -1, -1
    whole, leaf = best[0, 0], best[0, 1]
    if whole < value:
        value, feature, at = whole, best[0, 2], best[0, 3]
    for j in range(order.shape[0]):
        if value == 0:
            break
        height = 1
        stack[FIRST, 0], stack[LAST, 0] = 0, n
        stack[L_FIRST, 0] = stack[R_LAST, 0] = 0
        stack[R_FIRST, 0] = stack[L_LAST, 0] = whole
        stack[6, 0] = stack[9, 0] = 0
        stack[7, 0] = stack[8, 0] = leaf
        while height > 0:
            height -= 1
            a, b = stack[FIRST, height], stack[LAST, height]
            la, ra, lb, rb = (
                stack[L_FIRST, height],
                stack[R_FIRST, height],
                stack[L_LAST, height],
                stack[R_LAST, height],
            )
            lla, lra, llb, lrb = (
                stack[6, height],
                stack[7, height],
                stack[8, height],
                stack[9, height],
            )
            moved = 0
            for p in range(a, b):
                moved += own[order[j, p], 1]
            least_left, least_right = max(la, lb - moved), max(rb, ra - moved)
            bound = least_left + least_right
            if is_three:
                bound = min(least_left + max(lrb, lra - moved), max(lla, llb - moved) + least_right)
            if bound >= value:
                continue
            # The cut nearest to the middle.
            middle = (a + b) // 2
            low, high = middle, middle + 1
            while low > a and rank[order[j, low], j] == rank[order[j, low - 1], j]:
                low -= 1
            while high < b and rank[order[j, high], j] == rank[order[j, high - 1], j]:
                high += 1
            cut = low if low > a and (high >= b or middle - low <= high - middle) else high
            if cut <= a or cut >= b:
                continue
            if found[WORK] > found[MAX_WORK]:
                return False
            for p in range(n):
                side[order[j, p]] = p >= cut
            _stumps(rank, own, order, n, side, counts, best, found)
            left, right = best[0, 0], best[1, 0]
            total = left + right
            if is_three:
                total = min(left + best[1, 1], best[0, 1] + right)
            if total < value:
                value, feature, at = total, j, rank[order[j, cut - 1], j]
            for part in range(2):
                stack[FIRST, height] = a if part == 0 else cut
                stack[LAST, height] = cut if part == 0 else b
                stack[L_FIRST, height] = la if part == 0 else left
                stack[R_FIRST, height] = ra if part == 0 else right
                stack[L_LAST, height] = left if part == 0 else lb
                stack[R_LAST, height] = right if part == 0 else rb
                stack[6, height] = lla if part == 0 else best[0, 1]
                stack[7, height] = lra if part == 0 else best[1, 1]
                stack[8, height] = best[0, 1] if part == 0 else llb
                stack[9, height] = best[1, 1] if part == 0 else lrb
                height += 1
    found[VALUE], found[FEATURE], found[RANK] = value, feature, at
    return True


@compiled
def solve_one(rank, own, order, side, counts, best, found):
    """The best stump, or leaf."""
    for p in range(order.shape[1]):
        side[order[0, p]] = 0
    _stumps(rank, own, order, order.shape[1], side, counts, best, found)
    found[VALUE], found[FEATURE], found[RANK] = best[0, 0], best[0, 2], best[0, 3]


@compiled
def solve_two(rank, own, order, limit, is_three, side, counts, best, stack, found):
    """As `_solve_two`, for all rows of `order`."""
    return _solve_two(
        rank, own, order, order.shape[1], limit, is_three, side, counts, best, stack, found
    )


@compiled
def solve_three(rank, own, order, part, limit, side, goes, counts, best, stack, found):
    """As `solve_two` for depth three; `part` is scratch like `order`, `stack` has two stacks."""
    n_features, n = order.shape
    if not _solve_two(rank, own, order, n, limit, False, side, counts, best, stack[0], found):
        return False
    value, feature, at = min(limit, found[VALUE]), found[FEATURE], found[RANK]
    whole, top = found[VALUE], stack[1]
    for j in range(n_features):
        if value == 0:
            break
        height = 1
        top[FIRST, 0], top[LAST, 0] = 0, n
        top[L_FIRST, 0] = top[R_LAST, 0] = 0
        top[R_FIRST, 0] = top[L_LAST, 0] = whole
        while height > 0:
            height -= 1
            a, b = top[FIRST, height], top[LAST, height]
            la, ra, lb, rb = (
                top[L_FIRST, height],
                top[R_FIRST, height],
                top[L_LAST, height],
                top[R_LAST, height],
            )
            moved = 0
            for p in range(a, b):
                moved += own[order[j, p], 1]
            least_left, least_right = max(la, lb - moved), max(rb, ra - moved)
            if least_left + least_right >= value:
                continue
            middle = (a + b) // 2
            low, high = middle, middle + 1
            while low > a and rank[order[j, low], j] == rank[order[j, low - 1], j]:
                low -= 1
            while high < b and rank[order[j, high], j] == rank[order[j, high - 1], j]:
                high += 1
            cut = low if low > a and (high >= b or middle - low <= high - middle) else high
            if cut <= a or cut >= b:
                continue
            for p in range(n):
                goes[order[j, p]] = p >= cut
            left, right = least_left, least_right
            for s in range(2):
                if left + right >= value:
                    break
                for c in range(n_features):
                    m = 0
                    for p in range(n):
                        if goes[order[c, p]] == s:
                            part[c, m] = order[c, p]
                            m += 1
                found[WORK] += 2 * n * n_features
                # More mistakes than this on one side cannot be part of a better tree.
                most = value - (right if s == 0 else left)
                if not _solve_two(
                    rank, own, part, m, most, False, side, counts, best, stack[0], found
                ):
                    return False
                if s == 0:
                    left = max(left, found[VALUE])
                else:
                    right = max(right, found[VALUE])
            if left + right < value:
                value, feature, at = left + right, j, rank[order[j, cut - 1], j]
            for half in range(2):
                top[FIRST, height] = a if half == 0 else cut
                top[LAST, height] = cut if half == 0 else b
                top[L_FIRST, height] = la if half == 0 else left
                top[R_FIRST, height] = ra if half == 0 else right
                top[L_LAST, height] = left if half == 0 else lb
                top[R_LAST, height] = right if half == 0 else rb
                height += 1
    found[VALUE], found[FEATURE], found[RANK] = value, feature, at
    return True
