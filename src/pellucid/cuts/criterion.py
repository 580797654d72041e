"""What a criterion is: the best cut of a cell, and what becomes of the cell's two sides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pellucid.cuts.problem import Problem


@dataclass(frozen=True)
class Cell:
    """The part of the data that reaches a node of a growing tree.

    Attributes
    ----------
    rows : ndarray of int
        Every row in the cell, in ascending order.
    active : ndarray of int
        The rows that count in the search for a cut.
    centers : ndarray of int
        The reference centers in the cell.
    cut_left, cut_right : frozenset of int
        Features of which a cut above sent this cell left (right).
    """

    rows: np.ndarray
    active: np.ndarray
    centers: np.ndarray
    cut_left: frozenset[int] = frozenset()
    cut_right: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Cut:
    """A cut of one cell: any threshold in [low, high) makes it.

    Attributes
    ----------
    objective : float
        What the criterion minimises.
    gain : float
        How much better off the cell is after the cut; the order of best-first growth.
    """

    feature: int
    low: float
    high: float
    objective: float
    gain: float


def best_of(cuts: Iterable[Cut | None]) -> Cut | None:
    """Smallest objective; among equals the lowest feature, then the lowest threshold."""
    found = [cut for cut in cuts if cut is not None]
    return min(found, key=lambda cut: (cut.objective, cut.feature, cut.low), default=None)


class Criterion(ABC):
    """How good is a cut? One subclass an answer; each works with every search.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def root(self) -> Cell:
        """The cell that holds everything."""
        rows = np.arange(self.problem.n_samples)
        return Cell(rows, rows, np.arange(self.problem.n_clusters))

    @abstractmethod
    def best_cut(self, cell: Cell) -> Cut | None:
        """The best cut of the cell, or None when it has none or needs none."""

    @abstractmethod
    def cluster(self, cell: Cell) -> int:
        """The cluster that the cell stands for as a leaf."""

    def divide(self, cell: Cell, feature: int, threshold: float) -> tuple[Cell, Cell]:
        """The two sides of a cut."""
        problem = self.problem
        rows_left = problem.values(feature, cell.rows) <= threshold
        centers_left = problem.centers[cell.centers, feature] <= threshold
        left_rows, right_rows = cell.rows[rows_left], cell.rows[~rows_left]
        left_centers, right_centers = cell.centers[centers_left], cell.centers[~centers_left]
        return (
            Cell(
                left_rows,
                self.active_rows(cell, left_rows, left_centers),
                left_centers,
                cell.cut_left | {feature},
                cell.cut_right,
            ),
            Cell(
                right_rows,
                self.active_rows(cell, right_rows, right_centers),
                right_centers,
                cell.cut_left,
                cell.cut_right | {feature},
            ),
        )

    def active_rows(self, parent: Cell, rows: np.ndarray, centers: np.ndarray) -> np.ndarray:
        """Rows of one side of a cut that still count there; all of them by default."""
        return rows


class CenterCutCriterion(Criterion):
    """A criterion whose cuts separate reference centers; a cell with one center is finished."""

    def best_cut(self, cell: Cell) -> Cut | None:
        """Best valid cut over all columns."""
        if len(cell.centers) < 2:
            return None
        coordinates = self.problem.centers[cell.centers]
        spread = np.flatnonzero(coordinates.max(axis=0) > coordinates.min(axis=0))
        return self.best_center_cut(cell, spread.tolist())

    @abstractmethod
    def best_center_cut(self, cell: Cell, features: list[int]) -> Cut | None:
        """Best cut over the columns in which the cell's centers differ."""

    def cluster(self, cell: Cell) -> int:
        """The cell's own center; of several that no cut can separate, the one with most rows."""
        problem = self.problem
        mine = np.bincount(
            problem.labels[cell.active],
            weights=problem.weights.values[cell.active],
            minlength=problem.n_clusters,
        )[cell.centers]
        return int(cell.centers[np.argmax(mine)])
