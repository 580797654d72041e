"""Trees in other forms: one file per format.

Every function takes a fitted estimator, an :class:`~pellucid.Explanation` or a
:class:`~pellucid.ThresholdTree`, and is a method of the first two as well.
"""

from __future__ import annotations

from pellucid._utils.lazy import lazy_attributes

__getattr__, __dir__, __all__ = lazy_attributes(
    __name__,
    {
        "export_text": "text",
        "from_dict": "json",
        "from_json": "json",
        "from_sklearn": "sklearn",
        "to_dict": "json",
        "to_dot": "dot",
        "to_frame": "frame",
        "to_html": "html",
        "to_json": "json",
        "to_mermaid": "mermaid",
        "to_onnx": "onnx",
        "to_python": "python",
        "to_sklearn": "sklearn",
        "to_sql": "sql",
    },
)
