"""The commands, and their errors in one line.

Each command checks its options first and imports what it needs after that.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from pellucid._utils.notices import InputError, command_line
from pellucid.cli import checks
from pellucid.cli import options as opt
from pellucid.cli.checks import OutputFiles, TableRequest, check_reading, reading_options

INTERRUPTED = 130

# Options that may be given without their value, a number, and the number that they then have.
OPTIONAL_VALUES = {"--stability": "100"}

# The module and the name of this class depend on the version of typer.
_UsageError: Any = typer.BadParameter.__mro__[1]


class _PlainFlags:
    """Mixin of commands whose ``--help`` shows flags without a type, as they take no value."""

    def get_params(self, ctx: Any) -> list[Any]:
        params = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params


class Command(_PlainFlags, TyperCommand):
    """A command with options that may be given without a value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, with the value of an option that may be given without one."""
        for place in [i + 1 for i, text in enumerate(args) if text in OPTIONAL_VALUES]:
            if place == len(args) or not args[place].isdecimal():
                args = [*args[:place], OPTIONAL_VALUES[args[place - 1]], *args[place:]]
        return super().parse_args(ctx, args)


class Commands(_PlainFlags, TyperGroup):
    """Typer group that prints usage errors as one `error:` line, like all other errors."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        extra["standalone_mode"] = False
        if not standalone_mode:
            return super().main(*args, **extra)
        try:
            code = super().main(*args, **extra)
        except _UsageError as error:
            if type(error).__name__ != "NoArgsIsHelpError":  # it has printed the help already
                from pellucid.cli.output import show_error

                text = error.format_message().rstrip(".").replace("Value error, ", "")
                command = "pellucid" if error.ctx is None else error.ctx.command_path
                show_error(text[:1].lower() + text[1:], f"see {command} --help")
            code = error.exit_code
        except typer.Abort:
            code = 1
        raise SystemExit(code)


@contextmanager
def errors_in_one_line(debug: bool, quiet: bool = False) -> Iterator[None]:
    """Print errors and warnings as one line each, and exit with the code of the error."""
    try:
        from pellucid.cli.output import notices, show_error, warnings_in_one_line

        with command_line(), warnings_in_one_line(), notices(quiet):
            yield
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except (typer.Exit, BrokenPipeError):
        raise  # typer exits silently on both
    except Exception as error:
        if debug:
            import traceback

            traceback.print_exc()
        hint = None if debug else "run again with --debug to see the traceback"
        if isinstance(error, (ValueError, OSError)):
            hint = getattr(error, "hint", None)
        show_error(_describe(error), hint)
        raise typer.Exit(getattr(error, "exit_code", 1)) from None


def _describe(error: Exception) -> str:
    if isinstance(error, InputError):
        return error.message
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    # The message of a ValueError is written for users. Other errors need their type.
    is_message = isinstance(error, ValueError) and str(error)
    return str(error) if is_message else f"{type(error).__name__}: {error}".rstrip(": ")


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


def command(name: str, *examples: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function a command, whose errors are printed in one line.

    The function gets the values of the options by name, except ``quiet`` and ``debug``.
    """
    known = opt.COMMANDS[name]

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
    "pellucid explain customers.csv",
    "pellucid explain customers.csv -k 5 --columns age,income,visits --tree tree.png",
    "pellucid explain customers.csv --labels segment --sql segment.sql --model segment.json",
    "pellucid explain customers.csv --report report.html",
)
def explain_command(file: Path, memory: str | None, stability: int | None, **given: Any) -> None:
    """Cluster the rows of a table with k-means and explain each cluster by a rule."""
    request = TableRequest.of(file, given, has_tree=True)
    from pellucid.cli.explain import explain

    explain(request, memory, stability)


@command("predict", "pellucid predict model.json new.csv --output labelled.csv")
def predict_command(model: Path, file: Path, **given: Any) -> None:
    """Give rows of a table their cluster and its rule, by a model of explain or regions."""
    files = OutputFiles.of(given)
    checks.check_files_exist(model, file)
    check_reading(given)
    files.check(file)
    from pellucid.cli.explain import predict

    predict(model, file, files, reading_options(given))


@command("compare", "pellucid compare customers.csv -k 5 --plot compare.png")
def compare_command(file: Path, kinds: bool, **given: Any) -> None:
    """Explain the same clusters by every method: cost, size, depth and time side by side."""
    request = TableRequest.of(file, given)
    from pellucid.cli.compare import compare, compare_kinds

    (compare_kinds if kinds else compare)(request)


@command("path", "pellucid path customers.csv -k 5 --plot path.png")
def path_command(file: Path, **given: Any) -> None:
    """Show the trade-off between cost and length, from the shortest rules to the longest."""
    request = TableRequest.of(file, given)
    from pellucid.cli.compare import path

    path(request)


@command(
    "xclusters",
    "pellucid xclusters visits.csv --entity district,age,sex --time date --value visitors",
    "pellucid xclusters gapminder.csv --id country --time year --value lifeExp",
    "pellucid xclusters wide.csv --id country --times 'y19*'",
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
    "pellucid regions customers.csv -k 4 --plot regions.png",
    "pellucid regions customers.csv --labels segment --output rows.csv --sql segment.sql",
)
def regions_command(file: Path, max_error: float, shape: str, **given: Any) -> None:
    """Describe clusters by regions in one or two columns."""
    OutputFiles.of(given).check_shape(shape)
    request = TableRequest.of(file, given)
    from pellucid.cli.regions import regions

    regions(request, max_error=max_error, shape=shape)


@command(
    "rules",
    "pellucid rules customers.csv -k 4 --held-out 0.2",
    "pellucid rules customers.csv --labels segment --min-precision 0.95 --sql segment.sql",
)
def rules_command(file: Path, **given: Any) -> None:
    """Describe clusters by short rules; rows that no rule explains are left over."""
    request = TableRequest.of(file, given)
    from pellucid.cli.regions import rules

    rules(request, {name: given[name] for name in opt.RULES})


@command("demo")
def demo_command(output: Path) -> None:
    """Explain the groups that k-means finds in scikit-learn's wine data."""
    checks.check_demo_folder(output)
    from pellucid.cli.explain import demo

    demo(output)


@command("warm-up")
def warm_up_command() -> None:
    """Compile everything once, for instance when a container image is built."""
    from pellucid import first_use
    from pellucid.cli.output import show_measures, working

    with working("compiling"):
        done = first_use.warm_up()
    loops, seconds = f"{done.n_compiled:,}", f"{done.seconds:.0f}"
    folder = done.folder or "nothing is stored: no folder can be written"
    show_measures([("compiled loops", loops), ("seconds", seconds), ("stored in", folder)])


@command("info")
def info_command() -> None:
    """Print versions, threads and the folder of compiled code, for bug reports."""
    from pellucid import __version__, first_use
    from pellucid._utils.threads import count_threads
    from pellucid.cli.output import show_measures

    required = ("numpy", "scipy", "scikit-learn", "numba", "narwhals")
    optional = ("polars", "matplotlib", "pandas", "onnx")
    facts = {
        "pellucid": __version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "threads": str(count_threads(None)),
        "compiled code": first_use.code_folder() or "not cached: no writable folder",
        **{name: _version(name) for name in (*required, *optional)},
    }
    show_measures(facts.items())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def main() -> None:
    """Entry point of the ``pellucid`` command."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
