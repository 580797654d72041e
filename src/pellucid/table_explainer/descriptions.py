"""Descriptions of clusters: suggested names, and columns that are not clustered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from pellucid._utils.texts import rule_words
from pellucid.table_explainer import tuning
from pellucid.table_explainer.fitting import FittedTable
from pellucid.table_explainer.preparing import PreparedTable
from pellucid.table_explainer.roles import as_category, as_number, find_format, is_quantity
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import Indicator

_UNIT = re.compile(
    r"(?<=\w)[ ,]+(?:mm|cm|m|km|mg|g|kg|lb|lbs|oz|ml|l|usd|eur|gbp|krw|pct|percent|sec|min|hrs?)$",
    re.IGNORECASE,
)
"""A unit at the end of a column name, which a description does not need."""

_VAGUE = ("none", "other", "others", "unknown", "missing", "total", "all", "both")
"""Categories that need the name of their column to be understood."""


def suggest_names(
    prepared: PreparedTable, labels: np.ndarray, clusters: Sequence[Any]
) -> list[str]:
    """A short description of each cluster by the columns in which it differs most.

    The names, such as "high income, low spending", are different. A cluster that differs in no
    column is "average". `labels` has the cluster of each row.
    """
    described = [_descriptions(prepared, labels == cluster) for cluster in clusters]
    names = [_joined(words, 2) for words in described]
    for n_words in range(3, tuning.MOST_WORDS + 1):
        names = [
            _joined(words, n_words) if names.count(name) > 1 else name
            for name, words in zip(names, described)
        ]
    return [
        f"{name} ({position})" if names.count(name) > 1 else name
        for position, name in enumerate(names)
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
            is_clear = share >= tuning.TYPICAL and strength >= tuning.CLEAR
            key, text = name.column, _category_text(name)
        else:
            values = prepared.Z[:, j]
            spread = float(values.std()) or 1.0
            strength = float(values[mine].mean() - values.mean()) / spread
            is_clear = abs(strength) >= tuning.CLEAR
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
    """A column name as words."""
    text = re.sub(r"\s*[\(\[].*?[\)\]]", "", column)
    text = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", text)
    text = re.sub(r"[_.\s]+", " ", text).strip() or column
    text = _UNIT.sub("", text)
    return text if text.isupper() else text.lower()


def describe_profile(fitted: FittedTable) -> dict[str, list[str]]:
    """For each column of the parameter `profile`, one text per cluster.

    A number is described by its mean, a category by the most frequent value and its share.
    """
    prepared = fitted.prepared
    if not prepared.roles.profile:
        return {}
    labels = fitted.model.labels_
    clusters = fitted.model.cluster_names_.tolist()
    described = {}
    for name in prepared.roles.profile:
        column = prepared.source.table[name].gather(prepared.rows)
        describe = _mean if is_quantity(column) else _most_frequent
        described[name] = [describe(column.filter(pl.Series(labels == c))) for c in clusters]
    return described


def _mean(column: pl.Series) -> str:
    numbers = as_number(column).drop_nulls().drop_nans()
    if not len(numbers):
        return "-"
    mean = float(numbers.to_numpy().mean())
    known = find_format(column, ColumnFormat())
    if known.is_date:
        return known.text(float(round(mean)))
    return f"{mean:.0f}" if known.kind == "year" else f"{mean:,.4g}"


def _most_frequent(column: pl.Series) -> str:
    column = as_category(column).drop_nulls()
    if not len(column):
        return "-"
    counts = column.alias("value").value_counts(name="rows")
    value, rows = counts.sort("rows", "value", descending=[True, False]).row(0)
    return f"{value} ({rows / len(column):.0%})"
