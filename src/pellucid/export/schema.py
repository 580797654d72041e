"""Check a document against the JSON Schema of its format; an error names the place.

The schemas are files of this package: ``explanation.schema.json`` and ``regions.schema.json``
(draft 7). `fastjsonschema <https://github.com/horejsek/python-fastjsonschema>`_ checks them. It
has no dependencies, is loaded with the first document, and takes about 10 µs per node of a tree.
`jsonschema` was not chosen, because it needs four more packages, one of them compiled, and takes
about 50 times as long. What a schema cannot state, such as references from one part of a document
to another, is checked by :mod:`pellucid.export.json_reading`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

LARGEST = 2**53
"""Integers up to this size are exact in every JSON reader."""

_WORDS = {
    bool: "a boolean",
    dict: "an object",
    float: "a number",
    int: "a whole number",
    list: "a list",
    str: "a string",
    type(None): "null",
}


def schema_of(name: str) -> dict[str, Any]:
    """The JSON Schema of ``"explanation"`` or ``"regions"``."""
    text = files("pellucid.export").joinpath(f"{name}.schema.json").read_text(encoding="utf-8")
    return json.loads(text)


def check_schema(document: Any, name: str) -> None:
    """Raise a ValueError that names the place unless a document has the form of its schema."""
    from fastjsonschema import JsonSchemaValueException

    try:
        _validator(name)(document)
    except JsonSchemaValueException as error:
        place = str(error.name).removeprefix("data").removeprefix(".")
        raise _violation(place, error.value, error.rule, error.definition) from None


@cache
def _validator(name: str) -> Callable[[Any], Any]:
    import fastjsonschema

    return fastjsonschema.compile(schema_of(name), use_default=False)


def _violation(place: str, value: Any, rule: str | None, definition: dict[str, Any]) -> ValueError:
    at = f"{place}." if place else ""
    if rule == "required":
        key = next(key for key in definition["required"] if key not in value)
        return ValueError(f"not an explanation: {at}{key} is missing")
    if rule == "additionalProperties":
        key = next(key for key in value if key not in definition["properties"])
        return ValueError(f"not an explanation: {at}{key} is unknown")
    if rule == "minItems" and not value:
        return ValueError(f"not an explanation: {place} is empty")
    expected = definition.get("description", f"the {rule} of the schema")
    is_container = definition.get("type") in ("array", "object") or type(value) in (dict, list)
    if rule == "type" and is_container:
        return ValueError(f"not an explanation: {place} is {kind_of(value)}, expected {expected}")
    return wrong(place, value, expected)


def wrong(place: str, value: Any, expected: str) -> ValueError:
    """The error of a value that is not what it must be."""
    return ValueError(f"not an explanation: {place} is {shown(value)}, expected {expected}")


def shown(value: Any) -> str:
    """A value in at most about 60 characters."""
    if value is None:
        return "missing"
    if isinstance(value, str):
        text = repr(value[:61])
    elif isinstance(value, int) and value.bit_length() > 1000:
        text = f"a whole number of about {int(value.bit_length() * 0.30103) + 1:,} digits"
    else:
        text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def kind_of(value: Any) -> str:
    """The JSON type of a value, with its article."""
    return _WORDS.get(type(value), type(value).__name__)


def once(values: list[Any], place: str) -> None:
    """Fail if a value appears twice in a list."""
    seen = set()
    for i, value in enumerate(values):
        if value in seen:
            raise ValueError(f"not an explanation: {place}[{i}] repeats {shown(value)}")
        seen.add(value)


def whole(value: Any, place: str, least: int, most: int = LARGEST) -> int:
    """A whole number in a range, or an error."""
    if type(value) is not int or not least <= value <= most:
        limit = f"at least {least}" if most == LARGEST else f"from {least} to {most}"
        raise wrong(place, value, f"a whole number {limit}")
    return value


def number(value: Any, place: str, least: float = -math.inf, most: float = math.inf) -> float:
    """A finite number in a range as a float, or an error."""
    if type(value) in (int, float):
        try:
            found = float(value)
        except OverflowError:
            found = math.inf
        if math.isfinite(found) and least <= found <= most:
            return found
    limit = "" if math.isinf(least) else f" of at least {least}"
    limit = limit if math.isinf(most) else f" from {least} to {most}"
    raise wrong(place, value, f"a finite number{limit}")


def scalar(value: Any, place: str, *, of_column: bool = False) -> None:
    """Fail unless a value is a string, a boolean, or a finite number of at most 64 bits.

    The values of columns may also be larger whole numbers that a float has.
    """
    if type(value) not in (str, int, float, bool):
        raise wrong(place, value, "a string, a number or a boolean")
    if type(value) is float:
        number(value, place)
    is_long = type(value) is int and not -(2**63) <= value < 2**63
    if is_long and not (of_column and (0 < value < 2**64 or _is_float(value))):
        raise wrong(place, value, "a whole number of at most 64 bits")


def _is_float(value: int) -> bool:
    """Whether a float has exactly this value."""
    try:
        return float(value) == value
    except OverflowError:
        return False
