"""Trees in other forms: one file per format.

Every function takes a fitted estimator, an :class:`~pellucid.Explanation` or a
:class:`~pellucid.ThresholdTree`, and is a method of the first two as well.
"""

from pellucid._utils.imports import lazy_attributes

__getattr__, __dir__ = lazy_attributes(__name__)
__all__ = __dir__()
