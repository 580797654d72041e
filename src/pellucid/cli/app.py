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

# Paths below are declared readable=False: typer's own check would come before ours and say less.

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


class Method(str, Enum):
    """Names of the methods on the command line."""

    exshallow = "exshallow"
    exgreedy = "exgreedy"
    imm = "imm"
    exkmc = "exkmc"
    explainable = "explainable"
    bsimm = "bsimm"
    emn = "emn"
    spex = "spex"


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


@app.command("explain")
def explain_command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(readable=False, help="A table: .csv, .tsv or .parquet.")],
    k: Annotated[
        int,
        typer.Option("-k", min=1, help="Number of clusters; 8 if not given, as in scikit-learn."),
    ] = 8,
    method: Annotated[
        Method, typer.Option(help="How the tree is grown.", case_sensitive=False)
    ] = Method.exshallow,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C",
            help="Columns to use; all numeric ones if not given.",
            show_default=False,
        ),
    ] = None,
    leaves: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Leaves, with --method exkmc (2 k if not given), explainable or spex (k).",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            readable=False,
            help="Write the rows with their cluster here.",
            show_default=False,
        ),
    ] = None,
    tree: Annotated[
        Path | None,
        typer.Option(
            metavar="PICTURE",
            readable=False,
            help="Draw the tree here: .png, .svg or .pdf.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, max=2**32 - 1, help="Seed of the k-means that is explained."
        ),
    ] = 0,
    debug: Debug = False,
) -> None:
    """Cluster the rows of a table with k-means, and say in rules what each cluster is."""
    with _errors_in_one_line(debug or context.obj):
        from pellucid.cli.explain import explain

        explain(
            file,
            k=k,
            method=method.value,
            columns=columns,
            leaves=leaves,
            output=output,
            tree=tree,
            seed=seed,
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


@contextmanager
def _errors_in_one_line(debug: bool) -> Iterator[None]:
    """Turn errors and warnings into lines on standard error, and errors into exit codes."""
    from pellucid.cli.show import show_error, warnings_in_one_line

    try:
        with warnings_in_one_line():
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
