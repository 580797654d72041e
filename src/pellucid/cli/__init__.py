"""The command line; here, what its commands share: their errors and the files they write."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path


class CommandError(Exception):
    """Something that the user can put right.

    Parameters
    ----------
    message : str
        What is wrong, in one line.
    hint : str, optional
        What to do about it, in one line.
    exit_code : int, default=1
        2 for options that do not go together.
    """

    def __init__(self, message: str, *, hint: str | None = None, exit_code: int = 1) -> None:
        super().__init__(message)
        self.hint = hint
        self.exit_code = exit_code


def check_there(*files: Path) -> None:
    """Fail where one of the files to read is not there, before anything that takes time."""
    for file in files:
        if str(file) == "-" or os.path.lexists(file):
            continue
        there = os.listdir(file.parent) if file.parent.is_dir() else []
        near = get_close_matches(file.name, there, n=1)
        raise CommandError(
            f"{file}: {os.strerror(errno.ENOENT)}",
            hint=f"did you mean {file.with_name(near[0])}?" if near else None,
        )


def check_folder(folder: Path, option: str) -> None:
    """Fail unless files can be made in `folder`, which `option` of the command line names."""
    if not folder.is_dir():
        if folder.exists():
            raise CommandError(f"{option}: {folder} is not a folder")
        raise CommandError(
            f"{option}: the folder {folder} does not exist", hint="make it first, or name another"
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CommandError(f"{option}: no permission to write in the folder {folder}")


def check_target(path: Path, option: str) -> None:
    """Fail unless `path`, which `option` of the command line names, can be written."""
    if str(path) == "-":
        raise CommandError(
            f"{option}: results go to standard output already", hint="name a file to write"
        )
    check_folder(path.parent, option)
    if path.is_dir():
        raise CommandError(f"{option}: {path} is a folder", hint="name a file in it")
    # Anything else, such as a device, would be lost when a file is put in its place.
    if path.exists() and not path.is_file():
        raise CommandError(f"{option}: {path} is not an ordinary file")
    if path.exists() and not os.access(path, os.W_OK):
        raise CommandError(f"{option}: no permission to write {path}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write instead of `path`; it takes the place of `path` only when all went well."""
    target = path.resolve()
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield unfinished
        if target.exists():
            shutil.copymode(target, unfinished)
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)
