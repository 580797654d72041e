"""Trees in other forms: one file a format.

Every function takes a fitted estimator, an :class:`~pellucid.Explanation` or a
:class:`~pellucid.ThresholdTree`, and is a method of the first two as well.
"""

from __future__ import annotations

from importlib import import_module

_HOMES = {
    "export_text": "text",
    "from_dict": "json",
    "from_json": "json",
    "to_dict": "json",
    "to_dot": "dot",
    "to_frame": "frame",
    "to_html": "html",
    "to_json": "json",
    "to_mermaid": "mermaid",
    "to_onnx": "onnx",
    "to_python": "python",
    "to_sql": "sql",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    """Formats are imported on first use."""
    if name in _HOMES:
        return getattr(import_module(f"pellucid.export.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'pellucid.export' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
