"""Suggested names of clusters, such as "high income, low spending"."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from pellucid._utils.texts import rule_words
from pellucid.table_explainer.preparing import PreparedTable
from pellucid.tables.encoding import Indicator

_CLEAR = 0.5
"""Difference from the mean of all rows, in standard deviations, that is worth a word."""

_TYPICAL = 0.7
"""Share of the rows of a cluster that need a category for it to be a name."""

_MOST_WORDS = 3

_UNIT = re.compile(
    r"(?<=\w)[ ,]+(?:mm|cm|m|km|mg|g|kg|lb|lbs|oz|ml|l|usd|eur|gbp|krw|pct|percent|sec|min|hrs?)$",
    re.IGNORECASE,
)
"""A unit at the end of a column name, which a description does not need."""

_VAGUE = ("none", "other", "others", "unknown", "missing", "total", "all", "both")
"""Categories that need the name of their column to be understood."""


def suggest_names(prepared: PreparedTable, labels: np.ndarray, n_clusters: int) -> list[str]:
    """A short description of each cluster by the columns in which it differs most.

    Parameters
    ----------
    prepared : PreparedTable
    labels : ndarray of int of shape (n_rows,)
        Position of the cluster of each row.
    n_clusters : int

    Returns
    -------
    list of str
        Different names; a cluster that differs in no column is "average".
    """
    described = [_descriptions(prepared, labels == cluster) for cluster in range(n_clusters)]
    names = [_joined(words, 2) for words in described]
    for n_words in range(3, _MOST_WORDS + 1):
        names = [
            _joined(words, n_words) if names.count(name) > 1 else name
            for name, words in zip(names, described)
        ]
    return [
        f"{name} ({cluster})" if names.count(name) > 1 else name
        for cluster, name in enumerate(names)
    ]


def _joined(words: Sequence[str], n_words: int) -> str:
    return ", ".join(words[:n_words]) or rule_words().average


def _descriptions(prepared: PreparedTable, mine: np.ndarray) -> list[str]:
    """Descriptions of a cluster, the clearest first; at most one per column."""
    found: dict[str, tuple[float, str]] = {}
    if not mine.any():
        return []
    for j, (name, column) in enumerate(zip(prepared.encoding.names, prepared.features)):
        if isinstance(name, Indicator):
            share, overall = float(column[mine].mean()), float(column.mean())
            strength = (share - overall) * 2
            is_clear = share >= _TYPICAL and strength >= _CLEAR
            key, text = name.column, _category_text(name)
        else:
            values = prepared.Z[:, j]
            spread = float(values.std()) or 1.0
            strength = float(values[mine].mean() - values.mean()) / spread
            is_clear = abs(strength) >= _CLEAR
            say = rule_words()
            low, high = (say.early, say.late) if _is_time(prepared, name) else (say.low, say.high)
            key, text = name, (high if strength > 0 else low).format(plain_name(name))
        if is_clear and abs(strength) > found.get(key, (0.0, ""))[0]:
            found[key] = (abs(strength), text)
    return [text for _, text in sorted(found.values(), key=lambda pair: -pair[0])]


def _is_time(prepared: PreparedTable, name: str) -> bool:
    known = prepared.roles.formats.get(name)
    return known is not None and (known.is_date or known.kind == "year")


def _category_text(name: Indicator) -> str:
    """The category itself if it is a word, otherwise the column with the category."""
    word = name.word
    is_flag = {str(value) for value in name.categories} <= {"0", "1", "0.0", "1.0", "None"}
    if word.casefold() in ("yes", "true") or (is_flag and word == "1"):
        return plain_name(name.column)
    if word.casefold() in ("no", "false") or (is_flag and word == "0"):
        return rule_words().no.format(plain_name(name.column))
    is_clear = len(word) > 2 and any(c.isalpha() for c in word) and word.casefold() not in _VAGUE
    return word if is_clear else f"{plain_name(name.column)} {word}"


def plain_name(column: str) -> str:
    """A column name as words.

    Examples
    --------
    >>> from pellucid.table_explainer.naming import plain_name
    >>> plain_name("Annual_Income (k$)"), plain_name("bill_length_mm"), plain_name("bodyMass")
    ('annual income', 'bill length', 'body mass')
    """
    text = re.sub(r"\s*[\(\[].*?[\)\]]", "", column)
    text = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", text)
    text = re.sub(r"[_.\s]+", " ", text).strip() or column
    text = _UNIT.sub("", text)
    return text if text.isupper() else text.lower()
