"""On what the figures were measured: processor, memory, system and versions; nothing private."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "pellucid",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "ExKMC",
    "ShallowTree",
    "gemclus",
)
FILE = "machine.json"


def describe() -> dict[str, str]:
    """The machine and the versions of what runs on it."""
    found = {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": _memory(),
        "system": _system(),
        "Python": platform.python_version(),
    }
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def remember(folder: Path) -> None:
    """Note in the result folder that this machine measured for it."""
    known, this = recall(folder), describe()
    if this not in known:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_text(json.dumps([*known, this], indent=2) + "\n", encoding="utf-8")


def recall(folder: Path) -> list[dict[str, str]]:
    """All machines (or versions) that measured for a result folder."""
    path = folder / FILE
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def _processor() -> str:
    for command in (["lscpu"], ["sysctl", "machdep.cpu.brand_string"]):
        try:
            text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            continue
        for line in text.splitlines():
            name, _, value = line.partition(":")
            if name.strip() in ("Model name", "machdep.cpu.brand_string"):
                return f"{value.strip()} ({platform.machine()})"
    return platform.processor() or platform.machine()


def _memory() -> str:
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return "unknown"
    return f"{size / 2**30:.0f} GiB"


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError, AttributeError):
        return f"{platform.system()} {platform.release()}"
