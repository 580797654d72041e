"""Decisions that are printed, errors with a hint, and the names of options in their texts.

The same code serves the command line and Python. Its messages name options, which are written
``--missing median`` on the command line and ``missing="median"`` in Python: `option` writes them
for the caller, which the command line announces by `command_line`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

_Value = TypeVar("_Value")
_listeners: ContextVar[tuple[Callable[[str], None], ...]] = ContextVar("listeners", default=())
_is_command_line: ContextVar[bool] = ContextVar("is_command_line", default=False)


class InputError(ValueError):
    """An error that the user can fix: what is wrong, and how to fix it, in one line each."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        is_short = self.hint is None or _is_command_line.get()
        return self.message if is_short else f"{self.message}; {self.hint}"


class ImpureRuleWarning(UserWarning):
    """Most rows that a rule selects are in other clusters than the one it is named after."""


@contextmanager
def impure_rules_allowed() -> Iterator[None]:
    """No `ImpureRuleWarning`, where the caller describes such rules itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpureRuleWarning)
        yield


def notice(text: str) -> None:
    """Report a decision about the data, in one line, to all listeners."""
    for listener in _listeners.get():
        listener(text)


@contextmanager
def setting(variable: ContextVar[_Value], value: _Value) -> Iterator[None]:
    """Within this context, a context variable has a value."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def notices_to(listener: Callable[[str], None]) -> AbstractContextManager[None]:
    """Call `listener` with every notice of the block."""
    return setting(_listeners, (*_listeners.get(), listener))


@contextmanager
def notices_held() -> Iterator[list[str]]:
    """Collect the notices of the block instead of reporting them."""
    lines: list[str] = []
    with setting(_listeners, (lines.append,)):
        yield lines


def report_held(lines: list[str]) -> None:
    for line in lines:
        notice(line)


def command_line() -> AbstractContextManager[None]:
    """Write options as on the command line."""
    return setting(_is_command_line, True)


def option(name: str, value: Any = None) -> str:
    """An option as the user writes it, by its name in Python, with a value to suggest if given."""
    if _is_command_line.get():
        flag = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
        return flag if value is None else f"{flag} {value}"
    if value is None:
        return f"{name}="
    return f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}"


def flag(name: str) -> str:
    """A parameter that is switched on, as the user writes it."""
    return option(name) if _is_command_line.get() else option(name, True)


class UsageError(InputError):
    """An error in the options, which does not depend on the data."""

    exit_code = 2
