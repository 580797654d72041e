"""The role of each column of a table: number, category, or ignored for a reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from pellucid._utils.notices import InputError, UsageError, notice, option
from pellucid._utils.texts import Message
from pellucid.table_explainer import meanings, tuning
from pellucid.table_explainer.arguments import ExplainOptions, match_names
from pellucid.tables.column_formats import ColumnFormat, Kind
from pellucid.tables.reading import days

_REASONS = {
    "identifier": Message("isIdentifier"),
    "code": Message("isCode"),
    "constant": Message("isConstant"),
    "near constant": Message("isNearConstant"),
    "missing": Message("isMissing"),
    "text": Message("isText"),
    "time": Message("isTime"),
    "nested": Message("isNested"),
    "date": Message("isDate"),
    "calendar part": Message("isCalendarPart"),
    "result": Message("isResult"),
    "kind": Message("isKind"),
}
# Words of names whose whole numbers never repeat, but are measurements.
_ORDERED = frozenset({"rank", "ranking", "place", "position", "time"})
_UNUSABLE = ("constant", "time", "nested")
_DESCRIBED = ("date", "calendar part", "result", "kind")


@dataclass
class ColumnRoles:
    """The roles of the columns."""

    numbers: list[str] = field(default_factory=list)  # clustered, as are the categories
    categories: list[str] = field(default_factory=list)
    profile: list[str] = field(default_factory=list)  # described in the result
    formats: dict[str, ColumnFormat] = field(default_factory=dict)
    ignored: dict[str, str] = field(default_factory=dict)  # with the reasons
    # Columns of `profile` that nobody asked for, with the reasons.
    described: dict[str, Message] = field(default_factory=dict)
    copies: list[str] = field(default_factory=list)  # those that repeat others
    forced: list[str] = field(default_factory=list)  # categories that were asked for
    requested: list[str] = field(default_factory=list)  # all columns that were asked for

    @property
    def used(self) -> list[str]:
        """All columns that are clustered, numbers first."""
        return [*self.numbers, *self.categories]

    def ignore(self, name: str, reason: str) -> None:
        """Give up a column of numbers that was to be clustered."""
        self.numbers.remove(name)
        self.formats.pop(name, None)
        self.ignored[name] = reason

    def describe(self, name: str, reason: Message) -> None:
        """Describe a column that was to be clustered."""
        for names in (self.numbers, self.categories):
            if name in names:
                names.remove(name)
        self.profile.append(name)
        self.described[name] = reason

    def is_quantity(self, column: pl.Series) -> bool:
        """Whether a column is described by a mean rather than by its most frequent value."""
        reason = self.described.get(column.name)
        is_part = reason == _REASONS["calendar part"] and not is_year(column)
        return is_quantity(column) and not is_part and reason != _REASONS["kind"]


def choose_roles(
    table: pl.DataFrame,
    formats: dict[str, ColumnFormat],
    options: ExplainOptions | None = None,
    *,
    reserved: Sequence[str] = (),
) -> ColumnRoles:
    """Decide the role of each column. `formats` were found while the table was read; `reserved`
    columns have another purpose.
    """
    options = options or ExplainOptions()
    names = _named_columns(table, options)
    requested = {*names["columns"], *names["include"]}
    forced = names["categorical"]
    chosen = ColumnRoles(profile=names["profile"], forced=forced, requested=[*requested, *forced])
    not_used = {*names["exclude"], *names["profile"], *reserved}
    candidates = names["columns"] if options.columns is not None else table.columns
    others = {name.lower() for name in table.columns}
    for name in dict.fromkeys([*candidates, *names["include"], *names["categorical"]]):
        if name in not_used:
            continue
        column, is_requested = table[name], name in requested
        if name in forced:
            if column.dtype.is_numeric() and is_long(column):
                raise InputError(
                    f"column {name!r} has numbers above 2**53, which cannot be categories",
                    hint=f"convert the column to text, or remove it from {option('categorical')}",
                )
            role = "nested" if is_nested(column.dtype) else "category"
        else:
            role = _role(column, is_requested=is_requested)
            if not is_requested and role in ("number", "category", "identifier", "kind"):
                whole = column.dtype.is_numeric() and _is_whole(column)
                role = meanings.meaning_of(known_values(column), others, is_whole=whole) or role
        if role == "number":
            chosen.numbers.append(name)
        elif role == "category":
            chosen.categories.append(name)
        elif role in _DESCRIBED:
            chosen.describe(name, _REASONS[role])
        elif is_requested:
            other = f", or add it to {option('categorical')}" if role == "text" else ""
            given = "columns" if name in names["columns"] else "include"
            hint = f"remove it from {option(given)}{other}"
            raise InputError(f"column {name!r} cannot be used: {_REASONS[role]}", hint=hint)
        else:
            chosen.ignored[name] = role
    for name in [*chosen.numbers, *chosen.profile]:
        if name in chosen.numbers or is_quantity(table[name]):
            chosen.formats[name] = find_format(table[name], formats.get(name, ColumnFormat()))
    if not chosen.used:
        raise _no_column(table, chosen)
    return chosen


def _named_columns(table: pl.DataFrame, options: ExplainOptions) -> dict[str, list[str]]:
    """The columns that each option names; a column in two options that conflict is an error."""
    names: dict[str, list[str]] = {}
    for parameter in ("columns", "include", "exclude", "profile", "categorical"):
        given = getattr(options, parameter)
        names[parameter] = [] if given is None else match_names(given, table.columns, parameter)
    conflicts = (
        *(("columns", "exclude"), ("columns", "profile"), ("categorical", "exclude")),
        *(("include", "exclude"), ("include", "profile")),
    )
    for first, second in conflicts:
        if both := [name for name in names[first] if name in names[second]]:
            raise UsageError(f"{both[0]!r} is in {option(first)} and in {option(second)}")
    return names


def _no_column(table: pl.DataFrame, chosen: ColumnRoles) -> InputError:
    """The error about a table in which no column is left; what it needs."""
    hint = f"choose columns with {option('include')}, or text columns with {option('categorical')}"
    if set(chosen.ignored.values()) == {"constant"}:
        hint = "every column has only one value"
    if (query := _query_of_events(table, chosen)) is not None:
        hint = f"the rows are events: make one row per {query[0]} first, such as {query[1]}"
    ignored = {name: _why_ignored(table[name], why) for name, why in chosen.ignored.items()}
    why = "; ".join(_grouped(chosen.described | ignored))
    return InputError(f"there is no column to cluster by: {why}", hint=hint)


def _query_of_events(table: pl.DataFrame, chosen: ColumnRoles) -> tuple[str, str] | None:
    """The ID of which the rows are events, and a query with one row per ID; None if they are no
    events. Events have a date, and an ID that repeats in most rows.
    """
    dates = [name for name, why in chosen.described.items() if why == _REASONS["date"]]
    for name, reason in (*chosen.ignored.items(), *chosen.described.items()):
        is_id = reason in ("identifier", _REASONS["kind"]) and meanings.is_named_identifier(name)
        if not is_id or not dates or 2 * table[name].n_unique() > table.height:
            continue
        numbers = [n for n in chosen.numbers if table[n].dtype.is_numeric()][:3]
        parts = [f'SUM("{number}")' for number in numbers]
        parts = [f'"{name}"', "COUNT(*)", *parts, f'MAX("{dates[0]}")']
        return name, f'SELECT {", ".join(parts)} FROM table GROUP BY "{name}"'
    return None


def find_format(column: pl.Series, known: ColumnFormat) -> ColumnFormat:
    """How the values of a numeric column are written."""
    dtype = column.dtype
    if dtype == pl.Date:
        return ColumnFormat("date", date_format=known.date_format)
    if dtype == pl.Datetime:
        kind: Kind = "date" if known.kind == "date" else "datetime"
        return ColumnFormat(kind, date_format=known.date_format)
    if not _is_whole(column):
        return known
    if is_year(column):
        return ColumnFormat("year")
    different = known_values(column).unique().sort()
    is_few = len(different) <= tuning.FEW_VALUES and not is_long(column)
    values = tuple(map(int, different)) if is_few else ()
    return ColumnFormat("integer", prefix=known.prefix, suffix=known.suffix, values=values)


def is_year(column: pl.Series) -> bool:
    """Whether a column has the name of a year and plausible values."""
    if not meanings.is_named_year(column.name) or not _is_whole(column):
        return False
    present = known_values(column)
    return len(present) > 0 and bool(present.cast(pl.Float64).is_between(*tuning.YEARS).all())


def known_values(column: pl.Series) -> pl.Series:
    column = column.drop_nulls()
    return column.drop_nans() if column.dtype.is_float() else column


def is_quantity(column: pl.Series) -> bool:
    """Whether a column is described by a mean rather than by its most frequent value."""
    if column.dtype in (pl.Date, pl.Datetime):
        return True
    return column.dtype.is_numeric() and column.n_unique() > 2


def as_number(column: pl.Series) -> pl.Series:
    """A numeric, date or time column as float64; dates as days since 1970-01-01."""
    is_time = column.dtype in (pl.Date, pl.Datetime, pl.Duration)
    return days(column) if is_time else column.cast(pl.Float64)


def as_category(column: pl.Series) -> pl.Series:
    """A categorical column: numbers, which SQL and `predict` compare as such, booleans and texts as
    they are, other types as text.
    """
    dtype = column.dtype
    if dtype.is_integer() or dtype in (pl.Float32, pl.Float64, pl.Boolean, pl.String):
        return column
    # The text in Python does not depend on the unit of times, unlike that of polars.
    texts = [None if value is None else str(value) for value in column.to_list()]
    return pl.Series(column.name, texts, dtype=pl.String)


def is_nested(dtype: Any) -> bool:
    """Whether a column is neither numbers, nor dates, nor text."""
    return dtype.is_nested() or dtype in (pl.Binary, pl.Object)


def is_long(column: pl.Series) -> bool:
    """Whether a numeric column has numbers of more than 53 bits, which float64 rounds."""
    return bool((known_values(column).cast(pl.Float64).abs() > 2**53).any())


def _role(column: pl.Series, *, is_requested: bool) -> str:
    """The role of a column: a number, a category, or the reason to ignore it."""
    dtype = column.dtype
    if is_nested(dtype):
        return "nested"
    if dtype == pl.Time:
        return "time"
    present = known_values(column)
    if len(present) < len(column) / 2 and not (is_requested and len(present)):
        return "missing"
    if len(present) == 0 or (present == present[0]).all():
        return "constant"
    if dtype == pl.Boolean:
        role = "category"
    elif dtype.is_numeric():
        role = _numeric_role(present)
    elif dtype.is_temporal():
        role = "number"
    else:
        role = _text_role(present, is_requested=is_requested)
    is_quantity = dtype.is_numeric() or dtype.is_temporal()
    if is_requested and is_quantity and role in ("identifier", "code", "kind"):
        is_few = role == "kind" and present.n_unique() <= tuning.MAX_CATEGORIES
        return "category" if is_few else "number"
    if is_requested:
        return role
    if role in ("number", "category") and _is_near_constant(present):
        return "near constant"
    return role


def _numeric_role(column: pl.Series) -> str:
    name, n_rows, n_different = column.name, len(column), column.n_unique()
    if not _is_whole(column):
        is_id = meanings.words_of(name)[-1:] == ["id"] and n_different > n_rows / 2
        return "identifier" if is_id else "number"
    if is_year(column):
        return "number"
    if n_different == 2 and not is_long(column):
        return "category"
    is_few = n_different <= min(tuning.MAX_CATEGORIES, max(2, n_rows // 10))
    if meanings.is_named_identifier(name):
        return "kind" if is_few else "identifier"
    if meanings.is_named_number(name):
        return "category" if is_few else "identifier"
    if meanings.is_named_code(name):
        return "kind" if n_different <= n_rows / 5 else "code"
    is_id = meanings.ends_with_id(name) and n_different > tuning.ALMOST_ALL * n_rows
    return "identifier" if is_id or _numbers_the_rows(column) else "number"


def _numbers_the_rows(column: pl.Series) -> bool:
    """Whether whole numbers count the rows in their order, or never repeat where chance would. Of n
    values that are drawn from r numbers, n² / 2r pairs are equal on average. Values in order may be
    sums, and 1 to n in any order are ranks, of which a few may be missing.
    """
    n_rows = len(column)
    steps = column.cast(pl.Float64).diff().drop_nulls()
    if n_rows <= 10:
        return False
    first, last = (float(each) for each in (column.min(), column.max()))  # type: ignore[arg-type]
    is_count = (steps == 1).all() or (steps == -1).all()
    if first in (0, 1) and is_count:
        return True
    if n_rows < tuning.FEWEST_NUMBERED or _ORDERED.intersection(meanings.words_of(column.name)):
        return False
    span = last - first
    if column.n_unique() < n_rows:
        return False
    if (steps > 0).all() or (steps < 0).all():
        return span < 2 * n_rows
    if first >= 0 and last <= n_rows / (1 - tuning.MISSING_RANKS):
        return False
    return 2 * tuning.EXPECTED_REPEATS * span <= n_rows**2


def _text_role(column: pl.Series, *, is_requested: bool) -> str:
    name, n_different = column.name, column.n_unique()
    is_few = n_different <= min(tuning.MAX_CATEGORIES, max(10, len(column) // 10))
    if not is_requested:
        is_id = not is_few and (meanings.is_named_number(name) or meanings.has_code_word(name))
        if is_id or (n_different > 5 and n_different > 0.9 * len(column)):
            return "identifier"
        if is_few and meanings.is_named_identifier(name):
            return "kind"
    return "category" if is_few else "text"


def _is_whole(column: pl.Series) -> bool:
    """Whether a numeric column holds integers, also written as 1.0."""
    if not column.dtype.is_float():
        return column.dtype.is_integer()
    # The first rows are almost always enough.
    parts = map(known_values, (column.head(tuning.FIRST_ROWS), column))
    return all(bool(((part == part.round()) & part.is_finite()).all()) for part in parts)


def _is_near_constant(column: pl.Series) -> bool:
    head = column.head(tuning.FIRST_ROWS)
    if max(head.unique_counts().to_list()) < tuning.NEAR_CONSTANT * len(head) - 5:
        return False
    return max(column.unique_counts().to_list()) > tuning.NEAR_CONSTANT * len(column)


def report_roles(table: pl.DataFrame, chosen: ColumnRoles) -> None:
    """Report which columns are ignored, described and clustered, each in one line."""
    if chosen.ignored:
        reasons = {*chosen.ignored.values()}
        options = [option("include")] if reasons - {*_UNUSABLE, "text", "gaps"} else []
        options += [option("categorical")] if reasons & {"text", "code"} else []
        options += [option("missing", "median")] if "gaps" in reasons else []
        parts = _grouped({n: _why_ignored(table[n], r) for n, r in chosen.ignored.items()})
        key = "ignoredUnless" if options else "ignored"
        n = len(chosen.ignored)
        notice(Message(key, parts=parts, n=n, options=" or ".join(options)))
    if chosen.described:
        n, parts = len(chosen.described), _grouped(chosen.described)
        notice(Message("described", parts=parts, n=n, option=option("include")))
    if (query := _query_of_events(table, chosen)) is not None:
        notice(Message("events", column=query[0], query=query[1]))
    if guessed := [name for name in chosen.categories if name not in chosen.forced]:
        notice(Message("categories", columns=guessed, option=option("exclude")))
    dates = [name for name in chosen.numbers if chosen.formats[name].is_date]
    if dates:
        notice(Message("dates", columns=dates, option=option("exclude")))
    codes = [name for name in chosen.numbers if 2 < len(chosen.formats[name].values) <= 6]
    if codes and table.height > 60:
        notice(Message("fewValues", columns=codes, option=option("categorical")))


def _why_ignored(column: pl.Series, reason: str) -> Message:
    if reason == "text":
        return Message("isTextOf", n=column.n_unique())
    if reason == "gaps":
        return Message("isGaps", share=column.null_count() / len(column))
    return _REASONS[reason]


def _grouped(reasons: Mapping[str, Message]) -> list[Message]:
    """Columns with the same reason, each group with the reason."""
    groups: dict[Message, list[Any]] = {}
    for name, reason in reasons.items():
        groups.setdefault(reason, []).append(name)
    for names in groups.values():
        if len(names) > tuning.MOST_LISTED:
            names[tuning.MOST_LISTED :] = [Message("andMore", n=len(names) - tuning.MOST_LISTED)]
    return [Message("because", columns=names, reason=why) for why, names in groups.items()]
