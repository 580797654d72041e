"""Encodings, compressed files, file formats, data frames and hints of a model."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xlsxwriter
import zstandard

from pellucid._utils.notices import InputError, command_line, notices_to
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.reading import (
    ReadingOptions,
    as_format,
    contents,
    parse_columns,
    read_source,
    source_of,
)

TABLE = pl.DataFrame({"city": ["Köln", "Œuvre", "Île"] * 4, "x": np.arange(12) / 4})
CSV = TABLE.write_csv()


def read(tmp_path, content, name="data.csv", hints=None, **options):
    """The source and the notices."""
    file = tmp_path / name
    file.write_bytes(content)
    said = []
    with command_line(), notices_to(said.append):
        source = read_source(file, ReadingOptions(**options), hints or ReadingOptions())
    return source, said


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-8", []),
        ("utf-8-sig", []),
        ("utf-16", []),
        ("utf-16-le", []),
        ("utf-16-be", []),
        ("utf-32", []),
        ("cp1252", ["read as cp1252 text (--encoding to change)"]),
    ],
)
def test_encodings_are_detected(tmp_path, encoding, said):
    source, notices = read(tmp_path, CSV.encode(encoding))
    assert source.table.equals(TABLE)
    assert notices == said


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("cp1251", ["Москва", "Казань", "Санкт-Петербург"]),
        ("cp932", ["東京都", "大阪府", "北海道"]),
        ("latin-1", ["größe", "über", "Straße"]),
    ],
)
def test_encodings_of_other_scripts(tmp_path, encoding, words):
    table = pl.DataFrame({"word": words * 10, "x": np.arange(30.0)})
    source, _ = read(tmp_path, table.write_csv().encode(encoding))
    assert source.table.equals(table)


def test_a_given_encoding(tmp_path):
    source, said = read(tmp_path, CSV.replace("Œ", "O").encode("cp850"), encoding="cp850")
    assert source.table["city"][0] == "Köln"
    assert said == []
    with pytest.raises(InputError, match="line 2 is not utf-8 text"):
        read(tmp_path, CSV.encode("cp1252"), encoding="utf-8")
    with pytest.raises(InputError, match="unknown encoding 'klingon'"):
        read(tmp_path, CSV.encode(), encoding="klingon")


def test_bytes_that_are_no_text(tmp_path):
    with pytest.raises(InputError, match="not a text file"):
        read(tmp_path, bytes(range(256)) * 4, "data.bin")


def pack_zip(content, *names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".xz", lzma.compress),
        (".zst", zstandard.compress),
        (".zip", lambda content: pack_zip(content, "data.csv", "__MACOSX/._data.csv")),
    ],
)
def test_compressed_files(tmp_path, suffix, pack):
    packed = pack(CSV.encode())
    assert read(tmp_path, packed, f"data.csv{suffix}")[0].table.equals(TABLE)
    assert read(tmp_path, packed, "data")[0].table.equals(TABLE)
    with pytest.raises(InputError, match="cannot be decompressed"):
        read(tmp_path, packed[: len(packed) // 2], f"data.csv{suffix}")
    with pytest.raises(InputError, match="cannot be decompressed"):
        read(tmp_path, CSV.encode(), f"data.csv{suffix}")


def test_an_archive_of_several_files_names_them(tmp_path):
    with pytest.raises(InputError, match=r"holds 2 files: a\.csv, b\.csv; one file is expected"):
        read(tmp_path, pack_zip(CSV, "a.csv", "b.csv"), "data.zip")


def test_a_parquet_file_in_an_archive(tmp_path):
    buffer = io.BytesIO()
    TABLE.write_parquet(buffer)
    content = pack_zip(buffer.getvalue(), "data.parquet")
    assert read(tmp_path, content, "data.zip")[0].table.equals(TABLE)


def test_the_size_of_decompressed_files_is_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(contents, "MIN_LIMIT", 1000)  # otherwise the file would be very large
    with pytest.raises(InputError, match="larger than .* when it is decompressed"):
        read(tmp_path, gzip.compress(b"a\n" + b"1\n" * 10**6), "data.csv.gz")


def test_formats_with_types(tmp_path):
    for name, write in (
        ("data.parquet", TABLE.write_parquet),
        ("data.feather", TABLE.write_ipc),
        ("data.jsonl", TABLE.write_ndjson),
        ("data.json", TABLE.write_json),
    ):
        buffer = io.BytesIO()
        write(buffer)
        assert read(tmp_path, buffer.getvalue(), name)[0].table.equals(TABLE)
        if "json" not in name:
            assert read(tmp_path, buffer.getvalue(), "data")[0].table.equals(TABLE)


@pytest.mark.parametrize("name", ["data", "data.dat", "data.txt"])
def test_text_files_of_any_name(tmp_path, name):
    assert read(tmp_path, CSV.encode(), name)[0].table.equals(TABLE)


def test_text_columns_of_typed_files_are_parsed(tmp_path):
    rows = [{"day": "2020-12-31", "price": "$5"}, {"day": "2021-01-01", "price": "$7"}]
    source, _ = read(tmp_path, json.dumps(rows).encode(), "data.json")
    assert source.table.rows() == [(date(2020, 12, 31), 5), (date(2021, 1, 1), 7)]
    with pytest.raises(InputError, match="is a JSON list, but not of objects"):
        read(tmp_path, b"[[1, 2], [3, 4]]", "data.json")


def workbook(tmp_path, *, title=0, sheets=("Data",)):
    file = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(file) as book:
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        for name in sheets:
            sheet = book.add_worksheet(name)
            if title:
                sheet.write(0, 0, "Sales 2020")
            sheet.write_row(title, 0, ["region", "day", "x", "n"])
            for i in range(5):
                sheet.write(title + 1 + i, 0, "north")
                sheet.write_datetime(title + 1 + i, 1, datetime(2020, 1, i + 1), day)
                sheet.write(title + 1 + i, 2, "-" if i == 1 and title else i / 4)
                sheet.write(title + 1 + i, 3, i)
    return file.read_bytes()


def test_excel(tmp_path):
    source, said = read(tmp_path, workbook(tmp_path), "data.xlsx")
    assert source.table.dtypes == [pl.String, pl.Date, pl.Float64, pl.Int64]
    assert source.formats["day"] == ColumnFormat("date")
    assert said == []
    content = workbook(tmp_path, title=2, sheets=("Data", "Copy"))
    source, said = read(tmp_path, content, "data")
    assert source.table.columns == ["region", "day", "x", "n"]
    assert source.table["x"].to_list() == [0, None, 0.5, 0.75, 1]
    assert said == [
        "sheet 'Data' is read; the file also has 'Copy'",
        'lines 1 to 2 skipped: a title ("Sales 2020") (--skip 0 keeps it)',
        'x: 1 value is not a number ("-"); treated as missing',
    ]
    with pytest.raises(InputError, match=r"data.xlsx is empty"):
        read(tmp_path, workbook(tmp_path), "data.xlsx", skip=9)


def test_many_rows_of_a_sheet_can_be_skipped(tmp_path):
    source, _ = read(tmp_path, workbook(tmp_path, title=300), "data.xlsx", skip=300)
    assert source.table.columns == ["region", "day", "x", "n"]
    assert source.table["n"].to_list() == list(range(5))


def test_excel_cells_that_start_elsewhere_and_have_no_header(tmp_path):
    file = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(file) as book:
        sheet = book.add_worksheet()
        for i in range(5):
            sheet.write_row(3 + i, 2, ["north" if i % 2 else "south", i / 4])
    source, said = read(tmp_path, file.read_bytes(), "data.xlsx")
    assert said == ["the first line has values, not names; the columns are named x1, x2, ..."]
    assert source.table["x1"].to_list() == ["south", "north", "south", "north", "south"]
    assert source.table["x2"].to_list() == [0, 0.25, 0.5, 0.75, 1]


def test_standard_input(tmp_path, monkeypatch):
    class Stdin:
        buffer = io.BytesIO(gzip.compress(CSV.encode()))

    monkeypatch.setattr("sys.stdin", Stdin)
    source = read_source(Path("-"))
    assert source.name == "standard input"
    assert source.table.equals(TABLE)


@pytest.mark.parametrize(
    "convert",
    [
        lambda table: table,
        lambda table: table.to_pandas(),
        lambda table: table.to_arrow(),
        lambda table: pd.DataFrame(table.to_dict(as_series=False)).astype({"city": object}),
        lambda table: pd.DataFrame(table.to_dict(as_series=False)).astype({"city": "category"}),
    ],
)
def test_data_frames(convert):
    assert source_of(convert(TABLE)).table.equals(TABLE)


def test_arrays():
    assert source_of(np.eye(2)).table.columns == ["x0", "x1"]
    assert source_of([[1, 2], [3, 4]]).table.rows() == [(1, 2), (3, 4)]
    mixed = source_of(np.array([["a", 1.5], ["b", 2]], dtype=object)).table
    assert mixed.rows() == [("a", 1.5), ("b", 2.0)]


def test_text_columns_of_data_frames_are_parsed():
    said = []
    with notices_to(said.append):
        source = source_of(pd.DataFrame({"price": ["$5", "$7", "-"], "d": ["2020-01-01"] * 3}))
    assert source.table["price"].to_list() == [5, 7, None]
    assert source.formats["price"].prefix == "$"
    assert source.formats["d"].kind == "date"
    assert 'price: 1 value is not a number ("-"); treated as missing' in said


def test_pandas_objects_of_several_types():
    table = pd.DataFrame({"a": [1, "x", None, 2.5]}, dtype=object)
    assert source_of(table).table["a"].to_list() == ["1", "x", None, "2.5"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (TABLE.lazy(), "table is a lazy frame; call its collect"),
        (pd.DataFrame(np.eye(2), columns=["a", "a"]), "column 'a' appears more than once"),
        (pa.table([[1], [2]], names=["a", "a"]), "column 'a' appears more than once"),
        (pl.DataFrame(), "table has no columns"),
        (pl.DataFrame({"a": []}), "table has no rows"),
        (np.zeros(3), "an array with 1 dimensions"),
        ("file.csv", "table is of type str"),
    ],
)
def test_other_input_is_refused(table, message):
    with pytest.raises(InputError, match=message):
        source_of(table)


def test_options_survive_json():
    options = ReadingOptions(";", ",", "cp1252", ("NA", "?"), 2, False)
    assert ReadingOptions.from_dict(json.loads(json.dumps(options.to_dict()))) == options
    assert ReadingOptions.from_dict({"unknown": 1}) == ReadingOptions()


def test_the_options_that_were_used(tmp_path):
    text = "Titel\nOrt;x\nKöln;1,5\nUlm;NA\nBonn;2,5\n"
    source, _ = read(tmp_path, text.encode("cp1252"))
    assert source.options == ReadingOptions(";", ",", "cp1252", ("NA",), 1, True)


def test_hints_decide_what_a_file_leaves_open(tmp_path):
    hints = ReadingOptions(";", ",", "cp1250", ("NA",), 0, False)
    source, _ = read(tmp_path, b'NA,"1,234"\n', hints=hints)
    assert source.table.rows() == [(None, 1.234)]
    assert source.options.header is False
    assert read(tmp_path, "Łódź;1\nUlm;2\n".encode("cp1250"), hints=hints)[0].table[0, 0] == "Łódź"
    # A file that answers the questions is read by its own answers.
    source, _ = read(tmp_path, "a,b\nŁódź,1.5\nUlm,2.5\n".encode(), hints=hints)
    assert source.table.rows() == [("Łódź", 1.5), ("Ulm", 2.5)]


def numbers(values, column_format, **options):
    found, n_unread = as_format(pl.Series("x", values), column_format, **options)
    assert found.name == "x"
    return found.to_list(), n_unread


def test_columns_in_the_format_of_a_model():
    money = ColumnFormat(prefix="$")
    assert numbers(["$1,500", "7", "NA", None, "much"], money) == ([1500, 7, None, None, None], 1)
    assert numbers(["1.500,5"], money, decimal=",") == ([1500.5], 0)
    assert numbers([1, 2], money) == ([1, 2], 0)
    assert numbers([1.5, float("nan"), float("inf")], money) == ([1.5, None, None], 1)
    german = ColumnFormat("date", date_format="%d.%m.%Y")
    assert numbers(["02.01.1970", "soon", ""], german) == ([1, None, None], 1)
    assert numbers([date(1970, 1, 3)], german) == ([2], 0)
    assert numbers([datetime(1970, 1, 3, 12)], ColumnFormat("datetime")) == ([2.5], 0)
    assert numbers(["1970-01-03 12:00"], ColumnFormat("datetime")) == ([2.5], 0)
    zoned = ColumnFormat("datetime", date_format="%Y-%m-%dT%H:%M:%S.%f%z")
    assert numbers(["1970-01-03T12:00:00.000+12:00"], zoned) == ([2], 0)
    digits = ColumnFormat("date", date_format="%Y%m%d")
    assert numbers([19700102], digits) == ([1], 0)
    with pytest.raises(InputError, match="has dates, but the model expects numbers"):
        numbers([date(1970, 1, 3)], money)
    with pytest.raises(InputError, match="has numbers, but the model expects dates"):
        numbers([1.5], german)


def test_a_model_reads_what_its_format_was_made_from():
    texts = ["Jan 5 2000", "Feb 7 2001"]
    parsed = parse_columns(pl.DataFrame({"d": texts}))
    found, n_unread = as_format(pl.Series("d", texts), parsed.formats["d"])
    assert n_unread == 0
    assert found.to_list() == as_format(parsed.table["d"], parsed.formats["d"])[0].to_list()
