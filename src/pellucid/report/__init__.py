"""The report: one HTML file that describes the clusters and can be explored in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pellucid._utils.imports import lazy_attributes

if TYPE_CHECKING:  # the same names as below, so that a wrong one is an error
    from pellucid.report.page import read_cluster_names as read_cluster_names
    from pellucid.report.writing import report_html as report_html
    from pellucid.report.writing import write_report as write_report
else:
    __getattr__, __dir__ = lazy_attributes(
        __name__, {"page": "read_cluster_names", "writing": "report_html write_report"}
    )
    __all__ = __dir__()
