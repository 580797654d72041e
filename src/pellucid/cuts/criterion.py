"""What a criterion is: the best cut of a cell, and what becomes of the cell's two sides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from pellucid.cuts.problem import Problem
from pellucid.cuts.search import BinnedColumn, Cut
from pellucid.numeric.rows import divide_rows


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
        What a criterion wants to remember of the cell.
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

        Passive rows go one way or the other too, and must go it under every threshold: they
        bound the interval from above.
        """
        near, far = self._bounding_centers(cell, cut)
        column, passive = self._columns(cell, cut.feature)
        low, high = column.around(cut.at)
        low = max([*near, low])
        return low, min([*far, high, passive.around(low)[1]])

    def _columns(self, cell: Cell, feature: int) -> tuple[BinnedColumn, BinnedColumn]:
        """A column for the active and for the passive rows, read once for each cut."""
        if cell.memo.get("feature") != feature:
            cell.memo["feature"] = feature
            cell.memo["columns"] = (
                BinnedColumn(self.problem, feature, cell.active),
                BinnedColumn(self.problem, feature, cell.passive),
            )
        return cell.memo["columns"]

    def _bounding_centers(self, cell: Cell, cut: Cut) -> tuple[list[float], list[float]]:
        """Center coordinates that a threshold must keep on its left, and on its right."""
        return [], []

    def divide(self, cell: Cell, feature: int, threshold: float) -> tuple[Cell, Cell]:
        """The two sides of a cut."""
        centers_left = self.problem.centers[cell.centers, feature] <= threshold
        near, far = cell.centers[centers_left], cell.centers[~centers_left]
        column, passive = self._columns(cell, feature)
        left = column.at_most(threshold)
        active, dropped, memos = self.share_out(cell, left, near)
        if len(cell.passive):
            left = passive.at_most(threshold)
            dropped = (
                np.concatenate([dropped[0], cell.passive[left]]),
                np.concatenate([dropped[1], cell.passive[~left]]),
            )
        cuts, more = (cell.cut_left, cell.cut_right), {feature}
        return (
            Cell(active[0], dropped[0], near, cuts[0] | more, cuts[1], memos[0]),
            Cell(active[1], dropped[1], far, cuts[0], cuts[1] | more, memos[1]),
        )

    def share_out(self, cell: Cell, left: np.ndarray, centers_left: np.ndarray):
        """Who is where after a cut, as pairs for the left and the right side.

        Parameters
        ----------
        cell : Cell
        left : ndarray of bool
            Which of the active rows go left.
        centers_left : ndarray of int
            Centers that go left.

        Returns
        -------
        active, dropped : pairs of ndarray
            Active rows, and rows that become passive; none do by default.
        memos : pair of dict
            What the new cells are to remember.
        """
        nothing = cell.active[:0]
        return divide_rows(cell.active, left), (nothing, nothing), ({}, {})


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
