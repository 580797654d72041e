"""Search for the box that explains the most rows of a cluster.

A *box* is a conjunction of conditions: an interval of codes of a column, or a set of codes of a
column of categories. Every row has a *gain*: its weight if it is a row of the cluster that no other
rule explains, minus its cost if it is a row of another cluster. Given the other conditions, one
histogram of gains per column has the sum of every interval and every set, so the best condition is
found exactly. Gains are integers, so that all sums are exact.
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import allocating, inner

MAX_SIZE, MAX_COLUMNS, CONDITION_COST = range(3)
"""Entries of `limits`: bounds and columns of a box, and what a bound costs."""

COLUMN, SIZE, LOW, HIGH, VALUE = range(5)
"""Fields of a condition: its column (-1 if there is none), its number of bounds, and its first and
last code. A set has LOW = -1, and its codes in `inside`. `box` has one column per condition."""

N_BOX_FIELDS, N_FIELDS = 4, 5

LOWEST = -(2**62)
"""Less than the value of any box."""

MAX_STEPS = 100
"""Changes of a box after which it is no longer improved."""

FREE, OUTSIDE = -1, -2
"""Entries of `place`: the row is in the box, or violates more than one condition."""


@inner
def _copy(source, target, n):
    for i in range(n):
        target[i] = source[i]


@inner
def _scan_numbers(sums, begin, end, budget, cost, found):
    """The interval of codes with the largest sum, less the cost of its bounds; the widest one."""
    total = 0
    for i in range(begin, end):
        total += sums[i]
    best = total
    found[SIZE], found[LOW], found[HIGH] = 0, 0, end - begin - 1
    if budget < 1:
        return best
    left = 0
    for i in range(begin, end - 1):
        left += sums[i]
        if left - cost >= best and (found[SIZE] == 1 or left - cost > best):
            best = left - cost
            found[SIZE], found[LOW], found[HIGH] = 1, 0, i - begin
        if total - left - cost > best:
            best = total - left - cost
            found[SIZE], found[LOW], found[HIGH] = 1, i + 1 - begin, end - begin - 1
    if budget < 2:
        return best
    current, start = 0, begin
    for i in range(begin, end):
        if current < 0:
            current, start = 0, i
        current += sums[i]
        value = current - 2 * cost
        if value > best or (value == best and found[SIZE] == 2 and start - begin == found[LOW]):
            best = value
            found[SIZE], found[LOW], found[HIGH] = 2, start - begin, i - begin
    return best


@inner
def _scan_set(sums, begin, end, budget, cost, found):
    """The set of codes with the largest sum: all whose own sum is positive."""
    total, positive, n_out = 0, 0, 0
    for i in range(begin, end):
        total += sums[i]
        if sums[i] > 0:
            positive += sums[i]
        else:
            n_out += 1
    found[SIZE], found[LOW], found[HIGH] = 0, 0, end - begin - 1
    if budget < 1 or n_out == 0 or n_out == end - begin or positive - cost <= total:
        return total
    found[SIZE], found[LOW] = 1, -1
    return positive - cost


@inner
def _scan(sums, offset, is_set, column, budget, cost, found):
    begin, end = offset[column], offset[column + 1]
    if is_set[column]:
        return _scan_set(sums, begin, end, budget, cost, found)
    return _scan_numbers(sums, begin, end, budget, cost, found)


@inner
def _set_condition(box, inside, slot, found, sums, offset):
    """Put a condition that was found in `sums` into the box."""
    column = found[COLUMN]
    n_codes = offset[column + 1] - offset[column]
    for field in range(len(box)):
        box[field, slot] = found[field]
    for i in range(n_codes):
        if found[LOW] < 0:
            inside[slot, i] = sums[offset[column] + i] > 0
        else:
            inside[slot, i] = found[LOW] <= i <= found[HIGH]


@inner
def _remove_condition(box, inside, slot, n_used):
    for s in range(slot, n_used - 1):
        for field in range(len(box)):
            box[field, s] = box[field, s + 1]
        for i in range(inside.shape[1]):
            inside[s, i] = inside[s + 1, i]
    box[COLUMN, n_used - 1], box[SIZE, n_used - 1] = -1, 0


@inner
def _locate(codes, rows, box, inside, n_used, place):
    """Which condition each row violates, if it is one only."""
    for p in range(len(rows)):
        row, at = rows[p], FREE
        for s in range(n_used):
            if not inside[s, codes[row, box[COLUMN, s]]]:
                if at != FREE:
                    at = OUTSIDE
                    break
                at = s
        place[p] = at


@inner
def _add_sums(codes, rows, gain, offset, place, wanted, sums):
    n_columns = codes.shape[1]
    for p in range(len(rows)):
        if place[p] == wanted:
            row = rows[p]
            for column in range(n_columns):
                sums[offset[column] + codes[row, column]] += gain[row]


@inner
def _is_used(box, n_used, column, but):
    found = False
    for s in range(n_used):
        found |= s != but and box[COLUMN, s] == column
    return found


@inner
def _best_condition(sums, offset, is_set, box, n_used, slot, limits, found, best):
    """Find the best condition for a slot, given the others; False if none is above `best`.

    The condition, in `found`, has the largest sum of gains less the cost of all bounds, VALUE.
    """
    size = 0
    for s in range(n_used):
        size += box[SIZE, s] if s != slot else 0
    budget, cost = limits[MAX_SIZE] - size, limits[CONDITION_COST]
    column, n_bounds, low, high = -1, found[SIZE], found[LOW], found[HIGH]
    for f in range(len(is_set)):
        if not _is_used(box, n_used, f, slot):
            value = _scan(sums, offset, is_set, f, budget, cost, found) - cost * size
            if value > best:
                best, column = value, f
                n_bounds, low, high = found[SIZE], found[LOW], found[HIGH]
    found[COLUMN], found[SIZE], found[LOW], found[HIGH] = column, n_bounds, low, high
    found[VALUE] = best
    return column >= 0


@inner
def _replace_one(codes, rows, gain, offset, is_set, root, box, inside, n_used, limits, work):
    """Replace the condition by which the value rises most; returns its slot, or -1.

    `work` has the sums of the rows in the box. With one condition, others may be chosen on the
    sums of all rows, `root`.
    """
    slot_sums, best_sums, place, found, kept = work[1], work[2], work[3], work[4], work[5]
    at = -1
    for slot in range(n_used):
        _copy(root if n_used == 1 else work[0], slot_sums, len(root))
        if n_used > 1:
            _add_sums(codes, rows, gain, offset, place, slot, slot_sums)
        if _best_condition(
            slot_sums, offset, is_set, box, n_used, slot, limits, found, kept[VALUE]
        ):
            at = slot
            _copy(found, kept, N_FIELDS)
            _copy(slot_sums, best_sums, len(root))
    if at >= 0 and kept[SIZE] > 0:
        _set_condition(box, inside, at, kept, best_sums, offset)
    elif at >= 0:
        _remove_condition(box, inside, at, n_used)
    return at


@inner
def _improve(codes, rows, gain, offset, is_set, root, box, inside, limits, max_steps, work):
    """Add, replace and remove conditions as long as the value of the box rises; returns it.

    A condition is added as long as that helps, before others are replaced. `root` has the sums of
    all rows.
    """
    place, found, kept = work[3], work[4], work[5]
    kept[VALUE] = LOWEST
    for _ in range(max_steps):
        n_used = 0
        while n_used < box.shape[1] and box[COLUMN, n_used] >= 0:
            n_used += 1
        _locate(codes, rows, box, inside, n_used, place)
        work[0] = 0
        _add_sums(codes, rows, gain, offset, place, FREE, work[0])
        if n_used < limits[MAX_COLUMNS] and _best_condition(
            work[0], offset, is_set, box, n_used, n_used, limits, found, kept[VALUE]
        ):
            kept[VALUE] = found[VALUE]
            if found[SIZE] > 0:
                _set_condition(box, inside, n_used, found, work[0], offset)
                continue
        if (
            max_steps == 1
            or _replace_one(
                codes, rows, gain, offset, is_set, root, box, inside, n_used, limits, work
            )
            < 0
        ):
            break
    return kept[VALUE]


@inner
def _prepare(codes, own, other, per_own, per_other, offset, gain, root):
    """Gains of all rows and their sums by code."""
    root[:] = 0
    for row in range(len(gain)):
        gain[row] = own[row] * per_own - other[row] * per_other
        if gain[row] != 0:
            for column in range(codes.shape[1]):
                root[offset[column] + codes[row, column]] += gain[row]


@inner
def _find_starts(root, offset, is_set, max_size, found, starts):
    """The best conditions of single columns, by number of bounds; returns how many there are."""
    n = 0
    for column in range(len(is_set)):
        for size in range(1, min(max_size, 2) + 1):
            value = _scan(root, offset, is_set, column, size, 0, found)
            if found[SIZE] == size:
                starts[n, COLUMN], starts[n, VALUE] = column, -value
                starts[n, SIZE], starts[n, LOW], starts[n, HIGH] = size, found[LOW], found[HIGH]
                n += 1
    return n


@allocating
def improve_box(codes, own, other, rates, offset, is_set, box, inside, limits):
    """Improve one box; returns its value. The parameters are those of `search_boxes`."""
    work = np.zeros((6, max(len(codes), offset[-1], N_FIELDS)), np.int64)
    gain, root = np.zeros(len(codes), np.int64), np.zeros(offset[-1], np.int64)
    _prepare(codes, own, other, rates[0], rates[1], offset, gain, root)
    rows = np.nonzero(gain)[0]
    return _improve(codes, rows, gain, offset, is_set, root, box, inside, limits, MAX_STEPS, work)


@allocating
def search_boxes(
    codes, own, other, rates, offset, is_set, limits, shifts, n_starts, boxes, insides
):
    """Find boxes from many starts; returns their values.

    `own` is the weight of the rows to explain, `other` that of the rows to leave out; `rates` are
    the gain and the cost of a unit of weight. The starts are the best conditions of single columns
    at lower costs: for each of `shifts`, a power of two lower. From each of them, one box is
    improved at once, and one after a condition was added at a cost in between.
    """
    n_columns = len(is_set)
    work = np.zeros((6, max(len(codes), offset[-1], N_FIELDS)), np.int64)
    gain, root = np.zeros(len(codes), np.int64), np.zeros(offset[-1], np.int64)
    guide, guide_root = np.zeros_like(gain), np.zeros_like(root)
    between, between_root = np.zeros_like(gain), np.zeros_like(root)
    starts = np.zeros((2 * n_columns, N_FIELDS), np.int64)
    values = np.zeros(len(boxes), np.int64)
    _prepare(codes, own, other, rates[0], rates[1], offset, gain, root)
    rows = np.nonzero(gain)[0]
    n_found = 0
    for shift in shifts:
        _prepare(codes, own, other, rates[0], rates[1] >> shift, offset, guide, guide_root)
        n = _find_starts(guide_root, offset, is_set, limits[MAX_SIZE], work[4], starts)
        order = np.argsort(starts[:n, VALUE], kind="mergesort")
        if shift > 1:
            half = rates[1] >> (shift // 2)
            _prepare(codes, own, other, rates[0], half, offset, between, between_root)
        for position in order[:n_starts]:
            for is_gradual in range(2 if shift > 1 else 1):
                box, inside = boxes[n_found], insides[n_found]
                box[COLUMN] = -1
                box[SIZE] = 0
                _set_condition(box, inside, 0, starts[position], guide_root, offset)
                if is_gradual:
                    _improve(
                        codes, rows, between, offset, is_set, between_root, box, inside, limits, 1,
                        work,
                    )  # fmt: skip
                values[n_found] = _improve(
                    codes, rows, gain, offset, is_set, root, box, inside, limits, MAX_STEPS, work
                )
                n_found += 1
    return values[:n_found]
