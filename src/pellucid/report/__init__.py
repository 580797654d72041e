"""The report: one HTML file that describes the clusters and can be explored in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pellucid._utils.imports import lazy_attributes

if TYPE_CHECKING:
    from pellucid.report.page import read_cluster_names
    from pellucid.report.writing import report_html, write_report

__all__ = [
    "read_cluster_names",
    "report_html",
    "write_report",
]

# Type checkers use the imports above, so that a wrong name is an error.
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_attributes(
        __name__, {"page": "read_cluster_names", "writing": "report_html write_report"}
    )
