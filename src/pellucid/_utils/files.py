"""Files that are written completely or not at all."""

from __future__ import annotations

import errno
import os
import platform
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NUMBER = re.compile(r"\(os error (\d+)\)")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file that replaces `path` only if no error occurs.

    It is in the folder of `path`, which is not touched until the temporary file is complete and on
    the disk. An `OSError` names `path` instead of the temporary file. Temporary files of the same
    path that processes of this computer left when they were killed are removed.
    """
    path = Path(path)
    unfinished: Path | None = None
    try:
        target = path.resolve()
        computer = f".{target.name[:100]}.{zlib.crc32(platform.node().encode()):08x}-"
        _remove_abandoned(target.parent, computer)
        handle, name = tempfile.mkstemp(".part", f"{computer}{os.getpid()}-", target.parent)
        os.close(handle)
        unfinished = Path(name)
        shutil.copymode(target, unfinished) if target.exists() else _set_usual_mode(unfinished)
        yield unfinished
        # On the disk, so that a crash cannot leave an empty file.
        with open(unfinished, "rb+") as file:
            os.fsync(file)
        os.replace(unfinished, target)
    except OSError as error:
        raise _named(error, path, unfinished) from error
    finally:
        if unfinished is not None:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)


def _remove_abandoned(folder: Path, prefix: str) -> None:
    """Remove temporary files whose names have a prefix and the number of a process that ended."""
    if os.name != "posix":  # elsewhere a signal to another process is not harmless
        return
    with suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.startswith(prefix) and entry.name.endswith(".part"):
                process = entry.name.removeprefix(prefix).partition("-")[0]
                if process.isdecimal() and not _is_running(int(process)):
                    with suppress(OSError):
                        os.unlink(entry.path)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # a process of another user
        pass
    return True


def _named(error: OSError, path: Path, unfinished: Path | None) -> OSError:
    """The error of a file that is written; other errors are returned as they are."""
    if error.errno is not None and error.filename not in (None, str(unfinished)) and unfinished:
        return error
    number, reason = error.errno, error.strerror
    if number is None:  # polars gives only a text
        found = _NUMBER.search(str(error))
        number = int(found[1]) if found else errno.EIO
        reason = os.strerror(number) if found else str(error)
    return OSError(number, reason, str(path))


def _set_usual_mode(path: Path) -> None:
    """The mode of a new file; temporary files can only be read by their owner."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)
