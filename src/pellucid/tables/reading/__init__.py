"""Read tables as people have them: text in any layout, spreadsheets, and data frames."""

from pellucid.tables.reading.files import STDIN as STDIN
from pellucid.tables.reading.files import read_source as read_source
from pellucid.tables.reading.files import source_of as source_of
from pellucid.tables.reading.parsing import as_format as as_format
from pellucid.tables.reading.parsing import parse_columns as parse_columns
from pellucid.tables.reading.source import ReadingOptions as ReadingOptions
from pellucid.tables.reading.source import TableSource as TableSource
from pellucid.tables.reading.text_columns import days as days
