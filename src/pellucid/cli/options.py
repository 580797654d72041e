"""The options of the commands, in the groups in which ``--help`` shows them."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

DATA, CLUSTERS, TREE, FILES = "Data", "Clusters", "Tree", "Files to write"
NAMES = "A,B,C"


def option(*flags: str, metavar: str, text: str, group: str | None = None, **more: Any) -> Any:
    """An option; its default is shown only where `more` says so."""
    settings = {"show_default": False, **more}
    return typer.Option(*flags, metavar=metavar, help=text, rich_help_panel=group, **settings)


def flag(*flags: str, text: str, group: str | None = None) -> Any:
    """An option that is there or not."""
    return typer.Option(*flags, help=text, rich_help_panel=group, show_default=False)


def file_option(metavar: str, text: str) -> Any:
    """An option that names a file to write."""
    # Not readable=True: typer's own check would come before ours and say less.
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
    Path, typer.Argument(readable=False, metavar="MODEL", help="What --model wrote.")
]

# Data

Columns = Annotated[
    str | None,
    option(metavar=NAMES, text="Columns to use; the others are left out.", group=DATA),
]
Exclude = Annotated[str | None, option(metavar=NAMES, text="Columns to leave out.", group=DATA)]
Categorical = Annotated[
    str | None,
    option(metavar=NAMES, text="Columns of categories that look like something else.", group=DATA),
]
Standardize = Annotated[
    bool | None,
    flag(
        "--standardize/--no-standardize",
        text="Give columns the same spread before clustering; rules stay in the units of the "
        "file. By default if their spreads differ.",
        group=DATA,
    ),
]


class Missing(str, Enum):
    """What to do with rows that lack a number."""

    drop = "drop"
    median = "median"
    error = "error"


MissingOption = Annotated[
    Missing,
    option(
        metavar="WHAT",
        text="Rows that lack a number: drop them, fill in the median, or stop with an error.",
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
        text="Number of clusters; auto finds one that suits.",
        group=CLUSTERS,
        show_default=True,
    ),
]
Labels = Annotated[
    str | None,
    option(metavar="COLUMN", text="Explain the clusters that this column holds.", group=CLUSTERS),
]
Seed = Annotated[
    int,
    option(
        metavar="N",
        text="Seed of the k-means that is explained.",
        group=CLUSTERS,
        min=0,
        max=2**32 - 1,
        show_default=True,
    ),
]


class Objective(str, Enum):
    """What rows pay for their cluster."""

    kmeans = "kmeans"
    kmedians = "kmedians"


ObjectiveOption = Annotated[
    Objective,
    option(
        metavar="WHAT",
        text="What a row pays: kmeans, its squared distance to the mean of its cluster, or "
        "kmedians, its absolute differences from the median, in which outliers count for less.",
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
        text=f"How the tree is grown: {', '.join(method.value for method in Method)}. If not "
        "given, exshallow, which is quick and makes short rules, or spex with --labels, which "
        "follows them; explainable tries several, for the least cost. See pellucid compare.",
        group=TREE,
        case_sensitive=False,
    ),
]
Leaves = Annotated[
    int | None,
    option(
        metavar="N",
        text="Leaves of exkmc (2 k if not given), explainable and spex (k).",
        group=TREE,
        min=1,
    ),
]
DepthPenalty = Annotated[
    float | None,
    option(
        metavar="X",
        text="What one more condition is worth, as a share of the cost: larger for shorter rules. "
        "For exshallow (0.03 if not given) and explainable (0).",
        group=TREE,
        min=0,
    ),
]
MaxDepth = Annotated[
    int | None,
    option(
        metavar="N", text="Most questions on the way to a leaf, for explainable.", group=TREE, min=1
    ),
]
MaxConditions = Annotated[
    int | None,
    option(metavar="N", text="Most conditions in a rule, for explainable.", group=TREE, min=1),
]


class Polish(str, Enum):
    """How far a finished tree is changed."""

    no = "no"
    yes = "yes"
    deep = "deep"


PolishOption = Annotated[
    Polish,
    option(
        metavar="HOW",
        text="Whether to change the finished tree as long as its cost falls: no, yes or deep, "
        "which takes several times as long.",
        group=TREE,
        show_default=True,
    ),
]


class Effort(str, Enum):
    """How much the method that tries several trees tries."""

    fast = "fast"
    balanced = "balanced"
    best = "best"


EffortOption = Annotated[
    Effort | None,
    option(
        metavar="HOW",
        text="How much explainable tries: fast, balanced (if not given) or best.",
        group=TREE,
    ),
]
MaxError = Annotated[
    float,
    option(
        metavar="X",
        text="Share of other rows that a region may hold.",
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

Output = Annotated[Path | None, file_option("CSV", "The rows with their cluster and its rule.")]
Rows = Annotated[
    Path | None, file_option("CSV", "The rows with their cluster; standard output if not given.")
]
TreePicture = Annotated[
    Path | None, file_option("PICTURE", "A drawing of the tree: .png, .svg, .pdf or .dot.")
]
Sql = Annotated[Path | None, file_option("SQL", "The clusters as an SQL expression.")]
Dialect = Annotated[
    str,
    option(
        metavar="NAME",
        text="Database that the SQL is for, such as postgres or mysql.",
        group=FILES,
        show_default=True,
    ),
]
Model = Annotated[Path | None, file_option("JSON", "The model, for pellucid predict.")]
Report = Annotated[Path | None, file_option("HTML", "A report, one page that needs no network.")]
Plot = Annotated[Path | None, file_option("PICTURE", "A drawing: .png, .svg or .pdf.")]
LevelPlot = Annotated[
    Path | None,
    file_option("PICTURE", "A drawing of each level: regions.png becomes regions-1.png and so on."),
]
DemoFolder = Annotated[
    Path, option(metavar="DIR", text="Folder for the files; made if missing.", readable=False)
]
