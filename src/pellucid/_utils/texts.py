"""Texts that reports translate: messages with values, and the language of the current report.

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
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("en", "de")
"""Languages of reports."""

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


@contextmanager
def texts_in(language: str) -> Iterator[None]:
    """Write texts in a language.

    Parameters
    ----------
    language : {"en", "de"}

    Examples
    --------
    >>> from pellucid._utils.texts import say, texts_in
    >>> with texts_in("de"):
    ...     print(say("columnCount", column="Umsatz", n=1250))
    Umsatz 1.250
    """
    token = _language.set(language)
    try:
        yield
    finally:
        _language.reset(token)


def say(key: str, /, **values: Any) -> str:
    """A message in the current language.

    Parameters
    ----------
    key : str
        Key of the message in the texts.
    **values
        Values of its fields.

    Examples
    --------
    >>> from pellucid._utils.texts import say
    >>> say("dropped", n=1, rows=1250, columns=["age"], option="missing=median")
    'dropped 1 of 1,250 rows with missing numbers (age); missing=median keeps them'
    """
    text = texts_of("messages")[key]
    return _FIELD.sub(lambda found: _field(values[found[1]], found[2], found[3]), text)


class Message(str):
    """A message in English that can be written again in the language of a report.

    Parameters
    ----------
    key : str
        Key of the message in the texts.
    **values
        Values of its fields: texts, numbers, messages, or lists of them.

    Examples
    --------
    >>> from pellucid._utils.texts import Message, texts_in
    >>> message = Message("decimalComma", option="decimal=")
    >>> message
    'numbers have a decimal comma (decimal= to change)'
    >>> with texts_in("de"):
    ...     print(message.translated())
    Zahlen haben ein Dezimalkomma (decimal= ändert das)
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
