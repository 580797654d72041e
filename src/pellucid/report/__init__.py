"""The report: one HTML file that describes the clusters and can be explored in a browser."""

from pellucid._utils.imports import lazy_attributes

__getattr__, __dir__ = lazy_attributes(__name__)
__all__ = __dir__()
