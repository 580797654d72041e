"""Sorts of short or small-valued arrays inside compiled loops.

NumPy's sorts need the interpreter lock, so that threads would wait for each other in every column;
Numba's take long to compile. These sort `keys` and move `items` along with them.
"""

from __future__ import annotations

from pellucid._utils.compilation import inner


@inner
def insertion_sort(keys, items):
    """Stable sort in time O(n^2), for a few keys."""
    for i in range(len(keys)):
        key, item, p = keys[i], items[i], i
        while p > 0 and keys[p - 1] > key:
            keys[p], items[p] = keys[p - 1], items[p - 1]
            p -= 1
        keys[p], items[p] = key, item


@inner
def shell_sort(keys, items):
    """Sort without further memory; equal keys are sorted by item."""
    n, gap = len(keys), 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            key, item, p = keys[i], items[i], i
            while p >= gap and (
                keys[p - gap] > key or (keys[p - gap] == key and items[p - gap] > item)
            ):
                keys[p], items[p] = keys[p - gap], items[p - gap]
                p -= gap
            keys[p], items[p] = key, item
        gap //= 3


@inner
def counting_sort(codes, rows, n_codes, first, order):
    """Stable order of rows by small codes: order[first[b]:first[b + 1]] are the i with
    codes[rows[i]] == b, in their order. `first` has n_codes + 1 elements.
    """
    for b in range(n_codes + 1):
        first[b] = 0
    for i in range(len(rows)):
        first[codes[rows[i]] + 1] += 1
    for b in range(n_codes):
        first[b + 1] += first[b]
    for i in range(len(rows)):
        b = codes[rows[i]]
        order[first[b]] = i
        first[b] += 1
    for b in range(n_codes, 0, -1):
        first[b] = first[b - 1]
    first[0] = 0


@inner
def radix_sort(keys, items, old_keys, old_items, count):
    """Stable sort of nonnegative integers, eight bits at a time.

    The last three arguments are scratch arrays, `count` of 257 elements.
    """
    largest = 0
    for i in range(len(keys)):
        largest = keys[i] if keys[i] > largest else largest
    shift = 0
    while shift == 0 or largest >> shift > 0:
        for s in range(257):
            count[s] = 0
        for i in range(len(keys)):
            old_keys[i], old_items[i] = keys[i], items[i]
            count[((keys[i] >> shift) & 255) + 1] += 1
        for s in range(256):
            count[s + 1] += count[s]
        for i in range(len(keys)):
            s = (old_keys[i] >> shift) & 255
            keys[count[s]], items[count[s]] = old_keys[i], old_items[i]
            count[s] += 1
        shift += 8
