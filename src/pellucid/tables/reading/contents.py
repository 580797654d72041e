"""The bytes of a file: limits, decompression, and the format of the content.

No file takes any amount of memory or time, and none ends in an exception of another library. The
environment variable ``PELLUCID_MAX_MB`` sets the largest input in megabytes.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path, PurePath
from typing import IO, Any

from pellucid._utils.imports import import_optional
from pellucid._utils.notices import InputError
from pellucid.tables.suffixes import COMPRESSED, FEATHER, JSON, PARQUET, TEXT

DEFAULT_MAX_MB = 4096
MAX_COLUMNS = 100_000
MAX_LINE = 16 << 20  # bytes of each of the first lines of a text table
_VARIABLE = "PELLUCID_MAX_MB"
_CHUNK = 16 << 20
MIN_LIMIT = 256 << 20
MAX_RATIO = 200  # a compressed file may give `MIN_LIMIT` bytes, or this multiple of its size
# A file can be compressed this many times; some files give themselves when decompressed.
MAX_LAYERS = 5
_PACKED_CHUNK = 1 << 12  # compressed bytes at a time; zstd can give 32,000 times as many


def max_bytes() -> int:
    text = os.environ.get(_VARIABLE, str(DEFAULT_MAX_MB))
    if not text.isdecimal() or not 0 < int(text) < 10**9:
        raise InputError(f"{_VARIABLE} is {text!r}", hint="a number of megabytes is expected")
    return int(text) << 20


def read_bytes(file: Path) -> bytes:
    """The bytes of a regular file or a pipe."""
    found = file.stat()
    if stat.S_ISDIR(found.st_mode):
        raise InputError(f"{file} is a folder", hint="give the name of a file in it")
    is_device = stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode)
    if stat.S_ISSOCK(found.st_mode) or (is_device and str(file) != "/dev/stdin"):
        raise InputError(f"{file} is a device, not a file", hint="give the name of a file")
    check_bytes(str(file), found.st_size)
    with open(file, "rb") as stream:
        return read_stream(str(file), stream)


def read_stream(name: str, stream: IO[bytes]) -> bytes:
    """All bytes of a stream, of which only about the limit is read."""
    content = read_up_to(stream, max_bytes())
    check_bytes(name, len(content))
    return content


def read_up_to(stream: IO[bytes], limit: int) -> bytes:
    """The bytes of a stream; more than `limit` if there are more, but not all of them."""
    # In chunks, because `read` takes memory for all bytes that it is asked for.
    parts, n_read = [], 0
    while n_read <= limit and (part := stream.read(_CHUNK)):
        parts.append(part)
        n_read += len(part)
    return b"".join(parts)


@contextmanager
def errors_of(name: str, verb: str = "read", hint: str | None = None) -> Iterator[None]:
    """Turn any error of a library that reads a damaged file into one that names the file."""
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        # A panic of Rust is no `Exception`.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        why = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(f"{name} cannot be {verb}: {why}", hint=hint) from error


def check_bytes(name: str, n_bytes: int) -> None:
    """Fail if an input, or the table in it, has too many bytes."""
    limit = max_bytes()
    if n_bytes > limit:
        hint = f"the environment variable {_VARIABLE} raises the limit"
        raise InputError(f"{name} takes more than {limit >> 20:,} MB", hint=hint)


def check_columns(name: str, n_columns: int) -> None:
    if n_columns > MAX_COLUMNS:
        raise InputError(
            f"{name} has {n_columns:,} columns, of which at most {MAX_COLUMNS:,} can be read",
            hint="select columns, or exchange rows and columns; check the separator of a text file",
        )


def unpack(name: str, content: bytes, path: PurePath) -> tuple[bytes, str]:
    """Decompress bytes and find the suffix of their format: by the first bytes for binary formats,
    by the suffix of `path`, or of the file inside, for text formats.
    """
    n_layers = 0
    while (opener := _opener(content)) is not None:
        n_layers += 1
        if n_layers > MAX_LAYERS:
            raise InputError(f"{name} is compressed more than {MAX_LAYERS} times")
        path = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
        if opener is _open_zip:
            suffix, path = _look_into(name, content)
            if suffix:
                return content, suffix
        content = _decompress(name, content, opener)
    if path.suffix.lower() in COMPRESSED:
        raise InputError(f"{name} cannot be decompressed: it is not a {path.suffix} file")
    return content, _suffix(content, path.suffix.lower())


def _suffix(content: bytes, suffix: str) -> str:
    if content.startswith(b"PAR1"):
        return suffix if suffix in PARQUET else PARQUET[0]
    if content.startswith(b"ARROW1"):
        return suffix if suffix in FEATHER else FEATHER[0]
    if content.startswith(b"\xd0\xcf\x11\xe0"):
        return ".xls"
    if suffix in (*TEXT, *JSON):
        return suffix
    start = content[:1024].lstrip()
    if start.startswith(b"{"):
        return ".jsonl"
    return ".json" if start.startswith((b"[{", b"[[")) else ".csv"


class _ZstdReader:
    """Reads zstd frames; unlike the reader of zstandard, it fails if the last one is cut off."""

    def __init__(self, data: IO[bytes]) -> None:
        self._data = data
        self._frame: Any = None

    def read(self, size: int) -> bytes:
        """About `size` bytes or more; fewer only at the end."""
        zstandard = import_optional("zstandard", "a .zst file", "gzip")
        parts, n_read, frame = [], 0, self._frame
        while n_read < size and (chunk := self._data.read(_PACKED_CHUNK)):
            while chunk:
                frame = frame or zstandard.ZstdDecompressor().decompressobj()
                parts.append(frame.decompress(chunk))
                n_read += len(parts[-1])
                chunk, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
        if frame is not None and not n_read:
            raise EOFError("the file ended before the end of the compressed data")
        self._frame = frame
        return b"".join(parts)


def _open_zip(data: IO[bytes]) -> IO[bytes]:
    archive = zipfile.ZipFile(data)
    return archive.open(_members(archive)[0])


# By the first bytes of compressed files, what opens them.
_OPENERS: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": lambda data: gzip.GzipFile(fileobj=data),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"\x28\xb5\x2f\xfd": lambda data: nullcontext(_ZstdReader(data)),
    b"PK\x03\x04": _open_zip,
}


def _opener(content: bytes) -> Callable[[IO[bytes]], Any] | None:
    return next((each for mark, each in _OPENERS.items() if content.startswith(mark)), None)


def _decompress(name: str, content: bytes, opener: Callable[[IO[bytes]], Any]) -> bytes:
    limit = min(max(MIN_LIMIT, MAX_RATIO * len(content)), max_bytes())
    with errors_of(name, "decompressed"), opener(io.BytesIO(content)) as stream:
        found = read_up_to(stream, limit)
    if len(found) > limit:
        raise InputError(
            f"{name} is larger than {limit >> 20:,} MB when it is decompressed",
            hint="decompress it first",
        )
    return found


def _members(archive: zipfile.ZipFile) -> list[str]:
    """Names of the files in an archive, without those that macOS adds."""
    names = [each.filename for each in archive.infolist() if not each.is_dir()]
    return [name for name in names if not name.startswith("__MACOSX/")]


def _look_into(name: str, content: bytes) -> tuple[str, PurePath]:
    """The suffix of a spreadsheet, otherwise empty, and the only file of another archive."""
    with errors_of(name, "decompressed"):
        archive = zipfile.ZipFile(io.BytesIO(content))
    files, members = archive.namelist(), _members(archive)
    marks = (("xl/workbook.bin", ".xlsb"), ("xl/workbook.xml", ".xlsx"), ("content.xml", ".ods"))
    suffix = next((suffix for mark, suffix in marks if mark in files), "")
    if suffix and not (suffix == ".ods" and "mimetype" not in files):
        size = sum(each.file_size for each in archive.infolist())
        if size > max(MIN_LIMIT, MAX_RATIO * len(content)):
            raise InputError(f"{name} is too large when it is decompressed", hint="save it as CSV")
        return suffix, PurePath("")
    if len(members) != 1:
        shown = ", ".join(members[:10]) + (", ..." if len(members) > 10 else "")
        raise InputError(
            f"{name} holds {len(members)} files{': ' if members else ''}{shown}",
            hint="one file is expected; unzip it and give the name of one file",
        )
    return "", PurePath(members[0])
