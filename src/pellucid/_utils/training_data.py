"""Weak references to the data that a model was fitted on.

Estimators do not store their data, which would be part of every pickle and stay in memory. A weak
reference does neither, and lets a report be written right after `fit` without passing the rows
again.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary, ref

_DATA: WeakKeyDictionary[Any, dict[str, ref]] = WeakKeyDictionary()


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
    """`X`, or if that is None the rows of the fit.

    Raises
    ------
    ValueError
        If `X` is None and the rows are no longer in memory.
    """
    found = find_training_data(model, "X") if X is None else X
    if found is None:
        raise ValueError(
            "X is missing: the rows of fit are no longer in memory (or were a list), and models "
            "do not store them; pass them as X"
        )
    return found
