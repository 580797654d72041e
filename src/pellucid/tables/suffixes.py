"""Suffixes of the files that are read and written. Nothing heavy is imported here."""

from __future__ import annotations

from pathlib import PurePath

from pellucid._utils.notices import InputError

TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat", ".data")
JSON_LINES = (".jsonl", ".ndjson")
JSON = (".json", *JSON_LINES)
PARQUET = (".parquet", ".pq")
FEATHER = (".feather", ".arrow", ".ipc")
EXCEL = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")

WRITABLE = (*TEXT, *JSON, *PARQUET, *FEATHER, ".xlsx")


def written_format(path: PurePath, usual: str = ".csv") -> tuple[str, bool]:
    """The suffix of the format of a file to write, by default the `usual` one, and whether it is
    compressed by gzip.
    """
    is_compressed = path.suffix.lower() == ".gz"
    suffix = (path.with_suffix("") if is_compressed else path).suffix.lower()
    suffix = suffix or (usual if usual in WRITABLE else ".csv")
    if suffix not in WRITABLE or (is_compressed and suffix not in (*TEXT, *JSON)):
        raise InputError(
            f"{path}: tables cannot be written as {''.join(path.suffixes[-2:])!r}",
            hint="use .csv, .tsv, .xlsx, .parquet, .feather, .jsonl, or .csv.gz",
        )
    return suffix, is_compressed
