"""Check the sheets of a workbook before they are read.

The reader of workbooks allocates the whole rectangle between the first and the last cell. Two cells
in opposite corners of a sheet would take more than 500 GB, and the process would be aborted.
"""

from __future__ import annotations

import io
import re
import zipfile

from pellucid._utils.notices import InputError
from pellucid.tables.reading.limits import errors_of

MIN_CELLS = 10_000_000
MAX_RATIO = 10
"""The rectangle may have `MIN_CELLS` cells, or this multiple of the cells that have values."""

_CELL = re.compile(rb'<(?:\w+:)?c\s[^>]*?\br\s*=\s*["\']\$?([A-Za-z]+)\$?(\d+)["\']')


def check_sheets(name: str, content: bytes) -> None:
    """Fail if few cells of a sheet are spread over a very large rectangle.

    Parameters
    ----------
    name : str
        Name of the file.
    content : bytes
        A workbook; formats other than ``.xlsx`` are not checked.
    """
    if not content.startswith(b"PK"):
        return
    with errors_of(name, "decompressed"):
        archive = zipfile.ZipFile(io.BytesIO(content))
        for member in archive.namelist():
            if not member.lower().startswith("xl/") or not member.lower().endswith(".xml"):
                continue
            if "sheet" not in member.lower():
                continue
            if cells := _CELL.findall(archive.read(member)):
                _check_rectangle(name, cells)


def _check_rectangle(name: str, cells: list[tuple[bytes, bytes]]) -> None:
    columns = [_column(letters) for letters in {letters for letters, _ in cells}]
    rows = [int(digits[:9]) for digits in {digits for _, digits in cells}]
    height, width = max(rows) - min(rows) + 1, max(columns) - min(columns) + 1
    if height * width > max(MIN_CELLS, MAX_RATIO * len(cells)):
        raise InputError(
            f"{name}: {len(cells):,} cells are spread over {height:,} rows and {width:,} columns",
            hint="delete the cells that are far from the table, or save it as CSV",
        )


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters.upper()[:4]:
        number = 26 * number + letter - 64
    return number
