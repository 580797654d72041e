"""``pellucid info``: versions and settings for bug reports."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from pellucid.cli.output import show_measures

PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "narwhals",
    "polars",
    "matplotlib",
    "pandas",
    "onnx",
)


def info() -> None:
    """Print versions, threads and the folder of compiled code."""
    from pellucid import __version__
    from pellucid._utils.threads import count_threads

    show_measures(
        [
            ("pellucid", __version__),
            ("python", f"{platform.python_version()} ({sys.executable})"),
            ("system", f"{platform.system()} {platform.release()}, {platform.machine()}"),
            ("threads", str(count_threads(None))),
            ("compiled code", _cache_folder()),
            *((name, _version(name)) for name in PACKAGES),
        ]
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _cache_folder() -> str:
    from pellucid.first_use import code_folder

    return code_folder() or "not cached: no writable folder"
