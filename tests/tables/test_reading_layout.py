"""Separators, titles, headers and lines of text tables."""

from __future__ import annotations

import polars as pl
import pytest

from pellucid._utils.notices import InputError, command_line, notices_to
from pellucid.tables.reading import ReadingOptions, read_source

ROWS = [("Adelie", 39.1, 181), ("Adelie", 40.5, 186), ("Gentoo", 46.1, 211), ("Gentoo", 50.0, 230)]
NAMES = ("species", "bill", "flipper")


def text(separator=",", *, header=True, rows=ROWS, end="\n"):
    lines = [NAMES, *rows] if header else rows
    return "".join(separator.join(map(str, line)) + end for line in lines)


def read(tmp_path, content, name="data.csv", **options):
    """The source and the notices."""
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    said = []
    with command_line(), notices_to(said.append):
        source = read_source(file, ReadingOptions(**options))
    return source, said


def fails(tmp_path, content, message, hint=None, **options):
    with pytest.raises(InputError) as caught:
        read(tmp_path, content, **options)
    assert caught.value.message == message.format(file=tmp_path / "data.csv")
    if hint is not None:
        assert hint in caught.value.hint


def assert_usual(source):
    assert source.table.columns == list(NAMES)
    assert source.table.rows() == ROWS
    assert source.table.dtypes == [pl.String, pl.Float64, pl.Int64]


@pytest.mark.parametrize(
    ("separator", "said"),
    [
        (",", []),
        (";", ["fields are separated by ';'"]),
        ("|", ["fields are separated by '|'"]),
        ("\t", ["fields are separated by tabs"]),
        (" ", ["fields are separated by blanks"]),
        ("   ", ["fields are separated by blanks"]),
    ],
)
def test_separators(tmp_path, separator, said):
    source, notices = read(tmp_path, text(separator))
    assert_usual(source)
    assert notices == said
    assert source.options.separator == separator[0]
    assert source.as_written().rows() == [tuple(map(str, row)) for row in ROWS]


def test_tabs_are_usual_in_a_tsv_file(tmp_path):
    assert read(tmp_path, text("\t"), "data.tsv")[1] == []


def test_any_number_of_blanks_at_the_start_of_lines(tmp_path):
    assert_usual(read(tmp_path, text("  ").replace("\n", "\n  "), "data.txt")[0])


def test_single_blanks_with_empty_fields(tmp_path):
    source, _ = read(tmp_path, "a b c\n" + "x 1 2\n" * 30 + "x  2\n" + "y 3 4\n" * 30)
    assert source.table["b"].null_count() == 1


def test_a_semicolon_file_with_decimal_commas_and_without_a_header(tmp_path):
    source, _ = read(tmp_path, "1,5;2,25\n3,5;4,25\n5,5;6,25\n")
    assert source.table.rows() == [(1.5, 2.25), (3.5, 4.25), (5.5, 6.25)]


def test_a_given_separator(tmp_path):
    source, said = read(tmp_path, "a,b;c\n1,2;3\n", separator=",")
    assert source.table.columns == ["a", "b;c"]
    assert said == []
    fails(tmp_path, text(), "--sep: ';;' is not one character", separator=";;")


@pytest.mark.parametrize("line", ["sep=;\n", '"sep=;"\r\n'])
def test_a_line_that_names_the_separator(tmp_path, line):
    source, said = read(tmp_path, line + text(";"))
    assert_usual(source)
    assert said == ["fields are separated by ';'"]
    assert source.options.skip == 1


def test_titles_and_comments_above_the_header(tmp_path):
    source, said = read(tmp_path, "Penguins 2020\n" + text())
    assert_usual(source)
    assert said == ['line 1 skipped: a title ("Penguins 2020") (--skip 0 keeps it)']
    source, said = read(tmp_path, "# exported\n# by R, today\n\n" + text())
    assert_usual(source)
    assert said == ['lines 1 to 2 skipped: a comment ("# exported") (--skip 0 keeps it)']
    assert source.options.skip == 3


def test_lines_to_skip(tmp_path):
    source, said = read(tmp_path, "a,b,c\n" + text(), skip=1)
    assert_usual(source)
    assert said == []


@pytest.mark.parametrize(
    ("content", "has_header"),
    [
        (text(header=False), False),
        (text(), True),
        ("country,1990,1991\na,1,2\nb,3,4\n", True),  # years are names
        ("0,1,2\n0.5,1.5,2.5\n3.5,4.5,5.5\n", True),  # pandas numbers the columns
        ("a,b\nb,a\na,b\nb,b\n", False),  # all fields occur again
        ("city,kind\nOslo,x\nRome,y\n", True),
        ("2020-01-01,5.5\n2020-01-02,6.5\n", False),
        ("$5,x\n$7,y\n", False),
        ("NA,1.5\n2.5,2.5\n3.5,4.5\n", False),
    ],
)
def test_headers_are_detected(tmp_path, content, has_header):
    source, said = read(tmp_path, content)
    assert source.options.header is has_header
    first = "the first line has values, not names; the columns are named x1, x2, ..."
    assert (first in said) is not has_header
    if not has_header:
        assert source.table.columns[0] == "x1"
        assert source.table.height == content.count("\n")


def test_the_header_can_be_given(tmp_path):
    source, _ = read(tmp_path, text(header=False), header=True)
    assert source.table.columns == ["Adelie", "39.1", "181"]


