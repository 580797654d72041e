"""``pellucid explain`` for a file that does not fit into memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pellucid._utils.memory import available_memory
from pellucid._utils.notices import notice, option
from pellucid._utils.texts import Message
from pellucid.cli.progress import working
from pellucid.scale.scan import read_memory
from pellucid.table_explainer.explainer import TableExplanation
from pellucid.tables.reading import ReadingOptions
from pellucid.tables.reading.large_files import memory_needed, open_large

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def limit_of(file: Path, memory: str | None) -> int | None:
    """The memory for a file that has to be read in batches; None if it fits.

    The limit is `memory`, or half of the memory that is available.
    """
    needed = memory_needed(file)
    limit = read_memory(memory) if memory is not None else (available_memory() or 0) // 2
    if needed is None or not limit or needed <= limit:
        return None
    sizes = {"needed": _written(needed), "limit": _written(limit)}
    notice(Message("inBatches", file=str(file), **sizes, option=option("memory")))
    return limit


def explain_in_batches(
    file: Path, limit: int, reading: ReadingOptions, **options: Any
) -> TableExplanation:
    """Explain the clusters of a file in passes over its rows."""
    from pellucid.table_explainer.streaming import explain_large

    with working(f"reading {file}"):
        table = open_large(file, reading)
    with working("explaining"):
        return explain_large(table, limit, **options)


def _written(n_bytes: int) -> str:
    size, unit = float(n_bytes), 0
    while size >= 1000 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.3g} {_UNITS[unit]}"
