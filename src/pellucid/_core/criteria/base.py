"""What a criterion is: the best cut of a cell, and what becomes of the cell's two sides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from pellucid._core.criteria.column_search import Cut
from pellucid._core.criteria.partition import CutRows, cut_rows
from pellucid._core.criteria.problem import Problem


@dataclass(frozen=True)
class Cell:
    """The part of the data that reaches a node of a growing tree.

    Attributes
    ----------
    active : ndarray of int32
        The rows that count in the search for a cut.
    passive : ndarray of int32
        The other rows in the cell.
    centers : ndarray of int
        The reference centers in the cell.
    cut_left, cut_right : frozenset of int
        Features of which a cut above sent this cell left (right).
    memo : dict
        What a criterion wants to remember of the cell; of the leaf of a tree that is gone on from,
        `likely` is its cluster there.
    """

    active: np.ndarray
    passive: np.ndarray
    centers: np.ndarray
    cut_left: frozenset[int] = frozenset()
    cut_right: frozenset[int] = frozenset()
    memo: dict = field(default_factory=dict, compare=False)


class Criterion(ABC):
    """How good is a cut? One subclass an answer; each works with every search.

    Parameters
    ----------
    problem : Problem
    """

    in_any_order = False
    """Whether cells may be worked on side by side: no answer depends on what others left behind."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @property
    def one_thread_below(self) -> int:
        """Rows of a cell that has next to nothing to share out among threads."""
        return 0

    def root(self) -> Cell:
        """The cell that holds everything."""
        rows = np.arange(self.problem.n_samples, dtype=np.int32)
        return Cell(rows, rows[:0], np.arange(self.problem.n_clusters))

    @abstractmethod
    def best_cuts(self, cell: Cell, n: int = 1) -> list[Cut]:
        """The n best cuts of the cell, the best first; none where it has none or needs none.

        Smallest objective; among equals the lowest feature, then the lowest threshold. Of cuts
        that differ only in where the threshold lies between the same centers, only the best.
        """

    def best_cut(self, cell: Cell) -> Cut | None:
        """The best of them, or None."""
        cuts = self.best_cuts(cell)
        return cuts[0] if cuts else None

    def loss(self, cell: Cell, cut: Cut) -> float:
        """What a cut adds to the sum by which whole trees are compared; less is better."""
        return cut.objective

    def most_gain(self, cell: Cell) -> float | None:
        """A bound for the gain of the cell's best cut, or None when it surely needs none.

        Cells whose bound is small may never have to be searched.
        """
        return np.inf

    @abstractmethod
    def cluster(self, cell: Cell) -> int:
        """The cluster that the cell stands for as a leaf."""

    def interval(self, cell: Cell, cut: Cut) -> tuple[float, float]:
        """All thresholds that cut the cell alike: from the first up to, not including, the second.

        A criterion that makes rows passive says more: they must go one way or the other under every
        threshold too.
        """
        near, far = self._bounding_centers(cell, cut)
        known = self._cut_rows(cell, cut.feature, cut.at)
        return max([*near, known.low]), min([*far, known.high])

    def _cut_rows(self, cell: Cell, feature: int, at: float) -> CutRows:
        """The active rows, cut; the latest cut of a cell is remembered."""
        last, known = cell.memo.get("cut", (None, None))
        if last != feature or not known.low <= at < known.high:
            known = self.cut_rows(cell.active, feature, at)
            cell.memo["cut"] = feature, known
        return known

    def cut_rows(self, rows: np.ndarray, feature: int, at: float) -> CutRows:
        """Some rows, cut by a threshold."""
        return cut_rows(self.problem, rows, feature, at)

    def _bounding_centers(self, cell: Cell, cut: Cut) -> tuple[list[float], list[float]]:
        """Center coordinates that a threshold must keep on its left, and on its right."""
        return [], []

    def divide(self, cell: Cell, feature: int, threshold: float) -> tuple[Cell, Cell]:
        """The two sides of a cut."""
        centers_left = self.problem.centers[cell.centers, feature] <= threshold
        near, far = cell.centers[centers_left], cell.centers[~centers_left]
        known = self._cut_rows(cell, feature, threshold)
        memos, cuts, more = self.memos(cell, known), (cell.cut_left, cell.cut_right), {feature}
        none = cell.active[:0]
        return (
            Cell(known.left, none, near, cuts[0] | more, cuts[1], memos[0]),
            Cell(known.right, none, far, cuts[0], cuts[1] | more, memos[1]),
        )

    def memos(self, cell: Cell, cut: CutRows) -> tuple[dict, dict]:
        """What the two sides of a cut are to remember; nothing by default."""
        return {}, {}


class CenterCutCriterion(Criterion):
    """A criterion whose cuts separate reference centers; a cell with one center is finished."""

    def best_cuts(self, cell: Cell, n: int = 1) -> list[Cut]:
        """Best valid cuts over all columns, one for each pair of neighbouring centers."""
        if len(cell.centers) < 2:
            return []
        coordinates = self.problem.centers[cell.centers]
        spread = (coordinates != coordinates[0]).any(axis=0).nonzero()[0]
        return self.best_center_cuts(cell, spread, n) if len(spread) else []

    @abstractmethod
    def best_center_cuts(self, cell: Cell, features: np.ndarray, n: int) -> list[Cut]:
        """Best cuts over the columns in which the cell's centers differ."""

    def _places(self, cell: Cell) -> tuple[np.ndarray, np.ndarray]:
        """Codes of the cell's centers by feature, as they come and ascending."""
        center_code = self.problem.bins.center_code.take(cell.centers, axis=1)
        return center_code, np.sort(center_code, axis=1)

    def _bounding_centers(self, cell, cut):
        coordinates = self.problem.centers[cell.centers, cut.feature]
        left = coordinates <= cut.at
        return coordinates[left].tolist(), coordinates[~left].tolist()

    def cluster(self, cell: Cell) -> int:
        """The cell's own center; of several that no cut can separate, the one with most rows."""
        if len(cell.centers) == 1:
            return int(cell.centers[0])
        problem, active = self.problem, cell.active
        mine = np.bincount(
            problem.labels[active],
            weights=problem.weights.values[active],
            minlength=problem.n_clusters,
        )[cell.centers]
        return int(cell.centers[np.argmax(mine)])
