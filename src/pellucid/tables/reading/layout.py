"""The layout of a text table: separator, lines above the header, and the header."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from typing import NamedTuple

from pellucid._utils.notices import InputError, notice, option
from pellucid._utils.texts import Message
from pellucid.tables.reading.contents import MAX_LINE, check_columns
from pellucid.tables.reading.records import (
    FieldSeparator,
    Record,
    check_quotes,
    find_header,
    header_names,
    numbered_names,
    read_sample,
    report_skipped,
    rewrite,
    usual_width,
)
from pellucid.tables.reading.source import ReadingOptions
from pellucid.tables.reading.text_columns import is_number

SEPARATORS = "\t;|,"
"""Separators in the order of preference, if lines have equal numbers of fields with several."""

_HEAD = 1 << 17
_HEAD_LINES = 20
_SEPARATOR_LINE = re.compile(rb'^"?sep=(.)"?[ \t]*\r?\n', re.IGNORECASE)
_COMMENT = re.compile(r"^\s*(#|//|%|--)")
_CONSISTENT = 0.95
_SEPARATORS = {"\t": "separatedByTabs", " ": "separatedByBlanks"}


class TextTable(NamedTuple):
    """A text table with a known layout and unique column names.

    `content` has a header line with these names and the lines below it, which begin at `start`.
    `skip` and `n_above` count the lines of the file above its header and above its first row.
    """

    name: str
    dialect: FieldSeparator
    names: list[str]
    content: bytes
    start: int
    skip: int
    n_above: int
    has_header: bool

    @property
    def body(self) -> bytes:
        """The lines below the header."""
        return self.content[self.start :]

    def regular(self) -> TextTable:
        """The table with lines of equal length; an error names a line that is too short or long."""
        body = rewrite(self.name, self.body, self.dialect, len(self.names), self.n_above)
        dialect = FieldSeparator(self.dialect.separator)
        return self._replace(content=self.content[: self.start] + body, dialect=dialect)


def find_table(
    name: str, content: bytes, suffix: str, options: ReadingOptions, hints: ReadingOptions
) -> TextTable:
    """Find the layout of a table of UTF-8 text and print what is unusual.

    `options` is what the user has set; `hints` has values for what the file leaves open.
    """
    skip, separator = options.skip or 0, options.separator
    if options.skip is None and (match := _SEPARATOR_LINE.match(content)):
        skip, separator = 1, separator or match[1].decode()
    rest = content[_offset(content, skip) :]
    if not rest[:_HEAD].strip() and not rest.strip():
        raise InputError(f"{name} is empty", hint="a table needs a header line and rows")
    # In the second round, a field may be too long for the parser.
    for end in (_end_of_head(name, rest, skip), _HEAD):
        head = rest[:end].decode(errors="ignore")
        dialect, sample = _find_dialect(head, len(rest) > end, separator, hints.separator)
        if sample:
            break
    else:
        raise InputError(
            f"{name}: no line of fields is found at the start",
            hint="a quote may be opened and not closed",
        )
    usual = "\t" if suffix in (".tsv", ".tab") else ","
    if options.separator is None and dialect.separator != usual and len(sample[-1].fields) > 1:
        key = _SEPARATORS.get(dialect.separator, "separator")
        notice(Message(key, separator=repr(dialect.separator)))
    width, _ = usual_width(sample)
    top = 0
    if options.skip is None:
        top = _find_first(name, sample, width, skip)
        _report_titles(sample[:top], skip)
    first, rows = sample[top], sample[top + 1 :]
    width = width if first.fits(width) else max(width, len(first.fields))
    check_columns(name, width)
    has_header = find_header([row.fields for row in sample[top:]], options.header, hints.header)
    start = first.last if has_header else first.first - 1
    names = header_names(first.fields, rows, width) if has_header else numbered_names(width)
    begin, end = _offset(rest, first.first - 1), _offset(rest, start)
    if not rest[end : end + _HEAD].strip() and not rest[end:].strip():
        raise InputError(f"{name} has column names but no rows")
    header = _line(names, dialect.separator)
    if rest[begin:end] != header:
        rest, begin, end = header + rest[end:], 0, len(header)
    content, end = rest[begin:], end - begin
    if content.endswith((b"\n\n", b"\n\r\n")):
        content = content.rstrip() + b"\n"
    n_skipped = skip + first.first - 1
    table = TextTable(name, dialect, names, content, end, n_skipped, skip + start, has_header)
    if b'"' in content:
        check_quotes(name, table.body, dialect, table.n_above)
    return table.regular() if dialect.is_collapsed else table


def _end_of_head(name: str, content: bytes, skip: int) -> int:
    """Position after the first lines, which decide on the layout; at least `_HEAD` if possible."""
    end = 0
    for line in range(_HEAD_LINES):
        begin, end = end, content.find(b"\n", end) + 1 or len(content)
        if end - begin > MAX_LINE:
            raise InputError(
                f"{name}: line {skip + line + 1} is longer than {MAX_LINE >> 20} MB",
                hint="a text table has one line per row; export the table again",
            )
    return max(end, _HEAD)


def _line(fields: list[str], separator: str) -> bytes:
    line = io.StringIO(newline="")
    csv.writer(line, delimiter=separator, lineterminator="\n").writerow(fields)
    return line.getvalue().encode()


def _offset(content: bytes, n_lines: int) -> int:
    """Position after a number of lines."""
    position = 0
    for _ in range(n_lines):
        position = content.find(b"\n", position) + 1 or len(content)
    return position


def _find_dialect(
    head: str, is_cut: bool, given: str | None, hint: str | None
) -> tuple[FieldSeparator, list[Record]]:
    """The separator with which most lines have the same number of fields, and the first rows."""

    def sample(dialect: FieldSeparator) -> list[Record]:
        return read_sample(head, dialect, is_cut=is_cut)

    if given is not None and given != " ":
        if len(given) != 1:
            raise InputError(
                f"{option('sep')}: {given!r} is not one character", hint="use ',' or ';' or '|'"
            )
        return FieldSeparator(given), sample(FieldSeparator(given))
    found = []
    for rank, separator in enumerate("" if given == " " else SEPARATORS):
        rows = sample(FieldSeparator(separator))
        width, share = usual_width(rows)
        if width < 2 or share < 0.5 or (separator == "," and _is_decimal_comma(rows, width)):
            continue
        is_consistent = share >= _CONSISTENT
        key = (is_consistent, separator == hint, rows[0].fits(width), -rank)
        found.append((key if is_consistent else (False, share, False, -rank), separator, rows))
    consistent = [each for each in found if each[0][0]]
    if not consistent:
        blanks = _find_blanks(sample)
        if blanks is not None and (given or _has_numbers(blanks[1])):
            return blanks
        if given:
            return FieldSeparator(" ", True), sample(FieldSeparator(" ", True))
    if found:
        _, separator, rows = max(found)
        return FieldSeparator(separator), rows
    others = [(FieldSeparator(each), sample(FieldSeparator(each))) for each in ",;\t|"]
    return next((each for each in others if usual_width(each[1]) == (1, 1.0)), others[0])


def _find_blanks(
    sample: Callable[[FieldSeparator], list[Record]],
) -> tuple[FieldSeparator, list[Record]] | None:
    """Whether single blanks or any number of blanks separate fields; None for neither."""
    found = []
    for is_collapsed in (False, True):
        rows = sample(FieldSeparator(" ", is_collapsed))
        width, share = usual_width(rows)
        has_fields = all(any(each.fields[j : j + 1] != [""] for each in rows) for j in range(width))
        if width > 1 and share >= _CONSISTENT and has_fields:
            key = (rows[0].fits(width), share, not is_collapsed)
            found.append((key, FieldSeparator(" ", is_collapsed), rows))
    return max(found, key=lambda each: each[0])[1:] if found else None


def _is_decimal_comma(rows: list[Record], width: int) -> bool:
    """Whether all commas are decimal commas of one column of numbers."""
    below = rows[1:]
    return (
        width == 2
        and len(rows[0].fields) == 1
        and all(is_number(",".join(record.fields).strip()) for record in below)
    )


def _has_numbers(rows: list[Record]) -> bool:
    """Whether a column has numbers."""
    width, _ = usual_width(rows)
    below = [record.fields for record in rows[1:] if len(record.fields) == width]
    return any(sum(is_number(fields[j]) for fields in below) > len(below) / 2 for j in range(width))


def _find_first(name: str, sample: list[Record], width: int, skip: int) -> int:
    """The position of the header, or of the first row, below titles and comments."""
    if width == 1:
        return next((i for i, row in enumerate(sample) if not _COMMENT.match(row.fields[0])), 0)
    at = next(i for i, record in enumerate(sample) if record.fits(width))
    # R writes row names without a name for their column.
    if at and len(sample[at - 1].fields) == width - 1 and _are_names(sample[at - 1]):
        at -= 1
    for record in sample[:at]:
        n = sum(bool(each.strip()) for each in record.fields)
        if n > max(1, width // 2) and not _COMMENT.match(record.fields[0]):
            raise InputError(
                f"{name}: line {skip + record.first} has {len(record.fields)} fields, most lines "
                f"have {width}",
                hint=f"correct the line; {option('sep')} sets the separator, {option('skip')} the "
                "number of lines above the header",
            )
    return at


def _are_names(record: Record) -> bool:
    fields = [each.strip() for each in record.fields]
    is_comment = _COMMENT.match(fields[0]) is not None
    return len(fields) > 1 and not is_comment and not any(not e or is_number(e) for e in fields)


def _report_titles(titles: list[Record], skip: int) -> None:
    if not titles:
        return
    text = " ".join(filter(None, (each.strip() for each in titles[0].fields)))
    text = text if len(text) <= 40 else text[:37] + "..."
    first, last = skip + titles[0].first, skip + titles[-1].last
    key = "commentLines" if _COMMENT.match(titles[0].fields[0]) else "titleLines"
    report_skipped(key, first, last, text)
