"""Errors of a command, printed as one line on standard error, and their exit codes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from pellucid._utils.notices import InputError

INTERRUPTED = 130

OPTIONAL_VALUES = {"--stability": "100"}
"""Options that may be given without their value, a number, and the number that they then have."""

# The module and the name of this class depend on the version of typer.
_UsageError: Any = typer.BadParameter.__mro__[1]


class _PlainFlags:
    """Mixin of commands whose ``--help`` shows flags without a type, as they take no value."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, with the help option."""
        params = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params


class Command(_PlainFlags, TyperCommand):
    """One command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, with the value of an option that may be given without one."""
        for place in [i + 1 for i, text in enumerate(args) if text in OPTIONAL_VALUES]:
            if place == len(args) or not args[place].isdecimal():
                args = [*args[:place], OPTIONAL_VALUES[args[place - 1]], *args[place:]]
        return super().parse_args(ctx, args)


class Commands(_PlainFlags, TyperGroup):
    """Typer group that prints usage errors as one `error:` line, like all other errors."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command."""
        extra["standalone_mode"] = False
        if not standalone_mode:
            return super().main(*args, **extra)
        try:
            code = super().main(*args, **extra)
        except _UsageError as error:
            if type(error).__name__ != "NoArgsIsHelpError":  # it has printed the help already
                _show_usage_error(error)
            code = error.exit_code
        except typer.Abort:
            code = 1
        raise SystemExit(code)


def _show_usage_error(error: Any) -> None:
    from pellucid.cli.output import show_error

    text = error.format_message().rstrip(".").replace("Value error, ", "")
    command = "pellucid" if error.ctx is None else error.ctx.command_path
    show_error(text[:1].lower() + text[1:], f"see {command} --help")


@contextmanager
def errors_in_one_line(debug: bool, quiet: bool = False) -> Iterator[None]:
    """Print errors and warnings as one line each, and exit with the code of the error."""
    try:
        from pellucid._utils.notices import command_line
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
