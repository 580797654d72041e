"""Attributes of a package that are imported on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from pellucid._utils.optional import is_missing, missing_package


def lazy_attributes(
    package: str, modules: Mapping[str, str], requires: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Full name of the package.
    modules : mapping of str to str
        For each public name, the module that defines it, relative to the package.
    requires : mapping of str to str, optional
        Optional modules that functions require. Without them, a function can be imported, and a
        call raises an error with the pip command.
    """
    requires = requires or {}

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if name in requires and is_missing(requires[name]):
            return _refusal(f"{package}.{name}", requires[name])
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    names = sorted(modules)
    return get, lambda: names


def _refusal(name: str, module: str) -> Callable[..., Any]:
    """Stands for a function whose optional module is not installed."""

    def refuse(*args: Any, **options: Any) -> Any:
        raise missing_package(module, name)

    refuse.__doc__ = str(missing_package(module, name))
    return refuse
