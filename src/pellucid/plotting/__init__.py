"""Plots; matplotlib is imported when the first one is drawn."""

from pellucid._utils.imports import lazy_attributes

__getattr__, __dir__ = lazy_attributes(__name__, requires="matplotlib")
__all__ = __dir__()
