"""Memory that this process may use."""

from __future__ import annotations

import re
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
# Limit and use of memory of a container.
_GROUP = Path("/sys/fs/cgroup")
_GROUP_LIMITS = (
    (_GROUP / "memory.max", _GROUP / "memory.current"),
    (_GROUP / "memory/memory.limit_in_bytes", _GROUP / "memory/memory.usage_in_bytes"),
)


def available_memory() -> int | None:
    """Bytes that can be used without swapping; None where this is not known."""
    found = []
    try:
        match = re.search(r"MemAvailable:\s+(\d+) kB", _MEMINFO.read_text())
        if match is not None:
            found.append(int(match[1]) * 1024)
    except OSError:
        pass
    for limit, used in _GROUP_LIMITS:
        try:
            found.append(max(0, int(limit.read_text()) - int(used.read_text())))
        except (OSError, ValueError):  # "max": no limit
            continue
    return min(found, default=None)
