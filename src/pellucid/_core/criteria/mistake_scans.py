"""Scans over columns for the rows that thresholds separate from their own centers.

A scan is called with some columns and fills ``found[j, g]`` for each column j and each gap g
between neighbouring centers: the least objective over the edges of the gap, the lowest edge that
has it, and a lower bound for all thresholds strictly inside bins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.problem import Problem

_CHUNK = 2**16
"""Numbers of a histogram that are counted and scanned together: few enough to stay in cache."""

_FIRST = np.zeros(1, dtype=np.intp)


class CenterCodes(NamedTuple):
    """Where the centers of a node lie in the columns, (n_features, n_centers).

    Codes in the order of the centers, and ascending.
    """

    by_center: np.ndarray
    ascending: np.ndarray


class RowHistogram:
    """Histograms that are counted from rows, some columns at a time.

    `group` is the center of each row, as a place among the centers of the node; `totals` is the
    weight of all rows of each center. ``last[j]`` is the last bin of column j that matters; those
    above may be pooled.
    """

    def __init__(
        self,
        problem: Problem,
        rows: np.ndarray,
        group: np.ndarray,
        weights: np.ndarray,
        totals: np.ndarray,
        last: np.ndarray,
    ) -> None:
        self.problem, self.totals, self._last = problem, totals, last
        self._rows, self._group, self._weights = rows, group, weights
        self.cost_per_column = len(rows)
        if problem.bins.is_sparse:
            self._n_bins, width = int(last.max()) + 2, int(last.mean()) + 2
            self._group = np.full(problem.n_samples, -1, dtype=np.int32)
            self._weights = np.zeros(problem.n_samples, dtype=np.int64)
            self._group[rows], self._weights[rows] = group, weights
        else:
            self._n_bins = width = problem.bins.edges.shape[1]
        self._step = max(1, _CHUNK // (len(totals) * width))

    def chunks(self, features: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
        """Parts of the features; for each, its columns' places in a histogram, and that."""
        for start in range(0, len(features), self._step):
            few = features[start : start + self._step]
            yield few, np.arange(len(few)), self.count(few)

    def column(self, feature: int) -> np.ndarray:
        """Histogram of one column, of shape (1, n_centers, n_bins)."""
        return self.count(np.array([feature]))

    def count(self, features: np.ndarray) -> np.ndarray:
        """Histogram of some columns, of shape (len(features), n_centers, n_bins)."""
        from pellucid._core.kernels.mistakes import hist_csc, hist_dense

        bins, shape = self.problem.bins, (len(features), len(self.totals), self._n_bins)
        if not bins.is_sparse:
            out = np.zeros(shape, dtype=np.int64)
            hist_dense(features, bins.codes, self._rows, self._group, self._weights, out)
            return out
        out = np.empty(shape, dtype=np.int64)
        hist_csc(
            features=features,
            codes=bins.codes[0],
            indices=bins.indices,
            indptr=bins.indptr,
            zero_code=bins.zero_code,
            group=self._group,
            weights=self._weights,
            totals=self.totals,
            last=self._last,
            out=out,
        )
        return out


