"""Optional packages."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pellucid._utils.notices import InputError


class MissingPackageError(InputError, ImportError):
    """An optional package is not installed."""


def import_optional(module: str, package: str, feature: str, alternative: str) -> Any:
    """Import an optional module, or raise an error that says what works without it.

    Parameters
    ----------
    module : str
        Name of the module.
    package : str
        What pip installs.
    feature : str
        What requires the package, as the user writes it.
    alternative : str
        What works without the package.

    Examples
    --------
    >>> from pellucid._utils.optional import import_optional
    >>> import_optional("json", "json", "search='two-step'", "search='grid'").__name__
    'json'
    """
    try:
        return import_module(module)
    except ImportError:
        raise missing_package(package, feature, alternative) from None


def missing_package(package: str, feature: str, alternative: str) -> MissingPackageError:
    """The error of `import_optional`."""
    return MissingPackageError(
        f"{feature} requires the package {package}",
        hint=f"pip install {package}, or use {alternative}, which works without it",
    )
