"""Lines of a text table: fields, header and names of columns, errors with the number of a line."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from pellucid._utils.notices import InputError, notice, option
from pellucid._utils.texts import Message, count
from pellucid.tables.reading.text_columns import MARKERS, is_number

_PART, _N_PARTS = 1 << 17, 32
_QUOTED = re.compile(rb'"[^"]*"')
_BLANKS = re.compile(r'("[^"]*")|[ \t]+')
MAX_ROWS = 100
"""Rows that decide whether the first line is a header."""

_DATE = re.compile(r"^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T]|$)")


class FieldSeparator(NamedTuple):
    """The separator, and whether several separators in a row count as one."""

    separator: str
    is_collapsed: bool = False


class Record(NamedTuple):
    """The fields of a row, and the first and last line they come from, counted from 1.

    A quoted field can have several lines.
    """

    fields: list[str]
    first: int
    last: int

    @property
    def is_blank(self) -> bool:
        """Whether the line has no field, or only blanks."""
        return len(self.fields) < 2 and not any(map(str.strip, self.fields))

    def fits(self, width: int) -> bool:
        """Whether there are `width` fields, except for empty ones at the end."""
        return len(self.fields) == width or (
            len(self.fields) > width and not any(map(str.strip, self.fields[width:]))
        )


def read_records(
    text: str, dialect: FieldSeparator, start: int = 0, name: str = ""
) -> Iterator[Record]:
    """The rows of a text, of which `start` lines come before; `name` is that of the file."""
    lines = io.StringIO(text, newline="")
    source = (_collapse(line) for line in lines) if dialect.is_collapsed else lines
    reader = csv.reader(source, delimiter=dialect.separator)
    last = start
    try:
        for fields in reader:
            first, last = last + 1, start + reader.line_num
            yield Record(fields, first, last)
    except csv.Error as error:
        what = f"has {error}"
        if "field larger" in str(error):
            what = f"has a field of more than {csv.field_size_limit():,} characters"
        raise InputError(
            f"{name + ': ' if name else ''}line {last + 1} {what}",
            hint="shorten it; a quote may be opened there and not closed",
        ) from error


def check_quotes(name: str, content: bytes, dialect: FieldSeparator, start: int) -> None:
    """Raise an error that names the line, below `start` others, if a quote is not closed."""
    if content.count(b'"') % 2 == 0:
        return
    lines = io.StringIO(content.decode(), newline="")
    reader = csv.reader(lines, delimiter=dialect.separator, strict=True)
    last = start
    try:
        for _ in reader:
            last = start + reader.line_num
    except csv.Error as error:
        if "unexpected end" in str(error) or "field larger" in str(error):
            raise InputError(
                f"{name}: a quote in line {last + 1} is not closed",
                hint="close or delete the quote",
            ) from error


def read_sample(
    text: str, dialect: FieldSeparator, *, is_cut: bool, limit: int = 500
) -> list[Record]:
    """The first rows that are not blank. The last row of a text that is cut off is left out."""
    try:
        found = list(islice(read_records(text, dialect), limit + 1))
    except InputError:
        return []
    if (is_cut and len(found) > 1) or len(found) > limit:
        found = found[:-1]
    return [record for record in found if not record.is_blank]


def usual_width(sample: list[Record]) -> tuple[int, float]:
    """The most common number of fields, and the share of rows below the first that have it."""
    counts = Counter(len(record.fields) for record in sample)
    if not counts:
        return 0, 0.0
    width = max(counts, key=lambda each: (counts[each], each))
    below = sample[1:] or sample
    return width, sum(record.fits(width) for record in below) / len(below)


def is_regular(body: bytes, separator: str, width: int) -> bool:
    """Whether no line has fewer than `width` fields, unless another line has more.

    Separators are counted, which is much faster than parsing; False if that is not enough.
    """
    if b'"' in body:
        body = _QUOTED.sub(b"", body)
        if b'"' in body:
            return False
    if body.startswith((b"\n", b"\r\n")) or b"\n\n" in body or b"\n\r\n" in body:
        return False
    n_lines = body.count(b"\n") + (not body.endswith(b"\n"))
    return body.count(separator.encode()) == (width - 1) * n_lines


def has_leading_zeros(content: bytes, start: int, separator: str) -> bool:
    """Whether a field starts with a zero and another digit, as a ZIP code can.

    Of a long text, parts at equal distances after the header, which ends at `start`, are searched.
    """
    pattern = re.compile(rb'["\n%s]0\d' % re.escape(separator.encode()))
    step = max((len(content) - start) // _N_PARTS, _PART)
    begins = range(start - 1, len(content), step)
    return any(pattern.search(content, begin, begin + _PART + 2) for begin in begins)


def rewrite(name: str, body: bytes, dialect: FieldSeparator, width: int, start: int) -> bytes:
    """Write rows again with `width` fields each, or raise an error that names a line.

    `body` are the lines below the header, which is in line `start`.
    """
    output = io.StringIO(newline="")
    writer = csv.writer(output, delimiter=dialect.separator, lineterminator="\n")
    n_waiting = n_blank = n_long = 0
    for record in read_records(body.decode(), dialect, start, name):
        if record.is_blank and (width > 1 or not record.fields):
            n_waiting += 1
            continue
        # Blank lines at the end are not worth a notice. In one column they are missing values.
        output.write('""\n' * (n_waiting if width == 1 else 0))
        n_blank, n_waiting = n_blank + n_waiting, 0
        if not record.fits(width):
            raise _ragged(name, record, width)
        n_long += len(record.fields) > width
        writer.writerow(record.fields[:width])
    if n_blank and width > 1:
        notice(Message("blankLines", n=n_blank))
    if n_long:
        notice(Message("longLines", n=n_long))
    return output.getvalue().encode()


def _ragged(name: str, record: Record, width: int) -> InputError:
    return InputError(
        f"{name}: line {record.first} has {count(len(record.fields), 'field')}, the header has "
        f"{width}",
        hint=f"correct the line; {option('sep')} sets the separator, {option('skip')} the number "
        "of lines above the header",
    )


def _collapse(line: str) -> str:
    ending = "\n" if line.endswith(("\n", "\r")) else ""
    return _BLANKS.sub(lambda match: match[1] or " ", line.strip()) + ending


def is_header(first: list[str], rows: list[list[str]], hint: bool | None) -> bool:
    """Whether the first line has names.

    It has none if its fields are numbers or dates in all columns of numbers or dates, unless they
    are consecutive numbers such as years. Without such columns, it has none if all its fields
    occur again below.
    """
    if not rows:
        return True if hint is None else hint
    cells = [[row[j].strip() for row in rows if j < len(row)] for j in range(len(first))]
    first = [each.strip() for each in first]
    numeric = [j for j in range(len(first)) if _are_values(cells[j])]
    above = [first[j] for j in numeric if first[j] and first[j].lower() not in MARKERS]
    if above:
        return not all(map(_is_value, above)) or _is_sequence(above)
    if len(rows) > 1 and all(each in below for each, below in zip(first, cells)):
        return False
    return True if hint is None else hint


def find_header(rows: list[list[str]], given: bool | None, hint: bool | None = None) -> bool:
    """Whether the first row has names, unless that is given; a notice if it has none."""
    if given is not None:
        return given
    has_header = is_header(rows[0], rows[1 : MAX_ROWS + 1], hint)
    if not has_header:
        notice(Message("noHeader"))
    return has_header


def _is_value(text: str) -> bool:
    return is_number(text) or _DATE.match(text) is not None


def _are_values(cells: list[str]) -> bool:
    present = [each for each in cells if each and each.lower() not in MARKERS]
    return bool(present) and sum(map(_is_value, present)) >= 0.9 * len(present)


def _is_sequence(texts: list[str]) -> bool:
    """Whether the numbers are years in order, or count from 0 or 1."""
    if not all(re.fullmatch(r"\d{1,4}", each) for each in texts) or len(texts) < 2:
        return False
    numbers = [int(each) for each in texts]
    steps = {b - a for a, b in zip(numbers, numbers[1:])}
    if steps == {1} and numbers[0] in (0, 1):
        return True
    is_ordered = all(step > 0 for step in steps) or all(step < 0 for step in steps)
    return is_ordered and all(1500 <= each <= 2200 for each in numbers)


def header_names(fields: list[str], rows: list[Record], width: int) -> list[str]:
    """Unique names of `width` columns."""
    names = [" ".join(each.split()) if "\n" in each else each.strip() for each in fields[:width]]
    if len(names) < width:
        ends_empty = all(not each.fields[width - 1 :] or not each.fields[-1] for each in rows)
        if ends_empty:
            names.append("")
        else:
            notice(Message("shortHeader"))
            names.insert(0, "")
    return list(distinct_names(names))


def distinct_names(names: list[str]) -> Iterator[str]:
    """Unique names: a second 'a' becomes 'a (2)', an empty name 'column 3'."""
    used, seen = set(names), set()
    copies: Counter[str] = Counter()
    renamed: list[str] = []
    for position, name in enumerate(names, start=1):
        new = base = name or f"column {position}"
        while new in seen or (copies[base] and new in used):
            copies[base] += 1
            new = f"{base} ({copies[base] + 1})"
        if new != base and name:
            renamed.append(new)
        seen.add(new)
        yield new
    if renamed:
        key = "manyRenamedColumns" if len(renamed) > 20 else "renamedColumns"
        notice(Message(key, names=renamed[:20], n=len(renamed)))


def numbered_names(width: int) -> list[str]:
    """Names of columns without a header: x1, x2, ..."""
    return [f"x{j}" for j in range(1, width + 1)]


def report_skipped(key: str, first: int, last: int, text: str) -> None:
    """Report lines above the header that are not read, by their numbers and their first text."""
    lines = f"{first}" if first == last else Message("lineRange", first=f"{first}", last=f"{last}")
    shown = option("skip", 0)
    notice(Message(key, n=last - first + 1, lines=lines, text=text, option=shown))
