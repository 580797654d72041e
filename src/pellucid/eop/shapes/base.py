"""Regions of a shape: grown one by one, then checked and mended on held-out rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

from pellucid.eop.problem import ProjectionView, is_error_allowed
from pellucid.eop.shapes.regions import Finder, Regions, RegionSearchResult

MAX_REGIONS = 20
"""Regions of one projection at the most."""

_BITS = 61
"""Sums of gains stay below two to this power."""


class Rows(NamedTuple):
    """Rows of a projection with what each of them is worth to a region."""

    P: np.ndarray
    right: np.ndarray
    units: np.ndarray
    gain: int
    loss: int
    scale: np.ndarray

    @property
    def gains(self) -> np.ndarray:
        """+ε a unit for rows that are classified rightly, -(1 - ε) for the others, in steps."""
        return np.where(self.right, self.gain, -self.loss) * self.units


class ShapeFinder(Finder):
    """Covers the rows that are classified rightly by regions of one shape.

    A region's surplus is ε times the weight of its right rows less (1 - ε) times that of its
    wrong ones; it is positive when its error is below ε, and it falls as soon as a region grows
    into a place where errors are more frequent than that. Each region is grown to have the
    largest surplus that is found, rows that are covered already counting for nothing; the next
    starts from what is not yet covered.

    Regions without held-out rows, or with a held-out error above ε, are deleted; the others are
    shrunk or grown to fit the rows of both kinds.
    """

    @abstractmethod
    def _grow(self, rows: Rows, gains: np.ndarray, random: np.random.RandomState) -> Regions | None:
        """One region of large surplus, or None."""

    @abstractmethod
    def _fit(self, region: Regions, rows: Rows, gains: np.ndarray) -> Regions:
        """The region, shrunk or grown to a larger surplus."""

    @abstractmethod
    def _join(self, regions: Sequence[Regions], dim: int) -> Regions:
        """Many regions as one object."""

    def _median_form(self, regions: Sequence[Regions]) -> Regions:
        """What is common to several forms of a region; the first one by default."""
        return regions[0]

    def _finish(self, region: Regions, rows: Rows) -> Regions:
        """Make a finished region easy to read, with the same rows inside."""
        return region

    def find(
        self, view: ProjectionView, max_error: float, held_error: float, seed: int
    ) -> RegionSearchResult:
        """See `Finder.find`."""
        random = np.random.RandomState(seed)
        rows = _rows(view.P, view.right, view.units, max_error, view.scale)
        grown = self._cover(rows, max_error, view, random)
        before = self._join([self._finish(region, rows) for region in grown], view.P.shape[1])
        none = np.empty(0, dtype=np.int64)
        if not view.has_held_out:
            return RegionSearchResult(before, before, before.which(view.P), none)
        held = _rows(view.held_P, view.held_right, view.held_units, held_error, view.scale)
        both = _both(rows, held)
        kept, n_held, errors = [], [], []
        for region in grown:
            weight, wrong = _inside(region, held)
            n_held.append(int(np.count_nonzero(region.contains(held.P))))
            errors.append(wrong / weight if weight else np.nan)
            is_good = weight > 0 and is_error_allowed(wrong, weight, held_error)
            mended = (
                self._recalibrate(region, rows, held, both, held_error, random) if is_good else None
            )
            kept.append(mended)
        after = self._join(
            [self._finish(region, both) for region in kept if region is not None], view.P.shape[1]
        )
        return RegionSearchResult(
            before,
            after,
            after.which(view.P),
            after.which(view.held_P),
            np.array([i for i, region in enumerate(kept) if region is None], dtype=np.int64),
            np.array(n_held, dtype=np.int64),
            np.array(errors),
        )

    def _cover(self, rows: Rows, max_error: float, view: ProjectionView, random) -> list[Regions]:
        """Regions one after the other, until nothing worth having is left."""
        least = max(ceil(1 / max(max_error, 1e-2) - 1e-9) * view.one, view.least)
        gains, regions = rows.gains.copy(), []
        open_rows = rows.right.copy()
        while len(regions) < MAX_REGIONS and rows.units[open_rows].sum() >= least:
            region = self._grow(rows, gains, random)
            if region is None:
                break
            new = region.contains(rows.P) & open_rows
            if rows.units[new].sum() < least:
                break
            regions.append(region)
            gains[new] = 0
            open_rows &= ~new
        return regions

    def _recalibrate(self, region, rows: Rows, held: Rows, both: Rows, held_error: float, random):
        """The region as rows of both kinds would have it, if held-out rows agree with that."""
        forms = [self._fit(region, both, both.gains)]
        for _ in range(self.n_bootstraps):
            times = random.poisson(1.0, len(both.units))
            forms.append(self._fit(region, both, both.gains * times))
        if self.n_bootstraps:
            forms[0] = self._median_form(forms[1:])
        weight, wrong = _inside(forms[0], held)
        total, errors = _inside(forms[0], rows)
        is_good = weight > 0 and is_error_allowed(wrong, weight, held_error)
        if is_good and total > 0 and is_error_allowed(errors, total, held_error):
            return forms[0]
        return region


def _rows(P, right, units, max_error: float, scale) -> Rows:
    bits = min(20, _BITS - int(units.sum()).bit_length())
    gain = max(int(max_error * 2**bits), 1)
    return Rows(P, right, units, gain, 2**bits - gain, scale)


def _both(a: Rows, b: Rows) -> Rows:
    """Rows of two kinds, judged alike."""
    return Rows(
        np.concatenate([a.P, b.P]),
        np.concatenate([a.right, b.right]),
        np.concatenate([a.units, b.units]),
        min(a.gain, b.gain),
        max(a.loss, b.loss),
        a.scale,
    )


def _inside(region: Regions, rows: Rows) -> tuple[int, int]:
    """Weight inside a region, and how much of it is classified wrongly."""
    inside = region.contains(rows.P)
    return int(rows.units[inside].sum()), int(rows.units[inside & ~rows.right].sum())
