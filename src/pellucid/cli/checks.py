"""Checks of the options that need no data, and the files that a command writes.

They run before a command imports numpy, polars or scikit-learn, so that wrong usage is answered
at once. Nothing heavy may be imported here.
"""

from __future__ import annotations

import codecs
import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pellucid._utils.imports import require_package
from pellucid._utils.notices import InputError, UsageError
from pellucid.tables.suffixes import written_format

if TYPE_CHECKING:
    from pellucid._utils.estimators import SQLDialect
    from pellucid.table_explainer.arguments import ExplainOptions
    from pellucid.tables.reading import ReadingOptions, TableSource

PICTURES = (".png", ".svg", ".pdf")
GRAPHS = (".dot", ".gv")
DEMO_PICTURE, DEMO_REPORT = "wine-tree.png", "wine-report.html"

_SEPARATORS = {"tab": "\t", "\\t": "\t", "blank": " ", "space": " ", "comma": ",", "semicolon": ";"}
# Modules that values of ``--search`` require.
_PACKAGES = {"two-step": "kneed", "bayes": "bayes_opt"}


@dataclass(frozen=True)
class OutputFiles:
    """Files to write and how: options of the commands, not all of which every command has."""

    output: Path | None = None
    tree: Path | None = None
    plot: Path | None = None
    trends: Path | None = None
    sql: Path | None = None
    model: Path | None = None
    report: Path | None = None
    dialect: SQLDialect = "standard"
    bom: bool = False
    keep_formulas: bool = False
    names: str | None = None
    title: str | None = None
    rows: str = "rows"
    no_rows: bool = False
    language: Literal["en", "de"] = "en"
    as_json: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> OutputFiles:
        return cls(**_fields_of(cls, given))

    def check(self, file: Path) -> None:
        """Fail unless all files can be written, and the input `file` can be read and is kept."""
        from pellucid.export.sql_dialects import DIALECTS

        if self.dialect not in DIALECTS:
            hint = f"use one of {', '.join(DIALECTS)}"
            raise InputError(f"--dialect: unknown dialect {self.dialect!r}", hint=hint)
        check_files_exist(file)
        seen: dict[Path, str] = {}
        for name in ("output", "tree", "plot", "trends", "sql", "model", "report"):
            path, option = getattr(self, name), f"--{name}"
            if path is None:
                continue
            check_target(path, option)
            place = path.resolve()
            if str(file) != "-" and place == file.resolve():
                raise InputError(f"{option}: {path} is the input; it would be overwritten")
            if place in seen:
                raise UsageError(f"{seen[place]} and {option} are the same file, {path}")
            seen[place] = option
            _check_suffix(path, option)
        if self.names not in (None, "suggested"):
            check_files_exist(Path(self.names))

    def title_of(self, source: TableSource) -> str:
        """Title of a report: as given, or the name of the table."""
        return self.title or Path(source.name).name

    def check_shape(self, shape: str) -> None:
        """Fail if regions of this shape cannot be written to the files."""
        for name in ("output", "sql", "model") if shape == "nonparametric" else ():
            if getattr(self, name) is not None:
                raise UsageError(
                    f"--{name}: nonparametric regions cannot be exported, because they consist of "
                    "the training rows",
                    hint="use --shape box, polyhedron or ellipse",
                )


@dataclass(frozen=True)
class TableRequest:
    """A table to explain: the file, how to read and cluster it, and the files to write."""

    file: Path
    options: ExplainOptions
    files: OutputFiles
    reading: ReadingOptions

    @classmethod
    def of(cls, file: Path, given: Mapping[str, Any], *, has_tree: bool = False) -> TableRequest:
        """Check the options of a command; those of a tree, too, if it grows one tree."""
        from pellucid.table_explainer.arguments import ExplainOptions

        options = ExplainOptions(**_fields_of(ExplainOptions, given))
        options.check() if has_tree else options.check_number()
        check_reading(given)
        files = OutputFiles.of(given)
        files.check(file)
        return cls(file, options, files, reading_options(given))


def _fields_of(cls: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options that are fields of a dataclass."""
    return {each.name: given[each.name] for each in fields(cls) if each.name in given}


def check_files_exist(*files: Path) -> None:
    for file in files:
        if str(file) == "-" or os.path.lexists(file):
            continue
        existing = os.listdir(file.parent) if file.parent.is_dir() else []
        similar = get_close_matches(file.name, existing, n=1)
        raise InputError(
            f"{file}: {os.strerror(errno.ENOENT)}",
            hint=f"did you mean {file.with_name(similar[0])}?" if similar else None,
        )


def check_target(path: Path, option: str) -> None:
    """Fail unless `path`, the value of the command-line `option`, can be written."""
    if str(path) == "-":
        text = "standard output is used for the results"
        raise InputError(f"{option}: {text}", hint="give a file name")
    _check_folder(path.parent, option)
    if path.is_dir():
        raise InputError(f"{option}: {path} is a folder", hint="give the name of a file in it")
    # Replacing anything else, such as a device, would destroy it.
    if path.exists() and not path.is_file():
        raise InputError(f"{option}: {path} is not a regular file")
    if path.exists() and not os.access(path, os.W_OK):
        raise InputError(f"{option}: no permission to write {path}")


def _check_folder(folder: Path, option: str) -> None:
    """Fail unless files can be created in `folder`."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{option}: {folder} is not a folder")
    if not folder.exists():
        hint = "create it first, or choose another folder"
        raise InputError(f"{option}: the folder {folder} does not exist", hint=hint)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{option}: no permission to write in the folder {folder}")


