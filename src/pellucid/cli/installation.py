"""``pellucid info`` and ``pellucid warm-up``: versions and settings, and compiled code."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from pellucid import __version__, first_use
from pellucid._utils.threads import count_threads
from pellucid.cli.output import show_measures, working

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
    show_measures(
        [
            ("pellucid", __version__),
            ("python", f"{platform.python_version()} ({sys.executable})"),
            ("system", f"{platform.system()} {platform.release()}, {platform.machine()}"),
            ("threads", str(count_threads(None))),
            ("compiled code", first_use.code_folder() or "not cached: no writable folder"),
            *((name, _version(name)) for name in PACKAGES),
        ]
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def warm_up() -> None:
    """Compile all loops and print where the machine code is stored."""
    with working("compiling"):
        done = first_use.warm_up()
    show_measures(
        [
            ("compiled loops", f"{done.n_compiled:,}"),
            ("seconds", f"{done.seconds:.0f}"),
            ("stored in", done.folder or "nothing is stored: no folder can be written"),
        ]
    )
