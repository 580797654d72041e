"""Normalised cut of the label graph (SpEx)."""

from __future__ import annotations

import numpy as np

from pellucid._core.criteria.sums import ColumnScan, SumFormula


class NormalizedCut(SumFormula):
    """Least sum of the cut ratios of the two sides.

    In the label graph, every two rows of one cluster are joined. With N_c the weight of cluster c
    in all of the data and S_c that on one side, the cut ratio of the side is

        sum over c of S_c (N_c - S_c) / sum over c of S_c (N_c - 1),

    cut over degree, and 0 for a side without joined rows. Weights that are not integers do not
    stand for copies of a row; the degree is then the sum of S_c N_c, as if each row were joined to
    itself, so that only the ratios of the weights matter.

    No split has a positive gain: a split can only raise the sum of the cut ratios of all leaves,
    and the best split raises it least. A node with rows of one cluster only is not split.
    """

    requires_gain = False

    def start(self, totals: np.ndarray, weights_are_integers: bool) -> None:
        """Store N, and whether a row is joined to itself."""
        self._whole = totals.astype(np.float64)
        self._self_weight = 1.0 if weights_are_integers else 0.0

    def cost(self, totals: np.ndarray) -> float:
        """Cut ratio of a node."""
        return float(self._ratios(totals[None])[0])

    def objective(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Sum of the cut ratios of both sides."""
        return self._ratios(left) + self._ratios(right)

    def _ratios(self, sums: np.ndarray) -> np.ndarray:
        cut = (sums * (self._whole - sums)).sum(axis=1)
        degree = (sums * (self._whole - self._self_weight)).sum(axis=1)
        return np.divide(cut, degree, out=np.zeros(len(sums)), where=degree > 0)

    def scan(self, sums: np.ndarray, inside: np.ndarray, totals: np.ndarray) -> ColumnScan:
        """Judge all bins of some columns by a compiled loop, with bounds inside the bins."""
        from pellucid._core.kernels.normalized_cut import (
            LabelGraph,
            NormalizedCutWorkspace,
            scan_columns,
        )

        n_columns, n_bins, k = sums.shape
        found = ColumnScan(
            np.empty(n_columns), np.empty(n_columns, dtype=np.intp), np.empty((n_columns, n_bins))
        )
        graph = LabelGraph(totals, self._whole, self._self_weight)
        workspace = NormalizedCutWorkspace(
            np.empty(k), np.empty(k), np.empty(n_bins), np.empty((n_bins + 1, 4))
        )
        scan_columns(sums, inside, graph, found.bounds, found.best, found.edge, workspace)
        return found
