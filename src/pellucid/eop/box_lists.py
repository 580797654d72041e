"""Decision lists of boxes, each with one class: they are grown, pruned and optimized together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from pellucid.eop import tuning
from pellucid.eop.box_search import ClassBoxSearch, RankBox, Stakes
from pellucid.eop.problem import Settings, is_error_allowed
from pellucid.eop.shape_finders import round_box
from pellucid.regions.levels import project
from pellucid.regions.shapes import Boxes


@dataclass(frozen=True)
class FlatList:
    """All regions of a decision list, in order, on some rows."""

    inside: np.ndarray  # whether each region contains each row, whatever earlier regions contain
    answer: np.ndarray  # class that each region predicts
    n_facets: np.ndarray
    y: np.ndarray
    units: np.ndarray
    n_classes: int
    has_default: bool = True  # rows in no region get their most frequent class, or count as wrong
    needed: Sequence[int] = ()  # classes that keep a region unless they are the default

    def take(self, kept: Sequence[int] | np.ndarray) -> FlatList:
        return replace(
            self, inside=self.inside[kept], answer=self.answer[kept], n_facets=self.n_facets[kept]
        )

    def default(self) -> int:
        """The most frequent class of the rows in no region, or of all rows; -1 for no answer."""
        if not self.has_default:
            return -1
        left = ~self.inside.any(axis=0)
        chosen = left if left.any() else slice(None)
        return int(np.bincount(self.y[chosen], self.units[chosen], self.n_classes).argmax())

    def answers(self) -> list[np.ndarray]:
        """Answers of the whole list, of the list without its first region, and so on."""
        found = [np.full(len(self.y), self.default())]
        for inside, answer in zip(reversed(self.inside), reversed(self.answer)):
            found.append(np.where(inside, answer, found[-1]))
        return found[::-1]

    def pruned(self, facet_units: float) -> np.ndarray:
        """Indices of the regions that remain if the worst goes, while that saves `facet_units`."""
        kept = np.arange(len(self.answer))
        while len(kept):
            saved = facet_units * self.n_facets[kept] - self._lost(kept)
            worst = int(np.argmax(saved))
            if saved[worst] < 0:
                break
            kept = np.delete(kept, worst)
        return kept

    def without_impure(self, limit: float) -> list[int]:
        """Indices of the regions that are needed, or have rows and not too many wrong ones."""
        left, kept, default = np.ones(len(self.y), dtype=bool), [], self.default()
        for i, answer in enumerate(self.answer.tolist()):
            inside = self.inside[i] & left
            total = self.units[inside].sum()
            wrong = self.units[inside & (self.y != answer)].sum()
            others = {default, *np.delete(self.answer, i).tolist()}
            is_needed = answer in self.needed and answer not in others
            if total and (is_needed or is_error_allowed(wrong, total, limit)):
                kept.append(i)
                left &= ~inside
        if len(kept) == len(self.answer):
            return kept
        return [kept[i] for i in self.take(kept).without_impure(limit)]

    def _lost(self, kept: np.ndarray) -> np.ndarray:
        """Weight that is classified correctly only with each region; infinite if it is needed."""
        n = len(kept)
        # The first two regions of each row; n if there are none.
        inside = np.append(self.inside[kept], np.ones((1, len(self.y)), dtype=bool), axis=0)
        first = inside.argmax(axis=0)
        inside[first[first < n], np.flatnonzero(first < n)] = False
        second = inside.argmax(axis=0)
        # Per region, the rows that are in no other; then those in no region: weight by class.
        left = np.zeros((n + 1, self.n_classes))
        only = second == n
        np.add.at(left, (first[only], self.y[only]), self.units[only])
        left, uncovered = left[:n] + left[n], left[n]
        by_default = left.max(axis=1) - uncovered.max() if self.has_default else np.zeros(n)
        answer = np.append(self.answer[kept], -1)
        now, then = (answer[at] == self.y for at in (first, second))
        lost = np.bincount(first, self.units * (now.astype(float) - then), n + 1)[:n] - by_default
        n_regions = np.bincount(answer[:n], minlength=self.n_classes)
        is_last = np.isin(answer[:n], self.needed) & (n_regions[answer[:n]] == 1)
        lost[is_last & (left.argmax(axis=1) != answer[:n])] = np.inf
        return lost


@dataclass(eq=False)
class BoxList:
    """Grow a decision list of boxes, and simplify it with growing penalties η.

    The objective is the weight of the rows that the list classifies correctly, minus η times the
    weight of all rows per inequality. In a sweep each box in turn is replaced by the best one of
    some projections, given all others: a row that no earlier box contains gains its weight inside
    the box if the box corrects it, and loses its weight if it was classified correctly without the
    box. Rows that gain nothing count an eighth, positive if they are of the class of the box, so
    that its ends lie where its class ends.
    """

    search: ClassBoxSearch
    settings: Settings
    should_stop: Callable[[], bool]

    def __post_init__(self) -> None:
        search, settings = self.search, self.settings
        n_all = sum(map(len, search.subsets)) * search.problem.n_classes
        self._n_candidates = settings.n_candidates or n_all
        self._used = [np.zeros(len(subset), dtype=bool) for subset in search.subsets]
        # Rows and ε when all projections were tried last, and the best projections by size.
        self._scanned: tuple[int, float, list[np.ndarray]] = 0, -1.0, search.everything
        self._all_rows = np.arange(len(search.y))
        share = search.class_units(self._all_rows) / search.total
        needed = np.flatnonzero(share >= tuning.MIN_SHARE)
        self._needed: list[int] = needed.tolist() if settings.optimizes else []

    def grow(self) -> list[RankBox]:
        """Boxes of the largest net support in turn; ε is relaxed while none is positive."""
        max_error, max_levels = self.settings.max_error, self.settings.max_levels
        boxes: list[RankBox] = []
        left = self._all_rows
        while len(left) and (max_levels is None or len(boxes) < max_levels):
            box = self._next_box(left, max_error)
            if box is None or self.should_stop():
                break
            max_error = box.max_error
            boxes.append(box)
            left = left[~self.search.inside(box)[left]]
        return boxes

    def _next_box(self, left: np.ndarray, max_error: float) -> RankBox | None:
        units, settings = self.search.class_units(left), self.settings
        for error in relaxed_errors(max_error, units, settings.relax):
            if self.should_stop():
                return None
            facet_units = settings.complexity_penalty * self.search.total
            stakes = self.search.net_support(left, error, facet_units)
            # The value of a projection changes little when few rows are removed.
            n_rows, last_error, best = self._scanned
            is_recent = error == last_error and len(left) >= tuning.RESCAN_AT * n_rows
            tried = best if is_recent else self.search.everything
            found, bounds = self.search.best(stakes, self._n_candidates, tried)
            if not is_recent:
                self._scanned = len(left), error, self._best_projections(bounds)
            for box in found:
                if box.figures.value > 0 and self._is_allowed(box, units, error):
                    return replace(box, max_error=error)
        return None

    def _best_projections(self, bounds: list[np.ndarray]) -> list[np.ndarray]:
        value = [bound.max(axis=1) for bound in bounds]
        best = np.sort(np.argsort(-np.concatenate(value), kind="stable")[: tuning.N_RESCANNED])
        ends = np.cumsum([0, *map(len, value)])
        chosen = [best[(best >= a) & (best < b)] - a for a, b in zip(ends, ends[1:])]
        for used, positions in zip(self._used, chosen):
            used[positions] = True
        return chosen

    def _is_allowed(
        self, box: RankBox, class_units: np.ndarray, max_error: float, limit: float | None = None
    ) -> bool:
        """Whether a box has enough rows of its class and not too many others, of those left."""
        per_weight = self.search.problem.weights.units_per_weight
        support = self.settings.min_support
        support *= int(class_units[box.answer]) if support < 1 else per_weight
        n_rows = min(ceil(1 / max(max_error, 1e-2) - 1e-9), tuning.MIN_ROWS)
        total, right = box.figures.total, box.figures.right
        limit = self.settings.purity_limit if limit is None else limit
        is_pure = is_error_allowed(total - right, total, limit)
        return right >= max(n_rows * per_weight, support, 1) and is_pure

    def path(self, boxes: list[RankBox], penalties: Sequence[float]) -> Iterator[list[RankBox]]:
        """The list after each η, in ascending order: prune it, then optimize its boxes."""
        for penalty in penalties:
            if not self.settings.optimizes:
                boxes = self.prune(boxes, penalty)
            elif not self.should_stop():
                boxes = self.prune(self._with_needed(boxes, penalty), penalty)
                boxes = self._optimize(boxes, penalty, tuning.MAX_SWEEPS)
                boxes = self._with_needed(boxes, penalty)
            yield boxes

    def predict(self, boxes: Sequence[RankBox], rows: np.ndarray) -> np.ndarray:
        """Answers for other rows of the problem; ends lie in the middle of gaps."""
        answers = np.full(len(rows), self.flat(boxes).default())
        left, open_rows = self._all_rows, np.ones(len(rows), dtype=bool)
        for box in boxes:
            features, shape = self.in_values(box, left, round_ends=False)
            inside = shape.contains(project(self.search.problem.X, features, rows)) & open_rows
            answers[inside] = box.answer
            open_rows &= ~inside
            left = left[~self.search.inside(box)[left]]
        return answers

    def flat(self, boxes: Sequence[RankBox]) -> FlatList:
        """The boxes with the rows that each contains."""
        search = self.search
        inside = np.array([search.inside(box) for box in boxes]).reshape(len(boxes), len(search.y))
        answers = np.array([box.answer for box in boxes], dtype=np.int64)
        n_ends = np.array([box.figures.n_ends for box in boxes], dtype=np.int64)
        of_rows = search.y, search.units, search.problem.n_classes
        has_default, needed = self.settings.has_default, self._needed
        return FlatList(inside, answers, n_ends, *of_rows, has_default, needed)

    def _objective(self, boxes: Sequence[RankBox], penalty: float) -> float:
        is_right = self.flat(boxes).answers()[0] == self.search.y
        size = sum(box.figures.n_ends for box in boxes)
        return float(self.search.units[is_right].sum()) - penalty * self.search.total * size

    def prune(self, boxes: list[RankBox], penalty: float) -> list[RankBox]:
        """Remove the box whose removal saves most, until no removal saves anything."""
        return [boxes[i] for i in self.flat(boxes).pruned(penalty * self.search.total)]

    def finish(self, boxes: list[RankBox], penalty: float) -> list[RankBox]:
        """Optimize the boxes of the last list of a path further, then drop impure boxes."""
        if self.settings.optimizes and not self.should_stop():
            boxes = self._optimize(boxes, penalty, tuning.FINAL_SWEEPS)
            boxes = self._with_needed(boxes, penalty)
        return [boxes[i] for i in self.flat(boxes).without_impure(self.settings.purity_limit)]

    def _optimize(self, boxes: list[RankBox], penalty: float, n_sweeps: int) -> list[RankBox]:
        """Sweep over all boxes while the objective increases."""
        value = self._objective(boxes, penalty)
        for _ in range(n_sweeps):
            swept = self._sweep(boxes, penalty)
            new = self._objective(swept, penalty)
            if new <= value:
                break
            boxes, value = swept, new
        return boxes

    def _sweep(self, boxes: list[RankBox], penalty: float) -> list[RankBox]:
        """Optimize each box in turn, given the new earlier boxes and the old later ones."""
        flat = self.flat(boxes)
        later, default = flat.answers(), flat.default()
        left = self._all_rows
        kept: list[RankBox] = []
        for position, (box, rest) in enumerate(zip(boxes, later[1:])):
            others = {b.answer for b in [*kept, *boxes[position + 1 :]]} | {default}
            is_needed = box.answer in self._needed and box.answer not in others
            best = self._best(box, left, rest, penalty, is_needed) if len(left) else None
            if best is not None:
                kept.append(best)
                left = left[~self.search.inside(best)[left]]
        return kept

    def _stakes(self, left: np.ndarray, rest: np.ndarray, penalty: float, odds: int = 1) -> Stakes:
        """What rows gain in a box before the rest of the list."""
        units = self.search.units[left]
        held, tie = units * (rest[left] == self.search.y[left]), tuning.TIE
        facet = round(tie * penalty * self.search.total)
        return Stakes(left, units * (tie + 2) * odds, tie * held + units, held, facet)

    def _best(
        self, old: RankBox, left: np.ndarray, rest: np.ndarray, penalty: float, is_needed: bool
    ) -> RankBox | None:
        """The box with the largest objective, or None if the list is better without it."""
        odds = tuning.ODDS[0] if is_needed else 1
        stakes, search = self._stakes(left, rest, penalty, odds), self.search
        used = [np.flatnonzero(used) for used in self._used]
        found, _ = search.best(stakes, tuning.N_OTHERS, used, old.answer if is_needed else -1)
        # From the old box, and from a box of its columns without finite ends.
        lower = np.stack([old.lower, np.zeros_like(old.lower)])
        upper = np.stack([old.upper, search.sizes[old.columns] - 1])
        columns, answers = np.stack([old.columns] * 2), np.full(2, old.answer)
        found += search.improve(stakes, columns, answers, lower, upper)
        found = [replace(b, max_error=old.max_error) for b in found if b.figures.n_ends]
        found.sort(
            key=lambda box: -(box.figures.value if is_needed else self._gained(box, penalty))
        )
        class_units, limit = search.class_units(left), 1.0 if is_needed else None
        for box in found:
            if self._gained(box, penalty) <= 0 and not is_needed:
                return None
            if self._is_allowed(box, class_units, tuning.MAX_RELAXED, limit):
                return box
        return self._box_of(old.answer, left, rest, penalty) if is_needed else None

    def _gained(self, box: RankBox, penalty: float) -> float:
        """What the objective gains by a box before the rest of the list."""
        size = self.search.total * box.figures.n_ends
        return float(box.figures.right - box.figures.held) - penalty * size

    def _with_needed(self, boxes: list[RankBox], penalty: float) -> list[RankBox]:
        """Insert a box of each class that needs one, where the objective is best."""
        flat = self.flat(boxes)
        later = flat.answers()
        for answer in self._needed:
            if answer == flat.default() or (later[0] == answer).any():
                continue
            ends = {0: self._all_rows, len(boxes): np.flatnonzero(~flat.inside.any(axis=0))}
            found = []
            for place, left in ends.items():
                box = self._box_of(answer, left, later[place], penalty)
                if box is not None:
                    found.append((self._gained(box, penalty), -place, box))
            if found:
                _, minus_place, box = max(found, key=lambda each: each[:2])
                boxes = [*boxes[:-minus_place], box, *boxes[-minus_place:]]
                flat = self.flat(boxes)
                later = flat.answers()
        return boxes

    def _box_of(
        self, answer: int, left: np.ndarray, rest: np.ndarray, penalty: float
    ) -> RankBox | None:
        """A box of a class with enough support, at the lowest odds that give one."""
        class_units = self.search.class_units(left)
        for odds in tuning.ODDS if class_units[answer] else ():
            stakes = self._stakes(left, rest, penalty, odds)
            found, _ = self.search.best(stakes, tuning.N_OTHERS, self.search.everything, answer)
            for box in found:
                if box.figures.n_ends and self._is_allowed(box, class_units, 0.5, 1.0):
                    return box
        return None

    def in_values(
        self, box: RankBox, left: np.ndarray, round_ends: bool = True
    ) -> tuple[tuple[int, ...], Boxes]:
        """Columns with finite ends, and the box in their values; see `round_box`."""
        search = self.search
        used = np.flatnonzero((box.lower > 0) | (box.upper < search.sizes[box.columns] - 1))
        used = used if len(used) else np.arange(1)
        features = tuple(search.features[box.columns[used]].tolist())
        P = project(search.problem.X, features, search.rows)
        inside = P[search.inside(box)]
        shape = Boxes(np.nextafter(inside.min(axis=0), -np.inf), inside.max(axis=0))
        return features, round_box(shape, P[left], "round" if round_ends else "midpoint")


def relaxed_errors(max_error: float, class_units: np.ndarray, relax: float) -> Iterator[float]:
    """ε, then ε · 1.5 and so on, up to the error of the most frequent class and to `relax`."""
    yield max_error
    majority_error = 1 - class_units.max() / class_units.sum()
    while max_error < min(majority_error, tuning.MAX_RELAXED):
        relaxed = max_error * tuning.RELAX_BY if max_error > 0 else 0.01
        max_error = min(relaxed, tuning.MAX_RELAXED)
        if max_error > relax:
            return
        yield max_error
