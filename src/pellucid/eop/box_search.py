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
    right: int
    """Rows of its class."""
    held: int
    """Rows that are classified correctly without it."""


@dataclass(frozen=True, eq=False)
class RankBox:
    """A box in dense ranks, lower ≤ rank ≤ upper, and the class that it predicts."""

    columns: np.ndarray
    """Positions of its columns in `ProjectionRanks`."""
    answer: int
    lower: np.ndarray
    upper: np.ndarray
    figures: Figures
    max_error: float = tuning.MAX_RELAXED
    """ε with which it was found."""


class ProjectionRanks:
    """Rows of a problem, as dense ranks of their values in each column of some projections."""

    problem: RegionProblem
    rows: np.ndarray
    features: np.ndarray
    subsets: list[np.ndarray]
    y: np.ndarray
    units: np.ndarray
    n_classes: int
    total: int
    inside: Callable[..., np.ndarray]

    def __init__(self, problem: RegionProblem, rows: np.ndarray, subsets: list[np.ndarray]) -> None:
        self.problem, self.rows = problem, rows
        self.features = np.unique(np.concatenate([subset.ravel() for subset in subsets]))
        self.subsets = [np.searchsorted(self.features, subset) for subset in subsets]
        self.y, self.units = problem.y[rows], problem.units[rows]
        self.n_classes, self.total = problem.n_classes, int(self.units.sum())
        self.ranks: np.ndarray = np.empty((len(self.features), len(rows)), dtype=np.int32)
        self.sizes: np.ndarray = np.empty(len(self.features), dtype=np.int64)

        def work(position: int) -> None:
            values = column_values(problem.X, self.features[position], rows)
            distinct, self.ranks[position] = np.unique(values, return_inverse=True)
            self.sizes[position] = len(distinct)

        problem.pool.map(work, range(len(self.features)))
        self.inside = lru_cache(max(16, tuning.KEPT_VALUES // max(len(rows), 1)))(self._contained)
        """Which rows a box contains; the results for the last boxes are kept."""

    def class_units(self, rows: np.ndarray) -> np.ndarray:
        """Weight of each class among some of the rows."""
        totals = np.zeros(self.n_classes, dtype=np.int64)
        np.add.at(totals, self.y[rows], self.units[rows])
        return totals

    def columns_of(self, box: RankBox) -> tuple[int, ...]:
        """Column indices of a box."""
        return tuple(self.features[box.columns].tolist())

    def _contained(self, box: RankBox) -> np.ndarray:
        """Which rows a box contains."""
        ranks = self.ranks[box.columns]
        within = (ranks >= box.lower[:, None]) & (ranks <= box.upper[:, None])
        return within.all(axis=0)


class Stakes(NamedTuple):
    """What each of some rows contributes to the value of a box; see `box_kernels`."""

    rows: np.ndarray
    own: np.ndarray
    cost: np.ndarray
    held: np.ndarray
    facet: int


class ClassBoxSearch:
    """Search for the boxes of the largest values in many projections."""

    def __init__(self, data: ProjectionRanks) -> None:
        self.data = data
        self._n_bins = [_n_bins(subset.shape[1]) for subset in data.subsets]

    def best(
        self, stakes: Stakes, n_wanted: int, subsets: list[np.ndarray], only: int = -1
    ) -> tuple[list[RankBox], list[np.ndarray]]:
        """The best boxes in the given projections (indices by size), and the bounds of these.

        With `only` ≥ 0, boxes are of this class. The ends are optimized over all values.
        """
        from pellucid.eop.box_kernels import best_boxes, bin_ranks, positive_sums

        data, rows = self.data, stakes.rows
        ranks = np.ascontiguousarray(data.ranks[:, rows])
        y, units, found, bounds = data.y[rows], data.units[rows], [], []
        for projections, chosen, n_bins in zip(data.subsets, subsets, self._n_bins):
            dim, tried = projections.shape[1], projections[chosen]
            bound = np.empty((len(tried), data.n_classes), dtype=np.int64)
            bounds.append(bound)
            if not len(tried):
                continue
            codes = np.empty(ranks.shape, dtype=np.uint8)
            starts = np.empty((len(ranks), n_bins + 1), dtype=np.int64)
            is_used = np.zeros(len(ranks), dtype=bool)
            is_used[tried] = True
            bin_ranks(ranks, data.sizes, units, n_bins, is_used, codes, starts)
            positive_sums(codes, tried, y, stakes.own, stakes.cost, n_bins, data.n_classes, bound)
            n = min(n_wanted, bound.size)
            values, place, answers = np.zeros((3, n), dtype=np.int64)
            lower, upper = np.empty((2, n, dim), dtype=np.int64)
            n = best_boxes(
                codes=codes,
                starts=starts,
                subsets=tried,
                bound=bound,
                y=y,
                own=stakes.own,
                cost=stakes.cost,
                facet=stakes.facet,
                only=only,
                values=values,
                chosen=place,
                answers=answers,
                lower=lower,
                upper=upper,
            )
            boxes = tried[place[:n]], answers[:n], lower[:n], upper[:n]
            found += self.improve(stakes, *boxes, ranks) if n else []
        return sorted(found, key=lambda box: -box.figures.value), bounds

    def improve(
        self,
        stakes: Stakes,
        columns: np.ndarray,
        answers: np.ndarray,
        lower: np.ndarray,
        upper: np.ndarray,
        ranks: np.ndarray | None = None,
    ) -> list[RankBox]:
        """Boxes with optimal ends, found column by column from those of some boxes."""
        from pellucid.eop.box_kernels import improve_boxes

        data, rows = self.data, stakes.rows
        if ranks is None:
            columns_used, columns_in = np.unique(columns, return_inverse=True)
            columns_in = columns_in.reshape(columns.shape)
            ranks, sizes = data.ranks[columns_used][:, rows], data.sizes[columns_used]
        else:
            columns_in, sizes = columns, data.sizes
        figures = np.empty((len(columns), len(Figures._fields)), dtype=np.int64)
        improve_boxes(
            ranks=ranks,
            sizes=sizes,
            y=data.y[rows],
            units=data.units[rows],
            own=stakes.own,
            cost=stakes.cost,
            held=stakes.held,
            facet=stakes.facet,
            columns=columns_in,
            answers=answers,
            lower=lower,
            upper=upper,
            figures=figures,
        )
        of_boxes = map(Figures._make, figures.tolist())
        return [RankBox(*each) for each in zip(columns, answers.tolist(), lower, upper, of_boxes)]


def _n_bins(dim: int) -> int:
    return tuning.GRID_BINS.get(dim, max(int(tuning.MAX_CELLS ** (1 / dim)), 2))


def class_stakes(
    data: ProjectionRanks, left: np.ndarray, max_error: float, facet_units: float
) -> Stakes:
    """Stakes with which the value of a box is its net support, times an integer for ε."""
    scale = 2 ** min(20, 60 - data.total.bit_length())
    gain = min(max(int(max_error * scale), 1), scale - 1)
    units = data.units[left]
    held = np.zeros_like(units)
    return Stakes(left, scale * units, (scale - gain) * units, held, round(facet_units * gain))
