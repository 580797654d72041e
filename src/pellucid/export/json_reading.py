"""Reading of models from JSON; every error names the place.

A document is first checked against the JSON Schema of its format (draft 7) by `fastjsonschema
<https://github.com/horejsek/python-fastjsonschema>`_, which takes about 10 µs per node of a tree;
`jsonschema` needs four more packages and about 50 times as long. What a schema cannot state, such
as children that exist, is checked while the model is built.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.resources import files
from typing import Any

import numpy as np

from pellucid.explanation.explanation import Explanation
from pellucid.explanation.region_list import RegionList
from pellucid.regions.classifiers import Stump
from pellucid.regions.levels import ListLevel
from pellucid.regions.shapes import SHAPES
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import Indicator
from pellucid.tree import LEAF, ThresholdTree

VERSION = 1

_LARGEST = 2**53  # integers up to this size are exact in every JSON reader

REGION_FIELDS = {
    "box": ("above", "at_most"),
    "polyhedron": ("vertices", "facets"),
    "ellipse": ("center", "matrix"),
}
"""Keys of a region by shape, in the order of the `fields` of the shapes."""

_MOST_COUNTS = 10**7
"""Regions times clusters times clusters of a level, which is the size of its array of counts."""

_LARGEST_DIM = 500  # features of an ellipse
_LONGEST_READING = 100_000  # characters of the key ``reading`` as JSON
_MOST_COLUMNS = 10**6  # columns of a model
_MOST_CLUSTERS = 10**5  # clusters of a model

_MOST_CONDITIONS = 5 * 10**6
"""Splits on the paths to all leaves, which are the conditions of all rules."""

_MOST_LABEL_CHARACTERS = 2**24
"""Clusters times the length of the longest label, which is the size of their array."""


_WORDS: dict[type, str] = {
    **{type(None): "null", bool: "a boolean", int: "a whole number", float: "a number"},
    **{str: "a string", list: "a list", dict: "an object"},
}
"""The JSON types, with their articles."""


def read_document(document: Any) -> Explanation | RegionList:
    """Build the model of a document; a ValueError says what is missing, unknown or wrong."""
    is_list = isinstance(document, dict) and document.get("format") == "pellucid.regions"
    name = "regions" if is_list else "explanation"
    _check_version(document, f"pellucid.{name}")
    _check_schema(document, name)
    common = _read_common(document)
    if is_list:
        names, clusters, default = common["names"], common.pop("clusters"), document["default"]
        if default is not None:
            _whole(default, "default", 0, len(clusters) - 1)
        levels = [
            _read_level(level, f"levels[{i}]", names, len(clusters))
            for i, level in enumerate(document["levels"])
        ]
        total = _number(document["rows"], "rows", 0)
        return RegionList(levels, classes=clusters, default=default, total=total, **common)
    names, n_columns = common["names"], document["n_columns"]
    described: Sequence[str | Indicator | None] = [None] * n_columns if names is None else names
    tree, purity, noise = _tree(document["nodes"], described, len(common["clusters"]))
    return Explanation(tree, purity=purity, noise=noise, method=document["method"], **common)


def schema_of(name: str) -> dict[str, Any]:
    """The JSON Schema of ``"explanation"`` or ``"regions"``."""
    text = files("pellucid.export").joinpath(f"{name}.schema.json").read_text(encoding="utf-8")
    return json.loads(text)


@cache
def _validator(name: str) -> Callable[[Any], Any]:
    import fastjsonschema

    return fastjsonschema.compile(schema_of(name), use_default=False)


def _check_schema(document: Any, name: str) -> None:
    from fastjsonschema import JsonSchemaValueException

    try:
        _validator(name)(document)
    except JsonSchemaValueException as error:
        place = str(error.name).removeprefix("data").removeprefix(".")
        raise _violation(place, error.value, error.rule, error.definition) from None


def _violation(place: str, value: Any, rule: str | None, definition: dict[str, Any]) -> ValueError:
    at = f"{place}." if place else ""
    if rule == "required":
        key = next(key for key in definition["required"] if key not in value)
        return _refusal(f"{at}{key} is missing")
    if rule == "additionalProperties":
        key = next(key for key in value if key not in definition["properties"])
        return _refusal(f"{at}{key} is unknown")
    if rule == "minItems" and not value:
        return _refusal(f"{place} is empty")
    expected = definition.get("description", f"the {rule} of the schema")
    is_container = definition.get("type") in ("array", "object") or type(value) in (dict, list)
    if rule == "type" and is_container:
        return _refusal(f"{place} is {_kind_of(value)}, expected {expected}")
    return _wrong(place, value, expected)


def _refusal(problem: str) -> ValueError:
    return ValueError(f"not an explanation: {problem}")


def _wrong(place: str, value: Any, expected: str) -> ValueError:
    """The error of a value that is not what it must be."""
    return _refusal(f"{place} is {_shown(value)}, expected {expected}")


def _shown(value: Any) -> str:
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


def _kind_of(value: Any) -> str:
    return _WORDS.get(type(value), type(value).__name__)


def _once(values: list[Any], place: str) -> None:
    """Fail if a value appears twice in a list."""
    seen = set()
    for i, value in enumerate(values):
        if value in seen:
            raise _refusal(f"{place}[{i}] repeats {_shown(value)}")
        seen.add(value)


def _whole(value: Any, place: str, least: int, most: int = _LARGEST) -> int:
    """A whole number in a range, or an error."""
    if type(value) is not int or not least <= value <= most:
        limit = f"at least {least}" if most == _LARGEST else f"from {least} to {most}"
        raise _wrong(place, value, f"a whole number {limit}")
    return value


def _number(value: Any, place: str, least: float = -math.inf, most: float = math.inf) -> float:
    """A finite number in a range as a float, or an error."""
    found = _as_float(value) if type(value) in (int, float) else math.nan
    if math.isfinite(found) and least <= found <= most:
        return found
    limit = "" if math.isinf(least) else f" of at least {least}"
    limit = limit if math.isinf(most) else f" from {least} to {most}"
    raise _wrong(place, value, f"a finite number{limit}")


def _check_scalar(value: Any, place: str, *, of_column: bool = False) -> None:
    """Fail unless a value is a string, a boolean, or a finite number of at most 64 bits.

    The values of columns may also be larger whole numbers that a float has.
    """
    if type(value) not in (str, int, float, bool):
        raise _wrong(place, value, "a string, a number or a boolean")
    if type(value) is float:
        _number(value, place)
    is_long = type(value) is int and not -(2**63) <= value < 2**63
    if is_long and not (of_column and (0 < value < 2**64 or _as_float(value) == value)):
        raise _wrong(place, value, "a whole number of at most 64 bits")


def _as_float(value: float) -> float:
    """A number as a float; infinite if it is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _by_column(
    part: Mapping[str, Any], key: str, columns: Sequence[str] | None
) -> Iterator[tuple[str, Any, str]]:
    """The entries of a part of a document that has a key per column, with their places."""
    known = set(columns or ())
    for column, value in part.items():
        if column not in known:
            raise _refusal(f"{key}.{column} is not one of columns")
        yield column, value, f"{key}.{column}"