class StoredSums:
    """Sums of all columns, (n_features, n_bins, 2); see `pellucid._core.kernels.mistakes`."""

    def __init__(self, sums: np.ndarray) -> None:
        self.sums, self.cost_per_column = sums, 2 * sums.shape[1]

    @classmethod
    def of_histogram(cls, histogram: np.ndarray, center_code: np.ndarray) -> StoredSums:
        """From the weights by column, center and bin, and the codes of the centers by column."""
        n_features, _, n_bins = histogram.shape
        sums = np.empty((n_features, n_bins, 2), dtype=np.int64)
        for weight, codes, out in zip(histogram, center_code, sums):
            past = np.where(np.arange(n_bins) > codes[:, None], weight, 0)
            out[:, 1] = past.sum(axis=0)
            out[:, 0] = weight.sum(axis=0) - out[:, 1]
            np.add.at(out[:, 0], codes, 2 * past.sum(axis=1) - weight.sum(axis=1))
        return cls(sums)

    def chunks(self, features: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
        """Parts of the features; for each, its columns' places in an array of sums, and that."""
        yield features, features, self.sums


class EntrySums:
    """Sums of CSC columns, computed some columns at a time.

    The rows are grouped by center: those of the c-th center are ``rows[ends[c]:ends[c + 1]]``.
    """

    def __init__(
        self, problem: Problem, rows: np.ndarray, ends: np.ndarray, codes: CenterCodes
    ) -> None:
        self.bins, self.codes, self.cost_per_column = problem.bins, codes, len(rows)
        weights, n_samples = problem.weights.units_of(rows), problem.n_samples
        self._totals = np.diff(np.append(0, weights.cumsum())[ends])
        self._group = np.full(n_samples, -1, dtype=np.int32)
        self._group[rows] = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        self._weights = np.zeros(n_samples, dtype=np.int64)
        self._weights[rows] = weights

    def chunks(self, features: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
        """Parts of the features; for each, its columns' places in an array of sums, and that."""
        from pellucid._core.kernels.mistakes import add_csc_mistakes

        bins, n_bins = self.bins, self.bins.edges.shape[1]
        step = max(1, _CHUNK // (2 * n_bins))
        for start in range(0, len(features), step):
            few = features[start : start + step]
            sums = np.zeros((len(few), n_bins, 2), dtype=np.int64)
            add_csc_mistakes(
                features=few,
                codes=bins.codes[0],
                indices=bins.indices,
                indptr=bins.indptr,
                zero_code=bins.zero_code,
                group=self._group,
                weights=self._weights,
                totals=self._totals,
                center_code=self.codes.by_center,
                sums=sums,
            )
            yield few, np.arange(len(few)), sums


class MistakeScan:
    """Weight of the rows that thresholds separate from their own centers; `inside`: see `Bins`."""

    def __init__(
        self, inside: np.ndarray, sums: StoredSums | EntrySums, sorted_code: np.ndarray
    ) -> None:
        self.inside, self.sums, self.sorted_code = inside, sums, sorted_code
        self.cost_per_column = sums.cost_per_column

    def __call__(self, features: np.ndarray, found: np.ndarray) -> None:
        """Scan some columns."""
        self._scan(features, -np.inf, found)

    def column(self, feature: int, limit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Result of one column; amounts at its edges; bins with a bound of at most `limit`."""
        n_features, n_centers = self.sorted_code.shape
        found = np.empty((n_features, n_centers - 1, 3))
        amount, candidates = self._scan(np.array([feature]), limit, found)
        return found[feature], amount, candidates

    def _scan(
        self, features: np.ndarray, limit: float, found: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        from pellucid._core.kernels.mistakes import scan_mistakes

        n_bins = self.inside.shape[1]
        amount, candidates = np.empty(n_bins, dtype=np.int64), np.zeros(n_bins, dtype=bool)
        for few, places, sums in self.sums.chunks(features):
            scan_mistakes(
                features=few,
                places=places,
                sums=sums,
                sorted_code=self.sorted_code,
                inside=self.inside,
                limit=limit,
                amount=amount,
                found=found,
                candidates=candidates,
            )
        return amount, candidates


class EdgeSums(NamedTuple):
    """Sums at the edges of columns; see `pellucid._core.kernels.mistakes`."""

    amount: np.ndarray
    decrease: np.ndarray
    weight_left: np.ndarray


class ObjectiveTerms(NamedTuple):
    """Terms of an objective; see `pellucid._core.kernels.mistakes`."""

    divisor: float
    penalty: float
    total: float
    min_weight: float
    killer_left: np.ndarray
    killer_right: np.ndarray

    def judge(
        self,
        features: np.ndarray,
        sorted_code: np.ndarray,
        sums: EdgeSums,
        inside: np.ndarray,
        limit: float,
        found: np.ndarray,
    ) -> np.ndarray:
        """Fill ``found[j, g]`` for some columns; returns the bins that could reach a limit."""
        from pellucid._core.kernels.mistakes import judge_edges

        candidates = np.zeros(inside.shape[1], dtype=bool)
        judge_edges(
            features=features,
            sorted_code=sorted_code,
            sums=sums,
            inside=inside,
            terms=self,
            limit=limit,
            depths=np.zeros(sorted_code.shape[1] + 1),
            found=found,
            candidates=candidates,
        )
        return candidates

    def judge_column(
        self,
        feature: int,
        sorted_code: np.ndarray,
        sums: EdgeSums,
        inside: np.ndarray,
        limit: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The best edge and a bound for each gap of one column; bins that could reach a limit."""
        found, one = np.empty((1, len(sorted_code) - 1, 3)), slice(feature, feature + 1)
        terms = self._replace(
            killer_left=self.killer_left[one], killer_right=self.killer_right[one]
        )
        column = EdgeSums(*(line[None] for line in sums))
        candidates = terms.judge(_FIRST, sorted_code[None], column, inside[None], limit, found)
        return found[0], candidates


class LabeledRows(NamedTuple):
    """Rows of a node, each with a center and what separating it from that center costs at least.

    `center` is a place among the centers of the node. `sums`, (n_centers, 2), are weight and margin
    of all rows of each center, and `base` is the amount if no row is separated.
    """

    rows: np.ndarray
    center: np.ndarray
    weight: np.ndarray
    margin: np.ndarray
    sums: np.ndarray
    base: int


class SeparationScan:
    """Lower bounds for an objective whose amount is at least the margins of separated rows."""

    def __init__(
        self, problem: Problem, labeled: LabeledRows, codes: CenterCodes, terms: ObjectiveTerms
    ) -> None:
        self.inside, self.base = problem.bins.inside, labeled.base
        self.codes, self.terms, last = codes, terms, codes.ascending[:, -1]
        self.weights, self.margins = (
            RowHistogram(problem, labeled.rows, labeled.center, values, totals, last)
            for values, totals in zip((labeled.weight, labeled.margin), labeled.sums.T.copy())
        )

    def __call__(self, features: np.ndarray, found: np.ndarray) -> None:
        """Scan some columns."""
        from pellucid._core.kernels.mistakes import separation_sums

        sorted_code = self.codes.ascending
        n_edges = int(sorted_code[:, -1].max()) + 2
        for few, _, weights in self.weights.chunks(features):
            amount, decrease, weight_left = np.zeros((3, len(few), n_edges), dtype=np.int64)
            amount.fill(self.base)
            separation_sums(
                features=few,
                weights=weights,
                margins=self.margins.count(few),
                totals=self.margins.totals,
                center_code=self.codes.by_center,
                sorted_code=sorted_code,
                amount=amount,
                decrease=decrease,
                weight_left=weight_left,
            )
            sums = EdgeSums(amount, decrease, weight_left)
            self.terms.judge(few, sorted_code, sums, self.inside, -np.inf, found)

    def weight_left(self, feature: int) -> np.ndarray:
        """Weight of the rows on the left of each edge of a column, up to the last center."""
        return self.weights.column(feature)[0].sum(axis=0).cumsum()
