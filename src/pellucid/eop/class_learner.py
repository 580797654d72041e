"""EOP with one class per level: boxes of all classes compete, then the list is pruned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pellucid.eop.box_finder import BoxFinder
from pellucid.eop.class_scan import ClassScan, scan_classes
from pellucid.eop.eop_learner import EOPLearner
from pellucid.eop.finders import RegionSearchResult
from pellucid.eop.learning import MIN_ROWS, LearningResult, ProjectionCandidate
from pellucid.eop.pruning import FlatList
from pellucid.eop.refining import ListOptimizer

_RESCAN_AT = 0.9
"""All projections are scanned again when less than this share of the rows is left."""

_N_RESCANNED = 64
"""Projections that are scanned for each level."""


class ClassLearner(EOPLearner):
    """All projections and classes compete for the region with the largest net support.

    The net support of a region is C - (1 - ε) / ε · W minus η · (number of inequalities) times
    the weight of all rows, where C and W are the weights of its rows of the class and of its
    other rows. ε is relaxed when no net support is positive. At the end, regions whose removal
    costs less than η per inequality are removed. If ε is not given by the user, boxes are then
    optimized together; see `ListOptimizer`.
    """

    _last_scan: tuple[float, int, ClassScan] | None = None

    def grow(self) -> LearningResult:
        """Find all levels, without pruning."""
        return super().learn()

    def learn(self) -> LearningResult:
        """Find all levels, then prune them, and optimize their boxes together if asked for."""
        learned = self.grow()
        penalties = self.settings.penalties or (self.settings.complexity_penalty,)
        optimizer = self._optimizer()
        if optimizer is not None:
            boxes = optimizer.start(learned.levels)
            boxes = optimizer.path(boxes, penalties, self._should_stop)[-1]
            self.replace_regions([(box.source, box.box) for box in boxes])
        elif all(level.regions.scores is None for level in learned.levels):
            flat = self._flat(self.all_rows)
            facet_units = penalties[-1] * self.problem.total(self.all_rows)
            self.keep(flat.position[flat.pruned(facet_units)])
        return learned

    def answers_by_penalty(
        self, penalties: Sequence[float], rows: np.ndarray
    ) -> Iterator[tuple[np.ndarray, int]]:
        """Answers for other rows, and number of inequalities, if the list is simplified by each η.

        Parameters
        ----------
        penalties : sequence of float
            Values of η, in ascending order.
        rows : ndarray of int
            Rows to classify.
        """
        optimizer = self._optimizer()
        if optimizer is not None:
            boxes = optimizer.start(self.learned.levels)
            for found in optimizer.path(boxes, penalties, self._should_stop):
                yield optimizer.predict(found, rows), sum(box.n_facets for box in found)
            return
        flat, tested = self._flat(self.all_rows), self._flat(rows)
        total, kept = self.problem.total(self.all_rows), None
        for penalty in penalties:
            kept = flat.pruned(penalty * total, kept)
            yield tested.predict(kept, flat.default(kept)), int(flat.n_facets[kept].sum())

    def _flat(self, rows: np.ndarray) -> FlatList:
        return FlatList.of(self.learned.levels, self.problem, rows, self.settings.has_default)

    def _optimizer(self) -> ListOptimizer | None:
        """The search for better boxes; None if they stay as they were found."""
        settings, finder = self.settings, self.finders[0]
        if not settings.optimizes or not isinstance(finder, BoxFinder) or len(self._all_held):
            return None
        limits = settings.min_support, settings.purity_limit
        return ListOptimizer(self.problem, self.all_rows, finder, *limits)

    def _scan(self, max_errors: list[float]) -> Any:
        """Scan all projections, or, if few rows were covered since then, only the best ones.

        The surplus of a projection changes little when few rows are removed, so that projections
        that were far behind need not be scanned again.
        """
        max_error, n_rows = max_errors[0], len(self.rows)
        last = self._last_scan
        if last is None or last[0] != max_error or n_rows < _RESCAN_AT * last[1]:
            scan = super()._scan(max_errors)
            self._last_scan = None if scan is None else (max_error, n_rows, scan)
            return scan
        scan = last[2]
        best = scan.best_projections(self.settings.complexity_penalty, _N_RESCANNED)
        total = self.problem.total(self.all_rows)
        subsets = [s[b] for s, b in zip(scan.subsets, best)]
        again = scan_classes(self.problem, self.rows, subsets, max_error, total, self._should_stop)
        if again is None:
            return None
        for surplus, rows, new in zip(scan.surplus, best, again.surplus):
            surplus[rows] = new
        return scan

    def _next_level(self) -> tuple[ProjectionCandidate, RegionSearchResult, float] | None:
        seed = int(self.random.randint(2**31 - 1))
        for max_error in self._max_errors():
            scan = self._scan([max_error])
            candidates = [] if scan is None else self._best_candidates(scan, 0)
            if self.interrupt.requested:
                return None
            found = self._best(candidates, max_error, seed) if candidates else None
            if found is not None:
                return *found, max_error
        return None

    def _limits(self, answers: np.ndarray) -> dict[str, Any]:
        facet_units = self.settings.complexity_penalty * self.problem.total(self.all_rows)
        return {
            **super()._limits(answers),
            "facet_units": facet_units,
            "max_regions": 1,
            "max_required_rows": MIN_ROWS,
        }

    def _best(
        self, candidates: list[ProjectionCandidate], max_error: float, seed: int
    ) -> tuple[ProjectionCandidate, RegionSearchResult] | None:
        """The candidate with the largest net support, or None if none is positive."""
        results = self._find(candidates, max_error, seed)
        net = [self._net_support(c, f, max_error) for c, f in zip(candidates, results)]
        best = int(np.argmax(net))
        if net[best] <= 0:
            self._record(candidates[0], results[0], max_error, is_used=False)
            return None
        return candidates[best], results[best]

    def _net_support(
        self, candidate: ProjectionCandidate, found: RegionSearchResult, max_error: float
    ) -> float:
        view = candidate.view
        if self._coverage(candidate, found) < 0:
            return -np.inf
        inside = np.concatenate([found.which >= 0, found.held_which >= 0])
        units = np.concatenate([view.units, view.held_units])
        correct = np.concatenate([view.correct, view.held_correct])
        right, wrong = (units[inside & part].sum() for part in (correct, ~correct))
        odds = (1 - max_error) / max(max_error, 1e-3)
        return float(right - odds * wrong - view.facet_units * found.after.n_facets.sum())