def _check_version(document: Any, form: str) -> None:
    """Raise an error unless a document has the given format and a version that is known."""
    if type(document) is not dict:
        raise _refusal(f"the document is {_kind_of(document)}, expected an object")
    if document.get("format") != form:
        raise _wrong("format", document.get("format"), repr(form))
    version = _whole(document.get("version"), "version", 1)
    if version > VERSION:
        raise ValueError(
            f"written by a later pellucid: version is {version}, this one reads up to {VERSION}; "
            "upgrade pellucid to read it"
        )


def _read_common(document: dict[str, Any]) -> dict[str, Any]:
    """What trees and regions have in common, as parameters of `Explanation`."""
    clusters = _clusters(document["clusters"])
    n_columns = _whole(document["n_columns"], "n_columns", 1, _MOST_COLUMNS)
    columns = document["columns"]
    if columns is not None:
        _once(columns, "columns")
        if len(columns) != n_columns:
            raise _wrong("n_columns", n_columns, f"{len(columns)}, the number of columns")
    categories = {}
    for column, values, place in _by_column(document.get("categories", {}), "categories", columns):
        for i, value in enumerate(values):
            if value is not None:
                _check_scalar(value, f"{place}[{i}]", of_column=True)
        _once(values, place)
        categories[column] = tuple(values)
    names = _features(document["features"], columns, categories)
    numeric = {name for name in names or () if isinstance(name, str)}
    for column, value, place in _by_column(document["fill"] or {}, "fill", columns):
        _check_scalar(value, place, of_column=True)
        if column in numeric:
            _number(value, place)
    known = [f"x{i}" for i in range(n_columns)] if columns is None else columns
    formats = _formats(document.get("formats", {}), known)
    reading = document.get("reading")
    if "reading" in document:
        check_reading(reading)
    found = {"names": names, "columns": columns, "clusters": clusters, "fill": document["fill"]}
    return {**found, "formats": formats, "reading": reading}


