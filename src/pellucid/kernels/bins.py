"""Columns as small whole numbers.

The code of a value is the number of its column's edges that lie strictly below it, so that
``x <= edges[t]`` exactly when ``code(x) <= t``: a cut at an edge needs the code alone.
"""

from __future__ import annotations

import numpy as np

from pellucid.kernels._compile import compiled, inner


@compiled
def choose_edges(sample, coordinates, n_edges, low, scale, n_slots, edges):
    """Edges of one column: center coordinates and quantiles of a sample, both sorted.

    All values of the sample if there is room for them. Otherwise evenly spaced ones, moved up to
    the end of their slot, so that in most slots one look-up gives the code. A value that fills
    two quantiles has a bin of its own, so that its many rows loosen no bound. Returns the number
    of edges, and whether all values of the sample are among them.
    """
    n = 0
    for i in range(len(coordinates)):
        if i == 0 or coordinates[i] != coordinates[i - 1]:
            edges[n] = coordinates[i]
            n += 1
    room = n_edges - n
    distinct = 1
    for i in range(1, len(sample)):
        distinct += sample[i] != sample[i - 1]
    if distinct <= room:
        edges[n] = sample[0]
        n += 1
        for i in range(1, len(sample)):
            if sample[i] != sample[i - 1]:
                edges[n] = sample[i]
                n += 1
    else:
        before, repeats = np.inf, 0
        for i in range(1, room):
            value = sample[i * len(sample) // room]
            repeats = repeats + 1 if value == before else 0
            if repeats == 0:
                edges[n] = slot_end(value, low, scale, n_slots)
                n += 1
            elif repeats == 1:
                edges[n - 1] = np.nextafter(value, -np.inf)
                edges[n] = value
                n += 1
            before = value
    for i in range(1, n):  # all but the coordinates are in order already
        value, p = edges[i], i
        while p > 0 and edges[p - 1] > value:
            edges[p] = edges[p - 1]
            p -= 1
        edges[p] = value
    last = 0
    for i in range(1, n):
        if edges[i] != edges[last]:
            last += 1
            edges[last] = edges[i]
    for i in range(last + 1, len(edges)):
        edges[i] = np.inf
    return last + 1, distinct <= room


@inner
def slot_end(value, low, scale, n_slots):
    """Largest number in the slot of a value; the value itself in the last slot."""
    q = slot(value, low, scale, n_slots)
    if scale == 0.0 or q == n_slots:
        return value
    end = max(low + (q + 1) / scale, value)
    # Near 0 numbers lie so close that the end might never be reached: then any edge will do.
    for _ in range(16):
        if slot(end, low, scale, n_slots) > q:
            end = np.nextafter(end, -np.inf)
        elif slot(np.nextafter(end, np.inf), low, scale, n_slots) <= q:
            end = np.nextafter(end, np.inf)
        else:
            return end
    return value


@compiled
def shortcuts(edges, n_edges, low, scale, table):
    """For each column and slot q the code of its values.

    A slot of several codes, the least of them c, has -1 - 2 c, and 1 less if they are many. The
    slot of x is floor((x - low) * scale), kept within the table. An edge at the very end of a slot
    divides no values of the slot; only edges further inside leave more than one code.
    """
    n_slots = table.shape[1] - 1
    for j in range(edges.shape[0]):
        at = 0
        for q in range(n_slots + 1):
            first = at
            while at < n_edges[j] and slot(edges[j, at], low[j], scale[j], n_slots) <= q:
                at += 1
            span = at - first
            if span > 0:
                after = np.nextafter(edges[j, at - 1], np.inf)
                span -= slot(after, low[j], scale[j], n_slots) > q
            table[j, q] = first if span == 0 else -1 - 2 * first - (span > 16)


@inner
def slot(value, low, scale, n_slots):
    """Where to look a value up; larger values never have smaller slots."""
    place = (value - low) * scale
    return int(min(max(place, 0.0), float(n_slots)))


@compiled
def dense_codes(X, begin, edges, n_edges, low, scale, table, codes, few, mixed):
    """codes[j, begin + i] for rows i; in columns of `few` values, mixed[j, b] = 1 where a value of
    bin b is not its edge.

    A block of rows and a cache line of columns at a time: turned on their side, the values of a
    column are next to each other.
    """
    top = float(table.shape[1] - 1)
    block, group = 256, 8
    lines = np.zeros((group, block))
    slots = np.empty(block, dtype=np.int32)
    n_features = X.shape[1]
    for start in range(0, len(X), block):
        size = min(block, len(X) - start)
        at = begin + start
        for first in range(0, n_features, group):
            n_columns = min(group, n_features - first)
            if n_columns == group:  # a loop of known length is unrolled
                for i in range(size):
                    for f in range(group):
                        lines[f, i] = X[start + i, first + f]
            else:
                for i in range(size):
                    for f in range(n_columns):
                        lines[f, i] = X[start + i, first + f]
            for f in range(n_columns):
                j = first + f
                bottom, factor = low[j], scale[j]
                for i in range(block):
                    place = (lines[f, i] - bottom) * factor
                    place = place if place > 0.0 else 0.0
                    slots[i] = np.int32(place if place < top else top)
                for i in range(size):
                    code = table[j, np.uint32(slots[i])]
                    if code < 0:
                        many, code = (-1 - code) & 1, (-1 - code) >> 1
                        value = lines[f, i]
                        if many:
                            code = find_code(edges, n_edges, j, value, code)
                        while edges[j, code] < value:  # the edges end with infinity
                            code += 1
                    codes[j, at + i] = code
                if few[j]:
                    for i in range(size):
                        code = codes[j, at + i]
                        if edges[j, code] != lines[f, i]:
                            mixed[j, code] = 1


@inner
def find_code(edges, n_edges, j, value, code):
    """Code of a value, which is `code` or more."""
    last = n_edges[j]
    while code < last:
        middle = (code + last) >> 1
        if edges[j, middle] < value:
            code = middle + 1
        else:
            last = middle
    return code


@compiled
def entry_codes(data, indptr, edges, n_edges, codes, mixed):
    """Codes of the stored entries of a CSC matrix, in their order; `mixed` as in `dense_codes`."""
    for j in range(len(indptr) - 1):
        for p in range(indptr[j], indptr[j + 1]):
            value = np.float64(data[p])
            code = np.searchsorted(edges[j, : n_edges[j]], value)
            codes[p] = code
            if edges[j, code] != value:
                mixed[j, code] = 1


@compiled
def center_codes(edges, centers, codes):
    """codes[j, c] = the edge of column j at which center c lies."""
    for c in range(centers.shape[0]):
        for j in range(centers.shape[1]):
            first, last = 0, edges.shape[1] - 1
            while first < last:
                middle = (first + last) >> 1
                if edges[j, middle] < centers[c, j]:
                    first = middle + 1
                else:
                    last = middle
            codes[j, c] = first
