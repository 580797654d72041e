"""Amount of free memory."""

from __future__ import annotations

from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_CGROUP_FILES = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)
"""Files with the limit and usage of a container's memory, in cgroups version 2 and 1."""


def free_memory() -> int | None:
    """Available memory in bytes; None if unknown.

    On Linux, the smaller of the available system memory and the rest of the container's limit.
    """
    sizes = (_system_memory(), *map(_container_memory, _CGROUP_FILES))
    return min((size for size in sizes if size), default=None)


def _system_memory() -> int | None:
    try:
        for line in _MEMINFO.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


def _container_memory(files: tuple[Path, Path]) -> int | None:
    try:
        limit, used = (int(file.read_text(encoding="ascii")) for file in files)
    except (OSError, ValueError):  # the limit "max" means that there is none
        return None
    return max(limit - used, 1)
