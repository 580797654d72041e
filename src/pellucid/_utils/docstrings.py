"""Parts that the docstrings of several classes share."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TypeVar

_Class = TypeVar("_Class", bound=type)


def fill_docstring(cls: _Class, parts: Mapping[str, str]) -> _Class:
    """Replace ``{name}`` in the docstring of a class by the part with this name.

    Parameters
    ----------
    cls : type
        A class whose docstring has fields.
    parts : mapping from str to str
        Texts by field. Their lines, except the first, are indented as in the body of a class.

    Returns
    -------
    type
        The class. Its docstring is without indentation, as Python 3.13 stores it; earlier versions
        store it as it is written.
    """
    if cls.__doc__:
        filled = inspect.cleandoc(cls.__doc__) + "\n"
        for name, text in parts.items():
            filled = filled.replace(f"{{{name}}}", text.replace("\n    ", "\n"))
        cls.__doc__ = filled
    return cls
