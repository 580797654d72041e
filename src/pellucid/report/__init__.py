"""The report: one HTML file that describes the clusters and can be explored in a browser."""

from __future__ import annotations

from pellucid._utils.lazy import lazy_attributes

__getattr__, __dir__, __all__ = lazy_attributes(
    __name__, {"report_html": "writing", "write_report": "writing"}
)
