"""The rows of a long table: which entity, at which time."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.tables.frames import as_table
from pellucid.xclusters.series.times import all_steps, read_times, to_steps


def read_table(table: Any, columns: list[str], time: str, value: str):
    """The rows of a table that have a value, as a narwhals table."""
    frame = as_table(table)
    if frame is None:
        raise TypeError(
            f"table is a {type(table).__name__}; give a pandas, polars or pyarrow table"
        )
    if not columns:
        raise ValueError("entity names no column; name at least one")
    for name in (*columns, time, value):
        if name not in frame.columns:
            raise ValueError(
                f"the table has no column {name!r}; its columns are {', '.join(frame.columns)}"
            )
    if len({*columns, time, value}) < len(columns) + 2:
        raise ValueError("entity, time and value must be different columns")
    if not frame.schema[value].is_numeric():
        raise ValueError(f"column {value!r} is not numeric (its type is {frame.schema[value]})")
    numbers = frame.get_column(value).to_numpy().astype(np.float64)
    endless = np.flatnonzero(np.isinf(numbers))
    if len(endless):
        raise ValueError(
            f"column {value!r} is infinite at row {endless[0]}; mend or drop such rows"
        )
    for name in columns:
        empty = np.flatnonzero(frame.get_column(name).is_null().to_numpy())
        if len(empty):
            raise ValueError(
                f"column {name!r} names no entity at row {empty[0]}; drop such rows, or give them "
                "a name such as 'unknown'"
            )
    known = ~np.isnan(numbers)
    if not known.any():
        raise ValueError(f"column {value!r} holds no value in any row")
    return frame if known.all() else frame.filter(known.tolist())


def read_entities(frame, columns: list[str]):
    """The entities in sorted order, and which of them each row belongs to."""
    at, place = (_free_name(columns, start) for start in ("row", "place"))
    entities = frame.select(columns).unique().sort(columns)
    rows = frame.select(columns).with_row_index(at)
    # Not every kind of table keeps the order of rows when it joins.
    rows = rows.join(entities.with_row_index(place), on=columns, how="left").sort(at)
    return entities, rows.get_column(place).to_numpy().astype(np.intp)


def _free_name(columns: list[str], name: str) -> str:
    while name in columns:
        name += "_"
    return name


def read_moments(column, frequency: Any) -> tuple[np.ndarray, np.ndarray]:
    """All times in order, and which of them each row has."""
    when = read_times(column)
    if frequency is None:
        times, moment = np.unique(when, return_inverse=True)
        return times, moment.reshape(-1)
    times, moment = np.unique(to_steps(when, frequency, column.name), return_inverse=True)
    steps, place = all_steps(times, frequency)
    return steps, place[moment.reshape(-1)]
