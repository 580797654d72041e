"""Search for the box that explains the most rows of a cluster.

A *box* is a conjunction of conditions: intervals of codes, and sets of codes of categories. The
*gain* of a row is its weight if it is a row of the cluster that no other rule explains, and minus
its cost if it is one of another cluster. Given the other conditions, a histogram of gains has the
sum of every interval and set of a column, so the best condition is found exactly, in integers.
"""

import numpy as np

from pellucid._utils.compilation import allocating, inlined, inner

# Entries of `limits`: bounds and columns of a box, and what a bound costs.
MAX_SIZE, MAX_COLUMNS, CONDITION_COST = range(3)
# Fields of a condition: its column (-1 if there is none), its number of bounds, and its first and
# last code. A set has LOW = -1, and its codes in `inside`. `box` has one column per condition.
COLUMN, SIZE, LOW, HIGH, VALUE = range(5)
N_BOX_FIELDS, N_FIELDS = 4, 5
LOWEST = -(2**62)  # less than the value of any box
MIX = 0x5851F42D4C957F2D  # an odd factor by which boxes are hashed
MAX_STEPS = 100  # changes of a box after which it is no longer improved
FREE, OUTSIDE = -1, -2  # the row is in the box, or violates more than one condition


@inner
def _copy(source, target, n):
    for i in range(n):
        target[i] = source[i]


@inner
def _scan_numbers(sums, budget, cost, found):
    """The interval of codes with the largest sum, less the cost of its bounds; the widest one."""
    total, last = 0, len(sums) - 1
    for i in range(last + 1):
        total += sums[i]
    best = total
    found[SIZE], found[LOW], found[HIGH] = 0, 0, last
    if budget < 1:
        return best
    left = 0
    for i in range(last):
        left += sums[i]
        if left - cost >= best and (found[SIZE] == 1 or left - cost > best):
            best = left - cost
            found[SIZE], found[LOW], found[HIGH] = 1, 0, i
        if total - left - cost > best:
            best = total - left - cost
            found[SIZE], found[LOW], found[HIGH] = 1, i + 1, last
    if budget < 2:
        return best
    current, start = 0, 0
    for i in range(last + 1):
        if current < 0:
            current, start = 0, i
        current += sums[i]
        value = current - 2 * cost
        if value > best or (value == best and found[SIZE] == 2 and start == found[LOW]):
            best = value
            found[SIZE], found[LOW], found[HIGH] = 2, start, i
    return best


@inner
def _scan_set(sums, budget, cost, found):
    """The set of codes with the largest sum: all whose own sum is positive."""
    total, positive, n_out = 0, 0, 0
    for i in range(len(sums)):
        total += sums[i]
        if sums[i] > 0:
            positive += sums[i]
        else:
            n_out += 1
    found[SIZE], found[LOW], found[HIGH] = 0, 0, len(sums) - 1
    if budget < 1 or n_out == 0 or n_out == len(sums) or positive - cost <= total:
        return total
    found[SIZE], found[LOW] = 1, -1
    return positive - cost


@inner
def _scan(sums, is_set, budget, cost, found):
    if is_set:
        return _scan_set(sums, budget, cost, found)
    return _scan_numbers(sums, budget, cost, found)


@inner
def _largest_sum(sums):
    """The largest sum of an interval of codes, or 0."""
    best, total, least = 0, 0, 0
    for i in range(len(sums)):
        total += sums[i]
        best = max(best, total - least)
        least = min(least, total)
    return best


@inner
def _set_condition(box, inside, slot, found, sums):
    """Put a condition that was found in the `sums` of its column into the box."""
    for field in range(len(box)):
        box[field, slot] = found[field]
    for i in range(len(sums)):
        if found[LOW] < 0:
            inside[slot, i] = sums[i] > 0
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
def _locate(codes, box, inside, n_used, place):
    """Which condition each row violates, if it is one only."""
    place[:] = FREE
    for s in range(n_used):
        column, low, high = codes[box[COLUMN, s]], box[LOW, s], box[HIGH, s]
        for row in range(len(place)):
            holds = low <= column[row] <= high if low >= 0 else inside[s, column[row]]
            violated = s if place[row] == FREE else OUTSIDE
            place[row] = place[row] if holds else violated


@inner
def _select(place, wanted, rows, n):
    """Append the rows with one entry of `place` to the first n of `rows`; returns their number."""
    for row in range(len(place)):
        rows[n] = row
        n += place[row] == wanted
    return n


@inner
def _add_sums(codes, gain, rows, sums):
    """Add the gains of some rows by code of one column."""
    for row in rows:
        sums[codes[row]] += gain[row]


@inner
def _is_used(box, n_used, column, but):
    found = False
    for s in range(n_used):
        found |= s != but and box[COLUMN, s] == column
    return found


