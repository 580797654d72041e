"""The search for regions: grown one by one, then recalibrated on held-out rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from pellucid.eop.problem import ProjectionView, is_error_allowed
from pellucid.regions.shapes import Regions

_MAX_BITS = 61  # sums of gains stay below 2**_MAX_BITS


@dataclass(frozen=True)
class Calibration:
    """Regions of one projection before and after calibration."""

    features: tuple[int, ...]  # column indices of the projection
    level: int  # index of the level for which the regions were searched
    max_error: float  # maximum error rate (ε)
    before: Regions  # found on the training rows
    after: Regions  # the same after calibration on the held-out rows
    deleted: np.ndarray  # indices, in `before`, of the deleted regions
    held_out_rows: np.ndarray  # number of held-out rows in each region of `before`
    held_out_error: np.ndarray  # error rate on these rows; NaN where there are none
    is_used: bool = False  # whether the regions became a level


@dataclass(frozen=True)
class RegionSearchResult:
    """Regions before and after calibration (see `Calibration`), and the region of each row."""

    before: Regions
    after: Regions
    which: np.ndarray  # index in `after` by training row; -1 if none
    held_which: np.ndarray  # the same by held-out row
    deleted: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    held_out_rows: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    held_out_error: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def all_which(self) -> np.ndarray:
        """`which`, then `held_which`."""
        return np.concatenate([self.which, self.held_which])


class Finder(ABC):
    """Search for regions of one shape.

    Parameters
    ----------
    n_bootstraps : int
        Number of bootstrap samples for robust boundaries; 0 uses none.
    max_error : float
        Initial ε, before it is relaxed.
    """

    def __init__(self, n_bootstraps: int = 0, max_error: float = 1.0) -> None:
        self.n_bootstraps: int = n_bootstraps
        self.max_error: float = max_error

    @abstractmethod
    def find(
        self, view: ProjectionView, max_error: float, held_max_error: float, seed: int
    ) -> RegionSearchResult:
        """Find regions in which the classifier of a view is accurate.

        Parameters
        ----------
        view : ProjectionView
            Rows of a projection, and which of them are classified correctly.
        max_error : float
            Maximum error rate in a region on the training rows (ε).
        held_max_error : float
            Maximum error rate in a region on the held-out rows.
        seed : int
            Seed of the random numbers.
        """


class Rows(NamedTuple):
    """Rows of a projection with the integers that stand for ε (gain) and 1 - ε (loss).

    Attributes
    ----------
    P : ndarray of shape (n_rows, dim)
        Values of the projection.
    correct : ndarray of shape (n_rows,), bool
        Whether the classifier of the level classifies each row correctly.
    units : ndarray of shape (n_rows,), int64
        Weights, as integers.
    gain, loss : int
        ε and 1 - ε, as integers.
    scale : ndarray of shape (dim,)
        Spread of each column.
    facet : int
        Gain that each inequality of a region should add.
    """

    P: np.ndarray
    correct: np.ndarray
    units: np.ndarray
    gain: int
    loss: int
    scale: np.ndarray
    facet: int = 0

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

    A subclass defines a shape of its own: `grow`, `fit` and `join`, and a subclass of
    :class:`Regions` with `which`, `take`, `describe` and `costs`. It is passed as `regions` to an
    EOP classifier.

    Parameters
    ----------
    n_bootstraps : int, default=0
        Number of bootstrap samples for robust boundaries; 0 uses none.
    max_error : float, default=1.0
        Initial ε, before it is relaxed.

    Examples
    --------
    Regions that are everything below one end in the first column of a projection:

    >>> import numpy as np
    >>> from pellucid import EOPClassifier
    >>> from pellucid.eop import Regions, ShapeFinder
    >>> class Below(Regions):
    ...     kind = "below"
    ...     def __init__(self, ends, dim):
    ...         self.ends, self.dim = np.asarray(ends, dtype=float), dim
    ...     def __len__(self):
    ...         return len(self.ends)
    ...     def which(self, P):
    ...         inside = P[:, :1] <= self.ends
    ...         return np.where(inside.any(axis=1), inside.argmax(axis=1), -1) if len(self) else (
    ...             np.full(len(P), -1))
    ...     def take(self, kept):
    ...         return Below(self.ends[kept], self.dim)
    ...     def describe(self, names):
    ...         return [f"{names[0]} below {end:g}" for end in self.ends]
    ...     @property
    ...     def costs(self):
    ...         return np.ones(len(self))
    >>> class BelowFinder(ShapeFinder):
    ...     def grow(self, rows, gains, random):
    ...         order = np.argsort(rows.P[:, 0], kind="stable")
    ...         sums = np.cumsum(gains[order])
    ...         best = int(np.argmax(sums))
    ...         end = rows.P[order[best], 0]
    ...         return Below([end], rows.P.shape[1]) if sums[best] > 0 else None
    ...     def fit(self, region, rows, gains):
    ...         return self.grow(rows, gains, None) or region
    ...     def join(self, regions, dim):
    ...         return Below([end for region in regions for end in region.ends], dim)
    >>> X, y = [[float(i)] for i in range(40)], ["a"] * 20 + ["b"] * 20
    >>> model = EOPClassifier(regions=BelowFinder, max_error=0.1, complexity_penalty=0.01)
    >>> print(model.set_params(calibration=0).fit(X, y).explain())
    level 1: x0 below 19: a (50.0% of the rows; 20 rows, 100.0% of them a)
    in no region: b (50.0% of the rows, 100.0% of such rows are b)
    """

    @abstractmethod
    def grow(self, rows: Rows, gains: np.ndarray, random: np.random.RandomState) -> Regions | None:
        """Grow one region with a large surplus; None if no region has a positive surplus.

        Parameters
        ----------
        rows : Rows
            The rows of the projection.
        gains : ndarray of shape (n_rows,), int64
            Gain per row.
        random : numpy.random.RandomState
            Source of random numbers.
        """

    @abstractmethod
    def fit(self, region: Regions, rows: Rows, gains: np.ndarray) -> Regions:
        """Shrink or grow the region to a larger surplus.

        Parameters
        ----------
        region : Regions
            One region.
        rows : Rows
            The rows of the projection.
        gains : ndarray of shape (n_rows,), int64
            Gain per row.
        """

    @abstractmethod
    def join(self, regions: Sequence[Regions], dim: int) -> Regions:
        """Combine regions into one object.

        Parameters
        ----------
        regions : sequence of Regions
            The regions, one per object.
        dim : int
            Number of columns of the projection.
        """

    def median(self, regions: Sequence[Regions]) -> Regions:
        """The median of several variants of a region; the first variant by default.

        Parameters
        ----------
        regions : sequence of Regions
            Variants of one region.

        Returns
        -------
        Regions
            The median.
        """
        return regions[0]

    def finish(self, region: Regions, rows: Rows) -> Regions:
        """Simplify the boundary of a region without changing which rows it contains.

        Parameters
        ----------
        region : Regions
            One region.
        rows : Rows
            The rows of the projection.

        Returns
        -------
        Regions
            The simplified region.
        """
        return region

    def find(
        self, view: ProjectionView, max_error: float, held_max_error: float, seed: int
    ) -> RegionSearchResult:
        random, dim = np.random.RandomState(seed), view.P.shape[1]
        rows = _rows(view.P, view.correct, view.units, max_error, view.scale)
        grown = self._cover(rows, max_error, view, random)
        before = self.join([self.finish(region, rows) for region in grown], dim)
        if not view.has_held_out:
            none = np.empty(0, dtype=np.int64)
            return RegionSearchResult(before, before, before.which(view.P), none)
        held = _rows(view.held_P, view.held_correct, view.held_units, held_max_error, view.scale)
        P, correct, units = (np.concatenate(parts) for parts in zip(rows[:3], held[:3]))
        gain, loss = min(rows.gain, held.gain), max(rows.loss, held.loss)  # the smaller ε
        both = Rows(P, correct, units, gain, loss, rows.scale, round(view.facet_units * gain))
        kept, deleted, n_held, errors = [], [], [], []
        for position, region in enumerate(grown):
            weight, wrong = _weight_inside(region, held)
            n_held.append(int(np.count_nonzero(region.contains(held.P))))
            errors.append(wrong / weight if weight else np.nan)
            if not weight or not is_error_allowed(wrong, weight, held_max_error):
                deleted.append(position)
                continue
            region = self._recalibrate(region, rows, held, both, held_max_error, random)
            kept.append(self.finish(region, both))
        after = self.join(kept, dim)
        which = after.which(view.P), after.which(view.held_P)
        counts = np.array(deleted, dtype=np.int64), np.array(n_held, dtype=np.int64)
        return RegionSearchResult(before, after, *which, *counts, np.array(errors))

    def _cover(
        self, rows: Rows, max_error: float, view: ProjectionView, random: np.random.RandomState
    ) -> list[Regions]:
        """Grow regions in turn until no further region has enough weight."""
        n_rows = min(ceil(1 / max(max_error, 1e-2) - 1e-9), view.max_required_rows)
        min_units = max(n_rows * view.units_per_weight, view.min_units)
        rows = rows._replace(facet=round(view.facet_units * rows.gain))
        regions: list[Regions] = []
        gains, uncovered = rows.gains.copy(), rows.correct.copy()
        while len(regions) < view.max_regions and rows.units[uncovered].sum() >= min_units:
            region = self.grow(rows, gains, random)
            if region is None:
                break
            inside = region.contains(rows.P)
            newly_covered = inside & uncovered
            is_small = rows.units[newly_covered].sum() < min_units
            if is_small or gains[inside].sum() < rows.facet * region.n_facets.sum():
                break
            regions.append(region)
            gains[newly_covered] = 0
            uncovered &= ~newly_covered
        return regions

    def _recalibrate(
        self, region: Regions, rows: Rows, held: Rows, both: Rows, max_error: float, random: Any
    ) -> Regions:
        """Fit the region to all rows; keep the old one if the error of either part exceeds ε."""
        samples = (random.poisson(1.0, len(both.units)) for _ in range(self.n_bootstraps))
        bootstraps = [self.fit(region, both, both.gains * sample) for sample in samples]
        fitted = self.median(bootstraps) if bootstraps else self.fit(region, both, both.gains)
        for part in (held, rows):
            weight, wrong = _weight_inside(fitted, part)
            if not weight or not is_error_allowed(wrong, weight, max_error):
                return region
        return fitted


def _rows(
    P: np.ndarray, correct: np.ndarray, units: np.ndarray, max_error: float, scale: np.ndarray
) -> Rows:
    """Rows with ε as an integer multiple of a power of two."""
    bits = min(20, _MAX_BITS - int(units.sum()).bit_length())
    gain = max(int(max_error * 2**bits), 1)
    return Rows(P, correct, units, gain, 2**bits - gain, scale)


def _weight_inside(region: Regions, rows: Rows) -> tuple[int, int]:
    """Weight of the rows inside a region, and of the misclassified rows among them."""
    inside = region.contains(rows.P)
    return int(rows.units[inside].sum()), int(rows.units[inside & ~rows.correct].sum())
