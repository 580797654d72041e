"""The commands and their options.

Each command checks its options first and imports what it needs after that.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pellucid.cli import check_files_exist, checks
from pellucid.cli import options as opt
from pellucid.cli import options_series as series
from pellucid.cli.errors import INTERRUPTED, Command, Commands, errors_in_one_line
from pellucid.cli.table_options import TableOptions, reading_options, table_options

if TYPE_CHECKING:
    from pellucid.table_explainer.arguments import MethodOptions

app: typer.Typer = typer.Typer(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Explain a clustering by a small decision tree.",
    epilog="Exit codes: 0 success, 1 problem with the data or a file, 2 problem with the options, "
    "130 interrupted. Results go to standard output, messages to standard error.",
)


def _examples(*commands: str) -> str:
    """Example commands, shown below the options."""
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
    debug: opt.Debug = False,
) -> None:
    context.obj = debug


@app.command(
    "explain",
    cls=Command,
    epilog=_examples(
        "pellucid explain customers.csv",
        "pellucid explain customers.csv -k 5 --columns age,income,visits --tree tree.png",
        "pellucid explain customers.csv --labels segment --sql segment.sql --model segment.json",
        "pellucid explain customers.csv --report report.html",
    ),
)
@table_options
def explain_command(
    context: typer.Context,
    file: opt.Table,
    table: TableOptions,
    k: opt.Clusters = "auto",
    method: opt.MethodOption = None,
    leaves: opt.Leaves = None,
    objective: opt.ObjectiveOption = opt.ObjectiveName.kmeans,
    polish: opt.PolishOption = opt.Polish.no,
    depth_penalty: opt.DepthPenalty = None,
    max_depth: opt.MaxDepth = None,
    max_conditions: opt.MaxConditions = None,
    effort: opt.EffortOption = None,
    profile: opt.Profile = None,
    output: opt.Output = None,
    bom: opt.Bom = False,
    keep_formulas: opt.KeepFormulas = False,
    names: opt.Names = None,
    tree: opt.TreePicture = None,
    sql: opt.Sql = None,
    dialect: opt.Dialect = "standard",
    model: opt.Model = None,
    report: opt.Report = None,
    title: opt.Title = None,
    rows: opt.RowsWord = "rows",
    no_rows: opt.NoRows = False,
    language: opt.Language = opt.LanguageName.en,
    seed: opt.Seed = 0,
    memory: opt.Memory = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Cluster the rows of a table with k-means and explain each cluster by a rule."""
    with errors_in_one_line(debug or context.obj, quiet):
        from pellucid.table_explainer.arguments import MethodOptions, check_method, read_number

        options = MethodOptions(
            leaves=leaves,
            objective=objective.value,
            polish=polish.value,
            depth_penalty=depth_penalty,
            max_depth=max_depth,
            max_conditions=max_conditions,
            effort=None if effort is None else effort.value,
        )
        name = None if method is None else method.value
        check_method(name, options, read_number(k), table.preparation["labels"] is not None)
        table.check()
        sql_dialect = checks.check_dialect(dialect)
        targets = {"output": output, "tree": tree, "sql": sql, "model": model, "report": report}
        _check_files(file, targets)
        if names not in (None, "suggested"):
            check_files_exist(Path(names))
        from pellucid.cli.explain import Appearance, Targets, explain

        explain(
            file,
            Targets(**targets),
            reading=table.reading(),
            k=k,
            method=name,
            options=options,
            names=names,
            appearance=Appearance(
                as_json, sql_dialect, bom, title, rows, no_rows, language.value, keep_formulas
            ),
            seed=seed,
            memory=memory,
            profile=profile,
            **table.preparation,
        )


