"""Texts that reports translate, in the language of the current report; texts fit for a terminal.

The texts are in ``texts.json``, which the build of the report writes from the files
``frontend/src/texts/en.ts`` and ``de.ts``: one file per language has all texts of a report, those
of the page and those that Python writes.

A text has fields in braces. ``{name}`` is a value: a number is written with separators, a list
with commas. ``{n:row|rows}`` is a number with its noun, ``{n?is|are}`` only the word that fits the
number. ``{x:.2f}`` is a number in a format, ``{list:;}`` and ``{list:&}`` are lists with
semicolons and with "and".
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import cache
from html import escape
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

from pellucid._utils.notices import setting

LANGUAGES = ("en", "de")  # languages of reports
_FIELD = re.compile(r"\{(\w+)(?:([:?])([^{}]*))?\}")

_language: ContextVar[str] = ContextVar("language", default="en")


@cache
def _texts() -> dict[str, Any]:
    found = files("pellucid._utils").joinpath("texts.json").read_text(encoding="utf-8")
    return json.loads(found)


def current_language() -> str:
    """The language of texts, which is English unless `texts_in` has changed it."""
    return _language.get()


def texts_of(section: str, language: str | None = None) -> dict[str, str]:
    """Texts of a section, in the current language by default."""
    return _texts()[language or _language.get()][section]


def texts_in(language: str) -> AbstractContextManager[None]:
    return setting(_language, language)


def say(key: str, /, **values: Any) -> str:
    """A message in the current language, by its key in the texts, with the values of its fields."""
    text = texts_of("messages")[key]
    return _FIELD.sub(lambda found: _field(values[found[1]], found[2], found[3]), text)


class Message(str):
    """A message in English that can be written again in the language of a report.

    The values of its fields are texts, numbers, messages, or lists of them.
    """

    key: str
    values: dict[str, Any]

    def __new__(cls, key: str, /, **values: Any) -> Message:
        with texts_in("en"):
            message = super().__new__(cls, say(key, **values))
        message.key, message.values = key, values
        return message

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        return (self.key,), self.values

    def translated(self) -> str:
        """The message in the current language."""
        return say(self.key, **self.values)


def _field(value: Any, sign: str | None, spec: str | None) -> str:
    if sign is None or spec is None:
        return _written(value)
    if "|" in spec:
        one, many = spec.split("|")
        word = one if value == 1 else many
        return word if sign == "?" else f"{_number(value, ',')} {word}"
    if spec in (";", "&"):
        joint = "; " if spec == ";" else f" {texts_of('rules')['and_']} "
        return joint.join(map(_written, value))
    return _number(value, spec)


def _written(value: Any) -> str:
    if isinstance(value, Message):
        return value.translated()
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_written, value))
    if isinstance(value, int) and not isinstance(value, bool):
        return _number(value, ",")
    return str(value)


_PERCENT = {"en": "%", "de": "\u00a0%"}
_SEPARATORS = {"en": {}, "de": str.maketrans({",": ".", ".": ","})}


def _number(value: float, spec: str) -> str:
    """A number with the separators and the percent sign of the language."""
    language = _language.get()
    text = f"{value:{spec}}".translate(_SEPARATORS[language])
    return text.replace("%", _PERCENT[language])


def rule_words() -> SimpleNamespace:
    """Words between the names, values and signs of rules and of suggested names, as attributes."""
    return _words(current_language())


@cache
def _words(language: str) -> SimpleNamespace:
    return SimpleNamespace(**texts_of("rules", language))


MAX_LENGTH = 400  # characters of a text from a file in a message


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun in the singular or plural."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def percent(share: float) -> str:
    """A share in percent; a dash for NaN."""
    return "-" if math.isnan(share) else f"{100 * share:.1f}%"


def escape_controls(text: str, *, keep: str = "") -> str:
    r"""`text` with control characters, except those to keep, as in a Python string: ``\x1b``.

    Terminals execute control characters, which could hide or imitate output.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else repr(c)[1:-1] for c in text)


def one_line(text: str) -> str:
    """`text` without control characters and line ends; the middle of a long one is left out."""
    if len(text) > MAX_LENGTH:
        text = f"{text[: MAX_LENGTH // 2]} ... {text[-MAX_LENGTH // 2 :]}"
    return escape_controls(text)


def aligned(table: Sequence[Sequence[str]]) -> str:
    """A table as text; all columns but the first are aligned right."""
    widths = [max(map(len, column)) for column in zip(*table)]
    lines = [
        [row[0].ljust(widths[0]), *(text.rjust(n) for text, n in zip(row[1:], widths[1:]))]
        for row in table
    ]
    return "\n".join("  ".join(line).rstrip() for line in lines)


def html_table(table: Sequence[Sequence[str]]) -> str:
    """Rows of texts as HTML; the first are heads."""
    lines = [
        "<tr>" + "".join(f"<{tag}>{escape(text)}</{tag}>" for text in row) + "</tr>"
        for row, tag in zip(table, ["th", *["td"] * len(table)])
    ]
    return f"<table>{''.join(lines)}</table>"
