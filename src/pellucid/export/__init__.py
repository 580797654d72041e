"""Trees in other forms: one file per format.

Every function takes a fitted estimator, an :class:`~pellucid.Explanation` or a
:class:`~pellucid.ThresholdTree`, and is a method of the first two as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pellucid._utils.imports import lazy_attributes

if TYPE_CHECKING:  # the same names as below, so that a wrong one is an error
    from pellucid.export.dmn import to_dmn as to_dmn
    from pellucid.export.flowcharts import export_text as export_text
    from pellucid.export.flowcharts import to_dot as to_dot
    from pellucid.export.flowcharts import to_mermaid as to_mermaid
    from pellucid.export.frame import to_frame as to_frame
    from pellucid.export.html import to_html as to_html
    from pellucid.export.json import from_dict as from_dict
    from pellucid.export.json import from_json as from_json
    from pellucid.export.json import to_dict as to_dict
    from pellucid.export.json import to_json as to_json
    from pellucid.export.onnx import to_onnx as to_onnx
    from pellucid.export.python import to_python as to_python
    from pellucid.export.sklearn import from_sklearn as from_sklearn
    from pellucid.export.sklearn import to_sklearn as to_sklearn
    from pellucid.export.sql import to_sql as to_sql
    from pellucid.export.sql import to_sql_columns as to_sql_columns
else:
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
    __all__ = __dir__()
