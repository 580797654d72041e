"""Search for parametric regions: grown one by one, then recalibrated on held-out rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

from pellucid.eop.problem import ProjectionView, is_error_allowed
from pellucid.eop.shapes.regions import Finder, Regions, RegionSearchResult

MAX_REGIONS = 20
"""Maximum number of regions in one projection."""

_MAX_BITS = 61
"""Sums of gains stay below 2**_MAX_BITS."""


class Rows(NamedTuple):
    """Rows of a projection with the integers that stand for ε (gain) and 1 - ε (loss)."""

    P: np.ndarray
    correct: np.ndarray
    units: np.ndarray
    gain: int
    loss: int
    scale: np.ndarray

    @property
    def gains(self) -> np.ndarray:
        """Gain per row: ε · weight if correctly classified, else -(1 - ε) · weight, as integers."""
        return np.where(self.correct, self.gain, -self.loss) * self.units


class ShapeFinder(Finder):
    """Cover the correctly classified rows by regions of one shape.

    The surplus of a region is ε · C - (1 - ε) · W, where C and W are the weights of its correctly
    and of its wrongly classified rows. It is positive if the error is below ε, and it decreases
    when a region grows into an area with an error above ε. Each region is grown to a large
    surplus. Rows in earlier regions have a gain of 0, so the next region covers other rows.

    Regions without held-out rows, or with a held-out error above ε, are deleted. The others are
    shrunk or grown to the largest surplus on training and held-out rows together.
    """

    @abstractmethod
    def _grow(self, rows: Rows, gains: np.ndarray, random: np.random.RandomState) -> Regions | None:
        """Grow one region with a large surplus; None if no region has a positive surplus."""

    @abstractmethod
    def _fit(self, region: Regions, rows: Rows, gains: np.ndarray) -> Regions:
        """Shrink or grow the region to a larger surplus."""

    @abstractmethod
    def _join(self, regions: Sequence[Regions], dim: int) -> Regions:
        """Combine regions into one object."""

    def _median(self, regions: Sequence[Regions]) -> Regions:
        """The median of several variants of a region; the first variant by default."""
        return regions[0]

    def _finish(self, region: Regions, rows: Rows) -> Regions:
        """Simplify the boundary of a region without changing which rows it contains."""
        return region

    def find(
        self, view: ProjectionView, max_error: float, held_max_error: float, seed: int
    ) -> RegionSearchResult:
        """See `Finder.find`."""
        random = np.random.RandomState(seed)
        rows = _rows(view.P, view.correct, view.units, max_error, view.scale)
        grown = self._cover(rows, max_error, view, random)
        before = self._join([self._finish(region, rows) for region in grown], view.P.shape[1])
        none = np.empty(0, dtype=np.int64)
        if not view.has_held_out:
            return RegionSearchResult(before, before, before.which(view.P), none)
        held = _rows(view.held_P, view.held_correct, view.held_units, held_max_error, view.scale)
        both = _concatenate(rows, held)
        recalibrated, n_held, errors = [], [], []
        for region in grown:
            weight, wrong = _weight_inside(region, held)
            n_held.append(int(np.count_nonzero(region.contains(held.P))))
            errors.append(wrong / weight if weight else np.nan)
            if weight > 0 and is_error_allowed(wrong, weight, held_max_error):
                region = self._recalibrate(region, rows, held, both, held_max_error, random)
                recalibrated.append(region)
            else:
                recalibrated.append(None)
        after = self._join(
            [self._finish(region, both) for region in recalibrated if region is not None],
            view.P.shape[1],
        )
        return RegionSearchResult(
            before,
            after,
            after.which(view.P),
            after.which(view.held_P),
            np.array(
                [i for i, region in enumerate(recalibrated) if region is None], dtype=np.int64
            ),
            np.array(n_held, dtype=np.int64),
            np.array(errors),
        )

    def _cover(self, rows: Rows, max_error: float, view: ProjectionView, random) -> list[Regions]:
        """Grow regions in turn until no further region has enough weight."""
        min_units = max(
            ceil(1 / max(max_error, 1e-2) - 1e-9) * view.units_per_weight, view.min_units
        )
        gains, regions = rows.gains.copy(), []
        uncovered = rows.correct.copy()
        while len(regions) < MAX_REGIONS and rows.units[uncovered].sum() >= min_units:
            region = self._grow(rows, gains, random)
            if region is None:
                break
            newly_covered = region.contains(rows.P) & uncovered
            if rows.units[newly_covered].sum() < min_units:
                break
            regions.append(region)
            gains[newly_covered] = 0
            uncovered &= ~newly_covered
        return regions

    def _recalibrate(
        self, region, rows: Rows, held: Rows, both: Rows, held_max_error: float, random
    ) -> Regions:
        """Fit the region to all rows; keep the old one if the new error exceeds ε.

        The error is checked on the training rows and on the held-out rows.
        """
        fitted = self._fit(region, both, both.gains)
        if self.n_bootstraps:
            bootstraps = []
            for _ in range(self.n_bootstraps):
                multiplicity = random.poisson(1.0, len(both.units))
                bootstraps.append(self._fit(region, both, both.gains * multiplicity))
            fitted = self._median(bootstraps)
        for sample in (held, rows):
            weight, wrong = _weight_inside(fitted, sample)
            if not weight or not is_error_allowed(wrong, weight, held_max_error):
                return region
        return fitted


def _rows(P, correct, units, max_error: float, scale) -> Rows:
    """Rows with ε as an integer multiple of a power of two."""
    bits = min(20, _MAX_BITS - int(units.sum()).bit_length())
    gain = max(int(max_error * 2**bits), 1)
    return Rows(P, correct, units, gain, 2**bits - gain, scale)


def _concatenate(a: Rows, b: Rows) -> Rows:
    """All rows with the smaller of both values of ε."""
    return Rows(
        np.concatenate([a.P, b.P]),
        np.concatenate([a.correct, b.correct]),
        np.concatenate([a.units, b.units]),
        min(a.gain, b.gain),
        max(a.loss, b.loss),
        a.scale,
    )


def _weight_inside(region: Regions, rows: Rows) -> tuple[int, int]:
    """Weight of the rows inside a region, and of the misclassified rows among them."""
    inside = region.contains(rows.P)
    return int(rows.units[inside].sum()), int(rows.units[inside & ~rows.correct].sum())
