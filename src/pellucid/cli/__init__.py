"""The command line. This module has what all commands share: errors and output files."""

from __future__ import annotations

import errno
import os
from difflib import get_close_matches
from pathlib import Path

from pellucid._utils.files import replacing
from pellucid._utils.notices import InputError

__all__ = ["CommandError", "check_files_exist", "check_folder", "check_target", "replacing"]


class CommandError(InputError):
    """An error that the user can fix.

    Parameters
    ----------
    message : str
        What is wrong, in one line.
    hint : str, optional
        How to fix it, in one line.
    exit_code : int, default=1
        2 for wrong or conflicting options.
    """

    def __init__(self, message: str, *, hint: str | None = None, exit_code: int = 1) -> None:
        super().__init__(message, hint=hint)
        self.exit_code = exit_code


def check_files_exist(*files: Path) -> None:
    """Fail early if an input file does not exist."""
    for file in files:
        if str(file) == "-" or os.path.lexists(file):
            continue
        existing = os.listdir(file.parent) if file.parent.is_dir() else []
        similar = get_close_matches(file.name, existing, n=1)
        raise CommandError(
            f"{file}: {os.strerror(errno.ENOENT)}",
            hint=f"did you mean {file.with_name(similar[0])}?" if similar else None,
        )


def check_folder(folder: Path, option: str) -> None:
    """Fail unless files can be created in `folder`, the value of the command-line `option`."""
    if not folder.is_dir():
        if folder.exists():
            raise CommandError(f"{option}: {folder} is not a folder")
        raise CommandError(
            f"{option}: the folder {folder} does not exist",
            hint="create it first, or choose another folder",
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CommandError(f"{option}: no permission to write in the folder {folder}")


def check_target(path: Path, option: str) -> None:
    """Fail unless `path`, the value of the command-line `option`, can be written."""
    if str(path) == "-":
        raise CommandError(
            f"{option}: standard output is used for the results", hint="give a file name"
        )
    check_folder(path.parent, option)
    if path.is_dir():
        raise CommandError(f"{option}: {path} is a folder", hint="give the name of a file in it")
    # Replacing anything else, such as a device, would destroy it.
    if path.exists() and not path.is_file():
        raise CommandError(f"{option}: {path} is not a regular file")
    if path.exists() and not os.access(path, os.W_OK):
        raise CommandError(f"{option}: no permission to write {path}")
