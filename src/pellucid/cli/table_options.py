"""Options that all commands on a table share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pellucid._utils.notices import UsageError
from pellucid.cli import options as opt

if TYPE_CHECKING:
    from pellucid.tables.reading import ReadingOptions

_READING = {
    "separator": opt.Separator,
    "decimal": opt.Decimal,
    "encoding": opt.TextEncoding,
    "na": opt.MissingMarkers,
    "skip": opt.SkippedLines,
    "header": opt.Header,
}
_DATA = {
    "columns": (opt.Columns, None),
    "exclude": (opt.Exclude, None),
    "categorical": (opt.Categorical, None),
    "scale": (opt.ScaleOption, opt.Scale.auto),
    "missing": (opt.MissingOption, opt.Missing.auto),
    "outliers": (opt.OutliersOption, opt.Outliers.auto),
    "labels": (opt.Labels, None),
}
_SEPARATORS = {"tab": "\t", "\\t": "\t", "blank": " ", "space": " ", "comma": ",", "semicolon": ";"}


@dataclass(frozen=True)
class TableOptions:
    """The values of the shared options.

    Attributes
    ----------
    given_reading : dict
        How to read the file, as given.
    preparation : dict
        What to do with the table; the arguments of `prepare`, and ``outliers``.
    """

    given_reading: dict[str, Any]
    preparation: dict[str, Any]

    def check(self) -> None:
        """Fail if an option cannot be used; nothing heavy is imported."""
        separator, decimal = self.given_reading["separator"], self.given_reading["decimal"]
        if separator is not None and len(_SEPARATORS.get(separator, separator)) != 1:
            raise UsageError(
                f"--sep is {separator!r}; it must be one character", hint="for example --sep ';'"
            )
        if decimal not in (None, ".", ","):
            raise UsageError(f"--decimal is {decimal!r}; it must be '.' or ','")
        if (encoding := self.given_reading["encoding"]) is not None:
            import codecs

            try:
                codecs.lookup(encoding)
            except LookupError:
                raise UsageError(
                    f"--encoding: unknown encoding {encoding!r}",
                    hint="for example utf-8, latin-1, cp1252 or utf-16",
                ) from None

    def reading(self) -> ReadingOptions:
        """How to read the file."""
        from pellucid.tables.reading import ReadingOptions

        values = dict(self.given_reading)
        values["separator"] = _SEPARATORS.get(values["separator"], values["separator"])
        if values["na"] is not None:
            values["na"] = tuple(word.strip() for word in values["na"].split(","))
        return ReadingOptions(**values)


def table_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all options of reading and preparing a table, as its argument `table`."""
    return _with_options(command, _READING, _DATA)


def reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all options of reading a table, as its argument `table`."""
    return _with_options(command, _READING, {})


def _with_options(command: Callable[..., None], reading: dict, data: dict) -> Callable[..., None]:
    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        preparation = {name: _plain(arguments.pop(name)) for name in data}
        table = TableOptions({name: arguments.pop(name) for name in reading}, preparation)
        command(**arguments, table=table)

    signature = inspect.signature(command, eval_str=True)
    own = [
        p.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for p in signature.parameters.values()
        if p.name != "table"
    ]
    added = [_parameter(name, kind) for name, kind in reading.items()]
    added += [_parameter(name, kind, default) for name, (kind, default) in data.items()]
    # The order is that of the help: data, then the command, then how to read.
    last = [p for p in own if p.name in ("quiet", "debug")]
    first = [p for p in own if p not in last]
    parameters = [*first, *added[len(reading) :], *added[: len(reading)], *last]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def _parameter(name: str, kind: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)


def _plain(value: Any) -> Any:
    return getattr(value, "value", value)
