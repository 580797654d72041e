"""The rows that a model was fitted on, as long as somebody else keeps them.

Estimators do not hold on to their data: it would go into every pickle and keep memory from being
freed. A weak reference does neither, and lets a report be written right after a fit without
naming the rows again.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary, ref

_ROWS: WeakKeyDictionary[Any, dict[str, ref]] = WeakKeyDictionary()


def remember(model: Any, **rows: Any) -> None:
    """Note what a model was fitted on, by name; what cannot be referred to is left out."""
    noted = {}
    for name, value in rows.items():
        try:
            noted[name] = ref(value)
        except TypeError:  # lists, for instance
            continue
    _ROWS[model] = noted


def recall(model: Any, name: str) -> Any:
    """What was noted, or None if there was nothing or it is gone."""
    noted = _ROWS.get(model, {}).get(name)
    return None if noted is None else noted()


def rows_of(model: Any, X: Any) -> Any:
    """`X`, or what the model was fitted on if that is None and still there."""
    found = recall(model, "X") if X is None else X
    if found is None:
        raise ValueError(
            "X is missing: the rows that the model was fitted on are no longer in memory (or were "
            "a list), and it keeps no copy; give them as X"
        )
    return found
