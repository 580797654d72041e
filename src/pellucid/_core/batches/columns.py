"""Columns of a node whose bins are divided further, pass by pass, until the best split is exact.

The bins of all nodes come from one quantizer. Where a threshold inside a bin could be better than
the best edge, the bin is divided into parts, and the sums of the parts are computed in another pass
over the data. The parts become bins of the column, and the column is scanned again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

N_PARTS = 16384
"""Parts into which the bins of a column are divided together, at most."""

_MIN_PARTS = 64
_MAX_BYTES = 2**24
"""Bytes of the sums of all parts of a pass, unless columns would have less than `_MIN_PARTS`."""

_MAX_FLOAT = np.finfo(np.float64).max


def to_keys(values: np.ndarray) -> np.ndarray:
    """Keys of numbers: int64, ascending with the numbers; -0.0 and 0.0 have the same key.

    The key of a number is its position in the order of all float64 numbers, so that a range of
    numbers can be divided into parts that hold equally many of them, whatever its magnitude.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid._core.batches.columns import to_keys
    >>> to_keys(np.array([-5e-324, 0.0, 5e-324])).tolist()
    [-1, 0, 1]
    """
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return np.where(bits >= 0, bits, np.int64(-(2**63)) - bits)


@dataclass(frozen=True)
class PartRequest:
    """Parts of a column whose sums are wanted.

    `bins` is a mask of the bins that hold the ranges. Range r has the keys first[r] to last[r],
    ascending, with step[r] numbers per part; start[r] is the number of its first part.
    """

    node: int
    feature: int
    bins: np.ndarray
    first: np.ndarray
    last: np.ndarray
    step: np.ndarray
    start: np.ndarray

    @property
    def n_parts(self) -> int:
        """Number of parts of all ranges."""
        return int(self.start[-1])

    def parts(self, values: np.ndarray) -> np.ndarray:
        """Part of each value; -1 for values in no range."""
        keys = to_keys(values)
        place = np.maximum(self.first.searchsorted(keys, side="right") - 1, 0)
        # Unsigned differences do not overflow.
        offset = (keys.view(np.uint64) - self.first[place].view(np.uint64)) // self.step[place]
        is_inside = (keys >= self.first[place]) & (keys <= self.last[place])
        return np.where(is_inside, self.start[place] + offset.view(np.int64), -1)


@dataclass(frozen=True)
class PartSums:
    """Sums over the rows of some parts, (len(parts), n_channels), int64.

    `parts` are ascending; the others have no rows. `lowest` and `highest` are the extreme values.
    """

    parts: np.ndarray
    sums: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray

    @classmethod
    def zeros(cls, parts: np.ndarray, n_channels: int) -> PartSums:
        """Sums over no rows; extreme values are infinite."""
        n = len(parts)
        sums = np.zeros((n, n_channels), dtype=np.int64)
        return cls(parts, sums, np.full(n, np.inf), np.full(n, -np.inf))

    def with_rows(self) -> PartSums:
        """The parts that hold rows."""
        has_rows = self.lowest <= self.highest
        arrays = (self.parts, self.sums, self.lowest, self.highest)
        return PartSums(*(array[has_rows] for array in arrays))

    def merge(self, other: PartSums) -> PartSums:
        """Sums over the rows of both."""
        parts = np.union1d(self.parts, other.parts)
        merged = PartSums.zeros(parts, self.sums.shape[1])
        for one in (self, other):
            at = parts.searchsorted(one.parts)
            merged.sums[at] += one.sums
            merged.lowest[at] = np.minimum(merged.lowest[at], one.lowest)
            merged.highest[at] = np.maximum(merged.highest[at], one.highest)
        return merged


class FineColumn:
    """A column of a node with its own bins.

    `edges` are the upper edges of the bins, ascending, and infinity after the last. `sums`,
    (n_bins, n_channels), are over the rows of each bin, and `inside` says whether a bin may hold
    different values.
    """

    def __init__(self, edges: np.ndarray, sums: np.ndarray, inside: np.ndarray) -> None:
        self.edges, self.sums, self.inside = edges, sums, inside
        self._bin = np.arange(len(edges))
        upper = to_keys(np.minimum(edges, _MAX_FLOAT))
        self._last = upper
        self._first = np.append(to_keys(np.array([-_MAX_FLOAT])), upper[:-1] + 1)

    def request(
        self, node: int, feature: int, is_wanted: np.ndarray, n_bins: int, n_columns: int
    ) -> PartRequest:
        """The parts of some bins; so few that the sums of `n_columns` do not take too much space.

        The number of parts decides about passes, but not about the best threshold.
        """
        wanted = is_wanted.nonzero()[0]
        first, last = self._first[wanted], self._last[wanted]
        size = last.view(np.uint64) - first.view(np.uint64)
        n_numbers = n_columns * (self.sums.shape[1] + 3)
        n_parts = min(N_PARTS, max(_MIN_PARTS, _MAX_BYTES // (8 * n_numbers)))
        n_parts = max(2, n_parts // len(wanted))
        step = size // np.uint64(n_parts) + np.uint64(1)
        start = np.append(0, (size // step).view(np.int64) + 1).cumsum()
        bins = np.zeros(n_bins, dtype=bool)
        bins[self._bin[wanted]] = True
        return PartRequest(node, feature, bins, first, last, step, start)

    def divide(self, is_wanted: np.ndarray, request: PartRequest, found: PartSums) -> None:
        """Replace the wanted bins by their parts that hold rows."""
        wanted, replaced = is_wanted.nonzero()[0], []
        for w, bin_number in enumerate(wanted):
            part = slice(*found.parts.searchsorted(request.start[w : w + 2]))
            replaced.append(self._parts_of(int(bin_number), found, part))
        kept = ~is_wanted
        fields = ("edges", "sums", "inside", "_bin", "_first", "_last")
        columns = {name: [getattr(self, name)[kept]] for name in fields}
        for parts in replaced:
            for name, values in zip(fields, parts):
                columns[name].append(values)
        merged = {name: np.concatenate(values) for name, values in columns.items()}
        order = merged["edges"].argsort(kind="stable")
        for name, values in merged.items():
            setattr(self, name, values[order])

    def _parts_of(self, number: int, found: PartSums, part: slice) -> tuple[np.ndarray, ...]:
        """Edges, sums, insides, bins of the quantizer and keys of the parts of a bin."""
        lowest, highest, sums = found.lowest[part], found.highest[part], found.sums[part]
        first, last, inside = to_keys(lowest), to_keys(highest), lowest < highest
        edges, upper = highest, self.edges[number]
        if not len(edges) or edges[-1] < upper:
            # The upper edge stays: a center may lie there.
            edges, inside = np.append(edges, upper), np.append(inside, False)
            key = self._last[number]
            first, last = np.append(first, key), np.append(last, key)
            sums = np.concatenate([sums, np.zeros_like(self.sums[:1])])
        return edges, sums, inside, np.full(len(edges), self._bin[number]), first, last
