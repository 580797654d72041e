"""Read tables as people have them: text in any layout, spreadsheets, and data frames."""

from pellucid.tables.reading.files import STDIN, read_source, source_of
from pellucid.tables.reading.parsing import as_format, parse_columns
from pellucid.tables.reading.source import ReadingOptions, TableSource
from pellucid.tables.reading.text_columns import days

__all__ = [
    "STDIN",
    "ReadingOptions",
    "TableSource",
    "as_format",
    "days",
    "parse_columns",
    "read_source",
    "source_of",
]
