"""Tables are written in the format of a suffix, and read again as they were."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from _support.extended import examples
from pellucid._utils.notices import InputError
from pellucid.tables.reading import read_source
from pellucid.tables.writing import to_text, write_table

TABLE = pl.DataFrame(
    {
        "name": ["a, b", 'x "y"', None, "ß ≤\nnew"],
        "x": [1.5, -2.25, None, 1e-7],
        "n": [1, 2, 3, None],
        "day": [date(2020, 1, 31), date(2021, 2, 1), None, date(2022, 1, 1)],
        "flag": [True, False, True, None],
    }
)
SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".parquet", ".feather", ".xlsx", ".jsonl", ".json")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_is_read_as_it_was_written(tmp_path, suffix):
    file = tmp_path / f"data{suffix}"
    write_table(file, TABLE)
    assert read_source(file).table.rows() == TABLE.rows()


def test_a_table_gives_the_same_file_at_any_time(tmp_path):
    table = pl.DataFrame({"a": [1.5, 2.0], "b": ["x", "y"]})
    files = [tmp_path / f"out{suffix}" for suffix in SUFFIXES]
    for file in files:
        write_table(file, table)
    written = [file.read_bytes() for file in files]
    sleep(1.1)  # Times in files are whole seconds.
    for file in files:
        write_table(file, table)
    assert [file.read_bytes() for file in files] == written


def german(tmp_path, encoding="utf-8-sig"):
    file = tmp_path / "german.csv"
    lines = ["Art;Länge;Tag", "a; 39,1;31.12.2020", "b;1.040,5;01.02.2021", "c;-;02.02.2021"]
    file.write_bytes("\r\n".join(lines).encode(encoding))
    return read_source(file)


def test_a_text_file_keeps_its_signs_and_its_text(tmp_path):
    source = german(tmp_path)
    output = tmp_path / "out.csv"
    added = pl.Series("rule", ["≤ 1", "> 1", None]), pl.Series("p", [0.5, 1.0, None])
    write_table(output, source.table.with_columns(added), source)
    assert output.read_bytes().startswith(b"\xef\xbb\xbf")
    assert output.read_text(encoding="utf-8-sig").splitlines() == [
        "Art;Länge;Tag;rule;p",
        "a; 39,1;31.12.2020;≤ 1;0,5",
        "b;1.040,5;01.02.2021;> 1;1,0",
        "c;-;02.02.2021;;",
    ]
    again = read_source(output)
    assert again.table.drop("rule", "p").equals(source.table)
    assert again.table["p"].to_list() == [0.5, 1.0, None]


def test_a_byte_order_mark_on_request(tmp_path):
    source = german(tmp_path, "cp1252")
    for bom in (False, True):
        write_table(tmp_path / "out.csv", source.table, source, bom=bom)
        assert (tmp_path / "out.csv").read_bytes().startswith(b"\xef\xbb\xbf") is bom


def test_typed_formats_get_values_and_not_text(tmp_path):
    source = german(tmp_path)
    for name in ("out.parquet", "out.xlsx"):
        write_table(tmp_path / name, source.table, source)
        found = read_source(tmp_path / name).table
        assert found.equals(source.table)
        assert found.dtypes == [pl.String, pl.Float64, pl.Date]


def test_changed_columns_are_written_with_their_new_values(tmp_path):
    source = german(tmp_path)
    changed = source.table.with_columns(pl.col("Länge") * 2)
    assert to_text(changed, source).splitlines()[1] == "a;78,2;31.12.2020"
    assert to_text(source.table.head(1), source).splitlines()[1] == "a;39,1;2020-12-31"


def test_the_separator_follows_the_suffix(tmp_path):
    (tmp_path / "data.tsv").write_text("a\tb\n1,5\tx\n2,25\ty\n")
    source = read_source(tmp_path / "data.tsv")
    write_table(tmp_path / "out.csv", source.table, source)
    assert (tmp_path / "out.csv").read_text().startswith("a;b\n1,5;x\n")
    write_table(tmp_path / "out.tsv", source.table, source)
    assert (tmp_path / "out.tsv").read_text() == (tmp_path / "data.tsv").read_text()


def test_a_file_without_a_suffix_gets_the_format_of_the_source(tmp_path):
    TABLE.write_parquet(tmp_path / "data.parquet")
    source = read_source(tmp_path / "data.parquet")
    write_table(tmp_path / "out", source.table, source)
    assert (tmp_path / "out").read_bytes().startswith(b"PAR1")
    write_table(tmp_path / "text", TABLE)
    assert (tmp_path / "text").read_text().startswith("name,x,n,day,flag\n")


def test_other_suffixes_and_columns_are_refused(tmp_path):
    for name in ("out.doc", "out.parquet.gz"):
        with pytest.raises(InputError, match="tables cannot be written as"):
            write_table(tmp_path / name, TABLE)
    with pytest.raises(InputError, match="column 'a' .* cannot be written as text"):
        write_table(tmp_path / "out.csv", pl.DataFrame({"a": [[1]]}))
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    (tmp_path / "out.parquet").write_text("old")

    def fail(self, file):
        file.write(b"half")
        raise OSError("full")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", fail)
    with pytest.raises(OSError, match="full"):
        write_table(tmp_path / "out.parquet", TABLE)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [
        ("out.parquet", "old")
    ]


def test_text_that_looks_like_a_formula_stays_text(tmp_path):
    table = pl.DataFrame({"a": ["=1+1", "http://x.org", "word"], "x": [1.5, 2.5, 3.5]})
    write_table(tmp_path / "out.xlsx", table)
    assert read_source(tmp_path / "out.xlsx").table.equals(table)


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=8)
TEXTS = WORDS.map(lambda word: f"w{word}".strip())
"""Text that is neither a number, a date nor a marker of a missing value."""


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), TEXTS),
            st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
            st.integers(-(10**15), 10**15),
            st.dates(date(1900, 1, 1), date(2100, 1, 1)),
        ),
        min_size=2,
        max_size=8,
    ),
    st.sampled_from((".csv", ".tsv", ".parquet", ".jsonl", ".feather")),
    st.booleans(),
)
def test_any_table_is_read_as_it_was_written(rows, suffix, bom):
    schema = {"name": pl.String, "x": pl.Float64, "n": pl.Int64, "day": pl.Date}
    table = pl.DataFrame(rows, schema=schema, orient="row")
    with TemporaryDirectory() as folder:
        first, second = Path(folder) / f"first{suffix}", Path(folder) / "second.csv"
        write_table(first, table, bom=bom)
        source = read_source(first)
        assert_equal(source.table, table)
        write_table(second, source.table, source)
        assert_equal(read_source(second).table, table)


def assert_equal(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    """Same values; a column without values has no type, and integers can be dates."""
    assert found.columns == expected.columns
    for name in ("name", "x", "day"):
        assert found[name].to_list() == expected[name].to_list()
    if found["n"].dtype == pl.Int64:
        assert found["n"].to_list() == expected["n"].to_list()
