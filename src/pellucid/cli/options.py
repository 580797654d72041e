"""The options that several commands share."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

# Paths below are declared readable=False: typer's own check would come before ours and say less.

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors only.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for other programs.")]
Table = Annotated[
    Path,
    typer.Argument(
        readable=False,
        help="A table: .csv, .tsv, .parquet or .jsonl, also with .gz; - for standard input.",
    ),
]
Clusters = Annotated[
    str,
    typer.Option("-k", metavar="N|auto", help="Number of clusters; auto finds one that suits."),
]
Names = "A,B,C"
Columns = Annotated[
    str | None,
    typer.Option(
        metavar=Names, help="Columns to use; the others are left out.", show_default=False
    ),
]
Exclude = Annotated[
    str | None,
    typer.Option(metavar=Names, help="Columns to leave out.", show_default=False),
]
Categorical = Annotated[
    str | None,
    typer.Option(
        metavar=Names,
        help="Columns of categories that look like something else.",
        show_default=False,
    ),
]
Standardize = Annotated[
    bool | None,
    typer.Option(
        "--standardize/--no-standardize",
        help="Give columns the same spread before clustering; rules stay in the units of the "
        "file. By default if their spreads differ.",
        show_default=False,
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Explain the clusters that this column holds.", show_default=False
    ),
]
Seed = Annotated[
    int,
    typer.Option(metavar="N", min=0, max=2**32 - 1, help="Seed of the k-means that is explained."),
]


class Method(str, Enum):
    """Names of the methods on the command line."""

    explainable = "explainable"
    exshallow = "exshallow"
    exgreedy = "exgreedy"
    imm = "imm"
    exkmc = "exkmc"
    bsimm = "bsimm"
    emn = "emn"
    spex = "spex"


class Missing(str, Enum):
    """What to do with rows that lack a number."""

    drop = "drop"
    median = "median"
    error = "error"


MissingOption = Annotated[
    Missing,
    typer.Option(help="Rows that lack a number: leave them out, fill in the median, or stop."),
]


class Objective(str, Enum):
    """What rows pay for their cluster."""

    kmeans = "kmeans"
    kmedians = "kmedians"


ObjectiveOption = Annotated[
    Objective,
    typer.Option(
        help="What a row pays: its squared distance to the mean of its cluster, or its absolute "
        "differences from the median, in which outliers count for less."
    ),
]


class Polish(str, Enum):
    """How far a finished tree is changed."""

    no = "no"
    yes = "yes"
    deep = "deep"


class Effort(str, Enum):
    """How much the method that tries several trees tries."""

    fast = "fast"
    balanced = "balanced"
    best = "best"


def file_option(metavar: str, text: str) -> object:
    """An option that names a file to write."""
    return typer.Option(metavar=metavar, readable=False, help=text, show_default=False)


Plot = Annotated[Path | None, file_option("PICTURE", "Draw it here: .png, .svg or .pdf.")]
Report = Annotated[
    Path | None, file_option("HTML", "Write a report here, one page that needs no network.")
]
