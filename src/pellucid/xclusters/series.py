"""Convert long tables (one row per entity and time) and wide tables to series; read times."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from os.path import commonprefix
from typing import Any, NamedTuple, NoReturn

import numpy as np

from pellucid._utils.notices import InputError, flag, option
from pellucid.tables.frames import as_table
from pellucid.xclusters.features import format_names

AGGREGATES = ("mean", "sum", "median", "min", "max")
COVERAGES = ("equal", "common", "own")

_Label = Callable[[int], str]  # name of an entity, given by its number, in error messages

FREQUENCIES = ("hour", "day", "week", "month", "year")
_UNITS = {"hour": "h", "day": "D", "month": "M", "year": "Y"}
# NumPy would parse "20200101" as the year 20,200,101.
_ISO = re.compile(r"\d{4}-\d{2}(-\d{2}([T ].+)?)?")
# Formats in which day and month cannot be confused.
_FORMATS = (
    *("%b %d %Y", "%B %d %Y", "%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%d. %B %Y"),
    *("%d-%b-%Y", "%d-%B-%Y", "%b %Y", "%B %Y", "%Y/%m/%d", "%Y.%m.%d", "%Y/%m"),
)
# Day 0 of NumPy, 1 January 1970, was a Thursday; weeks start on Monday.
_DAYS_SINCE_MONDAY = 3
_YEAR = re.compile(r"(?P<prefix>\D{0,12})(?P<year>1[5-9]\d\d|2[01]\d\d)(?P<suffix>\D.*)?")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
FEWEST_TIMES = 3  # fewer columns with names of times are not taken for a series


@dataclass(frozen=True)
class SeriesTable:
    """Entities with their series and their descriptive columns.

    Attributes
    ----------
    series : ndarray of shape (n_entities, n_times), or list of 1-D arrays
        One series per entity: the accuracy features. A list if lengths differ
        (``coverage="own"``).
    times : ndarray of shape (n_times,), or list of 1-D arrays
        Times of the values; after a moving average, the last time of each window.
    entities : data frame
        Entity columns, one row per entity: the explanation features. Same type as the input.
    weights : ndarray of shape (n_entities,)
        Weight of each entity: the sum of the absolute values of its rows.
    """

    series: Any
    times: Any
    entities: Any
    weights: np.ndarray

    def __len__(self) -> int:
        """Return the number of entities."""
        return len(self.weights)


def read_fitted_series(model: Any, series: Any, times: Any) -> tuple[list[np.ndarray], Any]:
    """The series that a model was fitted on as a list of arrays, and their times if any."""
    if hasattr(series, "entities"):
        times = series.times if times is None else times
        series = series.series
    arrays = [np.asarray(values, dtype=np.float64) for values in series]
    if len(arrays) != len(model.labels_):
        raise ValueError(
            f"{len(arrays)} series, but the model was fitted on {len(model.labels_)} rows; pass "
            "the series that it was fitted on"
        )
    return arrays, times


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
    """Convert a long table to one series per entity, with the columns that describe it.

    Parameters
    ----------
    table : pandas, polars or pyarrow table
        One row per entity and time, in any order. Rows without a value (null, NaN) are ignored.
    entity : str or sequence of str
        Columns that together identify an entity, such as district, age and sex. They become the
        explanation features.
    time : str
        Column of dates, times, numbers, or text such as ``2020-01-31`` or ``Jan 31 2020``.
    value : str
        Numeric column.
    aggregate : {"mean", "sum", "median", "min", "max"}, default="mean"
        Aggregation of several rows of an entity at one time (or in one step of `frequency`).
    moving_average : int, optional
        Window length of a trailing moving average. Only full windows are kept, so a series gets
        shorter by ``moving_average - 1``.
    interpolate : bool, default=False
        Whether to interpolate missing times of an entity linearly. If False, a gap raises an error
        that names the entity and the time.
    fill_value : float, optional
        Value for missing times of an entity, also before its first and after its last time; for
        example 0 if no row means that nothing was sold.
    coverage : {"equal", "common", "own"}, default="equal"
        Treatment of entities that start late or end early. "equal": raise an error that names the
        first. "common": restrict all series to their common times. "own": keep series of different
        lengths, which dynamic time warping can compare.
    frequency : {"hour", "day", "week", "month", "year"} or float, optional
        Step into which times are grouped, for example hours into days. Steps in which no entity
        has a row are then missing times too. A number for numeric times.
    relative : bool, default=False
        Whether to divide each series by its mean at the end, so that entities are compared by the
        shape of their series and not by their level.

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
    >>> result = series_from_long(table, entity="district", time="day", value="people")
    >>> result.series
    array([[15., 25.],
           [ 7.,  9.]])
    >>> result.entities["district"].to_list(), result.weights.tolist()
    (['Jongno', 'Jung'], [55.0, 16.0])
    """
    columns = [entity] if isinstance(entity, str) else list(entity)
    frame = read_table(table, columns, time, value)
    entities, entity_of_row = read_entities(frame, columns)
    values = frame.get_column(value).to_numpy().astype(np.float64)
    cells = _Cells(entities, entity_of_row, read_times(frame.get_column(time)), values, time)
    options = aggregate, moving_average, interpolate, fill_value, coverage, frequency, relative

    def label(row: int) -> str:
        return ", ".join(f"{name}={entities.get_column(name).to_list()[row]!r}" for name in columns)

    return _make_series(cells, label, options)


def series_from_wide(
    table: Any,
    times: str | Sequence[str],
    *,
    entity: str | Sequence[str] | None = None,
    aggregate: str = "mean",
    moving_average: int | None = None,
    interpolate: bool = False,
    fill_value: float | None = None,
    coverage: str = "equal",
    frequency: Any = None,
    relative: bool = False,
) -> SeriesTable:
    """Convert a wide table, with one row per entity and one column per time, to series.

    Parameters
    ----------
    table : pandas, polars or pyarrow table
        Rows without any value are ignored.
    times : str or sequence of str
        Numeric columns of the values: names, patterns such as ``"y19*"``, or ranges such as
        ``"1952:2007"``, which select all columns from the first to the last. The times are the
        years, dates or numbers in the names of the columns, else 1, 2, ...
    entity : str or sequence of str, optional
        Columns that describe an entity, the explanation features. None selects all columns that
        are not in `times`.
    aggregate, moving_average, interpolate, fill_value, coverage, frequency, relative : optional
        As in :func:`series_from_long`.

    Returns
    -------
    SeriesTable
        With `series`, `times`, `entities` (in the order of the table) and `weights`.

    Examples
    --------
    >>> import polars as pl
    >>> from pellucid.xclusters import series_from_wide
    >>> table = pl.DataFrame({"who": ["a", "b"], "y1952": [1.0, 2.0], "y1957": [3.0, 2.0]})
    >>> found = series_from_wide(table, "y19*")
    >>> found.series
    array([[1., 3.],
           [2., 2.]])
    >>> found.times, found.entities.columns
    (array([1952, 1957]), ['who'])
    """
    frame = _as_frame(table)
    columns = match_columns(frame.columns, [times] if isinstance(times, str) else times)
    described = [entity] if isinstance(entity, str) else entity
    if described is None:
        described = [name for name in frame.columns if name not in columns]
    if missing := [name for name in described if name not in frame.columns]:
        raise ValueError(f"the table has no column {missing[0]!r}")
    grid = np.column_stack([_read_values(frame, name) for name in columns])
    is_kept = ~np.isnan(grid).all(axis=1)
    if not is_kept.any():
        raise ValueError("the columns of the times have no value in any row")
    entities, grid = frame.filter(is_kept.tolist()).select(described), grid[is_kept]
    row, column = np.nonzero(~np.isnan(grid))
    times_of_cells = read_column_times(columns)[column]
    cells = _Cells(entities, row, times_of_cells, grid[row, column], "times")
    options = aggregate, moving_average, interpolate, fill_value, coverage, frequency, relative
    number = np.flatnonzero(is_kept)
    return _make_series(cells, lambda row: f"row {number[row]}", options)


def _read_values(frame: Any, name: str) -> np.ndarray:
    """A numeric column, with NaN for missing values."""
    import narwhals as nw

    column = frame.get_column(name)
    if not column.dtype.is_numeric():
        raise ValueError(f"column {name!r} is not numeric (its type is {column.dtype})")
    values = column.cast(nw.Float64).to_numpy().astype(np.float64)
    if np.isinf(values).any():
        row = int(np.isinf(values).argmax())
        raise ValueError(f"column {name!r} is infinite at row {row}; correct or drop such rows")
    return values


class _Cells(NamedTuple):
    """Entities, and triples (entity, time, value); the name of the times in error messages."""

    entities: Any
    entity: np.ndarray
    times: np.ndarray
    values: np.ndarray
    time_name: str


def _make_series(cells: _Cells, label: _Label, options: tuple[Any, ...]) -> SeriesTable:
    """Series of entities; the options are those of `series_from_long` in its order."""
    aggregate, moving_average, interpolate, fill_value, coverage, frequency, relative = options
    known = ("aggregate", aggregate, AGGREGATES), ("coverage", coverage, COVERAGES)
    for name, value, choices in known:
        if value not in choices:
            raise ValueError(f"{name}={value!r}; choose one of {', '.join(choices)}")
    if interpolate and fill_value is not None:
        raise ValueError(f"{flag('interpolate')} and {option('fill_value')} exclude each other")
    entities, entity, _, values, _ = cells
    times, time = time_axis(cells.times, frequency, cells.time_name)
    grid = _aggregate(entity * len(times) + time, values, aggregate, len(entities) * len(times))
    grid = grid.reshape(len(entities), len(times))
    if fill_value is not None:
        grid[np.isnan(grid)] = fill_value
    times, grid = _restrict_times(times, grid, coverage, label)
    _fill_gaps(times, grid, interpolate, label)
    all_times, all_series = [], []
    for row, values_of_row in enumerate(grid):
        known = ~np.isnan(values_of_row)
        series_times, series = times[known], values_of_row[known]
        if moving_average is not None:
            series_times, series = _smooth(series_times, series, moving_average, label(row))
        if relative and not (mean := series.mean()) > 0:
            raise ValueError(
                f"{flag('relative')} requires a positive mean, but the mean of {label(row)} is "
                f"{mean:g}; drop such entities"
            )
        all_times.append(series_times)
        all_series.append(series / series.mean() if relative else series)
    total = _aggregate(entity, np.abs(values), "sum", len(entities))
    if coverage == "own":
        return SeriesTable(all_series, all_times, entities.to_native(), total)
    return SeriesTable(np.array(all_series), all_times[0], entities.to_native(), total)


def _aggregate(cell: np.ndarray, values: np.ndarray, aggregate: str, n_cells: int) -> np.ndarray:
    """Aggregate the values of each cell, whatever the order of the rows; NaN for empty cells."""
    order = np.lexsort((values, cell))
    cell, values = cell[order], values[order]
    start = np.flatnonzero(np.r_[True, np.diff(cell) > 0])
    size = np.diff(np.r_[start, len(cell)])
    total = np.add.reduceat(values, start)
    aggregated = {
        "min": values[start],
        "max": values[start + size - 1],
        "median": (values[start + (size - 1) // 2] + values[start + size // 2]) / 2,
        "sum": total,
        "mean": total / size,
    }
    result = np.full(n_cells, np.nan)
    result[cell[start]] = aggregated[aggregate]
    return result


def _restrict_times(
    times: np.ndarray, grid: np.ndarray, coverage: str, label: _Label
) -> tuple[np.ndarray, np.ndarray]:
    """Apply `coverage` to entities that start late or end early."""
    if coverage == "own":
        return times, grid
    known = ~np.isnan(grid)
    first, last = known.argmax(axis=1), known.shape[1] - 1 - known[:, ::-1].argmax(axis=1)
    if coverage == "common":
        start, stop = int(first.max()), int(last.min()) + 1
        if start >= stop:
            late, early = int(first.argmax()), int(last.argmin())
            raise ValueError(
                f"no time is common to all entities: {label(late)} starts at {times[start]}, "
                f"{label(early)} ends at {times[stop - 1]}; use {option('coverage', 'own')}, or "
                "drop an entity"
            )
        return times[start:stop], grid[:, start:stop]
    for row in np.flatnonzero((first > 0) | (last < len(times) - 1)).tolist():
        is_late = first[row] > 0
        verb, own, other = ("starts", first, 0) if is_late else ("ends", last, -1)
        raise ValueError(
            f"the series of {label(row)} {verb} at {times[own[row]]}, others at {times[other]}; "
            f"use {option('coverage', 'common')} for the common times, {option('coverage', 'own')} "
            f"for series of different lengths, or {option('fill_value', 0)} if no row means a "
            "value of 0"
        )
    return times, grid


def _fill_gaps(times: np.ndarray, grid: np.ndarray, interpolate: bool, label: _Label) -> None:
    """Interpolate gaps in place, or raise an error that names the first gap."""
    is_date = times.dtype.kind == "M"
    numbers = (times.astype("datetime64[us]").astype(np.int64) if is_date else times).astype(float)
    for row in np.flatnonzero(np.isnan(grid).any(axis=1)).tolist():
        known = np.flatnonzero(~np.isnan(grid[row]))
        inside = slice(known[0], known[-1] + 1)
        gaps = np.flatnonzero(np.isnan(grid[row, inside])) + known[0]
        if len(gaps) and not interpolate:
            more = f" (and at {len(gaps) - 1} more times)" if len(gaps) > 1 else ""
            raise ValueError(
                f"{label(row)} has no value at {times[gaps[0]]}{more}; use "
                f"{flag('interpolate')} to fill gaps, or {option('fill_value', 0)} if no row means "
                "a value of 0"
            )
        grid[row, gaps] = np.interp(numbers[gaps], numbers[known], grid[row, known])


def _smooth(
    times: np.ndarray, series: np.ndarray, width: int, name: str
) -> tuple[np.ndarray, np.ndarray]:
    """Trailing moving average over full windows of `width` values."""
    if width != int(width) or width < 1:
        raise ValueError(f"{option('moving_average', width)} must be an integer of at least 1")
    if width > len(series):
        raise ValueError(
            f"{option('moving_average', width)}, but the series of {name} has only "
            f"{len(series)} times"
        )
    windows = np.lib.stride_tricks.sliding_window_view(series, int(width))
    return times[int(width) - 1 :], windows.mean(axis=1)


def _as_frame(table: Any) -> Any:
    if (frame := as_table(table)) is None:
        kind = type(table).__name__
        raise TypeError(f"table is a {kind}; expected a pandas, polars or pyarrow table")
    return frame


def read_table(table: Any, columns: list[str], time: str, value: str) -> Any:
    """Validate the columns; return the rows with a value as a narwhals table."""
    frame = _as_frame(table)
    if not columns:
        raise ValueError("entity must name at least one column")
    for name in (*columns, time, value):
        if name not in frame.columns:
            raise ValueError(
                f"the table has no column {name!r}; its columns are {', '.join(frame.columns)}"
            )
    if len({*columns, time, value}) < len(columns) + 2:
        raise ValueError("entity, time and value must be different columns")
    numbers = _read_values(frame, value)
    for name in columns:
        if len(missing := np.flatnonzero(frame.get_column(name).is_null().to_numpy())):
            raise ValueError(
                f"entity column {name!r} is missing at row {missing[0]}; drop such rows, or fill "
                "in a value such as 'unknown'"
            )
    known = ~np.isnan(numbers)
    if not known.any():
        raise ValueError(f"column {value!r} has no value in any row")
    return frame if known.all() else frame.filter(known.tolist())


def read_entities(frame: Any, columns: list[str]) -> tuple[Any, np.ndarray]:
    """The entities in sorted order, and the index of the entity of each row."""
    row, position = "row", "position"
    while row in columns or position in columns:
        row, position = f"{row}_", f"{position}_"
    entities = frame.select(columns).unique().sort(columns)
    rows = frame.select(columns).with_row_index(row)
    # Joins do not keep the order of rows in every library.
    rows = rows.join(entities.with_row_index(position), on=columns, how="left").sort(row)
    return entities, rows.get_column(position).to_numpy().astype(np.intp)


def read_times(column: Any) -> np.ndarray:
    """Convert a narwhals column of dates, times, numbers or text to datetime64 or numbers."""
    import narwhals as nw

    name, dtype = column.name, column.dtype
    is_missing = column.is_null().to_numpy()
    if dtype.is_numeric():
        is_missing = is_missing | ~np.isfinite(column.to_numpy())
    if len(missing := np.flatnonzero(is_missing)):
        raise ValueError(f"column {name!r} has no time at row {missing[0]}; drop such rows")
    if dtype == nw.Datetime:
        if dtype.time_zone is not None:
            column = column.dt.replace_time_zone(None)
        return column.to_numpy().astype("datetime64[us]")
    if dtype == nw.Date:
        return column.to_numpy().astype("datetime64[D]")
    return column.to_numpy() if dtype.is_numeric() else _read_text(column.to_list(), name)


def parse_dates(texts: Sequence[str]) -> np.ndarray | None:
    """Parse dates of one format in which day and month cannot be confused; None if none fits."""
    if all(map(_ISO.fullmatch, texts)):
        try:
            return np.array([text.replace(" ", "T") for text in texts], dtype="datetime64[D]")
        except ValueError:
            return None
    for form in _FORMATS:
        try:
            dates = [dt.datetime.strptime(text.strip(), form).date() for text in texts]
        except ValueError:
            continue
        return np.array(dates, dtype="datetime64[D]")
    return None


def time_axis(times: np.ndarray, frequency: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """All times or steps in ascending order, and the index of each of `times` among them."""
    if frequency is None:
        return np.unique(times, return_inverse=True)
    times = _to_steps(times, frequency, name)
    first, last = times.min(), times.max()
    if times.dtype.kind == "M":
        unit: Any = np.datetime_data(times.dtype)[0]
        step = np.timedelta64(7 if frequency == "week" else 1, unit)
        return np.arange(first, last + step, step), ((times - first) // step).astype(np.intp)
    position = np.rint((times - first) / frequency).astype(np.intp)
    return first + frequency * np.arange(position.max() + 1), position


def _to_steps(times: np.ndarray, frequency: Any, name: str) -> np.ndarray:
    """Round each time down to the start of its step; weeks start on Monday, numeric steps at 0."""
    if times.dtype.kind == "M":
        if frequency not in FREQUENCIES:
            raise ValueError(
                f"frequency={frequency!r}, but column {name!r} contains dates: choose one of "
                f"{', '.join(FREQUENCIES)}"
            )
        if frequency != "week":
            return times.astype(f"datetime64[{_UNITS[frequency]}]")
        days = times.astype("datetime64[D]").astype(np.int64)
        return (days - (days + _DAYS_SINCE_MONDAY) % 7).astype("datetime64[D]")
    if isinstance(frequency, str) or not frequency > 0:
        raise ValueError(
            f"frequency={frequency!r}, but column {name!r} contains numbers: use a positive number"
        )
    return np.floor(times / frequency) * frequency


def _read_text(values: list[Any], name: str) -> np.ndarray:
    """Convert text or date objects to datetime64; each distinct value is parsed once."""
    distinct: dict[Any, int] = {}
    codes = np.array([distinct.setdefault(v, len(distinct)) for v in values], dtype=np.intp)
    for value in distinct:
        if isinstance(value, str) and not _ISO.fullmatch(value):
            dates = parse_dates([v for v in distinct if isinstance(v, str)])
            if dates is None or len(dates) < len(distinct):
                _raise_unreadable(value, name)
            return dates[codes]
    texts = [value.replace(" ", "T") if isinstance(value, str) else value for value in distinct]
    times = np.empty(len(texts), dtype="datetime64[us]")
    for i, text in enumerate(texts):
        try:
            times[i] = np.datetime64(text, "us")
        except (ValueError, TypeError):
            _raise_unreadable(text, name)
    if np.array_equal(times, times.astype("datetime64[D]")):
        times = times.astype("datetime64[D]")
    return times[codes]


def _raise_unreadable(value: Any, name: str) -> NoReturn:
    raise ValueError(
        f"column {name!r} contains {value!r}, which is neither a number nor a date such as "
        "'2020-01-31' or '2020-01-31T18:00'; convert the column to dates or numbers first, for "
        "example by pandas.to_datetime or polars' str.to_datetime"
    )


def find_time_columns(names: Sequence[str]) -> tuple[list[str], str] | None:
    """Columns named by times, such as ``y1952``, and the prefix of their names; None if few."""
    groups: dict[str, list[str]] = {}
    for name in names:
        if parse_dates([name]) is not None:
            groups.setdefault("", []).append(name)
        elif (match := _YEAR.fullmatch(name)) is not None:
            groups.setdefault(match["prefix"], []).append(name)
    found = [(group, prefix) for prefix, group in groups.items() if len(group) >= FEWEST_TIMES]
    if len(found) > 1:
        first, second = (f"'{prefix}*'" for _, prefix in found[:2])
        raise InputError(
            f"the columns of the times form several series, such as {first} and {second}",
            hint=f"choose one by {option('times')} {first}",
        )
    return found[0] if found else None


def match_columns(names: Sequence[str], selection: Sequence[str]) -> list[str]:
    """Columns given by name, by a pattern such as ``y19*``, or by a range ``first:last``."""
    names = list(names)
    chosen: set[str] = set()
    for item in selection:
        if item in names:
            chosen.add(item)
            continue
        matched = [name for name in names if fnmatchcase(name, item)]
        first, colon, last = item.partition(":")
        if not matched and colon and first in names and last in names:
            matched = names[names.index(first) : names.index(last) + 1]
        if not matched:
            raise InputError(
                f"no column has the name, pattern or range {item!r}",
                hint=f"the columns are {format_names(names)}",
            )
        chosen.update(matched)
    return [name for name in names if name in chosen]


def read_column_times(names: Sequence[str]) -> np.ndarray:
    """Times from the names of columns without a shared prefix: numbers or dates, else 1, 2, ..."""
    prefix = re.sub(r"[\d./:-]+$", "", commonprefix(list(names)))  # noqa: RUF071
    for texts in (list(names), [name.removeprefix(prefix).strip() for name in names]):
        if (dates := parse_dates(texts)) is not None:
            return dates
        if all(map(_NUMBER.fullmatch, texts)):
            numbers = np.array(texts, dtype=np.float64)
            return numbers.astype(np.int64) if (numbers == np.rint(numbers)).all() else numbers
    years = [match["year"] for match in map(_YEAR.fullmatch, names) if match is not None]
    if len(set(years)) == len(names):
        return np.array(years, dtype=np.int64)
    return np.arange(1, len(names) + 1)
