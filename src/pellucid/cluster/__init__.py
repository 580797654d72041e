"""Estimators that explain a clustering by a threshold tree."""

from pellucid._utils.imports import lazy_attributes

__getattr__, __dir__ = lazy_attributes(__name__)
__all__ = __dir__()
