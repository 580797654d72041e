"""The bytes of a file: decompression, and the format of the content."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import IO, Any, NamedTuple

from pellucid._utils.imports import import_optional
from pellucid._utils.notices import InputError
from pellucid.tables.reading.limits import errors_of, max_bytes, read_up_to
from pellucid.tables.suffixes import COMPRESSED, FEATHER, JSON, PARQUET, TEXT

MIN_LIMIT = 256 << 20
MAX_RATIO = 200
"""A compressed file may give `MIN_LIMIT` bytes, or this multiple of its size."""

MAX_LAYERS = 5
"""A file can be compressed this many times; some files give themselves when decompressed."""

_CHUNK = 1 << 12
"""Compressed bytes at a time; zstd can give 32,000 times as many."""


class Content(NamedTuple):
    """Bytes and the suffix of their format.

    Attributes
    ----------
    content : bytes
    suffix : str
        One of `TEXT`, `JSON`, `PARQUET`, `FEATHER` or `EXCEL`.
    """

    content: bytes
    suffix: str


def unpack(name: str, content: bytes, path: PurePath) -> Content:
    """Decompress bytes and find their format.

    The first bytes decide between binary formats, and the suffix between text formats. The
    suffix of a compressed file is that of the file inside.

    Parameters
    ----------
    name : str
        Name for errors.
    content : bytes
    path : PurePath
        Name of the file, of which the suffix is used.
    """
    n_layers = 0
    while (opener := _opener(content)) is not None:
        n_layers += 1
        if n_layers > MAX_LAYERS:
            raise InputError(f"{name} is compressed more than {MAX_LAYERS} times")
        path = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
        if opener is _open_zip:
            if (suffix := _workbook_suffix(name, content)) is not None:
                return Content(content, suffix)
            path = PurePath(_only_member(name, content))
        content = _decompress(name, content, opener)
    if path.suffix.lower() in COMPRESSED:
        raise InputError(f"{name} cannot be decompressed: it is not a {path.suffix} file")
    return Content(content, _suffix(content, path.suffix.lower()))


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


def _opener(content: bytes) -> Callable[[IO[bytes]], Any] | None:
    if content.startswith(b"\x1f\x8b"):
        return lambda data: gzip.GzipFile(fileobj=data)
    if content.startswith(b"BZh"):
        return bz2.BZ2File
    if content.startswith(b"\xfd7zXZ\x00"):
        return lzma.LZMAFile
    if content.startswith(b"\x28\xb5\x2f\xfd"):
        return _open_zstd
    return _open_zip if content.startswith(b"PK\x03\x04") else None


@contextmanager
def _open_zstd(data: IO[bytes]) -> Iterator[_ZstdReader]:
    yield _ZstdReader(data)


class _ZstdReader:
    """Reads zstd frames; unlike the reader of zstandard, it fails if the last one is cut off."""

    def __init__(self, data: IO[bytes]) -> None:
        self._data = data
        self._frame: Any = None

    def read(self, size: int) -> bytes:
        """About `size` bytes or more; fewer only at the end."""
        zstandard = import_optional("zstandard", "a .zst file", "gzip")
        parts, n_read, frame = [], 0, self._frame
        while n_read < size and (chunk := self._data.read(_CHUNK)):
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
    return [
        each.filename
        for each in archive.infolist()
        if not each.is_dir() and not each.filename.startswith("__MACOSX/")
    ]


def _open_archive(name: str, content: bytes) -> zipfile.ZipFile:
    with errors_of(name, "decompressed"):
        return zipfile.ZipFile(io.BytesIO(content))


def _workbook_suffix(name: str, content: bytes) -> str | None:
    """The suffix of a spreadsheet, or None for another archive."""
    archive = _open_archive(name, content)
    names = archive.namelist()
    suffix = (
        ".xlsb" if "xl/workbook.bin" in names else ".xlsx" if "xl/workbook.xml" in names else ""
    )
    if not suffix and "content.xml" in names and "mimetype" in names:
        suffix = ".ods"
    if suffix and sum(each.file_size for each in archive.infolist()) > max(
        MIN_LIMIT, MAX_RATIO * len(content)
    ):
        raise InputError(f"{name} is too large when it is decompressed", hint="save it as CSV")
    return suffix or None


def _only_member(name: str, content: bytes) -> str:
    members = _members(_open_archive(name, content))
    if len(members) != 1:
        shown = ", ".join(members[:10]) + (", ..." if len(members) > 10 else "")
        raise InputError(
            f"{name} holds {len(members)} files{': ' if members else ''}{shown}",
            hint="one file is expected; unzip it and give the name of one file",
        )
    return members[0]
