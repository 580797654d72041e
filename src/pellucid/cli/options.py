"""Options of the commands, grouped as in ``--help``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pellucid.methods import BY_WORD

DATA, CLUSTERS, TREE, FILES = "Data", "Clusters", "Tree", "Files to write"
NAMES = "A,B,C"


def option(*flags: str, metavar: str, text: str, group: str | None = None, **more: Any) -> Any:
    """An option with a value. Its default is hidden unless `more` has ``show_default``."""
    settings = {"show_default": False, **more}
    return typer.Option(*flags, metavar=metavar, help=text, rich_help_panel=group, **settings)


def flag(*flags: str, text: str, group: str | None = None) -> Any:
    """An option without a value."""
    return typer.Option(*flags, help=text, rich_help_panel=group, show_default=False)


def file_option(metavar: str, text: str) -> Any:
    """An option that names a file to write."""
    # readable=False: our own check gives a better message than typer's.
    return option(metavar=metavar, text=text, group=FILES, readable=False)


Debug = Annotated[bool, flag("--debug", text="Show the traceback of an error.")]
Quiet = Annotated[bool, flag("--quiet", "-q", text="Print results and errors only.")]
Json = Annotated[bool, flag("--json", text="Print JSON, for other programs.")]
Table = Annotated[
    Path,
    typer.Argument(
        readable=False,
        metavar="FILE",
        help="A table: text with any separator, Excel, Parquet, Feather or JSON, also compressed; "
        "- for standard input.",
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(readable=False, metavar="MODEL", help="A model file written by --model.")
]

# Data

Columns = Annotated[
    str | None,
    option(metavar=NAMES, text="Columns to use; the others are ignored.", group=DATA),
]
Exclude = Annotated[str | None, option(metavar=NAMES, text="Columns to ignore.", group=DATA)]
Categorical = Annotated[
    str | None,
    option(metavar=NAMES, text="Columns to treat as categories.", group=DATA),
]
Profile = Annotated[
    str | None,
    option(
        metavar=NAMES,
        text="Columns that are kept out of the clustering, but described in the result.",
        group=DATA,
    ),
]


class Scale(StrEnum):
    """Scales of numeric columns."""

    auto = "auto"
    standard = "standard"
    robust = "robust"
    log = "log"
    rank = "rank"
    none = "none"


ScaleOption = Annotated[
    Scale,
    option(
        metavar="HOW",
        text="Scale of numeric columns before clustering: auto (standardized, skewed ones on a "
        "logarithmic scale), standard, robust, log, rank or none. Rules keep the original units.",
        group=DATA,
        show_default=True,
    ),
]


class Missing(StrEnum):
    """What to do with rows with a missing number."""

    auto = "auto"
    drop = "drop"
    median = "median"
    error = "error"


MissingOption = Annotated[
    Missing,
    option(
        metavar="WHAT",
        text="Rows with a missing number: drop them, fill in the median, or stop with an error. "
        "auto drops at most 10% of the rows; otherwise it ignores columns with many gaps, or "
        "fills in the median.",
        group=DATA,
        show_default=True,
    ),
]


class Outliers(StrEnum):
    """What to do with outliers."""

    auto = "auto"
    keep = "keep"


OutliersOption = Annotated[
    Outliers,
    option(
        metavar="WHAT",
        text="Rows far from all others: auto sets them apart and reports them, keep clusters them.",
        group=DATA,
        show_default=True,
    ),
]

Memory = Annotated[
    str | None,
    option(
        metavar="SIZE",
        text="Memory to use, such as 2GB. A Parquet or text file that needs more is read in "
        "batches; then only its columns of numbers are used. Default: half of the free memory.",
        group=DATA,
    ),
]

# Reading

READING = "How to read the file"
Separator = Annotated[
    str | None,
    option(
        "--sep",
        metavar="CHAR",
        text="Separator of the fields, such as ';', 'tab' or 'blank'. Default: detected.",
        group=READING,
    ),
]
Decimal = Annotated[
    str | None,
    option(metavar="CHAR", text="Decimal sign: '.' or ','. Default: detected.", group=READING),
]
TextEncoding = Annotated[
    str | None,
    option(
        "--encoding",
        metavar="NAME",
        text="Encoding of the text, such as utf-8 or latin-1. Default: detected.",
        group=READING,
    ),
]
MissingMarkers = Annotated[
    str | None,
    option(
        "--na",
        metavar="A,B,C",
        text="Words that stand for a missing value. Default: an empty field, NA, n/a, ?, - and "
        "the like in columns of numbers.",
        group=READING,
    ),
]
SkippedLines = Annotated[
    int | None,
    option(
        "--skip",
        metavar="N",
        text="Number of lines above the header. Default: detected.",
        group=READING,
        min=0,
    ),
]
Header = Annotated[
    bool | None,
    flag(
        "--header/--no-header",
        text="Whether the first line has the names of the columns. Default: detected.",
        group=READING,
    ),
]

# Clusters

Clusters = Annotated[
    str,
    option(
        "-k",
        metavar="N|N-M|auto",
        text="Number of clusters. A range such as 3-8 compares its numbers and chooses one; auto "
        "chooses from 2 to 10.",
        group=CLUSTERS,
        show_default=True,
    ),
]
Labels = Annotated[
    str | None,
    option(
        metavar="COLUMN",
        text="Explain existing groups (this column) instead of clustering.",
        group=CLUSTERS,
    ),
]
Seed = Annotated[
    int,
    option(
        metavar="N",
        text="Random seed of k-means.",
        group=CLUSTERS,
        min=0,
        max=2**32 - 1,
        show_default=True,
    ),
]


class ObjectiveName(StrEnum):
    """Names of the cost functions."""

    kmeans = "kmeans"
    kmedians = "kmedians"


ObjectiveOption = Annotated[
    ObjectiveName,
    option(
        metavar="WHAT",
        text="What to minimize: kmeans (squared distance to the mean) or kmedians (absolute "
        "distance to the median, robust to outliers).",
        group=CLUSTERS,
        show_default=True,
    ),
]

# Tree


if TYPE_CHECKING:
    Method = StrEnum
else:
    Method = StrEnum("Method", {word: word for word in BY_WORD})


MethodOption = Annotated[
    Method | None,
    option(
        metavar="NAME",
        text=f"How the tree is built: {', '.join(BY_WORD)}. Default: "
        "explainable, which finds the tree of lowest cost; with --labels spex, which uses only "
        "the labels; with --objective kmedians or --polish exshallow. See pellucid compare.",
        group=TREE,
        case_sensitive=False,
    ),
]
Leaves = Annotated[
    int | None,
    option(
        metavar="N",
        text="Number of leaves, for exkmc (default 2 k), explainable and spex (default k).",
        group=TREE,
        min=1,
    ),
]
DepthPenalty = Annotated[
    float | None,
    option(
        metavar="X",
        text="Penalty on depth, as a share of the cost: larger values give shorter rules. "
        "For exshallow (default 0.03) and explainable (default 0).",
        group=TREE,
        min=0,
    ),
]
MaxDepth = Annotated[
    int | None,
    option(metavar="N", text="Maximum depth of the tree, for explainable.", group=TREE, min=1),
]
MaxConditions = Annotated[
    int | None,
    option(
        metavar="N",
        text="Maximum number of conditions in a rule, for explainable.",
        group=TREE,
        min=1,
    ),
]


class Polish(StrEnum):
    """Levels of polishing."""

    no = "no"
    yes = "yes"
    deep = "deep"


PolishOption = Annotated[
    Polish,
    option(
        metavar="HOW",
        text="Improve the finished tree as long as its cost decreases: no, yes, or deep, which "
        "takes several times as long.",
        group=TREE,
        show_default=True,
    ),
]


class EffortName(StrEnum):
    """Search effort of ExplainableKMeans."""

    fast = "fast"
    balanced = "balanced"
    best = "best"


EffortOption = Annotated[
    EffortName | None,
    option(
        metavar="HOW",
        text="Search effort of explainable: fast, balanced (default) or best.",
        group=TREE,
    ),
]
MaxError = Annotated[
    float,
    option(
        metavar="X",
        text="Maximum share of rows of other clusters in a region.",
        group="Regions",
        min=0,
        max=1,
        show_default=True,
    ),
]
Shape = Annotated[
    str,
    option(
        metavar="NAME",
        text="box, polyhedron, ellipse or nonparametric.",
        group="Regions",
        show_default=True,
    ),
]

# Files to write

Output = Annotated[
    Path | None,
    file_option(
        "FILE",
        "The rows with their cluster and rule: .csv, .tsv, .parquet, .feather, .xlsx or .jsonl.",
    ),
]
RegionRows = Annotated[
    Path | None,
    file_option(
        "FILE",
        "The rows with their cluster and region: .csv, .tsv, .parquet, .feather, .xlsx or .jsonl.",
    ),
]
Rows = Annotated[
    Path | None,
    file_option("FILE", "The rows with their cluster and rule; default: standard output."),
]
Bom = Annotated[
    bool,
    flag(
        "--bom",
        text="Start a CSV file with a byte order mark, so that Excel shows all characters.",
        group=FILES,
    ),
]
KeepFormulas = Annotated[
    bool,
    flag(
        "--keep-formulas",
        text="Write text such as =1+1 to a CSV file as it is; spreadsheets would execute it.",
        group=FILES,
    ),
]
Names = Annotated[
    str | None,
    option(
        metavar="FILE|suggested",
        text="Names of the clusters: a table with the columns cluster and name, a report that was "
        "saved with names, or suggested. The names reach all files.",
        group=FILES,
        readable=False,
    ),
]
Title = Annotated[str | None, option(metavar="TEXT", text="Title of the report.", group=FILES)]
RowsWord = Annotated[
    str,
    option(
        "--rows",
        metavar="WORD",
        text="What the rows are called in the report, such as customers.",
        group=FILES,
        show_default=True,
    ),
]
NoRows = Annotated[bool, flag("--no-rows", text="Keep single rows out of the report.", group=FILES)]


class LanguageName(StrEnum):
    """Languages of reports."""

    en = "en"
    de = "de"


Language = Annotated[
    LanguageName,
    option(
        metavar="en|de",
        text="Language of the report.",
        group=FILES,
        show_default=True,
    ),
]
TreePicture = Annotated[
    Path | None, file_option("IMAGE", "A plot of the tree: .png, .svg, .pdf or .dot.")
]
Sql = Annotated[Path | None, file_option("SQL", "The clusters as an SQL expression.")]
Dialect = Annotated[
    str,
    option(
        metavar="NAME",
        text="SQL dialect, such as postgres or mysql.",
        group=FILES,
        show_default=True,
    ),
]
Model = Annotated[Path | None, file_option("JSON", "The model, for pellucid predict.")]
Report = Annotated[
    Path | None, file_option("HTML", "A report as one HTML file that works offline.")
]
Plot = Annotated[Path | None, file_option("IMAGE", "A plot: .png, .svg or .pdf.")]
LevelPlot = Annotated[
    Path | None,
    file_option("IMAGE", "A plot of each level: regions.png becomes regions-1.png and so on."),
]
DemoFolder = Annotated[
    Path, option(metavar="DIR", text="Folder for the files; created if missing.", readable=False)
]
