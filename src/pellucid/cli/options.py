"""The options of all commands, grouped as in ``--help``."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from pellucid._utils.notices import UsageError
from pellucid.table_explainer.arguments import CHOICES

NAMES = "A,B,C"


class CommandOption(NamedTuple):
    """An option: its type, what typer needs to know, its default and the words it takes."""

    kind: Any
    info: Any
    default: Any = None
    words: tuple[str, ...] = ()

    def parameter(self, name: str) -> inspect.Parameter:
        """The parameter of a command from which typer makes the option."""
        kind: Any = Annotated[self.kind, self.info]
        return inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=self.default
        )

    def check(self, name: str, value: Any) -> Any:
        """The value, in lower case if it is one of the known words; fail if it is none of them."""
        if not self.words or value is None:
            return value
        if value.lower() in self.words:
            return value.lower()
        raise UsageError(
            f"--{name.replace('_', '-')}: unknown value {value!r}",
            hint=f"use one of {', '.join(self.words)}",
        )


Options = dict[str, CommandOption]


def value(
    metavar: str,
    text: str,
    *flags: str,
    kind: Any = None,
    default: Any = None,
    choices: Sequence[str] = (),
    words: Sequence[str] = (),
    **more: Any,
) -> CommandOption:
    """An option with a value; its `kind` is that of the default, else text, unless it is given.

    `words` are the known values, or `choices`, of which the first is the default.
    """
    if choices:
        default, words = choices[0], choices
    if words:
        more["autocompletion"] = lambda: list(words)
    settings = {"metavar": metavar, "help": text, "show_default": default is not None, **more}
    kind = kind or (str if default is None else type(default))
    if default is None:
        kind = kind | None
    return CommandOption(kind, typer.Option(*flags, **settings), default, tuple(words))


def flag(text: str, *flags: str, default: bool | None = False) -> CommandOption:
    """An option without a value."""
    kind = bool if default is not None else bool | None
    return CommandOption(kind, typer.Option(*flags, help=text, show_default=False), default)


def file(metavar: str, text: str) -> CommandOption:
    """An option that names a file to write."""
    # readable=False: our own check gives a better message than typer's.
    return value(metavar, text, kind=Path, readable=False)


def argument(metavar: str, text: str) -> CommandOption:
    info = typer.Argument(readable=False, metavar=metavar, help=text)
    return CommandOption(Path, info, inspect.Parameter.empty)


def panel(heading: str, more: Options | None = None, /, **options: CommandOption) -> Options:
    """Options with a common title in ``--help``, and `more` that have one already."""
    for each in options.values():
        each.info.rich_help_panel = heading
    return {**options, **(more or {})}


def some(options: Options, *names: str) -> Options:
    return {name: options[name] for name in names}


DEBUG = {"debug": flag("Show the traceback of an error.", "--debug")}
QUIET = {"quiet": flag("Print results and errors only.", "--quiet", "-q"), **DEBUG}
OUTPUT = {"as_json": flag("Print JSON, for other programs.", "--json"), **QUIET}
TABLE = {
    "file": argument(
        "FILE",
        "A table: text with any separator, Excel, Parquet, Feather or JSON, also compressed; - for "
        "standard input.",
    )
}
MODEL = {"model": argument("MODEL", "A model file written by --model.")}

DATA = panel(
    "Data",
    columns=value(NAMES, "Columns to use; the others are ignored."),
    include=value(
        NAMES,
        "Columns to cluster on although they would be ignored or only described, such as dates, "
        "codes, results, and copies of other columns.",
    ),
    exclude=value(NAMES, "Columns to ignore."),
    categorical=value(NAMES, "Columns to treat as categories."),
    scale=value(
        "HOW",
        "Scale of numeric columns before clustering: auto (standardized, skewed ones on a "
        "logarithmic scale), standard, robust, log, rank or none. Rules keep the original units.",
        choices=CHOICES["scale"],
    ),
    missing=value(
        "WHAT",
        "Rows with a missing number: drop them, fill in the median, or stop with an error. "
        "auto drops at most 10% of the rows; otherwise it ignores columns with many gaps, or "
        "fills in the median.",
        choices=CHOICES["missing"],
    ),
    outliers=value(
        "WHAT",
        "Rows far from all others: auto sets them apart and reports them, keep clusters them.",
        choices=CHOICES["outliers"],
    ),
    cleaning=value(
        "WHAT",
        "Numbers that stand for missing ones (-999, 0 where it is impossible), and spellings of a "
        "category: auto takes them as missing and merges them, keep does not.",
        choices=CHOICES["cleaning"],
    ),
)
EXPLAIN_DATA = panel(
    "Data",
    profile=value(
        NAMES, "Columns that are kept out of the clustering, but described in the result."
    ),
    memory=value(
        "SIZE",
        "Memory to use, such as 2GB. A Parquet or text file that needs more is read in batches; "
        "then only its columns of numbers are used. Default: half of the free memory.",
    ),
)
READING = panel(
    "How to read the file",
    separator=value(
        "CHAR",
        "Separator of the fields, such as ';', 'tab' or 'blank'. Default: detected.",
        "--sep",
    ),
    decimal=value("CHAR", "Decimal sign: '.' or ','. Default: detected."),
    encoding=value("NAME", "Encoding of the text, such as utf-8 or latin-1. Default: detected."),
    na=value(
        NAMES,
        "Words that stand for a missing value. Default: an empty field, NA, n/a, ?, - and the like "
        "in columns of numbers.",
    ),
    skip=value("N", "Number of lines above the header. Default: detected.", kind=int, min=0),
    header=flag(
        "Whether the first line has the names of the columns. Default: detected.",
        "--header/--no-header",
        default=None,
    ),
)
CLUSTERS = panel(
    "Clusters",
    k=value(
        "N|N-M|auto",
        "Number of clusters. A range such as 3-8 compares its numbers and chooses one; auto "
        "chooses from 2 to 10.",
        "-k",
        default="auto",
    ),
    labels=value("COLUMN", "Explain existing groups (this column) instead of clustering."),
    noise=value(
        "HOW",
        "Rows with the label -1: background (left out, and counted in each rule) or cluster (a "
        "group of their own).",
        choices=CHOICES["noise"],
    ),
    seed=value("N", "Random seed of k-means.", default=0, min=0, max=2**32 - 1),
)
OBJECTIVE = panel(
    "Clusters",
    objective=value(
        "WHAT",
        "What to minimize: kmeans (squared distance to the mean) or kmedians (absolute distance to "
        "the median, robust to outliers).",
        choices=("kmeans", "kmedians"),
    ),
)
TREE = panel(
    "Tree",
    method=value(
        "NAME",
        f"How the tree is built: {', '.join(CHOICES['method'])}. Default: explainable, which finds "
        "a tree of low cost that keeps most rows in their clusters, or with --labels the one that "
        "agrees best with them; with --objective kmedians or --polish exshallow, for --labels "
        "spex. See pellucid compare.",
        words=CHOICES["method"],
    ),
    leaves=value(
        "N",
        "Number of leaves, for exkmc (default 2 k), explainable and spex (default k; explain adds "
        "a few if less than 90% of the rows get their cluster).",
        kind=int,
        min=1,
    ),
    polish=value(
        "HOW",
        "Improve the finished tree as long as its cost decreases: no, yes, or deep, which takes "
        "several times as long.",
        choices=("no", "yes", "deep"),
    ),
    depth_penalty=value(
        "X",
        "Penalty on depth, as a share of the cost: larger values give shorter rules. For exshallow "
        "(default 0.03) and explainable (default 0).",
        kind=float,
        min=0,
    ),
    max_depth=value("N", "Maximum depth of the tree, for explainable.", kind=int, min=1),
    max_conditions=value(
        "N", "Maximum number of conditions in a rule, for explainable.", kind=int, min=1
    ),
    faithfulness=value(
        "X",
        "What a row outside of its cluster costs, for explainable: larger values keep more rows in "
        "their clusters, 0 gives the cheapest tree.",
        kind=float,
        min=0,
    ),
    effort=value(
        "HOW",
        "Search effort of explainable: fast, balanced (default) or best.",
        words=("fast", "balanced", "best"),
    ),
)
STABILITY = panel(
    "Tree",
    stability=value(
        "[N]",
        "Fit the tree again on N bootstraps of the rows (default 100) and count what returns.",
        kind=int,
        min=1,
    ),
)
KINDS = {"kinds": flag("Compare a tree, regions and rules by coverage and precision.", "--kinds")}
RULES = panel(
    "Rules",
    n_rules=value("N", "Most rules; default: as many as pay.", kind=int, min=1),
    max_conditions=value("N", "Most conditions of a rule.", default=3, min=1),
    mistake_cost=value(
        "X", "Cost of a row of another cluster in a rule; explaining a row counts 1.", default=5.0
    ),
    min_precision=value("X", "Least precision of a rule.", default=0.0, min=0, max=1),
    held_out=value(
        "X", "Share of the rows that only measures the precision of the rules.", default=0.0, min=0
    ),
    every_cluster=flag("Fail unless each cluster has a rule.", "--every-cluster"),
    overlap=flag(
        "Whether a row may satisfy several rules.", "--overlap/--no-overlap", default=True
    ),
)
REGIONS = panel(
    "Regions",
    max_error=value(
        "X", "Maximum share of rows of other clusters in a region.", default=0.05, min=0, max=1
    ),
    shape=value(
        "NAME",
        "box, polyhedron, ellipse or nonparametric.",
        choices=("box", "polyhedron", "ellipse", "nonparametric"),
    ),
)

_SUFFIXES = ".csv, .tsv, .parquet, .feather, .xlsx or .jsonl"
FILES = panel(
    "Files to write",
    output=file("FILE", f"The rows with their cluster and rule: {_SUFFIXES}."),
    bom=flag(
        "Start a CSV file with a byte order mark, so that Excel shows all characters.", "--bom"
    ),
    keep_formulas=flag(
        "Write text such as =1+1 to a CSV file as it is; spreadsheets would execute it.",
        "--keep-formulas",
    ),
    names=value(
        "FILE|suggested",
        "Names of the clusters: a table with the columns cluster and name, a report that was saved "
        "with names, or suggested. The names reach all files.",
    ),
    tree=file("IMAGE", "A plot of the tree: .png, .svg, .pdf or .dot."),
    sql=file("SQL", "The clusters as an SQL expression."),
    dialect=value("NAME", "SQL dialect, such as postgres or mysql.", default="standard"),
    model=file("JSON", "The model, for pellucid predict."),
    report=file("HTML", "A report as one HTML file that works offline."),
    title=value("TEXT", "Title of the report."),
    rows=value(
        "WORD", "What the rows are called in the report, such as customers.", default="rows"
    ),
    no_rows=flag("Keep single rows out of the report.", "--no-rows"),
    language=value("en|de", "Language of the report.", choices=("en", "de")),
)
PLOT = panel("Files to write", plot=file("IMAGE", "A plot: .png, .svg or .pdf."))
RULE_FILES = panel(
    "Files to write",
    some(FILES, "bom", "keep_formulas", "names", "sql", "dialect", "model", "report", "title"),
    output=FILES["output"],
    plot=file("IMAGE", "A plot of the rules: .png, .svg or .pdf."),
)
REGION_FILES = {
    **RULE_FILES,
    **panel(
        "Files to write",
        some(FILES, "language"),
        output=file("FILE", f"The rows with their cluster and region: {_SUFFIXES}."),
        plot=file("IMAGE", "A plot with a panel per level."),
    ),
}
PREDICTED_FILES = panel(
    "Files to write",
    some(FILES, "bom", "keep_formulas"),
    output=file("FILE", "The rows with their cluster and rule; default: standard output."),
)
DEMO_FOLDER = {
    "output": value(
        "DIR",
        "Folder for the files; created if missing.",
        kind=Path,
        default=Path("."),
        readable=False,
        show_default=False,
    )
}

SERIES = panel(
    "Series",
    entity=value(
        NAMES,
        "Columns that describe an entity; the rules use them. Default: columns with one value per "
        "entity, if --id or a wide table gives the entities.",
    ),
    identity=value(
        NAMES,
        "Columns that name an entity; the rules do not use them. Default: columns of --entity with "
        "a different text for each entity.",
        "--id",
    ),
    time=value("COLUMN", "Column of dates or times, in a long table."),
    value=value("COLUMN", "Column of the measured values, in a long table."),
    times=value(
        NAMES,
        "Columns of a wide table, one per time: names, patterns such as 'y19*', or ranges such as "
        "1952:2007. Default: columns whose names are years or dates.",
    ),
    weight=value(
        "COLUMN",
        "Weight of an entity: none (all entities count the same), value (the sum of its values), "
        "or the mean of a column.",
        default="none",
    ),
    aggregate=value(
        "HOW",
        "How to combine several rows of one time: mean, sum, median, min or max.",
        choices=("mean", "sum", "median", "min", "max"),
    ),
    frequency=value(
        "HOW",
        "Aggregate times by hour, day, week, month or year.",
        words=("hour", "day", "week", "month", "year"),
    ),
    moving_average=value("N", "Window of a moving average, in times.", kind=int, min=1),
    relative=flag(
        "Divide each series by its mean, to compare shapes instead of levels.", "--relative"
    ),
    fill_value=value(
        "X", "Value for missing times, such as 0.", "--fill-value", "--fill", kind=float
    ),
    interpolate=flag("Interpolate missing times linearly.", "--interpolate"),
    coverage=value(
        "WHAT",
        "Series that start late or end early: equal (an error), common (only the times of all "
        "entities), or own (series of different lengths, for dtw).",
        choices=("equal", "common", "own"),
    ),
)
SERIES_CLUSTERS = panel(
    "Clusters",
    k=value(
        "FROM-TO",
        "Number of clusters, or range of it. Default: 3-11; for fewer than 12 entities, from 2 to "
        "one less than their number.",
        "-k",
    ),
    trade_off=value(
        "X",
        "Weight of the tree's size in the objective: larger values give shorter rules.",
        default=1.0,
        min=0,
    ),
    tolerance=value(
        "X", "Stop the search when the objective can improve by at most this.", default=0.05, min=0
    ),
    tree_accuracy=value(
        "X",
        "Share of the entities that the tree must assign to their cluster: smaller values give "
        "smaller trees. A warning is printed if no tree reaches it.",
        default=0.9,
        min=0.01,
        max=1,
    ),
    distance=value(
        "NAME",
        "Distance between series: dtw (dynamic time warping), euclidean, manhattan or cosine. "
        "Default: dtw, or euclidean for so many series that dtw would take minutes.",
        words=("euclidean", "manhattan", "cosine", "dtw"),
    ),
    search=value(
        "NAME",
        "branch-and-bound, grid, bayes (requires the package bayesian-optimization) or two-step "
        "(requires the package kneed).",
        choices=("branch-and-bound", "grid", "bayes", "two-step"),
    ),
)
SERIES_FILES = panel(
    "Files to write",
    some(FILES, "tree", "model", "report", "language"),
    output=file("FILE", "The entities with their cluster."),
    trends=file("IMAGE", "A plot of the series of each cluster."),
)

LEAVES, COMMON = some(TREE, "leaves"), READING | OUTPUT
DESCRIBED = TABLE | CLUSTERS | OBJECTIVE
COMMANDS: dict[str, Options] = {
    "explain": DESCRIBED | TREE | STABILITY | DATA | EXPLAIN_DATA | FILES | COMMON,
    "predict": MODEL | TABLE | PREDICTED_FILES | READING | QUIET,
    "compare": DESCRIBED | LEAVES | DATA | KINDS | PLOT | COMMON,
    "path": DESCRIBED | DATA | PLOT | COMMON,
    "xclusters": TABLE | SERIES | SERIES_CLUSTERS | SERIES_FILES | COMMON,
    "regions": TABLE | CLUSTERS | REGIONS | DATA | REGION_FILES | COMMON,
    "rules": TABLE | CLUSTERS | RULES | DATA | RULE_FILES | COMMON,
    "demo": DEMO_FOLDER | DEBUG,
    "warm-up": DEBUG,
    "info": DEBUG,
}
