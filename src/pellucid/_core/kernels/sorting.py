"""A sort inside compiled loops; Numba's own sorts take long to compile."""

from __future__ import annotations

from pellucid._utils.compilation import inner

KEY, ORDER, OLD_KEY, OLD_ORDER, COUNT = range(5)
"""Rows of the array of `radix_sort`."""


@inner
def radix_sort(arrays, n):
    """Stable sort of n nonnegative integers, eight bits at a time.

    `arrays` has the keys and the items in its first rows, and three rows of scratch space; its
    shape is (5 or more, 257 or n or more).
    """
    largest = 0
    for i in range(n):
        largest = arrays[KEY, i] if arrays[KEY, i] > largest else largest
    shift = 0
    while shift == 0 or largest >> shift > 0:
        for s in range(257):
            arrays[COUNT, s] = 0
        for i in range(n):
            key = arrays[KEY, i]
            arrays[OLD_KEY, i] = key
            arrays[OLD_ORDER, i] = arrays[ORDER, i]
            arrays[COUNT, ((key >> shift) & 255) + 1] += 1
        for s in range(256):
            arrays[COUNT, s + 1] += arrays[COUNT, s]
        for i in range(n):
            key = arrays[OLD_KEY, i]
            s = (key >> shift) & 255
            place = arrays[COUNT, s]
            arrays[KEY, place] = key
            arrays[ORDER, place] = arrays[OLD_ORDER, i]
            arrays[COUNT, s] = place + 1
        shift += 8
