"""Regions of a projection: where a classifier is right, whatever their shape."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pellucid.eop.problem import ProjectionView
from pellucid.explanation.conditions import format_number


def short_number(value: float, step: float) -> str:
    """A number to about two digits of a step that matters."""
    digits = 1 - int(np.floor(np.log10(step))) if step > 0 else 6
    return format_number(float(np.round(value, digits)))


def describe_extent(name: str, low: float, high: float) -> str:
    """From where to where something reaches, to about two digits."""
    step = high - low
    return f"{short_number(low, step)} ≤ {name} ≤ {short_number(high, step)}"


class Regions(ABC):
    """The regions of one level.

    Attributes
    ----------
    kind : str
        Shape of the regions.
    dim : int
        Columns of the projection.
    """

    kind: str
    dim: int

    @abstractmethod
    def __len__(self) -> int:
        """How many regions there are."""

    @abstractmethod
    def which(self, P: np.ndarray) -> np.ndarray:
        """Number of the first region that holds each row of `P`, or -1."""

    def contains(self, P: np.ndarray) -> np.ndarray:
        """Whether any region holds each row of `P`."""
        return self.which(P) >= 0

    @abstractmethod
    def first(self, k: int) -> Regions:
        """Only the first `k` regions."""

    @abstractmethod
    def describe(self, names: Sequence[str]) -> list[str]:
        """Each region in words.

        Parameters
        ----------
        names : sequence of str
            Names of the columns of the projection.
        """

    @property
    @abstractmethod
    def costs(self) -> np.ndarray:
        """What it takes to see whether a row is in each region, as the EOP paper counts it."""


@dataclass(frozen=True)
class Calibration:
    """What the held-out rows made of the regions of one projection.

    Attributes
    ----------
    features : tuple of int
        The projection.
    level : int
        The level that the regions were meant for.
    max_error : float
        Errors that were allowed.
    before, after : Regions
        As found on the rows to learn from, and as they were left.
    deleted : ndarray of int
        Numbers, in `before`, of the regions that were deleted.
    held_out_rows : ndarray of shape (n_before,), int
        Held-out rows inside each region before.
    held_out_error : ndarray of shape (n_before,)
        Share of them that the classifier gets wrong; NaN where there are none.
    is_used : bool
        Whether the regions became a level.
    """

    features: tuple[int, ...]
    level: int
    max_error: float
    before: Regions
    after: Regions
    deleted: np.ndarray
    held_out_rows: np.ndarray
    held_out_error: np.ndarray
    is_used: bool = False


@dataclass(frozen=True)
class RegionSearchResult:
    """Regions after calibration, and where the rows are.

    Attributes
    ----------
    before, after : Regions
        Before and after calibration.
    which, held_which : ndarray of int
        Region, after calibration, of each row that was learned from and of each held-out row.
    deleted, held_out_rows, held_out_error : ndarray
        See `Calibration`.
    """

    before: Regions
    after: Regions
    which: np.ndarray
    held_which: np.ndarray
    deleted: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    held_out_rows: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    held_out_error: np.ndarray = field(default_factory=lambda: np.empty(0))


class Finder(ABC):
    """Finds the regions of one shape.

    Parameters
    ----------
    n_bootstraps : int
        How many times rows are drawn anew to make what is found robust; 0 to do without.
    max_error : float
        Errors allowed at first, before any are added.
    """

    def __init__(self, n_bootstraps: int = 0, max_error: float = 1.0) -> None:
        self.n_bootstraps, self.max_error = n_bootstraps, max_error

    @abstractmethod
    def find(
        self, view: ProjectionView, max_error: float, held_error: float, seed: int
    ) -> RegionSearchResult:
        """Regions where the classifier of a view is right.

        Parameters
        ----------
        view : ProjectionView
        max_error : float
            Errors allowed inside a region, on the rows that are learned from.
        held_error : float
            The same on the held-out rows.
        seed : int
            For what is drawn at random.
        """
