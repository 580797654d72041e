"""Read the entities and times of a long table."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.tables.frames import as_table
from pellucid.xclusters.series.times import all_steps, to_steps


def read_table(table: Any, columns: list[str], time: str, value: str) -> Any:
    """Validate the columns; return the rows with a value as a narwhals table."""
    frame = as_table(table)
    if frame is None:
        raise TypeError(
            f"table is a {type(table).__name__}; expected a pandas, polars or pyarrow table"
        )
    if not columns:
        raise ValueError("entity must name at least one column")
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
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        raise ValueError(
            f"column {value!r} is infinite at row {infinite[0]}; correct or drop such rows"
        )
    for name in columns:
        missing = np.flatnonzero(frame.get_column(name).is_null().to_numpy())
        if len(missing):
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
    row, position = (_unused_name(columns, name) for name in ("row", "position"))
    entities = frame.select(columns).unique().sort(columns)
    rows = frame.select(columns).with_row_index(row)
    # Joins do not keep the order of rows in every library.
    rows = rows.join(entities.with_row_index(position), on=columns, how="left").sort(row)
    return entities, rows.get_column(position).to_numpy().astype(np.intp)


def _unused_name(columns: list[str], name: str) -> str:
    while name in columns:
        name += "_"
    return name


def time_axis(row_times: np.ndarray, frequency: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """All times in ascending order, and the index of the time of each row."""
    if frequency is None:
        times, index = np.unique(row_times, return_inverse=True)
        return times, index.reshape(-1)
    times, index = np.unique(to_steps(row_times, frequency, name), return_inverse=True)
    steps, position = all_steps(times, frequency)
    return steps, position[index.reshape(-1)]
