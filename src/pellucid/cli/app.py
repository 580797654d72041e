"""The commands.

Each command checks its options first and imports what it needs after that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any

import typer

from pellucid.cli import checks
from pellucid.cli import options as opt
from pellucid.cli.checks import OutputFiles, TableRequest, check_reading, reading_options
from pellucid.cli.errors import INTERRUPTED, Command, Commands, errors_in_one_line

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


def command(
    name: str, *groups: opt.Options, examples: tuple[str, ...] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function a command.

    The function gets the values of the options of `groups` by name, except ``quiet`` and
    ``debug``. Its errors are printed in one line.
    """
    known = {option: settings for group in groups for option, settings in group.items()}

    def register(function: Callable[..., None]) -> Callable[..., None]:
        def run(context: typer.Context, debug: bool, quiet: bool = False, **given: Any) -> None:
            with errors_in_one_line(debug or context.obj, quiet):
                function(**{name: known[name].check(name, value) for name, value in given.items()})

        context = Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)
        parameters = [context, *(option.parameter(name) for name, option in known.items())]
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        run.__doc__ = function.__doc__
        shown = "\n\n".join(f"  {example}" for example in examples)
        epilog = f"Examples:\n\n{shown}" if examples else None
        return app.command(name, cls=Command, epilog=epilog)(run)

    return register


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
    debug: Annotated[bool, opt.DEBUG["debug"].info] = False,
) -> None:
    context.obj = debug


@command(
    "explain",
    opt.TABLE,
    opt.CLUSTERS,
    opt.OBJECTIVE,
    opt.TREE,
    opt.STABILITY,
    opt.DATA,
    opt.EXPLAIN_DATA,
    opt.FILES,
    opt.READING,
    opt.JSON,
    opt.QUIET,
    examples=(
        "pellucid explain customers.csv",
        "pellucid explain customers.csv -k 5 --columns age,income,visits --tree tree.png",
        "pellucid explain customers.csv --labels segment --sql segment.sql --model segment.json",
        "pellucid explain customers.csv --report report.html",
    ),
)
def explain_command(file: Path, memory: str | None, stability: int | None, **given: Any) -> None:
    """Cluster the rows of a table with k-means and explain each cluster by a rule."""
    request = TableRequest.of(file, given, has_tree=True)
    from pellucid.cli.explain import explain

    explain(request, memory, stability)


@command(
    "predict",
    opt.MODEL,
    opt.TABLE,
    opt.PREDICTED_FILES,
    opt.READING,
    opt.QUIET,
    examples=("pellucid predict model.json new.csv --output labelled.csv",),
)
def predict_command(model: Path, file: Path, **given: Any) -> None:
    """Give rows of a table their cluster and its rule, by a model of explain or regions."""
    files = OutputFiles.of(given)
    checks.check_files_exist(model, file)
    check_reading(given)
    files.check(file)
    from pellucid.cli.explain import predict

    predict(model, file, files, reading_options(given))


@command(
    "compare",
    opt.TABLE,
    opt.CLUSTERS,
    opt.OBJECTIVE,
    opt.some(opt.TREE, "leaves"),
    opt.DATA,
    opt.KINDS,
    opt.PLOT,
    opt.READING,
    opt.JSON,
    opt.QUIET,
    examples=("pellucid compare customers.csv -k 5 --plot compare.png",),
)
def compare_command(file: Path, kinds: bool, **given: Any) -> None:
    """Explain the same clusters by every method: cost, size, depth and time side by side."""
    request = TableRequest.of(file, given)
    from pellucid.cli.compare import compare, compare_kinds

    (compare_kinds if kinds else compare)(request)


@command(
    "path",
    opt.TABLE,
    opt.CLUSTERS,
    opt.OBJECTIVE,
    opt.DATA,
    opt.PLOT,
    opt.READING,
    opt.JSON,
    opt.QUIET,
    examples=("pellucid path customers.csv -k 5 --plot path.png",),
)
def path_command(file: Path, **given: Any) -> None:
    """Show the trade-off between cost and length: from the shortest rules to the lowest cost."""
    request = TableRequest.of(file, given)
    from pellucid.cli.compare import path

    path(request)


@command(
    "xclusters",
    opt.TABLE,
    opt.SERIES,
    opt.SERIES_CLUSTERS,
    opt.SERIES_FILES,
    opt.READING,
    opt.JSON,
    opt.QUIET,
    examples=(
        "pellucid xclusters visits.csv --entity district,age,sex --time date --value visitors",
        "pellucid xclusters gapminder.csv --id country --time year --value lifeExp",
        "pellucid xclusters wide.csv --id country --times 'y19*'",
    ),
)
def xclusters_command(file: Path, **given: Any) -> None:
    """Cluster the time series of a table such that a small tree explains the clusters."""
    files = OutputFiles.of(given)
    n_clusters = checks.parse_range(given["k"])
    check_reading(given)
    checks.check_series(given)
    files.check(file)
    from pellucid.cli.xclusters import xclusters

    xclusters(file, given, n_clusters, files, reading_options(given))


@command(
    "regions",
    opt.TABLE,
    opt.CLUSTERS,
    opt.REGIONS,
    opt.DATA,
    opt.REGION_FILES,
    opt.READING,
    opt.JSON,
    opt.QUIET,
    examples=(
        "pellucid regions customers.csv -k 4 --plot regions.png",
        "pellucid regions customers.csv --labels segment --output rows.csv --sql segment.sql",
    ),
)
def regions_command(file: Path, max_error: float, shape: str, **given: Any) -> None:
    """Describe clusters by regions in one or two columns."""
    OutputFiles.of(given).check_shape(shape)
    request = TableRequest.of(file, given)
    from pellucid.cli.regions import regions

    regions(request, max_error=max_error, shape=shape)


@command(
    "rules",
    opt.TABLE,
    opt.CLUSTERS,
    opt.RULES,
    opt.DATA,
    opt.RULE_FILES,
    opt.READING,
    opt.JSON,
    opt.QUIET,
    examples=(
        "pellucid rules customers.csv -k 4 --held-out 0.2",
        "pellucid rules customers.csv --labels segment --min-precision 0.95 --sql segment.sql",
    ),
)
def rules_command(file: Path, **given: Any) -> None:
    """Describe clusters by short rules; rows that no rule explains are left over."""
    request = TableRequest.of(file, given)
    from pellucid.cli.regions import rules

    rules(request, {name: given[name] for name in opt.RULES})


@command("demo", opt.DEMO_FOLDER, opt.DEBUG)
def demo_command(output: Path) -> None:
    """Explain the groups that k-means finds in scikit-learn's wine data."""
    checks.check_demo_folder(output)
    from pellucid.cli.explain import demo

    demo(output)


@command("warm-up", opt.DEBUG)
def warm_up_command() -> None:
    """Compile everything once, for instance when a container image is built."""
    from pellucid.cli.installation import warm_up

    warm_up()


@command("info", opt.DEBUG)
def info_command() -> None:
    """Print versions, threads and the folder of compiled code, for bug reports."""
    from pellucid.cli.installation import info

    info()


def main() -> None:
    """Entry point of the ``pellucid`` command."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