@inner
def _is_better(sums, is_set, column, size, limits, least, found):
    """Find the best condition on a column beside others of a size; whether it exceeds `least`."""
    budget, cost = limits[MAX_SIZE] - size, limits[CONDITION_COST]
    if not is_set and _largest_sum(sums) - cost * size <= least:
        return False
    found[COLUMN] = column
    found[VALUE] = _scan(sums, is_set, budget, cost, found) - cost * size
    return found[VALUE] > least


@inner
def _add_condition(sums, offset, is_set, box, inside, n_used, limits, found, kept):
    """Add the condition by which the value rises most; returns whether there is one."""
    size, is_found = box[SIZE, :n_used].sum(), False
    for column in range(len(is_set)):
        of_column = sums[offset[column] : offset[column + 1]]
        if not _is_used(box, n_used, column, -1) and _is_better(
            of_column, is_set[column], column, size, limits, kept[VALUE], found
        ):
            is_found = True
            _copy(found, kept, N_FIELDS)
    if is_found:
        begin, end = offset[kept[COLUMN]], offset[kept[COLUMN] + 1]
        _set_condition(box, inside, n_used, kept, sums[begin:end])
    return is_found


@inner
def _replace_condition(codes, gain, offset, is_set, root, box, inside, n_used, limits, work):
    """Replace the condition by which the value rises most, the first of ties; whether one does."""
    sums, slot_sums, best_sums, found, kept, ends, place, rows = work
    size, at, n_codes = box[SIZE, :n_used].sum(), -1, 0
    for slot in range(n_used if n_used > 1 else 0):
        ends[slot + 1] = _select(place, slot, rows, ends[slot])
    for column in range(len(is_set)):
        begin, end = offset[column], offset[column + 1]
        for slot in range(n_used):
            if _is_used(box, n_used, column, slot):
                continue
            _copy((root if n_used == 1 else sums)[begin:end], slot_sums, end - begin)
            if n_used > 1:
                _add_sums(codes[column], gain, rows[ends[slot] : ends[slot + 1]], slot_sums)
            others = size - box[SIZE, slot]
            least = kept[VALUE] - (slot < at)
            of_column = slot_sums[: end - begin]
            if _is_better(of_column, is_set[column], column, others, limits, least, found):
                at, n_codes = slot, end - begin
                _copy(found, kept, N_FIELDS)
                _copy(slot_sums, best_sums, n_codes)
    if at >= 0 and kept[SIZE] > 0:
        _set_condition(box, inside, at, kept, best_sums[:n_codes])
    elif at >= 0:
        _remove_condition(box, inside, at, n_used)
    return at >= 0


@inner
def _is_known(box, inside, n_used, seen):
    """Whether a box is among those `seen`, whose number is the first entry; it is added if not."""
    key = n_used
    for s in range(n_used):
        for field in range(N_BOX_FIELDS):
            key = (key ^ box[field, s]) * MIX
            key ^= key >> 29
        for i in range(inside.shape[1] if box[LOW, s] < 0 else 0):
            key = (key * 2 + inside[s, i]) * MIX
            key ^= key >> 29
    n = seen[0]
    for i in range(1, n + 1):
        if seen[i] == key:
            return True
    if n + 1 < len(seen):
        seen[0], seen[n + 1] = n + 1, key
    return False


@inner
def _improve(codes, gain, offset, is_set, root, box, inside, limits, max_steps, seen, work):
    """Add, replace and remove conditions as long as the value of the box rises; returns it.

    A condition is added as long as that helps, before others are replaced. From a box among those
    `seen` the search would end where it did before: the value is `LOWEST`.
    """
    sums, _, _, found, kept, _, place, rows = work
    kept[VALUE] = LOWEST
    for _ in range(max_steps):
        n_used = 0
        while n_used < box.shape[1] and box[COLUMN, n_used] >= 0:
            n_used += 1
        may_add = n_used < limits[MAX_COLUMNS]
        if (may_add or kept[VALUE] > LOWEST) and _is_known(box, inside, n_used, seen):
            return LOWEST
        _locate(codes, box, inside, n_used, place)
        n_free = _select(place, FREE, rows, 0)
        sums[:] = 0
        for column in range(len(is_set)):
            _add_sums(codes[column], gain, rows[:n_free], sums[offset[column] :])
        if may_add and kept[VALUE] == LOWEST:
            kept[VALUE] = -limits[CONDITION_COST] * box[SIZE, :n_used].sum()
            for row in rows[:n_free]:
                kept[VALUE] += gain[row]
        if may_add and _add_condition(
            sums, offset, is_set, box, inside, n_used, limits, found, kept
        ):
            continue
        if max_steps == 1 or not _replace_condition(
            codes, gain, offset, is_set, root, box, inside, n_used, limits, work
        ):
            break
    return kept[VALUE]


