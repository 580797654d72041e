"""Validation of an explanation in JSON; every error names the place."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from pellucid.explanation.explanation import Explanation
from pellucid.tables.column_formats import ColumnFormat, Kind
from pellucid.tables.encoding import Indicator
from pellucid.tree import LEAF, ThresholdTree

FORMAT = "pellucid.explanation"
VERSION = 1

_KEYS = ("made_by", "method", "n_columns", "columns", "features", "fill", "clusters", "nodes")
_OPTIONAL = ("categories", "formats", "reading")
_KINDS = get_args(Kind)
_LONGEST_READING = 100_000
"""Characters of the key ``reading`` as JSON."""

_LARGEST = 2**53
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
    _kind(document, dict, "the document")
    if document.get("format") != FORMAT:
        raise _wrong("format", document.get("format"), repr(FORMAT))
    version = _whole(document.get("version"), "version", 1)
    if version > VERSION:
        raise ValueError(
            f"written by a later pellucid: version is {version}, this one reads up to {VERSION}; "
            "upgrade pellucid to read it"
        )
    # Wrong types are reported before missing keys: they are the more helpful message.
    clusters = _clusters(document["clusters"]) if "clusters" in document else []
    _keys(document, ("format", "version", *_KEYS), "", optional=_OPTIONAL)
    _kind(document["made_by"], str, "made_by")
    method = document["method"]
    if method is not None:
        _kind(method, str, "method")
    n_columns = _whole(document["n_columns"], "n_columns", 1)
    columns = document["columns"]
    if columns is not None:
        _names(columns, "columns")
        if len(columns) != n_columns:
            raise _wrong("n_columns", n_columns, f"{len(columns)}, the number of columns")
    categories = _categories(document.get("categories", {}), columns)
    names = _features(document["features"], columns, categories)
    fill = _fill(document["fill"], columns, names)
    known = [f"x{i}" for i in range(n_columns)] if columns is None else columns
    formats = _formats(document.get("formats", {}), known)
    reading = document.get("reading")
    if "reading" in document:
        check_reading(reading)
    described = [None] * n_columns if names is None else names
    tree, purity = _tree(document["nodes"], described, len(clusters))
    return Explanation(
        tree,
        names=names,
        clusters=clusters,
        purity=purity,
        columns=columns,
        fill=fill,
        method=method,
        formats=formats,
        reading=reading,
    )


def check_reading(reading: Any) -> None:
    """Check that a value can be stored as the key ``reading``."""
    _kind(reading, dict, "reading")
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


def _categories(categories: Any, columns: list[str] | None) -> dict[str, tuple]:
    found = {}
    for column, values in _kind(categories, dict, "categories").items():
        place = f"categories.{column}"
        if columns is None or column not in columns:
            raise ValueError(f"not an explanation: {place} is not one of columns")
        for i, value in enumerate(_kind(values, list, place)):
            if value is not None:
                _scalar(value, f"{place}[{i}]")
        _once(values, place)
        found[column] = tuple(values)
    return found


def _formats(formats: Any, columns: list[str]) -> dict[str, ColumnFormat]:
    found = {}
    for column, written in _kind(formats, dict, "formats").items():
        place = f"formats.{column}"
        if column not in columns:
            raise ValueError(f"not an explanation: {place} is not one of columns")
        optional = ("prefix", "suffix", "values", "date_format")
        _keys(_kind(written, dict, place), ("kind",), place, optional=optional)
        if written["kind"] not in _KINDS:
            raise _wrong(f"{place}.kind", written["kind"], f"one of {', '.join(_KINDS)}")
        for key in ("prefix", "suffix", "date_format"):
            _kind(written.get(key, ""), str, f"{place}.{key}")
        values = _kind(written.get("values", []), list, f"{place}.values")
        for i, value in enumerate(values):
            _whole(value, f"{place}.values[{i}]", values[i - 1] + 1 if i else -_LARGEST)
        found[column] = ColumnFormat(**{**written, "values": tuple(values)})
    return found


def _features(
    features: Any, columns: list[str] | None, categories: dict[str, tuple]
) -> list[str | Indicator] | None:
    if features is None:
        if categories:
            raise ValueError("not an explanation: categories without features")
        return columns
    names: list[str | Indicator] = []
    pairs: set[str] = set()
    for i, feature in enumerate(_kind(features, list, "features")):
        place = f"features[{i}]"
        if isinstance(feature, str):
            column, name = feature, feature
        else:
            _keys(_kind(feature, dict, place), ("column", "is"), place, optional=("otherwise",))
            column, value = _kind(feature["column"], str, f"{place}.column"), feature["is"]
            if value is not None:
                _scalar(value, f"{place}.is")
            otherwise = feature.get("otherwise")
            if otherwise is not None:
                _kind(otherwise, str, f"{place}.otherwise")
                pairs.add(column)
            name = Indicator(column, value, categories.get(column, ()))
        if columns is None or column not in columns:
            raise _wrong(place, column, "one of columns")
        names.append(name)
    _once(names, "features")
    for column, values in categories.items():
        listed = [n.value for n in names if isinstance(n, Indicator) and n.column == column]
        if not listed or not set(listed) <= set(values):
            raise _wrong(f"categories.{column}", list(values), "all categories in features")
    return _with_pairs(names, pairs)


def _with_pairs(names: list[str | Indicator], columns: set[str]) -> list[str | Indicator]:
    """Features of columns that have exactly the two categories of their indicators."""
    values = {
        column: tuple(n.value for n in names if isinstance(n, Indicator) and n.column == column)
        for column in columns
    }
    return [
        replace(name, categories=values[name.column])
        if isinstance(name, Indicator) and len(values.get(name.column, ())) == 2
        else name
        for name in names
    ]


def _fill(
    fill: Any, columns: list[str] | None, names: list[str | Indicator] | None
) -> dict[str, Any] | None:
    if fill is None:
        return None
    for column, value in _kind(fill, dict, "fill").items():
        if columns is None or column not in columns:
            raise ValueError(f"not an explanation: fill.{column} is not one of columns")
        _scalar(value, f"fill.{column}")
        if column in names:
            _number(value, f"fill.{column}")
    return fill


def _clusters(clusters: Any) -> list:
    _kind(clusters, list, "clusters")
    if not clusters:
        raise ValueError("not an explanation: clusters is empty")
    for i, label in enumerate(clusters):
        _scalar(label, f"clusters[{i}]")
        if type(label) is not type(clusters[0]):
            kind = _WORDS[type(clusters[0])]
            raise _wrong(f"clusters[{i}]", label, f"{kind} as clusters[0] is")
    _once(clusters, "clusters")
    return clusters


def _tree(
    nodes: Any, names: list[str | Indicator | None], n_clusters: int
) -> tuple[ThresholdTree, dict[int, float]]:
    _kind(nodes, list, "nodes")
    if not nodes:
        raise ValueError("not an explanation: nodes is empty")
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
        _kind(node, dict, place)
        if "cluster" in node:
            _keys(node, ("cluster", "purity", "rows", "weight"), place)
            most = n_clusters - 1
            arrays["cluster"][i] = _whole(node["cluster"], f"{place}.cluster", 0, most)
            if node["purity"] is not None:
                purity[i] = _number(node["purity"], f"{place}.purity", 0, 1)
        else:
            _keys(node, ("feature", "threshold", "left", "right", "rows", "weight"), place)
            most = len(names) - 1
            feature = _whole(node["feature"], f"{place}.feature", 0, most)
            threshold = _number(node["threshold"], f"{place}.threshold")
            if isinstance(names[feature], Indicator) and not 0 <= threshold < 1:
                raise _wrong(f"{place}.threshold", threshold, "0 to below 1 for a category")
            arrays["feature"][i], arrays["threshold"][i] = feature, threshold
            for side in ("left", "right"):
                child = _whole(node[side], f"{place}.{side}", 1, n - 1)
                arrays[f"children_{side}"][i] = child
        arrays["n_node_samples"][i] = _whole(node["rows"], f"{place}.rows", 0)
        arrays["weighted_n_node_samples"][i] = _number(node["weight"], f"{place}.weight", 0)
    _check_preorder(arrays["children_left"], arrays["children_right"])
    return ThresholdTree(n_features=len(names), **arrays), purity


def _check_preorder(left: np.ndarray, right: np.ndarray) -> None:
    """Check that every node is reached once, in the order of the list."""
    stack, expected = [("nodes[0]", 0)], 0
    while stack:
        place, node = stack.pop()
        if node != expected:
            raise _wrong(place, node, f"{expected}: nodes come in preorder, each once")
        expected += 1
        if left[node] != LEAF:
            stack.append((f"nodes[{node}].right", int(right[node])))
            stack.append((f"nodes[{node}].left", int(left[node])))
    if expected < len(left):
        raise ValueError(f"not an explanation: nodes[{expected}] is not a child of any node")


def _names(names: Any, place: str) -> None:
    for i, name in enumerate(_kind(names, list, place)):
        _kind(name, str, f"{place}[{i}]")
    _once(names, place)


def _once(values: list, place: str) -> None:
    if len(set(values)) < len(values):
        at = next(i for i, value in enumerate(values) if value in values[:i])
        raise ValueError(f"not an explanation: {place}[{at}] repeats {values[at]!r}")


def _keys(
    value: dict, expected: tuple[str, ...], place: str, optional: tuple[str, ...] = ()
) -> None:
    at = f"{place}." if place else ""
    for key in expected:
        if key not in value:
            raise ValueError(f"not an explanation: {at}{key} is missing")
    for key in value:
        if key not in expected + optional:
            raise ValueError(f"not an explanation: {at}{key} is unknown")


def _kind(value: Any, kind: type, place: str) -> Any:
    if type(value) is not kind:
        raise ValueError(
            f"not an explanation: {place} is {_WORDS.get(type(value), type(value).__name__)}, "
            f"expected {_WORDS[kind]}"
        )
    return value


def _whole(value: Any, place: str, least: int, most: int = _LARGEST) -> int:
    if type(value) is not int or not least <= value <= most:
        limit = f"at least {least}" if most == _LARGEST else f"from {least} to {most}"
        raise _wrong(place, value, f"a whole number {limit}")
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
    raise _wrong(place, value, f"a finite number{limit}")


def _scalar(value: Any, place: str) -> None:
    if type(value) not in (str, int, float, bool):
        raise _wrong(place, value, "a string, a number or a boolean")
    if type(value) is float:
        _number(value, place)
    if type(value) is int and not -(2**63) <= value < 2**63:
        raise _wrong(place, value, "a whole number of at most 64 bits")


def _wrong(place: str, value: Any, expected: str) -> ValueError:
    shown = "missing" if value is None else repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:60]}..."
    return ValueError(f"not an explanation: {place} is {shown}, expected {expected}")
