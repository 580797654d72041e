"""Checks of an explanation in JSON that its schema cannot state; every error names the place.

`fastjsonschema` checks a document against the published schema. What is left here are relations
between parts of the document, such as children that exist, which a JSON Schema cannot state.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.explanation.explanation import Explanation
from pellucid.export.schema import check_schema, kind_of, shown, wrong
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import Indicator
from pellucid.tree import LEAF, ThresholdTree

FORMAT = "pellucid.explanation"
VERSION = 1

_LONGEST_READING = 100_000
"""Characters of the key ``reading`` as JSON."""

_LARGEST = 2**53
"""Integers up to this size are exact in every JSON reader."""

MAX_COLUMNS = 10**6
"""Columns of a model."""

MAX_CLUSTERS = 10**5
"""Clusters of a model."""

MAX_CONDITIONS = 5 * 10**6
"""Splits on the paths to all leaves, which are the conditions of all rules."""

_MOST_LABEL_CHARACTERS = 2**24
"""Clusters times the length of the longest label, which is the size of their array."""


def read_document(document: Any) -> Explanation:
    """Validate a document of lists and dictionaries and build its explanation.

    Parameters
    ----------
    document : dict
        As read from JSON.

    Returns
    -------
    Explanation

    Raises
    ------
    ValueError
        If anything is missing, unknown, of the wrong type or out of range.
    """
    check_version(document, FORMAT, VERSION)
    check_schema(document, "explanation")
    clusters = _clusters(document["clusters"])
    n_columns = _whole(document["n_columns"], "n_columns", 1, MAX_COLUMNS)
    columns = document["columns"]
    _check_columns(columns, n_columns)
    categories = _categories(document.get("categories", {}), columns)
    names = _features(document["features"], columns, categories)
    fill = _fill(document["fill"], columns, names)
    known = [f"x{i}" for i in range(n_columns)] if columns is None else columns
    formats = _formats(document.get("formats", {}), known)
    reading = document.get("reading")
    if "reading" in document:
        check_reading(reading)
    described: Sequence[str | Indicator | None] = [None] * n_columns if names is None else names
    tree, purity = _tree(document["nodes"], described, len(clusters))
    return Explanation(
        tree,
        names=names,
        clusters=clusters,
        purity=purity,
        columns=columns,
        fill=fill,
        method=document["method"],
        formats=formats,
        reading=reading,
    )


def check_version(document: Any, form: str, known: int) -> None:
    """Raise an error unless a document has the given format and a version that is known."""
    if type(document) is not dict:
        raise ValueError(
            f"not an explanation: the document is {kind_of(document)}, expected an object"
        )
    if document.get("format") != form:
        raise wrong("format", document.get("format"), repr(form))
    version = _whole(document.get("version"), "version", 1)
    if version > known:
        raise ValueError(
            f"written by a later pellucid: version is {version}, this one reads up to {known}; "
            "upgrade pellucid to read it"
        )


def check_reading(reading: Any) -> None:
    """Check that a value can be stored as the key ``reading``."""
    if type(reading) is not dict:
        raise ValueError(f"not an explanation: reading is {kind_of(reading)}, expected an object")
    try:
        text = json.dumps(reading, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ValueError(
            "not an explanation: reading contains something other than strings, finite numbers, "
            "booleans, null, lists and objects"
        ) from None
    if len(text) > _LONGEST_READING:
        raise ValueError(
            f"not an explanation: reading has {len(text):,} characters, expected at most "
            f"{_LONGEST_READING:,}"
        )


def _check_columns(columns: list[str] | None, n_columns: int) -> None:
    if columns is None:
        return
    _once(columns, "columns")
    if len(columns) != n_columns:
        raise wrong("n_columns", n_columns, f"{len(columns)}, the number of columns")


def _categories(
    categories: dict[str, list[Any]], columns: list[str] | None
) -> dict[str, tuple[Any, ...]]:
    known = set(columns or ())
    for column, values in categories.items():
        place = f"categories.{column}"
        if column not in known:
            raise ValueError(f"not an explanation: {place} is not one of columns")
        for i, value in enumerate(values):
            if value is not None:
                _scalar(value, f"{place}[{i}]")
        _once(values, place)
    return {column: tuple(values) for column, values in categories.items()}


def _formats(formats: dict[str, dict[Any, Any]], columns: list[str]) -> dict[str, ColumnFormat]:
    known, found = set(columns), {}
    for column, written in formats.items():
        place = f"formats.{column}"
        if column not in known:
            raise ValueError(f"not an explanation: {place} is not one of columns")
        values = written.get("values", [])
        for i, value in enumerate(values):
            _whole(value, f"{place}.values[{i}]", values[i - 1] + 1 if i else -_LARGEST)
        found[column] = ColumnFormat(**{**written, "values": tuple(values)})
    return found


def _features(
    features: list[Any] | None, columns: list[str] | None, categories: dict[str, tuple[Any, ...]]
) -> Sequence[str | Indicator] | None:
    if features is None:
        if categories:
            raise ValueError("not an explanation: categories without features")
        return columns
    return _described_columns(features, columns or [], categories)


def _described_columns(
    features: list[Any], columns: list[str], categories: dict[str, tuple[Any, ...]]
) -> list[str | Indicator]:
    known = set(columns)
    names: list[str | Indicator] = []
    pairs: set[str] = set()
    for i, feature in enumerate(features):
        place = f"features[{i}]"
        if isinstance(feature, str):
            column = feature
            names.append(feature)
        else:
            column, value = feature["column"], feature["is"]
            if value is not None:
                _scalar(value, f"{place}.is")
            if feature.get("otherwise") is not None:
                pairs.add(column)
            names.append(Indicator(column, value, categories.get(column, ())))
        if column not in known:
            raise wrong(place, column, "one of columns")
    _once(names, "features")
    listed = defaultdict(list)
    for name in names:
        if isinstance(name, Indicator):
            listed[name.column].append(name.value)
    for column, values in categories.items():
        if not listed[column] or not set(listed[column]) <= set(values):
            raise wrong(f"categories.{column}", list(values), "all categories in features")
    return _with_pairs(names, {column: tuple(listed[column]) for column in pairs})


def _with_pairs(
    names: list[str | Indicator], values: dict[str, tuple[Any, ...]]
) -> list[str | Indicator]:
    """Features of columns that have exactly the two categories of their indicators."""
    return [
        replace(name, categories=values[name.column])
        if isinstance(name, Indicator) and len(values.get(name.column, ())) == 2
        else name
        for name in names
    ]


def _fill(
    fill: dict[str, Any] | None,
    columns: list[str] | None,
    names: Sequence[str | Indicator] | None,
) -> dict[str, Any] | None:
    if fill is None:
        return None
    known = set(columns or ())
    numeric = {name for name in names or () if isinstance(name, str)}
    for column, value in fill.items():
        if column not in known:
            raise ValueError(f"not an explanation: fill.{column} is not one of columns")
        _scalar(value, f"fill.{column}")
        if column in numeric:
            _number(value, f"fill.{column}")
    return fill


def _clusters(clusters: list[Any]) -> list[Any]:
    if len(clusters) > MAX_CLUSTERS:
        raise ValueError(
            f"not an explanation: clusters has {len(clusters):,} labels, expected at most "
            f"{MAX_CLUSTERS:,}"
        )
    for i, label in enumerate(clusters):
        _scalar(label, f"clusters[{i}]")
        if type(label) is not type(clusters[0]):
            raise wrong(f"clusters[{i}]", label, f"{kind_of(clusters[0])} as clusters[0] is")
        if isinstance(label, str) and label.endswith("\0"):
            raise wrong(f"clusters[{i}]", label, "a string that does not end in a NUL character")
    _once(clusters, "clusters")
    if isinstance(clusters[0], str):
        longest = max(map(len, clusters))
        if longest * len(clusters) > _MOST_LABEL_CHARACTERS:
            at = next(i for i, label in enumerate(clusters) if len(label) == longest)
            most = _MOST_LABEL_CHARACTERS // len(clusters)
            raise ValueError(
                f"not an explanation: clusters[{at}] has {longest:,} characters, expected at most "
                f"{most:,} with {len(clusters):,} clusters"
            )
    return clusters


def _tree(
    nodes: list[dict[Any, Any]], names: Sequence[str | Indicator | None], n_clusters: int
) -> tuple[ThresholdTree, dict[int, float]]:
    n = len(nodes)
    arrays = {
        "feature": np.full(n, LEAF, dtype=np.intp),
        "threshold": np.full(n, np.nan),
        "children_left": np.full(n, LEAF, dtype=np.intp),
        "children_right": np.full(n, LEAF, dtype=np.intp),
        "cluster": np.full(n, LEAF, dtype=np.intp),
        "n_node_samples": np.zeros(n, dtype=np.intp),
        "weighted_n_node_samples": np.zeros(n),
    }
    purity = {}
    for i, node in enumerate(nodes):
        place = f"nodes[{i}]"
        if "cluster" in node:
            most = n_clusters - 1
            arrays["cluster"][i] = _whole(node["cluster"], f"{place}.cluster", 0, most)
            if node["purity"] is not None:
                purity[i] = _number(node["purity"], f"{place}.purity", 0, 1)
        else:
            most = len(names) - 1
            feature = _whole(node["feature"], f"{place}.feature", 0, most)
            threshold = _number(node["threshold"], f"{place}.threshold")
            if isinstance(names[feature], Indicator) and not 0 <= threshold < 1:
                raise wrong(f"{place}.threshold", threshold, "0 to below 1 for a category")
            arrays["feature"][i], arrays["threshold"][i] = feature, threshold
            for side in ("left", "right"):
                child = _whole(node[side], f"{place}.{side}", 1, n - 1)
                arrays[f"children_{side}"][i] = child
        arrays["n_node_samples"][i] = _whole(node["rows"], f"{place}.rows", 0)
        arrays["weighted_n_node_samples"][i] = _number(node["weight"], f"{place}.weight", 0)
    _check_preorder(arrays["children_left"], arrays["children_right"])
    return ThresholdTree(n_features=len(names), **arrays), purity


def _check_preorder(left: np.ndarray, right: np.ndarray) -> None:
    """Check that every node is reached once, in the order of the list, by paths of fair length."""
    stack, expected, conditions = [("nodes[0]", 0, 0)], 0, 0
    while stack:
        place, node, depth = stack.pop()
        if node != expected:
            raise wrong(place, node, f"{expected}: nodes come in preorder, each once")
        expected += 1
        if left[node] != LEAF:
            stack.append((f"nodes[{node}].right", int(right[node]), depth + 1))
            stack.append((f"nodes[{node}].left", int(left[node]), depth + 1))
        else:
            conditions += depth
        if conditions > MAX_CONDITIONS:
            raise ValueError(
                f"not an explanation: the paths to the leaves up to nodes[{node}] have more than "
                f"{MAX_CONDITIONS:,} conditions"
            )
    if expected < len(left):
        raise ValueError(f"not an explanation: nodes[{expected}] is not a child of any node")


def _once(values: list[Any], place: str) -> None:
    seen = set()
    for i, value in enumerate(values):
        if value in seen:
            raise ValueError(f"not an explanation: {place}[{i}] repeats {shown(value)}")
        seen.add(value)


def _whole(value: Any, place: str, least: int, most: int = _LARGEST) -> int:
    if type(value) is not int or not least <= value <= most:
        limit = f"at least {least}" if most == _LARGEST else f"from {least} to {most}"
        raise wrong(place, value, f"a whole number {limit}")
    return value


def _number(value: Any, place: str, least: float = -math.inf, most: float = math.inf) -> float:
    if type(value) in (int, float):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number) and least <= number <= most:
            return number
    limit = "" if math.isinf(least) else f" of at least {least}"
    limit = limit if math.isinf(most) else f" from {least} to {most}"
    raise wrong(place, value, f"a finite number{limit}")


def _scalar(value: Any, place: str) -> None:
    if type(value) not in (str, int, float, bool):
        raise wrong(place, value, "a string, a number or a boolean")
    if type(value) is float:
        _number(value, place)
    if type(value) is int and not -(2**63) <= value < 2**63:
        raise wrong(place, value, "a whole number of at most 64 bits")
