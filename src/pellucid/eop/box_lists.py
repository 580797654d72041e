"""Decision lists of boxes, each with one class: they are grown, pruned and optimized together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from pellucid.eop import tuning
from pellucid.eop.problem import RegionProblem, is_error_allowed
from pellucid.eop.pruning import FlatList
from pellucid.regions.levels import project
from pellucid.regions.shapes import Boxes
from pellucid.tree.predictor import column_values
from pellucid.tree.rounding import choose_threshold


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

    def __init__(self, problem: RegionProblem, rows: np.ndarray, subsets: list[np.ndarray]) -> None:
        self.problem, self.rows = problem, rows
        self.features = np.unique(np.concatenate([subset.ravel() for subset in subsets]))
        self.subsets = [np.searchsorted(self.features, subset) for subset in subsets]
        self.y, self.units = problem.y[rows], problem.units[rows]
        self.n_classes, self.total = problem.n_classes, int(self.units.sum())
        self.ranks = np.empty((len(self.features), len(rows)), dtype=np.int32)
        self.sizes = np.empty(len(self.features), dtype=np.int64)

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
            bin_ranks(ranks, data.sizes, units, n_bins, codes, starts)
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


class BoxList:
    """Grow a decision list of boxes, and simplify it with growing penalties η.

    The objective is the weight of the rows that the list classifies correctly, minus η times the
    weight of all rows per inequality. Rows in no box get the most frequent class of such rows if
    there is a default; otherwise they count as wrong. In a sweep each box in turn is replaced by
    the best one of some projections, given all others: a row that no earlier box contains gains
    its weight inside the box if the box corrects it, and loses its weight if it was classified
    correctly without the box. Rows that gain nothing count an eighth, positive if they are of the
    class of the box, so that its ends lie where its class ends.

    Without `is_optimized`, boxes are only removed. With it, a class with at least 2 % of the rows
    keeps a box unless the default is this class. A box needs the fraction (or number)
    `min_support` of the rows of its class that no earlier box contains. Its error is at most
    `purity_limit`, except that of the only box of a class.
    """

    def __init__(
        self,
        data: ProjectionRanks,
        *,
        n_candidates: int | None,
        min_support: float,
        purity_limit: float,
        has_default: bool,
        is_optimized: bool,
        should_stop: Callable[[], bool],
    ) -> None:
        self._is_optimized = is_optimized
        self.data, self._search = data, ClassBoxSearch(data)
        self._n_candidates = n_candidates or sum(map(len, data.subsets)) * data.n_classes
        self._min_support, self._purity_limit = min_support, purity_limit
        self._has_default, self._should_stop = has_default, should_stop
        self._all = [np.arange(len(subset)) for subset in data.subsets]
        self._used = [np.zeros(len(subset), dtype=bool) for subset in data.subsets]
        share = data.class_units(np.arange(len(data.y))) / data.total
        needed = np.flatnonzero(share >= tuning.MIN_SHARE)
        self._needed: list[int] = needed.tolist() if is_optimized else []

    # Growth

    def grow(
        self, max_error: float, penalty: float, relax: float, max_levels: int | None
    ) -> list[RankBox]:
        """Boxes of the largest net support C - (1 - ε) / ε · W - η · (inequalities) in turn.

        C and W are the weights of the rows of the class and of other rows inside. ε is relaxed
        while no net support is positive.
        """
        boxes: list[RankBox] = []
        left = np.arange(len(self.data.y))
        while len(left) and (max_levels is None or len(boxes) < max_levels):
            box = self._next_box(left, max_error, penalty, relax)
            if box is None or self._should_stop():
                break
            max_error = box.max_error
            boxes.append(box)
            left = left[~self.data.inside(box)[left]]
        return boxes

    def _next_box(
        self, left: np.ndarray, max_error: float, penalty: float, relax: float
    ) -> RankBox | None:
        units = self.data.class_units(left)
        for error in relaxed_errors(max_error, 1 - units.max() / units.sum(), relax):
            if self._should_stop():
                return None
            stakes = class_stakes(self.data, left, error, penalty * self.data.total)
            found, bounds = self._search.best(
                stakes, self._n_candidates, self._projections(len(left), error)
            )
            self._remember(len(left), error, bounds)
            for box in found:
                if box.figures.value > 0 and self._is_allowed(box, units, error):
                    return replace(box, max_error=error)
        return None

    _scanned: tuple[int, float, list[np.ndarray]] = (0, -1.0, [])

    def _projections(self, n_left: int, max_error: float) -> list[np.ndarray]:
        """All projections, or, if few rows were covered since all were tried, the best ones.

        The value of a projection changes little when few rows are removed.
        """
        n_rows, error, best = self._scanned
        is_recent = error == max_error and n_left >= tuning.RESCAN_AT * n_rows
        return best if is_recent else self._all

    def _remember(self, n_left: int, max_error: float, bounds: list[np.ndarray]) -> None:
        if len(bounds) != len(self._all) or any(
            len(bound) != len(rows) for bound, rows in zip(bounds, self._all)
        ):
            return
        value = [bound.max(axis=1) for bound in bounds]
        best = np.sort(np.argsort(-np.concatenate(value), kind="stable")[: tuning.N_RESCANNED])
        ends = np.cumsum([0, *map(len, value)])
        chosen = [best[(best >= a) & (best < b)] - a for a, b in zip(ends, ends[1:])]
        self._scanned = n_left, max_error, chosen
        for used, positions in zip(self._used, chosen):
            used[positions] = True

    def _is_allowed(
        self, box: RankBox, class_units: np.ndarray, max_error: float, limit: float | None = None
    ) -> bool:
        """Whether a box has enough rows of its class, and not too many others.

        `class_units` is the weight of each class among the rows that no earlier box contains.
        """
        per_weight = self.data.problem.weights.units_per_weight
        of_class = int(class_units[box.answer])
        n_rows = min(ceil(1 / max(max_error, 1e-2) - 1e-9), tuning.MIN_ROWS)
        support = self._min_support * (of_class if self._min_support < 1 else per_weight)
        total, right = box.figures.total, box.figures.right
        limit = self._purity_limit if limit is None else limit
        is_pure = is_error_allowed(total - right, total, limit)
        return right >= max(n_rows * per_weight, support, 1) and is_pure

    # Simplification

    def path(self, boxes: list[RankBox], penalties: Sequence[float]) -> Iterator[list[RankBox]]:
        """The list after each η, in ascending order: prune it, then optimize its boxes."""
        for penalty in penalties:
            if not self._is_optimized:
                boxes = self.prune(boxes, penalty)
            elif not self._should_stop():
                boxes = self.prune(self._with_needed(boxes, penalty), penalty)
                boxes = self._with_needed(self._optimize(boxes, penalty), penalty)
            yield boxes

    def predict(self, boxes: Sequence[RankBox], rows: np.ndarray) -> np.ndarray:
        """Answers for other rows of the problem; ends lie in the middle of gaps."""
        answers = np.full(len(rows), self._default([self.data.inside(box) for box in boxes]))
        left, open_rows = np.arange(len(self.data.y)), np.ones(len(rows), dtype=bool)
        for box in boxes:
            features, shape = self.in_values(box, left, round_ends=False)
            inside = shape.contains(project(self.data.problem.X, features, rows)) & open_rows
            answers[inside] = box.answer
            open_rows &= ~inside
            left = left[~self.data.inside(box)[left]]
        return answers

    def answers(self, boxes: Sequence[RankBox]) -> list[np.ndarray]:
        """Answers of the whole list, of the list without its first box, and so on; -1 for none."""
        inside = [self.data.inside(box) for box in boxes]
        found = [np.full(len(self.data.y), self._default(inside))]
        for box, contained in zip(reversed(boxes), reversed(inside)):
            found.append(np.where(contained, box.answer, found[-1]))
        return found[::-1]

    def _default(self, inside: Sequence[np.ndarray]) -> int:
        """The most frequent class of the rows in no box; of all rows, if there are none."""
        if not self._has_default:
            return -1
        everything = np.arange(len(self.data.y))
        left = everything[~np.any(inside, axis=0)] if len(inside) else everything
        return int(np.argmax(self.data.class_units(left if len(left) else everything)))

    def _objective(self, boxes: Sequence[RankBox], penalty: float) -> float:
        is_right = self.answers(boxes)[0] == self.data.y
        size = sum(box.figures.n_ends for box in boxes)
        return float(self.data.units[is_right].sum()) - penalty * self.data.total * size

    def prune(self, boxes: list[RankBox], penalty: float) -> list[RankBox]:
        """Remove the box whose removal saves most, until no removal saves anything."""
        data = self.data
        flat = FlatList(
            np.array([data.inside(box) for box in boxes]).reshape(len(boxes), len(data.y)),
            np.array([box.answer for box in boxes], dtype=np.int64),
            np.array([box.figures.n_ends for box in boxes], dtype=np.int64),
            data.y,
            data.units,
            data.n_classes,
            self._has_default,
            self._needed,
        )
        return [boxes[i] for i in flat.pruned(penalty * data.total)]

    def without_impure(self, boxes: list[RankBox]) -> list[RankBox]:
        """Drop boxes without rows and, repeatedly, those with a larger error than allowed."""
        while True:
            left, kept = np.arange(len(self.data.y)), []
            default = self._default([self.data.inside(box) for box in boxes])
            for i, box in enumerate(boxes):
                inside = self.data.inside(box)[left]
                y, units = self.data.y[left[inside]], self.data.units[left[inside]]
                wrong, total = units[y != box.answer].sum(), units.sum()
                others = {b.answer for b in boxes[:i] + boxes[i + 1 :]} | {default}
                is_needed = box.answer in self._needed and box.answer not in others
                if total and (is_needed or is_error_allowed(wrong, total, self._purity_limit)):
                    kept.append(box)
                    left = left[~inside]
            if len(kept) == len(boxes):
                return kept
            boxes = kept

    def _optimize(self, boxes: list[RankBox], penalty: float) -> list[RankBox]:
        """Sweep over all boxes while the objective increases."""
        value = self._objective(boxes, penalty)
        for _ in range(tuning.MAX_SWEEPS):
            swept = self._sweep(boxes, penalty)
            new = self._objective(swept, penalty)
            if new <= value:
                break
            boxes, value = swept, new
        return boxes

    def _sweep(self, boxes: list[RankBox], penalty: float) -> list[RankBox]:
        """Optimize each box in turn, given the new earlier boxes and the old later ones."""
        later = self.answers(boxes)
        default = self._default([self.data.inside(box) for box in boxes])
        left = np.arange(len(self.data.y))
        kept: list[RankBox] = []
        for position, (box, rest) in enumerate(zip(boxes, later[1:])):
            others = {b.answer for b in [*kept, *boxes[position + 1 :]]} | {default}
            is_needed = box.answer in self._needed and box.answer not in others
            best = self._best(box, left, rest, penalty, is_needed) if len(left) else None
            if best is not None:
                kept.append(best)
                left = left[~self.data.inside(best)[left]]
        return kept

    def _stakes(self, left: np.ndarray, rest: np.ndarray, penalty: float, odds: int = 1) -> Stakes:
        """What rows gain in a box before the rest of the list."""
        units = self.data.units[left]
        held, tie = units * (rest[left] == self.data.y[left]), tuning.TIE
        facet = round(tie * penalty * self.data.total)
        return Stakes(left, units * (tie + 2) * odds, tie * held + units, held, facet)

    def _best(
        self, old: RankBox, left: np.ndarray, rest: np.ndarray, penalty: float, is_needed: bool
    ) -> RankBox | None:
        """The box with the largest objective, or None if the list is better without it."""
        odds = tuning.ODDS[0] if is_needed else 1
        stakes, data = self._stakes(left, rest, penalty, odds), self.data
        used = [np.flatnonzero(used) for used in self._used]
        found, _ = self._search.best(stakes, tuning.N_OTHERS, used, old.answer if is_needed else -1)
        # From the old box, and from a box of its columns without finite ends.
        lower = np.stack([old.lower, np.zeros_like(old.lower)])
        upper = np.stack([old.upper, data.sizes[old.columns] - 1])
        columns, answers = np.stack([old.columns] * 2), np.full(2, old.answer)
        found += self._search.improve(stakes, columns, answers, lower, upper)
        found = [replace(b, max_error=old.max_error) for b in found if b.figures.n_ends]
        found.sort(
            key=lambda box: -(box.figures.value if is_needed else self._gained(box, penalty))
        )
        class_units, limit = data.class_units(left), 1.0 if is_needed else None
        for box in found:
            if self._gained(box, penalty) <= 0 and not is_needed:
                return None
            if self._is_allowed(box, class_units, tuning.MAX_RELAXED, limit):
                return box
        return self._box_of(old.answer, left, rest, penalty) if is_needed else None

    def _gained(self, box: RankBox, penalty: float) -> float:
        """What the objective gains by a box before the rest of the list."""
        size = self.data.total * box.figures.n_ends
        return float(box.figures.right - box.figures.held) - penalty * size

    def _with_needed(self, boxes: list[RankBox], penalty: float) -> list[RankBox]:
        """Insert a box of each class that needs one, where the objective is best."""
        everything = np.arange(len(self.data.y))
        for answer in self._needed:
            inside = [self.data.inside(box) for box in boxes]
            later = self.answers(boxes)
            if answer == self._default(inside) or (later[0] == answer).any():
                continue
            ends = [(0, everything)]
            if boxes:
                ends.append((len(boxes), np.flatnonzero(~np.any(inside, axis=0))))
            found = []
            for place, left in ends:
                box = self._box_of(int(answer), left, later[place], penalty)
                if box is not None:
                    found.append((self._gained(box, penalty), -place, box))
            if found:
                _, place, box = max(found, key=lambda each: each[:2])
                boxes = [*boxes[:-place], box, *boxes[-place:]] if place else [box, *boxes]
        return boxes

    def _box_of(
        self, answer: int, left: np.ndarray, rest: np.ndarray, penalty: float
    ) -> RankBox | None:
        """A box of a class with enough support, at the lowest odds that give one."""
        class_units = self.data.class_units(left)
        for odds in tuning.ODDS if class_units[answer] else ():
            stakes = self._stakes(left, rest, penalty, odds)
            found, _ = self._search.best(stakes, tuning.N_OTHERS, self._all, answer)
            for box in found:
                if box.figures.n_ends and self._is_allowed(box, class_units, 0.5, 1.0):
                    return box
        return None

    # Results

    def in_values(
        self, box: RankBox, left: np.ndarray, round_ends: bool = True
    ) -> tuple[tuple[int, ...], Boxes]:
        """Columns with finite ends, and the box in their values; ends lie between rows of `left`.

        An end becomes infinite if no row that satisfies the other columns lies beyond it.
        """
        data = self.data
        style: Any = "round" if round_ends else "midpoint"
        used = np.flatnonzero((box.lower > 0) | (box.upper < data.sizes[box.columns] - 1))
        used = used if len(used) else np.arange(1)
        features = tuple(data.features[box.columns[used]].tolist())
        P, ranks = project(data.problem.X, features, data.rows[left]), data.ranks[box.columns[used]]
        low, high = box.lower[used, None], box.upper[used, None]
        is_below, is_above = ranks[:, left] < low, ranks[:, left] > high
        ends = np.full((2, len(used)), [[-np.inf], [np.inf]])
        for a in range(len(used)):
            others = ~np.delete(is_below | is_above, a, axis=0).any(axis=0)
            x, below, above = P[others, a], is_below[a, others], is_above[a, others]
            inside = x[~(below | above)]
            if len(inside) and below.any():
                ends[0, a] = choose_threshold(float(x[below].max()), float(inside.min()), style)
            if len(inside) and above.any():
                ends[1, a] = choose_threshold(float(inside.max()), float(x[above].min()), style)
        return features, Boxes(*ends)


def class_stakes(
    data: ProjectionRanks, left: np.ndarray, max_error: float, facet_units: float
) -> Stakes:
    """Stakes with which the value of a box is its net support, times an integer for ε."""
    scale = 2 ** min(20, 60 - data.total.bit_length())
    gain = min(max(int(max_error * scale), 1), scale - 1)
    units = data.units[left]
    held = np.zeros_like(units)
    return Stakes(left, scale * units, (scale - gain) * units, held, round(facet_units * gain))


def relaxed_errors(max_error: float, majority_error: float, relax: float) -> Iterator[float]:
    """ε, then ε · 1.5 and so on, up to the error of the most frequent class and to `relax`."""
    yield max_error
    while max_error < min(majority_error, tuning.MAX_RELAXED):
        relaxed = max_error * tuning.RELAX_BY if max_error > 0 else 0.01
        max_error = min(relaxed, tuning.MAX_RELAXED)
        if max_error > relax:
            return
        yield max_error
