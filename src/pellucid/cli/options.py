"""Options of the commands, grouped as in ``--help``."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

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
        help="A table: .csv, .tsv, .parquet or .jsonl, also with .gz; - for standard input.",
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
Standardize = Annotated[
    bool | None,
    flag(
        "--standardize/--no-standardize",
        text="Standardize numeric columns before clustering; rules keep the units of the file. "
        "Default: if the spreads of the columns differ.",
        group=DATA,
    ),
]


class Missing(str, Enum):
    """What to do with rows with a missing number."""

    drop = "drop"
    median = "median"
    error = "error"


MissingOption = Annotated[
    Missing,
    option(
        metavar="WHAT",
        text="Rows with a missing number: drop them, fill in the median, or stop with an error.",
        group=DATA,
        show_default=True,
    ),
]

# Clusters

Clusters = Annotated[
    str,
    option(
        "-k",
        metavar="N|auto",
        text="Number of clusters; auto chooses it by the silhouette score.",
        group=CLUSTERS,
        show_default=True,
    ),
]
Labels = Annotated[
    str | None,
    option(
        metavar="COLUMN",
        text="Column with the clusters to explain, instead of k-means.",
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


class ObjectiveName(str, Enum):
    """Names of the cost functions."""

    kmeans = "kmeans"
    kmedians = "kmedians"


ObjectiveOption = Annotated[
    ObjectiveName,
    option(
        metavar="WHAT",
        text="Cost of a row: kmeans (squared distance to the mean of its cluster) or kmedians "
        "(absolute distance to the median, less sensitive to outliers).",
        group=CLUSTERS,
        show_default=True,
    ),
]

# Tree


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


MethodOption = Annotated[
    Method | None,
    option(
        metavar="NAME",
        text=f"How the tree is built: {', '.join(method.value for method in Method)}. Default: "
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


class Polish(str, Enum):
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


class EffortName(str, Enum):
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

Output = Annotated[Path | None, file_option("CSV", "The rows with their cluster and rule.")]
Rows = Annotated[
    Path | None, file_option("CSV", "The rows with their cluster; default: standard output.")
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
