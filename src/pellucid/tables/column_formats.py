"""How the values of a numeric column are written: dates, units, years and small integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "integer", "year", "date", "datetime"]


@dataclass(frozen=True)
class ColumnFormat:
    """How the numbers of one column of a table are read and written.

    A date or a time is a number of days since 1970-01-01; a time has a fraction.

    Attributes
    ----------
    kind : {"number", "integer", "year", "date", "datetime"}
        A year is an integer that is written without thousands separators.
    prefix, suffix : str
        Text around each number in the file, such as ``$`` or ``%``.
    values : tuple of int
        All values of an integer column that has few of them, in increasing order; otherwise empty.
    date_format : str
        Format of dates in the file, as for ``datetime.strptime``; empty if the column has a date
        type.
    """

    kind: Kind = "number"
    prefix: str = ""
    suffix: str = ""
    values: tuple[int, ...] = ()
    date_format: str = ""
