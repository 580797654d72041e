"""Columns of a node whose bins are divided further, pass by pass, until the best split is exact.

The bins of all nodes come from one quantizer. Where a threshold inside a bin could be better than
the best edge, the bin is divided into parts, and the sums of the parts are computed in another pass
over the data. The parts become bins of the column, and the column is scanned again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

N_PARTS = 16384  # into which the bins of a column are divided together, at most
# Bytes of the sums of all parts of a pass, unless columns would have less than `_MIN_PARTS`.
_MAX_BYTES, _MIN_PARTS = 2**24, 64

_MAX_FLOAT = np.finfo(np.float64).max


def to_keys(values: np.ndarray) -> np.ndarray:
    """Keys of numbers: int64, ascending with the numbers; -0.0 and 0.0 have the same key.

    The key of a number is its position in the order of all float64 numbers, so that a range of
    numbers can be divided into parts that hold equally many of them, whatever its magnitude.
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
        return int(self.start[-1])

    def parts(self, values: np.ndarray) -> np.ndarray:
        """Part of each value; -1 for values in no range."""
        keys = to_keys(values)
        place = np.maximum(self.first.searchsorted(keys, side="right") - 1, 0)
        # Unsigned differences do not overflow.
        offset = (keys.view(np.uint64) - self.first[place].view(np.uint64)) // self.step[place]
        is_inside = (keys >= self.first[place]) & (keys <= self.last[place])
        return np.where(is_inside, self.start[place] + offset.view(np.int64), -1)


class PartSums(NamedTuple):
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
        ends = np.full(len(parts), np.inf)
        return cls(parts, np.zeros((len(parts), n_channels), dtype=np.int64), ends, -ends)

    def with_rows(self) -> PartSums:
        has_rows = self.lowest <= self.highest
        return PartSums(*(array[has_rows] for array in self))

    def merge(self, other: PartSums) -> PartSums:
        parts = np.union1d(self.parts, other.parts)
        merged = PartSums.zeros(parts, self.sums.shape[1])
        for one in (self, other):
            at = parts.searchsorted(one.parts)
            merged.sums[at] += one.sums
            merged.lowest[at] = np.minimum(merged.lowest[at], one.lowest)
            merged.highest[at] = np.maximum(merged.highest[at], one.highest)
        return merged


class FineColumn(NamedTuple):
    """A column of a node with its own bins.

    `edges` are the upper edges of the bins, ascending, and infinity after the last. `sums`,
    (n_bins, n_channels), are over the rows of each bin, and `inside` says whether a bin may hold
    different values. A bin has the keys `first` to `last`, and is part of a `bin` of the quantizer.
    """

    edges: np.ndarray
    sums: np.ndarray
    inside: np.ndarray
    bin: np.ndarray
    first: np.ndarray
    last: np.ndarray

    @classmethod
    def of(cls, edges: np.ndarray, sums: np.ndarray, inside: np.ndarray) -> FineColumn:
        """A column with the bins of the quantizer."""
        last = to_keys(np.minimum(edges, _MAX_FLOAT))
        first = np.append(to_keys(np.array([-_MAX_FLOAT])), last[:-1] + 1)
        return cls(edges, sums, inside, np.arange(len(edges)), first, last)

    def request(
        self, node: int, feature: int, is_wanted: np.ndarray, n_bins: int, n_columns: int
    ) -> PartRequest:
        """The parts of some bins; so few that the sums of `n_columns` do not take too much space.

        The number of parts decides about passes, but not about the best threshold.
        """
        wanted = is_wanted.nonzero()[0]
        first, last = self.first[wanted], self.last[wanted]
        size = last.view(np.uint64) - first.view(np.uint64)
        n_numbers = n_columns * (self.sums.shape[1] + 3)
        n_parts = min(N_PARTS, max(_MIN_PARTS, _MAX_BYTES // (8 * n_numbers)))
        n_parts = max(2, n_parts // len(wanted))
        step = size // np.uint64(n_parts) + np.uint64(1)
        start = np.append(0, (size // step).view(np.int64) + 1).cumsum()
        bins = np.zeros(n_bins, dtype=bool)
        bins[self.bin[wanted]] = True
        return PartRequest(node, feature, bins, first, last, step, start)

    def divided(self, is_wanted: np.ndarray, request: PartRequest, found: PartSums) -> FineColumn:
        """The column with the parts that hold rows in place of the wanted bins."""
        wanted, ends = is_wanted.nonzero()[0], found.parts.searchsorted(request.start)
        columns = [FineColumn(*(array[~is_wanted] for array in self))]
        for number, part in zip(wanted.tolist(), map(slice, ends, ends[1:])):
            columns.append(self._parts_of(number, found, part))
        merged = FineColumn(*map(np.concatenate, zip(*columns)))
        order = merged.edges.argsort(kind="stable")
        return FineColumn(*(array[order] for array in merged))

    def _parts_of(self, number: int, found: PartSums, part: slice) -> FineColumn:
        """The parts of a bin that hold rows."""
        lowest, highest, sums = found.lowest[part], found.highest[part], found.sums[part]
        first, last, inside = to_keys(lowest), to_keys(highest), lowest < highest
        edges, upper = highest, self.edges[number]
        if not len(edges) or edges[-1] < upper:
            # The upper edge stays: a center may lie there.
            edges, inside = np.append(edges, upper), np.append(inside, False)
            key = self.last[number]
            first, last = np.append(first, key), np.append(last, key)
            sums = np.concatenate([sums, np.zeros_like(self.sums[:1])])
        return FineColumn(edges, sums, inside, np.full(len(edges), self.bin[number]), first, last)
