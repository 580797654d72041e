"""The search for boxes of one class each, in many projections at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pellucid.eop import tuning
from pellucid.eop.problem import RegionProblem
from pellucid.tree.predictor import column_values


class Figures(NamedTuple):
    """What a box contains of the rows among which it was searched; weights in units."""

    value: int
    n_ends: int
    total: int
    right: int  # rows of its class
    held: int  # rows that are classified correctly without it


@dataclass(frozen=True, eq=False)
class RankBox:
    """A box in dense ranks, lower ≤ rank ≤ upper, and the class that it predicts."""

    columns: np.ndarray  # positions of its columns in `ClassBoxSearch`
    answer: int
    lower: np.ndarray
    upper: np.ndarray
    figures: Figures
    max_error: float = tuning.MAX_RELAXED  # ε with which it was found


class Stakes(NamedTuple):
    """What each of some rows contributes to the value of a box; see `box_kernels`."""

    rows: np.ndarray
    own: np.ndarray
    cost: np.ndarray
    held: np.ndarray
    facet: int


@dataclass(eq=False)
class ClassBoxSearch:
    """Search for the boxes of the largest values in many projections of some rows of a problem."""

    problem: RegionProblem
    rows: np.ndarray
    subsets: list[np.ndarray]  # columns of the problem, which become positions in `features`

    def __post_init__(self) -> None:
        features = np.unique(np.concatenate([subset.ravel() for subset in self.subsets]))
        self.features: np.ndarray = features
        self.subsets = [np.searchsorted(features, subset) for subset in self.subsets]
        self.everything: list[np.ndarray] = [np.arange(len(subset)) for subset in self.subsets]
        self.y: np.ndarray = self.problem.y[self.rows]
        self.units: np.ndarray = self.problem.units[self.rows]
        self.total: int = int(self.units.sum())
        self.ranks: np.ndarray = np.empty((len(features), len(self.rows)), dtype=np.int32)
        self.sizes: np.ndarray = np.empty(len(features), dtype=np.int64)

        def work(position: int) -> None:
            values = column_values(self.problem.X, features[position], self.rows)
            distinct, self.ranks[position] = np.unique(values, return_inverse=True)
            self.sizes[position] = len(distinct)

        self.problem.pool.map(work, range(len(features)))
        n_kept = max(16, tuning.KEPT_VALUES // max(len(self.rows), 1))
        # The rows that the last boxes contain are kept.
        self.inside: Callable[[RankBox], np.ndarray] = lru_cache(n_kept)(self._contained)

    def class_units(self, rows: np.ndarray) -> np.ndarray:
        """Weight of each class among some of the rows."""
        return self.problem.class_units(self.rows[rows])

    def _contained(self, box: RankBox) -> np.ndarray:
        ranks = self.ranks[box.columns]
        within = (ranks >= box.lower[:, None]) & (ranks <= box.upper[:, None])
        return within.all(axis=0)

    def net_support(self, left: np.ndarray, max_error: float, facet_units: float) -> Stakes:
        """Stakes with which the value of a box is its net support, times an integer for ε."""
        scale = 2 ** min(20, 60 - self.total.bit_length())
        gain = min(max(int(max_error * scale), 1), scale - 1)
        units = self.units[left]
        costs = (scale - gain) * units
        return Stakes(left, scale * units, costs, np.zeros_like(units), round(facet_units * gain))

    def best(
        self, stakes: Stakes, n_wanted: int, subsets: list[np.ndarray], only: int = -1
    ) -> tuple[list[RankBox], list[np.ndarray]]:
        """The best boxes in the given projections (indices by size), and the bounds of these."""
        from pellucid.eop.box_kernels import best_boxes, bin_ranks, positive_sums

        rows, own, cost, _, facet = stakes
        y, units, ranks = self.y[rows], self.units[rows], np.ascontiguousarray(self.ranks[:, rows])
        found, bounds, n_classes = [], [], self.problem.n_classes
        for projections, chosen in zip(self.subsets, subsets):
            dim, tried = projections.shape[1], projections[chosen]
            bound = np.empty((len(tried), n_classes), dtype=np.int64)
            bounds.append(bound)
            if not len(tried):
                continue
            n_bins = tuning.GRID_BINS.get(dim, max(int(tuning.MAX_CELLS ** (1 / dim)), 2))
            codes = np.empty(ranks.shape, dtype=np.uint8)
            starts = np.empty((len(ranks), n_bins + 1), dtype=np.int64)
            is_used = np.zeros(len(ranks), dtype=bool)
            is_used[tried] = True
            bin_ranks(ranks, self.sizes, units, n_bins, is_used, codes, starts)
            positive_sums(codes, tried, y, own, cost, n_bins, n_classes, bound)
            n = min(n_wanted, bound.size)
            best = *np.zeros((3, n), dtype=np.int64), *np.empty((2, n, dim), dtype=np.int64)
            n = best_boxes(codes, starts, tried, bound, y, own, cost, facet, only, *best)
            _, place, answers, lower, upper = best
            found += self.improve(stakes, tried[place[:n]], answers[:n], lower[:n], upper[:n])
        return sorted(found, key=lambda box: -box.figures.value), bounds

    def improve(
        self, stakes: Stakes, columns: np.ndarray, answers: np.ndarray, *ends: np.ndarray
    ) -> list[RankBox]:
        """Boxes with optimal `ends`, found column by column from lower and upper ends of boxes."""
        from pellucid.eop.box_kernels import improve_boxes

        used, position = np.unique(columns, return_inverse=True)
        figures = np.empty((len(columns), len(Figures._fields)), dtype=np.int64)
        rows, own, cost, held, facet = stakes
        ranks, sizes = self.ranks[used[:, None], rows], self.sizes[used]
        of_rows = self.y[rows], self.units[rows], own, cost, held
        boxes = position.reshape(columns.shape), answers, *ends, figures
        improve_boxes(ranks, sizes, *of_rows, facet, *boxes)
        of_boxes = map(Figures._make, figures.tolist())
        return [RankBox(*each) for each in zip(columns, answers.tolist(), *ends, of_boxes)]