def check_reading(reading: Any) -> None:
    """Check that a value can be stored as the key ``reading``."""
    if type(reading) is not dict:
        raise _refusal(f"reading is {_kind_of(reading)}, expected an object")
    try:
        n = len(json.dumps(reading, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise _refusal(
            "reading contains something other than strings, finite numbers, "
            "booleans, null, lists and objects"
        ) from None
    if n > _LONGEST_READING:
        raise _refusal(f"reading has {n:,} characters, expected at most {_LONGEST_READING:,}")


def _formats(formats: dict[str, dict[Any, Any]], columns: list[str]) -> dict[str, ColumnFormat]:
    found = {}
    for column, written, place in _by_column(formats, "formats", columns):
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
            raise _refusal("categories without features")
        return columns
    known = set(columns or [])
    names: list[str | Indicator] = []
    pairs: set[str] = set()
    for i, feature in enumerate(features):
        column, place = feature, f"features[{i}]"
        if not isinstance(feature, str):
            column, value = feature["column"], feature["is"]
            if value is not None:
                _check_scalar(value, f"{place}.is", of_column=True)
            if feature.get("otherwise") is not None:
                pairs.add(column)
            feature = Indicator(column, value, categories.get(column, ()))
        names.append(feature)
        if column not in known:
            raise _wrong(place, column, "one of columns")
    _once(names, "features")
    listed = defaultdict(list)
    for name in names:
        if isinstance(name, Indicator):
            listed[name.column].append(name.value)
    for column, values in categories.items():
        if not listed[column] or not set(listed[column]) <= set(values):
            raise _wrong(f"categories.{column}", list(values), "all categories in features")
    # A category with an opposite is one of exactly two.
    two = {column: tuple(listed[column]) for column in pairs if len(listed[column]) == 2}
    return [
        replace(n, categories=two.get(n.column, n.categories)) if isinstance(n, Indicator) else n
        for n in names
    ]


def _clusters(clusters: list[Any]) -> list[Any]:
    if (n := len(clusters)) > _MOST_CLUSTERS:
        raise _refusal(f"clusters has {n:,} labels, expected at most {_MOST_CLUSTERS:,}")
    for i, label in enumerate(clusters):
        _check_scalar(label, f"clusters[{i}]")
        if type(label) is not type(clusters[0]):
            raise _wrong(f"clusters[{i}]", label, f"{_kind_of(clusters[0])} as clusters[0] is")
        if isinstance(label, str) and label.endswith("\0"):
            raise _wrong(f"clusters[{i}]", label, "a string that does not end in a NUL character")
    _once(clusters, "clusters")
    if isinstance(clusters[0], str):
        longest = max(map(len, clusters))
        if longest * len(clusters) > _MOST_LABEL_CHARACTERS:
            at = next(i for i, label in enumerate(clusters) if len(label) == longest)
            most = _MOST_LABEL_CHARACTERS // len(clusters)
            raise _refusal(
                f"clusters[{at}] has {longest:,} characters, expected at most "
                f"{most:,} with {len(clusters):,} clusters"
            )
    return clusters


def _tree(
    nodes: list[dict[Any, Any]], names: Sequence[str | Indicator | None], n_clusters: int
) -> tuple[ThresholdTree, dict[int, float], dict[int, int]]:
    n = len(nodes)
    indices = ("feature", "children_left", "children_right", "cluster", "n_node_samples")
    arrays = {name: np.full(n, LEAF, dtype=np.intp) for name in indices}
    arrays |= {name: np.full(n, np.nan) for name in ("threshold", "weighted_n_node_samples")}
    purity, noise = {}, {}
    for i, node in enumerate(nodes):
        place = f"nodes[{i}]"
        if "cluster" in node:
            cluster = _whole(node["cluster"], f"{place}.cluster", 0, n_clusters - 1)
            arrays["cluster"][i] = cluster
            if node["purity"] is not None:
                purity[i] = _number(node["purity"], f"{place}.purity", 0, 1)
            if "noise" in node:
                noise[i] = _whole(node["noise"], f"{place}.noise", 0)
        else:
            feature = _whole(node["feature"], f"{place}.feature", 0, len(names) - 1)
            threshold = _number(node["threshold"], f"{place}.threshold")
            if isinstance(names[feature], Indicator) and not 0 <= threshold < 1:
                raise _wrong(f"{place}.threshold", threshold, "0 to below 1 for a category")
            arrays["feature"][i], arrays["threshold"][i] = feature, threshold
            for side in ("left", "right"):
                arrays[f"children_{side}"][i] = _whole(node[side], f"{place}.{side}", 1, n - 1)
        arrays["n_node_samples"][i] = _whole(node["rows"], f"{place}.rows", 0)
        arrays["weighted_n_node_samples"][i] = _number(node["weight"], f"{place}.weight", 0)
    _check_preorder(arrays["children_left"], arrays["children_right"])
    return ThresholdTree(n_features=len(names), **arrays), purity, noise


def _check_preorder(left: np.ndarray, right: np.ndarray) -> None:
    """Check that every node is reached once, in the order of the list, by paths of fair length."""
    stack, expected, conditions = [("nodes[0]", 0, 0)], 0, 0
    while stack:
        place, node, depth = stack.pop()
        if node != expected:
            raise _wrong(place, node, f"{expected}: nodes come in preorder, each once")
        expected += 1
        if left[node] != LEAF:
            stack.append((f"nodes[{node}].right", int(right[node]), depth + 1))
            stack.append((f"nodes[{node}].left", int(left[node]), depth + 1))
        else:
            conditions += depth
        if conditions > _MOST_CONDITIONS:
            raise _refusal(
                f"the paths to the leaves up to nodes[{node}] have more than "
                f"{_MOST_CONDITIONS:,} conditions"
            )
    if expected < len(left):
        raise _refusal(f"nodes[{expected}] is not a child of any node")


def _read_level(level: dict[Any, Any], place: str, names: list[Any], n_clusters: int) -> ListLevel:
    features = level["features"]
    for i, feature in enumerate(features):
        _whole(feature, f"{place}.features[{i}]", 0, len(names) - 1)
    _once(features, f"{place}.features")
    stump = level["stump"]
    classifier = Stump(
        _whole(stump["feature"], f"{place}.stump.feature", 0, len(features) - 1),
        _number(stump["threshold"], f"{place}.stump.threshold"),
        _whole(stump["at_most"], f"{place}.stump.at_most", 0, n_clusters - 1),
        _whole(stump["above"], f"{place}.stump.above", 0, n_clusters - 1),
    )
    shape, entries = level["shape"], level["regions"]
    has_category = any(isinstance(names[f], Indicator) for f in features)
    if has_category and shape != "box":
        raise _wrong(f"{place}.shape", shape, "'box' for a category")
    if len(entries) * n_clusters**2 > _MOST_COUNTS:
        raise _refusal(
            f"{place}.regions has {len(entries):,} regions, expected at most "
            f"{_MOST_COUNTS // n_clusters**2:,} with {n_clusters:,} clusters"
        )
    counts = np.zeros((len(entries), n_clusters, n_clusters))
    parts = []
    for i, entry in enumerate(entries):
        at = f"{place}.regions[{i}]"
        fields = zip(REGION_FIELDS[shape], _READERS[shape])
        parts.append([read(entry[key], f"{at}.{key}", len(features)) for key, read in fields])
        for j, (answer, true, weight) in enumerate(entry["counts"]):
            here = f"{at}.counts[{j}]"
            pair = (_whole(c, here, 0, n_clusters - 1) for c in (answer, true))
            counts[(i, *pair)] = _number(weight, here, 0)
    first, second = ([part[side] for part in parts] for side in (0, 1))
    regions = SHAPES[shape].of_numbers(first, second, len(features))
    return ListLevel(tuple(features), classifier, regions, counts)


def _read_numbers(
    values: list[Any], place: str, dim: int, otherwise: float | None = None
) -> np.ndarray:
    """Numbers; null stands for `otherwise`, if it is given."""
    if len(values) != dim:
        raise _wrong(place, values, f"{dim} numbers{'' if otherwise is None else ' or null'}")
    return np.array(
        [
            otherwise
            if value is None and otherwise is not None
            else _number(value, f"{place}[{i}]")
            for i, value in enumerate(values)
        ]
    )


def _read_rows(values: list[Any], place: str, dim: int) -> np.ndarray:
    return np.array([_read_numbers(row, f"{place}[{i}]", dim) for i, row in enumerate(values)])


def _read_matrix(values: list[Any], place: str, dim: int) -> np.ndarray:
    expected = f"a symmetric, positive definite matrix of {dim} rows"
    if len(values) != dim or dim > _LARGEST_DIM:
        expected = expected if dim <= _LARGEST_DIM else f"at most {_LARGEST_DIM} rows"
        raise _wrong(place, values, expected)
    rows = _read_rows(values, place, dim)
    # The scale does not matter here; without it, large numbers overflow.
    scaled = rows / max(np.abs(rows).max(), np.finfo(float).tiny)
    if not np.allclose(scaled, scaled.T, rtol=1e-6) or (np.linalg.eigvalsh(scaled) <= 0).any():
        raise _wrong(place, values, expected)
    return rows


_READERS: dict[str, Any] = {
    "box": (partial(_read_numbers, otherwise=-np.inf), partial(_read_numbers, otherwise=np.inf)),
    "polyhedron": (_read_rows, lambda values, place, dim: _read_rows(values, place, dim + 1)),
    "ellipse": (_read_numbers, _read_matrix),
}
"""Readers of the numbers of each shape, in the order of `REGION_FIELDS`."""
