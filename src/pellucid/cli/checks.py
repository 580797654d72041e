"""Checks of the options that need no data.

They run before a command imports numpy, polars or scikit-learn, so that wrong usage is answered
at once. Nothing heavy may be imported here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pellucid._utils.imports import require_package
from pellucid.cli import CommandError, check_folder, check_target
from pellucid.tables.suffixes import written_format

if TYPE_CHECKING:
    from pellucid._utils.estimators import SQLDialect

PICTURES = (".png", ".svg", ".pdf")
GRAPHS = (".dot", ".gv")
DEMO_PICTURE, DEMO_REPORT = "wine-tree.png", "wine-report.html"
SHAPES = ("box", "polyhedron", "ellipse", "nonparametric")
AGGREGATES = ("mean", "sum", "median", "min", "max")
FREQUENCIES = ("hour", "day", "week", "month", "year")
DISTANCES = ("euclidean", "manhattan", "cosine", "dtw")
COVERAGES = ("equal", "common", "own")
SEARCHES = ("branch-and-bound", "grid", "bayes", "two-step")

_LARGEST_MODEL = 2**26
"""Bytes of a model file, as in `pellucid.from_json`."""

_PACKAGES = {
    ("--search", "two-step"): ("kneed", "branch-and-bound"),
    ("--search", "bayes"): ("bayes_opt", "branch-and-bound"),
}
"""Module and alternative of the values that require an optional package."""


def parse_range(k: str | None) -> tuple[int, int] | None:
    """The smallest and the largest number of clusters, from ``3-11`` or ``4``."""
    if k is None:
        return None
    first, dash, last = k.partition("-")
    last = last if dash else first
    if not (first.isdecimal() and last.isdecimal() and 2 <= int(first) <= int(last)):
        raise CommandError(
            f"-k is {k!r}; it must be a number or a range that starts at 2 or more, such as 3-11",
            exit_code=2,
        )
    return int(first), int(last)


def check_series(
    *,
    entity: str | None,
    identity: str | None,
    time: str | None,
    value: str | None,
    times: str | None,
    fill: float | None,
    interpolate: bool,
) -> None:
    """Fail if the options of ``xclusters`` name neither a long nor a wide table."""
    if times is not None and (time is not None or value is not None):
        raise CommandError(
            "--times is for wide tables, --time and --value are for long tables",
            hint="give --times alone, or --time with --value",
            exit_code=2,
        )
    if (time is None) != (value is None):
        given, other = ("--time", "--value") if value is None else ("--value", "--time")
        raise CommandError(f"{given} requires {other}", exit_code=2)
    if time is not None and entity is None and identity is None:
        raise CommandError(
            "a long table requires --entity or --id, the columns of the entities", exit_code=2
        )
    if fill is not None and interpolate:
        raise CommandError("--interpolate and --fill-value exclude each other", exit_code=2)


def check_package(option: str, value: str) -> None:
    """Fail if the value of an option requires a package that is not installed."""
    if (option, value) in _PACKAGES:
        module, alternative = _PACKAGES[option, value]
        require_package(module, f"{option} {value}", f"{option} {alternative}")


def check_word(option: str, word: str | None, known: tuple[str, ...]) -> None:
    """Fail unless the value of `option` is one of the known words."""
    if word is not None and word not in known:
        raise CommandError(
            f"{option}: unknown value {word!r}",
            hint=f"use one of {', '.join(known)}",
            exit_code=2,
        )


def check_dialect(dialect: str) -> SQLDialect:
    """A dialect of SQL; fail unless it is known."""
    from pellucid.export.sql_dialects import DIALECTS

    if dialect not in DIALECTS:
        raise CommandError(
            f"--dialect: unknown dialect {dialect!r}", hint=f"use one of {', '.join(DIALECTS)}"
        )
    return cast("SQLDialect", dialect)


def check_targets(file: Path, targets: Mapping[str, Path | None]) -> None:
    """Fail unless all files to write, by option, are different and can be written.

    Parameters
    ----------
    file : Path
        The input, which must not be overwritten; ``-`` for standard input.
    targets : mapping of str to Path or None
        Files by option. The suffixes of ``--tree``, ``--plot``, ``--trends``,
        ``--report`` and ``--output`` are checked too.
    """
    seen: dict[Path, str] = {}
    for option, path in targets.items():
        if path is None:
            continue
        check_target(path, option)
        place = path.resolve()
        if str(file) != "-" and place == file.resolve():
            raise CommandError(f"{option}: {path} is the input; it would be overwritten")
        if place in seen:
            raise CommandError(f"{seen[place]} and {option} are the same file, {path}", exit_code=2)
        seen[place] = option
        if option in ("--plot", "--trends"):
            check_picture(path, option)
        elif option == "--tree":
            check_picture(path, option, GRAPHS)
        elif option == "--report":
            check_page(path, option)
        elif option == "--output" and written_format(path)[0] == ".xlsx":
            require_package("xlsxwriter", f"{option} {path}", "a CSV file")


def check_picture(path: Path, option: str, others: tuple[str, ...] = ()) -> None:
    """Fail unless the suffix of `path` is an image format."""
    if path.suffix.lower() not in (*PICTURES, *others):
        raise CommandError(
            f"{option}: {path.suffix!r} is not an image format",
            hint=f"use one of {', '.join((*PICTURES, *others))}",
        )
    if path.suffix.lower() in PICTURES:
        require_package("matplotlib", f"{option} {path}")


def check_page(path: Path, option: str) -> None:
    """Fail unless `path`, the value of the command-line `option`, can be an HTML file."""
    check_target(path, option)
    if path.suffix.lower() not in (".html", ".htm"):
        raise CommandError(
            f"{option}: {path} must end in .html, because the report is HTML",
            hint=f"use {path.with_suffix('.html').name}",
        )


def check_shape_exports(shape: str, targets: Mapping[str, Path | None]) -> None:
    """Fail if regions of this shape cannot be written to the files, by name of the option."""
    if shape != "nonparametric":
        return
    for name in ("output", "sql", "model"):
        if targets.get(name) is not None:
            raise CommandError(
                f"--{name}: nonparametric regions cannot be exported, because they consist of the "
                "training rows",
                hint="use --shape box, polyhedron or ellipse",
                exit_code=2,
            )


def is_regions_model(path: Path) -> bool:
    """Whether a file is a model that ``pellucid regions --model`` wrote."""
    import json

    try:
        with open(path, "rb") as file:
            document = json.loads(file.read(_LARGEST_MODEL))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("format") == "pellucid.regions"


def check_demo_folder(folder: Path) -> None:
    """Fail unless the files of ``pellucid demo`` can be written to `folder`."""
    if folder.is_dir():
        check_target(folder / DEMO_PICTURE, "--output")
        check_target(folder / DEMO_REPORT, "--output")
    elif folder.exists():
        raise CommandError(f"--output: {folder} is not a folder", hint="choose a folder")
    else:
        nearest = next(parent for parent in folder.absolute().parents if parent.exists())
        check_folder(nearest, "--output")
