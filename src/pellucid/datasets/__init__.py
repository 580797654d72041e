"""Synthetic data sets of the papers, or substitutes for their data."""

from pellucid._utils.imports import lazy_attributes

__getattr__, __dir__ = lazy_attributes(__name__)
__all__ = __dir__()
