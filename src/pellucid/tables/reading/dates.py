"""Dates and times in text, and their numbers of days."""

from __future__ import annotations

from datetime import time
from itertools import product
from typing import Any, NamedTuple

import polars as pl

_TIME = (
    r"(?P<time>(?P<gap>,? |T)\d{1,2}:\d{2}(?P<seconds>:\d{2})?(?P<fraction>\.\d+)?"
    r"(?P<half>(?P<halfgap> ?)[AaPp][Mm])?(?P<zone>(?P<zonegap> ?)(?:Z|[-+]\d{2}:?\d{2}))?)?$"
)
_MONTH = r"[A-Za-z]{3,9}"

SHAPES: dict[str, tuple[str, ...]] = {
    **{
        rf"^\d{{4}}{mark}\d{{1,2}}{mark}\d{{1,2}}": (f"%Y{sign}%m{sign}%d",)
        for mark, sign in ((r"-", "-"), (r"/", "/"), (r"\.", "."))
    },
    **{
        rf"^\d{{1,2}}{mark}\d{{1,2}}{mark}\d{{{width}}}": (
            f"%d{sign}%m{sign}%{year}",
            f"%m{sign}%d{sign}%{year}",
        )
        for (mark, sign), (width, year) in product(
            ((r"/", "/"), (r"-", "-"), (r"\.", ".")), ((4, "Y"), (2, "y"))
        )
    },
    **{
        shape: tuple(each.replace("%b", month) for month in ("%b", "%B") for each in formats)
        for shape, formats in (
            (rf"^{_MONTH} \d{{1,2}} \d{{4}}", ("%b %d %Y",)),
            (rf"^{_MONTH} \d{{1,2}}, ?\d{{4}}", ("%b %d, %Y", "%b %d,%Y")),
            (rf"^\d{{1,2}} {_MONTH} \d{{4}}", ("%d %b %Y",)),
            (rf"^\d{{1,2}}-{_MONTH}-\d{{4}}", ("%d-%b-%Y",)),
            (rf"^\d{{1,2}}-{_MONTH}-\d{{2}}", ("%d-%b-%y",)),
            (rf"^{_MONTH} \d{{4}}", ("%b %Y",)),
        )
    },
    r"^\d{4}-\d{2}": ("%Y-%m",),
}
"""Formats of dates by their shape; the formats of one shape exclude each other."""

_ANY_SHAPE = rf"^(?:\d{{1,4}}[-/.]\d{{1,2}}|{_MONTH} \d{{1,4}}|\d{{1,2}}[ -]{_MONTH})"

FIRST_YEAR, LAST_YEAR = 1000, 2999
SHARE = 0.9
"""Least share of the present values of a column that must fit its type."""


class DateReading(NamedTuple):
    """Dates of a text column, null where the text has another format.

    The format is as for ``datetime.strptime``. It is ambiguous if day and month could be exchanged
    in all values.
    """

    values: pl.Series
    date_format: str
    is_ambiguous: bool

    @property
    def is_day_first(self) -> bool:
        """Whether the day comes before the month."""
        return self.date_format.find("%d") < self.date_format.find("%m")


def read_dates(values: pl.Series, counts: pl.Series, *, day_first: bool) -> DateReading | None:
    """Read dates if most values have the same shape; None otherwise.

    `values` are different values that are not markers of missing values, and `counts` how often
    they occur. If all values fit both orders of day and month, `day_first` decides.
    """
    needed = SHARE * int(counts.sum())
    if counts.filter(values.str.contains(_ANY_SHAPE).fill_null(False)).sum() < needed:
        return None
    for shape, formats in SHAPES.items():
        fits = values.str.contains(shape + _TIME).fill_null(False)
        if counts.filter(fits).sum() < needed:
            continue
        tail = _time_format(values.filter(fits), counts.filter(fits), shape)
        found = [(_parse(values, each + tail), each + tail) for each in formats]
        n_read = [int(counts.filter(parsed.is_not_null()).sum()) for parsed, _ in found]
        best = max(n_read)
        if best < needed:
            continue
        ties = [each for each, n in zip(found, n_read) if n == best]
        different = len(ties) > 1 and not ties[0][0].equals(ties[1][0], null_equal=True)
        chosen = ties[0 if day_first or not different else 1]
        python_format = chosen[1].replace("%.f", ".%f").replace("%#z", "%z")
        return DateReading(chosen[0], python_format, different)
    return None


def parse_dates(values: pl.Series, date_format: str) -> pl.Series:
    """Parse text by a format of ``datetime.strptime``; null where it does not fit."""
    return _parse(values, date_format.replace("%S.%f", "%S%.f").replace("%z", "%#z"))


def days(column: pl.Series) -> pl.Series:
    """Dates and times as days since 1970-01-01."""
    if column.dtype == pl.Date:
        return column.cast(pl.Int32).cast(pl.Float64)
    if isinstance(column.dtype, pl.Datetime) and column.dtype.time_zone is not None:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return column.dt.epoch("us").cast(pl.Float64) / (24 * 60 * 60 * 1e6)


def is_midnight(column: pl.Series) -> bool:
    """Whether all times of a column are the start of a day."""
    return bool((column.drop_nulls().dt.time() == time(0)).all())


def dates_in_integers(column: pl.Series) -> pl.Series | None:
    """The dates of integers such as 20201231; None if a value is no date."""
    first, last = 19000101, 20991231
    low: Any = column.min()
    high: Any = column.max()
    if low is None or low < first or high > last or low == high:
        return None
    found = column.cast(pl.String).str.to_date("%Y%m%d", strict=False)
    return found if found.null_count() == column.null_count() else None


def _parse(values: pl.Series, date_format: str) -> pl.Series:
    if "%H" in date_format or "%I" in date_format:
        parsed = values.str.to_datetime(date_format, strict=False, time_unit="us")
        if isinstance(parsed.dtype, pl.Datetime) and parsed.dtype.time_zone is not None:
            parsed = parsed.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    else:
        parsed = values.str.to_date(date_format, strict=False)
    year = parsed.dt.year()
    outside = ((year < FIRST_YEAR) | (year > LAST_YEAR)).fill_null(False)
    return parsed.set(outside, None) if outside.any() else parsed


def _time_format(values: pl.Series, counts: pl.Series, shape: str) -> str:
    """The format of the time of day that most values have; empty for none."""
    parts = values.str.extract_groups(shape + _TIME).struct.unnest()

    def usual(name: str) -> str:
        """The text of a group in most of the values that have it."""
        there = pl.DataFrame({"part": parts[name], "n": counts}).drop_nulls("part")
        weight = there.group_by("part").agg(pl.col("n").sum())
        return weight.sort("n", "part", descending=True)["part"][0]

    def mostly(name: str) -> bool:
        return counts.filter(parts[name].is_not_null()).sum() > counts.sum() / 2

    if not mostly("time"):
        return ""
    text = usual("gap") + ("%I:%M" if mostly("half") else "%H:%M")
    if mostly("seconds"):
        text += ":%S"
    if parts["fraction"].is_not_null().any():
        text += "%.f"
    if mostly("half"):
        text += usual("halfgap") + "%p"
    if mostly("zone"):
        text += usual("zonegap") + "%#z"
    return text
