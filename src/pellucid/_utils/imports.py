"""Optional packages and the extras that install them; attributes imported on first use."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pkgutil import get_data
from typing import Any

from pellucid._utils.notices import InputError

# The extra that installs each module.
_EXTRAS = {
    "bayes_opt": "xclusters",
    "charset_normalizer": "cli",
    "dask": "dask",
    "deltalake": "delta",
    "fastexcel": "excel",
    "fsspec": "scale",
    "kneed": "xclusters",
    "matplotlib": "plot",
    "onnx": "onnx",
    "polars": "cli",
    "pyarrow": "scale",
    "pyiceberg": "iceberg",
    "pyspark": "spark",
    "rich": "cli",
    "typer": "cli",
    "xlsxwriter": "excel",
    "zstandard": "cli",
}
# What pip installs, where the module has another name.
_PACKAGES = {"bayes_opt": "bayesian-optimization", "charset_normalizer": "charset-normalizer"}


class MissingPackageError(InputError, ImportError):
    """An optional package is not installed."""


def import_optional(module: str, feature: str, alternative: str | None = None) -> Any:
    """Import an optional module, or raise an error with the pip command.

    `feature` is what requires the package, as the user writes it, and `alternative` what works
    without it.
    """
    try:
        return import_module(module)
    except ImportError:
        raise missing_package(module, feature, alternative) from None


def require_package(module: str, feature: str, alternative: str | None = None) -> None:
    """Raise the error of `import_optional` if a module is missing, without importing it."""
    if is_missing(module):
        raise missing_package(module, feature, alternative)


def is_missing(module: str) -> bool:
    try:
        return find_spec(module) is None
    except (ImportError, ValueError):  # importing it is forbidden, or it is only a stub
        return True


def missing_package(
    module: str, feature: str, alternative: str | None = None
) -> MissingPackageError:
    """The error of `import_optional`."""
    top = module.partition(".")[0]
    command = f"pip install 'pellucid[{_EXTRAS[top]}]'"
    return MissingPackageError(
        f"{feature} requires the package {_PACKAGES.get(top, top)}",
        hint=f"{command}, or use {alternative}, which works without it" if alternative else command,
    )


def lazy_attributes(
    package: str, requires: Mapping[str, str] | str | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__getattr__`` and ``__dir__`` of a package.

    The imports of its file ``__init__.pyi``, which type checkers read, are its public names.
    `requires` has the optional module of a function, or of all: without it, a call fails.
    """
    stub = ast.parse(get_data(package, "__init__.pyi") or b"")
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    modules = {alias.name: str(node.module) for node in imports for alias in node.names}
    required = dict.fromkeys(modules, requires) if isinstance(requires, str) else requires or {}

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if name in required and is_missing(required[name]):
            return _refusal(f"{package}.{name}", required[name])
        return getattr(import_module(modules[name]), name)

    names = sorted(modules)
    return get, lambda: names


def _refusal(name: str, module: str) -> Callable[..., Any]:
    """Stands for a function whose optional module is not installed."""

    def refuse(*args: Any, **options: Any) -> Any:
        raise missing_package(module, name)

    refuse.__doc__ = str(missing_package(module, name))
    return refuse
