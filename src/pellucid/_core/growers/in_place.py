"""Greedy growth by mistakes, cell after cell in the place of the one before (IMM).

What a search that goes back must keep, a greedy one can overwrite: a center takes its rows and its
counts with it into whatever cell it comes. The same tree as other searches by
`pellucid._core.criteria.mistakes` would find, with less to copy and to remember.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid._core.criteria.base import Cell
from pellucid._core.criteria.counted import CountedScan
from pellucid._core.criteria.mistakes import Mistakes
from pellucid._core.criteria.partition import OwnedRows
from pellucid._core.growers.growing_tree import Growth, set_counts
from pellucid._core.growers.scheduling import largest_first
from pellucid._utils.progress import Progress
from pellucid._utils.threads import WorkQueue
from pellucid.tree import TreeBuilder
from pellucid.tree.rounding import ThresholdStyle, choose_threshold

_LEAST_ROWS = 2**16
"""Rows of the second largest cell that are worth a thread of their own."""


@dataclass(frozen=True)
class _Part:
    """A cell: its centers, and the rows in it that are cut off from their own.

    Its counts are known once `counting` is finished.
    """

    centers: np.ndarray
    passive: np.ndarray
    counting: WorkQueue | None = None


@dataclass(frozen=True)
class _Split:
    """A cut, and the two sides of it."""

    feature: int
    low: float
    high: float
    sides: tuple[_Part, _Part]


def grow_in_place(
    criterion: Mistakes, threshold_style: ThresholdStyle, progress: Progress
) -> Growth:
    """Cut all leaves of a level, from left to right, then those of the next."""
    problem, ground = criterion.problem, _Ground(criterion)
    builder, parts = TreeBuilder(problem.n_features), {0: ground.whole}
    level, gains = [0], []
    while level:
        below: list[int] = []
        for number, split in zip(level, ground.cut_all([parts[number] for number in level])):
            if split is not None:
                threshold = choose_threshold(split.low, split.high, threshold_style)
                children = builder.split(number, feature=split.feature, threshold=threshold)
                del parts[number]
                parts.update(zip(children, split.sides))
                gains.append(0.0)
                below += children
                progress.step()
        level = below
        problem.measure_ahead()  # not before others have counted what the first cut leaves
    leaves = {number: ground.cell(part) for number, part in parts.items()}
    for number, cell in leaves.items():
        builder.set_cluster(number, criterion.cluster(cell))
    set_counts(builder, leaves, problem.weights)
    return Growth(builder, gains, leaves)


class _Ground:
    """The rows of all centers, which stay together, and their counts."""

    def __init__(self, criterion: Mistakes) -> None:
        self.problem, root = criterion.problem, criterion.root()
        self._counts, ends = criterion.counts(root), criterion.row_ends(root)
        self._owned = OwnedRows(root.active.copy(), ends[:-1], ends[1:].copy())
        self.whole = _Part(root.centers, root.passive)

    def cut_all(self, parts: list[_Part]) -> list[_Split | None]:
        """Cut some cells, side by side if there is enough to do."""
        if len(parts) > 1 and self.problem.n_samples >= 2 * _LEAST_ROWS:
            sizes = [self._owned.number_of(part.centers) for part in parts]
            if sorted(sizes)[-2] >= _LEAST_ROWS:
                return largest_first(self.problem.pool, self._cut, parts, sizes)
        return [self._cut(part) for part in parts]

    def cell(self, part: _Part) -> Cell:
        """What is in a cell."""
        return Cell(self._owned.of(part.centers), part.passive, part.centers)

    def _cut(self, part: _Part) -> _Split | None:
        """The best cut of a cell, which is made; the cell is no more."""
        problem, centers = self.problem, part.centers
        if len(centers) < 2:
            return None
        if part.counting is not None:
            part.counting.finish()
        best = self._best_cut(centers)
        if best is None:
            return None
        feature, at = best
        places = problem.centers[:, feature].copy()
        halves = self._owned.divide(problem, centers, part.passive, feature, at, places)
        is_left = places[centers] <= at
        sides = centers[is_left], centers[~is_left]
        # The left side comes next: others begin with the right one.
        right = _Part(sides[1], halves.passive[1], self._uncount(halves.cut_off[0], sides[1]))
        left = _Part(sides[0], halves.passive[0], self._uncount(halves.cut_off[1], sides[0]))
        return _Split(feature, halves.low, halves.high, (left, right))

    def _best_cut(self, centers: np.ndarray) -> tuple[int, float] | None:
        """Column and threshold with the fewest mistakes; of equals the lowest."""
        problem, bins, every = self.problem, self.problem.bins, np.arange(self.problem.n_features)
        codes = bins.center_code.take(centers, axis=1)
        position = np.empty((len(every), 2), dtype=codes.dtype)
        codes.min(axis=1, out=position[:, 0])
        codes.max(axis=1, out=position[:, 1])
        scan = CountedScan(bins, self._counts, centers, bins.center_code, position)
        found = np.empty((len(every), 1, 3))
        blocks = problem.feature_blocks(every, bins.edges.shape[1] * len(centers))
        problem.pool.map(lambda block: scan(block, found), blocks)
        fewest, bounds = found[:, 0, 0], found[:, 0, 2]
        feature = int(fewest.argmin())
        best = float(fewest[feature])
        if best == np.inf:
            return None
        at = float(bins.edges[feature, int(found[feature, 0, 1])])
        while True:
            # The column most likely to hold a better cut.
            j = int(bounds.argmin())
            if (bounds[j], j) > (best, feature):
                return feature, at
            bounds[j] = np.inf
            inside = self._look_into(scan, centers, j, best, np.sort(codes[j]))
            if inside < (best, feature, at):
                best, feature, at = inside

    def _look_into(self, scan: CountedScan, centers, feature: int, limit: float, position):
        """Fewest mistakes strictly inside the bins of a column, the column, and the threshold."""
        from pellucid._core.kernels.mistakes import sweep_weights

        _, amount, wanted = scan.look(feature, limit)
        opened = self._owned.look_into(self.problem, centers, feature, wanted)
        cuts = np.full((len(position) - 1, 2), np.inf)
        sweep_weights(*opened, position, self.problem.bins.edges[feature], amount, cuts)
        mistakes, at = min(map(tuple, cuts.tolist()))
        return mistakes, feature, at

    def _uncount(self, rows: np.ndarray, centers: np.ndarray) -> WorkQueue | None:
        """Begin to take rows out of the counts of the centers that they are cut off from."""
        from pellucid._core.kernels.mistakes import count_weights

        if len(centers) < 2:  # of a center that is alone nothing is asked any more
            return None
        problem = self.problem
        about = (rows, problem.labels.take(rows), -problem.weights.units_of(rows))
        return problem.pool.ahead(
            lambda block: count_weights(block, problem.bins.codes, *about, self._counts),
            problem.feature_blocks(np.arange(problem.n_features), len(rows)),
        )
