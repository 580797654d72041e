"""How much memory is free, where the system tells."""

from __future__ import annotations

from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_GROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)
"""Limit and use of a container's memory, in the two ways in which Linux has them."""


def free_memory() -> int | None:
    """Bytes that can still be had, or None where it is not known.

    On Linux what the system calls available, or what a container's limit leaves if that is less.
    """
    return min((size for size in (_system(), *map(_group, _GROUPS)) if size), default=None)


def _system() -> int | None:
    try:
        for line in _MEMINFO.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


def _group(files: tuple[Path, Path]) -> int | None:
    try:
        limit, used = (int(file.read_text(encoding="ascii")) for file in files)
    except (OSError, ValueError):  # "max" is no number: there is no limit
        return None
    return max(limit - used, 1)
