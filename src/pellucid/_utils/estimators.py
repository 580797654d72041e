"""What estimators share: types of options, parts of docstrings, references to training data."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Literal, TypeVar
from weakref import WeakKeyDictionary, ref

# Types of the options that are strings, for type checkers. ``tests/utils/test_options.py`` compares
# them with the strings that are accepted.
Objective = Literal["kmeans", "kmedians"]
Noise = Literal["background", "cluster", "drop", "group"]
Polish = bool | Literal["deep"]
Effort = Literal["fast", "balanced", "best"]
RegionShape = Literal["box", "nonparametric", "polyhedron", "ellipse"]
FloatType = Literal["float64", "float32"]
FrameKind = Literal["pandas", "polars", "dict"]
SQLDialect = Literal[
    "standard",
    "bigquery",
    "duckdb",
    "mssql",
    "mysql",
    "postgres",
    "snowflake",
    "spark",
    "sqlite",
]


def is_background(noise: str) -> bool:
    """Whether rows of noise are left out; "drop" is an older word for "background"."""
    return noise in ("background", "drop")


_Class = TypeVar("_Class", bound=type)


def fill_docstring(cls: _Class, parts: Mapping[str, str]) -> _Class:
    """Replace ``{name}`` in the docstring of a class by the part with this name.

    The lines of the parts, except the first, are indented as in the body of a class. The docstring
    is then without indentation, as Python 3.13 stores it.
    """
    if cls.__doc__:
        filled = inspect.cleandoc(cls.__doc__) + "\n"
        for name, text in parts.items():
            filled = filled.replace(f"{{{name}}}", text.replace("\n    ", "\n"))
        cls.__doc__ = filled
    return cls


_DATA: WeakKeyDictionary[Any, dict[str, ref]] = WeakKeyDictionary()
"""Weak references to the data of fits, by model.

Estimators do not store their data, which would be part of every pickle and stay in memory. A weak
reference does neither, and lets a report be written right after `fit` without passing the rows
again.
"""


def store_training_data(model: Any, **data: Any) -> None:
    """Store weak references to the data of a fit by name; objects without them are left out."""
    references = {}
    for name, value in data.items():
        try:
            references[name] = ref(value)
        except TypeError:  # lists, for instance
            continue
    _DATA[model] = references


def find_training_data(model: Any, name: str) -> Any:
    """The data of a fit by name; None if they were not stored or are no longer in memory."""
    reference = _DATA.get(model, {}).get(name)
    return None if reference is None else reference()


def find_rows(model: Any, X: Any) -> Any:
    """`X`, or if that is None the rows of the fit; an error if they are no longer in memory."""
    found = find_training_data(model, "X") if X is None else X
    if found is None:
        raise ValueError(
            "X is missing: the rows of fit are no longer in memory (or were a list), and models "
            "do not store them; pass them as X"
        )
    return found
