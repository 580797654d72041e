"""The commands and their options; what a command needs is imported when it runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from pellucid.cli import CommandError
from pellucid.cli.options import (
    Categorical,
    Clusters,
    Columns,
    Debug,
    Effort,
    Exclude,
    Json,
    Labels,
    Method,
    Missing,
    MissingOption,
    Names,
    Objective,
    ObjectiveOption,
    Plot,
    Polish,
    Quiet,
    Report,
    Seed,
    Standardize,
    Table,
    file_option,
)

app = typer.Typer(
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Explain a clustering by a small tree of thresholds.",
    epilog="Exit codes: 0 done, 1 something is wrong with the data or a file, 2 with the options, "
    "130 interrupted. Results go to standard output, all else to standard error.",
)

INTERRUPTED = 130


def _examples(*commands: str) -> str:
    """Commands to show below the options."""
    return "Examples:\n\n" + "\n\n".join(f"  {command}" for command in commands)


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
        "pellucid explain customers.csv --report report.html",
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
    objective: ObjectiveOption = Objective.kmeans,
    polish: Annotated[
        Polish,
        typer.Option(
            help="Change the finished tree while its cost falls; deep takes several times as long."
        ),
    ] = Polish.no,
    depth_penalty: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="What one more condition is worth, as a share of the cost: larger for shorter "
            "rules. With --method exshallow (0.03) or explainable (0).",
            show_default=False,
        ),
    ] = None,
    max_depth: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Most questions on the way to a leaf, with --method explainable.",
            show_default=False,
        ),
    ] = None,
    max_conditions: Annotated[
        int | None,
        typer.Option(
            min=1, help="Most conditions in a rule, with --method explainable.", show_default=False
        ),
    ] = None,
    effort: Annotated[
        Effort | None,
        typer.Option(
            help="How many trees to try, with --method explainable (balanced).", show_default=False
        ),
    ] = None,
    columns: Columns = None,
    exclude: Exclude = None,
    categorical: Categorical = None,
    standardize: Standardize = None,
    missing: MissingOption = Missing.drop,
    labels: Labels = None,
    output: Annotated[
        Path | None, file_option("CSV", "Write the rows with their cluster and its rule here.")
    ] = None,
    tree: Annotated[
        Path | None, file_option("PICTURE", "Draw the tree here: .png, .svg, .pdf or .dot.")
    ] = None,
    sql: Annotated[
        Path | None, file_option("SQL", "Write the clusters as an SQL expression here.")
    ] = None,
    dialect: Annotated[str, typer.Option(help="Database that the SQL is for.")] = "standard",
    model: Annotated[
        Path | None, file_option("JSON", "Write the model here, for pellucid predict.")
    ] = None,
    report: Report = None,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Cluster the rows of a table with k-means, and say in rules what each cluster is."""
    with _errors_in_one_line(debug or context.obj, quiet):
        from pellucid.cli.choices import Choices
        from pellucid.cli.explain import Targets, explain

        explain(
            file,
            Targets(output=output, tree=tree, sql=sql, model=model, report=report),
            k=_number(k),
            method=method.value,
            choices=Choices(
                leaves=leaves,
                objective=objective.value,
                polish=polish.value,
                depth_penalty=depth_penalty,
                max_depth=max_depth,
                max_conditions=max_conditions,
                effort=None if effort is None else effort.value,
            ),
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
        Path | None, file_option("CSV", "Write the rows here; to standard output if not given.")
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
    objective: ObjectiveOption = Objective.kmeans,
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
            objective=objective.value,
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
    objective: ObjectiveOption = Objective.kmeans,
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
            objective=objective.value,
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


@app.command(
    "xclusters",
    epilog=_examples(
        "pellucid xclusters visits.csv --entity district,age,sex --time date --value visitors",
    ),
)
def xclusters_command(
    context: typer.Context,
    file: Table,
    entity: Annotated[
        str, typer.Option(metavar=Names, help="Columns that name an entity; they explain it.")
    ],
    time: Annotated[str, typer.Option(metavar="COLUMN", help="Column of dates or times.")],
    value: Annotated[str, typer.Option(metavar="COLUMN", help="Column of what is measured.")],
    aggregate: Annotated[
        str, typer.Option(help="For several rows at one time: mean, sum, median, min or max.")
    ] = "mean",
    frequency: Annotated[
        str | None,
        typer.Option(help="Gather times: hour, day, week, month or year.", show_default=False),
    ] = None,
    moving_average: Annotated[
        int | None,
        typer.Option(min=1, help="Mean of so many times in a row.", show_default=False),
    ] = None,
    relative: Annotated[
        bool, typer.Option("--relative", help="Compare courses, not sizes: divide by the mean.")
    ] = False,
    fill: Annotated[
        float | None,
        typer.Option(help="Value where an entity has no row, such as 0.", show_default=False),
    ] = None,
    k: Annotated[str, typer.Option("-k", metavar="FROM-TO", help="Numbers of clusters.")] = "3-11",
    trade_off: Annotated[float, typer.Option(min=0, help="Price of the tree's nodes.")] = 1.0,
    tolerance: Annotated[float, typer.Option(min=0, help="Gain not worth a search.")] = 0.05,
    distance: Annotated[
        str, typer.Option(help="Of series: dtw, euclidean, manhattan or cosine.")
    ] = "dtw",
    search: Annotated[
        str, typer.Option(help="branch-and-bound, grid, bayes or two-step.")
    ] = "branch-and-bound",
    output: Annotated[
        Path | None, file_option("CSV", "Write the entities with their cluster here.")
    ] = None,
    tree: Annotated[
        Path | None, file_option("PICTURE", "Draw the tree here: .png, .svg, .pdf or .dot.")
    ] = None,
    trends: Annotated[
        Path | None, file_option("PICTURE", "Draw the series of each cluster here.")
    ] = None,
    model: Annotated[
        Path | None, file_option("JSON", "Write the model here, for pellucid predict.")
    ] = None,
    report: Report = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Cluster the series of a long table so that a short tree can tell the clusters."""
    with _errors_in_one_line(debug or context.obj, quiet):
        from pellucid.cli.xclusters import xclusters

        xclusters(
            file,
            entity=entity,
            time=time,
            value=value,
            aggregate=aggregate,
            frequency=frequency,
            moving_average=moving_average,
            relative=relative,
            fill=fill,
            k=_range(k),
            trade_off=trade_off,
            tolerance=tolerance,
            distance=distance,
            search=search,
            output=output,
            tree=tree,
            trends=trends,
            model_file=model,
            report=report,
            as_json=as_json,
        )


@app.command("regions", epilog=_examples("pellucid regions customers.csv -k 4 --plot regions.png"))
def regions_command(
    context: typer.Context,
    file: Table,
    k: Clusters = "auto",
    max_error: Annotated[
        float, typer.Option(min=0, max=1, help="Share of other rows that a region may hold.")
    ] = 0.05,
    shape: Annotated[
        str, typer.Option(help="Regions: box, polyhedron, ellipse or nonparametric.")
    ] = "box",
    columns: Columns = None,
    exclude: Exclude = None,
    categorical: Categorical = None,
    standardize: Standardize = None,
    missing: MissingOption = Missing.drop,
    labels: Labels = None,
    plot: Annotated[
        Path | None,
        file_option("PICTURE", "Draw each level: regions.png becomes regions-1.png and so on."),
    ] = None,
    report: Report = None,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say where clusters live: regions in two columns that hold rows of one cluster."""
    with _errors_in_one_line(debug or context.obj, quiet):
        from pellucid.cli.regions import regions

        regions(
            file,
            k=_number(k),
            max_error=max_error,
            shape=shape,
            plot=plot,
            report=report,
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


def _range(k: str) -> tuple[int, int]:
    """The smallest and the largest number of clusters, from ``3-11``."""
    first, dash, last = k.partition("-")
    if not (dash and first.isdecimal() and last.isdecimal() and 2 <= int(first) <= int(last)):
        raise CommandError(f"-k is {k!r}; it must be a range from 2 on, such as 3-11", exit_code=2)
    return int(first), int(last)


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
    try:
        from pellucid.cli.show import notices, show_error, warnings_in_one_line

        with warnings_in_one_line(), notices(quiet):
            yield
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
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
