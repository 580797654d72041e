"""The layout of a text table: separator, lines above the header, header, and lines of fields."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import NamedTuple

from pellucid._utils.notices import InputError, notice, option
from pellucid._utils.texts import Message, count
from pellucid.tables.reading.contents import MAX_LINE, check_columns
from pellucid.tables.reading.source import ReadingOptions
from pellucid.tables.reading.text_columns import MARKERS, is_number

# Separators in the order of preference, if lines have equal numbers of fields with several.
SEPARATORS = "\t;|,"
_HEAD = 1 << 17
_HEAD_LINES = 20
_SEPARATOR_LINE = re.compile(rb'^"?sep=(.)"?[ \t]*\r?\n', re.IGNORECASE)
_COMMENT = re.compile(r"^\s*(#|//|%|--)")
_CONSISTENT = 0.95
_SEPARATORS = {"\t": "separatedByTabs", " ": "separatedByBlanks"}

_PART, _N_PARTS = 1 << 17, 32
_QUOTED = re.compile(rb'"[^"]*"')
_BLANKS = re.compile(r'("[^"]*")|[ \t]+')
_MOST_SAMPLED = 500
MAX_ROWS = 100  # rows that decide whether the first line is a header
_DATE = re.compile(r"^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T]|$)")


class FieldSeparator(NamedTuple):
    """The separator, and whether several separators in a row count as one."""

    separator: str
    is_collapsed: bool = False


class Record(NamedTuple):
    """The fields of a row, and its first and last line, from 1: a quoted field can have several."""

    fields: list[str]
    first: int
    last: int

    @property
    def is_blank(self) -> bool:
        return len(self.fields) < 2 and not any(map(str.strip, self.fields))

    def fits(self, width: int) -> bool:
        """Whether there are `width` fields, except for empty ones at the end."""
        return len(self.fields) >= width and not any(map(str.strip, self.fields[width:]))


Sampled = tuple[FieldSeparator, list[Record]]  # a separator, and the first rows by it


class TextTable(NamedTuple):
    """A text table with a known layout and unique column names."""

    name: str
    dialect: FieldSeparator
    names: list[str]
    content: bytes  # a header line with these names and the lines below it
    start: int  # where the lines below the header begin
    skip: int  # number of lines of the file above its header
    n_above: int  # number of lines of the file above its first row
    has_header: bool

    @property
    def body(self) -> bytes:
        return self.content[self.start :]

    def regular(self) -> TextTable:
        """The table with lines of equal length; an error names a line that is too short or long."""
        body = rewrite(self.name, self.body, self.dialect, len(self.names), self.n_above)
        dialect = FieldSeparator(self.dialect.separator)
        return self._replace(content=self.content[: self.start] + body, dialect=dialect)


def find_table(
    name: str, content: bytes, suffix: str, options: ReadingOptions, hints: ReadingOptions
) -> TextTable:
    """Find the layout of a table of UTF-8 text and print what is unusual. `options` is what the
    user has set; `hints` has values for what the file leaves open.
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
        hint = "a quote may be opened and not closed"
        raise InputError(f"{name}: no line of fields is found at the start", hint=hint)
    usual = "\t" if suffix in (".tsv", ".tab") else ","
    if options.separator is None and dialect.separator != usual and len(sample[-1].fields) > 1:
        key = _SEPARATORS.get(dialect.separator, "separator")
        notice(Message(key, separator=repr(dialect.separator)))
    width, _ = usual_width(sample)
    top = _find_first(name, sample, width, skip) if options.skip is None else 0
    if top:
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


def _find_dialect(head: str, is_cut: bool, given: str | None, hint: str | None) -> Sampled:
    """The separator with which most lines have the same number of fields, and the first rows."""
    sample = partial(read_sample, head, is_cut=is_cut)
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


def _find_blanks(sample: Callable[[FieldSeparator], list[Record]]) -> Sampled | None:
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
    is_one = width == 2 and len(rows[0].fields) == 1
    return is_one and all(is_number(",".join(record.fields).strip()) for record in rows[1:])


def _has_numbers(rows: list[Record]) -> bool:
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
            line, n_fields = skip + record.first, len(record.fields)
            raise _ragged(f"{name}: line {line} has {n_fields} fields, most lines have {width}")
    return at


def _are_names(record: Record) -> bool:
    fields = [each.strip() for each in record.fields]
    is_comment = _COMMENT.match(fields[0]) is not None
    return len(fields) > 1 and not is_comment and not any(not e or is_number(e) for e in fields)


def _report_titles(titles: list[Record], skip: int) -> None:
    text = " ".join(filter(None, (each.strip() for each in titles[0].fields)))
    text = text if len(text) <= 40 else text[:37] + "..."
    first, last = skip + titles[0].first, skip + titles[-1].last
    key = "commentLines" if _COMMENT.match(titles[0].fields[0]) else "titleLines"
    report_skipped(key, first, last, text)


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


def read_sample(text: str, dialect: FieldSeparator, *, is_cut: bool) -> list[Record]:
    """The first rows that are not blank. The last row of a text that is cut off is left out."""
    try:
        found = list(islice(read_records(text, dialect), _MOST_SAMPLED + 1))
    except InputError:
        return []
    if (is_cut and len(found) > 1) or len(found) > _MOST_SAMPLED:
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
    """Whether no line has fewer than `width` fields, unless another line has more. Separators are
    counted, which is much faster than parsing; False if that is not enough.
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
    """Whether a field starts with a zero and another digit, as a ZIP code can. Of a long text,
    parts at equal distances after the header, which ends at `start`, are searched.
    """
    pattern = re.compile(rb'["\n%s]0\d' % re.escape(separator.encode()))
    step = max((len(content) - start) // _N_PARTS, _PART)
    begins = range(start - 1, len(content), step)
    return any(pattern.search(content, begin, begin + _PART + 2) for begin in begins)


def rewrite(name: str, body: bytes, dialect: FieldSeparator, width: int, start: int) -> bytes:
    """Write the rows below the header, which is in line `start`, again with `width` fields each, or
    raise an error that names a line.
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
            what = f"{name}: line {record.first} has {count(len(record.fields), 'field')}"
            raise _ragged(f"{what}, the header has {width}")
        n_long += len(record.fields) > width
        writer.writerow(record.fields[:width])
    if n_blank and width > 1:
        notice(Message("blankLines", n=n_blank))
    if n_long:
        notice(Message("longLines", n=n_long))
    return output.getvalue().encode()


def _ragged(what: str) -> InputError:
    sep, skip = option("sep"), option("skip")
    how = f"{sep} sets the separator, {skip} the number of lines above the header"
    return InputError(what, hint=f"correct the line; {how}")


def _collapse(line: str) -> str:
    ending = "\n" if line.endswith(("\n", "\r")) else ""
    return _BLANKS.sub(lambda match: match[1] or " ", line.strip()) + ending


def is_header(first: list[str], rows: list[list[str]], hint: bool | None) -> bool:
    """Whether the first line has names: not if its fields are numbers or dates in all columns of
    these, unless they count, as years do; without such columns, not if all fields occur below.
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
        if all(not each.fields[width - 1 :] or not each.fields[-1] for each in rows):
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
    return [f"x{j}" for j in range(1, width + 1)]


def report_skipped(key: str, first: int, last: int, text: str) -> None:
    """Report lines above the header that are not read, by their numbers and their first text."""
    lines = f"{first}" if first == last else Message("lineRange", first=f"{first}", last=f"{last}")
    notice(Message(key, n=last - first + 1, lines=lines, text=text, option=option("skip", 0)))
