"""The report: one HTML file that says what the clusters are, and lets a reader look further."""

from __future__ import annotations

from importlib import import_module

_HOMES = {"report_html": "writing", "write_report": "writing"}

__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    """Fetched on first use."""
    if name in _HOMES:
        return getattr(import_module(f"pellucid.report.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'pellucid.report' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
