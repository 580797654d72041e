"""A sample of different rows of least hash of their values: the order and batches do not matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.batches.batch import Batch, RawBatch
from pellucid._core.batches.partitions import BatchProblem, Task
from pellucid._utils.arrays import mixed
from pellucid.scale.references import Checked, as_labels, require_domain

_RESERVE = 1.3  # factor of the rows that are looked at, so that there are enough of them


class RowSample(NamedTuple):
    """Different rows by hash; labels are own centers, `weight` is that of one of the `copies`."""

    X: np.ndarray
    labels: np.ndarray
    weight: np.ndarray
    copies: np.ndarray

    @property
    def n_rows(self) -> int:
        return len(self.copies)

    @property
    def columns(self) -> list[np.ndarray]:
        """What distinguishes rows."""
        return [*self.X.T, self.weight, self.labels.astype(np.float64)]

    def hashes(self) -> np.ndarray:
        found = np.zeros(len(self.copies), dtype=np.uint64)
        for column in self.columns:
            # -0.0 and 0.0 are the same number.
            found = mixed(found ^ (column + 0.0).view(np.uint64))
        return found

    def smallest(self, n: int, highest: int) -> RowSample:
        """The n different rows of least hash, of those with a hash of at most `highest`."""
        hashes = self.hashes()
        kept = (hashes <= np.uint64(highest)).nonzero()[0]
        hashes, rows = hashes[kept], self._take(kept)
        # The last key decides first; values decide between rows of equal hash.
        rows = rows._take(np.lexsort((*rows.columns, hashes)))
        is_first = np.ones(rows.n_rows, dtype=bool)
        is_first[1:] = np.any([column[1:] != column[:-1] for column in rows.columns], axis=0)
        first = is_first.nonzero()[0]
        copies = np.add.reduceat(rows.copies, first) if len(first) else rows.copies
        return rows._take(first)._replace(copies=copies)._take(slice(n))

    def _take(self, rows: Any) -> RowSample:
        return RowSample(*(array[rows] for array in self))


@dataclass(frozen=True)
class ValueSampleTask(Task):
    """The different rows of least hash; larger ones than `highest` are not looked at."""

    n_rows: int
    highest: int

    def __call__(self, batch: Batch) -> RowSample:
        X = np.array(batch.X, dtype=np.float64, order="F")
        weight = np.array(batch.weights.values, dtype=np.float64)
        copies = np.ones(len(X), dtype=np.int64)
        rows = RowSample(X, batch.labels.astype(np.int64), weight, copies)
        return rows.smallest(self.n_rows, self.highest)

    def merge(self, first: RowSample, second: RowSample) -> RowSample:
        both = RowSample(*(np.concatenate(pair) for pair in zip(first, second)))
        return both.smallest(self.n_rows, self.highest)


def value_sample(problem: BatchProblem, n_rows: int, n_total: int) -> RowSample:
    """The n different rows of least hash of a problem with `n_total` rows."""
    last = 2**64 - 1
    share = _RESERVE * n_rows / n_total
    highest = last if share >= 1 else int(share * 2**64)
    sample = problem.map(ValueSampleTask(n_rows, highest))
    if sample.n_rows < n_rows and highest < last:  # many rows have copies
        sample = problem.map(ValueSampleTask(n_rows, last))
    return sample


class GatheredRows(NamedTuple):
    """All rows of a scan, or None for too many, by partition: values, weights and labels."""

    n_rows: int
    parts: list[Any] | None

    def arrays(self) -> list[np.ndarray | None]:
        """Values, weights and labels, in the order of the partitions."""
        parts = sorted(self.parts or [], key=lambda part: part[0])
        columns = list(zip(*parts))[1:]
        return [None if values[0] is None else np.concatenate(values) for values in columns]


@dataclass(frozen=True)
class GatherTask(Task):
    """All rows, unless they are more than a limit."""

    limit: int
    columns: tuple[str, ...]
    labels: str | None

    def __call__(self, raw: RawBatch) -> GatheredRows:
        Checked(require_domain, self.columns)(raw)
        n, place = len(raw.X), raw.origin.removeprefix("partition ")
        labels = None if self.labels is None else as_labels(raw, self.labels)
        part = (int(place) if place.isdecimal() else 0, raw.X, raw.weight, labels)
        return GatheredRows(n, [part] if n <= self.limit else None)

    def merge(self, first: GatheredRows, second: GatheredRows) -> GatheredRows:
        n = first.n_rows + second.n_rows
        if n > self.limit or first.parts is None or second.parts is None:
            return GatheredRows(n, None)
        return GatheredRows(n, [*first.parts, *second.parts])