def test_row_names_of_r(tmp_path):
    source, said = read(tmp_path, "x y\n" + "".join(f"{i} {i / 2} {i * 3}\n" for i in range(1, 9)))
    assert source.table.columns == ["column 1", "x", "y"]
    assert "the header has one name less than the lines have fields" in said[1]


def test_lines_of_other_lengths_are_errors(tmp_path):
    lines = text().splitlines()
    hint = "--sep sets the separator, --skip the number of lines above the header"
    longer = "\n".join([*lines[:3], lines[3] + ",more", *lines[4:]])
    fails(tmp_path, longer, "{file}: line 4 has 4 fields, the header has 3", hint)
    shorter = "\n".join([*lines[:3], "Gentoo,46.1", *lines[4:]])
    fails(tmp_path, shorter, "{file}: line 4 has 2 fields, the header has 3", hint)
    both = "\n".join([*lines[:3], "Gentoo,46.1", lines[4] + ",more"])
    fails(tmp_path, both, "{file}: line 4 has 2 fields, the header has 3", hint)
    total = text() + "Total\n"
    fails(tmp_path, total, "{file}: line 6 has 1 field, the header has 3", hint)


def test_lines_are_counted_from_the_start_of_the_file(tmp_path):
    quoted = 'a,b\n1,"x\ny"\n2,z\n3\n4,5\n'
    fails(tmp_path, "A title\n" + quoted, "{file}: line 6 has 1 field, the header has 2")
    fails(tmp_path, "\n\n" + quoted, "{file}: line 7 has 1 field, the header has 2", skip=2)


def test_a_header_of_another_length_is_an_error(tmp_path):
    content = "a,b,c\n" + "1,2,3,4,5\n" * 5
    fails(tmp_path, content, "{file}: line 1 has 3 fields, most lines have 5")


def test_a_late_short_line_in_a_long_file(tmp_path):
    content = "a,b\n" + "1,2\n" * 5000 + "3\n" + "1,2\n"
    fails(tmp_path, content, "{file}: line 5002 has 1 field, the header has 2")


def test_types_do_not_depend_on_the_first_rows(tmp_path):
    content = "a,b,c\n" + "1,2,x\n" * 1500 + "3,4.5,x\n"
    source, said = read(tmp_path, content)
    assert source.table.dtypes == [pl.Int64, pl.Float64, pl.String]
    assert said == []
    source, said = read(tmp_path, content + "-,5,x\n")
    assert source.table.dtypes == [pl.Int64, pl.Float64, pl.String]
    assert said == ['a: 1 value is not a number ("-"); treated as missing']
    source, _ = read(tmp_path, "zip,x\n" + "10001,1.5\n" * 1500 + "00501,2.5\n" * 80)
    assert source.table["zip"][-1] == "00501"


def test_separators_at_the_end_of_lines(tmp_path):
    source, said = read(tmp_path, text(end=",\n"))
    assert_usual(source)
    assert said == ["every line ends with ','; the empty last column is ignored"]
    assert source.as_written().columns == list(NAMES)
    source, said = read(tmp_path, text().replace("181", "181,,"))
    assert_usual(source)
    assert said == ["1 line ends with additional empty fields, which are ignored"]


def test_blank_lines(tmp_path):
    source, said = read(tmp_path, text().replace("Gentoo,46", "\nGentoo,46") + "\n\n")
    assert_usual(source)
    assert said == ["1 blank line is ignored"]
    source, said = read(tmp_path, "x\n1.5\n\n2.5\n\n")
    assert source.table["x"].to_list() == [1.5, None, 2.5]
    assert said == []


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_ends_of_lines(tmp_path, end):
    source, said = read(tmp_path, text(end=end))
    assert_usual(source)
    assert said == []


def test_quotes(tmp_path):
    source, _ = read(tmp_path, 'name,"a, ""b""","c\nd"\n"x, y",1.5,"p\nq ""r"""\n')
    assert source.table.columns == ["name", 'a, "b"', "c d"]
    assert source.table.row(0) == ("x, y", 1.5, 'p\nq "r"')
    assert source.as_written().columns == source.table.columns
    source, _ = read(tmp_path, 'a,b\n1,5" pipe\n2,x\n3,6" pipe\n4,y\n')
    assert source.table["b"].to_list() == ['5" pipe', "x", '6" pipe', "y"]
    fails(tmp_path, 'a,b\n1,"x\n2,y\n3,z\n', "{file}: a quote in line 2 is not closed")


def test_one_column(tmp_path):
    assert read(tmp_path, "x\n1.5\n2.5\n")[0].table["x"].to_list() == [1.5, 2.5]
    source, said = read(tmp_path, "x\n1,5\n2,25\n3,75\n")
    assert source.table["x"].to_list() == [1.5, 2.25, 3.75]
    assert said == ["numbers have a decimal comma (--decimal to change)"]
    assert read(tmp_path, "full name\nAnn Lee\nBob Ray\n")[0].table.columns == ["full name"]


def test_names_that_occur_twice_or_are_empty(tmp_path):
    source, said = read(tmp_path, "a,a,,a (2)\n1.5,2,3,4\n")
    assert source.table.columns == ["a", "a (3)", "column 3", "a (2)"]
    assert said == ["columns with the same name are renamed: a (3)"]


def test_files_without_rows(tmp_path):
    for content in ("", "\n \n"):
        fails(tmp_path, content, "{file} is empty")
    fails(tmp_path, "a,b\n", "{file} has column names but no rows")
    fails(tmp_path, text(), "{file} is empty", skip=9)
