"""Files that are damaged, or small and take much memory: one line of error, in bounded memory."""

import bz2
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import tracemalloc
import zipfile

import polars as pl
import pytest
import xlsxwriter
import zstandard
from typer.testing import CliRunner

from _support.memory import PEAK
from pellucid._utils.notices import InputError, notices_to
from pellucid.cli.app import app
from pellucid.tables.reading import read_source
from pellucid.tables.reading.contents import MAX_COLUMNS
from pellucid.tables.reading.layout import distinct_names
from pellucid.tables.reading.typed_files import read_typed

MAX_SECONDS, MAX_GROWTH = 10, 400
"""Seconds of the processor and megabytes for each file."""

MAX_MB = 40

MEGABYTE = b"1,2\n" * (1 << 18)


def workbook(*cells):
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file)
    sheet = book.add_worksheet()
    for row, column, value in cells:
        sheet.write(row, column, value)
    book.close()
    return file.getvalue()


def zipped(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, parts in members.items():
            with archive.open(name.replace("_", "."), "w", force_zip64=True) as member:
                for part in parts:
                    member.write(part)
    return file.getvalue()


def damaged_workbook(name, content):
    source = zipfile.ZipFile(io.BytesIO(workbook((0, 0, "a"), (0, 1, "b"), (1, 0, 1), (1, 1, 2))))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for member in source.namelist():
            archive.writestr(member, content if member == name else source.read(member))
    return file.getvalue()


def entity_bomb(depth=9):
    """A sheet whose cell is an entity of 10 ** depth characters."""
    entities = [b'<!ENTITY e0 "x">'] + [
        b'<!ENTITY e%d "%s">' % (i, b"&e%d;" % (i - 1) * 10) for i in range(1, depth + 1)
    ]
    cell = b'<c r="A1" t="inlineStr"><is><t>&e%d;</t></is></c>' % depth
    sheet = b"<worksheet><sheetData><row>%s</row></sheetData></worksheet>" % cell
    content = b"<!DOCTYPE worksheet [%s]>%s" % (b"".join(entities), sheet)
    return damaged_workbook("xl/worksheets/sheet1.xml", content)


def damaged_zip():
    """An archive of which some bytes are lost before its directory."""
    content = zipped(a_csv=[b"a,b\n1,2\n"])
    return content[:35] + content[40:]


def damaged_feather():
    content = parquet(10, pl.DataFrame.write_ipc)
    return content[:-10] + b"\xff\xff\xff\x7f" + content[-6:]


def parquet(n_rows, write):
    file = io.BytesIO()
    write(pl.DataFrame({"a": pl.repeat(1, n_rows, eager=True, dtype=pl.Int64)}), file)
    return file.getvalue()


def layers(content, n):
    for _ in range(n):
        content = gzip.compress(content)
    return content


FILES = {
    "nul.csv": (lambda: b"a,b\n1,2\n3,\x004\n" * 50, "line 3 has a NUL character"),
    "only_nul.csv": (lambda: b"\0" * 10**6, "line 1 has a NUL character"),
    "columns.csv": (
        lambda: b",".join(b"c%d" % i for i in range(10**6)) + b"\n" + b"1," * 999_999 + b"1\n",
        "has 1,000,000 columns, of which at most 100,000 can be read",
    ),
    "line.csv": (lambda: b"x" * 3 * 10**7, "line 1 is longer than 16 MB"),
    "commas.csv": (lambda: b"x," * 10**7, "line 1 is longer than 16 MB"),
    "field.csv": (
        lambda: b"a,b\n1," + b"x" * 2 * 10**7 + b"\n2,y" * 30, "line 2 is longer than 16 MB"
    ),
    "quote.csv": (lambda: b'a,b\n1,"' + b"x" * 2 * 10**6, "a quote in line 2 is not closed"),
    "bomb.csv.gz": (lambda: gzip.compress(MEGABYTE) * 80, "MB when it is decompressed"),
    "bomb.csv.bz2": (lambda: bz2.compress(MEGABYTE) * 44, "MB when it is decompressed"),
    "bomb.csv.xz": (lambda: lzma.compress(MEGABYTE * 16, preset=0) * 4, "when it is decompressed"),
    "bomb.csv.zst": (lambda: zstandard.compress(MEGABYTE * 16) * 4, "MB when it is decompressed"),
    "bomb.zip": (lambda: zipped(a_csv=[MEGABYTE] * 44), "MB when it is decompressed"),
    "layers.csv.gz": (lambda: layers(b"a,b\n1,2\n", 6), "is compressed more than 5 times"),
    "cut.csv.gz": (lambda: gzip.compress(MEGABYTE)[:-9], "cannot be decompressed"),
    "corners.xlsx": (
        lambda: workbook((0, 0, "a"), (0, 1, "b"), (1_048_575, 16_383, 5)),
        "3 cells are spread over 1,048,576 rows and 16,384 columns",
    ),
    "bomb.xlsx": (
        lambda: damaged_workbook("xl/worksheets/sheet1.xml", b"<c/>" * (66 << 20)),
        "is too large when it is decompressed",
    ),
    "damaged.xlsx": (
        lambda: damaged_workbook("xl/workbook.xml", b"<!DOCTYPE x ["), "cannot be read"
    ),
    "entities.xlsx": (entity_bomb, "cannot be read"),
    "strings.xlsx": (lambda: damaged_workbook("xl/sharedStrings.xml", b"<sst/>"), "cannot be read"),
    "sheet.xlsx": (
        lambda: damaged_workbook("xl/worksheets/sheet1.xml", b'<c r="A1" t="q"'), "cannot be read"
    ),
    "directory.zip": (damaged_zip, "cannot be decompressed"),
    "footer.feather": (damaged_feather, "cannot be read"),
    "rows.parquet": (
        lambda: parquet(8 * 10**6, pl.DataFrame.write_parquet), f"takes more than {MAX_MB} MB"
    ),
    "rows.feather": (
        lambda: parquet(8 * 10**6, lambda t, f: t.write_ipc(f, compression="zstd")),
        f"takes more than {MAX_MB} MB",
    ),
    "magic.parquet": (lambda: b"PAR1" + b"\xff" * 1000 + b"PAR1", "cannot be read"),
    "magic.feather": (lambda: b"ARROW1\0\0" + b"\xff" * 1000 + b"ARROW1", "cannot be read"),
    "deep.json": (lambda: b"[" * 10**6, "more than 100 levels"),
    "deep_values.json": (lambda: b'[{"a":' + b"[" * 10**5 + b"]" * 10**5 + b"}]", "100 levels"),
    "deep.jsonl": (lambda: b'{"a":' * 10**5 + b"1" + b"}" * 10**5, "more than 100 levels"),
    "keys.jsonl": (
        lambda: b"{" + b",".join(b'"k%d":1' % i for i in range(10**6)) + b"}\n",
        "columns, of which at most 100,000 can be read",
    ),
    "other_keys.jsonl": (
        lambda: b"".join(b'{"k%d":1}\n' % i for i in range(50_000)), f"takes more than {MAX_MB} MB"
    ),
    "number.json": (lambda: b'[{"a":' + b"9" * 10**6 + b',"b":1}]', "cannot be read"),
    "infinite.json": (lambda: b'[{"a":1e999,"b":1},{"a":1,"b":2}]', "cannot be read"),
    "not_text.json": (lambda: b'[{"a":"\xff\xfe"}]', "cannot be read"),
    "not_text.csv": (lambda: b"a,b\n\xff\xfe\x00\xd8,1\n\x80\x81,2\n" * 30, "is not a text file"),
    "cut.utf16.csv": (lambda: "a,b\n1,2\n".encode("utf-16") + b"\0", "line 3 is not utf-16 text"),
    "empty.csv": (lambda: b"", "is empty"),
    "blank.csv": (lambda: b" \n\n \t\n", "is empty"),
    "empty.xlsx": (lambda: b"", "is empty"),
    "list.json": (lambda: b"[]", "is a JSON list, but not of objects"),
    "objects.json": (lambda: b"[{}]", "has column names but no rows"),
}  # fmt: skip

RUNNER = (
    PEAK
    + """
import json, sys, time
from pathlib import Path
from pellucid.tables.reading import read_source
before = peak()
for path in map(Path, sys.argv[1:]):
    begin, said = time.process_time(), "read"
    try:
        read_source(path)
    except ValueError as error:
        said = str(error)
    print(json.dumps([path.name, said, time.process_time() - begin, peak() - before]))
"""
)


@pytest.mark.slow
def test_hostile_files_are_refused_in_one_line_and_bounded_memory(tmp_path):
    for name, (make, _) in FILES.items():
        (tmp_path / name).write_bytes(make())
    command = [sys.executable, "-c", RUNNER, *(str(tmp_path / name) for name in FILES)]
    environment = {**os.environ, "PELLUCID_MAX_MB": str(MAX_MB)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [name for name, *_ in results] == list(FILES)
    print(sorted(((round(s, 1), m, name) for name, _, s, m in results), reverse=True)[:12])
    for name, said, seconds, megabytes in results:
        assert FILES[name][1] in said, (name, said)
        assert name in said
        assert said.isprintable(), name
        assert seconds < MAX_SECONDS, name
        assert megabytes < MAX_GROWTH, name


def test_wide_tables_are_read_also_if_the_header_is_long(tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"a_long_name_of_a_column_{i}" for i in range(8000)]
    rows = [",".join(str((i * 7 + r * 13) % 97) for i in range(8000)) for r in range(5)]
    path.write_text("\n".join([",".join(names), *rows]))
    source = read_source(path)
    assert source.table.columns == names
    assert source.table.height == 5


def test_many_equal_names_are_renamed_fast():
    found = []
    with notices_to(found.append):
        names = list(distinct_names(["x"] * 50_000 + ["x (3)", ""]))
    assert len(set(names)) == 50_002
    assert names[:3] == ["x", "x (2)", "x (4)"]
    assert "(49,999 in all)" in found[0] or "(50,000 in all)" in found[0]
    assert len(found[0]) < 500


def test_folders_and_devices_are_refused(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        read_source(tmp_path)
    with pytest.raises(InputError, match="is a device, not a file"):
        read_source(type(tmp_path)("/dev/zero"))


def test_a_pipe_is_read_up_to_the_limit(tmp_path, monkeypatch):
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def read(n_rows):
        with subprocess.Popen(
            [
                sys.executable,
                "-c",
                f"open({str(path)!r}, 'w').write('a,b\\n' + '1,2\\n' * {n_rows})",
            ],
            stderr=subprocess.DEVNULL,
        ) as writer:
            try:
                return read_source(path).table.height
            finally:
                writer.wait(30)

    assert read(20) == 20
    monkeypatch.setenv("PELLUCID_MAX_MB", "1")
    with pytest.raises(InputError, match="takes more than 1 MB; the environment variable"):
        read(10**6)
    monkeypatch.setenv("PELLUCID_MAX_MB", "many")
    with pytest.raises(InputError, match="a number of megabytes is expected"):
        read_source(path.with_name("pipe"))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_a_small_file_takes_little_memory(tmp_path, pack):
    path = tmp_path / "small.csv"
    path.write_bytes(pack(b"a,b\n1,2\n3,4\n"))
    tracemalloc.start()
    assert read_source(path).table.height == 2
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 << 20


def test_zstd_of_several_chunks_and_frames(tmp_path):
    path = tmp_path / "rows.csv.zst"
    rows = b"".join(b"%d,%s\n" % (i, b"x" * 100_000) for i in range(400))
    path.write_bytes(zstandard.compress(b"a,b\n") + zstandard.compress(rows))
    assert read_source(path).table["a"].to_list() == list(range(400))


@pytest.mark.parametrize(
    "name", ["nul.csv", "corners.xlsx", "entities.xlsx", "directory.zip", "deep.jsonl"]
)
def test_a_command_prints_one_line_and_a_hint(name, tmp_path):
    (tmp_path / name).write_bytes(FILES[name][0]())
    result = CliRunner().invoke(app, ["explain", str(tmp_path / name)])
    assert result.exit_code == 1
    lines = result.stderr.splitlines()
    assert lines[0].startswith("error: ")
    assert FILES[name][1] in lines[0]
    assert len(lines) <= 2
    assert result.stdout == ""


def test_the_limit_of_columns_is_that_of_the_documentation():
    assert MAX_COLUMNS == 100_000


def test_brackets_in_text_are_not_levels_of_json(tmp_path):
    text = '[{[ " \\ ' * 200
    path = tmp_path / "text.json"
    path.write_text(json.dumps([{"a": text, "b": {"c": [1]}}, {"a": "", "b": {"c": [2]}}]))
    assert read_typed("text.json", path.read_bytes(), ".json", None)["a"].to_list() == [text, ""]
