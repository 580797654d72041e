"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file that replaces `path` only if no error occurs."""
    target = path.resolve()
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield unfinished
        if target.exists():
            shutil.copymode(target, unfinished)
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)
