"""Trees in other forms: one file per format.

Every function takes a fitted estimator, an :class:`~pellucid.Explanation` or a
:class:`~pellucid.ThresholdTree`, and is a method of the first two as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pellucid._utils.imports import lazy_attributes

if TYPE_CHECKING:
    from pellucid.export.dmn import to_dmn
    from pellucid.export.flowcharts import export_text, to_dot, to_mermaid
    from pellucid.export.frame import to_frame
    from pellucid.export.html import to_html
    from pellucid.export.json import from_dict, from_json, to_dict, to_json
    from pellucid.export.onnx import to_onnx
    from pellucid.export.python import to_python
    from pellucid.export.sklearn import from_sklearn, to_sklearn
    from pellucid.export.sql import to_sql, to_sql_columns

__all__ = [
    "export_text",
    "from_dict",
    "from_json",
    "from_sklearn",
    "to_dict",
    "to_dmn",
    "to_dot",
    "to_frame",
    "to_html",
    "to_json",
    "to_mermaid",
    "to_onnx",
    "to_python",
    "to_sklearn",
    "to_sql",
    "to_sql_columns",
]

# Type checkers use the imports above, so that a wrong name is an error.
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_attributes(
        __name__,
        {
            "dmn": "to_dmn",
            "flowcharts": "export_text to_dot to_mermaid",
            "frame": "to_frame",
            "html": "to_html",
            "json": "from_dict from_json to_dict to_json",
            "onnx": "to_onnx",
            "python": "to_python",
            "sklearn": "from_sklearn to_sklearn",
            "sql": "to_sql to_sql_columns",
        },
    )
