"""Interfaces of the regions of a projection and of the search for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pellucid._utils.texts import rule_words, say
from pellucid.eop.problem import ProjectionView
from pellucid.tables.column_formats import PLAIN, ColumnFormat
from pellucid.tables.encoding import Indicator


class ColumnName(str):
    """Name of a column, with the format of its values.

    Texts of regions are made from names, which are strings for shapes and classifiers of users.

    Examples
    --------
    >>> from pellucid.eop.shapes.regions import ColumnName
    >>> from pellucid.tables.column_formats import ColumnFormat
    >>> ColumnName("signup", ColumnFormat("date")).written.text(18701.0)
    '2021-03-15'
    """

    written: ColumnFormat

    def __new__(cls, name: str, written: ColumnFormat = PLAIN) -> ColumnName:
        found = super().__new__(cls, name)
        found.written = written
        return found


def format_of(name: str) -> ColumnFormat:
    """The format of the values of a column."""
    return name.written if isinstance(name, ColumnName) else PLAIN


def with_formats(
    names: Iterable[str | Indicator], formats: Mapping[str, ColumnFormat]
) -> list[str | Indicator]:
    """Descriptions of columns with the formats of their values."""
    return [n if isinstance(n, Indicator) else ColumnName(n, formats.get(n, PLAIN)) for n in names]


def column_texts(names: Iterable[str | Indicator]) -> list[str]:
    """Descriptions of columns as strings, which keep their format."""
    return [name if isinstance(name, str) else str(name) for name in names]


def short_number(value: float, scale: float, name: str) -> str:
    """A value of a column, rounded to about two significant digits of `scale`; dates to days."""
    digits = 1 - int(np.floor(np.log10(scale))) if scale > 0 else 6
    written = format_of(name)
    if written.is_date:
        digits = 0 if written.kind == "date" else max(digits, 0)
    return written.text(float(np.round(value, digits)))


def short_distance(distance: float, name: str) -> str:
    """A distance in a column, rounded to about two significant digits; of dates, in days."""
    if format_of(name).is_date:
        days = float(short_number(distance, distance, ""))
        return say("days", n=int(days) if days.is_integer() else days)
    return short_number(distance, distance, name)


def describe_extent(name: str, low: float, high: float) -> str:
    """Text of an interval, rounded to about two significant digits of its length."""
    length = high - low
    return f"{short_number(low, length, name)} ≤ {name} ≤ {short_number(high, length, name)}"


def describe_extents(ends: Iterable[tuple[str, float, float]]) -> str:
    """Text of an interval per column."""
    return f" {rule_words().and_} ".join(describe_extent(*each) for each in ends)


class Regions(ABC):
    """The regions of one level.

    Attributes
    ----------
    kind : str
        Name of the shape.
    dim : int
        Number of columns of the projection.
    classifier_cost : int
        Constant term of the complexity of a prediction (see `decision_list.complexity`).
    scores : ndarray or None
        Leave-one-out scores of the training rows; None for shapes that are not defined by a
        score.
    """

    kind: str
    dim: int
    classifier_cost: int = 0
    scores: np.ndarray | None = None

    @abstractmethod
    def __len__(self) -> int:
        """Number of regions."""

    @abstractmethod
    def which(self, P: np.ndarray) -> np.ndarray:
        """Index of the first region that contains each row of `P`, or -1.

        Parameters
        ----------
        P : ndarray of shape (n_rows, dim)
            Values of the projection.
        """

    def contains(self, P: np.ndarray) -> np.ndarray:
        """Whether any region contains each row of `P`.

        Parameters
        ----------
        P : ndarray of shape (n_rows, dim)
            Values of the projection.

        Returns
        -------
        ndarray of shape (n_rows,), bool
            True for rows inside.
        """
        return self.which(P) >= 0

    @abstractmethod
    def take(self, kept: np.ndarray) -> Regions:
        """Only the regions with the given indices, in this order.

        Parameters
        ----------
        kept : ndarray of int
            Indices of the regions.
        """

    def first(self, k: int) -> Regions:
        """Only the first `k` regions.

        Parameters
        ----------
        k : int
            Number of regions.

        Returns
        -------
        Regions
            The first regions; all of them if they are fewer.
        """
        return self.take(np.arange(min(k, len(self))))

    @abstractmethod
    def describe(self, names: Sequence[str]) -> list[str]:
        """Describe each region as text.

        Parameters
        ----------
        names : sequence of str
            Names of the columns of the projection.
        """

    def box_bounds(self, region: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Lower and upper ends of a region that is a box; None for other shapes.

        Parameters
        ----------
        region : int
            Index of the region.
        """
        return None

    def explain_points(
        self, P: np.ndarray, names: Sequence[str]
    ) -> list[tuple[dict[str, tuple[float, float]], str]] | None:
        """Bounds and text that explain each row of `P`; None if `describe` is sufficient.

        Parameters
        ----------
        P : ndarray of shape (n_rows, dim)
            Values of the projection.
        names : sequence of str
            Names of the columns of the projection.
        """
        return None

    @property
    def n_facets(self) -> np.ndarray:
        """Number of inequalities of each region; by default two per column."""
        return np.full(len(self), 2 * self.dim, dtype=np.int64)

    @property
    @abstractmethod
    def costs(self) -> np.ndarray:
        """Complexity of the membership test of each region, as defined in the EOP paper."""


@dataclass(frozen=True)
class Calibration:
    """Regions of one projection before and after calibration.

    Attributes
    ----------
    features : tuple of int
        Column indices of the projection.
    level : int
        Index of the level for which the regions were searched.
    max_error : float
        Maximum error rate (ε).
    before, after : Regions
        Regions found on the training rows, and the same after calibration on the held-out rows.
    deleted : ndarray of int
        Indices, in `before`, of the deleted regions.
    held_out_rows : ndarray of shape (n_before,), int
        Number of held-out rows in each region of `before`.
    held_out_error : ndarray of shape (n_before,)
        Error rate on these rows; NaN where there are none.
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
    """Calibrated regions, and the region of each row.

    Attributes
    ----------
    before, after : Regions
        Regions before and after calibration.
    which, held_which : ndarray of int
        Index of the region in `after` of each training row and of each held-out row; -1 if none.
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
    """Search for regions of one shape.

    Parameters
    ----------
    n_bootstraps : int
        Number of bootstrap samples for robust boundaries; 0 uses none.
    max_error : float
        Initial ε, before it is relaxed.
    """

    n_bootstraps: int
    max_error: float

    def __init__(self, n_bootstraps: int = 0, max_error: float = 1.0) -> None:
        self.n_bootstraps, self.max_error = n_bootstraps, max_error

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