@inlined
def _workspace(n_rows, n_codes, width, max_columns):
    """Sums of all columns, and of one twice; two conditions; ends of rows; places and rows."""
    return (
        np.zeros(n_codes, np.int64),
        np.zeros(width, np.int64),
        np.zeros(width, np.int64),
        np.zeros(N_FIELDS, np.int64),
        np.zeros(N_FIELDS, np.int64),
        np.zeros(max_columns + 1, np.int64),
        np.zeros(n_rows, np.int8),
        np.zeros(n_rows + 1, np.int64),
    )


@inner
def _add_all(codes, weight, offset, root):
    """Add the weights of all rows by code of each column."""
    for column in range(len(codes)):
        begin = offset[column]
        for row in range(len(weight)):
            root[begin + codes[column, row]] += weight[row]


@inner
def _subtract(own, other, rates, shift, gain):
    """Gains, or their sums, from the weights to explain and those to leave out."""
    for i in range(len(gain)):
        gain[i] = own[i] * rates[0] - other[i] * (rates[1] >> shift)


@inner
def _find_starts(root, offset, is_set, max_size, found, starts):
    """The best conditions of single columns, by number of bounds; returns how many there are."""
    n = 0
    for column in range(len(is_set)):
        sums = root[offset[column] : offset[column + 1]]
        for size in range(1, min(max_size, 2) + 1):
            value = _scan(sums, is_set[column], size, 0, found)
            if found[SIZE] == size:
                starts[n, COLUMN], starts[n, VALUE] = column, -value
                starts[n, SIZE], starts[n, LOW], starts[n, HIGH] = size, found[LOW], found[HIGH]
                n += 1
    return n


@allocating
def improve_box(codes, own, other, rates, offset, is_set, limits, box, inside):
    """Improve one box; returns its value. The parameters are those of `search_boxes`."""
    gain, root = np.zeros(len(own), np.int64), np.zeros(offset[-1], np.int64)
    _subtract(own, other, rates, 0, gain)
    _add_all(codes, gain, offset, root)
    seen = np.zeros(1, np.int64)
    work = _workspace(len(gain), len(root), inside.shape[1], box.shape[1])
    return _improve(codes, gain, offset, is_set, root, box, inside, limits, MAX_STEPS, seen, work)


@allocating
def search_boxes(
    codes, own, other, rates, offset, is_set, limits, shifts, n_starts, boxes, insides
):
    """Find boxes from many starts; returns their values, `LOWEST` for a box that is found again.

    `own` is the weight of the rows to explain, `other` that of the rows to leave out; `rates` are
    the gain and the cost of a unit. The starts are the best conditions of single columns at costs
    that are powers of two lower, the `shifts`. From each, one box is improved at once, and one
    after a condition was added at a cost in between.
    """
    n_columns, n_codes = len(is_set), offset[-1]
    gain, between = np.zeros(len(own), np.int64), np.zeros(len(own), np.int64)
    own_root, other_root = np.zeros(n_codes, np.int64), np.zeros(n_codes, np.int64)
    roots = np.zeros((3, n_codes), np.int64)
    root, guide_root, between_root = roots[0], roots[1], roots[2]
    starts = np.zeros((2 * n_columns, N_FIELDS), np.int64)
    values = np.zeros(len(boxes), np.int64)
    seen, none = np.zeros(len(boxes) * MAX_STEPS, np.int64), np.zeros(1, np.int64)
    work = _workspace(len(own), n_codes, insides.shape[2], boxes.shape[2])
    _add_all(codes, own, offset, own_root)
    _add_all(codes, other, offset, other_root)
    _subtract(own, other, rates, 0, gain)
    _subtract(own_root, other_root, rates, 0, root)
    n_found = 0
    for shift in shifts:
        _subtract(own_root, other_root, rates, shift, guide_root)
        n = _find_starts(guide_root, offset, is_set, limits[MAX_SIZE], work[3], starts)
        order = np.argsort(starts[:n, VALUE], kind="mergesort")
        if shift > 1:
            _subtract(own, other, rates, shift // 2, between)
            _subtract(own_root, other_root, rates, shift // 2, between_root)
        for start in starts[order[:n_starts]]:
            begin, end = offset[start[COLUMN]], offset[start[COLUMN] + 1]
            for is_gradual in range(2 if shift > 1 else 1):
                box, inside = boxes[n_found], insides[n_found]
                box[COLUMN] = -1
                box[SIZE] = 0
                _set_condition(box, inside, 0, start, guide_root[begin:end])
                if is_gradual:
                    _improve(
                        codes, between, offset, is_set, between_root, box, inside, limits, 1, none,
                        work,
                    )  # fmt: skip
                values[n_found] = _improve(
                    codes, gain, offset, is_set, root, box, inside, limits, MAX_STEPS, seen, work
                )
                n_found += 1
    return values[:n_found]