def _check_suffix(path: Path, option: str) -> None:
    """Fail unless the suffix of `path` is a format of the option."""
    suffix = path.suffix.lower()
    if option in ("--plot", "--trends", "--tree"):
        known = (*PICTURES, *(GRAPHS if option == "--tree" else ()))
        if suffix not in known:
            hint = f"use one of {', '.join(known)}"
            raise InputError(f"{option}: {path.suffix!r} is not an image format", hint=hint)
        if suffix in PICTURES:
            require_package("matplotlib", f"{option} {path}")
    elif option == "--report" and suffix not in (".html", ".htm"):
        raise InputError(
            f"{option}: {path} must end in .html, because the report is HTML",
            hint=f"use {path.with_suffix('.html').name}",
        )
    elif option == "--output" and written_format(path)[0] == ".xlsx":
        require_package("xlsxwriter", f"{option} {path}", "a CSV file")


def check_reading(given: Mapping[str, Any]) -> None:
    """Fail if an option of reading the table cannot be used."""
    separator, decimal, encoding = (given[name] for name in ("separator", "decimal", "encoding"))
    if separator is not None and len(_SEPARATORS.get(separator, separator)) != 1:
        text = f"--sep is {separator!r}; it must be one character"
        raise UsageError(text, hint="for example --sep ';'")
    if decimal not in (None, ".", ","):
        raise UsageError(f"--decimal is {decimal!r}; it must be '.' or ','")
    if encoding is not None:
        try:
            codecs.lookup(encoding)
        except LookupError:
            hint = "for example utf-8, latin-1, cp1252 or utf-16"
            raise UsageError(f"--encoding: unknown encoding {encoding!r}", hint=hint) from None


def reading_options(given: Mapping[str, Any]) -> ReadingOptions:
    from pellucid.tables.reading import ReadingOptions

    values = {name: given[name] for name in ("decimal", "encoding", "skip", "header")}
    separator, na = given["separator"], given["na"]
    values["separator"] = _SEPARATORS.get(separator, separator)
    values["na"] = na if na is None else tuple(word.strip() for word in na.split(","))
    return ReadingOptions(**values)


def parse_range(k: str | None) -> tuple[int, int] | None:
    """The smallest and the largest number of clusters, from ``3-11`` or ``4``."""
    if k is None:
        return None
    first, dash, last = k.partition("-")
    last = last if dash else first
    if not (first.isdecimal() and last.isdecimal() and 2 <= int(first) <= int(last)):
        raise UsageError(
            f"-k is {k!r}; it must be a number or a range that starts at 2 or more, such as 3-11"
        )
    return int(first), int(last)


def check_series(given: Mapping[str, Any]) -> None:
    """Fail if the options of ``xclusters`` name neither a long nor a wide table."""
    time, value = given["time"], given["value"]
    if given["times"] is not None and (time is not None or value is not None):
        text = "--times is for wide tables, --time and --value are for long tables"
        raise UsageError(text, hint="give --times alone, or --time with --value")
    if (time is None) != (value is None):
        named, other = ("--time", "--value") if value is None else ("--value", "--time")
        raise UsageError(f"{named} requires {other}")
    if time is not None and given["entity"] is None and given["identity"] is None:
        raise UsageError("a long table requires --entity or --id, the columns of the entities")
    if given["fill_value"] is not None and given["interpolate"]:
        raise UsageError("--interpolate and --fill-value exclude each other")
    if (search := given["search"]) in _PACKAGES:
        require_package(_PACKAGES[search], f"--search {search}", "--search branch-and-bound")


def check_demo_folder(folder: Path) -> None:
    """Fail unless the files of ``pellucid demo`` can be written to `folder`."""
    if folder.is_dir():
        check_target(folder / DEMO_PICTURE, "--output")
        check_target(folder / DEMO_REPORT, "--output")
    elif folder.exists():
        raise InputError(f"--output: {folder} is not a folder", hint="choose a folder")
    else:
        nearest = next(parent for parent in folder.absolute().parents if parent.exists())
        _check_folder(nearest, "--output")
