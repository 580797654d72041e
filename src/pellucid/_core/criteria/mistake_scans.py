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
from pellucid._core.data.binning import Bins

_CHUNK = 2**16
"""Numbers of a histogram that are counted and scanned together: few enough to stay in cache."""

_FIRST = np.zeros(1, dtype=np.intp)


class CenterCodes(NamedTuple):
    """Where the centers of a node lie in the columns.

    Attributes
    ----------
    by_center, ascending : ndarray of shape (n_features, n_centers)
        Codes of the centers by column: in the order of the centers, and sorted.
    """

    by_center: np.ndarray
    ascending: np.ndarray

    def of_column(self, feature: int) -> CenterCodes:
        """The same for a single column."""
        return CenterCodes(*(codes[feature : feature + 1] for codes in self))


class StoredHistogram:
    """A histogram of all columns.

    Parameters
    ----------
    histogram : ndarray of shape (n_features, n_centers, n_bins), int64
        Weight by column, center and bin.
    """

    def __init__(self, histogram: np.ndarray) -> None:
        self.histogram, self.totals = histogram, histogram[0].sum(axis=1)
        self.cost_per_column = histogram.shape[1] * histogram.shape[2]

    def chunks(self, features: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
        """Parts of the features; for each, its columns' places in a histogram, and that."""
        yield features, features, self.histogram

    def column(self, feature: int) -> np.ndarray:
        """Histogram of one column, of shape (1, n_centers, n_bins)."""
        return self.histogram[feature : feature + 1]


class RowHistogram:
    """Histograms that are counted from rows, some columns at a time.

    Parameters
    ----------
    problem : Problem
    rows : ndarray of int32
    group : ndarray
        Center of each row, as a place among the centers of the node.
    weights : ndarray of int64
        Weight of each row.
    totals : ndarray of shape (n_centers,), int64
        Weight of all rows of each center.
    last : ndarray of shape (n_features,)
        The last bin of each column that matters; those above may be pooled.
    """

    def __init__(self, problem: Problem, rows, group, weights, totals, last) -> None:
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


class MistakeScan:
    """Weight of the rows that thresholds separate from their own centers.

    Parameters
    ----------
    bins : Bins
    histogram : StoredHistogram or RowHistogram
    codes : CenterCodes
    """

    def __init__(
        self, bins: Bins, histogram: StoredHistogram | RowHistogram, codes: CenterCodes
    ) -> None:
        self.bins, self.histogram, self.codes = bins, histogram, codes
        self.cost_per_column = histogram.cost_per_column

    def __call__(self, features: np.ndarray, found: np.ndarray) -> None:
        """Scan some columns."""
        for few, places, histogram in self.histogram.chunks(features):
            self._scan(few, places, histogram, self.codes, self.bins.inside, -np.inf, found)

    def column(self, feature: int, limit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Result of one column; amounts at its edges; bins with a bound of at most `limit`."""
        codes, inside = self.codes.of_column(feature), self.bins.inside[feature : feature + 1]
        found = np.empty((1, codes.ascending.shape[1] - 1, 3))
        histogram = self.histogram.column(feature)
        amount, bins = self._scan(_FIRST, _FIRST, histogram, codes, inside, limit, found)
        return found[0], amount, bins

    def _scan(self, features, places, histogram, codes, inside, limit, found):
        from pellucid._core.kernels.mistakes import scan_mistakes

        amount, decrease = np.empty((2, inside.shape[1]), dtype=np.int64)
        candidates = np.zeros(inside.shape[1], dtype=bool)
        scan_mistakes(
            features=features,
            places=places,
            histogram=histogram,
            totals=self.histogram.totals,
            center_code=codes.by_center,
            sorted_code=codes.ascending,
            inside=inside,
            limit=limit,
            amount=amount,
            decrease=decrease,
            found=found,
            candidates=candidates,
        )
        return amount, candidates


class RowMistakeScan:
    """The same from the rows, for nodes with fewer rows than a histogram has cells.

    Parameters
    ----------
    problem : Problem
    rows : ndarray of int32
        Rows of the node, grouped by center.
    ends : ndarray of shape (n_centers + 1,)
        The rows of the c-th center are ``rows[ends[c]:ends[c + 1]]``.
    codes : CenterCodes
    """

    def __init__(self, problem: Problem, rows, ends: np.ndarray, codes: CenterCodes) -> None:
        self.bins, self.codes, self.cost_per_column = problem.bins, codes, len(rows)
        weights = problem.weights.units_of(rows)
        if problem.bins.is_sparse:
            group = np.full(problem.n_samples, -1, dtype=np.int32)
            group[rows] = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
            by_row = np.zeros(problem.n_samples, dtype=np.int64)
            by_row[rows] = weights
            totals = np.diff(np.append(0, weights.cumsum())[ends])
            self._rows: tuple[np.ndarray, ...] = group, by_row, totals
        else:
            self._rows = rows, ends, weights

    def __call__(self, features: np.ndarray, found: np.ndarray) -> None:
        """Scan some columns."""
        self._scan(features, -np.inf, found)

    def column(self, feature: int, limit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Result of one column; amounts at its edges; bins with a bound of at most `limit`."""
        n_features, n_centers = self.codes.ascending.shape
        found = np.empty((n_features, n_centers - 1, 3))
        amount, candidates = self._scan(np.array([feature]), limit, found)
        return found[feature], amount, candidates

    def _scan(self, features, limit, found):
        from pellucid._core.kernels.mistakes import scan_csc_rows, scan_dense_rows

        bins, n_bins = self.bins, self.bins.inside.shape[1]
        amount, decrease = np.empty((2, n_bins), dtype=np.int64)
        candidates = np.zeros(n_bins, dtype=bool)
        rest = (*self.codes, bins.inside, limit, amount, decrease, found, candidates)
        if bins.is_sparse:
            entries = bins.codes[0], bins.indices, bins.indptr, bins.zero_code
            scan_csc_rows(features, *entries, *self._rows, *rest)
        else:
            scan_dense_rows(features, bins.codes, *self._rows, *rest)
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

    def judge(self, features, sorted_code, sums: EdgeSums, inside, limit: float, found):
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

    def judge_column(self, feature: int, sorted_code, sums: EdgeSums, inside, limit: float):
        """The best edge and a bound for each gap of one column; bins that could reach a limit."""
        found = np.empty((1, len(sorted_code) - 1, 3))
        killers = {
            "killer_left": self.killer_left[feature : feature + 1],
            "killer_right": self.killer_right[feature : feature + 1],
        }
        column = EdgeSums(*(line[None] for line in sums))
        candidates = self._replace(**killers).judge(
            _FIRST, sorted_code[None], column, inside[None], limit, found
        )
        return found[0], candidates


class LabeledRows(NamedTuple):
    """Rows of a node, each with a center and what separating it from that center costs at least.

    Attributes
    ----------
    rows : ndarray of int32
    center : ndarray
        Center of each row, as a place among the centers of the node.
    weight, margin : ndarray of int64
        Weight of each row, and its cost if it is separated, at least.
    sums : ndarray of shape (n_centers, 2), int64
        Weight and margin of all rows of each center.
    base : int
        Amount if no row is separated.
    """

    rows: np.ndarray
    center: np.ndarray
    weight: np.ndarray
    margin: np.ndarray
    sums: np.ndarray
    base: int


class SeparationScan:
    """Lower bounds for an objective whose amount is at least the margins of separated rows.

    Parameters
    ----------
    problem : Problem
    labeled : LabeledRows
    codes : CenterCodes
    terms : ObjectiveTerms
    """

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
