"""Long tables (a row is an entity, a time and a value) as one series an entity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.xclusters.series.long_tables import read_entities, read_moments, read_table
from pellucid.xclusters.series.times import as_numbers

AGGREGATES = ("mean", "sum", "median", "min", "max")
COVERAGES = ("equal", "common", "own")


@dataclass(frozen=True)
class SeriesTable:
    """Entities, each with a series of values and with what is known about it.

    Attributes
    ----------
    series : ndarray of shape (n_entities, n_times), or list of 1-D arrays
        What to cluster by: one row an entity. A list where lengths differ (``coverage="own"``).
    times : ndarray of shape (n_times,), or list of 1-D arrays
        When the values were measured; after a moving average, the last time of each window.
    entities : data frame
        What to explain by: the entity columns, one row an entity, as the kind of table that was
        given.
    weights : ndarray of shape (n_entities,)
        How much an entity counts: the sum of the absolute values of its rows.
    """

    series: Any
    times: Any
    entities: Any
    weights: np.ndarray

    def __len__(self) -> int:
        """Return the number of entities."""
        return len(self.weights)


def lines_of(model: Any, series: Any, times: Any) -> tuple[list[np.ndarray], Any]:
    """The series that a model was fitted on, one array each, and when they were measured.

    A :class:`SeriesTable` knows its times; those that are given come first.
    """
    if hasattr(series, "entities"):
        times = series.times if times is None else times
        series = series.series
    lines = [np.asarray(one, dtype=np.float64) for one in series]
    if len(lines) != len(model.labels_):
        raise ValueError(
            f"{len(lines)} series, but the model was fitted on {len(model.labels_)} rows; give "
            "the series that it was fitted on"
        )
    return lines, times


def series_from_long(
    table: Any,
    *,
    entity: str | Sequence[str],
    time: str,
    value: str,
    aggregate: str = "mean",
    moving_average: int | None = None,
    interpolate: bool = False,
    fill_value: float | None = None,
    coverage: str = "equal",
    frequency: Any = None,
    relative: bool = False,
) -> SeriesTable:
    """Turn a long table into one series an entity, with the columns that describe it.

    Parameters
    ----------
    table : pandas, polars or pyarrow table
        One row for each entity, time and value, in any order. Rows without a value (null, NaN)
        count as absent.
    entity : str or sequence of str
        Columns that together name an entity, such as district, age and sex. They become the
        explanation.
    time : str
        Column of dates, times, numbers, or text such as ``2020-01-31``.
    value : str
        Numeric column.
    aggregate : {"mean", "sum", "median", "min", "max"}, default="mean"
        What becomes of several rows of an entity at one time (or in one step of `frequency`).
    moving_average : int, optional
        Replace each value by the mean of so many times in a row, itself the last. Only whole
        windows count, so a series gets shorter by ``moving_average - 1``.
    interpolate : bool, default=False
        Fill times that an entity lacks between two that it has, on the straight line between
        these. When False, a gap is an error that names the entity and the time.
    fill_value : float, optional
        Fill times that an entity lacks with this value, at the ends too: 0 where no row means
        that nothing was sold.
    coverage : {"equal", "common", "own"}, default="equal"
        What becomes of entities that start late or end early. "equal": an error that names the
        first. "common": every series covers only the times that all of them cover. "own": each
        keeps its own, so lengths differ; dynamic time warping compares such series.
    frequency : {"hour", "day", "week", "month", "year"} or float, optional
        Gather times into steps: hourly counts into days. With it, a step in which no entity has
        a row counts as absent too. A number for times that are numbers.
    relative : bool, default=False
        Divide each series by its mean, after all else, so that entities are compared by the
        course of their values and not by their size.

    Returns
    -------
    SeriesTable
        With `series`, `times`, `entities` (sorted) and `weights`.

    Examples
    --------
    >>> import polars as pl
    >>> from pellucid.xclusters import series_from_long
    >>> table = pl.DataFrame({
    ...     "district": ["Jongno", "Jongno", "Jongno", "Jung", "Jung", "Jung"],
    ...     "day": ["2020-01-01", "2020-01-01", "2020-01-02", "2020-01-01", "2020-01-02", None],
    ...     "people": [10, 20, 25, 7, 9, 8],
    ... }).drop_nulls()
    >>> found = series_from_long(table, entity="district", time="day", value="people")
    >>> found.series
    array([[15., 25.],
           [ 7.,  9.]])
    >>> found.entities["district"].to_list(), found.weights.tolist()
    (['Jongno', 'Jung'], [55.0, 16.0])
    """
    columns = [entity] if isinstance(entity, str) else list(entity)
    frame = read_table(table, columns, time, value)
    _check_choice("aggregate", aggregate, AGGREGATES)
    _check_choice("coverage", coverage, COVERAGES)
    if interpolate and fill_value is not None:
        raise ValueError("interpolate=True and fill_value both fill gaps; give one of them")
    entities, owner = read_entities(frame, columns)
    values = frame.get_column(value).to_numpy().astype(np.float64)
    times, moment = read_moments(frame.get_column(time), frequency)
    grid = _aggregate(owner * len(times) + moment, values, aggregate, len(entities) * len(times))
    grid = grid.reshape(len(entities), len(times))
    if fill_value is not None:
        grid[np.isnan(grid)] = fill_value
    names = _Names(entities, columns)
    times, grid = _cover(times, grid, coverage, names)
    _fill_gaps(times, grid, interpolate, names)
    moments, series = [], []
    for row, one in enumerate(grid):
        known = ~np.isnan(one)
        at, one = times[known], one[known]
        if moving_average is not None:
            at, one = _smooth(at, one, moving_average, names, row)
        moments.append(at)
        series.append(_relate(one, names, row) if relative else one)
    if coverage != "own":
        moments, series = moments[0], np.array(series)
    total = _aggregate(owner, np.abs(values), "sum", len(entities))
    return SeriesTable(series, moments, entities.to_native(), total)


class _Names:
    """Entities in words, for messages."""

    def __init__(self, entities, columns: list[str]) -> None:
        self._entities, self._columns = entities, columns

    def __getitem__(self, row: int) -> str:
        columns = (self._entities.get_column(name) for name in self._columns)
        return ", ".join(f"{column.name}={column.to_list()[row]!r}" for column in columns)


def _aggregate(cell: np.ndarray, values: np.ndarray, how: str, n_cells: int) -> np.ndarray:
    """One number for each cell, NaN where there is no row; the order of rows has no say."""
    order = np.lexsort((values, cell))
    cell, values = cell[order], values[order]
    start = np.flatnonzero(np.r_[True, np.diff(cell) > 0])
    size = np.diff(np.r_[start, len(cell)])
    if how == "min":
        found = values[start]
    elif how == "max":
        found = values[start + size - 1]
    elif how == "median":
        found = (values[start + (size - 1) // 2] + values[start + size // 2]) / 2
    else:
        found = np.add.reduceat(values, start)
        if how == "mean":
            found /= size
    result = np.full(n_cells, np.nan)
    result[cell[start]] = found
    return result


def _cover(times: np.ndarray, grid: np.ndarray, coverage: str, names: _Names):
    """Times and values that are left when entities that start late or end early are dealt with."""
    known = ~np.isnan(grid)
    first, last = known.argmax(axis=1), known.shape[1] - 1 - known[:, ::-1].argmax(axis=1)
    if coverage == "own":
        return times, grid
    if coverage == "common":
        start, stop = int(first.max()), int(last.min()) + 1
        if start >= stop:
            late, early = int(first.argmax()), int(last.argmin())
            raise ValueError(
                f"no time is common to all entities: {names[late]} starts at {times[start]}, "
                f"{names[early]} ends at {times[stop - 1]}; use coverage='own', or leave one out"
            )
        return times[start:stop], grid[:, start:stop]
    for row in np.flatnonzero((first > 0) | (last < len(times) - 1))[:1].tolist():
        late = first[row] > 0
        what, at, end = (
            ("starts", times[first[row]], times[0])
            if late
            else ("ends", times[last[row]], times[-1])
        )
        raise ValueError(
            f"the series of {names[row]} {what} at {at}, others at {end}; use coverage='common' "
            "for the times that all have, coverage='own' for series of unequal length, or "
            "fill_value=0 if no row means that nothing happened"
        )
    return times, grid


def _fill_gaps(times: np.ndarray, grid: np.ndarray, interpolate: bool, names: _Names) -> None:
    """Fill, in place, what lies between values of the same row, or say where a value is missing."""
    line = as_numbers(times)
    for row in np.flatnonzero(np.isnan(grid).any(axis=1)).tolist():
        known = np.flatnonzero(~np.isnan(grid[row]))
        inside = slice(known[0], known[-1] + 1)
        gaps = np.flatnonzero(np.isnan(grid[row, inside])) + known[0]
        if len(gaps) and not interpolate:
            more = f" (and at {len(gaps) - 1} more times)" if len(gaps) > 1 else ""
            raise ValueError(
                f"{names[row]} has no value at {times[gaps[0]]}{more}; use interpolate=True to "
                "fill gaps, or fill_value=0 if no row means that nothing happened"
            )
        grid[row, gaps] = np.interp(line[gaps], line[known], grid[row, known])


def _smooth(times: np.ndarray, series: np.ndarray, width: int, names: _Names, row: int):
    """Means of `width` values in a row, at the last time of each window."""
    if width != int(width) or width < 1:
        raise ValueError(f"moving_average={width!r}; give a whole number of times, at least 1")
    if width > len(series):
        raise ValueError(
            f"moving_average={width}, but the series of {names[row]} has only {len(series)} times"
        )
    windows = np.lib.stride_tricks.sliding_window_view(series, int(width))
    return times[int(width) - 1 :], windows.mean(axis=1)


def _relate(series: np.ndarray, names: _Names, row: int) -> np.ndarray:
    mean = series.mean()
    if not mean > 0:
        raise ValueError(
            f"relative=True divides by the mean, but that of {names[row]} is {mean:g}; leave such "
            "entities out"
        )
    return series / mean


def _check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name}={value!r}; choose one of {', '.join(choices)}")