@app.command(
    "predict",
    cls=Command,
    epilog=_examples("pellucid predict model.json new.csv --output labelled.csv"),
)
@reading_options
def predict_command(
    context: typer.Context,
    model: opt.ModelFile,
    file: opt.Table,
    table: TableOptions,
    output: opt.Rows = None,
    bom: opt.Bom = False,
    keep_formulas: opt.KeepFormulas = False,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Give rows of a table their cluster and its rule, by a model of explain or regions."""
    with errors_in_one_line(debug or context.obj, quiet):
        check_files_exist(model, file)
        table.check()
        _check_files(file, {"output": output})
        if checks.is_regions_model(model):
            from pellucid.cli.regions import predict_regions

            predict_regions(
                model, file, output, table.reading(), bom=bom, keep_formulas=keep_formulas
            )
            return
        from pellucid.cli.predict import predict

        predict(model, file, output, table.reading(), bom=bom, keep_formulas=keep_formulas)


@app.command(
    "compare",
    cls=Command,
    epilog=_examples("pellucid compare customers.csv -k 5 --plot compare.png"),
)
@table_options
def compare_command(
    context: typer.Context,
    file: opt.Table,
    table: TableOptions,
    k: opt.Clusters = "auto",
    leaves: opt.Leaves = None,
    objective: opt.ObjectiveOption = opt.ObjectiveName.kmeans,
    plot: opt.Plot = None,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Explain the same clusters by every method: cost, size, depth and time side by side."""
    with errors_in_one_line(debug or context.obj, quiet):
        from pellucid.table_explainer.arguments import MethodOptions

        _check_clusters(k, table, MethodOptions(leaves))
        _check_files(file, {"plot": plot})
        from pellucid.cli.compare import compare

        compare(
            file,
            k=k,
            leaves=leaves,
            objective=objective.value,
            plot=plot,
            seed=seed,
            as_json=as_json,
            reading=table.reading(),
            **table.preparation,
        )


@app.command(
    "path", cls=Command, epilog=_examples("pellucid path customers.csv -k 5 --plot path.png")
)
@table_options
def path_command(
    context: typer.Context,
    file: opt.Table,
    table: TableOptions,
    k: opt.Clusters = "auto",
    objective: opt.ObjectiveOption = opt.ObjectiveName.kmeans,
    plot: opt.Plot = None,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Show the trade-off between cost and length: from the shortest rules to the lowest cost."""
    with errors_in_one_line(debug or context.obj, quiet):
        _check_clusters(k, table)
        _check_files(file, {"plot": plot})
        from pellucid.cli.compare import path

        path(
            file,
            k=k,
            objective=objective.value,
            plot=plot,
            seed=seed,
            as_json=as_json,
            reading=table.reading(),
            **table.preparation,
        )


@app.command(
    "xclusters",
    cls=Command,
    epilog=_examples(
        "pellucid xclusters visits.csv --entity district,age,sex --time date --value visitors",
        "pellucid xclusters gapminder.csv --id country --time year --value lifeExp",
        "pellucid xclusters wide.csv --id country --times 'y19*'",
    ),
)
@reading_options
def xclusters_command(
    context: typer.Context,
    file: opt.Table,
    table: TableOptions,
    entity: series.Entity = None,
    identity: series.Identity = None,
    time: series.Time = None,
    value: series.Value = None,
    times: series.Times = None,
    weight: series.Weight = "none",
    aggregate: series.Aggregate = "mean",
    frequency: series.Frequency = None,
    moving_average: series.MovingAverage = None,
    relative: series.Relative = False,
    fill: series.Fill = None,
    interpolate: series.Interpolate = False,
    coverage: series.Coverage = "equal",
    k: series.ClusterRange = None,
    trade_off: series.TradeOffWeight = 1.0,
    tolerance: series.Tolerance = 0.05,
    tree_accuracy: series.TreeAccuracy = 0.9,
    distance: series.Distance = "euclidean",
    search: series.Search = "branch-and-bound",
    output: series.Entities = None,
    tree: opt.TreePicture = None,
    trends: series.Trends = None,
    model: opt.Model = None,
    report: opt.Report = None,
    language: opt.Language = opt.LanguageName.en,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Cluster the time series of a table such that a small tree explains the clusters."""
    with errors_in_one_line(debug or context.obj, quiet):
        n_clusters = checks.parse_range(k)
        table.check()
        checks.check_word("--aggregate", aggregate, checks.AGGREGATES)
        checks.check_word("--frequency", frequency, checks.FREQUENCIES)
        checks.check_word("--distance", distance, checks.DISTANCES)
        checks.check_word("--search", search, checks.SEARCHES)
        checks.check_word("--coverage", coverage, checks.COVERAGES)
        checks.check_package("--search", search)
        checks.check_series(
            entity=entity,
            identity=identity,
            time=time,
            value=value,
            times=times,
            fill=fill,
            interpolate=interpolate,
        )
        targets = {"output": output, "tree": tree, "trends": trends, "model": model}
        _check_files(file, {**targets, "report": report})
        from pellucid.cli.xclusters import SeriesColumns, xclusters

        xclusters(
            file,
            reading=table.reading(),
            columns=SeriesColumns(entity, identity, time, value, times, weight),
            shape={
                "aggregate": aggregate,
                "frequency": frequency,
                "moving_average": moving_average,
                "relative": relative,
                "fill_value": fill,
                "interpolate": interpolate,
                "coverage": coverage,
            },
            k=n_clusters,
            settings={
                "trade_off": trade_off,
                "tolerance": tolerance,
                "tree_accuracy": tree_accuracy,
                "accuracy_distance": distance,
                "search": search,
            },
            output=output,
            tree=tree,
            trends=trends,
            model_file=model,
            report=report,
            language=language.value,
            as_json=as_json,
        )


@app.command(
    "regions",
    cls=Command,
    epilog=_examples(
        "pellucid regions customers.csv -k 4 --plot regions.png",
        "pellucid regions customers.csv --labels segment --output rows.csv --sql segment.sql",
    ),
)
@table_options
def regions_command(
    context: typer.Context,
    file: opt.Table,
    table: TableOptions,
    k: opt.Clusters = "auto",
    max_error: opt.MaxError = 0.05,
    shape: opt.Shape = "box",
    output: opt.RegionRows = None,
    bom: opt.Bom = False,
    keep_formulas: opt.KeepFormulas = False,
    plot: opt.LevelPlot = None,
    sql: opt.Sql = None,
    dialect: opt.Dialect = "standard",
    model: opt.Model = None,
    report: opt.Report = None,
    language: opt.Language = opt.LanguageName.en,
    title: opt.Title = None,
    names: opt.Names = None,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Describe clusters by regions in one or two columns."""
    with errors_in_one_line(debug or context.obj, quiet):
        _check_clusters(k, table)
        checks.check_word("--shape", shape, checks.SHAPES)
        sql_dialect = checks.check_dialect(dialect)
        targets = {"output": output, "plot": plot, "sql": sql, "model": model, "report": report}
        checks.check_shape_exports(shape, targets)
        _check_files(file, targets)
        if names not in (None, "suggested"):
            check_files_exist(Path(names))
        from pellucid.cli.regions import regions

        regions(
            file,
            k=k,
            max_error=max_error,
            shape=shape,
            targets=targets,
            bom=bom,
            keep_formulas=keep_formulas,
            dialect=sql_dialect,
            language=language.value,
            names=names,
            title=title,
            seed=seed,
            as_json=as_json,
            reading=table.reading(),
            **table.preparation,
        )


@app.command("demo", cls=Command)
def demo_command(
    context: typer.Context,
    output: opt.DemoFolder = Path("."),
    debug: opt.Debug = False,
) -> None:
    """Explain the groups that k-means finds in scikit-learn's wine data."""
    with errors_in_one_line(debug or context.obj):
        checks.check_demo_folder(output)
        from pellucid.cli.demo import demo

        demo(output)


@app.command("warm-up", cls=Command)
def warm_up_command(context: typer.Context, debug: opt.Debug = False) -> None:
    """Compile everything once, for instance when a container image is built."""
    with errors_in_one_line(debug or context.obj):
        from pellucid.cli.warming_up import warm_up

        warm_up()


@app.command("info", cls=Command)
def info_command(context: typer.Context, debug: opt.Debug = False) -> None:
    """Print versions, threads and the folder of compiled code, for bug reports."""
    with errors_in_one_line(debug or context.obj):
        from pellucid.cli.info import info

        info()


def _check_clusters(k: str, table: TableOptions, options: MethodOptions | None = None) -> None:
    """Fail if the number of clusters and the other options do not fit together."""
    from pellucid.table_explainer.arguments import check_number, read_number

    check_number(read_number(k), table.preparation["labels"] is not None, options)
    table.check()


def _check_files(file: Path, targets: dict[str, Path | None]) -> None:
    """Fail unless the input exists and the files to write, by name of the option, can be written.

    Which input suffixes are known is checked when the file is read.
    """
    check_files_exist(file)
    checks.check_targets(file, {f"--{name}": path for name, path in targets.items()})


def main() -> None:
    """Entry point of the ``pellucid`` command."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
