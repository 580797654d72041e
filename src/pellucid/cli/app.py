"""The commands and their options; what a command needs is imported when it runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from pellucid.cli import CommandError

app = typer.Typer(
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Explain a clustering by a small tree of thresholds.",
)

INTERRUPTED = 130


def _examples(*commands: str) -> str:
    """Commands to show below the options."""
    return "Examples:\n\n" + "\n\n".join(f"  {command}" for command in commands)


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


def _file_option(metavar: str, text: str) -> object:
    return typer.Option(metavar=metavar, readable=False, help=text, show_default=False)


Plot = Annotated[Path | None, _file_option("PICTURE", "Draw it here: .png, .svg or .pdf.")]


def _show_version(wanted: bool) -> None:
    if wanted:
        from pellucid import __version__

        typer.echo(f"pellucid {__version__}")
        raise typer.Exit


@app.callback()
def _before_any_command(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    debug: Debug = False,
) -> None:
    context.obj = debug


@app.command(
    "explain",
    epilog=_examples(
        "pellucid explain customers.csv",
        "pellucid explain customers.csv -k 5 --columns age,income,visits --tree tree.png",
        "pellucid explain customers.csv --labels segment --sql segment.sql --model segment.json",
    ),
)
def explain_command(
    context: typer.Context,
    file: Table,
    k: Clusters = "auto",
    method: Annotated[
        Method, typer.Option(help="How the tree is grown.", case_sensitive=False)
    ] = Method.exshallow,
    leaves: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Leaves, with --method exkmc (2 k if not given), explainable or spex (k).",
            show_default=False,
        ),
    ] = None,
    columns: Columns = None,
    exclude: Exclude = None,
    categorical: Categorical = None,
    standardize: Standardize = None,
    missing: MissingOption = Missing.drop,
    labels: Labels = None,
    output: Annotated[
        Path | None, _file_option("CSV", "Write the rows with their cluster and its rule here.")
    ] = None,
    tree: Annotated[
        Path | None, _file_option("PICTURE", "Draw the tree here: .png, .svg, .pdf or .dot.")
    ] = None,
    sql: Annotated[
        Path | None, _file_option("SQL", "Write the clusters as an SQL expression here.")
    ] = None,
    dialect: Annotated[str, typer.Option(help="Database that the SQL is for.")] = "standard",
    model: Annotated[
        Path | None, _file_option("JSON", "Write the model here, for pellucid predict.")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Cluster the rows of a table with k-means, and say in rules what each cluster is."""
    with _errors_in_one_line(debug or context.obj, quiet):
        from pellucid.cli.explain import Targets, explain

        explain(
            file,
            Targets(output=output, tree=tree, sql=sql, model=model),
            k=_number(k),
            method=method.value,
            leaves=leaves,
            seed=seed,
            dialect=dialect,
            as_json=as_json,
            columns=columns,
            exclude=exclude,
            categorical=categorical,
            standardize=standardize,
            missing=missing.value,
            labels=labels,
        )


@app.command(
    "predict", epilog=_examples("pellucid predict model.json new.csv --output labelled.csv")
)
def predict_command(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(readable=False, help="What --model wrote.")],
    file: Table,
    output: Annotated[
        Path | None, _file_option("CSV", "Write the rows here; to standard output if not given.")
    ] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Give rows of a table their cluster and its rule, by a model that explain wrote."""
    with _errors_in_one_line(debug or context.obj, quiet):
        from pellucid.cli.predict import predict

        predict(model, file, output)


@app.command("compare", epilog=_examples("pellucid compare customers.csv -k 5 --plot compare.png"))
def compare_command(
    context: typer.Context,
    file: Table,
    k: Clusters = "auto",
    leaves: Annotated[
        int | None,
        typer.Option(min=1, help="Leaves of the methods that can choose.", show_default=False),
    ] = None,
    columns: Columns = None,
    exclude: Exclude = None,
    categorical: Categorical = None,
    standardize: Standardize = None,
    missing: MissingOption = Missing.drop,
    labels: Labels = None,
    plot: Plot = None,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Explain the same clusters by every method: cost, size, depth and time side by side."""
    with _errors_in_one_line(debug or context.obj, quiet):
        from pellucid.cli.compare import compare

        compare(
            file,
            k=_number(k),
            leaves=leaves,
            plot=plot,
            seed=seed,
            as_json=as_json,
            columns=columns,
            exclude=exclude,
            categorical=categorical,
            standardize=standardize,
            missing=missing.value,
            labels=labels,
        )


@app.command("path", epilog=_examples("pellucid path customers.csv -k 5 --plot path.png"))
def path_command(
    context: typer.Context,
    file: Table,
    k: Clusters = "auto",
    columns: Columns = None,
    exclude: Exclude = None,
    categorical: Categorical = None,
    standardize: Standardize = None,
    missing: MissingOption = Missing.drop,
    labels: Labels = None,
    plot: Plot = None,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say what one more condition buys: trees from the shortest explanations to the cheapest."""
    with _errors_in_one_line(debug or context.obj, quiet):
        from pellucid.cli.compare import path

        path(
            file,
            k=_number(k),
            plot=plot,
            seed=seed,
            as_json=as_json,
            columns=columns,
            exclude=exclude,
            categorical=categorical,
            standardize=standardize,
            missing=missing.value,
            labels=labels,
        )


@app.command("demo")
def demo_command(
    context: typer.Context,
    output: Annotated[
        Path,
        typer.Option(
            metavar="DIR", readable=False, help="Folder for the picture; made if it is missing."
        ),
    ] = Path("."),
    debug: Debug = False,
) -> None:
    """Explain the groups that k-means finds in scikit-learn's wine data."""
    with _errors_in_one_line(debug or context.obj):
        from pellucid.cli.demo import demo

        demo(output)


@app.command("info")
def info_command(context: typer.Context, debug: Debug = False) -> None:
    """Print versions, threads and where compiled code is kept, for reports of faults."""
    with _errors_in_one_line(debug or context.obj):
        from pellucid.cli.info import info

        info()


def _number(k: str) -> int | None:
    """The number of clusters, or None for auto."""
    if k.lower() == "auto":
        return None
    if not k.isdecimal() or int(k) < 1:
        raise CommandError(
            f"-k is {k!r}; it must be a whole number from 1 on, or auto", exit_code=2
        )
    return int(k)


@contextmanager
def _errors_in_one_line(debug: bool, quiet: bool = False) -> Iterator[None]:
    """Turn errors and warnings into lines on standard error, and errors into exit codes."""
    from pellucid.cli.show import notices, show_error, warnings_in_one_line

    try:
        with warnings_in_one_line(), notices(quiet):
            yield
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except (typer.Exit, BrokenPipeError):
        raise  # typer ends the program quietly on both
    except Exception as error:
        if debug:
            import traceback

            traceback.print_exc()
        known = isinstance(error, CommandError)
        hint = error.hint if known else _hint(error, debug)
        show_error(_describe(error), hint)
        raise typer.Exit(error.exit_code if known else 1) from None


def _describe(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    # A ValueError is how the library speaks to its users; any other kind needs its name.
    is_message = isinstance(error, (CommandError, ValueError)) and str(error)
    return str(error) if is_message else f"{type(error).__name__}: {error}".rstrip(": ")


def _hint(error: Exception, debug: bool) -> str | None:
    expected = isinstance(error, (ValueError, OSError)) or debug
    return None if expected else "run it again with --debug to see where this comes from"


def main() -> None:
    """Entry point of the ``pellucid`` command."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
