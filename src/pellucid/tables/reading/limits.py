"""Limits of the tables that are read, and errors that name the file.

No file takes any amount of memory or time, and none ends in an exception of another library. The
environment variable ``PELLUCID_MAX_MB`` sets the largest input in megabytes.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pellucid._utils.notices import InputError

DEFAULT_MAX_MB = 4096
MAX_COLUMNS = 100_000
MAX_LINE = 16 << 20
"""Bytes of each of the first lines of a text table."""

_VARIABLE = "PELLUCID_MAX_MB"
_CHUNK = 16 << 20


def max_bytes() -> int:
    """Bytes of the largest input."""
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


def read_standard_input(name: str) -> bytes:
    """The bytes of standard input."""
    return read_stream(name, sys.stdin.buffer)


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
        raise InputError(
            f"{name} takes more than {limit >> 20:,} MB",
            hint=f"the environment variable {_VARIABLE} raises the limit",
        )


def check_columns(name: str, n_columns: int) -> None:
    """Fail if a table has too many columns."""
    if n_columns > MAX_COLUMNS:
        raise InputError(
            f"{name} has {n_columns:,} columns, of which at most {MAX_COLUMNS:,} can be read",
            hint="select columns, or exchange rows and columns; check the separator of a text file",
        )
